/** What batches consumed and produced, found by lots and by batches: of every earlier release, in pages, without reading the facts themselves. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { type MaterialFact, MaterialFacts, type MaterialRequest } from '../../../src/platform/ledger/material-facts.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { transaction } from '../../support/ledger-data.js';

const RELEASES = path.join(process.cwd(), 'tests/fixtures/releases');
const parent = mkdtempSync(path.join(tmpdir(), 'lineside-materials-'));
t.teardown(() => rmSync(parent, { recursive: true, force: true }));

async function opened(t: Test, dir: string) {
  const ledger = await openLedger(dir);
  const queries = openQueries(dir);
  t.teardown(async () => {
    await queries.close();
    await ledger.close();
  });
  await ledger.load(0);
  return { ledger, queries };
}

const ofLots = (names: readonly string[], more: Partial<MaterialRequest> = {}): MaterialRequest => ({
  ...{ by: 'lot', names, prefix: 'events/demo/', way: 'Consume', upTo: Number.MAX_SAFE_INTEGER, limit: 1000 },
  ...more,
});
const brief = (facts: readonly MaterialFact[]): string[] => facts.map(([n, stream, sequence, lot]) => `${n} ${stream} ${sequence} ${lot}`);

for (const version of readdirSync(RELEASES)) {
  t.test(`ROUTE-03: what a release before has told of materials is found in the data of ${version} from its first start on`, async (t) => {
    const dir = path.join(parent, version);
    mkdirSync(dir);
    execFileSync('tar', ['-C', dir, '-xzf', path.join(RELEASES, version, 'data.tar.gz')]);
    const before = new Database(path.join(dir, 'state.db'), { readonly: true });
    const told = before
      .prepare(
        "SELECT stream, body ->> '$.previousValue' AS lot FROM facts WHERE stream LIKE 'events/demo/%' AND body ->> '$.eventType' = 'Material' AND body ->> '$.eventSubType' = ?",
      )
      .all('Consume') as { readonly stream: string; readonly lot: string }[];
    before.close();
    t.ok(told.length > 3, 'there are some');
    const { queries } = await opened(t, dir);
    const found = await queries.materialFacts(ofLots(['MONO-0001']));
    t.same(
      found.map(([, stream]) => stream),
      told
        .filter(({ lot }) => lot === 'MONO-0001')
        .map(({ stream }) => stream)
        .sort(),
    );
    t.ok(found.every(([, , , lot, quantity, material, element, at]) => lot === 'MONO-0001' && Number(quantity) > 10 && material === 'monomer (kg)' && element && at));
    const streams = [...new Set(told.map(({ stream }) => stream))].sort();
    t.equal((await queries.materialFacts(ofLots(streams, { by: 'stream' }))).length, told.length);
    t.match(await queries.materialSums(ofLots(streams, { by: 'stream', way: 'Produce' })), [{ material: 'resin-a (kg)', count: 1 }, {}]);
  });
}

t.test('names one after the other, each from where the page before has ended, and up to the moment that is asked for', async (t) => {
  const { ledger, queries } = await opened(t, path.join(parent, 'pages'));
  const write = (batch: string, ...lots: readonly string[]) =>
    ledger.commit(
      transaction({
        facts: lots.map((lot, n) => ({
          stream: `events/demo/${batch}`,
          sequence: n + 1,
          body: { eventType: lot === '-' ? 'Message' : 'Material', eventSubType: 'Consume', previousValue: lot, value: String(n), message: 'salt (kg)' },
        })),
      }),
    );
  await write('b-2', 'y', '-', 'x', 'x');
  await write('b-1', 'x', 'y');
  const upTo = await queries.lastFactRow();
  t.equal(upTo, 6);
  await write('b-0', 'x');
  const all = ['0 events/demo/b-1 1 x', '0 events/demo/b-2 3 x', '0 events/demo/b-2 4 x', '1 events/demo/b-1 2 y', '1 events/demo/b-2 1 y'];
  t.same(brief(await queries.materialFacts(ofLots(['x', 'y', 'z'], { upTo }))), all);
  t.same(brief(await queries.materialFacts(ofLots(['x', 'y'], { upTo, limit: 2 }))), all.slice(0, 2));
  t.same(brief(await queries.materialFacts(ofLots(['x', 'y'], { upTo, after: ['events/demo/b-2', 3] }))), all.slice(2));
  t.same(brief(await queries.materialFacts(ofLots(['x']))).slice(0, 1), ['0 events/demo/b-0 1 x'], 'later it is there');
  t.same(await queries.materialFacts(ofLots(['x'], { prefix: 'events/dem/' })), [], 'of another site');
  t.same(await queries.materialSums(ofLots(['x', 'q', 'y'], { upTo })), [
    { n: 0, material: 'salt (kg)', count: 3, sum: 5, text: '3' },
    { n: 2, material: 'salt (kg)', count: 2, sum: 1, text: '1' },
  ]);

  await ledger.commit(
    transaction({
      facts: ['salt (kg)', 'salt (l)', 'salt (kg)'].map((message, n) => ({
        stream: 'events/demo/b-3',
        sequence: n + 1,
        body: { eventType: 'Material', eventSubType: 'Produce', previousValue: 'z', value: '2', message },
      })),
    }),
  );
  t.same(
    await queries.materialSums(ofLots(['x', 'z'], { way: 'Produce' })),
    [
      { n: 1, material: 'salt (kg)', count: 2, sum: 4, text: '2' },
      { n: 1, material: 'salt (l)', count: 1, sum: 2, text: '2' },
    ],
    'of several, each by itself',
  );

  const database = new Database(path.join(parent, 'pages', 'state.db'));
  t.teardown(() => database.close());
  const plans: string[] = [];
  const explained = { prepare: (sql: string) => (plans.push(...planOf(database, sql)), database.prepare(sql)) } as unknown as Database.Database;
  const facts = new MaterialFacts(explained);
  for (const by of ['lot', 'stream'] as const) {
    facts.page(ofLots(['x'], { by }));
    facts.sums(ofLots(['x'], { by }));
  }
  t.same(
    plans.filter((plan) => / facts /.test(plan)).map((plan) => plan.replace(/ \(.*/, '')),
    ['facts_of_lot', 'facts_of_lot', 'facts_of_material', 'facts_of_material'].map((index) => `SEARCH facts USING COVERING INDEX ${index}`),
    'no fact itself is read',
  );
});

