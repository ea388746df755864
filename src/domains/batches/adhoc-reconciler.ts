/**
 * Keeps ad-hoc runs going: starts a run that was launched, judges the commands recorded on its root, and gives the unit back
 * when the root is final (contract 3, Ad-hoc rules; decisions Q-CMD-05, Q-RECIPE-24, Q-RECIPE-26).
 */
import { told, withTold } from '../../../runtime/vocabulary/told.js';
import type { Command, State } from '../../../runtime/vocabulary/states.js';
import { isFinal, RECOVERIES } from '../../../runtime/vocabulary/transitions.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { Store } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { isAvailable } from '../plant/unit-owner.js';
import { Phase } from '../procedures/kind.js';
import { adhocRoot, isAdhoc, ROOT_KINDS } from '../procedures/roots.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { AdhocReconciliation, type AdhocRoot } from './tree/adhoc-reconciliation.js';
import type { CommandRefusal } from './tree/element-reconciliation.js';
import { giverOf } from '../runs/holds.js';
import { lookAgain } from './tree/look-again.js';
import { awaitsVerdict, orderOn, type PendingCommand } from '../runs/pending-command.js';
import type { PhaseCommands } from './phases/phase-commands.js';
import type { HoldPropagation } from './tree/procedure-tree.js';
import { type Blocker, firstRefusal, type StartCondition } from './start/conditions.js';
import { type EquipmentLook, PERMISSIVES, RUNTIME_READY, STORAGE, type StorageLook, UNDER_LOOP_CHECK } from './start/equipment-conditions.js';
import { holderText, unavailableBecause, unavailableTold } from './start/holder.js';
import type { StartFacts } from './start/start-conditions.js';
import { unrecovered } from './recovery/unrecovered.js';
import { HELD_FROM } from './kind.js';
import type { Key } from '../../platform/reconcile/key.js';

export interface AdhocSettings {
  readonly holdPropagation: HoldPropagation;
  readonly resumeCancelsPause: boolean;
  storageLow(): boolean;
  readonly timeScale?: () => number;
}

type CommandFacts = Pick<StartFacts, 'store' | 'runtimes' | 'storageLow'>;

interface RootLook extends EquipmentLook, StorageLook {
  readonly root: AdhocReconciliation['root'];
  readonly scope: string;
  /** As the reconciliation at work has it, which may not be stored yet. */
  readonly isAllocated: boolean;
}

/** In the order of decisions 3.2. */
const START_AGAIN_CONDITIONS: readonly StartCondition<RootLook>[] = [
  { rule: 'unit-not-allocated', check: 'equipment', find: notAllocated },
  RUNTIME_READY,
  PERMISSIVES,
  { rule: 'mode-manual', check: 'equipment', find: rootInManual },
  UNDER_LOOP_CHECK,
  STORAGE,
];

/** A reset drives the unit: it takes it once more, or is refused while somebody else has it. */
const RESET_CONDITIONS: readonly StartCondition<RootLook>[] = [{ rule: 'allocation-unavailable', check: 'equipment', find: takenByOther }, RUNTIME_READY, UNDER_LOOP_CHECK];

/** Why the root of a run may not be started again or reset now; every other command needs no unit that it does not have. */
export function adhocBarred(reconciliation: AdhocReconciliation, command: Command, facts: CommandFacts): CommandRefusal | undefined {
  const damaged = reconciliation.damaged(command);
  if (damaged) return damaged;
  if (command !== 'Start' && command !== 'Reset') return undefined;
  const { root, site, scope } = reconciliation;
  const { store, runtimes } = facts;
  const look: RootLook = {
    store,
    runtimes,
    site,
    scope,
    root,
    units: [root.unit],
    isOnDemand: false,
    isAllocated: reconciliation.units.get(root.unit)?.allocatedTo === scope,
    storageLow: () => facts.storageLow(),
  };
  const refusal = firstRefusal(command === 'Start' ? START_AGAIN_CONDITIONS : RESET_CONDITIONS, look);
  return refusal && { rule: refusal.rule, message: refusal.message, ...withTold(refusal.told) };
}

function notAllocated({ root, scope, isAllocated }: RootLook): Blocker[] {
  if (isAllocated) return [];
  const message = `unit ${root.unit} is not allocated to ${scope} any more; launch it anew`;
  return [{ message, element: root.unit, liftedBy: { tier: 'operate', action: 'launch it anew' }, told: told('unit-not-held', { unit: root.unit }) }];
}

function rootInManual({ root }: RootLook): Blocker[] {
  if (root.mode !== 'Manual') return [];
  return [
    {
      message: `${root.kind} ${root.name} is in Manual`,
      element: root.name,
      liftedBy: { tier: 'operate', action: `set ${root.name} to Automatic` },
      told: told('element-in-manual', { kind: root.kind, name: root.name }),
    },
  ];
}

function takenByOther({ store, site, scope, root }: RootLook): Blocker[] {
  const unit = store.get(Unit, site, root.unit)?.status;
  if (!unit || unit.allocatedTo === scope || isAvailable(unit)) return [];
  const { allocatedTo: holder } = unit;
  const message = `${unavailableBecause(store, site, root.unit, unit)}; reset ${root.kind} ${root.name} when it is free`;
  return [
    {
      message,
      told: unavailableTold(store, site, root.unit, unit),
      element: root.unit,
      liftedBy: { tier: 'operate', action: holder === '' ? `bring unit ${root.unit} to rest` : `end ${holderText(store, site, holder)}`, holder },
    },
  ];
}

