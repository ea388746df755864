/**
 * What a start finds in its data directory before it opens anything (D-C-09): whether an appliance lived there, whether
 * `state.db` is there, readable and as long as it once was, and whether the keys and the copies of the head are those of
 * before. Reads only: what is wrong is told, and changed by nobody who has not been told.
 */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Needed, type Obstacle, obstacleOf } from '../base/data-file.js';
import Database from '../base/sqlite.js';
import { hexOf } from './chain.js';
import { countIn, isNextOf, lastRecords, type LostFacts, lostFacts, lostInWords, presentOf, type StreamCount, streamCounts } from './counts.js';
import type { Finding } from './gaps.js';
import { type ChainEnd, headFileOf, isHeadFileUsed, olderHead, readHeadFile, readStreamEnds } from './head-file.js';
import { sealedHead } from './row-seals.js';
import { type DeviceKeys, openDeviceKeys, storedKeysOf } from './keys.js';
import { MARKER_KEY, type Marker, markerFileOf, parseMarker, readMarkerFile } from './marker.js';

/** A whole check of a larger file would keep the plant waiting: it is made after the start (queries.ts). */
const CHECK_AT_START_BYTES_MAX = 64 * 1024 * 1024;

export interface Inspection {
  /** Why the appliance cannot go on as the one it was, in sentences; empty: it can. */
  readonly losses: readonly string[];
  /** What is noted as a gap, the losses that somebody accepts among them. */
  readonly findings: readonly Finding[];
  /** Whether `state.db` can be worked with at all. */
  readonly usable: boolean;
  /** Whether the whole of `state.db` was checked. */
  readonly checked: boolean;
  /** What is not a file of ours, by its name in the data directory: out of the way before anything is written. */
  readonly inTheWay: readonly string[];
  /** Only this process is kept from the files: nobody goes on without what may be whole. */
  readonly isOutOfReach: boolean;
}

const DATABASE = 'state.db';
const HEAD = 'audit-head';
const MARKER = 'keys/appliance.json';
type Names = readonly (readonly [name: string, needed: Needed])[];
/** Without these nothing can be gone on with. */
const NEEDED: Names = [
  ['keys', { as: 'folder', to: 'read' }],
  ['keys/audit-hmac', { to: 'read' }],
  ['keys/device-ed25519.pem', { to: 'read' }],
  [DATABASE, { to: 'write' }],
  [`${DATABASE}-wal`, { to: 'write' }],
  [`${DATABASE}-shm`, { to: 'write' }],
];
/** These can be made again. */
const COPIES: Names = [
  [HEAD, { to: 'write' }],
  [MARKER, { to: 'read' }],
];

interface Stored {
  readonly end: ChainEnd;
  readonly hashAt: (sequence: number) => string | undefined;
  readonly heads: number;
  readonly lastSigned: number;
  /** What `audit-head` had reached. */
  readonly sealedHead: ChainEnd | null;
  /** Of the audit key that the last record in the table was sealed with; '' where there is none. */
  readonly auditKeyId: string;
  readonly marker: Marker | null;
  /** An audit record whose number is not its own. */
  readonly misnumbered: { readonly sequence: number; readonly own: number } | undefined;
  /** `resourceVersion` of `meta` where it is no number. */
  readonly damagedVersion: string | undefined;
  readonly damagedStreams: readonly StreamCount[];
  readonly lostFacts: readonly LostFacts[];
}

export function inspectDataDir(dataDir: string): Inspection {
  const obstacles = obstaclesIn(dataDir, NEEDED);
  const copies = obstaclesIn(dataDir, COPIES);
  const all = new Map([...obstacles, ...copies]);
  const outOfReach = [...all.values()].filter(({ isOutOfReach }) => isOutOfReach);
  if (outOfReach.length > 0) return { losses: outOfReach.map(sentence), findings: [], usable: true, checked: false, inTheWay: [], isOutOfReach: true };
  const inTheWay = [...all.keys()];
  if (obstacles.size === 0) return { ...inspectFiles(dataDir, copies), inTheWay, isOutOfReach: false };
  const last = readMarkerFile(dataDir)?.head.sequence ?? 0;
  const isStateLost = [...obstacles.keys()].some((name) => name.startsWith(DATABASE));
  const findings = [...all].map(([name, obstacle]) => {
    const text = sentence(obstacle);
    if (name.startsWith(DATABASE)) return loss(text, 1, last);
    if (name.startsWith('keys') && name !== MARKER) return keysLost(`${text}: a new one is made`, last);
    return told(name === HEAD ? 'head' : 'marker', text, last);
  });
  return { losses: [...obstacles.values()].map(sentence), findings, usable: !isStateLost, checked: false, inTheWay, isOutOfReach: false };
}

