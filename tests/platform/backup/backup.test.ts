/**
 * Backup and restore of a data directory (decisions Q-CHANGE-10, 8.6, 8.7): what comes back is what was, byte by byte, and what is not whole
 * is not taken and leaves nothing behind.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { makeKept, notKept } from '../../../src/platform/backup/kept.js';
import { type BackupMade, makeBackup } from '../../../src/platform/backup/make.js';
import { MANIFEST_NAME, type Manifest, signedManifest } from '../../../src/platform/backup/manifest.js';
import { backupName } from '../../../src/platform/backup/names.js';
import { BackupRefused } from '../../../src/platform/backup/refused.js';
import { restoreBox } from '../../../src/platform/backup/restore.js';
import { readRestoredMark } from '../../../src/platform/backup/restored-mark.js';
import Database from '../../../src/platform/base/sqlite.js';
import { stuckThreads } from '../../../src/platform/base/stuck-threads.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { inspectDataDir } from '../../../src/platform/ledger/inspect.js';
import { Backups } from '../../../src/domains/system/backups.js';
import type { Store } from '../../../src/platform/store/store.js';
import { archive, asked, copyOf, trail } from '../../support/archive-data.js';
import { COMMAND } from '../../support/command.js';
import { auditDraft, resource, transaction } from '../../support/ledger-data.js';
import { randomFrom } from '../../support/batch-story.js';
import { ownFolder } from '../../support/own-folder.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';
import { keyPair, membersOf, tarOf, writeSealed } from '../../support/sealed-tar.js';

const EDITS = Number(process.env.EDITS ?? 60);
const SEED = Number(process.env.FUZZ_SEED ?? 20261129);
const RECORDS = 1200;
const ARCHIVED = 600;
const PRODUCT = { version: '0.1.0', commit: '' };
const KILLER = fileURLToPath(new URL('../../support/killed-at-call.js', import.meta.url));

const keys = await keyPair();
const openedWith = { identities: [keys.identity] };
const sealedFor = { recipients: [keys.recipient] };

/** A box with an archive, resources, facts, settings and a secret in a file. */
async function box(): Promise<string> {
  const dir = path.join(ownFolder(t), 'data');
  mkdirSync(dir);
  trail(dir, 1, RECORDS);
  await archive(dir, 1, ARCHIVED);
  const ledger = await openLedger(dir);
  const { resourceVersion } = await ledger.load(0);
  for (let n = 1; n <= 40; n += 1)
    await ledger.commit(
      transaction({
        puts: [resource('Unit', 'north', `u${n}`, resourceVersion + n)],
        audits: [auditDraft(RECORDS + n)],
        facts: [{ stream: 'events/north/b-1', sequence: n, body: { n } }],
        nonces: [{ hash: createHash('sha256').update(String(n)).digest('hex'), atMs: Date.now() }],
      }),
    );
  await ledger.close();
  writeFileSync(path.join(dir, 'config.yaml'), 'historian:\n  enabled: false\n');
  mkdirSync(path.join(dir, 'secrets', 'site-north', 'plc'), { recursive: true });
  writeFileSync(path.join(dir, 'secrets', 'site-north', 'plc', 'password'), 'hush');
  return dir;
}

const data = await box();
const wish = (to: string, more: object = {}) => ({
  dataDir: data,
  configFile: path.join(data, 'config.yaml'),
  secretsDir: path.join(data, 'secrets'),
  to,
  sealedFor,
  product: PRODUCT,
  ...more,
});

interface Pair {
  readonly file: string;
  readonly keysFile: string;
  readonly made: BackupMade;
}

const folder = ownFolder(t);
const pair: Pair = await (async () => {
  const [file, keysFile] = [path.join(folder, 'box.age'), path.join(folder, 'keys.age')];
  return { file, keysFile, made: await makeBackup(wish(file, { keysTo: keysFile })) };
})();

const restored = (file: string, dataDir: string, more: object = {}) => restoreBox({ file, openedWith, dataDir, acceptProblems: false, ...more });

