/** Components of the appliance from outside (contract 3, Additional routes; decisions Q-CHANGE-13; ADR 0077). */
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, missing } from '../../platform/base/refusal.js';
import { type Route, routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import type { Backups } from './backups.js';
import type { IORestart } from './io-restart.js';

/** Decisions Q-CHANGE-13. */
const COMPONENTS: readonly string[] = [
  'gateway',
  'batch-controller',
  'alarm-controller',
  'historian',
  'audit',
  'recipe-controller',
  'io',
  'physical-operator',
  'archiver',
  'retention',
  'backup',
];

export interface ServiceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly io: IORestart;
  readonly backups: Pick<Backups, 'judge' | 'begin'>;
}

const route = routesFor<ServiceDeps>();

export const SERVICE_ROUTES: readonly Route<ServiceDeps>[] = [
  route({
    method: 'POST',
    path: '/api/v1/system/services/{component}/restart',
    action: 'system:restart-service',
    tier: 'engineer',
    summary: 'Restart a component: io ends and starts every I/O probe, one after the other; the others restart with the service',
    reason: 'policy',
    body: v.strictObject({ reason: v.string(), acknowledgeFailSafe: v.optional(v.boolean(), false) }),
    reply: v.strictObject({ component: v.string(), status: v.literal('Restarting'), at: v.string() }),
    errors: { 403: ['site_scope'], 409: ['active_batch', 'already_running', 'fail_safe_not_acknowledged', 'not_restartable'] },
    audit: { action: 'Request', category: 'system', target: ({ component }) => ({ kind: 'Component', name: component, site: '' }) },
    exists({ component }) {
      if (!COMPONENTS.includes(component)) throw missing('Component', component);
    },
    async handle(context, { store, clock, io }) {
      const { component } = context.params;
      if (component !== 'io') throw conflict('not_restartable', `component ${component} does not restart by itself in this version; restart the service lineside`);
      const { reason, acknowledgeFailSafe } = context.body;
      const inUse = io.judge({ caller: context.caller, acknowledgeFailSafe });
      await store.write({ audits: [context.audit({ result: 'Accepted', operatorReason: reason, details: { ...inUse } })] });
      context.judgeAgain();
      io.judge({ caller: context.caller, acknowledgeFailSafe }); // while it was synced a batch may have started
      io.begin(context.correlationID);
      return { component, status: 'Restarting' as const, at: timestamp(clock.wallMs()) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/system/services/{component}/run',
    action: 'system:run-service',
    tier: 'engineer',
    summary: 'Starts the job of a component now: backup makes a backup into backup.directory; system/health tells what came of it',
    body: v.strictObject({ reason: v.optional(v.string(), '') }),
    reply: v.strictObject({ component: v.string(), runID: v.string(), startedAt: v.string() }),
    errors: { 409: ['already_running', 'not_runnable'] },
    audit: { action: 'Request', category: 'system', target: ({ component }) => ({ kind: 'Component', name: component, site: '' }) },
    exists({ component }) {
      if (!COMPONENTS.includes(component)) throw missing('Component', component);
    },
    async handle(context, { store, backups }) {
      const { component } = context.params;
      if (component !== 'backup') throw conflict('not_runnable', `component ${component} has no job that could be started; it does its work by itself`);
      backups.judge();
      const reason = context.body.reason.trim();
      await store.write({ audits: [context.audit({ result: 'Accepted', ...(reason === '' ? {} : { operatorReason: reason }) })] });
      context.judgeAgain();
      backups.judge();
      return { component, ...backups.begin(context.correlationID) };
    },
  }),
];
