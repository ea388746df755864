/**
 * The reset of a latched device fault (ADR 0030): one touch of an operator, in every mode. The device block judges it, the
 * interlock and the phase stay as they are; what would move at once is refused until the caller says that it may.
 */
import { told } from '../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict, missing, Refusal } from '../../platform/base/refusal.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import { REASON_LENGTH_MAX } from '../../platform/http/reason.js';
import { type AuditEntry, routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { asked } from '../runs/asked.js';
import type { DeviceResetResult, UnitRuntimes } from '../placement/runtimes.js';
import { devicesOf } from './device-faults.js';
import { ControlModule } from './kind.js';
import { unitOf } from '../plant/unit-of.js';

export interface ResetDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtimes: UnitRuntimes;
}

const ACTION = 'ResetFault';

const resetFault = routesFor<ResetDeps>()({
  method: 'POST',
  path: '/api/v1/sites/{site}/controlmodules/{cm}/reset-fault',
  action: 'controlmodule:reset-fault',
  tier: 'operate',
  body: v.strictObject({
    reason: v.optional(v.pipe(v.string(), v.maxLength(REASON_LENGTH_MAX, `must have at most ${REASON_LENGTH_MAX} characters`)), ''),
    moves: v.optional(v.boolean(), false),
  }),
  reply: v.strictObject({ controlModule: v.string(), reset: v.array(v.string()) }), // none when nothing is in fault
  errors: { 409: ['no_device', 'would_move', 'not_at_rest'], 503: ['runtime_unreachable'] },
  summary: 'Reset the latched faults of the devices of a module, in every mode; moves: also of a device that would move at once',
  audit: { action: 'Command', category: 'device-reset', target: ({ site, cm }) => ({ kind: 'ControlModule', name: cm, site }) },
  exists: ({ site, cm }, { store }) => {
    if (!store.get(ControlModule, site, cm)) throw missing('ControlModule', cm);
  },
  async handle({ params: { site, cm }, body: { reason, moves }, audit }, { store, clock, runtimes }) {
    const module = store.get(ControlModule, site, cm);
    if (!module) throw missing('ControlModule', cm);
    if (devicesOf(store, module).length === 0) throw conflict('no_device', `control module ${cm} has no device that latches a fault`, { controlModule: cm });
    const unit = unitOf(store, site, module.spec);
    const link = runtimes.link(site, unit);
    if (!link?.ready) throw new Refusal('unavailable', `the runtime of unit ${unit} is not ready`, { code: 'runtime_unreachable', unit });
    const record = (entry: AuditEntry): AuditDraft => audit({ operatorReason: reason, ...entry });
    return asked(store).during(site, [unit], async (factsOf) => {
      await store.write({ audits: [record({ result: 'Accepted', details: { action: ACTION, moves } })] });
      const result = await link.resetDevices(cm, moves);
      const refusal = refusalOf(cm, unit, result);
      const done = result.blocks.filter(({ outcome }) => outcome === 'reset').map(({ block }) => block);
      const outcome = refusal ? { result: 'Rejected' as const, reason: String(refusal.context.code) } : { result: 'Success' as const };
      const verdict = record({ ...outcome, details: { action: ACTION, moves, blocks: result.blocks } });
      const message = `fault of ${cm} reset`;
      const words = { at: timestamp(clock.wallMs()), action: ACTION, value: done.join(', '), previousValue: 'Fault', message, told: told('fault-reset', { module: cm }) };
      await store.write({ audits: [verdict], facts: done.length > 0 ? factsOf(cm, { ...words, audit: verdict }) : [] });
      if (refusal) throw refusal;
      return { controlModule: cm, reset: done };
    });
  },
});

/** Of several devices the one that needs something is told; the others are reset. */
function refusalOf(module: string, unit: string, { ok, message, blocks }: DeviceResetResult): Refusal | undefined {
  if (!ok) return new Refusal('unavailable', message, { code: 'runtime_unreachable', unit });
  const of = (outcome: string): string[] => blocks.filter((each) => each.outcome === outcome).map(({ block }) => block);
  const moving = of('would-move');
  if (moving.length > 0)
    return conflict('would_move', `${module} would move at once, because its command stands (${moving.join(', ')}): send moves true when it may, or take the command back first`, {
      controlModule: module,
      blocks: moving,
    });
  const left = blocks.filter(({ outcome }) => outcome !== 'reset').map(({ block }) => block);
  if (left.length === 0) return undefined;
  const silent = of('no-answer');
  if (silent.length === left.length)
    return new Refusal('unavailable', `the logic of ${module} did not come to it in time (${silent.join(', ')}); what is skipped for an error is not reset`, {
      code: 'runtime_unreachable',
      unit,
    });
  return conflict('not_at_rest', `${module} is not where its fail position or its stop would have it, or its trip still stands (${left.join(', ')}): a fault is reset at rest`, {
    controlModule: module,
    blocks: left,
  });
}

export const resetRoutes = [resetFault];
