/**
 * The batch controller (component `batch-controller`): judges the commands recorded on batches, allocates units, and keeps
 * each batch's tree of elements settled (contract 3, Commands; decisions 3.3, 3.4, 3.8).
 *
 * Level-triggered: a look at a batch reads everything anew.
 */
import type { CommandRefusal } from './tree/element-reconciliation.js';
import { told, withTold } from '../../../runtime/vocabulary/told.js';
import { ownOf } from '../../platform/base/own-of.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { pastRows } from '../../platform/store/past-rows.js';
import { runOf } from './past-run.js';
import type { Put, Store } from '../../platform/store/store.js';
import { SyncBarrier } from '../coordination/kind.js';
import { isActive } from '../../../runtime/vocabulary/transitions.js';
import { Unit } from '../plant/kind.js';
import { handedOn, isAvailable, taken, used } from '../plant/unit-owner.js';
import { UnitProcedure } from '../procedures/kind.js';
import { controlRecipeMismatch } from '../recipes/evidence.js';
import { ControlRecipe } from '../recipes/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { operatorAction } from '../runs/execution-log.js';
import { requestKey, requestsOf, served, type Waiter, waitersOf } from './start/allocation-queue.js';
import { BatchReconciliation } from './tree/batch-reconciliation.js';
import { withVerdict } from '../runs/command-rejection.js';
import { coordinate, coordinationLeftMs } from './tree/coordination.js';
import { type Allocation, Batch, isFinalBatch } from './kind.js';
import { giverOf } from '../runs/holds.js';
import { scopeToReset } from './start/left-over.js';
import { LOOK_AGAIN_MIN_MS, lookAgain } from './tree/look-again.js';
import { ClockSteps } from './reading/clock-span.js';
import { awaitsVerdict, orderOn, type PendingCommand, withoutCopy, withoutOrder } from '../runs/pending-command.js';
import type { PhaseCommands } from './phases/phase-commands.js';
import type { HoldPropagation } from './tree/procedure-tree.js';
import { Recovery } from './recovery/recovery.js';
import { withheldBy } from './start/equipment-conditions.js';
import { EVIDENCE_RULE, namedByStart, type StartFacts } from './start/start-conditions.js';
import { standingAlarmFacts } from './start/standing-alarms.js';
import { checkStart, startPuts } from './start/start.js';
import { type CandidateNow, candidatesNow, choiceOf, choiceText, choiceTold, ownUnits, startedClass, type UnitClass } from './start/unit-class.js';
import type { Key } from '../../platform/reconcile/key.js';

export interface BatchReconcilerSettings {
  readonly production: boolean;
  readonly settleDeadlineMs: number;
  /** `batch.holdPropagation`, where the recipe is silent. */
  readonly holdPropagation: HoldPropagation;
  readonly resumeCancelsPause: boolean;
  storageLow(): boolean;
  /** Plant time to wall time; 1 where it is not given. */
  readonly timeScale?: () => number;
  /** A rehearsal names values that an element could not run with, and goes on. */
  readonly runsUnfitValues?: boolean;
  /** Told when what is to run is not what was recorded (D-C-10); a rehearsal tells nobody. */
  mismatch?(target: { readonly kind: string; readonly name: string; readonly site: string }, problem: string): void;
}

const INTEGRITY_RULE = 'control-recipe-integrity'; // decisions 3.5

/** How often a unit that is free and not given out is looked at while somebody waits for it: permissives are values of tags, which wake nobody. */
const FREE_UNIT_LOOK_MS = 500;

export class BatchReconciler implements Reconciler {
  readonly name = 'batch-controller';
  readonly #store: Store;
  readonly #runtimes: UnitRuntimes;
  readonly #clock: Clock;
  readonly #settings: BatchReconcilerSettings;
  readonly #phases: PhaseCommands;
  readonly #recovery: Recovery;
  readonly #clockSteps: ClockSteps;
  /** Batches whose elements were found moving after their end without a unit, as a release before this one left them. */
  readonly #leftMoving: Key[];

