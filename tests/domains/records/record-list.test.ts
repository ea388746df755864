/** Records are found by what people call them, whether they are present or past (contract 3, Batch record; ADR 0038). */
import t from 'tap';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import { newestRecords, PastRecordReconciler } from '../../../src/domains/records/past-records.js';
import { between } from '../../../src/platform/base/sorted.js';
import type { Put, Store } from '../../../src/platform/store/store.js';
import { pastStore } from '../../support/past-store.js';

const SITE = 'north';

interface Made {
  readonly name: string;
  readonly batchID: string;
  readonly workOrderID?: string;
  readonly lotID?: string;
  readonly productID?: string;
  readonly phase?: string;
}

const RECORDS: readonly Made[] = [
  { name: 'b-1', batchID: 'WO-1', workOrderID: 'PO-7781', lotID: '000123' },
  { name: 'b-2', batchID: 'WO-2', lotID: '20261122007', phase: 'Reviewed' },
  { name: 'b-3', batchID: 'WO-3', productID: 'RESIN-B' },
  { name: 'b-4', batchID: 'AD-4', workOrderID: 'PO-7781' },
];

async function made(store: Store, { name, batchID, workOrderID = '', lotID = '', productID = 'RESIN-A', phase = 'Open' }: Made, endedAt: string): Promise<void> {
  const batch = { name, uid: name, batchID, workOrderID, lotID, quantity: '', engineeringUnit: '', createdAt: endedAt, startedAt: endedAt, endedAt };
  const spec = { batch, recipe: { name: 'resin', productID, version: '1.0.0' } };
  const put = { kind: BatchRecord, site: SITE, name, spec, status: { ...BatchRecord.initialStatus(spec as never), phase } };
  await store.write({ puts: [put as unknown as Put] });
}

const past = (store: Store, name: string) => {
  const run = { kind: 'BatchRecord', site: SITE, name };
  return store.write({ pasts: [{ run, members: [run], streams: [] }] });
};

t.test('RECORD-12: the list of records finds by number, order, lot, recipe and product, past records included, and counts what it finds', async (t) => {
  const { store, opened } = await pastStore(t, [BatchRecord] as never, (parts) => new PastRecordReconciler({ ...parts, afterMs: 1 }));
  for (const [at, record] of RECORDS.entries()) await made(store, record, `2026-11-22T0${at}:00:00.000Z`);
  const looks = async (from: Store) => {
    const found = async (search: string, more: object = {}) => {
      const list = await newestRecords(from, SITE, { search, ...more });
      return between(list, 0, list.length).map(({ name }) => name);
    };
    t.same(await found(''), ['b-4', 'b-3', 'b-2', 'b-1'], 'the latest ended first');
    t.same(await found('wo-'), ['b-3', 'b-2', 'b-1'], 'by number, in any case');
    t.same(await found(' po-77 '), ['b-4', 'b-1'], 'by order');
    t.same([await found('000123'), await found('20261122007')], [['b-1'], ['b-2']], 'by lot, letter by letter');
    t.same(await found('resin-b'), ['b-3'], 'by product');
    t.same(await found('resin', { phase: 'Reviewed' }), ['b-2'], 'with another question');
    t.same(await found('wo-', { toMs: Date.parse('2026-11-22T02:00:00Z') }), ['b-2', 'b-1'], 'in a time');
    t.same(await found('nobody'), []);
  };
  await looks(store);
  for (const name of ['b-2', 'b-4']) await past(store, name);
  await looks(store);
  for (const name of ['b-1', 'b-3']) await past(store, name);
  t.same(store.list(BatchRecord), []);
  await looks(store);
  await looks((await opened()).store);
});
