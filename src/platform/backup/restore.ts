/**
 * Restore of a backup into an empty data directory. Everything is unpacked beside it and verified there: the digests and the signature of
 * the manifest, the structure of the databases, the trail with its archive, the sealed rows, and that a start would find nothing lost.
 * Only then the folder takes the place of the data directory, in one step where the file system has one.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import Database from '../base/sqlite.js';
import { StartRefused } from '../base/start-refused.js';
import { syncFolder } from '../base/sync-folder.js';
import { markHistoryBegun } from '../history/begun-mark.js';
import { archiveFolder } from '../ledger/archive-format.js';
import { macOfNote, type SealedNote } from '../ledger/archive-notes.js';
import { ShortMac } from '../ledger/chain.js';
import { lastRecords } from '../ledger/counts.js';
import { HeadFile, headFileOf } from '../ledger/head-file.js';
import { inspectDataDir, quickCheck } from '../ledger/inspect.js';
import { type DeviceKeys, keepFormerKey, openDeviceKeys } from '../ledger/keys.js';
import { lockDataDir } from '../ledger/lock.js';
import { writeMarkerFile } from '../ledger/marker.js';
import { RowMacs, RowSeals, storedSeal } from '../ledger/row-seals.js';
import { openStateDatabase } from '../ledger/schema.js';
import { markSealed } from '../ledger/sealed-mark.js';
import { StateReader } from '../ledger/state-reader.js';
import { verifyWithoutKey } from './keyless.js';
import { kidOf, type Manifest, publicKeyOf } from './manifest.js';
import { BackupRefused } from './refused.js';
import { writeRestoredMark } from './restored-mark.js';
import type { OpenedWith } from './sealed-file.js';
import { unpack } from './unpack.js';

/** Rows were sealed from this version of the tables on. */
const SEALED_SINCE = 6;
/** Beyond every number that the box may have given after the backup: nobody who knows one of those meets it again. */
const VERSIONS_SKIPPED = 1_000_000;
const PROBLEMS_TOLD = 20;
/** Of the place in which a restore works. */
const OF_THE_LOCK: readonly string[] = ['lock', 'pid'];
/** What the system puts into the root of a volume. */
const OF_THE_SYSTEM: readonly string[] = ['lost+found'];

export interface RestoreWish {
  readonly file: string;
  readonly openedWith: OpenedWith;
  /** The file with the keys that were sealed apart, which the same opens; absent: new keys are made. */
  readonly keysFile?: string | undefined;
  readonly dataDir: string;
  /** Go on although the box had evidence that does not verify when the backup was made. */
  readonly acceptProblems: boolean;
}

export interface RestoreReport {
  readonly dataDir: string;
  readonly restoredAt: string;
  /** Of the box as it is now. */
  readonly deviceId: string;
  readonly withKeys: boolean;
  readonly backup: Pick<Manifest, 'id' | 'format' | 'createdAt' | 'product' | 'deviceId' | 'head' | 'counts'> & { readonly files: number; readonly bytes: number };
  readonly verified: {
    readonly files: number;
    readonly auditRecords: number;
    readonly archivedRecords: number;
    readonly signedHeads: number;
    readonly resources: number;
    readonly facts: number;
  };
  /** What nobody can verify here, in sentences. */
  readonly unverified: readonly string[];
  /** What does not verify, and did not when the backup was made. */
  readonly problems: readonly string[];
  /** What whoever starts the box should know. */
  readonly notes: readonly string[];
}

/** @throws BackupRefused naming what is wrong; the data directory is as it was then. */
export async function restoreBox(wish: RestoreWish): Promise<RestoreReport> {
  const dataDir = existsSync(wish.dataDir) ? realpathSync(wish.dataDir) : path.resolve(wish.dataDir); // no folder takes the place of a link
  const place = placeFor(dataDir);
  const owner = ownerOf(dataDir);
  const release = take(place.staging, dataDir);
  try {
    for (const name of readdirSync(place.staging)) if (!OF_THE_LOCK.includes(name)) rmSync(path.join(place.staging, name), { recursive: true, force: true });
    const report = await prepare(place.staging, { ...wish, dataDir });
    rmSync(path.join(place.staging, 'pid'), { force: true });
    tighten(place.staging);
    chmodSync(place.staging, 0o750);
    if (owner) giveTo(place.staging, owner);
    place.put(); // the lock goes along, so that nobody else takes what is about to be moved
    return report;
  } catch (fault) {
    place.clear();
    throw fault;
  } finally {
    release();
  }
}

