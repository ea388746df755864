/**
 * A backup of the data directory, made while the box runs or while it does not: copies of one moment (snapshot.ts), a manifest that names
 * them, and all of it as one encrypted file. The archive of the audit trail is taken as it lies there, for its files do not change; which
 * of them belong to the backup the copied `state.db` says. Constant memory: a piece is read, packed, encrypted and written at a time.
 *
 * The keys of the box are never in it. They go into a file of their own, for whoever keeps both apart.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from '../base/sqlite.js';
import { StartRefused } from '../base/start-refused.js';
import { syncFolder } from '../base/sync-folder.js';
import { archiveFolder } from '../ledger/archive-format.js';
import { ArchiveNotes } from '../ledger/archive-notes.js';
import { GENESIS_HASH } from '../ledger/chain.js';
import { lastRecords } from '../ledger/counts.js';
import { type DeviceKeys, openDeviceKeys, storedKeysOf } from '../ledger/keys.js';
import { lockDataDir } from '../ledger/lock.js';
import { MARKER_KEY, parseMarker, readMarkerFile } from '../ledger/marker.js';
import { type FileEntry, isKnownName, type Manifest, MANIFEST_NAME, signedManifest, type UnsignedManifest } from './manifest.js';
import { DRAFT, isDraftOf } from './names.js';
import { BackupRefused } from './refused.js';
import { sealed, type SealedFor } from './sealed-file.js';
import { copyDatabase } from './snapshot.js';
import { tarEnd, tarHeader, tarPadding } from './tar.js';

const PIECE_BYTES = 1024 * 1024;
/** What is written goes to the disk in steps: the commits of the plant wait behind each. */
const SYNC_BYTES = 8 * 1024 * 1024;
/** Below it nothing is copied: the plant needs the room. */
const SPARE_BYTES = 64 * 1024 * 1024;
/** Folder of the copies, below the data directory: they are as secret as what they are copies of. */
const WORK = 'backup-work';
const GZIP_LEVEL = 1; // a level more costs twice the time for a twentieth of the size

export interface BackupWish {
  readonly dataDir: string;
  /** Where the configuration file lies, in the data directory or not; null where there is none. */
  readonly configFile: string | null;
  readonly secretsDir: string;
  /** The file that is made. One that is there is not written over. */
  readonly to: string;
  readonly sealedFor: SealedFor;
  /** The file for the keys; absent: none is made. */
  readonly keysTo?: string | undefined;
  readonly product: Manifest['product'];
}

export interface BackupMade {
  readonly id: string;
  readonly file: string;
  readonly keysFile: string;
  readonly bytes: number;
  /** Of what is in it. */
  readonly contentBytes: number;
  readonly createdAt: string;
  readonly deviceId: string;
  readonly head: Manifest['head'];
  readonly counts: Manifest['counts'];
  readonly files: number;
  readonly missing: readonly string[];
}

/** A file of the backup and where it is read. */
interface Source {
  readonly name: string;
  readonly file: string;
}

/** @throws BackupRefused when there is nothing to back up, no room, or no right; Error of the disk. Nothing is left behind then. */
export async function makeBackup(wish: BackupWish): Promise<BackupMade> {
  const { dataDir, to, keysTo, sealedFor, product } = wish;
  refuseUnfit(wish);
  const work = path.join(dataDir, WORK);
  const release = takeWork(work);
  try {
    const keys = openDeviceKeys(dataDir);
    removeDrafts(path.dirname(path.resolve(to)), keys.deviceId);
    const createdAt = new Date().toISOString();
    const copied = await copies(dataDir, work);
    const { told, archives } = await readCopy(path.join(work, 'state.db'), dataDir);
    const { there, missing } = presentIn(archives);
    const sources = [...copied, ...there, ...configuration(wish)];
    const base: UnsignedManifest = { ...told, content: 'data', id: randomUUID(), createdAt, product, missing, files: sources.map(entryOf) };
    const manifest = signedManifest(base, keys);
    const bytes = await writeSealed(to, manifest, sources, sealedFor);
    if (keysTo !== undefined)
      await writeKeys(keysTo, base, keys, wish).catch((fault: unknown) => {
        rmSync(to, { force: true }); // whoever asked for both has neither
        throw fault;
      });
    const { id, deviceId, head, counts, files } = manifest;
    const contentBytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { id, file: to, keysFile: keysTo ?? '', bytes, contentBytes, createdAt, deviceId, head, counts, files: files.length, missing };
  } finally {
    release();
  }
}

