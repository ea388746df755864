/** What apply must know of single kinds beside their admission (decisions Q-CHANGE-08, Q-ALARM-08, Q-PROG-03). */
import type { WallMs } from '../../platform/base/times.js';
import { conflict } from '../../platform/base/refusal.js';
import type { Terms } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import type { AlarmSpec, AlarmStatus } from '../alarms/kind.js';
import { type BatchStatus, isFinalBatch } from '../batches/kind.js';
import { passModuleGate, passTemplateGate, refuseNewModule } from '../control-modules/gate.js';
import type { ControlModuleSpec, ControlModuleStatus, ControlModuleTemplateSpec } from '../control-modules/kind.js';
import { tuningLost } from '../control-modules/parameters.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { openChannels } from '../control-modules/rules.js';
import type { OverriddenEdit } from '../runs/logic-edits.js';
import { passGate, refuseNewProgram } from '../logic/hot-swap.js';
import type { ControlProgramSpec, ControlProgramStatus } from '../logic/kind.js';
import { passChannelGate } from '../io-modules/gate.js';
import type { IOModuleSpec } from '../io-modules/kind.js';
import type { UnitSpec, UnitStatus } from '../plant/kind.js';
import { refuseUnitEdit } from '../plant/rules.js';
import { timestamp } from '../../platform/base/clock.js';

export interface ApplyCase {
  readonly site: string;
  readonly name: string;
  readonly spec: unknown;
  readonly before: Resource<unknown, unknown> | undefined;
  readonly changed: boolean;
  readonly read: StoreReader;
  readonly nowMs: WallMs;
  readonly terms: Terms;
}

/** Refuses, or returns the status to write with the change, and what to tell the work of the units it concerns. */
type ApplyRule = (
  request: ApplyCase,
) => { readonly status?: unknown; readonly puts?: readonly Put[]; readonly warnings?: readonly string[]; readonly edits?: readonly OverriddenEdit[] } | undefined;

const RULES: Readonly<Record<string, ApplyRule>> = {
  /** The active-batch gate holds for apply as well; an armed override is used up. */
  ControlProgram({ site, name, before, changed, spec, read, terms }) {
    if (!before) refuseNewProgram(site, name, spec as ControlProgramSpec, read);
    if (!before || !changed) return undefined;
    return passGate(before as Resource<ControlProgramSpec, ControlProgramStatus>, spec as ControlProgramSpec, read, terms);
  },

  ControlModule({ site, name, before, changed, spec, read, terms }) {
    if (!before) refuseNewModule(site, name, spec as ControlModuleSpec, read);
    if (!changed) return undefined;
    const resolved = resolvedModuleOf(read, { spec: spec as ControlModuleSpec });
    const open = resolved ? openChannels(resolved) : [];
    if (!before) return { warnings: open };
    const module = before as Resource<ControlModuleSpec, ControlModuleStatus>;
    const parametersOf = (each: Pick<typeof module, 'spec'>) => resolvedModuleOf(read, each)?.parameters ?? [];
    return {
      ...passModuleGate(module, spec as ControlModuleSpec, read, terms),
      warnings: [...tuningLost(module.status.tuning ?? [], parametersOf(module), parametersOf({ spec: spec as ControlModuleSpec })), ...open],
    };
  },

  ControlModuleTemplate({ before, changed, spec, read, terms }) {
    if (!before || !changed) return undefined;
    return passTemplateGate(before as Resource<ControlModuleTemplateSpec>, spec as ControlModuleTemplateSpec, read, terms);
  },

  IOModule({ site, name, before, changed, spec, read, terms }) {
    if (!before || !changed) return undefined;
    return passChannelGate({ site, name }, before.spec as IOModuleSpec, spec as IOModuleSpec, read, terms);
  },

  Unit({ before, changed, spec }) {
    if (before && changed) refuseUnitEdit(before as Resource<UnitSpec, UnitStatus>, spec as UnitSpec);
    return undefined;
  },

  Batch({ before, changed, name }) {
    const phase = (before?.status as BatchStatus | undefined)?.phase;
    if (phase !== undefined && isFinalBatch(phase) && changed)
      throw conflict('run_ended', `batch ${name} is ${phase}: its run has ended, and its name is that of its record`, { phase });
    if (phase === undefined || phase === 'Pending' || !changed) return undefined;
    throw conflict('batch_phase', `batch ${name} is ${phase}; it can be edited while Pending only`, { phase });
  },

  /** Restore of an alarm: only an identical document is taken where one stands already. */
  Alarm({ before, spec, name, nowMs }) {
    if (before) throw conflict('already_exists', `alarm ${name} exists already with other content`, { kind: 'Alarm', name });
    const status: AlarmStatus = {
      state: 'ActiveUnacknowledged',
      unit: '',
      value: (spec as AlarmSpec).value,
      priority: 500,
      occurrences: 1,
      activatedAt: timestamp(nowMs),
      clearedAt: '',
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