interface Place {
  readonly staging: string;
  /** The data directory is whole afterwards. */
  put(): void;
  clear(): void;
}

/** @throws BackupRefused when there is something in it already. */
function placeFor(dataDir: string): Place {
  const found = statSync(dataDir, { throwIfNoEntry: false });
  const parent = path.dirname(dataDir);
  if (found && !found.isDirectory()) throw new BackupRefused(`${dataDir} is no folder; name one that is empty, or that is not there`);
  if (!found && !existsSync(parent)) throw new BackupRefused(`${parent} is not there; make it first`);
  const inside = path.join(dataDir, 'restoring');
  const names = found ? readdirSync(dataDir).filter((name) => !OF_THE_SYSTEM.includes(name)) : [];
  const others = names.filter((name) => name !== 'restoring');
  if (others.length > 0)
    throw new BackupRefused(
      `${dataDir} is not empty (${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''}): a restore writes over nothing; move what is there away, or name another folder`,
    );
  const isVolume = found !== undefined && (found.dev !== statSync(parent).dev || readdirSync(dataDir).some((name) => OF_THE_SYSTEM.includes(name)));
  const beside = `${dataDir}.restoring`;
  const staging = isVolume ? inside : beside;
  return {
    staging,
    put() {
      if (isVolume) return putInto(dataDir, staging);
      if (found) rmSync(inside, { recursive: true, force: true });
      renameSync(staging, dataDir); // over an empty folder, in one step
      syncFolder(parent);
    },
    clear() {
      rmSync(staging, { recursive: true, force: true });
    },
  };
}

/**
 * No folder takes the place of the root of a volume, so what is in it moves. The keys go first, with the marker: what is cut off by then is
 * a box whose `state.db` is missing, which starts in rescue and never as a new one. `state.db` goes last.
 */
function putInto(dataDir: string, staging: string): void {
  const rank = (name: string): number => (name === 'keys' ? 0 : name === 'restored.json' ? 1 : name === 'state.db' ? 3 : 2);
  for (const name of readdirSync(staging).sort((a, b) => rank(a) - rank(b))) {
    renameSync(path.join(staging, name), path.join(dataDir, name));
    syncFolder(dataDir);
  }
  rmSync(staging, { recursive: true, force: true });
  syncFolder(dataDir);
}

/** What a restore has left that did not come to its end is nobody's; what one is at work on is. */
function take(staging: string, dataDir: string): () => void {
  if (lstatSync(staging, { throwIfNoEntry: false })?.isDirectory() === false) rmSync(staging); // what a link leads to is not ours to empty
  try {
    const lock = lockDataDir(staging);
    return () => lock.release();
  } catch (fault) {
    if (fault instanceof StartRefused) throw new BackupRefused(`another restore into ${dataDir} is under way; wait for its end`);
    throw fault;
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What root restores belongs to the user of the service, where the folder of it is his. */
function ownerOf(dataDir: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const found = statSync(dataDir, { throwIfNoEntry: false });
  return found && found.uid !== 0 ? { uid: found.uid, gid: found.gid } : undefined;
}

function giveTo(folder: string, { uid, gid }: Owner): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) giveTo(name, { uid, gid });
    else chownSync(name, uid, gid);
  }
}

/** Password hashes are in there, and SQLite makes its files as the process says. */
function tighten(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name);
    chmodSync(name, entry.isDirectory() ? 0o700 : 0o600);
    if (entry.isDirectory()) tighten(name);
  }
}

