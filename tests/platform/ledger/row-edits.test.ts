/**
 * What was edited past the ledger is found, whatever table it stands in (ADR 0018), also after a start and after the ledger has
 * written over it; and what nobody has edited is not said to be.
 */
import { createHmac } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/platform/base/clock.js';
import { Stopwatch } from '../../../src/platform/base/elapsed.js';
import Database from '../../../src/platform/base/sqlite.js';
import { headFileOf, readHeadFile } from '../../../src/platform/ledger/head-file.js';
import type { LedgerTransaction } from '../../../src/platform/ledger/protocol.js';
import type { StateWriter } from '../../../src/platform/ledger/state-writer.js';
import { decode, Message } from '../../../src/platform/ledger/wire.js';
import { asked, copyOf, dataDir, trail, withWriter } from '../../support/archive-data.js';
import { auditDraft, resource, transaction } from '../../support/ledger-data.js';
import { editRow, manyEdits, randomOf, rowEdits, verified } from '../../support/row-edits.js';

const KINDS = [
  'Account',
  'ApiKey',
  'Session',
  'Site',
  'Unit',
  'ControlModule',
  'IOModule',
  'PhaseTemplate',
  'AlarmDefinition',
  'Batch',
  'ControlRecipe',
  'MasterRecipe',
  'BatchRecord',
  'SignatureRecord',
];
const STREAMS = ['events/north/b1', 'states/north/b1', 'actions/north/b1', 'messages/north/b1', 'results/north/b1', 'alarms/north', 'archive-integrity'];
const PAST_STREAMS = ['events/north/b0', 'states/north/b0'];
const PAST_KINDS = ['Batch', 'ControlRecipe'];
const RECORDS = 1300;

function commit(writer: StateWriter, ...transactions: readonly LedgerTransaction[]): void {
  const message = new Message();
  for (const each of transactions) message.add(each);
  const taken = decode(message.fields);
  const refused = writer.commit(() => taken.splice(0)).filter((answer) => answer !== null);
  if (refused.length > 0) throw new Error(String(refused[0]));
}

function timed(sequence: number): unknown {
  return { id: sequence, timestamp: new Date(Date.UTC(2026, 0, 31, 9) + sequence * 1000).toISOString() };
}

/** A data directory with rows of every table, closed. */
function filled(): string {
  const dir = dataDir(t);
  trail(dir, 1, RECORDS);
  withWriter(dir, (writer) => {
    writer.load(0);
    const resources = KINDS.flatMap((kind, at) => [0, 1, 2].map((each) => resource(kind, 'north', `${kind.toLowerCase()}-${each}`, at * 3 + each + 1)));
    commit(writer, ...resources.map((put) => transaction({ puts: [put] })));
    for (let sequence = 1; sequence <= 5; sequence += 1)
      commit(
        writer,
        transaction({ facts: [...STREAMS, ...PAST_STREAMS].map((stream) => ({ stream, sequence, body: timed(STREAMS.includes(stream) ? sequence : sequence + 100) })) }),
      );
    commit(writer, transaction({ puts: PAST_KINDS.map((kind, at) => resource(kind, 'north', 'b0', 100 + at)) }));
    commit(
      writer,
      transaction({ pasts: [{ run: 'Batch/north/b0', rows: PAST_KINDS.map((kind) => ({ kind, site: 'north', name: 'b0', entry: '{"batchID":"b0"}' })), streams: PAST_STREAMS }] }),
    );
    for (let group = 0; group < 3; group += 1)
      commit(writer, transaction({ nonces: [0, 1].map((each) => ({ hash: `a${group}${each}`.padEnd(64, '0'), atMs: 1_000_000 + group })) }));
  });
  return dir;
}

/** Groups of nonces that one moment of rest forgets (state-writer.ts). */
const FORGOTTEN_AT_ONCE = 500;
const WINDOW_MS = 20;

