/**
 * What can be verified of a trail without the audit key: that every record has its hash and links to the one before, in the archive and in
 * the table, and that the heads are those that the device key has signed. Who has sealed a record only the audit key tells.
 */
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { KeyObject } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import type Database from '../base/sqlite.js';
import { readLine, readTrailer } from '../ledger/archive-format.js';
import { ArchiveNotes } from '../ledger/archive-notes.js';
import type { SealedRow } from '../ledger/audit-row.js';
import { GENESIS_HASH, hashOf, isHeadGenuine, type SignedHead } from '../ledger/chain.js';

const PROBLEMS_MAX = 20;
const ROWS_AT_ONCE = 2000;

export interface KeylessVerification {
  readonly checked: number;
  readonly archived: number;
  readonly heads: number;
  /** In sentences. */
  readonly problems: readonly string[];
}

export async function verifyWithoutKey(database: Database.Database, folder: string, publicKey: KeyObject, missing: readonly string[]): Promise<KeylessVerification> {
  const chain = new Chain();
  const notes = new ArchiveNotes(database);
  const cut = notes.cut();
  let archived = 0;
  for (let next = 1; next <= cut.sequence; ) {
    const note = notes.noteFrom(next);
    if (!note) {
      chain.lost(next, cut.sequence);
      break;
    }
    const name = path.basename(note.file);
    if (missing.some((file) => path.basename(file) === name)) {
      chain.lost(note.first, note.last);
      chain.goOnFrom(note.last, note.headHash);
    } else archived += await readArchive(path.join(folder, name), chain);
    next = note.last + 1;
  }
  const slice = database.prepare('SELECT sequence, body, hash, mac, key_id FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?');
  let checked = 0;
  for (let after = cut.sequence; ; ) {
    const rows = slice.all(after, ROWS_AT_ONCE) as SealedRow[];
    for (const row of rows) chain.take(row);
    checked += rows.length;
    after = rows.at(-1)?.sequence ?? after;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  const heads = database.prepare('SELECT * FROM audit_heads ORDER BY sequence').all() as SignedHead[];
  const hashAt = database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck();
  for (const head of heads) {
    const stored = (hashAt.get(head.sequence) as Buffer | undefined)?.toString('hex');
    if (!isHeadGenuine(head, publicKey) || (stored !== undefined && stored !== head.hash)) chain.tell(`the signed head at audit record ${head.sequence} is not genuine`);
  }
  return { checked, archived, heads: heads.length, problems: chain.problems };
}

class Chain {
  readonly problems: string[] = [];
  #sequence = 0;
  #hash: string = GENESIS_HASH;

  take({ sequence, body, hash }: SealedRow): void {
    if (sequence !== this.#sequence + 1) this.lost(this.#sequence + 1, sequence - 1);
    else if (previousOf(body) !== this.#hash) this.tell(`audit record ${sequence} does not link to the one before`);
    if (!hashOf(body).equals(hash)) this.tell(`audit record ${sequence} does not have its hash`);
    this.goOnFrom(sequence, hash.toString('hex'));
  }

  lost(first: number, last: number): void {
    this.tell(`audit records ${first} to ${last} are missing`);
  }

  goOnFrom(sequence: number, hash: string): void {
    this.#sequence = sequence;
    this.#hash = hash;
  }

  tell(problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem);
  }
}

function previousOf(body: string): unknown {
  try {
    return (JSON.parse(body) as { readonly previousHash?: unknown }).previousHash;
  } catch {
    return undefined;
  }
}

/** @returns how many records it holds. */
async function readArchive(file: string, chain: Chain): Promise<number> {
  let records = 0;
  try {
    const lines = createInterface({ input: createReadStream(file).pipe(createGunzip()), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) {
      const row = readLine(line);
      if (row) {
        chain.take(row);
        records += 1;
      } else if (!readTrailer(line)) chain.tell(`${path.basename(file)} holds a line that is no record, behind ${records}`);
    }
  } catch (fault) {
    chain.tell(`${path.basename(file)} cannot be read (${(fault as Error).message})`);
  }
  return records;
}