async function prepare(staging: string, { file, openedWith, keysFile, dataDir, acceptProblems }: RestoreWish): Promise<RestoreReport> {
  const manifest = await of(file, () => unpack(file, openedWith, 'data', staging));
  const notes: string[] = [];
  const apart = keysFile === undefined ? undefined : await of(keysFile, () => unpack(keysFile, openedWith, 'keys', staging));
  if (apart) refuseOtherKeys(apart, manifest, keysFile ?? '');
  if (!manifest.files.some(({ name }) => name === 'state.db')) throw new BackupRefused(`${file}: state.db is missing in it`);
  for (const name of ['state.db', 'historian.db']) {
    const damage = manifest.files.some((entry) => entry.name === name) ? quickCheck(path.join(staging, name)) : null;
    if (damage !== null) throw new BackupRefused(`${file}: ${name} in it is damaged: ${damage}`);
  }
  const keys = openDeviceKeys(staging); // made where none were given
  if (apart && keys.deviceId !== manifest.deviceId) throw new BackupRefused(`${keysFile}: the device key in it is not that of ${manifest.deviceId}, which has made the backup`);
  if (apart && keys.auditKeyId !== manifest.auditKeyId) throw new BackupRefused(`${keysFile}: the audit key in it is not the one that the backup was sealed with`);
  const state = openState(staging, file);
  let found: Found;
  try {
    const end = lastRecords(state).last;
    const head = manifest.head;
    if (end !== undefined && (end.sequence !== head.sequence || end.hash.toString('hex') !== head.hash))
      throw new BackupRefused(`${file}: the trail in it ends at audit record ${end.sequence}, and its manifest says ${head.sequence}`);
    if (apart) new RowSeals(state, keys.auditHmac, manifest.schema >= SEALED_SINCE); // rows of before there were seals are taken over, as a start does
    const verified = apart ? undefined : await verifyWithoutKey(state, archiveFolder(staging), publicKeyOf(manifest), manifest.missing);
    if (!apart) adopt(state, keys, staging, manifest);
    writeOutside(staging, state, keys, manifest);
    close(state);
    found = verified ? withoutKey(verified, manifest) : await withKey(staging, keys);
  } finally {
    if (state.open) state.close();
  }
  const problems = [...found.problems, ...manifest.missing.map((name) => `${name} was not there when the backup was made`)];
  if (problems.length > 0 && !acceptProblems)
    throw new BackupRefused(
      `${file}: what it holds was not whole when it was made: ${problems.slice(0, PROBLEMS_TOLD).join('; ')}; restore it all the same with --accept-problems, and the box tells of it until an administrator acknowledges it`,
    );
  skipVersions(staging, keys);
  const inspection = inspectDataDir(staging);
  if (inspection.losses.length > 0 && !acceptProblems) throw new BackupRefused(`${file}: a box could not be started on it: ${inspection.losses.join('; ')}`);
  for (const name of ['state.db-wal', 'state.db-shm']) rmSync(path.join(staging, name), { force: true }); // whoever only reads leaves them, with nothing in them
  for (const { text } of inspection.findings) notes.push(text.replaceAll(staging, dataDir));
  if (manifest.files.some(({ name }) => name === 'config.yaml'))
    notes.push(`its settings are in ${path.join(dataDir, 'config.yaml')}; a service that is started with another file (--config) does not read them`);
  const restoredAt = new Date().toISOString();
  const { id, format, createdAt, product, deviceId, head, counts, files } = manifest;
  const mark = { id: randomUUID(), restoredAt, deviceId: keys.deviceId, withKeys: apart !== undefined, backup: { id, createdAt, version: product.version, deviceId, head } };
  writeRestoredMark(staging, { ...mark, unverified: [...found.unverified] });
  syncAll(staging);
  return {
    dataDir,
    restoredAt,
    deviceId: keys.deviceId,
    withKeys: apart !== undefined,
    backup: { id, format, createdAt, product, deviceId, head, counts, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) },
    verified: { files: files.length + (apart?.files.length ?? 0), ...found.verified },
    unverified: found.unverified,
    problems,
    notes,
  };
}

/** What is wrong with a file is told with its name. */
async function of<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof BackupRefused) throw new BackupRefused(`${file}: ${fault.message}`);
    throw fault;
  }
}

function refuseOtherKeys(apart: Manifest, manifest: Manifest, keysFile: string): void {
  if (apart.deviceId !== manifest.deviceId) throw new BackupRefused(`${keysFile}: it holds the keys of box ${apart.deviceId}, and the backup is that of ${manifest.deviceId}`);
}

/** Tables of an earlier version become those of this one. */
function openState(staging: string, file: string): Database.Database {
  try {
    return openStateDatabase(path.join(staging, 'state.db'));
  } catch (fault) {
    throw new BackupRefused(`${file}: ${(fault as Error).message}`);
  }
}

function close(state: Database.Database): void {
  state.pragma('wal_checkpoint(TRUNCATE)');
  state.close();
}

/**
 * Without the keys of before: the rows are taken over as they are under the new key, which is told of them from then on, and the public key
 * of the box that was stays for what it has signed.
 */
