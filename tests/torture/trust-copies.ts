/** Single edits of what was taken out of the box: exports of the trail, backups, and the anchors that are kept elsewhere. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AuditAnchors } from '../../src/domains/audit/anchors.js';
import { auditBackup } from '../../src/domains/audit/backup.js';
import { makeBackup } from '../../src/platform/backup/make.js';
import { MANIFEST_NAME } from '../../src/platform/backup/manifest.js';
import { BackupRefused } from '../../src/platform/backup/refused.js';
import { restoreBox } from '../../src/platform/backup/restore.js';
import { systemClock } from '../../src/platform/base/clock.js';
import Database from '../../src/platform/base/sqlite.js';
import { type Anchor, anchorsOf } from '../../src/platform/ledger/anchors.js';
import { archiveLine, readLine } from '../../src/platform/ledger/archive-format.js';
import { hashOf } from '../../src/platform/ledger/chain.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { type ExportTrailer, ExportVerifier, signTrailer } from '../../src/platform/ledger/signed-export.js';
import { asked, trail } from '../support/archive-data.js';
import { at } from '../support/at.js';
import { keyPair, type KeyPair, type Member, membersOf, tarOf, writeSealed } from '../support/sealed-tar.js';
import type { Bench } from './bench.js';
import { copied, type Edited, type Family, isEvidence } from './trust.js';
import { type Below, belowOf, flipped, isFound, withOtherLeaf } from './trust-edits.js';

interface Places {
  readonly older: string;
  readonly stopped: string;
}

const PRODUCT = { version: '0.1.0', commit: '' };

export async function copyEdits(bench: Bench, { older, stopped }: Places): Promise<readonly Family[]> {
  const below = belowOf(bench.random);
  const anchors = await anchored(bench, stopped);
  const key = await keyPair();
  const [now, then] = [copied(stopped, bench, 'now'), copied(older, bench, 'then')]; // without the history
  const [backup, before] = [await backedUp(bench, now, key, 'backup'), await backedUp(bench, then, key, 'backup-before')];
  const [members, membersBefore] = await Promise.all([backup, before].map((each) => membersOf(each.file, { identities: [key.identity] })));
  const [text, textBefore] = [await exported(stopped), await exported(older)];
  const { keyId, known } = knownKeys(stopped, readFileSync(anchors, 'utf8'));
  const edited = path.join(bench.work, 'edited.age');
  const refused = async (what: string): Promise<Edited> => ({ what, found: await isRefused(bench, edited, backup.keysFile, key) });
  return [
    {
      name: 'export',
      share: 14,
      async edit() {
        const [what, changed] = exportEdit(text, stopped, below);
        return changed === text ? undefined : { what, found: !judged(changed, known, keyId, []).ok };
      },
    },
    {
      name: 'backup, its file',
      share: 6,
      async edit() {
        const bytes = readFileSync(backup.file);
        const [what, changed] = bytesEdit(bytes, below);
        if (changed.equals(bytes)) return undefined;
        writeFileSync(edited, changed);
        return refused(what);
      },
    },
    {
      name: 'backup, what is in it, encrypted anew',
      share: 4,
      async edit() {
        const [what, changed] = membersEdit(members as Member[], membersBefore as Member[], below);
        await writeSealed(edited, tarOf(changed), key.recipient);
        return refused(what);
      },
    },
    {
      name: 'anchors, and what is set back as a whole',
      share: 3,
      edit: () => setBack({ bench, below, older, stopped, anchors, before, key, textBefore, known, keyId }),
    },
  ];
}

/** An anchor of the end of the trail, in a file outside the box. */
async function anchored(bench: Bench, dir: string): Promise<string> {
  const folder = path.join(bench.work, 'anchors');
  mkdirSync(folder);
  const keys = openDeviceKeys(dir);
  await asked(dir, (queries) => new AuditAnchors({ folder, intervalMs: 1000, queries, keys, clock: systemClock }).keep());
  return path.join(folder, `lineside-anchors-${keys.kid}.ndjson`);
}

interface BackedUp {
  readonly file: string;
  readonly keysFile: string;
}

export async function backedUp(bench: Bench, dataDir: string, { recipient }: KeyPair, name: string): Promise<BackedUp> {
  const [file, keysFile] = [path.join(bench.work, `${name}.age`), path.join(bench.work, `${name}-keys.age`)];
  for (const each of [file, keysFile]) rmSync(each, { force: true });
  await makeBackup({ dataDir, configFile: null, secretsDir: path.join(dataDir, 'secrets'), to: file, keysTo: keysFile, sealedFor: { recipients: [recipient] }, product: PRODUCT });
  return { file, keysFile };
}

export async function restoredTo(dataDir: string, { file, keysFile }: BackedUp, { identity }: KeyPair): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true });
  await restoreBox({ file, keysFile, openedWith: { identities: [identity] }, dataDir, acceptProblems: false });
}

