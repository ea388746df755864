/**
 * Verification of the audit chain (decisions 8.6): walks sequence order and names every record that is missing, does not
 * link to the one before, does not match its hash, or was not sealed with the key of this appliance. Works in slices, so
 * that a million records keep nobody else waiting.
 */
import type { WallMs } from '../base/times.js';
import type Database from '../base/sqlite.js';
import { auditName } from '../base/audit-name.js';
import { ArchiveNotes, type Cut, isNoteGenuine } from './archive-notes.js';
import type { AuditTableRow } from './audit-row.js';
import { AuditSearch } from './audit-search.js';
import { GENESIS_HASH, hashOf, hexOf, isHeadGenuine, isStored, macOf, type SignedHead } from './chain.js';
import { isCount } from './counts.js';
import { type ChainEnd, readHeadFile } from './head-file.js';
import { type Gap, readGaps } from './gaps.js';
import { type DeviceKeys, publicKeyOf } from './keys.js';
import type { ChainProblem } from './problems.js';
import { areGapsRecorded, sealedHead } from './row-seals.js';

const SLICE_RECORDS = 2000;
const PROBLEMS_MAX = 1000; // the answer stays readable; `ok` is false from the first one on

export interface Verification {
  readonly ok: boolean;
  readonly checked: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly headHash: string;
  /** Last record that is in the files of the archive only, which `verify-archived` looks at; 0 when nothing is archived. */
  readonly archivedTo: number;
  readonly checkedAt: string;
  readonly problems: readonly { readonly sequence: number; readonly name: string; readonly problem: ChainProblem }[];
  /** What starts found wrong with the stored past: `ok` is false until each is acknowledged, and they stay here afterwards (D-C-09). */
  readonly gaps: readonly Gap[];
}

/** Records that the index would not find by their target, correlation, site or time, though it claims to cover them. */
const UNFINDABLE = `
  SELECT sequence FROM audit a WHERE sequence BETWEEN ? AND ? AND sequence <= (SELECT COALESCE(MAX(last), 0) FROM audit_spans) AND NOT (
    EXISTS (SELECT 1 FROM audit_targets WHERE kind = a.kind AND name = a.name AND sequence = a.sequence)
    AND EXISTS (SELECT 1 FROM audit_correlations WHERE correlation = a.correlation AND sequence = a.sequence)
    AND EXISTS (SELECT 1 FROM audit_spans s JOIN audit_sites i ON i.last = s.last AND i.site = a.site
      WHERE s.last = (SELECT MIN(last) FROM audit_spans WHERE last >= a.sequence) AND s.first <= a.sequence AND a.at BETWEEN s.from_at AND s.to_at))`;

/** Of a whole trail also those that stand at no record of the table: of the archive only the ends of its files have one, which are looked at with them. */
const HEADS = `
  SELECT * FROM audit_heads WHERE (sequence BETWEEN @first AND @last) OR (@isWhole AND sequence NOT IN (SELECT last FROM audit_archives))`;

interface Span {
  /** First and last sequence that must be there; last < first when nothing is in the range. */
  readonly first: number;
  readonly last: number;
}

export class ChainVerifier {
  readonly #database: Database.Database;
  readonly #keys: DeviceKeys;
  readonly #headFile: string;
  readonly #problems: { sequence: number; name: string; problem: ChainProblem }[] = [];
  /** Gaps that somebody has acknowledged: what they explain is shown by them. */
  #known: readonly Gap[] = [];

  constructor(database: Database.Database, keys: DeviceKeys, headFile: string) {
    this.#database = database;
    this.#keys = keys;
    this.#headFile = headFile;
  }