function refuseUnfit({ dataDir, to, keysTo }: BackupWish): void {
  if (!existsSync(path.join(dataDir, 'state.db'))) throw new BackupRefused(`${dataDir} holds no state.db: it is no data directory of a box`);
  const { hasDeviceKey, hasHmac } = storedKeysOf(dataDir);
  if (!hasDeviceKey || !hasHmac) throw new BackupRefused(`${path.join(dataDir, 'keys')} does not hold the keys of the box, which sign its backups; put them back first`);
  for (const file of [to, ...(keysTo === undefined ? [] : [keysTo])]) {
    if (existsSync(file)) throw new BackupRefused(`${file} is there already and is not written over; name another file`);
    if (!existsSync(path.dirname(path.resolve(file)))) throw new BackupRefused(`the folder ${path.dirname(path.resolve(file))} is not there; make it first`);
  }
  if (keysTo !== undefined && path.resolve(keysTo) === path.resolve(to)) throw new BackupRefused('the keys go into a file of their own, not into the backup');
  const needed = ['state.db', 'state.db-wal', 'historian.db', 'historian.db-wal'].reduce(
    (sum, name) => sum + (statSync(path.join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < needed + SPARE_BYTES)
    throw new BackupRefused(
      `${dataDir} has ${megabytes(bavail * bsize)} MB free, and the copies that a backup is made from take ${megabytes(needed + SPARE_BYTES)} MB; make room first`,
    );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

/** One backup at a time; what one that was killed has left goes. @returns gives it back, with all that is in it. */
function takeWork(work: string): () => void {
  mkdirSync(work, { recursive: true, mode: 0o700 });
  let lock: { release(): void };
  try {
    lock = lockDataDir(work);
  } catch (fault) {
    if (fault instanceof StartRefused) throw new BackupRefused('another backup of this box is under way; wait for its end');
    throw fault;
  }
  for (const name of readdirSync(work)) if (name !== 'lock' && name !== 'pid') rmSync(path.join(work, name), { recursive: true, force: true });
  return () => {
    lock.release();
    rmSync(work, { recursive: true, force: true });
  };
}

/** Of backups of this box that were killed: whoever holds the work is the only one that writes one, and each is as long as a backup. */
function removeDrafts(folder: string, deviceId: string): void {
  try {
    for (const name of readdirSync(folder)) if (isDraftOf(name, deviceId)) rmSync(path.join(folder, name), { force: true });
  } catch {
    // a folder that may only be written into
  }
}

/**
 * The journal of the historian before its database: what leaves the journal meanwhile is in the database by then. `state.db` last, so that
 * it is the newest of them.
 */
async function copies(dataDir: string, work: string): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of readdirSync(dataDir).sort()) {
    if (!/^historian-journal-\d{16}\.bin$/.test(name)) continue;
    try {
      copyFileSync(path.join(dataDir, name), path.join(work, name));
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'ENOENT') continue; // its samples are in blocks now
      throw fault;
    }
    sources.push({ name, file: path.join(work, name) });
  }
  for (const name of ['historian.db', 'state.db']) {
    if (!existsSync(path.join(dataDir, name))) continue; // a box without a historian
    await copyDatabase(path.join(dataDir, name), path.join(work, name));
    sources.push({ name, file: path.join(work, name) });
  }
  return sources;
}

type Told = Pick<Manifest, 'firstStart' | 'schema' | 'head' | 'counts'>;

/** Also of a version before there was an archive. */
async function readCopy(file: string, dataDir: string): Promise<{ readonly told: Told; readonly archives: readonly Source[] }> {
  const database = new Database(file, { readonly: true });
  try {
    const tables = new Set(database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[]);
    const number = (table: string, text: string): number => (tables.has(table) ? Number(database.prepare(text).pluck().get() ?? 0) : 0);
    if (!tables.has('audit')) throw new BackupRefused(`${path.join(dataDir, 'state.db')} holds no box yet`);
    const { last } = lastRecords(database);
    const hasArchive = tables.has('audit_archives');
    const cut = hasArchive ? new ArchiveNotes(database).cut() : { sequence: 0, hash: GENESIS_HASH };
    const names = hasArchive ? (database.prepare('SELECT file FROM audit_archives ORDER BY last').pluck().all() as string[]) : [];
    const marker = parseMarker(database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(MARKER_KEY)) ?? readMarkerFile(dataDir);
    const told: Told = {
      firstStart: marker?.firstStart ?? '',
      schema: number('migrations', 'SELECT MAX(version) FROM migrations'),
      head: last ? { sequence: last.sequence, hash: last.hash.toString('hex') } : { sequence: cut.sequence, hash: cut.hash },
      counts: {
        auditRecords: number('audit', 'SELECT COUNT(*) FROM audit'),
        archivedRecords: number('audit_archives', 'SELECT SUM(records) FROM audit_archives'),
        resources: number('resources', 'SELECT COUNT(*) FROM resources'),
        facts: number('facts', 'SELECT COUNT(*) FROM facts'),
      },
    };
    const folder = archiveFolder(dataDir);
    return { told, archives: names.map((name) => ({ name: `audit-archive/${path.basename(name)}`, file: path.join(folder, path.basename(name)) })) };
  } finally {
    database.close();
  }
}

