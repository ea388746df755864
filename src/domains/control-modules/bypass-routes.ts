/** Routes of the interlock bypass (contract 3, Additional routes; decisions Q-CHANGE-12). */
import { told } from '../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { readDuration } from '../../platform/base/duration-text.js';
import { conflict, invalid, missing } from '../../platform/base/refusal.js';
import { shown } from '../../platform/base/term.js';
import { checkReason } from '../../platform/http/reason.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { done, type Route, routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { equipmentFacts, type Intervention } from '../runs/interventions.js';
import { begin, inForce, NO_BYPASS } from './bypass.js';
import { BypassShown } from './dto.js';
import { ControlModule, type InterlockBypass } from './kind.js';
import { unitOf } from '../plant/unit-of.js';

export interface BypassDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Settings interlock.bypass.defaultDuration and .maxDuration. */
  readonly bypassDefaultMs: number;
  readonly bypassMaxMs: number;
}

type Params = { readonly site: string; readonly cm: string };

const route = routesFor<BypassDeps>();
const PATH = '/api/v1/sites/{site}/controlmodules/{cm}/interlock/bypass';
const CATEGORY = 'interlock-bypass';
const ModuleBypass = v.strictObject({ controlModule: v.string(), ...BypassShown.entries });
type ModuleBypass = ToldBy<typeof ModuleBypass>;

nameSchemas({ ModuleBypass });
const target = ({ site, cm }: { readonly site: string; readonly cm: string }) => ({ kind: 'ControlModule', name: cm, site });

export function requireModule({ site, cm }: Params, { store }: BypassDeps) {
  const module = store.get(ControlModule, site, cm);
  if (!module) throw missing('ControlModule', cm);
  return module;
}

export const exists = (params: Params, deps: BypassDeps): void => void requireModule(params, deps);

/** At least a second, so that the end is after the answer; at most what the setting allows. */
function durationOf(text: string | undefined, { bypassDefaultMs, bypassMaxMs }: BypassDeps): number {
  const ms = text === undefined ? bypassDefaultMs : readDuration(text, 'duration');
  if (ms >= 1000 && ms <= bypassMaxMs) return ms;
  throw invalid('invalid_field', 'duration', `duration must be from 1s to ${bypassMaxMs / 1000}s`, { maxSeconds: bypassMaxMs / 1000 });
}

export const bypassRoutes: readonly Route<BypassDeps>[] = [
  route({
    method: 'GET',
    path: PATH,
    action: 'controlmodule:read-bypass',
    tier: 'read',
    reply: ModuleBypass,
    summary: 'Whether the interlocks of a module are bypassed',
    exists,
    handle({ params }, deps): ModuleBypass {
      const { interlockBypass } = requireModule(params, deps).status;
      return { controlModule: params.cm, ...(inForce(interlockBypass, deps.store.terms) ? shown(interlockBypass) : NO_BYPASS) };
    },
  }),
  route({
    method: 'POST',
    path: PATH,
    action: 'interlock:bypass',
    tier: 'custom',
    reason: 'policy',
    body: v.strictObject({ reason: v.optional(v.string(), ''), duration: v.optional(v.string()), interlocks: v.optional(v.pipe(v.array(v.string()), v.minLength(1))) }),
    reply: ModuleBypass,
    errors: { 409: ['bypass_active', 'no_interlock'] },
    summary: 'Bypass the interlocks of a module, or some of them, for a limited time',
    audit: { action: 'Command', category: CATEGORY, target },
    exists,
    async handle(context, deps): Promise<ModuleBypass> {
      const { params, body, caller } = context;
      const module = requireModule(params, deps);
      const request = { by: caller.displayName, reason: body.reason, durationMs: durationOf(body.duration, deps), interlocks: body.interlocks };
      const interlockBypass = begin(module, request, deps.store, deps.store.terms);
      const audit = context.audit({ operatorReason: body.reason, after: shown(interlockBypass) });
      const which = interlockBypass.interlocks.join(', ');
      const { until } = interlockBypass;
      const as = told('bypass-set', { module: params.cm, blocks: which, until });
      const facts = bypassFacts(params, deps, { audit, value: `until ${until}`, previousValue: '', message: `interlock bypass of ${which || params.cm}`, told: as });
      await deps.store.write({ puts: [putOf(params, deps, interlockBypass)], audits: [audit], facts });
      return { controlModule: params.cm, ...shown(interlockBypass) };
    },
  }),
  route({
    method: 'DELETE',
    path: PATH,
    action: 'interlock:bypass',
    tier: 'custom',
    body: v.strictObject({ reason: v.optional(v.string()) }),
    errors: { 409: ['bypass_inactive'] },
    summary: 'End the bypass of the interlocks of a module',
    audit: { action: 'Command', category: CATEGORY, target },
    exists,
    async handle(context, deps) {
      const { params, body } = context;
      const before = requireModule(params, deps).status.interlockBypass;
      if (!inForce(before, deps.store.terms)) throw conflict('bypass_inactive', `no interlock of ${params.cm} is bypassed`, { controlModule: params.cm });
      const reason = body.reason === undefined ? {} : { operatorReason: checkReason(body.reason, 0) };
      const audit = context.audit({ ...reason, before: shown(before), after: NO_BYPASS });
      const as = told('bypass-ended', { module: params.cm });
      const facts = bypassFacts(params, deps, { audit, value: 'ended', previousValue: `until ${before.until}`, message: `interlock bypass of ${params.cm}`, told: as });
      await deps.store.write({ puts: [putOf(params, deps, NO_BYPASS)], audits: [audit], facts });
      return done();
    },
  }),
];

function bypassFacts({ site, cm }: Params, deps: BypassDeps, done: Pick<Intervention, 'audit' | 'value' | 'previousValue' | 'message' | 'told'>) {
  const unit = unitOf(deps.store, site, requireModule({ site, cm }, deps).spec);
  return equipmentFacts(deps.store, site, unit, cm, { ...done, at: timestamp(deps.clock.wallMs()), action: 'Bypass' });
}

function putOf({ site, cm }: Params, deps: BypassDeps, interlockBypass: InterlockBypass) {
  return { kind: ControlModule, site, name: cm, status: { ...requireModule({ site, cm }, deps).status, interlockBypass } };
}