export class AdhocReconciler implements Reconciler {
  readonly name = 'adhoc-controller';
  readonly #store: Store;
  readonly #runtimes: UnitRuntimes;
  readonly #phases: PhaseCommands;
  readonly #clock: Clock;
  readonly #settings: AdhocSettings;
  /** Roots found at work at start: their own level is held, their phases hold themselves (decisions 3.8). */
  readonly #interrupted = new Set<string>();

  constructor(parts: {
    readonly store: Store;
    readonly runtimes: UnitRuntimes;
    readonly phases: PhaseCommands;
    readonly clock: Clock;
    readonly settings: AdhocSettings;
  }) {
    this.#store = parts.store;
    this.#runtimes = parts.runtimes;
    this.#phases = parts.phases;
    this.#clock = parts.clock;
    this.#settings = parts.settings;
    for (const { metadata, status } of this.#roots()) {
      if (RECOVERIES[status.state] !== 'Holding') continue;
      this.#interrupted.add(`${metadata.site}/${metadata.name}`);
      unrecovered(this.#store).found(metadata.site, metadata.name);
    }
  }

  keys(): Iterable<Key> {
    return this.#roots()
      .filter((root) => !isFinal(root.status.state) || awaitsVerdict(root) || this.#hasUnit(root))
      .map(({ metadata }) => ({ site: metadata.site, name: metadata.name }));
  }

  #hasUnit({ metadata: { site, name }, spec }: AdhocRoot): boolean {
    return this.#store.get(Unit, site, spec.unitRef)?.status.allocatedTo === name;
  }

  #roots(): AdhocRoot[] {
    return Object.values(ROOT_KINDS).flatMap((kind) => (this.#store.list(kind) as readonly unknown[] as readonly AdhocRoot[]).filter(isAdhoc));
  }

  sourceOf({ site, name }: Key): string {
    return `${adhocRoot(this.#store, site, name)?.kind ?? Phase.kind}/${name}`;
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const resource = adhocRoot(this.#store, site, name);
    if (!resource || resource.spec.parentRef !== null) return 'settled';
    const reconciliation = new AdhocReconciliation(resource, this.#store, {
      nowMs: this.#clock.wallMs(),
      clock: this.#clock,
      timeScale: this.#settings.timeScale?.() ?? 1,
      holdPropagation: this.#settings.holdPropagation,
      onPhaseFailure: 'Hold',
      resumeCancelsPause: this.#settings.resumeCancelsPause,
      settleDeadlineMs: 0,
      commandPhase: (phase, command) => this.#phases.command(phase, command),
      awaitsAnswer: (unit, phase) => this.#phases.awaitsAnswer(site, unit, phase),
      isReady: (unit) => this.#runtimes.link(site, unit)?.ready === true,
      isRefused: (phase) => this.#phases.isRefused(phase),
    });
    this.#launch(reconciliation);
    this.#judge(reconciliation);
    if (this.#interrupted.has(`${site}/${name}`)) reconciliation.tree?.command('Hold', 'runtime-restart');
    reconciliation.settle();
    const change = reconciliation.change();
    if (change) await this.#store.write(change);
    // forgotten when it is on disk: where the disk refuses, the next look holds it again
    this.#interrupted.delete(`${site}/${name}`);
    // a run of one phase is held by the runtime of its unit, which tells of it afterwards
    if (!HELD_FROM.includes(adhocRoot(this.#store, site, name)?.status.state ?? 'Aborted')) unrecovered(this.#store).passed(site, name);
    if (reconciliation.root.state === 'Idle' && reconciliation.root.runCount > 0 && reconciliation.units.get(reconciliation.root.unit)?.allocatedTo !== name)
      this.#phases.forget(site, reconciliation.root);
    return lookAgain(reconciliation.budgetsLeftMs());
  }

  /** The one Start that nobody has to give. A runtime that refuses it gives the unit back. */
  #launch(reconciliation: AdhocReconciliation): void {
    const { root } = reconciliation;
    if (root.state !== 'Idle' || root.runCount > 0 || reconciliation.units.get(root.unit)?.allocatedTo !== reconciliation.scope) return;
    const phase = root.kind === 'Phase' ? this.#store.get(Phase, reconciliation.site, root.name) : undefined;
    if (phase && this.#phases.isRefused(phase)) reconciliation.giveUp();
    else reconciliation.tree?.command('Start');
  }

  #judge(reconciliation: AdhocReconciliation): void {
    const order = orderOn(reconciliation.resource);
    if (!order) return;
    reconciliation.takesOrder = true;
    const { kind, state } = reconciliation.root;
    if (order.unreadable !== undefined) return reconciliation.reject(reconciliation.unreadable({ kind, state }, order.unreadable));
    const { pending } = order;
    const facts = { store: this.#store, runtimes: this.#runtimes, storageLow: () => this.#settings.storageLow() };
    const refusal = reconciliation.order(pending, adhocBarred(reconciliation, pending.command, facts));
    if (refusal) return this.#rejected(reconciliation, pending, state, refusal);
    reconciliation.verdict(pending, { kind, state }, 'Success');
  }

  #rejected(reconciliation: AdhocReconciliation, pending: PendingCommand, state: State, refusal: CommandRefusal): void {
    const { rule, message, told: as } = refusal;
    reconciliation.reject({
      command: pending.command,
      state,
      rule,
      message,
      ...withTold(as),
      at: reconciliation.at,
      correlationID: pending.correlationID,
      by: giverOf(pending.by),
      ...(pending.alarm === undefined ? {} : { alarm: pending.alarm }),
    });
    reconciliation.verdict(pending, { kind: reconciliation.root.kind, state }, 'Rejected', refusal);
  }
}