/** Every row of the tables whose rows are evidence or state, as text. */
function rowsOf(dir: string, tables: readonly string[]): string {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  try {
    return tables.map((table) => JSON.stringify(database.prepare(`SELECT * FROM ${table}`).all())).join('\n');
  } finally {
    database.close();
  }
}

const SEALED = ['audit', 'audit_heads', 'audit_archives', 'audit_archive_blocks', 'resources', 'streams', 'facts', 'nonce_groups'];
/** Without their seals, which are those of the key. */
const CONTENT = ['audit', 'audit_heads', 'audit_archive_blocks', 'facts', 'nonce_groups'];

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [path.join(entry.parentPath, entry.name)] : []));

t.test('Q-CHANGE-10: what comes back with its keys is byte by byte what was, verifies, and is the same box', async (t) => {
  const dataDir = path.join(ownFolder(t), 'again');
  const report = await restored(pair.file, dataDir, { keysFile: pair.keysFile });
  t.match(report, { withKeys: true, deviceId: openDeviceKeys(data).deviceId, unverified: [], problems: [], notes: [/config\.yaml/] });
  t.match(report.verified, { auditRecords: RECORDS + 40 - ARCHIVED, archivedRecords: ARCHIVED, resources: 40, facts: 40 });
  t.equal(rowsOf(dataDir, SEALED), rowsOf(data, SEALED), 'the rows are the same, with their seals');
  for (const name of readdirSync(path.join(data, 'audit-archive')))
    t.ok(readFileSync(path.join(data, 'audit-archive', name)).equals(readFileSync(path.join(dataDir, 'audit-archive', name))), `${name} is the same file`);
  t.equal(readFileSync(path.join(dataDir, 'secrets/site-north/plc/password'), 'utf8'), 'hush', 'secrets come with the keys');
  t.equal(readFileSync(path.join(dataDir, 'config.yaml'), 'utf8'), readFileSync(path.join(data, 'config.yaml'), 'utf8'));
  t.same(inspectDataDir(dataDir).losses, [], 'a start finds nothing lost');
  t.same(inspectDataDir(dataDir).findings, [], 'and nothing to tell');
  t.match(readRestoredMark(dataDir), { withKeys: true, backup: { head: pair.made.head, deviceId: report.deviceId } });
  await asked(dataDir, async (queries) => {
    t.match(await queries.verify(), { ok: true, problems: [], lastSequence: RECORDS + 40 });
    t.match(await queries.verifyArchives(), { ok: true, checked: ARCHIVED });
    t.match(await queries.verifyRows(), { ok: true, problems: [] });
  });
  t.ok(
    filesBelow(dataDir).every((file) => (statSync(file).mode & 0o077) === 0),
    'its files are for the owner only',
  );
});

t.test('Q-ERR-14: no version that the box gave after the backup is given again', async (t) => {
  const dataDir = path.join(ownFolder(t), 'again');
  await restored(pair.file, dataDir, { keysFile: pair.keysFile });
  const ledger = await openLedger(dataDir);
  const image = await ledger.load(600_000);
  await ledger.close();
  t.ok(image.resourceVersion > 1_000_000);
  t.equal(image.nonces.length, 40, 'nonces that were admitted are known');
});

