/** Makes the record of a batch that has ended, and repairs it until its history has settled (decisions 8.1). */
import type { Key, Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { component } from '../../platform/store/audit-record.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Put, Store } from '../../platform/store/store.js';
import { Batch, type BatchStatus, type Condition, isFinalBatch } from '../batches/kind.js';
import { streamOf, type ExecutionEvent, type ExternalResultFact, type OperatorAction, type StateEntry } from '../batches/execution-log.js';
import type { FactReader } from '../batches/facts.js';
import { assembleRecord, type BatchFacts, isSettled } from './assembly.js';
import { BatchRecord, type BatchRecordStatus } from './kind.js';

const RECORDS = component('batch-controller');
const SETTLE_LOOK_MS = 1000;

export class RecordReconciler implements Reconciler {
  readonly name = 'batch-record';
  readonly #store: Store;
  readonly #facts: FactReader;

  constructor(parts: { readonly store: Store; readonly facts: FactReader }) {
    this.#store = parts.store;
    this.#facts = parts.facts;
  }

  keys(): Iterable<Key> {
    return this.#store
      .list(Batch)
      .filter((batch) => isFinalBatch(batch.status.phase) && batch.status.recordRef === '')
      .map((batch) => ({ site: batch.metadata.site, name: batch.metadata.name }));
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const batch = this.#store.get(Batch, site, name);
    if (!batch || !isFinalBatch(batch.status.phase)) return 'settled';
    const known = this.#store.get(BatchRecord, site, name);
    const settledNow = isSettled(this.#store, site, name);
    const settledBefore = known?.status.conditions.some((condition) => condition.type === 'PhaseHistorySettled' && condition.status === 'True') ?? false;
    if (known && (settledBefore || known.status.phase === 'Finalized')) return 'settled';
    const spec = assembleRecord(batch, this.#store, await readFacts(this.#facts, site, name));
    const condition: Condition = settledNow
      ? { type: 'PhaseHistorySettled', status: 'True', reason: 'AllPhasesAtRest', message: 'every element has come to rest' }
      : { type: 'PhaseHistorySettled', status: 'False', reason: 'PhasesStillTransitional', message: 'elements are still moving' };
    if (known && known.spec.executionEvents.length > spec.executionEvents.length) return 'settled';
    const frozen = known ? { ...spec, executionEvents: known.spec.executionEvents } : spec;
    const status: BatchRecordStatus = {
      ...(known?.status ?? BatchRecord.initialStatus(frozen)),
      outcome: batch.status.phase as BatchRecordStatus['outcome'],
      digest: canonicalDigest(frozen),
      conditions: [condition],
    };
    const batchStatus: BatchStatus = { ...(this.#store.get(Batch, site, name)?.status ?? batch.status), recordRef: name };
    await this.#store.write({
      puts: [{ kind: BatchRecord, site, name, spec: frozen, status } as Put, ...(known ? [] : [{ kind: Batch, site, name, status: batchStatus } as Put])],
      audits: [
        {
          site,
          actor: RECORDS,
          action: known ? 'Update' : 'Create',
          category: 'batch-record',
          target: { kind: 'BatchRecord', name, site },
          result: 'Success',
          details: { outcome: status.outcome, digest: status.digest },
          correlationID: `record-${name}`,
        },
      ],
    });
    return settledNow ? 'settled' : { lookAgainMs: SETTLE_LOOK_MS };
  }
}

/** All facts of a batch, oldest first. */
export async function readFacts(reader: FactReader, site: string, batch: string): Promise<BatchFacts> {
  const [events, states, actions, results] = await Promise.all([
    reader.facts<ExecutionEvent>(streamOf('events', site, batch)),
    reader.facts<StateEntry>(streamOf('states', site, batch)),
    reader.facts<OperatorAction>(streamOf('actions', site, batch)),
    reader.facts<ExternalResultFact>(streamOf('results', site, batch)),
  ]);
  return { events, states, actions, results };
}