function obstaclesIn(dataDir: string, names: Names): Map<string, Obstacle> {
  const found = new Map<string, Obstacle>();
  for (const [name, needed] of names) {
    const obstacle = found.has(path.dirname(name)) ? undefined : obstacleOf(path.join(dataDir, name), needed); // below what is no folder there is nothing
    if (obstacle) found.set(name, obstacle);
  }
  return found;
}

function sentence({ file, is }: Obstacle): string {
  return `${file} ${is}`;
}

/** @param odd copies of the head that are no files. */
function inspectFiles(dataDir: string, odd: ReadonlyMap<string, Obstacle>): Omit<Inspection, 'inTheWay' | 'isOutOfReach'> {
  const file = path.join(dataDir, DATABASE);
  const { hasHmac, hasDeviceKey } = storedKeysOf(dataDir);
  const keys = hasHmac && hasDeviceKey ? openDeviceKeys(dataDir) : null;
  const fileMarker = readMarkerFile(dataDir);
  const headUsed = isHeadFileUsed(headFileOf(dataDir));
  const bytes = existsSync(file) ? statSync(file).size : 0;
  if (bytes === 0) {
    if (!fileMarker && !headUsed) return { losses: [], findings: [], usable: true, checked: true };
    const head = keys ? knownHead(dataDir, keys, [fileMarker]) : (fileMarker?.head ?? null);
    const text = `${file} is ${existsSync(file) ? 'empty' : 'missing'}, and this data directory held the appliance ${fileMarker?.deviceId ?? 'that wrote its audit-head'}: all that was stored is lost`;
    return { losses: [text], findings: [loss(text, 1, head?.sequence ?? 0), ...keyFindings(dataDir, head?.sequence ?? 0)], usable: true, checked: true };
  }
  const checked = bytes <= CHECK_AT_START_BYTES_MAX;
  let stored: Stored;
  try {
    stored = readStored(file, keys);
  } catch (fault) {
    const head = keys ? knownHead(dataDir, keys, [fileMarker]) : (fileMarker?.head ?? null);
    const text = `${file} cannot be read: ${(fault as Error).message}`;
    return { losses: [text], findings: [loss(text, 1, head?.sequence ?? 0), ...keyFindings(dataDir, head?.sequence ?? 0)], usable: false, checked };
  }
  const { end, marker } = stored;
  const findings: Finding[] = [];
  const losses: string[] = [];
  const lived = end.sequence > 0 || marker !== null;
  if (lived) findings.push(...keyFindings(dataDir, end.sequence));
  if (stored.misnumbered) {
    const { sequence, own } = stored.misnumbered;
    const text = `audit record ${own} has the number ${sequence} in ${file}, which nothing can follow: the number was damaged`;
    losses.push(text);
    findings.push(loss(text, own, own));
  }
  if (stored.damagedVersion !== undefined)
    findings.push(
      told(
        'number',
        `the last resource version in ${file} is ${stored.damagedVersion}, which is no number: the one that is sealed, or the highest there is, is counted on from`,
        0,
      ),
    );
  for (const { stream, last, counted } of stored.damagedStreams)
    findings.push(told('number', `stream ${stream} in ${file} counts to ${String(last)} and its last entry is ${counted}: it is counted on from its last entry`, 0));
  const head = keys ? knownHead(dataDir, keys, [fileMarker, marker]) : newest([fileMarker?.head, marker?.head]);
  const reached = Math.max(head?.sequence ?? 0, stored.lastSigned, stored.sealedHead?.sequence ?? 0);
  if (reached > end.sequence) {
    const text = `${file} ends at audit record ${end.sequence}, and the trail had reached ${reached}: what was written last is missing, or an older copy was put in place`;
    losses.push(text);
    findings.push(loss(text, end.sequence + 1, reached));
  } else if (head && head.sequence > 0) {
    const hash = stored.hashAt(head.sequence);
    if (hash !== undefined && hash !== head.hash) findings.push(told('head', `audit record ${head.sequence} in ${file} is not the one that its head names`, head.sequence));
  }
  if (stored.lostFacts.length > 0) {
    const text = factsLostText(file, stored.lostFacts);
    losses.push(text);
    findings.push(loss(text, 0, 0));
  }
  if (keys && marker && marker.deviceId !== keys.deviceId)
    findings.push(keysLost(`${file} is that of appliance ${marker.deviceId}, and the keys are those of ${keys.deviceId}`, end.sequence));
  if (keys && stored.auditKeyId !== '' && stored.auditKeyId !== keys.auditKeyId)
    findings.push(keysLost(`the records up to ${end.sequence} were sealed with another audit key than keys/audit-hmac: it was damaged or exchanged`, end.sequence));
  const headOfFile = keys && readHeadFile(headFileOf(dataDir), keys.auditHmac);
  if (headOfFile && stored.sealedHead && headOfFile.sequence < stored.sealedHead.sequence)
    findings.push(told('head', olderHead(headOfFile, stored.sealedHead), stored.sealedHead.sequence));
  if (keys && end.sequence > 0 && !headOfFile)
    findings.push(
      told('head', `the file audit-head ${odd.get(HEAD)?.is ?? 'is missing or not genuine'}: the end of the audit trail, record ${end.sequence}, cannot be checked`, end.sequence),
    );
  const heads = Math.max(fileMarker?.heads ?? 0, marker?.heads ?? 0);
  if (stored.heads === 0 && heads > 0) findings.push(told('heads', `the signed heads of the audit trail are gone, ${heads} of them, at record ${end.sequence}`, end.sequence));
  if (marker && !fileMarker) findings.push(told('marker', `${markerFileOf(dataDir)} ${odd.get(MARKER)?.is ?? 'is missing or damaged'}, at record ${end.sequence}`, end.sequence));
  if (fileMarker && !marker) findings.push(told('marker', `${file} does not say which appliance it is of, and was that of ${fileMarker.deviceId}`, end.sequence));
  if (checked) {
    const damage = quickCheck(file);
    if (damage !== null) {
      const text = `${file} is damaged: ${damage}`;
      losses.push(text);
      findings.push(loss(text, 0, 0));
    }
  }
  return { losses, findings, usable: true, checked };
}