t.test('decisions 8.6: the keys are not in the backup; without them new ones are made, and what nobody can verify is told', async (t) => {
  const members = await membersOf(pair.file, openedWith);
  t.same(
    members.map(({ name }) => name).filter((name) => /keys|secrets|identity|pem|hmac/.test(name)),
    [],
  );
  const hmac = readFileSync(path.join(data, 'keys', 'audit-hmac'));
  t.notOk(
    members.some(({ content }) => content.includes(hmac)),
    'nor its bytes anywhere',
  );
  const dataDir = path.join(ownFolder(t), 'again');
  const report = await restored(pair.file, dataDir);
  t.match(report, { withKeys: false, problems: [], unverified: [/audit key was not given/, /sealed anew/, /HMAC-SHA256/, /device key/] });
  t.match(report.verified, { auditRecords: RECORDS + 40 - ARCHIVED, archivedRecords: ARCHIVED });
  t.not(report.deviceId, pair.made.deviceId, 'another box');
  t.equal(rowsOf(dataDir, CONTENT), rowsOf(data, CONTENT), 'the rows are the same');
  t.notOk(existsSync(path.join(dataDir, 'secrets')));
  const { losses, findings } = inspectDataDir(dataDir);
  t.same(losses, [], 'it starts');
  t.same(
    findings.map(({ kind }) => kind),
    ['keys', 'keys'],
    'and tells that its keys are others',
  );
  const ledger = await openLedger(dataDir, findings);
  await ledger.load(0);
  const ids = ledger.gaps.map(({ id }) => id);
  await ledger.commit(transaction({ audits: [auditDraft(RECORDS + 41)] }));
  await asked(dataDir, async (queries) => {
    const before = await queries.verify();
    t.ok(before.problems.length > 0 && before.problems.every(({ problem }) => problem === 'signature'), 'every record of before was sealed by another key');
    t.match(await queries.verifyRows(), { ok: true, madeBefore: 80 });
  });
  await ledger.acknowledge(ids, { by: 'Ada', accountId: 'a', at: '2026-11-29T05:00:00.000Z', reason: 'restored without keys', signature: 's' });
  await asked(dataDir, async (queries) => {
    t.match(await queries.verify(), { ok: true, problems: [] }, 'an administrator has acknowledged it');
    t.match(await queries.verifyArchives(), { ok: true, problems: [] }, 'in the archive too');
  });
  await ledger.close();
});

t.test('decisions 8.7: a box that writes meanwhile is copied at one moment, and what it commits is not kept waiting', async (t) => {
  const dir = copyOf(t, data);
  const ledger = await openLedger(dir);
  const { resourceVersion } = await ledger.load(0);
  const file = path.join(ownFolder(t), 'live.age');
  const keysFile = `${file}.keys`;
  let isMade = false;
  let longestMs = 0;
  let written = 0;
  const writing = (async () => {
    while (!isMade) {
      const began = performance.now();
      written += 1;
      await ledger.commit(
        transaction({
          puts: [resource('Unit', 'north', `w${written}`, resourceVersion + written)],
          audits: [auditDraft(RECORDS + 40 + written)],
          facts: [{ stream: 'events/north/b-2', sequence: written, body: { written } }],
        }),
      );
      longestMs = Math.max(longestMs, performance.now() - began);
    }
  })();
  const made = await makeBackup({ ...wish(file, { keysTo: keysFile }), dataDir: dir, configFile: null, secretsDir: path.join(dir, 'secrets') });
  isMade = true;
  await writing;
  await ledger.close();
  t.comment(`${written} commits meanwhile, the longest took ${longestMs.toFixed(1)} ms`);
  const dataDir = path.join(ownFolder(t), 'again');
  const report = await restored(file, dataDir, { keysFile });
  t.match(report, { unverified: [], problems: [] }, 'state, trail, seals and archive are of one moment');
  t.equal(report.backup.head.sequence, made.head.sequence);
  t.ok(written >= made.head.sequence - RECORDS - 40, 'what is in it was written');
  t.notOk(existsSync(path.join(dir, 'backup-work')), 'the copies are gone');
});