const clean = filled();
const stateOf = (dir: string): string => path.join(dir, 'state.db');
t.test('what was not edited is found to be whole, also after another start', async (t) => {
  const dir = copyOf(t, clean);
  t.same(await verified(dir), { ok: true, chain: [], archives: [], rows: [] });
  withWriter(dir, (writer) => void writer.load(0));
  t.same(await verified(dir), { ok: true, chain: [], archives: [], rows: [] });
  withWriter(dir, (writer) => {
    writer.load(1);
    const started = new Stopwatch(systemClock);
    writer.rest();
    while (started.elapsedMs < 3);
    writer.rest(); // forgets the nonces
    const version = 1000;
    commit(writer, transaction({ puts: [resource('Unit', 'north', 'unit-0', version)], removes: [{ kind: 'Unit', site: 'north', name: 'unit-1' }] }));
  });
  t.same(await verified(dir), { ok: true, chain: [], archives: [], rows: [] });
});

t.test('a start does not believe an index that has lost rows: it reads the table, and it is told', async (t) => {
  const dir = copyOf(t, clean);
  const database = new Database(stateOf(dir));
  const definition = database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'resources_present'").pluck().get();
  database.exec("DROP INDEX resources_present; CREATE INDEX resources_present ON resources (past) WHERE past = '' AND kind <> 'Unit'");
  database.unsafeMode(true);
  database.pragma('writable_schema = ON');
  database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'resources_present'").run(definition);
  database.close();
  withWriter(dir, (writer) => {
    const { resources } = writer.load(0);
    t.equal(resources.filter((column) => column === 'Unit').length, 3, 'its units are there');
    commit(writer, transaction({ nonces: [{ hash: 'c'.padEnd(64, '0'), atMs: 1_000_000 }] })); // whatever comes next writes the seal
  });
  t.match((await verified(dir)).rows, [{ part: 'seal', problem: /an index of state\.db had lost 3 of its rows/ }]);
});

t.test('D-NONCE-01: nonces that follow a table which was forgotten in whole stay for their window, however many there were', async (t) => {
  const dir = copyOf(t, clean);
  withWriter(dir, (writer) => {
    const groups = (): number => writer.load(WINDOW_MS).nonces.length;
    const admit = (hash: string): void => commit(writer, transaction({ nonces: [{ hash: hash.padEnd(64, '0'), atMs: 1_000_000 }] }));
    writer.load(WINDOW_MS);
    for (let group = 3; group < FORGOTTEN_AT_ONCE; group += 1) admit(`b${group}`);
    writer.rest();
    const started = new Stopwatch(systemClock);
    while (started.elapsedMs < WINDOW_MS + 1);
    writer.rest();
    t.equal(groups(), 0, 'all are forgotten at once');
    admit('fresh');
    writer.rest();
    t.equal(groups(), 1, 'the new one is not');
  });
});

const first = new Database(stateOf(clean), { readonly: true });
const edits = rowEdits(first, randomOf(7));
const further = manyEdits(first, 11, Number(process.env.ROW_EDITS ?? 0));
first.close();

t.test(`each of ${edits.length} single edits is found`, async (t) => {
  t.ok(edits.length >= 200, 'every kind of edit on every table');
  for (const edit of [...edits, ...further]) {
    const dir = copyOf(t, clean);
    if (!editRow(stateOf(dir), edit)) t.fail(`${edit.what}: there was nothing to edit`);
    const found = await verified(dir);
    t.notOk(found.ok, edit.what);
    for (const { kind, site, name } of found.rows) if (`${typeof kind}${typeof site}${typeof name}` !== 'stringstringstring') t.fail(`${edit.what}: told by texts`);
    rmSync(dir, { recursive: true, force: true });
  }
});

t.test('an edit stays found after a start, and after the ledger has written over the row', async (t) => {
  const kept = edits.filter(({ what }) => /^(Account|Batch|facts events|nonce_groups|meta|audit_heads|audit_spans|resources)\b/.test(what));
  for (const edit of kept) {
    const dir = copyOf(t, clean);
    editRow(stateOf(dir), edit);
    let refused = '';
    try {
      withWriter(dir, (writer) => {
        const { resourceVersion, auditSequence } = writer.load(0);
        const version = Math.max(resourceVersion, 1000);
        commit(
          writer,
          ...KINDS.flatMap((kind, at) => [0, 1, 2].map((each) => transaction({ puts: [resource(kind, 'north', `${kind.toLowerCase()}-${each}`, version + at * 3 + each + 1)] }))),
          ...Array.from({ length: 600 }, (_, at) => transaction({ audits: [auditDraft(auditSequence + at + 1)] })),
        );
      });
    } catch (fault) {
      refused = (fault as Error).message;
    }
    const { ok } = await verified(dir);
    t.notOk(ok && refused === '', edit.what);
    rmSync(dir, { recursive: true, force: true });
  }
});

