/** What apply must know of single kinds beside their admission (decisions Q-CHANGE-08, Q-ALARM-08, Q-PROG-03). */
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { ALARM_STATES, type AlarmSpec, type AlarmStatus } from '../alarms/kind.js';
import type { BatchStatus } from '../batches/kind.js';
import { passGate } from '../logic/hot-swap.js';
import type { ControlProgramSpec, ControlProgramStatus } from '../logic/kind.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Manifest } from './manifest.js';

export interface ApplyCase {
  readonly name: string;
  readonly spec: unknown;
  readonly before: Resource<unknown, unknown> | undefined;
  readonly changed: boolean;
  readonly read: StoreReader;
  readonly nowMs: number;
  readonly manifest: Manifest;
}

/** Refuses, or returns the status to write with the change. */
type ApplyRule = (request: ApplyCase) => { readonly status?: unknown } | undefined;

const RULES: Readonly<Record<string, ApplyRule>> = {
  /** The active-batch gate holds for apply as well; an armed override is used up. */
  ControlProgram({ before, changed, spec, read, nowMs }) {
    if (!before || !changed) return undefined;
    return { status: passGate(before as Resource<ControlProgramSpec, ControlProgramStatus>, spec as ControlProgramSpec, read, nowMs) };
  },

  Batch({ before, changed, name }) {
    const phase = (before?.status as BatchStatus | undefined)?.phase;
    if (phase === undefined || phase === 'Pending' || !changed) return undefined;
    throw conflict('batch_phase', `batch ${name} is ${phase}; it can be edited while Pending only`, { phase });
  },

  /** Restore of an alarm: only an identical document is taken where one stands already. */
  Alarm({ before, spec, name, nowMs, manifest }) {
    if (before) throw conflict('already_exists', `alarm ${name} exists already with other content`, { kind: 'Alarm', name });
    const state = manifest.status?.state ?? 'ActiveUnacknowledged';
    if (!(ALARM_STATES as readonly unknown[]).includes(state)) throw invalid('invalid_field', 'status.state', `status.state must be one of ${ALARM_STATES.join(', ')}`);
    const status: AlarmStatus = {
      state: state as AlarmStatus['state'],
      unit: '',
      value: (spec as AlarmSpec).value,
      priority: 500,
      occurrences: 1,
      activatedAt: timestamp(nowMs),
      clearedAt: String(state).startsWith('Cleared') ? timestamp(nowMs) : '',
      acknowledgedAt: '',
      acknowledgedBy: '',
      shelvedUntil: '',
      shelvedBy: '',
      origin: 'apply',
    };
    return { status };
  },
};

export function applyRuleOf(kind: string): ApplyRule | undefined {
  return Object.hasOwn(RULES, kind) ? RULES[kind] : undefined;
}
