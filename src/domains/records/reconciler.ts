/** Makes the record of a batch that has ended, and repairs it until its history has settled (decisions 8.1). */
import { isDeepStrictEqual } from 'node:util';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { component } from '../../platform/store/audit-record.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Change, Put, Store } from '../../platform/store/store.js';
import type { BatchAlarmFact } from '../alarms/batch-alarms.js';
import type { StandingAlarmFact } from '../alarms/kind.js';
import { asked } from '../runs/asked.js';
import { Batch, type BatchSpec, type BatchStatus, isFinalBatch } from '../batches/kind.js';
import { type BatchStream, type ExecutionEvent, type ExternalResultFact, lastFacts, type OperatorAction, type StateEntry } from '../runs/execution-log.js';
import { type FactReader, factsOf } from '../runs/facts.js';
import { assembleRecord, type BatchFacts, isSettled } from './assembly.js';
import { lostBy, partialData, settledCondition, unrepaired } from './conditions.js';
import { BatchRecord, type BatchRecordSpec, type BatchRecordStatus, isClosed, type RecordResource } from './kind.js';
import type { Key } from '../../platform/reconcile/key.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

const RECORDS = component('batch-controller');
const SETTLE_LOOK_MS = 1000;
/** What was asked of the equipment of a batch is answered within some hundred ms, or not at all. */
const ASKED_LOOK_MS = 50;

export class RecordReconciler implements Reconciler {
  readonly name = 'batch-record';
  readonly #store: Store;
  readonly #facts: FactReader;

  constructor(parts: { readonly store: Store; readonly facts: FactReader }) {
    this.#store = parts.store;
    this.#facts = parts.facts;
  }

  /** Batches that have ended without a record, and those whose record may still be repaired, also after a restart. */
  keys(): Iterable<Key> {
    return this.#store
      .list(Batch)
      .filter(({ metadata, status }) => isFinalBatch(status.phase) && this.#isOpen(metadata))
      .map(({ metadata }) => ({ site: metadata.site, name: metadata.name }));
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const batch = this.#store.get(Batch, site, name);
    if (!batch || !isFinalBatch(batch.status.phase)) return 'settled';
    const before = this.#store.get(BatchRecord, site, name);
    if (!this.#isOpen({ site, name }) || isLost(batch, before)) return 'settled';
    if (asked(this.#store).isOpen(site, name)) return { lookAgainMs: ASKED_LOOK_MS };
    const settledNow = isSettled(this.#store, site, name);
    const told = lastFacts(site, name, (stream) => this.#store.lastFact(stream));
    if (before && !settledNow) return { lookAgainMs: SETTLE_LOOK_MS };
    const facts = await readFacts(this.#facts, batch);
    const assembled = assembleRecord(batch, this.#store, facts);
    // deleted meanwhile: what is written of it would be a batch without a specification
    if (this.#store.get(Batch, site, name)?.metadata.uid !== batch.metadata.uid) return 'settled';
    // the unit may be held a moment longer than the batch lasts: what was told of it meanwhile belongs to the record too
    if (
      asked(this.#store).isOpen(site, name) ||
      !isDeepStrictEqual(
        told,
        lastFacts(site, name, (stream) => this.#store.lastFact(stream)),
      )
    )
      return { lookAgainMs: ASKED_LOOK_MS };
    const known = this.#store.get(BatchRecord, site, name); // it may have been sealed while the facts were read
    if (known && isClosed(known)) return 'settled';
    await this.#store.write(known ? this.#repair(known, batch, assembled, facts.unreadable) : this.#creation(batch, assembled, facts.unreadable, settledNow));
    return settledNow ? 'settled' : { lookAgainMs: SETTLE_LOOK_MS };
  }

  /** It is to be made, or may be repaired; nothing is done to what is past. */
  #isOpen({ site, name }: Key): boolean {
    if (this.#store.pastEntry(BatchRecord, site, name)) return false;
    const record = this.#store.get(BatchRecord, site, name);
    return !record || !isClosed(record);
  }

  #creation(batch: BatchResource, spec: BatchRecordSpec, unreadable: readonly string[], settled: boolean): Change {
    const { site, name } = batch.metadata;
    const conditions = [settledCondition(settled, batch.status), partialData(spec.failoverEvents, unreadable)];
    const batchStatus: BatchStatus = { ...(this.#store.get(Batch, site, name)?.status ?? batch.status), recordRef: name, recordSettled: settled };
    return written('Create', batch, spec, { ...BatchRecord.initialStatus(spec), outcome: outcomeOf(batch), digest: canonicalDigest(spec), conditions }, [
      { kind: Batch, site, name, status: batchStatus } as Put,
    ]);
  }

  /** Late states join the history; events stay as they were frozen at the end of the batch. */
  #repair(known: RecordResource, batch: BatchResource, assembled: BatchRecordSpec, unreadable: readonly string[]): Change {
    const { site, name } = batch.metadata;
    const lost = lostBy(known.spec, assembled);
    const spec = lost === '' ? { ...assembled, executionEvents: known.spec.executionEvents } : known.spec;
    const settling = lost === '' ? settledCondition(true, batch.status) : unrepaired(lost);
    const batchStatus: BatchStatus = { ...(this.#store.get(Batch, site, name)?.status ?? batch.status), recordSettled: true };
    return written('Update', batch, spec, { ...known.status, digest: canonicalDigest(spec), conditions: [settling, partialData(spec.failoverEvents, unreadable)] }, [
      { kind: Batch, site, name, status: batchStatus } as Put,
    ]);
  }
}

/** It had a record, which is gone past the gateway. A new one in its place would be open to be sealed as if it were the first. */
function isLost({ status }: BatchResource, record: RecordResource | undefined): boolean {
  return record === undefined && status.recordRef !== '';
}

function written(action: 'Create' | 'Update', batch: BatchResource, spec: BatchRecordSpec, status: BatchRecordStatus, more: readonly Put[] = []): Change {
  const { site, name } = batch.metadata;
  const { outcome, digest, conditions } = status;
  return {
    puts: [{ kind: BatchRecord, site, name, spec, status } as Put, ...more],
    audits: [
      {
        site,
        actor: RECORDS,
        action,
        category: 'batch-record',
        target: { kind: 'BatchRecord', name, site },
        result: 'Success',
        details: { outcome, digest, settling: conditions[0]?.reason, conditions },
        correlationID: `record-${name}`,
      },
    ],
  };
}

function outcomeOf({ status }: BatchResource): BatchRecordStatus['outcome'] {
  return status.phase as BatchRecordStatus['outcome'];
}

/** All facts of a batch, oldest first. */
export async function readFacts(reader: FactReader, batch: BatchResource): Promise<BatchFacts> {
  const unreadable: string[] = [];
  const read = <Fact>(stream: BatchStream): Promise<readonly Fact[]> =>
    factsOf<Fact>(reader, stream, batch, (entries) => unreadable.push(...entries.map((entry) => `${stream} ${entry}`)));
  const [events, states, actions, results, alarms] = await Promise.all([
    read<ExecutionEvent>('events'),
    read<StateEntry>('states'),
    read<OperatorAction>('actions'),
    read<ExternalResultFact>('results'),
    read<BatchAlarmFact | StandingAlarmFact>('alarms'),
  ]);
  return { events, states, actions, results, alarms, unreadable };
}