/** A file that somebody has taken away is told, and keeps nobody from a backup of the rest. */
function presentIn(archives: readonly Source[]): { readonly there: readonly Source[]; readonly missing: string[] } {
  const isFile = ({ file }: Source): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return { there: archives.filter(isFile), missing: archives.filter((source) => !isFile(source)).map(({ name }) => name) };
}

function configuration({ dataDir, configFile }: BackupWish): Source[] {
  const config = configFile !== null && existsSync(configFile) ? [{ name: 'config.yaml', file: configFile }] : [];
  return [...config, ...below(path.join(dataDir, 'opcua'), 'opcua').filter(({ name }) => isKnownName(name, 'data'))];
}

/** Plain files only: what a link leads to is not of the box. */
function below(folder: string, prefix: string): Source[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry): Source[] => {
      const [name, file] = [`${prefix}/${entry.name}`, path.join(folder, entry.name)];
      if (entry.isDirectory()) return below(file, name);
      return entry.isFile() ? [{ name, file }] : [];
    });
}

async function writeKeys(to: string, base: UnsignedManifest, keys: DeviceKeys, { dataDir, secretsDir, sealedFor }: BackupWish): Promise<void> {
  const all = [...below(path.join(dataDir, 'keys'), 'keys'), ...below(path.join(dataDir, 'opcua', 'identity'), 'opcua/identity'), ...below(secretsDir, 'secrets')];
  const sources = all.filter(({ name }) => isKnownName(name, 'keys'));
  const left = all.filter(({ name }) => name.startsWith('secrets/') && !isKnownName(name, 'keys')).map(({ name }) => name);
  const manifest = signedManifest({ ...base, content: 'keys', missing: left, files: sources.map(entryOf) }, keys);
  await writeSealed(to, manifest, sources, sealedFor);
}

function entryOf({ name, file }: Source): FileEntry {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const piece of piecesOf(file)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { name, bytes, sha256: hash.digest('hex') };
}

/** Each holds until the next is asked for. */
function* piecesOf(file: string): Generator<Buffer> {
  const fd = openSync(file, 'r');
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let read = readSync(fd, piece, 0, PIECE_BYTES, null); read > 0; read = readSync(fd, piece, 0, PIECE_BYTES, null)) yield piece.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

/** Whole or not at all under its name. @returns its bytes. */
async function writeSealed(to: string, manifest: Manifest, sources: readonly Source[], sealedFor: SealedFor): Promise<number> {
  const draft = `${to}${DRAFT}`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx', 0o600); // whatever else lies there, a link included, is not written to
  let written = 0;
  try {
    let unsynced = 0;
    for await (const piece of await sealed(packed(manifest, sources), sealedFor)) {
      for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at, piece.length - at);
      written += piece.length;
      unsynced += piece.length;
      if (unsynced < SYNC_BYTES) continue;
      fdatasyncSync(fd);
      unsynced = 0;
    }
    fsyncSync(fd);
  } catch (fault) {
    closeSync(fd);
    rmSync(draft, { force: true });
    throw fault;
  }
  closeSync(fd);
  renameSync(draft, to);
  syncFolder(path.dirname(path.resolve(to)));
  return written;
}

/** Each piece is a gzip member of its own, packed on this thread: it is the one that gives way to the plant. */
async function* packed(manifest: Manifest, sources: readonly Source[]): AsyncGenerator<Uint8Array> {
  for (const piece of joined(archived(manifest, sources))) {
    yield gzipSync(piece, { level: GZIP_LEVEL });
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function* archived(manifest: Manifest, sources: readonly Source[]): Generator<Buffer> {
  const mtimeS = Math.floor(Date.parse(manifest.createdAt) / 1000);
  const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  yield tarHeader({ name: MANIFEST_NAME, bytes: text.length }, mtimeS);
  yield text;
  yield tarPadding(text.length);
  for (const [at, { file }] of sources.entries()) {
    const told = manifest.files[at] as FileEntry;
    yield tarHeader(told, mtimeS);
    const hash = createHash('sha256');
    let bytes = 0;
    for (const piece of piecesOf(file)) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
    if (bytes !== told.bytes || hash.digest('hex') !== told.sha256) throw new BackupRefused(`${file} was changed while the backup was made; try again`);
    yield tarPadding(bytes);
  }
  yield tarEnd();
}

/** Headers and small files together. */
function* joined(pieces: Iterable<Buffer>): Generator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    held.push(Buffer.from(piece)); // it holds until the next one only
    bytes += piece.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}
