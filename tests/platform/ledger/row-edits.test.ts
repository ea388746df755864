/**
 * What was edited past the ledger is found, whatever table it stands in (ADR 0018), also after a start and after the ledger has
 * written over it; and what nobody has edited is not said to be.
 */
import { createHmac } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/platform/base/clock.js';
import { Stopwatch } from '../../../src/platform/base/elapsed.js';
import Database from '../../../src/platform/base/sqlite.js';
import { headFileOf, readHeadFile } from '../../../src/platform/ledger/head-file.js';
import { inspectDataDir } from '../../../src/platform/ledger/inspect.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import type { LedgerTransaction } from '../../../src/platform/ledger/protocol.js';
import { RowMacs, type Seal, storedSeal } from '../../../src/platform/ledger/row-seals.js';
import type { StateWriter } from '../../../src/platform/ledger/state-writer.js';
import { decode, Message } from '../../../src/platform/ledger/wire.js';
import { archive, asked, copyOf, dataDir, trail, withWriter } from '../../support/archive-data.js';
import { auditDraft, resource, transaction } from '../../support/ledger-data.js';
import { editRow, manyEdits, randomOf, type RowEdit, rowEdits, verified } from '../../support/row-edits.js';

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

interface Span {
  readonly first: number;
  readonly last: number;
  readonly from_at: number;
  readonly to_at: number;
}

