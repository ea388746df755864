/**
 * What keeps a held batch from being restarted, or stops it again when it is, and who can lift it: the preflight of Restart (contract 3,
 * Recipes and records), and of a paused one that of Resume. Restart is judged by the state machine alone, so a batch that it is given may be held again by the first write of a
 * phase to a module that people have taken (`write-mode-manual`, decisions 3.5). Nothing is changed.
 */
import { successorsOf, writtenAddresses } from '../../../../runtime/language/chart-writes.js';
import { told, toldFailure } from '../../../../runtime/vocabulary/told.js';
import type { State } from '../../../../runtime/vocabulary/states.js';
import { batchCommands, isFinal } from '../../../../runtime/vocabulary/transitions.js';
import { refOf, type Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { faultTagsOf, faultText } from '../../control-modules/device-faults.js';
import { ControlModule } from '../../control-modules/kind.js';
import { type ElementStatus, Phase, type PhaseSpec } from '../../procedures/kind.js';
import { elementIndex } from '../tree/element-index.js';
import { activeFailures, hasActiveFailure } from '../../runs/holds.js';
import { type BatchSpec, type BatchStatus, madeAnewBecause } from '../kind.js';
import { boundRoles } from '../phases/phase-plan.js';
import { alarmsOfHold } from './hold-alarms.js';
import { type Blocker, checkRows, mayStart, RESTART_CHECKS, type StartCondition } from './conditions.js';
import { type EquipmentLook, RUNTIME_READY } from './equipment-conditions.js';
import { devicesOnTheWay, modesOnTheWay, valuesOnTheWay } from './goes-on-with.js';
import { type ManualWrite, manualWrites } from './manual-writes.js';
import type { Preflight } from './preflight.js';
import type { WrittenByHand } from '../../tags/written-by-hand.js';

/** Decisions 3.5. */
const MANUAL = 'write-mode-manual';

type PhaseResource = Resource<PhaseSpec, ElementStatus>;

export type GoingOn = 'Restart' | 'Resume';

/** States of phases that the command takes up again. */
const TAKEN_UP: Readonly<Record<GoingOn, readonly State[]>> = { Restart: ['Holding', 'Held'], Resume: ['Pausing', 'Paused'] };
const IS_FOR: Readonly<Record<GoingOn, State>> = { Restart: 'Held', Resume: 'Paused' };

interface RestartLook extends EquipmentLook {
  readonly store: Store;
  readonly command: GoingOn;
  readonly batch: Resource<BatchSpec, BatchStatus>;
  /** Those that the command takes up again. */
  readonly phases: readonly PhaseResource[];
  /** Those that may still come, in the order of the procedure. */
  readonly ahead: readonly PhaseResource[];
  /** Units that the batch has now; none of a batch that does not stand. */
  readonly held: readonly string[];
  /** In the units that it has. */
  readonly byHand: readonly WrittenByHand[];
}

const RESTART_CONDITIONS: readonly StartCondition<RestartLook>[] = [
  { rule: 'stored-data', check: 'command', find: damaged },
  { rule: '', check: 'command', find: refused },
  { rule: 'alarm-exception', check: 'alarms', find: ({ store, runtimes, batch }) => alarmsOfHold(store, runtimes, batch) },
  { rule: MANUAL, check: 'modes', find: modesAhead },
  {
    rule: '',
    check: 'devices',
    find: (look) => [...look.phases.flatMap((phase) => devicesInFault(look, phase)), ...devicesOnTheWay(look, look.held), ...valuesOnTheWay(look, look.byHand, writtenBy(look))],
  },
  RUNTIME_READY,
];

export function restartCheck(
  { store, runtimes }: Pick<RestartLook, 'store' | 'runtimes'>,
  batch: Resource<BatchSpec, BatchStatus>,
  command: GoingOn,
  byHand: readonly WrittenByHand[],
): Preflight {
  const { site, name } = batch.metadata;
  const phases = elementIndex(store)
    .phasesOf(site, name)
    .filter(({ status }) => TAKEN_UP[command].includes(status.state));
  const units = phases.map(({ spec }) => spec.unitRef);
  const stands = isValid(batch, command) || hasActiveFailure(batch.status);
  const held = stands ? batch.status.allocations.filter(({ state }) => state === 'Granted').map(({ unit }) => unit) : [];
  const ahead = stands ? phasesAhead(store, site, name) : [];
  const checks = checkRows(RESTART_CHECKS, RESTART_CONDITIONS, {
    store,
    runtimes,
    site,
    units,
    isOnDemand: false,
    command,
    batch,
    phases,
    ahead,
    held,
    byHand: byHand.filter(({ unit }) => held.includes(unit)),
  });
  return { ok: mayStart(checks), checks, parameters: [], allocations: [], bindings: { violations: 0 } };
}

/** What is not stored as it was written is not gone on with (D-C-02). */
function damaged({ store, site, batch }: RestartLook): Blocker[] {
  return [batch, ...elementIndex(store).elementsOf(site, batch.metadata.name)].flatMap((resource): Blocker[] => {
    const { kind, metadata } = resource;
    const fault = store.replacedBecause(refOf(resource)) ?? (resource === batch ? madeAnewBecause(batch) : undefined);
    if (fault === undefined) return [];
    const message = `${kind} ${metadata.name} is not stored as it was written (${fault})`;
    return [{ message, element: metadata.name, liftedBy: { tier: 'operate', action: 'Stop or Abort the batch' }, told: told('stored-data', { kind, name: metadata.name, fault }) }];
  });
}

function isValid({ status }: Resource<BatchSpec, BatchStatus>, command: GoingOn): boolean {
  const { phase, heldInside, pausedInside = false } = status;
  return batchCommands(phase, { heldInside, pausedInside, failureActive: hasActiveFailure(status) }).includes(command);
}

/** What `validCommands` of the batch say, with the reason; what another row says with its names is not said twice. */
function refused(look: RestartLook): Blocker[] {
  const { batch, command } = look;
  const { status, metadata } = batch;
  if (isValid(batch, command)) return [];
  const failures = activeFailures(status);
  if (failures.length === 0) {
    const wanted = IS_FOR[command];
    const liftedBy = { tier: 'operate', action: `${command} is for a batch that is ${wanted}` } as const;
    return [{ message: `batch ${metadata.name} is ${status.phase}`, element: metadata.name, liftedBy, told: told('not-in-state', { phase: status.phase, command, wanted }) }];
  }
  const isManualTold = modesAtOnce(look).length > 0;
  return failures
    .filter(({ alarms, rule }) => alarms === undefined && !(rule === MANUAL && isManualTold))
    .map((failure) => ({
      message: `${failure.rule}: ${failure.message}`,
      element: metadata.name,
      liftedBy: { tier: 'operate' as const, action: `put that right; ${command} is possible then` },
      told: toldFailure(failure),
    }));
}

interface WriteAhead extends ManualWrite {
  readonly phase: PhaseResource;
  readonly when: 'at-once' | 'in-step' | 'in-phase';
}

/** An action that is run again at once holds the phase at once; those of the steps behind do so when the chart comes to them, those of later phases when these begin. */
function writesAhead(look: RestartLook): WriteAhead[] {
  const { store, site, command } = look;
  const of = (phase: PhaseResource, steps: Steps, when: WriteAhead['when']): WriteAhead[] =>
    manualWrites(store, site, boundRoles(store, site, phase.spec), steps).map((write) => ({ ...write, phase, when }));
  const taken = look.phases.map((phase) => ({ phase, ...(command === 'Restart' ? stepsAhead(phase.spec, phase.status) : stepsOn(phase.spec, phase.status)) }));
  return [
    ...taken.flatMap(({ phase, atOnce }) => of(phase, atOnce, 'at-once')),
    ...taken.flatMap(({ phase, later }) => of(phase, later, 'in-step')),
    ...look.ahead.flatMap((phase) => of(phase, phase.spec.steps, 'in-phase')),
  ];
}

function modesAtOnce(look: RestartLook): WriteAhead[] {
  return writesAhead(look).filter(({ when }) => when === 'at-once');
}

const HELD_WHEN: Readonly<Record<WriteAhead['when'], (write: WriteAhead) => string>> = {
  'at-once': ({ step }) => `it is held again at once by step ${step}`,
  'in-step': ({ step }) => `it is held again when it comes to step ${step}`,
  'in-phase': () => 'the batch is held again when it comes to that phase',
};

/** Each module once, with the first that writes to it; then what people have taken without the recipe writing there. */
function modesAhead(look: RestartLook): Blocker[] {
  const all = writesAhead(look);
  const writes = all.filter(({ module, phase, when }, at) => all.findIndex((each) => each.module === module && (when !== 'at-once' || each.phase === phase)) === at);
  const rows = writes.map((write): Blocker => {
    const { module, address, step, phase, when } = write;
    const { stepPath, unitRef } = phase.spec;
    return {
      message: `${module} is in Manual, and phase ${stepPath} writes ${address}: ${HELD_WHEN[when](write)} (${MANUAL})`,
      element: module,
      about: { kind: ControlModule.kind, name: module, unit: unitRef },
      liftedBy: { tier: 'operate', action: `set ${module} to Automatic or Semi-Automatic` },
      told: told(`manual-${when}`, { module, phase: stepPath, address, step }),
      ...(when === 'at-once' ? {} : { severity: 'warning' }),
    };
  });
  return [...rows, ...modesOnTheWay(look, look.held, new Set(writes.map(({ module }) => module)))];
}

/** Addresses that phases of the batch write from here on, in lower case. */
function writtenBy({ store, site, phases, ahead }: RestartLook): ReadonlySet<string> {
  const addresses = [...phases, ...ahead].flatMap(({ spec }) => {
    const byRole = new Map(Object.entries(boundRoles(store, site, spec)).map(([role, module]) => [role.toLowerCase(), module]));
    const steps = [...spec.steps, ...(spec.charts.restarting?.steps ?? [])];
    return steps.flatMap(writtenAddresses).map((address) => {
      const [word = '', ...rest] = address.toLowerCase().split('.');
      return [byRole.get(word) ?? word, ...rest].join('.').toLowerCase();
    });
  });
  return new Set(addresses);
}

/** Phases that are not begun and may be, as the charts above them stand: in their order. */
function phasesAhead(store: Store, site: string, batch: string): PhaseResource[] {
  const elements = elementIndex(store).elementsOf(site, batch);
  const isOver = new Set(elements.filter(({ kind, status }) => kind !== Phase.kind && isFinal(status.state)).map(({ spec }) => spec.stepPath));
  const place = new Map<string, number>();
  for (const { spec } of elements) {
    if (!('chart' in spec)) continue;
    for (const [at, { name }] of (spec.chart?.steps ?? []).entries()) place.set(pathOf(spec.stepPath, name), at);
  }
  const placesOf = (path: string): number[] => above(path).map((each) => place.get(each) ?? 0);
  return elementIndex(store)
    .phasesOf(site, batch)
    .filter(({ spec, status }) => status.state === 'Idle' && !['', ...above(spec.stepPath)].some((path) => isOver.has(path)))
    .map((phase) => ({ phase, places: placesOf(phase.spec.stepPath) }))
    .sort((a, b) => inOrder(a.places, b.places))
    .map(({ phase }) => phase);
}

function pathOf(parent: string, step: string): string {
  return parent === '' ? step : `${parent}/${step}`;
}

/** `a/b/c`: `a`, `a/b` and itself. */
function above(path: string): string[] {
  const steps = path.split('/');
  return steps.map((_, at) => steps.slice(0, at + 1).join('/'));
}

function inOrder(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((place, index) => place !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
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
        told: told('device-fault', { module: name }),
      },
    ];
  });
}