  /** `pause` is awaited between slices. */
  async verify(range: { readonly fromMs?: WallMs; readonly toMs?: WallMs }, pause: () => Promise<void>): Promise<Verification> {
    const gaps = readGaps(this.#database);
    const acknowledged = gaps.filter((gap) => gap.acknowledged !== null);
    this.#known = areGapsRecorded(this.#database, this.#keys.auditHmac) ? acknowledged : [];
    const reached = sealedHead(this.#database, this.#keys.auditHmac); // before the file: it is never ahead of it
    const end = readHeadFile(this.#headFile, this.#keys.auditHmac); // before the records: it is never ahead of them
    const notes = new ArchiveNotes(this.#database);
    const cut = notes.cut();
    const span = this.#span(range, Math.max(end?.sequence ?? 0, reached?.sequence ?? 0), cut);
    if (range.fromMs === undefined) this.#checkNotes(notes, cut);
    const slice = this.#database.prepare('SELECT * FROM audit WHERE sequence BETWEEN ? AND ? ORDER BY sequence LIMIT ?');
    const before = this.#database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck();
    const unfindable = this.#database.prepare(UNFINDABLE).pluck();
    let next = span.first;
    let previous: string | null = span.first === cut.sequence + 1 ? cut.hash : hexOf(before.get(span.first - 1)) || null;
    let checked = 0;
    let headHash = previous ?? GENESIS_HASH;
    while (next <= span.last) {
      const seen = this.#database.transaction(() => ({ cut: notes.cut(), rows: slice.all(next, span.last, SLICE_RECORDS) as AuditTableRow[] }))();
      const { rows } = seen;
      if (seen.cut.sequence >= next) {
        next = seen.cut.sequence + 1; // archived since this walk began
        previous = seen.cut.hash;
      }
      const lost = new Set(unfindable.all(rows.at(0)?.sequence ?? 0, rows.at(-1)?.sequence ?? 0) as number[]);
      for (const row of rows) {
        if (row.sequence > next) {
          this.#reportMissing(next, row.sequence - 1);
          previous = null; // what the missing record's hash was, nobody can say
        }
        this.#checkRow(row, previous, !lost.has(row.sequence));
        previous = hexOf(row.hash);
        headHash = previous;
        next = row.sequence + 1;
        checked += 1;
      }
      if (rows.length < SLICE_RECORDS) break;
      await pause();
    }
    this.#reportMissing(next, span.last);
    this.#checkHeads(span, range.fromMs === undefined && range.toMs === undefined);
    this.#checkEnd(end, reached, range, span);
    this.#problems.sort((a, b) => a.sequence - b.sequence);
    return {
      ok: this.#problems.length === 0 && acknowledged.length === gaps.length,
      checked,
      firstSequence: span.last < span.first ? 0 : span.first,
      lastSequence: span.last < span.first ? 0 : span.last,
      headHash,
      archivedTo: cut.sequence,
      checkedAt: new Date().toISOString(),
      problems: this.#problems,
      gaps,
    };
  }

  /** What is not in the table is in a file that a genuine note names, from the first record to the cut. */
  #checkNotes(notes: ArchiveNotes, { sequence: cut, hash, isDamaged }: Cut): void {
    if (isDamaged) this.#report(cut + 1, 'link');
    for (let next = 1; next <= cut; ) {
      const note = notes.noteFrom(next);
      this.#reportMissing(next, Math.min(cut, note ? note.first - 1 : cut));
      if (!note) return;
      if (!isNoteGenuine(note, this.#keys.auditHmac)) this.#report(note.last, 'signature');
      else if (note.last === cut && note.headHash !== hash) this.#report(cut, 'link');
      next = note.last + 1;
    }
  }

  /** @param end What the trail had reached at least. */
  #span(range: { readonly fromMs?: WallMs; readonly toMs?: WallMs }, end: number, cut: Cut): Span {
    const last = (this.#database.prepare('SELECT COALESCE(MAX(sequence), 0) FROM audit').pluck().get() as number) ?? 0;
    const first = cut.sequence + 1;
    if (range.fromMs === undefined && range.toMs === undefined) return { first, last: Math.max(last, end) };
    const search = new AuditSearch(this.#database);
    const [oldest] = search.rows(range, { order: 'asc', limit: 1 });
    const [newest] = search.rows(range, { order: 'desc', limit: 1 });
    if (!oldest || !newest) return { first: 1, last: 0 };
    return { first: range.fromMs === undefined ? first : oldest.sequence, last: range.toMs === undefined ? Math.max(last, end) : newest.sequence };
  }

  #checkRow(row: AuditTableRow, previous: string | null, found: boolean): void {
    const record = parse(row.body);
    if (!found || !isStored(row.hash, hashOf(row.body)) || !record || !agrees(row, record)) this.#report(row.sequence, 'hash');
    if (previous !== null && record?.previousHash !== previous) this.#report(row.sequence, 'link');
    if (row.key_id !== this.#keys.auditKeyId || !isSealed(row, this.#keys.auditHmac)) this.#report(row.sequence, 'signature');
  }

  #checkHeads(span: Span, isWhole: boolean): void {
    const hashAt = this.#database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck();
    const heads = this.#database.prepare(HEADS).iterate({ ...span, isWhole: Number(isWhole) }) as IterableIterator<SignedHead>;
    const wrong: number[] = [];
    const named: [number, string][] = [];
    for (const head of heads) {
      const key = publicKeyOf(this.#keys, head.kid);
      if (!key || !isHeadGenuine(head, key)) wrong.push(head.sequence);
      else named.push([head.sequence, head.hash]);
    }
    for (const [sequence, hash] of named) {
      const stored = hashAt.get(sequence);
      if (stored !== undefined && hexOf(stored) !== hash) wrong.push(sequence);
    }
    for (const sequence of wrong) this.#report(isCount(sequence) ? sequence : span.last, 'signature');
  }

  /** The end of the chain against the head file, when the range reaches the end. */
  #checkEnd(end: ChainEnd | null, reached: ChainEnd | null, range: { readonly toMs?: WallMs }, span: Span): void {
    if (range.toMs !== undefined || span.last < span.first) return;
    if (!end) return this.#report(span.last, 'signature');
    if (reached && end.sequence < reached.sequence) this.#report(reached.sequence, 'signature'); // an older copy of the file
    if (end.sequence === 0) return;
    const stored = this.#database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck().get(end.sequence);
    if (stored !== undefined && hexOf(stored) !== end.hash) this.#report(end.sequence, 'signature');
  }

  #reportMissing(first: number, last: number): void {
    for (let sequence = first; sequence <= last && this.#problems.length < PROBLEMS_MAX; sequence += 1) this.#report(sequence, 'missing');
  }

  #report(sequence: number, problem: ChainProblem): void {
    if (this.#known.some(({ first, last, covers }) => sequence >= first && sequence <= last && covers.includes(problem))) return;
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ sequence, name: auditName(sequence), problem });
  }
}

type Parsed = Readonly<Record<string, unknown>> & { readonly previousHash?: unknown };

function isSealed({ hash, mac }: AuditTableRow, key: Buffer): boolean {
  return Buffer.isBuffer(hash) && isStored(mac, macOf(hash, key));
}

function parse(body: string): Parsed | null {
  try {
    return JSON.parse(body) as Parsed;
  } catch {
    return null;
  }
}

/** The columns only find records; what they say must be what the hashed body says. */
function agrees(row: AuditTableRow, record: Parsed): boolean {
  const target = record.target as { kind?: unknown; name?: unknown } | undefined;
  return (
    record.sequence === row.sequence &&
    record.name === auditName(row.sequence) &&
    Date.parse(String(record.timestamp)) === row.at &&
    record.site === row.site &&
    record.action === row.action &&
    record.category === row.category &&
    record.result === row.result &&
    target?.kind === row.kind &&
    target?.name === row.name &&
    record.accountId === row.account &&
    record.correlationID === row.correlation
  );
}
