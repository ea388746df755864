/**
 * A batch leaves the memory itself when all that it left behind has (ADR 0033): its elements, its control recipe and its record. It is
 * a run of one row, named by itself, so that whoever looks at it brings back nothing else, and of the streams that tell of it: all
 * that may tell something is past, or keeps it here.
 */
import type { Clock } from '../../platform/base/clock.js';
import type { Key } from '../../platform/reconcile/key.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { pastRows } from '../../platform/store/past-rows.js';
import { namedBeside } from '../../platform/store/references.js';
import { refOf, type Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../batches/kind.js';
import { wholeOf } from '../batches/past-run.js';
import { elementIndex } from '../batches/tree/element-index.js';
import { Unit } from '../plant/kind.js';
import { Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import { ControlRecipe } from '../recipes/kind.js';
import { asked } from '../runs/asked.js';
import { streamsOf } from '../runs/execution-log.js';
import { orderOn, UNREADABLE_ORDER } from '../runs/pending-command.js';
import { BatchRecord } from './kind.js';
import { LATER, mark, mayMark, QuietTimes, SOON } from './marking.js';

/** Of a batch or of an execution by hand: what happens to those below is told under the name of the root. */
const ROOTS = [Procedure, UnitProcedure, Operation, Phase];

type BatchResource = Resource<BatchSpec, BatchStatus>;

export class PastBatchReconciler implements Reconciler {
  readonly name = 'past-batch';
  readonly #store: Store;
  readonly #quiet: QuietTimes;

  constructor({ store, clock, afterMs }: { readonly store: Store; readonly clock: Clock; readonly afterMs: number }) {
    this.#store = store;
    this.#quiet = new QuietTimes(clock, afterMs);
  }

  keys(): Iterable<Key> {
    return this.#store.list(Batch).flatMap((batch) => (isAlone(this.#store, batch) ? [batch.metadata] : []));
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const batch = this.#store.get(Batch, site, name);
    if (!batch || !isAlone(this.#store, batch) || this.#store.pastEntry(Batch, site, name)) {
      this.#quiet.forget({ site, name });
      return 'settled';
    }
    const leftMs = this.#quiet.leftMs(batch);
    if (leftMs > 0) return { lookAgainMs: leftMs };
    if (!mayMark(this.#store)) return LATER;
    const past = pastRows(this.#store);
    if (wholeOf({ site, name }).some((run) => past.isHeld(run)) || asked(this.#store).isOpen(site, name)) return SOON;
    if (this.#store.faults.some((fault) => fault.site === site && fault.name === name)) return 'settled';
    this.#quiet.forget({ site, name });
    const run = refOf(batch);
    const names = namedBeside(this.#store, run, [batch], []);
    await mark(this.#store, { run, members: [run], streams: streamsOf(site, name), kept: Object.keys(names).length === 0 ? {} : { names } });
    return 'settled';
  }
}

/** It has ended, everything it left behind is past, no execution by hand tells under its name, no unit has anything to do with it, and no alarm tells of an order to it that could not be read. */
function isAlone(store: Store, batch: BatchResource): boolean {
  const { site, name } = batch.metadata;
  const { phase, recordRef, recordSettled, commandRejection } = batch.status;
  if (!isFinalBatch(phase) || recordRef === '' || recordSettled === false || commandRejection?.rule === UNREADABLE_ORDER || orderOn(batch)) return false;
  if (!store.pastEntry(BatchRecord, site, recordRef) || store.isPresent({ kind: ControlRecipe.kind, site, name })) return false;
  if (ROOTS.some(({ kind }) => store.isPresent({ kind, site, name }))) return false;
  if (
    elementIndex(store)
      .elementsOf(site, name)
      .some((element) => store.isPresent(refOf(element)))
  )
    return false;
  return store.list(Unit, site).every(({ status }) => status.allocatedTo !== name && status.promisedTo !== name);
}
