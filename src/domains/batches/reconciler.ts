/**
 * The batch controller (component `batch-controller`): judges the commands recorded on batches, allocates units, and keeps
 * each batch's tree of elements settled (contract 3, Commands; decisions 3.3, 3.4, 3.8).
 *
 * Level-triggered: a look at a batch reads everything anew.
 */
import type { Clock } from '../../platform/base/clock.js';
import type { Key, Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { Put, Store } from '../../platform/store/store.js';
import { SyncBarrier } from '../coordination/kind.js';
import { isActive } from '../../../runtime/vocabulary/transitions.js';
import { Unit } from '../plant/kind.js';
import { handedOn, isAvailable, taken } from '../plant/unit-owner.js';
import { UnitProcedure } from '../procedures/kind.js';
import { controlRecipeMismatch } from '../recipes/evidence.js';
import { ControlRecipe } from '../recipes/kind.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { operatorAction } from './facts/execution-log.js';
import { allocationQueue, byUrgency } from './start/allocation-queue.js';
import { BatchPass } from './tree/batch-reconciliation.js';
import { withVerdict } from './tree/command-rejection.js';
import { coordinate, coordinationLeftMs } from './tree/coordination.js';
import { type Allocation, Batch, isFinalBatch } from './kind.js';
import { giverOf } from './tree/holds.js';
import { scopeToReset } from './start/left-over.js';
import { LOOK_AGAIN_MIN_MS, lookAgain } from './tree/look-again.js';
import { ClockSteps } from './reading/clock-span.js';
import { awaitsVerdict, orderOn, type PendingCommand, withoutCopy, withoutOrder } from './tree/pending-command.js';
import type { PhaseCommands } from './phases/phase-commands.js';
import type { HoldPropagation } from './tree/procedure-tree.js';
import { Recovery } from './recovery/recovery.js';
import { EVIDENCE_RULE, checkStart, permissiveOf, startPuts } from './start/start.js';

export interface ControllerSettings {
  readonly production: boolean;
  readonly settleDeadlineMs: number;
  /** `batch.holdPropagation`, where the recipe is silent. */
  readonly holdPropagation: HoldPropagation;
  readonly resumeCancelsPause: boolean;
  storageLow(): boolean;
  /** Plant time to wall time; 1 where it is not given. */
  readonly timeScale?: () => number;
  /** A rehearsal names values that an element could not run with, and goes on. */
  readonly runsMisfits?: boolean;
  /** Told when what is to run is not what was recorded (D-C-10); a rehearsal tells nobody. */
  mismatch?(target: { readonly kind: string; readonly name: string; readonly site: string }, problem: string): void;
}

const INTEGRITY_RULE = 'control-recipe-integrity'; // decisions 3.5

/** How often the permissives of a free unit are read while somebody waits for it: values of tags wake nobody. */
const PERMISSIVE_LOOK_MS = 500;

export class BatchController implements Reconciler {
  readonly name = 'batch-controller';
  readonly #store: Store;
  readonly #runtimes: UnitRuntimes;
  readonly #clock: Clock;
  readonly #settings: ControllerSettings;
  readonly #phases: PhaseCommands;
  readonly #recovery: Recovery;
  readonly #clockSteps: ClockSteps;
  /** Batches whose elements were found moving after their end without a unit, as a release before this one left them. */
  readonly #leftMoving: Key[];

  constructor(parts: { readonly store: Store; readonly runtimes: UnitRuntimes; readonly phases: PhaseCommands; readonly clock: Clock; readonly settings: ControllerSettings }) {
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
    const batch = this.#store.get(Batch, site, name);
    if (!batch) return 'settled';
    const recipe = this.#store.get(ControlRecipe, site, batch.status.controlRecipe)?.spec.recipe;
    const pass = new BatchPass(batch, this.#store, {
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
    });
    // A batch that says Running has a procedure that runs: started before a command is judged, or one that comes in this
    // very moment would find the procedure Idle and be refused.
    if (pass.status.phase === 'Running' && pass.tree?.root.state === 'Idle') pass.tree.command('Start');
    const hasEnded = isFinalBatch(pass.status.phase);
    const extra = this.#judge(pass);
    const recovered = this.#recovery.take(pass);
    const noted = this.#clockSteps.take(pass);
    if (hasEnded) pass.settleEnded();
    if (!isFinalBatch(pass.status.phase) && pass.status.phase !== 'Pending' && pass.tree) {
      const onDemand = recipe?.allocationPolicy === 'OnDemand';
      if (onDemand) this.#allocateOnDemand(pass);
      pass.settle();
      if (onDemand) pass.request(wantedUnits(pass)); // granted at the next look, by the order of the requests
      this.#recovery.follow(pass);
      extra.push(...coordinate(pass, this.#store, this.#clock));
    }
    const change = pass.change();
    if (change || extra.length > 0) await this.#store.write({ ...change, puts: [...(change?.puts ?? []), ...extra] });
    recovered();
    noted();
    if (extra.some(({ kind }) => kind === SyncBarrier)) {
      // what waits for it starts at the next look, its charts read it from now on
      this.#phases.sendSignals(site, name);
      return { lookAgainMs: LOOK_AGAIN_MIN_MS };
    }
    if (isFinalBatch(pass.status.phase) && pass.tree && pass.isQuiet) this.#phases.forget(site, pass.tree.root);
    return this.#again(pass);
  }

  // ------------------------------------------------------------ commands

  /** Judges the recorded command, once; answers with the resources a start makes. */
  #judge(pass: BatchPass): Put[] {
    const order = orderOn(pass.batch);
    if (!order) return [];
    // what is reset forgets its outputs: it waits until the record has them, which takes a moment
    if (order.pending?.command === 'Reset' && isFinalBatch(pass.status.phase) && !pass.isRecorded) return [];
    pass.status = withoutOrder(pass.status);
    pass.annotations = withoutCopy(pass.batch);
    if (order.unreadable !== undefined) {
      pass.status = withVerdict(pass.status, pass.unreadable({ kind: 'Batch', state: pass.status.phase }, order.unreadable));
      return [];
    }
    const { pending } = order;
    if (pass.status.phase === 'Pending' && pending.command === 'Start') return this.#start(pass, pending);
    const changed = pending.command === 'Restart' && !isFinalBatch(pass.status.phase) ? this.#changedRecipe(pass) : undefined;
    if (changed !== undefined) {
      this.#rejected(pass, pending, INTEGRITY_RULE, changed);
      pass.tree?.failWhole(INTEGRITY_RULE, changed);
      this.#settings.mismatch?.({ kind: 'ControlRecipe', name: pass.status.controlRecipe, site: pass.site }, changed);
      return [];
    }
    const refusal = pass.order(pending);
    if (refusal) this.#rejected(pass, pending, refusal.rule, refusal.message);
    else this.#accepted(pass, pending);
    return [];
  }

  /** What a batch goes on with is what was frozen at its start (decisions 3.3, 3.5). */
  #changedRecipe(pass: BatchPass): string | undefined {
    const name = pass.status.controlRecipe;
    if (name === '') return undefined;
    const recipe = this.#store.get(ControlRecipe, pass.site, name);
    return recipe ? controlRecipeMismatch(name, recipe.spec) : `control recipe ${name} does not exist any more`;
  }

  #start(pass: BatchPass, pending: PendingCommand): Put[] {
    const { production, runsMisfits = false } = this.#settings;
    const check = checkStart(pass.batch, { store: this.#store, runtimes: this.#runtimes, production, runsMisfits, storageLow: () => this.#settings.storageLow() });
    if ('message' in check) {
      this.#rejected(pass, pending, check.rule, check.message);
      if (check.rule === EVIDENCE_RULE) this.#settings.mismatch?.({ kind: 'MasterRecipe', name: pass.batch.spec.masterRecipeRef, site: pass.site }, check.message);
      return [];
    }
    const { puts } = startPuts(pass.batch, check.plan, this.#store);
    const now = pass.at;
    const atStart = check.plan.recipe.spec.allocation === 'AtStart';
    const granted = atStart ? ({ state: 'Granted', since: now } as const) : ({ state: 'Requested', since: '' } as const); // not asked for yet
    const allocations = Object.entries(check.plan.allocation).map(([capability, unit]): Allocation => ({ capability, unit, ...granted }));
    const { commandRejection: _gone, ...status } = pass.status;
    pass.status = {
      ...status,
      allocations,
      parameterValues: check.plan.parameters,
      controlRecipe: pass.batch.metadata.name,
      procedure: pass.batch.metadata.name,
      startedAt: now,
      conditions: [],
    };
    if (atStart) for (const { unit } of allocations) this.#grant(pass, unit);
    pass.event({ eventType: 'Control Recipe', eventSubType: 'System', value: pass.batch.metadata.name, message: `control recipe made from ${check.plan.recipe.metadata.name}` });
    for (const parameter of check.plan.parameters) {
      pass.event({ eventType: 'Procedural Execution', eventSubType: 'Parameter Data', value: parameter.value, message: `${parameter.name} (${parameter.source})` });
    }
    this.#accepted(pass, pending);
    pass.setPhase('Running', 'Start');
    return [...puts];
  }

  #grant(pass: BatchPass, name: string): void {
    const unit = pass.unit(name);
    if (!unit || unit.allocatedTo === pass.scope) return;
    const before = scopeToReset(this.#store, pass.site, name, unit);
    pass.setUnit(name, before === '' ? taken(unit, pass.scope) : handedOn(unit, before, pass.scope));
    pass.event({ eventType: 'Equipment', eventSubType: 'Allocation', unit: name, equipment: name, value: name });
  }

  #accepted(pass: BatchPass, pending: PendingCommand): void {
    pass.status = withVerdict(pass.status);
    const auditRecordRef = pass.verdict(pending, { kind: 'Batch', state: pass.status.phase }, 'Success');
    const { by } = pending;
    if (by.actorType !== 'human') return;
    const name = pass.batch.metadata.name;
    pass.facts.push(
      operatorAction(pass.site, name, {
        ts: pass.at,
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

  #rejected(pass: BatchPass, pending: PendingCommand, rule: string, message: string): void {
    const rejection = {
      command: pending.command,
      state: pass.status.phase,
      rule,
      message,
      at: pass.at,
      correlationID: pending.correlationID,
      by: giverOf(pending.by),
      ...(pending.alarm === undefined ? {} : { alarm: pending.alarm }),
    };
    pass.status = withVerdict(pass.status, rejection);
    pass.verdict(pending, { kind: 'Batch', state: rejection.state }, 'Rejected', rule, message);
  }

  // ------------------------------------------------------------ allocation, recovery, signals

  /** OnDemand: a unit is asked for when its unit procedure has its turn and its signals, and granted to the most urgent request. */
  #allocateOnDemand(pass: BatchPass): void {
    const wanted = wantedUnits(pass);
    pass.request(wanted);
    for (const name of wanted) {
      if (!isAvailable(pass.unit(name)) || !this.#runtimes.link(pass.site, name)?.ready || this.#outranked(pass, name)) continue;
      const missing = permissiveOf({ store: this.#store, runtimes: this.#runtimes }, pass.site, name);
      if (missing) {
        pass.withheld.set(name, missing);
        continue;
      }
      this.#grant(pass, name);
      pass.granted(name);
    }
  }

  #outranked(pass: BatchPass, unit: string): boolean {
    const since = pass.status.allocations.find((allocation) => allocation.unit === unit)?.since ?? pass.at;
    const own = { batch: pass.scope, priority: pass.batch.spec.priority, since };
    return allocationQueue(this.#store, pass.site, unit).some((other) => other.batch !== pass.scope && byUrgency(other, own) < 0);
  }

  #again(pass: BatchPass): Outcome {
    const leftMs = pass.settleLeftMs === undefined ? [] : [pass.settleLeftMs];
    leftMs.push(...pass.budgetsLeftMs());
    leftMs.push(...coordinationLeftMs(pass, this.#store, this.#clock));
    if (pass.withheld.size > 0) leftMs.push(PERMISSIVE_LOOK_MS);
    return lookAgain(leftMs);
  }
}

/** Units of the unit procedures that need nothing else to start; a batch that is being ended waits for none. */
function wantedUnits(pass: BatchPass): ReadonlySet<string> {
  const root = pass.tree?.root;
  if (!root || root.state === 'Stopping' || root.state === 'Aborting') return new Set();
  return new Set(root.children.filter((node) => pass.wantsUnit(node)).map(({ unit }) => unit));
}
