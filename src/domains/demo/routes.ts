/** Routes of the demonstration plant (contract 3, Additional routes; decisions Q-CHANGE-11, 6.7, 9). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Route, routesFor } from '../../platform/http/route.js';
import { DEMO_SITE, type DemoPlant, DemoStatus, Provisioned } from './demo.js';

export interface DemoDeps {
  readonly demo: DemoPlant;
  /** The present time scale of the plant (decisions 6.7). */
  timeScale(): number;
  setTimeScale(value: number): void;
}

const route = routesFor<DemoDeps>();
const TimeScaleNumber = v.pipe(v.number(), v.minValue(1, 'must be 1 to 100'), v.maxValue(100, 'must be 1 to 100'));

const TimeScale = v.strictObject({ timeScale: v.number() });

nameSchemas({ DemoTimeScale: TimeScale });
const audit = { action: 'Command', category: 'demo', target: () => ({ kind: 'Site', name: DEMO_SITE, site: DEMO_SITE }) } as const;

export const demoRoutes: readonly Route<DemoDeps>[] = [
  route({
    method: 'POST',
    path: '/api/v1/demo/provision',
    action: 'demo:provision',
    tier: 'read',
    summary: 'Create the demonstration plant in site demo',
    reply: v.strictObject({ ...Provisioned.entries, timeScale: v.number() }),
    errors: { 403: ['production_mode', 'change_request_required'], 409: ['demo_disabled', 'time_scale_refused'] },
    body: v.strictObject({ timeScale: v.optional(TimeScaleNumber) }),
    audit,
    async handle({ body, correlationID }, { demo, timeScale, setTimeScale }) {
      if (body.timeScale !== undefined) demo.checkTimeScale(body.timeScale);
      const provisioned = await demo.provision(correlationID);
      if (body.timeScale !== undefined) setTimeScale(body.timeScale);
      return { ...provisioned, timeScale: timeScale() };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/demo/status',
    action: 'demo:status',
    tier: 'read',
    summary: 'Whether the demonstration plant is there',
    reply: DemoStatus,
    handle: (_context, { demo, timeScale }) => demo.status(timeScale()),
  }),
  route({
    method: 'POST',
    path: '/api/v1/demo/timescale',
    action: 'demo:timescale',
    tier: 'admin',
    summary: 'Set the time scale of the plant, 1 to 100; development mode and simulated I/O only',
    reply: TimeScale,
    errors: { 409: ['time_scale_refused'] },
    body: v.strictObject({ timeScale: TimeScaleNumber }),
    audit,
    handle({ body }, { demo, timeScale, setTimeScale }) {
      demo.checkTimeScale(body.timeScale);
      setTimeScale(body.timeScale);
      return { timeScale: timeScale() };
    },
  }),
];