function adopt(state: Database.Database, keys: DeviceKeys, staging: string, manifest: Manifest): void {
  state.prepare("DELETE FROM meta WHERE key = 'seal'").run();
  new RowSeals(state, keys.auditHmac, false);
  const note = state.prepare('UPDATE audit_archives SET mac = ? WHERE last = ?');
  const notes = state.prepare('SELECT first, last, file, records, previous_hash AS previousHash, head_hash AS headHash, sha256, mac FROM audit_archives').all() as SealedNote[];
  for (const each of notes) note.run(macOfNote(each, keys.auditHmac), each.last);
  keepFormerKey(staging, kidOf(manifest), publicKeyOf(manifest));
}

/** The copies of the head and the marks beside the keys (D-C-09), which are made of what they tell and never copied. */
function writeOutside(staging: string, state: Database.Database, keys: DeviceKeys, { deviceId, firstStart, head, files }: Manifest): void {
  markSealed(staging);
  const file = new HeadFile(headFileOf(staging), new ShortMac(keys.auditHmac), keys.auditHmac, { deviceId, firstStart });
  if (head.sequence > 0) file.write(head);
  file.close();
  const heads = state.prepare('SELECT COUNT(*) FROM audit_heads').pluck().get() as number;
  writeMarkerFile(staging, { deviceId, firstStart, head: { ...head }, heads });
  if (files.some(({ name }) => name === 'historian.db')) markHistoryBegun(staging);
}

interface Found {
  readonly verified: Omit<RestoreReport['verified'], 'files'>;
  readonly unverified: readonly string[];
  readonly problems: readonly string[];
}

async function withKey(staging: string, keys: DeviceKeys): Promise<Found> {
  const reader = new StateReader(staging, keys);
  try {
    const [trail, archive, rows] = [await reader.verify({}), await reader.verifyArchives({}), await reader.verifyRows()];
    const open = trail.gaps.filter(({ acknowledged }) => acknowledged === null).map(({ text }) => `not acknowledged: ${text}`);
    return {
      verified: { auditRecords: trail.checked, archivedRecords: archive.checked, signedHeads: headsIn(staging), resources: rows.resources, facts: rows.facts },
      unverified: [],
      problems: [
        ...trail.problems.map(({ name, problem }) => `${name}: ${problem}`),
        ...archive.archives.flatMap(({ file, ok, problem = '' }) => (ok ? [] : [`${file}: ${problem}`])),
        ...rows.problems.map(({ part, kind, name, problem }) => `${part} ${kind} ${name}: ${problem}`.replaceAll(/ +/g, ' ')),
        ...open,
      ],
    };
  } finally {
    reader.close();
  }
}

function headsIn(staging: string): number {
  const database = new Database(path.join(staging, 'state.db'), { readonly: true });
  try {
    return database.prepare('SELECT COUNT(*) FROM audit_heads').pluck().get() as number;
  } finally {
    database.close();
  }
}

function withoutKey({ checked, archived, heads, problems }: Awaited<ReturnType<typeof verifyWithoutKey>>, { deviceId, counts }: Manifest): Found {
  return {
    verified: { auditRecords: checked, archivedRecords: archived, signedHeads: heads, resources: 0, facts: 0 },
    unverified: [
      `whether box ${deviceId} has sealed each of the ${checked + archived} audit records: the audit key was not given; their hashes, their links and the signed heads were verified`,
      `${counts.resources} resources and ${counts.facts} facts one by one: they are those that the box has signed in its backup, and are sealed anew with the new key`,
      'signatures of persons with algorithm HMAC-SHA256: only the audit key verifies them; those of Ed25519 are verified with the public key of the box that was, which is kept',
      'secrets of devices that were set through the routes: only the device key opens them; set them again',
    ],
    problems,
  };
}

/** Who knows a version of after the backup, in an `If-Match`, never meets another resource by it. */
function skipVersions(staging: string, { auditHmac }: DeviceKeys): void {
  const state = new Database(path.join(staging, 'state.db'));
  try {
    const macs = new RowMacs(auditHmac);
    const seal = macs.opened(storedSeal(state) ?? '');
    if (!seal) return; // accepted as a problem: a start tells of it
    const resourceVersion = seal.resourceVersion + VERSIONS_SKIPPED;
    const set = state.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value');
    state.transaction(() => {
      set.run('resourceVersion', String(resourceVersion));
      set.run('seal', macs.sealed({ ...seal, resourceVersion }));
    })();
    state.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    state.close();
  }
}

function syncAll(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) syncAll(path.join(folder, entry.name));
  syncFolder(folder);
}