async function isRefused(bench: Bench, file: string, keysFile: string, key: KeyPair): Promise<boolean> {
  try {
    await restoredTo(path.join(bench.work, 'restored'), { file, keysFile }, key);
    return false;
  } catch (fault) {
    if (fault instanceof BackupRefused) return true;
    throw fault;
  }
}

export async function exported(dir: string): Promise<string> {
  const keys = openDeviceKeys(dir);
  return asked(dir, async (queries) => {
    const text: Uint8Array[] = [];
    for await (const chunk of auditBackup(queries, {}, { ...keys, exportedAt: new Date().toISOString() })) text.push(chunk);
    return Buffer.concat(text).toString('utf8');
  });
}

interface Known {
  readonly key: ReturnType<typeof openDeviceKeys>['publicKey'];
  readonly anchors: readonly Anchor[];
}

export function knownKeys(dir: string, anchors = ''): { readonly keyId: string; readonly known: Known } {
  const { publicKey, kid } = openDeviceKeys(dir);
  return { keyId: kid, known: { key: publicKey, anchors: anchorsOf(anchors, publicKey).anchors } };
}

export function judged(text: string, { key }: Known, keyId: string, anchors: readonly Anchor[]): ReturnType<ExportVerifier['end']> {
  const verifier = new ExportVerifier({ key, keyId }, anchors);
  verifier.take(Buffer.from(text));
  return verifier.end();
}

function bytesEdit(bytes: Buffer, below: Below): readonly [string, Buffer] {
  const [place, other] = [below(bytes.length), below(bytes.length)];
  const from = Math.min(place, other);
  const edits: readonly (readonly [string, () => Buffer])[] = [
    ['a bit', () => flipped(bytes, below)],
    [`cut off at ${place}`, () => bytes.subarray(0, place)],
    [`bytes taken out at ${from}`, () => Buffer.concat([bytes.subarray(0, from), bytes.subarray(Math.max(place, other) + 1)])],
    [`a byte put in at ${place}`, () => Buffer.concat([bytes.subarray(0, place), Buffer.from([below(256)]), bytes.subarray(place)])],
    [`the end once more from ${place} on`, () => Buffer.concat([bytes, bytes.subarray(place)])],
  ];
  const [what, edit] = at(edits, below(edits.length));
  return [what, edit()];
}

function exportEdit(whole: string, dir: string, below: Below): readonly [string, string] {
  const lines = whole.split('\n').slice(0, -1);
  const joined = (changed: readonly string[]): string => `${changed.join('\n')}\n`;
  const [line, other, place] = [below(lines.length), below(lines.length), below(whole.length - 1)];
  const trailer = JSON.parse(at(lines, lines.length - 1)) as ExportTrailer & { readonly signature: string };
  const { signature: _, ...unsigned } = trailer;
  const records = lines.slice(0, -1);
  const edits: readonly (readonly [string, () => string])[] = [
    [`a letter at ${place}`, () => `${whole.slice(0, place)}${String.fromCharCode(whole.charCodeAt(place) ^ (1 + below(7)))}${whole.slice(place + 1)}`],
    [`line ${line} taken out`, () => joined(lines.toSpliced(line, 1))],
    [`line ${other} also at ${line}`, () => joined(lines.toSpliced(line, 0, at(lines, other)))],
    [`lines ${line} and ${other} change places`, () => joined(lines.with(line, at(lines, other)).with(other, at(lines, line)))],
    [`cut off at ${place}`, () => whole.slice(0, place)],
    [`records from ${line} on cut off`, () => joined([...records.slice(0, line), at(lines, lines.length - 1)])],
    [`a field of line ${line}`, () => joined(lines.with(line, JSON.stringify(withOtherLeaf(JSON.parse(at(lines, line)), below))))],
    [`line ${line} changed and hashed anew`, () => (line < records.length ? joined(lines.with(line, hashedAnew(at(lines, line), below))) : whole)],
    ['a field of the trailer', () => joined(lines.with(-1, JSON.stringify(withOtherLeaf(trailer, below))))],
    ['signed with another key', () => joined(lines.with(-1, JSON.stringify(signTrailer(unsigned, openDeviceKeys(path.join(dir, '..', 'foreign')).privateKey))))],
  ];
  const [what, edit] = at(edits, below(edits.length));
  return [what, edit()];
}

function hashedAnew(line: string, below: Below): string {
  const row = readLine(line);
  if (!row) throw new Error(`${line.slice(0, 80)} is no record`);
  const body = JSON.stringify(withOtherLeaf(JSON.parse(row.body), below));
  return archiveLine({ ...row, body, hash: hashOf(body) }).trimEnd();
}