function onState<T>(dir: string, work: (database: Database.Database) => T): T {
  const database = new Database(stateOf(dir));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

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
const more = Number(process.env.ROW_EDITS ?? 0);
const further = manyEdits(first, 11, more);
first.close();
/** In the gate each kind of edit once, of resources and of streams each time on those of another kind. */
const share = more > 0 ? [...edits, ...further] : ofEachKind(edits);

function ofEachKind(all: readonly RowEdit[]): readonly RowEdit[] {
  const alike = new Map<string, RowEdit[]>();
  for (const edit of all) {
    const [, resourceOrStream, kind] = /^(?:([A-Z]\w*|facts [a-z-]+): )?(.*)$/.exec(edit.what) as unknown as [string, string | undefined, string];
    const key = `${resourceOrStream === undefined ? '' : resourceOrStream.startsWith('facts ') ? 'facts' : 'resource'} ${kind}`;
    alike.set(key, [...(alike.get(key) ?? []), edit]);
  }
  return [...alike.values()].map((list, at) => list[at % list.length] as RowEdit);
}

t.test(`each of ${share.length} single edits is found`, async (t) => {
  t.ok(edits.length >= 200 && share.length >= 80, 'every kind of edit on every table');
  for (const edit of share) {
    const dir = copyOf(t, clean);
    if (!editRow(stateOf(dir), edit)) t.fail(`${edit.what}: there was nothing to edit`);
    const found = await verified(dir);
    t.notOk(found.ok, edit.what);
    for (const { kind, site, name } of found.rows) if (`${typeof kind}${typeof site}${typeof name}` !== 'stringstringstring') t.fail(`${edit.what}: told by texts`);
    rmSync(dir, { recursive: true, force: true });
  }
});

t.test('each single edit of the register of the archive is found, and of the table that goes on behind it', async (t) => {
  const archived = copyOf(t, clean);
  await archive(archived, 1, 600);
  t.same(await verified(archived), { ok: true, chain: [], archives: [], rows: [] });
  const database = new Database(stateOf(archived), { readonly: true });
  const ofArchive = rowEdits(database, randomOf(7)).filter(({ what }) => /^(audit|meta)/.test(what) && !edits.some((edit) => edit.what === what));
  database.close();
  t.ok(ofArchive.length >= 15);
  for (const edit of ofArchive) {
    const dir = copyOf(t, archived);
    if (!editRow(stateOf(dir), edit)) t.fail(`${edit.what}: there was nothing to edit`);
    t.notOk((await verified(dir)).ok, edit.what);
    rmSync(dir, { recursive: true, force: true });
  }
});

const OF_THE_GATE = /^(Account|facts events|nonce_groups|meta|audit_heads|audit_spans|resources)\b/;
t.test('an edit stays found after a start, and after the ledger has written over the row', async (t) => {
  const kept = edits.filter(({ what }) => (more > 0 ? /^(Account|Batch|facts events|nonce_groups|meta|audit_heads|audit_spans|resources)\b/ : OF_THE_GATE).test(what));
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

t.test('D-C-09: what was edited is not explained by a gap that nobody has acknowledged through the ledger, also after a start', async (t) => {
  const forged = { kind: 'loss', text: 'x', first: 1, last: RECORDS, covers: ['hash', 'link', 'missing', 'signature'], id: 'x', foundAt: '' };
  const acknowledged = { by: 'x', accountId: 'x', at: 'x', reason: 'x', signature: 'x' };
  const dir = copyOf(t, clean);
  const database = new Database(stateOf(dir));
  database.prepare("UPDATE audit SET body = replace(body, 'Ann Op', 'Eve Op') WHERE sequence = 700").run();
  database.prepare("INSERT INTO meta (key, value) VALUES ('gaps', ?)").run(JSON.stringify([{ ...forged, acknowledged }]));
  database.close();
  const isFound = async (what: string): Promise<void> => {
    const { chain, rows } = await verified(dir);
    t.match(chain, [{ sequence: 700, problem: 'hash' }], what);
    t.match(rows, [{ part: 'seal', problem: /of who has acknowledged it, is not what was recorded/ }], what);
  };
  await isFound('as it was edited');
  withWriter(dir, (writer) => void writer.load(0));
  await isFound('after a start');
  withWriter(dir, (writer) => {
    writer.load(0);
    commit(writer, transaction({ nonces: [{ hash: 'c'.padEnd(64, '0'), atMs: 1_000_000 }] })); // whatever comes next writes the seal
    t.match(writer.gaps, [{ id: 'x' }]);
  });
  t.match((await verified(dir)).chain, [{ sequence: 700, problem: 'hash' }], 'after a commit');
});

t.test('a seal is the text that was written, letter by letter', async (t) => {
  for (const edit of [`replace(value, '"}', 'x"}')`, `replace(value, '"}', '00"}')`, `value || ' '`, `replace(value, '"mac"', '"of":1,"mac"')`]) {
    const dir = copyOf(t, clean);
    const database = new Database(stateOf(dir));
    t.equal(database.prepare(`UPDATE meta SET value = ${edit} WHERE key = 'seal'`).run().changes, 1);
    database.close();
    t.match((await verified(dir)).rows, [{ part: 'seal' }], edit);
  }
});

t.test('a signed head that was moved behind the end of the trail, or before the archive, is found', async (t) => {
  for (const place of ['1000000', '0', 'sequence + 1', 'sequence - 1']) {
    const dir = copyOf(t, clean);
    const database = new Database(stateOf(dir));
    t.equal(database.prepare(`UPDATE audit_heads SET sequence = ${place} WHERE sequence = (SELECT MAX(sequence) FROM audit_heads)`).run().changes, 1);
    database.close();
    t.not((await verified(dir)).chain.length, 0, place);
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

t.test('a span of the index in which the archive ends has the bounds and sites of what the table still holds, and an edit of it is found', async (t) => {
  const dir = copyOf(t, clean);
  const spans = (): Span[] => onState(dir, (database) => database.prepare('SELECT * FROM audit_spans ORDER BY last').all() as Span[]);
  const [, before] = spans() as [Span, Span];
  const cut = before.first + 40; // record 750 and others of site south stay
  await archive(dir, 1, cut);
  const digest = copyOf(t, dir);
  onState(digest, (database) => database.exec("UPDATE audit_archive_blocks SET sha256 = replace(sha256, '1', '2')"));
  t.notOk((await verified(digest)).ok, 'a digest by which no search reads the block');
  const [half] = spans() as [Span];
  t.match(half, { first: cut + 1, last: before.last });
  t.same(await verified(dir), { ok: true, chain: [], archives: [], rows: [] });
  for (const change of ['first = first - 1', 'from_at = from_at - 1', 'from_at = from_at + 1', 'to_at = to_at + 1', 'first = first + 1', `first = ${before.first}`]) {
    const edited = copyOf(t, dir);
    onState(edited, (database) => database.prepare(`UPDATE audit_spans SET ${change} WHERE last = ?`).run(half.last));
    t.notOk((await verified(edited)).ok, change);
    await archive(edited, cut + 1, cut + 20);
    t.notOk((await verified(edited)).ok, `${change}, and the archive has gone on`);
  }
});

t.test('a span that a version left with the bounds of before is no problem, and a start takes off what is archived', async (t) => {
  const dir = copyOf(t, clean);
  const before = onState(dir, (database) => database.prepare('SELECT * FROM audit_spans ORDER BY last').all() as Span[])[1] as Span;
  const cut = before.first + 40;
  await archive(dir, 1, cut);
  const macs = new RowMacs(openDeviceKeys(dir).auditHmac);
  onState(dir, (database) => {
    database.prepare('UPDATE audit_spans SET first = @first, from_at = @from_at, to_at = @to_at WHERE last = @last').run({ ...before });
    database.prepare("INSERT OR IGNORE INTO audit_sites (site, last) SELECT 'west', ?").run(before.last);
    const { areSpansCut: _, head: __, ...seal } = macs.opened(storedSeal(database) ?? '') as Seal;
    database.prepare("UPDATE meta SET value = ? WHERE key = 'seal'").run(macs.sealed(seal));
  });
  t.match(
    (await verified(dir)).rows.filter(({ site }) => site === ''),
    [],
  );
  withWriter(dir, (writer) => void writer.load(0));
  t.same(await verified(dir), { ok: true, chain: [], archives: [], rows: [] });
  t.match(
    onState(dir, (database) => database.prepare('SELECT * FROM audit_spans ORDER BY last').all()),
    [{ first: cut + 1, last: before.last }],
  );
});

t.test('an older audit-head that was put back is found, by a start too; one that a power cut left behind is not said to be', async (t) => {
  const dir = copyOf(t, clean);
  const older = readFileSync(headFileOf(dir));
  const cut = copyOf(t, dir);
  withWriter(cut, (writer) => {
    writer.load(0);
    for (const next of [1, 2, 3]) commit(writer, transaction({ audits: [auditDraft(RECORDS + next)] }));
    cpSync(cut, `${cut}-left`, { recursive: true });
    t.teardown(() => rmSync(`${cut}-left`, { recursive: true }));
  });
  writeFileSync(headFileOf(`${cut}-left`), older); // none of the three was synced
  t.same(await verified(`${cut}-left`), { ok: true, chain: [], archives: [], rows: [] });
  t.same(inspectDataDir(`${cut}-left`).findings, []);
  withWriter(`${cut}-left`, (writer) => t.same(writer.newGaps, []));
  t.same(await verified(`${cut}-left`), { ok: true, chain: [], archives: [], rows: [] }, 'also after a start');

  trail(dir, RECORDS + 1, RECORDS + 20);
  t.same(await verified(dir), { ok: true, chain: [], archives: [], rows: [] });
  writeFileSync(headFileOf(dir), older);
  t.match((await verified(dir)).chain, [{ sequence: RECORDS + 20, problem: 'signature' }]);
  t.match(inspectDataDir(dir).findings, [{ kind: 'head', text: /names record 1300 .* had named record 1320: an older copy/ }]);
  withWriter(dir, (writer) => t.match(writer.newGaps, [{ kind: 'head', first: RECORDS + 20 }]));
});

t.test('records that were cut off the end together with an older audit-head are missed', async (t) => {
  const dir = copyOf(t, clean);
  const older = readFileSync(headFileOf(dir));
  trail(dir, RECORDS + 1, RECORDS + 20);
  writeFileSync(headFileOf(dir), older);
  onState(dir, (database) =>
    database.exec(`DELETE FROM audit WHERE sequence > ${RECORDS}; DELETE FROM audit_heads WHERE sequence > ${RECORDS}; DELETE FROM meta WHERE key = 'appliance'`),
  );
  rmSync(path.join(dir, 'keys', 'appliance.json'));
  const { chain } = await verified(dir);
  t.ok(chain.some(({ sequence, problem }) => sequence === RECORDS + 1 && problem === 'missing'));
  t.match(inspectDataDir(dir).losses, [/ends at audit record 1300, and the trail had reached 1320/]);
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
    `${['resources_present', 'resources_past', 'resources_past_entry', 'streams_present', 'streams_past', 'facts_of_lot', 'facts_of_material'].map((index) => `DROP INDEX ${index};`).join(' ')}
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