/** The first thing that is wrong with the structure of the file; null when nothing. */
export function quickCheck(file: string): string | null {
  try {
    const database = new Database(file, { readonly: true, timeout: 5000 });
    try {
      const said = database.pragma('quick_check(1)', { simple: true }) as string;
      return said === 'ok' ? null : said.replaceAll('\n', '; ');
    } finally {
      database.close();
    }
  } catch (fault) {
    return (fault as Error).message;
  }
}

/** Reads what a start will read, so that what cannot be is known before. @throws Error of SQLite. */
function readStored(file: string, keys: DeviceKeys | null): Stored {
  const database = new Database(file, { readonly: true, timeout: 5000 });
  try {
    const tables = new Set(database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[]);
    if (!tables.has('audit'))
      return {
        end: { sequence: 0, hash: '' },
        hashAt: () => undefined,
        heads: 0,
        lastSigned: 0,
        sealedHead: null,
        auditKeyId: '',
        marker: null,
        misnumbered: undefined,
        damagedVersion: undefined,
        damagedStreams: [],
        lostFacts: [],
      };
    const number = (table: string, text: string): number => (tables.has(table) ? Number(database.prepare(text).pluck().get() ?? 0) : 0);
    for (const table of ['resources', 'streams', 'nonce_groups', 'migrations']) {
      if (!tables.has(table)) continue;
      const condition = table === 'resources' || table === 'streams' ? presentOf(database, table) : ''; // a start does not read the past
      for (const _ of database.prepare(`SELECT * FROM ${table}${condition}`).raw().iterate()) void _;
    }
    const archived = number('audit_archives', 'SELECT MAX(last) FROM audit_archives');
    const records = lastRecords(database);
    const isOnlyMisnumbered = isNextOf(records, archived); // accepted, it gets its own number again and nothing is missing
    const last = isOnlyMisnumbered && records.misnumbered ? { ...records.misnumbered, sequence: records.misnumbered.own } : records.last;
    const end = { sequence: Math.max(last?.sequence ?? 0, archived), hash: hexOf(last?.hash) };
    const hashes = new Map<number, string | undefined>();
    const heads = number('audit_heads', 'SELECT COUNT(*) FROM audit_heads');
    const marker = tables.has('meta') ? parseMarker(database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(MARKER_KEY)) : null;
    for (const sequence of hashesWanted(file, keys, marker)) {
      hashes.set(sequence, hexOf(database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck().get(sequence)) || undefined);
    }
    const lastSigned = number('audit_heads', 'SELECT MAX(sequence) FROM audit_heads');
    const version = tables.has('meta') ? (database.prepare("SELECT value FROM meta WHERE key = 'resourceVersion'").pluck().get() as unknown) : undefined;
    const damagedVersion = version !== undefined && countIn(version) === undefined ? String(version) : undefined;
    const damagedStreams = tables.has('streams') && tables.has('facts') ? streamCounts(database).filter(({ isSound }) => !isSound) : [];
    const { misnumbered } = records;
    const isKnown = keys !== null && tables.has('streams') && tables.has('facts');
    const lost = isKnown ? lostFacts(database, readStreamEnds(headFileOf(path.dirname(file)), keys.auditHmac)) : [];
    return {
      end,
      hashAt: (sequence) => hashes.get(sequence),
      heads,
      lastSigned,
      sealedHead: keys && tables.has('meta') ? sealedHead(database, keys.auditHmac) : null,
      auditKeyId: last?.keyId ?? '',
      marker,
      misnumbered,
      damagedVersion,
      damagedStreams,
      lostFacts: lost,
    };
  } finally {
    database.close();
  }
}