/** What somebody does who can open it and close it again. */
function membersEdit(members: readonly Member[], before: readonly Member[], below: Below): readonly [string, readonly Member[]] {
  const place = below(members.length);
  const member = at(members, place);
  const inside = 1 + below(members.length - 1);
  const manifest = members.findIndex(({ name }) => name === MANIFEST_NAME);
  const state = members.findIndex(({ name }) => name === 'state.db');
  const with_ = (index: number, content: Buffer): readonly Member[] => members.with(index, { ...at(members, index), content });
  const told = (): unknown => JSON.parse(at(members, manifest).content.toString('utf8'));
  const old = (name: string): Member => before.find((each) => each.name === name) as Member;
  const edits: readonly (readonly [string, () => readonly Member[]])[] = [
    [`a bit of ${member.name}`, () => with_(place, member.content.length === 0 ? Buffer.from('x') : flipped(member.content, below))],
    [`${member.name} cut short`, () => with_(place, member.content.subarray(0, below(member.content.length)))],
    [`${member.name} taken out`, () => members.toSpliced(place, 1)],
    [`${member.name} twice`, () => members.toSpliced(place, 0, member)],
    [
      `${member.name} and ${at(members, inside).name} change places`,
      () => (place === inside ? members.toSpliced(place, 1) : members.with(place, at(members, inside)).with(inside, member)),
    ],
    ['a field of the manifest', () => with_(manifest, Buffer.from(JSON.stringify(withOtherLeaf(told(), below))))],
    ['the manifest of an older backup', () => members.with(manifest, old(MANIFEST_NAME))],
    ['state.db of an older backup', () => members.with(state, old('state.db'))],
    ['a file put in', () => [...members, { name: 'audit-archive/more.ndjson.gz', content: Buffer.from('x') }]],
  ];
  const [what, edit] = at(edits, below(edits.length));
  return [what, edit()];
}

interface SetBack {
  readonly bench: Bench;
  readonly below: Below;
  readonly older: string;
  readonly stopped: string;
  readonly anchors: string;
  readonly before: BackedUp;
  readonly key: KeyPair;
  readonly textBefore: string;
  readonly known: Known;
  readonly keyId: string;
}

/** What is good in itself and of an earlier time is found by what is kept outside, and by that only: verification says that without it nobody would see. */
async function setBack({ bench, below, older, stopped, anchors, before, key, textBefore, known, keyId }: SetBack): Promise<Edited> {
  const dir = path.join(bench.work, 'restored');
  const edits: readonly (readonly [string, () => Promise<boolean>])[] = [
    ['the whole data directory', async () => isSetBack(copied(older, bench, 'restored'), anchors)],
    [
      'the whole data directory, on which the box lived on',
      async () => {
        copied(older, bench, 'restored');
        const last = endOf(dir);
        trail(dir, last + 1, endOf(stopped) + 1 + below(100));
        return isSetBack(dir, anchors);
      },
    ],
    [
      'a backup of before in place of the last one',
      async () => {
        await restoredTo(dir, before, key);
        return isSetBack(dir, anchors);
      },
    ],
    ['an export of before in place of the last one', async () => judged(textBefore, known, keyId, []).ok && !judged(textBefore, known, keyId, known.anchors).ok],
    [
      'a line of the anchors changed',
      async () => {
        const edited = path.join(bench.work, 'anchors-edited');
        const lines = readFileSync(anchors, 'utf8').split('\n').slice(0, -1);
        const line = below(lines.length);
        writeFileSync(edited, `${lines.with(line, JSON.stringify(withOtherLeaf(JSON.parse(at(lines, line)), below))).join('\n')}\n`);
        return (await asked(stopped, (queries) => queries.anchorsIn(edited))).problems.length > 0;
      },
    ],
  ];
  const [what, edit] = at(edits, below(edits.length));
  rmSync(dir, { recursive: true, force: true });
  return { what, found: await edit() };
}

/** Found with the anchors; and verification without them, which finds nothing, says that it could not. */
async function isSetBack(dir: string, anchors: string): Promise<boolean> {
  const { publicKey, privateKey, kid } = openDeviceKeys(dir);
  return asked(dir, async (queries) => {
    const none = await new AuditAnchors({ folder: null, intervalMs: 1000, queries, keys: { publicKey, privateKey, kid }, clock: systemClock }).check();
    const isTold = /set back to an earlier time would not be seen/.test(none.note) && !(await isFound(dir));
    return isTold && (await queries.anchorsIn(anchors)).problems.some((text) => text.includes('set back to an earlier time'));
  });
}

export function endOf(dir: string): number {
  const database = new Database(path.join(dir, 'state.db'), { readonly: true });
  try {
    return database.prepare('SELECT MAX(sequence) FROM audit').pluck().get() as number;
  } finally {
    database.close();
  }
}

export function copyAside(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, filter: isEvidence });
}