  constructor(parts: {
    readonly store: Store;
    readonly runtimes: UnitRuntimes;
    readonly phases: PhaseCommands;
    readonly clock: Clock;
    readonly settings: BatchReconcilerSettings;
  }) {
    this.#store = parts.store;
    this.#runtimes = parts.runtimes;
    this.#phases = parts.phases;
    this.#clock = parts.clock;
    this.#settings = parts.settings;
    this.#recovery = new Recovery(parts);
    this.#clockSteps = new ClockSteps(parts.store, parts.clock);
    this.#leftMoving = parts.store.list(UnitProcedure).flatMap(({ metadata: { site }, spec, status }) => {
      const batch = isActive(status.state) ? parts.store.get(Batch, site, spec.batchRef) : undefined;
      return batch && isFinalBatch(batch.status.phase) ? [{ site, name: spec.batchRef }] : [];
    });
  }

  keys(): Iterable<Key> {
    const holders = new Set(this.#store.list(Unit).map(({ metadata, status }) => `${metadata.site}/${status.allocatedTo}`));
    return this.#store
      .list(Batch)
      .filter((batch) => !isFinalBatch(batch.status.phase) || awaitsVerdict(batch) || holders.has(`${batch.metadata.site}/${batch.metadata.name}`))
      .map((batch): Key => ({ site: batch.metadata.site, name: batch.metadata.name }))
      .concat(this.#leftMoving.splice(0));
  }

  sourceOf({ name }: Key): string {
    return `${Batch.kind}/${name}`;
  }

  /** Also from outside, now and then: whether every batch has to be looked at because the clock was set back. */
  lookAtClock(): boolean {
    return this.#clockSteps.look();
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    this.#clockSteps.look();
    const waiting = this.#store.get(Batch, site, name);
    // what an order to an ended batch is about may be past
    if (waiting && isFinalBatch(waiting.status.phase) && orderOn(waiting)) (await pastRows(this.#store).bring(runOf({ site, name })))?.();
    if (waiting?.status.phase === 'Pending' && orderOn(waiting)) await pastRows(this.#store).lend(namedByStart(this.#startFacts, site, waiting.metadata, waiting.spec));
    const batch = this.#store.get(Batch, site, name);
    if (!batch) return 'settled';
    const recipe = this.#store.get(ControlRecipe, site, batch.status.controlRecipe)?.spec.recipe;
    const reconciliation: BatchReconciliation = new BatchReconciliation(batch, this.#store, {
      nowMs: this.#clock.wallMs(),
      clock: this.#clock,
      timeScale: this.#settings.timeScale?.() ?? 1,
      holdPropagation: recipe?.holdPropagation ?? this.#settings.holdPropagation,
      onPhaseFailure: recipe?.onPhaseFailure ?? 'Hold',
      resumeCancelsPause: this.#settings.resumeCancelsPause,
      settleDeadlineMs: this.#settings.settleDeadlineMs,
      commandPhase: (phase, command, failure) => this.#phases.command(phase, command, failure),
      awaitsAnswer: (unit, phase) => this.#phases.awaitsAnswer(site, unit, phase),
      isReady: (unit) => this.#runtimes.link(site, unit)?.ready === true,
      isRefused: (phase) => this.#phases.isRefused(phase),
      candidates: (capability) => this.#candidates(reconciliation, capability)?.candidates ?? [],
    });
    // A batch that says Running has a procedure that runs: started before a command is judged, or one that comes in this
    // very moment would find the procedure Idle and be refused.
    if (reconciliation.status.phase === 'Running' && reconciliation.tree?.root.state === 'Idle') reconciliation.tree.command('Start');
    const hasEnded = isFinalBatch(reconciliation.status.phase);
    const extra = this.#judge(reconciliation);
    const recovered = this.#recovery.take(reconciliation);
    const noted = this.#clockSteps.take(reconciliation);
    reconciliation.holdMadeAnew();
    if (hasEnded) reconciliation.settleEnded();
    if (!isFinalBatch(reconciliation.status.phase) && reconciliation.status.phase !== 'Pending' && reconciliation.tree) {
      const onDemand = recipe?.allocationPolicy === 'OnDemand';
      if (onDemand) this.#allocateOnDemand(reconciliation);
      reconciliation.settle();
      if (onDemand) reconciliation.request(wantedUnits(reconciliation)); // granted at the next look, by the order of the requests
      this.#recovery.follow(reconciliation);
      extra.push(...coordinate(reconciliation, this.#store, this.#clock));
    }
    const change = reconciliation.change();
    if (change || extra.length > 0) await this.#store.write({ ...change, puts: [...(change?.puts ?? []), ...extra] });
    recovered();
    noted();
    if (extra.some(({ kind }) => kind === SyncBarrier)) {
      // what waits for it starts at the next look, its charts read it from now on
      this.#phases.sendSignals(site, name);
      return { lookAgainMs: LOOK_AGAIN_MIN_MS };
    }
    if (isFinalBatch(reconciliation.status.phase) && reconciliation.tree && reconciliation.isQuiet) this.#phases.forget(site, reconciliation.tree.root);
    return this.#again(reconciliation);
  }

  // ------------------------------------------------------------ commands

  /** Judges the recorded command, once; answers with the resources a start makes. */
  #judge(reconciliation: BatchReconciliation): Put[] {
    const order = orderOn(reconciliation.batch);
    if (!order) return [];
    // what is reset forgets its outputs: it waits until the record has them, which takes a moment
    if (order.pending?.command === 'Reset' && isFinalBatch(reconciliation.status.phase) && !reconciliation.isRecorded) return [];
    reconciliation.status = withoutOrder(reconciliation.status);
    reconciliation.annotations = withoutCopy(reconciliation.batch);
    if (order.unreadable !== undefined) {
      reconciliation.status = withVerdict(reconciliation.status, reconciliation.unreadable({ kind: 'Batch', state: reconciliation.status.phase }, order.unreadable));
      return [];
    }
    const { pending } = order;
    if (reconciliation.status.phase === 'Pending' && pending.command === 'Start') return this.#start(reconciliation, pending);
    const changed = pending.command === 'Restart' && !isFinalBatch(reconciliation.status.phase) ? this.#changedRecipe(reconciliation) : undefined;
    if (changed !== undefined) {
      const refusal = { rule: INTEGRITY_RULE, message: changed, told: told('recipe-changed', { recipe: reconciliation.status.controlRecipe, fault: changed }) };
      this.#rejected(reconciliation, pending, refusal);
      reconciliation.tree?.failWhole(refusal);
      this.#settings.mismatch?.({ kind: 'ControlRecipe', name: reconciliation.status.controlRecipe, site: reconciliation.site }, changed);
      return [];
    }
    const refusal = reconciliation.order(pending);
    if (refusal) this.#rejected(reconciliation, pending, refusal);
    else this.#accepted(reconciliation, pending);
    return [];
  }

  /** What a batch goes on with is what was frozen at its start (decisions 3.3, 3.5). */
  #changedRecipe(reconciliation: BatchReconciliation): string | undefined {
    const name = reconciliation.status.controlRecipe;
    if (name === '') return undefined;
    const recipe = this.#store.get(ControlRecipe, reconciliation.site, name);
    return recipe ? controlRecipeMismatch(name, recipe.spec) : `control recipe ${name} does not exist any more`;
  }

  get #startFacts(): StartFacts {
    const { production, runsUnfitValues = false } = this.#settings;
    return { store: this.#store, runtimes: this.#runtimes, production, runsUnfitValues, storageLow: () => this.#settings.storageLow() };
  }

  #start(reconciliation: BatchReconciliation, pending: PendingCommand): Put[] {
    const damaged = reconciliation.damaged(pending.command);
    if (damaged) {
      this.#rejected(reconciliation, pending, damaged);
      return [];
    }
    const check = checkStart(reconciliation.batch, this.#startFacts);
    if ('message' in check) {
      this.#rejected(reconciliation, pending, check);
      if (check.rule === EVIDENCE_RULE)
        this.#settings.mismatch?.({ kind: 'MasterRecipe', name: reconciliation.batch.spec.masterRecipeRef, site: reconciliation.site }, check.message);
      return [];
    }
    const { puts } = startPuts(reconciliation.batch, check.plan, this.#store);
    const now = reconciliation.at;
    const atStart = check.plan.recipe.spec.allocation === 'AtStart';
    const granted = atStart ? ({ state: 'Granted', since: now } as const) : ({ state: 'Requested', since: '' } as const); // not asked for yet
    const allocations = Object.entries(check.plan.allocation).map(([capability, unit]): Allocation => {
      const choice = ownOf(check.plan.choices, capability);
      return { capability, unit, ...granted, ...(choice ? { choice } : {}) };
    });
    const { commandRejection: _gone, ...status } = reconciliation.status;
    reconciliation.status = {
      ...status,
      allocations,
      parameterValues: check.plan.parameters,
      controlRecipe: reconciliation.batch.metadata.name,
      procedure: reconciliation.batch.metadata.name,
      startedAt: now,
      conditions: [],
    };
    if (atStart) for (const allocation of allocations) this.#grant(reconciliation, allocation);
    reconciliation.event({
      eventType: 'Control Recipe',
      eventSubType: 'System',
      value: reconciliation.batch.metadata.name,
      message: `control recipe made from ${check.plan.recipe.metadata.name}`,
      told: told('recipe-made', { recipe: check.plan.recipe.metadata.name }),
    });
    for (const parameter of check.plan.parameters) {
      reconciliation.event({ eventType: 'Procedural Execution', eventSubType: 'Parameter Data', value: parameter.value, message: `${parameter.name} (${parameter.source})` });
    }
    this.#accepted(reconciliation, pending);
    reconciliation.setPhase('Running', 'Start');
    return [...puts];
  }

  /** `choice` where the unit is one of a class: on record with who else was thought of (D-C-12). */
  #grant(reconciliation: BatchReconciliation, { capability, unit: name, choice }: Pick<Allocation, 'capability' | 'unit' | 'choice'>): void {
    const unit = reconciliation.units.get(name);
    if (!unit || unit.allocatedTo === reconciliation.scope) return;
    const before = scopeToReset(this.#store, reconciliation.site, name, unit);
    const given = before === '' ? taken(unit, reconciliation.scope) : handedOn(unit, before, reconciliation.scope);
    reconciliation.units.set(name, used(given, reconciliation.at, this.#store.resourceVersion, true));
    const why = choice && {
      message: choiceText(capability, choice),
      told: choiceTold(capability, choice),
      previousValue: choice.policy,
      auditRecordRef: reconciliation.recordChoice(capability, name, choice),
    };
    reconciliation.event({ eventType: 'Equipment', eventSubType: 'Allocation', unit: name, equipment: name, value: name, ...why });
    reconciliation.facts.push(...standingAlarmFacts(this.#store, reconciliation.site, reconciliation.scope, name, reconciliation.at));
  }

  #accepted(reconciliation: BatchReconciliation, pending: PendingCommand): void {
    reconciliation.status = withVerdict(reconciliation.status);
    const auditRecordRef = reconciliation.verdict(pending, { kind: 'Batch', state: reconciliation.status.phase }, 'Success');
    const { by } = pending;
    if (by.actorType !== 'human') return;
    const name = reconciliation.batch.metadata.name;
    reconciliation.facts.push(
      operatorAction(reconciliation.site, name, {
        ts: reconciliation.at,
        action: 'Command',
        element: { kind: 'Batch', name, path: '' },
        person: { accountId: by.accountId, displayName: by.displayName },
        signed: false,
        meaning: '',
        reason: pending.reason,
        value: pending.command,
        acknowledgedBy: '',
        signatureRef: '',
        auditRecordRef,
      }),
    );
  }

  #rejected(reconciliation: BatchReconciliation, pending: PendingCommand, refusal: CommandRefusal): void {
    const { rule, message, told: as } = refusal;
    const rejection = {
      command: pending.command,
      state: reconciliation.status.phase,
      rule,
      message,
      ...withTold(as),
      at: reconciliation.at,
      correlationID: pending.correlationID,
      by: giverOf(pending.by),
      ...(pending.alarm === undefined ? {} : { alarm: pending.alarm }),
    };
    reconciliation.status = withVerdict(reconciliation.status, rejection);
    reconciliation.verdict(pending, { kind: 'Batch', state: rejection.state }, 'Rejected', refusal);
  }

  // ------------------------------------------------------------ allocation, recovery, signals

  /**
   * OnDemand: a unit is asked for when its unit procedure has its turn and its signals, and granted to the most urgent request; of a class
   * the first that is free by the policy of the recipe (D-C-12). Judged and taken in one turn: the next batch that looks finds it taken.
   */
  #allocateOnDemand(reconciliation: BatchReconciliation): void {
    reconciliation.request(wantedUnits(reconciliation));
    const { site, batch, status, units } = reconciliation;
    const looked = { metadata: batch.metadata, spec: batch.spec, status };
    const isFree = (name: string): boolean => isAvailable(units.get(name));
    // a unit that comes free wakes all who wait for it, and most of them find it taken
    if (!requestsOf(this.#store, looked).some((request) => request.units.some(isFree))) return;
    const waiters = waitersOf(this.#store, site, looked);
    const own = waiters.filter((waiter) => waiter.batch === reconciliation.scope);
    const before = waiters.slice(0, 1 + waiters.findLastIndex((waiter) => own.includes(waiter))); // the less urgent take nothing from it
    const given = served(before, (waiter) => this.#takes(reconciliation, waiter));
    for (const waiter of own) {
      const unit = given.get(waiter);
      if (unit !== undefined) this.#give(reconciliation, waiter, unit);
      else if (waiter.units.some(isFree)) reconciliation.waitsForFree = true;
    }
  }

  #give(reconciliation: BatchReconciliation, { capability, isClass }: Waiter, unit: string): void {
    const found = isClass ? this.#candidates(reconciliation, capability) : undefined;
    const choice = found && choiceOf(found.unitClass, unit, found.candidates);
    this.#grant(reconciliation, { capability, unit, ...(choice ? { choice } : {}) });
    if (choice) reconciliation.chosen(capability, unit, choice);
    reconciliation.granted(unit);
  }

  /** Units that could be taken for a request now, in the order in which it tries them. */
  #takes(reconciliation: BatchReconciliation, { batch, capability, units, isClass }: Waiter): readonly string[] {
    if (isClass) {
      const found = this.#candidates(reconciliation, capability, batch)?.candidates ?? [];
      return found.flatMap(({ unit, available }) => (available && units.includes(unit) ? [unit] : []));
    }
    return units.filter((name) => {
      if (!isAvailable(reconciliation.units.get(name)) || !this.#runtimes.link(reconciliation.site, name)?.ready) return false;
      const missing = withheldBy({ store: this.#store, runtimes: this.#runtimes }, reconciliation.site, name);
      if (missing) reconciliation.withheld.set(name, missing);
      return !missing;
    });
  }

  /** Of a class that the batch, or another one, waits for; what the others have is out of their requests already. */
  #candidates(
    reconciliation: BatchReconciliation,
    capability: string,
    batch = reconciliation.scope,
  ): { readonly unitClass: UnitClass; readonly candidates: readonly CandidateNow[] } | undefined {
    const { site, units, scope, status } = reconciliation;
    const unitClass = startedClass(this.#store, site, batch === scope ? status.controlRecipe : batch, capability);
    const own = batch === scope ? ownUnits(status.allocations) : [];
    const facts = { store: this.#store, runtimes: this.#runtimes };
    return unitClass && { unitClass, candidates: candidatesNow(facts, site, unitClass, own, (name) => units.get(name)) };
  }

  #again(reconciliation: BatchReconciliation): Outcome {
    const leftMs = reconciliation.settleLeftMs === undefined ? [] : [reconciliation.settleLeftMs];
    leftMs.push(...reconciliation.budgetsLeftMs());
    leftMs.push(...coordinationLeftMs(reconciliation, this.#store, this.#clock));
    if (reconciliation.waitsForFree) leftMs.push(FREE_UNIT_LOOK_MS);
    return lookAgain(leftMs);
  }
}

/** What the unit procedures ask for that need nothing else to start (`requestKey`); a batch that is being ended waits for none. */
function wantedUnits(reconciliation: BatchReconciliation): ReadonlySet<string> {
  const root = reconciliation.tree?.root;
  if (!root || root.state === 'Stopping' || root.state === 'Aborting') return new Set();
  return new Set(root.children.filter((node) => reconciliation.wantsUnit(node)).map((node) => requestKey({ capability: reconciliation.capabilityOf(node), unit: node.unit })));
}