t.test(`G27, G16: of ${EDITS} backups with one edit none is taken, and nothing is left behind`, async (t) => {
  const whole = readFileSync(pair.file);
  const random = randomFrom(SEED);
  const place = ownFolder(t);
  const edited = path.join(place, 'edited.age');
  const at = (from = 0): number => from + Math.floor(random() * (whole.length - from));
  const edits: ((bytes: Buffer) => Buffer)[] = [
    (bytes) => {
      const place = at();
      bytes[place] = (bytes[place] ?? 0) ^ (1 << Math.floor(random() * 8));
      return bytes;
    },
    (bytes) => bytes.subarray(0, at()),
    (bytes) => {
      const [one, other] = [at(), at()];
      return Buffer.concat([bytes.subarray(0, Math.min(one, other)), bytes.subarray(Math.max(one, other) + 1)]);
    },
    (bytes) => Buffer.concat([bytes.subarray(0, at()), Buffer.from([Math.floor(random() * 256)]), bytes.subarray(at())]),
    (bytes) => Buffer.concat([bytes, bytes.subarray(at())]),
    (bytes) => {
      const pieceBytes = 64 * 1024 + 16; // two pieces of the format change places
      const from = bytes.length > 3 * pieceBytes ? bytes.length - 3 * pieceBytes : 0;
      return Buffer.concat([
        bytes.subarray(0, from),
        bytes.subarray(from + pieceBytes, from + 2 * pieceBytes),
        bytes.subarray(from, from + pieceBytes),
        bytes.subarray(from + 2 * pieceBytes),
      ]);
    },
  ];
  const taken: string[] = [];
  for (let n = 0; n < EDITS; n += 1) {
    const bytes = (edits[n % edits.length] as (typeof edits)[number])(Buffer.from(whole));
    if (bytes.equals(whole)) continue;
    writeFileSync(edited, bytes);
    const fault = await restored(edited, path.join(place, 'again'), { keysFile: pair.keysFile }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(fault instanceof BackupRefused) || !fault.message.startsWith(edited)) taken.push(`edit ${n}: ${String(fault)}`);
  }
  t.same(taken, [], 'each is refused by its name');
  t.same(readdirSync(place), ['edited.age'], 'nothing is left behind');
});

/** The members of the backup, with a manifest that somebody has made who has the public key and not the box. */
async function forged(
  t: Test,
  change: (manifest: Manifest, members: Map<string, Buffer>) => Manifest,
): Promise<{ readonly file: string; readonly members: Map<string, Buffer>; readonly manifest: Manifest }> {
  const members = new Map((await membersOf(pair.file, openedWith)).map(({ name, content }) => [name, content]));
  const manifest = change(JSON.parse(String(members.get(MANIFEST_NAME))) as Manifest, members);
  return { file: path.join(ownFolder(t), 'forged.age'), members, manifest };
}

const unsigned = ({ signature: _signature, ...manifest }: Manifest): Omit<Manifest, 'signature'> => manifest;

const MANIFEST_EDITS: readonly (readonly [string, (manifest: Manifest) => Manifest, RegExp])[] = [
  ['its head is another', (manifest) => ({ ...manifest, head: { ...manifest.head, sequence: 7 } }), /not signed by the box/],
  ['its signature has a letter more', (manifest) => ({ ...manifest, signature: `${manifest.signature}x` }), /not signed by the box/],
  ['it is signed by another box', (manifest) => signedManifest(unsigned(manifest), openDeviceKeys(ownFolder(t))), /keys of box/],
  ['it names another box with the key of that one', (manifest) => ({ ...manifest, deviceId: 'f'.repeat(32) }), /not signed by the box/],
  ['it is of a newer version', (manifest) => ({ ...manifest, format: 'lineside-box/2' }), /format lineside-box\/2, of a newer version/],
  ['it is of another program', (manifest) => ({ ...manifest, format: 'other/1' }), /no backup of a box/],
];

t.test('Q-CHANGE-10: a manifest that the box has not signed is refused', async (t) => {
  for (const [what, change, words] of MANIFEST_EDITS) {
    const { file, members, manifest } = await forged(t, change);
    members.set(MANIFEST_NAME, Buffer.from(JSON.stringify(manifest)));
    await writeSealed(file, tarOf([...members].map(([name, content]) => ({ name, content }))), keys.recipient);
    const dataDir = path.join(path.dirname(file), 'again');
    await t.rejects(restored(file, dataDir, { keysFile: pair.keysFile }), { message: words }, what);
    t.notOk(existsSync(dataDir));
  }
});