/** Records that some copy of the head may name. */
function hashesWanted(file: string, keys: DeviceKeys | null, marker: Marker | null): number[] {
  const dataDir = path.dirname(file);
  const head = keys ? readHeadFile(headFileOf(dataDir), keys.auditHmac) : null;
  return [marker?.head.sequence, readMarkerFile(dataDir)?.head.sequence, head?.sequence].filter((sequence): sequence is number => sequence !== undefined);
}

function knownHead(dataDir: string, keys: DeviceKeys, markers: readonly (Marker | null)[]): ChainEnd | null {
  return newest([readHeadFile(headFileOf(dataDir), keys.auditHmac) ?? undefined, ...markers.map((marker) => marker?.head)]);
}

function newest(heads: readonly (ChainEnd | undefined)[]): ChainEnd | null {
  return heads.reduce<ChainEnd | null>((best, head) => (head && (!best || head.sequence > best.sequence) ? head : best), null);
}

function keyFindings(dataDir: string, last: number): Finding[] {
  const { hasHmac, hasDeviceKey } = storedKeysOf(dataDir);
  const findings: Finding[] = [];
  if (!hasHmac)
    findings.push(
      keysLost(`the audit key keys/audit-hmac is missing and a new one is made: nobody can tell whether the records up to ${last} were sealed by this appliance`, last),
    );
  if (!hasDeviceKey)
    findings.push(
      keysLost(
        `the device key keys/device-ed25519.pem is missing and a new one is made: the appliance has another device id, and signed heads up to record ${last} cannot be checked`,
        last,
      ),
    );
  return findings;
}

export function factsLostText(file: string, lost: readonly LostFacts[]): string {
  return `${file} does not hold all facts that had been written, missing are ${lost.map(lostInWords).join(', ')}: what was written last was lost, or an older copy was put in place`;
}

/** That nothing of what was stored can be gone on with. */
export function lostWhole(text: string, dataDir: string): Finding {
  return loss(text, 1, readMarkerFile(dataDir)?.head.sequence ?? 0);
}

function loss(text: string, first: number, last: number): Finding {
  return { kind: 'loss', text, first: last === 0 ? 0 : first, last, covers: ['missing'] };
}

function keysLost(text: string, last: number): Finding {
  return { kind: 'keys', text, first: last === 0 ? 0 : 1, last, covers: ['signature'] };
}

function told(kind: Finding['kind'], text: string, at: number): Finding {
  return { kind, text, first: at, last: at, covers: kind === 'head' ? ['signature'] : [] };
}