t.test('a fact that is damaged keeps neither the others from being found nor the box from starting, and a lost index is made anew', async (t) => {
  const dir = path.join(parent, 'damaged');
  {
    const { ledger, queries } = await opened(t, dir);
    const body = { eventType: 'Material', eventSubType: 'Consume', previousValue: 'x', value: '1', message: 'salt (kg)' };
    await ledger.commit(transaction({ facts: [1, 2].map((sequence) => ({ stream: 'events/demo/b-1', sequence, body })) }));
    await queries.close();
    await ledger.close();
  }
  const database = new Database(path.join(dir, 'state.db'));
  database.exec(
    'DROP INDEX facts_of_lot; DROP INDEX facts_of_material; UPDATE facts SET body = substr(body, 1, 20) || char(1) WHERE sequence = 1; DELETE FROM migrations WHERE version = 8',
  );
  database.close();
  const { queries } = await opened(t, dir);
  t.same(brief(await queries.materialFacts(ofLots(['x']))), ['0 events/demo/b-1 2 x']);
  await queries.close();
});

function planOf(database: Database.Database, sql: string): string[] {
  const values = Array.from({ length: sql.match(/\?/g)?.length ?? 0 }, () => 1);
  return (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { readonly detail: string }[]).map(({ detail }) => detail);
}