/** A manifest of the box itself, so that only what follows is wrong. */
const own = (manifest: Manifest, files: Manifest['files']): Buffer => Buffer.from(JSON.stringify(signedManifest({ ...unsigned(manifest), files }, openDeviceKeys(data))));
const entry = (name: string, content: Buffer) => ({ name, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') });
const X = Buffer.from('x');

t.test('G22: paths that lead out, links, folders, bombs and what nobody has named are refused, and nothing is written', async (t) => {
  const { manifest } = await forged(t, (same) => same);
  const bomb = Buffer.alloc(64 * 1024 * 1024);
  const cases: readonly (readonly [string, Buffer, RegExp])[] = [
    [
      'a path that leads out',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('../evil', X)]) },
        { name: '../evil', content: X },
      ]),
      /no file of a box/,
    ],
    [
      'an absolute path',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('/etc/evil', X)]) },
        { name: '/etc/evil', content: X },
      ]),
      /no file of a box/,
    ],
    [
      'a key in the backup',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('keys/audit-hmac', X)]) },
        { name: 'keys/audit-hmac', content: X },
      ]),
      /no file of a box/,
    ],
    ['a name twice', tarOf([{ name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X), entry('state.db', X)]) }]), /twice/],
    [
      'a link',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X)]) },
        { name: 'state.db', content: X, type: '2' },
      ]),
      /not a plain file/,
    ],
    [
      'a folder',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X)]) },
        { name: 'state.db', content: X, type: '5' },
      ]),
      /not a plain file/,
    ],
    [
      'more than was named',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X)]) },
        { name: 'state.db', content: bomb },
      ]),
      /has 67108864 bytes/,
    ],
    [
      'a file behind the last',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X)]) },
        { name: 'state.db', content: X },
        { name: 'historian.db', content: X },
      ]),
      /not named/,
    ],
    ['a file that is missing', tarOf([{ name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X)]) }]), /missing/],
    [
      'another order',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X), entry('historian.db', X)]) },
        { name: 'historian.db', content: X },
      ]),
      /stands where/,
    ],
    [
      'another content',
      tarOf([
        { name: MANIFEST_NAME, content: own(manifest, [entry('state.db', X)]) },
        { name: 'state.db', content: Buffer.from('y') },
      ]),
      /SHA-256/,
    ],
    ['no manifest', tarOf([{ name: 'state.db', content: X }]), /does not begin with/],
    ['no tar', Buffer.from('x'.repeat(2000)), /no tar/],
    ['something behind the end', Buffer.concat([tarOf([{ name: MANIFEST_NAME, content: own(manifest, []) }]), X]), /behind its end/],
  ];
  for (const [what, tar, words] of cases) {
    const place = ownFolder(t);
    const file = path.join(place, 'odd.age');
    await writeSealed(file, tar, keys.recipient);
    await t.rejects(restored(file, path.join(place, 'again')), { message: words }, what);
    t.same(readdirSync(place), ['odd.age'], `${what}: nothing is left`);
  }
});

t.test('D-C-09: a restore writes over nothing', async (t) => {
  const dataDir = ownFolder(t, { 'notes.txt': 'mine' });
  await t.rejects(restored(pair.file, dataDir), { message: /is not empty \(notes\.txt\)/ });
  t.same(readdirSync(dataDir), ['notes.txt']);
  await t.rejects(restored(pair.file, path.join(dataDir, 'notes.txt')), { message: /is no folder/ });
  const other = await keyPair();
  await t.rejects(restored(pair.file, path.join(dataDir, 'again'), { openedWith: { identities: [other.identity] } }), { message: /not encrypted for this identity/ });
  await t.rejects(restored(pair.file, path.join(dataDir, 'again'), { keysFile: pair.file }), { message: /it holds a backup, not the keys/ });
  await t.rejects(makeBackup(wish(pair.file)), { message: /is there already/ });
  await t.rejects(makeBackup(wish(path.join(dataDir, 'b.age'), { dataDir })), { message: /holds no state\.db/ });
  await t.rejects(makeBackup(wish(path.join(dataDir, 'b.age'), { sealedFor: { recipients: ['age1nobody'] } })), { message: /no public key of age/ });
  t.same(readdirSync(dataDir), ['notes.txt'], 'nothing is left of one that failed');
});

