/**
 * Makes the run of a batch past when nothing waits for it any more (ADR 0037): its elements, its control recipe and its copies of
 * signals and barriers leave the memory. The batch and its record leave by themselves (ADR 0033, 0038); its streams stay present.
 *
 * When in doubt a run stays: each condition is looked at in the turn in which it is marked, one run at a time, and the next when this
 * one is on disk.
 */
import { isActive } from '../../../runtime/vocabulary/transitions.js';
import type { Clock } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import type { Key } from '../../platform/reconcile/key.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { pastRows } from '../../platform/store/past-rows.js';
import { namedBeside } from '../../platform/store/references.js';
import { keyOf, type Ref, refOf, type Resource } from '../../platform/store/resource.js';
import type { Past, Store } from '../../platform/store/store.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../batches/kind.js';
import { runOf } from '../batches/past-run.js';
import { scopeToReset } from '../batches/start/left-over.js';
import { elementIndex, type ElementResource } from '../batches/tree/element-index.js';
import { Unit } from '../plant/kind.js';
import { type ElementStatus, Phase, type PhaseSpec, Procedure } from '../procedures/kind.js';
import { phaseStates } from '../procedures/phase-states.js';
import { ControlRecipe } from '../recipes/kind.js';
import { asked } from '../runs/asked.js';
import { orderOn } from '../runs/pending-command.js';
import { LATER, mark, mayMark, SOON } from './marking.js';
import { hasSettledRecord } from './past-records.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

export class PastRunReconciler implements Reconciler {
  readonly name = 'past-run';
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #afterMs: number;
  /** Since when each was seen to have settled, by `site/name`. */
  readonly #settled = new Map<string, Stopwatch>();

  constructor({ store, clock, afterMs }: { readonly store: Store; readonly clock: Clock; readonly afterMs: number }) {
    this.#store = store;
    this.#clock = clock;
    this.#afterMs = afterMs;
  }

  keys(): Iterable<Key> {
    return this.#store
      .list(Procedure)
      .flatMap(({ metadata: { site }, spec: { batchRef } }) =>
        batchRef === '' || !hasSettled(this.#store, this.#store.get(Batch, site, batchRef)) ? [] : [{ site, name: batchRef }],
      );
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const key = `${site}/${name}`;
    const batch = this.#store.get(Batch, site, name);
    if (!batch || !hasSettled(this.#store, batch) || this.#store.pastEntry(Procedure, site, name)) {
      this.#settled.delete(key);
      return 'settled';
    }
    let since = this.#settled.get(key);
    if (!since) this.#settled.set(key, (since = new Stopwatch(this.#clock)));
    const leftMs = this.#afterMs - since.elapsedMs;
    if (leftMs > 0) return { lookAgainMs: leftMs };
    if (!mayMark(this.#store)) return LATER; // and a full disk wants no line about it
    if (isWaitedFor(this.#store, batch)) return SOON;
    const past = runToMark(this.#store, batch);
    this.#settled.delete(key);
    if (!past) return 'settled'; // nothing of it changes by itself: the next resync looks again
    await mark(this.#store, past);
    return 'settled';
  }
}

/** It has ended and its record will not be changed any more. */
function hasSettled(store: Store, batch: BatchResource | undefined): boolean {
  if (!batch || !isFinalBatch(batch.status.phase) || batch.status.recordRef === '' || batch.status.recordSettled === false) return false;
  return hasSettledRecord(store, batch.metadata.site, batch.status.recordRef);
}

/** Somebody works with it: an order to it, a request to its equipment, a reader, a unit that is its own or shows what it has left there. */
function isWaitedFor(store: Store, batch: BatchResource): boolean {
  const { site, name } = batch.metadata;
  if (orderOn(batch) || asked(store).isOpen(site, name)) return true;
  const past = pastRows(store);
  if (runOf({ site, name }).some((run) => past.isHeld(run))) return true;
  return store.list(Unit, site).some(({ metadata, status }) => {
    const { allocatedTo, promisedTo } = status;
    return allocatedTo === name || promisedTo === name || scopeToReset(store, site, metadata.name, status) === name;
  });
}

/** Undefined when it is not whole, not at rest, or not named as it has to be to be found again. */
function runToMark(store: Store, batch: BatchResource): Past | undefined {
  const { site, name } = batch.metadata;
  const { controlRecipe, procedure } = batch.status;
  const elements = elementIndex(store).elementsOf(site, name);
  const root = elements.find((element) => element.kind === Procedure.kind);
  const recipe = store.get(ControlRecipe, site, controlRecipe);
  if (!root || !recipe || [root.metadata.name, procedure, controlRecipe].some((each) => each !== name)) return undefined;
  if (!elements.every((element) => isAtRest(element) && isNamedBelow(element, name))) return undefined;
  const copies = copiesOf(store, batch);
  const members = [...elements, recipe, ...copies].map(refOf);
  if (hasFault(store, site, name, members)) return undefined;
  const stands = phaseStates(store).standsOf(elements.filter(({ kind }) => kind === Phase.kind) as readonly Resource<PhaseSpec, ElementStatus>[]);
  const run = refOf(root);
  const names = namedBeside(store, run, copies, [...members, refOf(batch)]);
  return { run, members, streams: [], kept: { ...(stands.length === 0 ? {} : { stands }), ...(Object.keys(names).length === 0 ? {} : { names }) } };
}

/** What it was given of the patterns of its recipe; what a person wrote for it is his, and one whose name was cut is not found by the run's. */
function copiesOf(store: Store, { metadata: { site, name, uid } }: BatchResource): readonly Resource[] {
  const index = elementIndex(store);
  return [...index.blocksOf(site, name), ...index.barriersOf(site, name)].filter(
    ({ metadata }) => metadata.name.startsWith(`${name}-`) && metadata.ownerReferences.some((owner) => owner.uid === uid),
  );
}

/** Nothing of it moves, and nobody is asked for anything. */
function isAtRest({ status: { state, pendingPrompt, pendingCommand } }: ElementResource): boolean {
  return !isActive(state) && pendingPrompt === undefined && pendingCommand === undefined;
}

/** By its name the run of an element is found (`Kind.pastWith`); a long one was cut. */
function isNamedBelow({ kind, metadata }: ElementResource, name: string): boolean {
  return kind === Procedure.kind ? metadata.name === name : metadata.name.startsWith(`${name}-`);
}

/**
 * A row that does not fit is worked with as it is, and named for as long as it is there. One that cannot be read is nobody's member:
 * it is of the run by its name, or of one that begins like it.
 */
function hasFault(store: Store, site: string, name: string, members: readonly Ref[]): boolean {
  const { faults } = store;
  if (faults.length === 0) return false;
  const own = new Set(members.map(keyOf));
  return faults.some((fault) => own.has(keyOf(fault)) || (!fault.kept && fault.site === site && (fault.name === name || fault.name.startsWith(`${name}-`))));
}
