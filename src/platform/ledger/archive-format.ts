/**
 * Files of archived audit records (decisions 8.6): `audit-<first>-<last>.ndjson.gz`, one record a line with `mac` and
 * `keyId`, and a last line `{records, headHash, sha256}`. A file is a row of gzip members, one per block of records and one
 * for the trailer: every gzip program reads it as one text, and a search opens only the blocks it needs (ADR 0013).
 *
 * The line of a record holds the hashed bytes as they are, so it verifies after it has been taken apart.
 */
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { auditName } from '../base/audit-name.js';
import type { RecordColumns, SealedRow } from './audit-row.js';
import { servedAudit } from './chain.js';
import { KeyFilter } from './key-filter.js';

export const BLOCK_RECORDS = 512;
const BLOCK_BYTES_MAX = 256 * 1024 * 1024; // a block that claims to hold more is none of ours

/** Where a block lies, and what can be in it. */
export interface ArchiveBlock {
  readonly first: number;
  readonly last: number;
  readonly file: string;
  /** Bytes of the file. */
  readonly start: number;
  readonly bytes: number;
  /** Length and SHA-256 (hex) of its text; null in the register of a file that was written before they were noted. */
  readonly textBytes: number | null;
  readonly sha256: string | null;
  /** Wall ms, both inclusive. */
  readonly fromAt: number;
  readonly toAt: number;
  readonly sites: readonly string[];
  /** Targets and correlations in it: a `KeyFilter`. */
  readonly keys: Uint8Array;
}

/** What `state.db` keeps of a file. */
export interface ArchiveNote {
  readonly first: number;
  readonly last: number;
  readonly file: string;
  readonly records: number;
  /** Of the record before the first; hex. */
  readonly previousHash: string;
  /** Of the last record; hex. */
  readonly headHash: string;
  /** Of the lines before the trailer, each with its end of line; hex. */
  readonly sha256: string;
}

export interface ArchiveDraft {
  readonly note: ArchiveNote;
  readonly blocks: readonly ArchiveBlock[];
  /** Files that stood in its way and may hold what nobody else has: they are kept by these names. */
  readonly aside: readonly string[];
}

export interface Trailer {
  readonly records: number;
  readonly headHash: string;
  readonly sha256: string;
}

/** Nothing is added to a file once it is there: a new one gets a name of its own. */
export function archiveFolder(dataDir: string): string {
  return path.join(dataDir, 'audit-archive');
}

export function archiveFileName(first: number, last: number): string {
  return `${auditName(first)}-${auditName(last).slice('audit-'.length)}.ndjson.gz`;
}

export function archiveLine(row: SealedRow): string {
  const mac = Buffer.isBuffer(row.mac) ? row.mac.toString('base64') : ''; // whatever somebody has put in its place
  return `${servedAudit(row.body, row.hash).slice(0, -1)},"mac":"${mac}","keyId":${JSON.stringify(row.key_id)}}\n`;
}

const SEAL = /,"hash":"([0-9a-f]{64})","mac":"([A-Za-z0-9+/=]*)","keyId":("[^"\\]*")\}$/;

/** A row as a file gives it. */
export interface ArchivedRow extends SealedRow {
  readonly record: ParsedRecord;
}

/** Null for a line that no archive of ours holds. */
export function readLine(line: string): ArchivedRow | null {
  const seal = SEAL.exec(line);
  if (!seal) return null;
  const body = `${line.slice(0, seal.index)}}`;
  const record = recordOf(body);
  if (!record || typeof record.sequence !== 'number') return null;
  return {
    sequence: record.sequence,
    record,
    body,
    hash: Buffer.from(seal[1] as string, 'hex'),
    mac: Buffer.from(seal[2] as string, 'base64'),
    key_id: JSON.parse(seal[3] as string) as string,
  };
}

export type ParsedRecord = Readonly<Record<string, unknown>>;

export function recordOf(body: string): ParsedRecord | null {
  try {
    const record: unknown = JSON.parse(body);
    return typeof record === 'object' && record !== null ? (record as ParsedRecord) : null;
  } catch {
    return null;
  }
}

export function columnsOf(record: ParsedRecord): RecordColumns {
  const target = (record.target ?? {}) as ParsedRecord;
  return {
    at: Date.parse(String(record.timestamp)),
    site: String(record.site),
    action: String(record.action),
    category: String(record.category),
    result: String(record.result),
    kind: String(target.kind),
    name: String(target.name),
    account: String(record.accountId),
    correlation: String(record.correlationID),
  };
}

export function targetKey(kind: string, name: string): string {
  return `t${kind}\0${name}`;
}

export function correlationKey(id: string): string {
  return `c${id}`;
}

/** What a search is told of a block; `keys` is enough for the records given. */
export function summaryOf(rows: readonly RecordColumns[]): Pick<ArchiveBlock, 'fromAt' | 'toAt' | 'sites' | 'keys'> {
  const keys = new Set<string>();
  for (const { kind, name, correlation } of rows) keys.add(targetKey(kind, name)).add(correlationKey(correlation));
  return {
    fromAt: Math.min(...rows.map((row) => row.at)),
    toAt: Math.max(...rows.map((row) => row.at)),
    sites: [...new Set(rows.map((row) => row.site))],
    keys: KeyFilter.of(keys).bytes,
  };
}

export function trailerLine({ records, headHash, sha256 }: Trailer): string {
  return `${JSON.stringify({ records, headHash, sha256 })}\n`;
}

export function readTrailer(text: string): Trailer | null {
  const trailer = recordOf(text);
  const { records, headHash, sha256 } = trailer ?? {};
  return typeof records === 'number' && typeof headHash === 'string' && typeof sha256 === 'string' ? { records, headHash, sha256 } : null;
}

const packed = promisify(gzip);
const unpacked = promisify(gunzip) as (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

export function pack(text: string): Promise<Buffer> {
  return packed(text);
}

/**
 * The text of a part of the file.
 * @throws Error when the file ends before it, it is no whole gzip member, or unpacks to more than it may hold.
 */
export async function readPart(file: FileHandle, start: number, bytes: number, textBytesMax: number | null = null): Promise<string> {
  if (bytes > BLOCK_BYTES_MAX) throw new Error('the part is too long');
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(buffer, at, bytes - at, start + at);
    if (bytesRead === 0) throw new Error('the file ends too early');
    at += bytesRead;
  }
  return (await unpacked(buffer, { maxOutputLength: Math.min(textBytesMax ?? BLOCK_BYTES_MAX, BLOCK_BYTES_MAX) })).toString('utf8');
}