t.test('D-C-09: of two restores into one place one is refused, and the other is whole', async (t) => {
  const place = ownFolder(t);
  const dataDir = path.join(place, 'again');
  const [first, second] = await Promise.allSettled([restored(pair.file, dataDir, { keysFile: pair.keysFile }), restored(pair.file, dataDir)]);
  t.match(second, { status: 'rejected', reason: { message: /another restore into .* is under way/ } });
  t.match(first, { status: 'fulfilled', value: { withKeys: true, problems: [] } });
  t.same(inspectDataDir(dataDir).losses, []);
  t.same(readdirSync(place), ['again']);
});

t.test('Q-CHANGE-10: a data directory behind a link is restored where it is; what a link in the place of the work leads to is left alone', async (t) => {
  const place = ownFolder(t, { 'other/notes.txt': 'mine', 'disk/lineside/.keep': '' });
  rmSync(path.join(place, 'disk', 'lineside', '.keep'));
  symlinkSync(path.join(place, 'disk', 'lineside'), path.join(place, 'data'));
  symlinkSync(path.join(place, 'other'), path.join(place, 'disk', 'lineside.restoring'));
  const report = await restored(pair.file, path.join(place, 'data'), { keysFile: pair.keysFile });
  t.equal(report.dataDir, path.join(place, 'disk', 'lineside'));
  t.ok(existsSync(path.join(place, 'data', 'state.db')));
  t.same(readdirSync(path.join(place, 'other')), ['notes.txt']);
  t.same(readdirSync(path.join(place, 'disk')), ['lineside']);
});

t.test('decisions 8.6: a trail that somebody has changed on the box is told, and taken only by whoever says so', async (t) => {
  const dir = copyOf(t, data);
  const database = new Database(path.join(dir, 'state.db'));
  database.prepare("UPDATE audit SET body = replace(body, 'Ann Op', 'Eve Op') WHERE sequence = ?").run(ARCHIVED + 5);
  database.close();
  const place = ownFolder(t);
  const [file, keysFile] = [path.join(place, 'b.age'), path.join(place, 'k.age')];
  await makeBackup({ ...wish(file, { keysTo: keysFile }), dataDir: dir });
  await t.rejects(restored(file, path.join(place, 'again'), { keysFile }), { message: /audit-000000000605: hash/ });
  await t.rejects(restored(file, path.join(place, 'again')), { message: /audit record 605 does not have its hash/ }, 'without the keys as well');
  t.same(readdirSync(place).sort(), ['b.age', 'k.age']);
  const report = await restored(file, path.join(place, 'again'), { keysFile, acceptProblems: true });
  t.match(report.problems, [/605: hash/]);
});

t.test('D-C-09: killed at any moment, a restore leaves nothing that starts, or the whole', async (t) => {
  const place = ownFolder(t, { 'id.txt': `${keys.identity}\n` });
  const dataDir = path.join(place, 'again');
  const args = [COMMAND, 'restore', pair.file, '--identity', path.join(place, 'id.txt'), '--keys', pair.keysFile, '--data-dir', dataDir];
  const env = { PATH: process.env.PATH ?? '' };
  let killed = 0;
  for (let at = 1; ; at += at < 8 ? 3 : 23) {
    const { signal, status, stderr } = spawnSync(process.execPath, ['--import', KILLER, ...args], { env: { ...env, KILLED_AT_CALL: String(at) }, encoding: 'utf8' });
    if (signal !== 'SIGKILL') {
      t.equal(status, 0, stderr);
      break;
    }
    killed += 1;
    t.ok(!existsSync(dataDir) || existsSync(path.join(dataDir, 'restored.json')), `killed before call ${at}: nothing, or the whole`);
    if (existsSync(dataDir)) t.same(inspectDataDir(dataDir).losses, []);
    rmSync(dataDir, { recursive: true, force: true });
  }
  t.ok(killed >= 4, `it was killed ${killed} times`);
  t.same(readdirSync(place).sort(), ['again', 'id.txt'], 'what the killed ones have left is gone');
  t.same(inspectDataDir(dataDir).findings, []);
});

t.test('Q-CHANGE-10: a passphrase opens it as well', async (t) => {
  const place = ownFolder(t);
  const file = path.join(place, 'b.age');
  await makeBackup(wish(file, { sealedFor: { passphrase: 'correct horse battery staple' } }));
  const report = await restoreBox({ file, openedWith: { passphrase: 'correct horse battery staple' }, dataDir: path.join(place, 'again'), acceptProblems: false });
  t.equal(report.backup.head.sequence, RECORDS + 40);
});