t.test('a row that is put back as it once was is missed', async (t) => {
  const dir = copyOf(t, clean);
  const database = new Database(stateOf(dir));
  const old = database.prepare("SELECT * FROM resources WHERE kind = 'Account' AND name = 'account-0'").get() as Record<string, unknown>;
  database.close();
  withWriter(dir, (writer) => {
    writer.load(0);
    commit(writer, transaction({ puts: [resource('Account', 'north', 'account-0', 1000, { groups: [] })] }));
  });
  const again = new Database(stateOf(dir));
  again.prepare('UPDATE resources SET version = @version, body = @body, mac = @mac WHERE kind = @kind AND site = @site AND name = @name').run(old);
  again.close();
  t.match((await verified(dir)).rows, [{ part: 'resources', problem: /put back as it once was/ }]);
});

t.test('seals that were taken away together with the file that names them are missed', async (t) => {
  const dir = copyOf(t, clean);
  const database = new Database(stateOf(dir));
  database.exec(
    "UPDATE resources SET mac = NULL, body = replace(body, '2026', '2027') WHERE kind = 'Account'; UPDATE resources SET mac = NULL; UPDATE streams SET mac = NULL; DELETE FROM meta WHERE key = 'seal'",
  );
  database.close();
  rmSync(path.join(dir, 'keys', 'rows-sealed'));
  withWriter(dir, (writer) => void writer.load(0));
  const { ok, rows } = await verified(dir);
  t.notOk(ok, 'also after a start');
  t.ok(
    rows.some(({ part, problem }) => part === 'seal' && problem.includes('the seal of the stored state was missing or not genuine')),
    JSON.stringify(rows.slice(0, 3)),
  );
  t.ok(rows.some(({ kind, name }) => kind === 'Account' && name === 'account-0'));
});

/** `audit-head` as a version wrote it that sealed no rows. */
function headOfBefore(dir: string): void {
  const key = readFileSync(path.join(dir, 'keys', 'audit-hmac'));
  const end = readHeadFile(headFileOf(dir), key);
  if (!end) throw new Error('there is no head');
  const mac = createHmac('sha256', key).update(`audit-head|${end.sequence}|${end.hash}`).digest('base64');
  writeFileSync(headFileOf(dir), `${JSON.stringify({ ...end, mac })}\n`.padEnd(1024));
}

t.test('rows of a version without seals are taken over once, and told as made before', async (t) => {
  const dir = copyOf(t, clean);
  const database = new Database(stateOf(dir));
  database.exec(
    `${['resources_present', 'resources_past', 'resources_past_entry', 'streams_present', 'streams_past'].map((index) => `DROP INDEX ${index};`).join(' ')}
     ${['resources DROP COLUMN past', 'resources DROP COLUMN past_entry', 'streams DROP COLUMN past', 'resources DROP COLUMN mac', 'streams DROP COLUMN mac'].map((change) => `ALTER TABLE ${change};`).join(' ')}
     DELETE FROM meta WHERE key = 'seal'; DELETE FROM migrations WHERE version >= 6`,
  );
  database.close();
  rmSync(path.join(dir, 'keys', 'rows-sealed'));
  headOfBefore(dir);
  withWriter(dir, (writer) => void writer.load(0));
  const rows = await asked(dir, (queries) => queries.verifyRows());
  const [resources, facts] = [KINDS.length * 3 + PAST_KINDS.length, (STREAMS.length + PAST_STREAMS.length) * 5];
  t.match(rows, { ok: true, problems: [], resources, facts, madeBefore: resources + facts, adoptedAt: /Z$/ });
  const edited = new Database(stateOf(dir));
  edited.exec(
    "UPDATE resources SET body = replace(body, '2026', '2027') WHERE kind = 'Unit' AND name = 'unit-0'; UPDATE facts SET body = replace(body, '09', '10') WHERE stream = 'alarms/north'",
  );
  edited.close();
  t.match((await verified(dir)).rows, [
    { part: 'resources', kind: 'Unit', name: 'unit-0', site: 'north' },
    { part: 'facts', name: 'alarms/north' },
  ]);
});
