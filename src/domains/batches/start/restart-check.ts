/**
 * What keeps a held batch from being restarted, or stops it again when it is, and who can lift it: the preflight of Restart (contract 3,
 * Recipes and records), and of a paused one that of Resume. Restart is judged by the state machine alone, so a batch that it is given may be held again by the first write of a
 * phase to a module that people have taken (`write-mode-manual`, decisions 3.5). Nothing is changed.
 */
import { successorsOf } from '../../../../runtime/language/chart-writes.js';
import type { State } from '../../../../runtime/vocabulary/states.js';
import { batchCommands } from '../../../../runtime/vocabulary/transitions.js';
import { refOf, type Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { faultTagsOf, faultText } from '../../control-modules/device-faults.js';
import { ControlModule } from '../../control-modules/kind.js';
import type { ElementStatus, PhaseSpec } from '../../procedures/kind.js';
import { elementIndex } from '../tree/element-index.js';
import { activeFailures, hasActiveFailure } from '../../runs/holds.js';
import { type BatchSpec, type BatchStatus, madeAnewBecause } from '../kind.js';
import { boundRoles } from '../phases/phase-plan.js';
import { alarmsOfHold } from './hold-alarms.js';
import { type Blocker, checkRows, mayStart, RESTART_CHECKS, type StartCondition } from './conditions.js';
import { type EquipmentLook, RUNTIME_READY } from './equipment-conditions.js';
import { type ManualWrite, manualWrites } from './manual-writes.js';
import type { Preflight } from './preflight.js';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

export type GoingOn = 'Restart' | 'Resume';

/** States of phases that the command takes up again. */
const TAKEN_UP: Readonly<Record<GoingOn, readonly State[]>> = { Restart: ['Holding', 'Held'], Resume: ['Pausing', 'Paused'] };
const IS_FOR: Readonly<Record<GoingOn, string>> = { Restart: 'Restart is for a batch that is Held', Resume: 'Resume is for a batch that is Paused' };

interface RestartLook extends EquipmentLook {
  readonly store: Store;
  readonly command: GoingOn;
  readonly batch: Resource<BatchSpec, BatchStatus>;
  readonly phases: readonly PhaseResource[];
}

const RESTART_CONDITIONS: readonly StartCondition<RestartLook>[] = [
  { rule: 'stored-data', check: 'command', find: damaged },
  { rule: '', check: 'command', find: ({ batch, command }) => refused(batch, command) },
  { rule: 'alarm-exception', check: 'alarms', find: ({ store, runtimes, batch }) => alarmsOfHold(store, runtimes, batch) },
  { rule: 'write-mode-manual', check: 'modes', find: (look) => look.phases.flatMap((phase) => modesInTheWay(look, phase)) },
  { rule: '', check: 'devices', find: (look) => look.phases.flatMap((phase) => devicesInFault(look, phase)) },
  RUNTIME_READY,
];

export function restartCheck({ store, runtimes }: Pick<RestartLook, 'store' | 'runtimes'>, batch: Resource<BatchSpec, BatchStatus>, command: GoingOn = 'Restart'): Preflight {
  const { site, name } = batch.metadata;
  const phases = elementIndex(store)
    .phasesOf(site, name)
    .filter(({ status }) => TAKEN_UP[command].includes(status.state));
  const units = phases.map(({ spec }) => spec.unitRef);
  const checks = checkRows(RESTART_CHECKS, RESTART_CONDITIONS, { store, runtimes, site, units, isOnDemand: false, command, batch, phases });
  return { ok: mayStart(checks), checks, parameters: [], allocations: [], bindings: { violations: 0 } };
}

/** What is not stored as it was written is not gone on with (D-C-02). */
function damaged({ store, site, batch }: RestartLook): Blocker[] {
  return [batch, ...elementIndex(store).elementsOf(site, batch.metadata.name)].flatMap((resource): Blocker[] => {
    const { kind, metadata } = resource;
    const fault = store.replacedBecause(refOf(resource)) ?? (resource === batch ? madeAnewBecause(batch) : undefined);
    if (fault === undefined) return [];
    return [
      { message: `${kind} ${metadata.name} is not stored as it was written (${fault})`, element: metadata.name, liftedBy: { tier: 'operate', action: 'Stop or Abort the batch' } },
    ];
  });
}

/** What `validCommands` of the batch say, with the reason; an alarm that stands is told by itself. */
function refused({ status, metadata }: Resource<BatchSpec, BatchStatus>, command: GoingOn): Blocker[] {
  const { phase, heldInside, pausedInside = false } = status;
  if (batchCommands(phase, { heldInside, pausedInside, failureActive: hasActiveFailure(status) }).includes(command)) return [];
  const failures = activeFailures(status);
  if (failures.length === 0) return [{ message: `batch ${metadata.name} is ${phase}`, element: metadata.name, liftedBy: { tier: 'operate', action: IS_FOR[command] } }];
  return failures
    .filter(({ alarms }) => alarms === undefined)
    .map(({ rule, message }) => ({
      message: `${rule}: ${message}`,
      element: metadata.name,
      liftedBy: { tier: 'operate' as const, action: `put that right; ${command} is possible then` },
    }));
}

/** An action that is run again at once holds the phase at once; those of the steps behind do so when the chart comes to them. */
function modesInTheWay({ store, command }: RestartLook, { spec, status, metadata }: PhaseResource): Blocker[] {
  const { site } = metadata;
  const roles = boundRoles(store, site, spec);
  const { atOnce, later } = command === 'Restart' ? stepsAhead(spec, status) : stepsOn(spec, status);
  const first = manualWrites(store, site, roles, atOnce);
  const behind = manualWrites(store, site, roles, later).filter(({ module }) => !first.some((each) => each.module === module));
  const blocker = ({ module, address, step }: ManualWrite, isAtOnce: boolean): Blocker => {
    const when = isAtOnce ? `is held again at once by step ${step}` : `is held again when it comes to step ${step}`;
    const message = `${module} is in Manual, and phase ${spec.stepPath} writes ${address}: it ${when} (write-mode-manual)`;
    const liftedBy = { tier: 'operate', action: `set ${module} to Automatic or Semi-Automatic` } as const;
    return { message, element: module, about: { kind: ControlModule.kind, name: module, unit: spec.unitRef }, liftedBy, ...(isAtOnce ? {} : { severity: 'warning' as const }) };
  };
  return [...first.map((write) => blocker(write, true)), ...behind.map((write) => blocker(write, false))];
}

type Steps = readonly PhaseSpec['steps'][number][];

/** The restarting chart; then `restartStep`, or what the active steps do again (decisions 2.4); then what follows from there. */
function stepsAhead(spec: PhaseSpec, { sfcStatus, failure }: ElementStatus): { readonly atOnce: Steps; readonly later: Steps } {
  const restarts = spec.steps.filter(({ name }) => name.toLowerCase() === spec.restartStep.toLowerCase());
  const active = restarts.length > 0 ? restarts : spec.steps.filter(({ name }) => sfcStatus?.activeSteps.includes(name));
  const again = active.filter(({ name, rerunOnRestart, actionMode }) => restarts.length > 0 || rerunOnRestart || actionMode === 'cyclic' || failure?.step === name);
  const behind = successorsOf(
    spec,
    active.map(({ name }) => name),
  );
  return { atOnce: [...(spec.charts.restarting?.steps ?? []), ...again], later: spec.steps.filter(({ name }) => behind.has(name)) };
}

/** The active steps go on where they stand; a cyclic action writes in the next scan. */
function stepsOn(spec: PhaseSpec, { sfcStatus }: ElementStatus): { readonly atOnce: Steps; readonly later: Steps } {
  const active = sfcStatus?.activeSteps ?? [];
  const behind = successorsOf(spec, active);
  return { atOnce: spec.steps.filter(({ name, actionMode }) => active.includes(name) && actionMode === 'cyclic'), later: spec.steps.filter(({ name }) => behind.has(name)) };
}

function devicesInFault({ store, runtimes }: RestartLook, { spec, metadata: { site } }: PhaseResource): Blocker[] {
  return [...new Set(Object.values(boundRoles(store, site, spec)))].sort().flatMap((name): Blocker[] => {
    const module = store.get(ControlModule, site, name);
    const message = module ? faultText(runtimes.link(site, spec.unitRef), name, faultTagsOf(store, module)) : '';
    if (message === '') return [];
    return [
      {
        message,
        element: name,
        about: { kind: ControlModule.kind, name, unit: spec.unitRef },
        liftedBy: { tier: 'operate', action: `reset the fault of ${name}` },
        severity: 'warning',
      },
    ];
  });
}