t.test('decisions 8.7: one backup at a time, and what one that was killed has left goes', async (t) => {
  const dir = copyOf(t, data);
  const place = ownFolder(t);
  mkdirSync(path.join(dir, 'backup-work'));
  cpSync(path.join(dir, 'state.db'), path.join(dir, 'backup-work', 'state.db'));
  const [one, other] = ['a.age', 'b.age'].map((name) => makeBackup({ ...wish(path.join(place, name)), dataDir: dir }));
  const [first, second] = await Promise.allSettled([one, other]);
  t.match(first, { status: 'fulfilled' });
  t.match(second, { status: 'rejected', reason: { message: /another backup of this box is under way/ } });
  t.notOk(existsSync(path.join(dir, 'backup-work')));
});

t.test('Q-CHANGE-13, D-C-07: the newest stay, whatever time the clock said; what a killed one has left in the folder goes, and no link is followed', async (t) => {
  const { deviceId } = openDeviceKeys(data);
  const folder = path.join(ownFolder(t), 'share', 'box');
  const nameAt = (at: string): string => backupName(data, new Date(at));
  const kept = async (at: string): Promise<string> => {
    const { to: _to, ...what } = wish('');
    return path.basename((await makeKept({ ...what, folder, kept: 2, deviceId, atMs: Date.parse(at) })).file);
  };
  const names = (): string[] => readdirSync(folder).sort();
  await kept('2099-01-01T00:00:00Z');
  await kept('2099-01-02T00:00:00Z');
  const ofOthers = `lineside-00000000-20200101T000000Z.tar.gz.age`;
  for (const name of [ofOthers, `${nameAt('2026-01-01T00:00:00Z')}.part`, 'box.age.part']) writeFileSync(path.join(folder, name), 'x');
  writeFileSync(path.join(folder, 'victim'), 'mine');
  symlinkSync(path.join(folder, 'victim'), path.join(folder, `${nameAt('2026-11-29T06:00:00Z')}.part`));
  const first = await kept('2026-11-29T06:00:00Z');
  t.same(names(), [ofOthers, first, nameAt('2099-01-02T00:00:00Z'), 'box.age.part', 'victim'].sort(), 'the one that was just made stays');
  t.equal(readFileSync(path.join(folder, 'victim'), 'utf8'), 'mine');
  const second = await kept('2026-11-30T06:00:00Z');
  t.same(names(), [ofOthers, first, second, 'box.age.part', 'victim'].sort());
  const third = await kept('2026-12-01T06:00:00Z');
  t.same(names(), [ofOthers, second, third, 'box.age.part', 'victim'].sort());
  t.same(notKept([nameAt('2026-11-29T06:00:00Z'), nameAt('1970-01-01T00:00:00Z')], nameAt('1970-01-01T00:00:00Z'), 1), [nameAt('2026-11-29T06:00:00Z')]);
});

function backupsOf({
  clock,
  place,
  facts,
  calls,
}: {
  clock: TestClock;
  place: string;
  facts: readonly unknown[];
  calls: NonNullable<ConstructorParameters<typeof Backups>[0]['calls']>;
}) {
  return new Backups({
    store: { recorded: Promise.resolve() } as unknown as Store,
    queries: { factPage: async () => ({ items: facts, next: null }) } as never,
    clock,
    log: testLog(),
    dataDir: path.join(place, 'nowhere'),
    deviceId: 'f'.repeat(32),
    product: PRODUCT,
    settings: { backupDirectory: path.join(place, 'share'), backupRecipient: keys.recipient, backupIntervalMs: 3_600_000, backupsKept: 2, configFile: null, secretsDir: place },
    time: { now: () => ({ wallMs: clock.wallMs(), bootMs: clock.monoMs(), bootID: 'b' }), synchronised: () => true },
    died: () => undefined,
    calls,
  });
}

t.test('D-C-02, Q-CHANGE-13: what the last backup came to is told after a start, and of what is no result that it cannot be read', async (t) => {
  const calls = { call: () => new Promise<never>(() => undefined), close: () => Promise.resolve() } as never;
  const at = { wallMs: new TestClock().wallMs(), bootID: '', bootMs: 0 };
  const run = { runId: 'r', startedAt: 's', finishedAt: 'f', ok: true, file: 'x.age', bytes: 1, headSequence: 7, missing: [], fault: '', at };
  const started = async (fact: unknown) => {
    const clock = new TestClock();
    const backups = backupsOf({ clock, place: ownFolder(t), facts: [fact], calls });
    await backups.start();
    t.teardown(() => backups.stop());
    return { backups, clock };
  };
  t.match((await started(run)).backups.view, { ok: true, lastAt: 'f', message: 'x.age, to audit record 7' });
  for (const fact of [{ ...run, missing: undefined }, { ...run, at: null }, { ok: true, at: {} }, [], 7]) {
    const { backups, clock } = await started(fact);
    t.match(backups.view, { ok: null, lastAt: '' }, JSON.stringify(fact));
    clock.advance(2 * 3_600_000);
    t.match(backups.trouble(), { message: /there is no backup in .* yet, and one is due every 1 h \(what the last one came to cannot be read: it is no result\)/ });
  }
});

t.test('Q-CHANGE-13: a folder that does not answer holds the thread of the backup alone; it is told, and ends no stop', async (t) => {
  const clock = new TestClock();
  const place = ownFolder(t);
  const asked: unknown[] = [];
  const never = new Promise<never>(() => undefined);
  const call = (name: string, args: unknown): Promise<never> => {
    asked.push({ name, args });
    return never;
  };
  const backups = backupsOf({ clock, place, facts: [], calls: { call, close: () => never, terminate: () => never } });
  backups.begin('c-1');
  await new Promise((resolve) => setImmediate(resolve));
  t.match(asked, [{ name: 'make', args: { folder: path.join(place, 'share'), kept: 2 } }]);
  t.same(readdirSync(place), [], 'the gateway has not touched the folder, nor the data directory');
  t.equal(backups.trouble(), undefined);
  t.throws(() => backups.judge(), { message: /is being made already/ });
  clock.advance(7 * 3_600_000);
  t.match(backups.trouble(), { severity: 'High', message: /begun 7 h ago and has not come to its end: look whether the folder answers/ });
  let isStopped = false;
  const stopping = backups.stop().then(() => (isStopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isStopped);
  clock.advance(5000);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1000);
  await stopping;
  t.match(stuckThreads(), ['the thread of the backup'], 'an exit would wait for it');
});

t.test('Q-CHANGE-10: a backup of every format version there was is restored, and one of the tables of release 0.1.0', async (t) => {
  const place = ownFolder(t);
  const fixtures = fileURLToPath(new URL('../../fixtures/backups/', import.meta.url)).replace('/dist/', '/');
  const identities = [readFileSync(path.join(fixtures, 'box-1.identity'), 'utf8').trim()];
  const kept = { openedWith: { identities }, keysFile: path.join(fixtures, 'box-1.keys.age') };
  const report = await restored(path.join(fixtures, 'box-1.tar.gz.age'), path.join(place, 'one'), kept);
  t.match(report, { problems: [], unverified: [], verified: { auditRecords: 40, archivedRecords: 40 } });

  const old = path.join(place, 'old');
  mkdirSync(old);
  const packed = fileURLToPath(new URL('../../fixtures/releases/0.1.0/data.tar.gz', import.meta.url)).replace('/dist/', '/');
  t.equal(spawnSync('tar', ['-C', old, '-xzf', packed]).status, 0);
  const [file, keysFile] = [path.join(place, 'old.age'), path.join(place, 'old-keys.age')];
  await makeBackup({ ...wish(file, { keysTo: keysFile }), dataDir: old, configFile: null });
  const again = await restored(file, path.join(place, 'again'), { keysFile });
  t.match(again, { problems: [], unverified: [] });
  t.same(inspectDataDir(path.join(place, 'again')).losses, []);
});
