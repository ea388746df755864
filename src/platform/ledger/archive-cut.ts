/**
 * Takes archived records out of the table, on the ledger thread. First the file is noted, in one transaction; from then on
 * its rows are deleted slice by slice, each slice in one transaction with the cut that moves behind it. A slice is small,
 * because commits wait for it; a crash between two slices goes on with the next one.
 */
import type Database from '../base/sqlite.js';
import type { ArchiveDraft } from './archive-format.js';
import { ArchiveNotes, CUT_AT, CUT_HASH, macOfNote } from './archive-notes.js';
import { hexOf, signHead } from './chain.js';
import type { DeviceKeys } from './keys.js';
import type { RowSeals } from './row-seals.js';

const SLICE_RECORDS = 64; // some 600 kB of WAL, a few milliseconds
const PAGE_BYTES = 4096;
const PAGES_PER_RECORD = 2; // one of an index that is scattered, and its share of the rest

export class ArchiveCut {
  readonly #database: Database.Database;
  readonly #keys: DeviceKeys;
  readonly #notes: ArchiveNotes;
  readonly #seals: RowSeals;
  readonly #sql: ReturnType<typeof prepareAll>;

  constructor(database: Database.Database, keys: DeviceKeys, seals: RowSeals) {
    this.#database = database;
    this.#keys = keys;
    this.#seals = seals;
    this.#notes = new ArchiveNotes(database);
    this.#sql = prepareAll(database);
    if (!seals.areSpansCut) this.#cutSpans();
  }

  /** Once: a version before left a span in which the archive ends as it was, and nobody could tell any more what it has to say. */
  #cutSpans(): void {
    const { sequence: to, isDamaged } = this.#notes.cut();
    if (isDamaged) return; // told by every verification
    try {
      this.#transaction(() => {
        this.#sql.cutSitesOfBefore.run({ to });
        this.#sql.cutSpan.run({ after: 0, to });
        this.#seals.spansCut();
      });
    } catch {
      // a full disk: the next start does it, and until then verification allows what was
    }
  }

  get pending(): boolean {
    return this.#notes.notedTo() > this.#notes.cut().sequence;
  }

  /** @throws Error when the file does not follow what is archived, or the disk refuses the note. */
  note({ note, blocks }: ArchiveDraft): void {
    const cut = this.#notes.cut();
    if (note.first !== cut.sequence + 1 || note.previousHash !== cut.hash || this.pending) throw new Error(`${note.file} does not begin where the archive ends`);
    if (hexOf(this.#sql.hashAt.get(note.last)) !== note.headHash) throw new Error(`${note.file} does not end with record ${note.last} of the table`);
    this.#transaction(() => {
      const at = new Date().toISOString();
      for (const block of blocks) {
        this.#sql.putBlock.run(
          block.last,
          block.first,
          block.file,
          block.start,
          block.bytes,
          block.textBytes,
          block.sha256,
          block.fromAt,
          block.toAt,
          JSON.stringify(block.sites),
          Buffer.from(block.keys),
        );
      }
      this.#sql.putNote.run(note.last, note.first, note.file, note.records, note.previousHash, note.headHash, note.sha256, at, macOfNote(note, this.#keys.auditHmac));
      // of the signed heads the one at the end of the file stays
      const signed = signHead({ sequence: note.last, hash: note.headHash, at, kid: this.#keys.kid }, this.#keys.privateKey);
      if (this.#sql.headAt.get(signed.sequence) === undefined) this.#seals.heads(1);
      this.#sql.putHead.run(signed.sequence, signed.hash, signed.at, signed.kid, signed.signature);
    });
  }

  /**
   * Deletes the next slice.
   * @returns about how many bytes it put into the WAL; 0 when there was nothing to delete.
   * @throws Error when the disk refuses it: the next try does the same.
   */
  slice(): number {
    const to = this.#notes.notedTo();
    const { sequence: cut } = this.#notes.cut();
    if (cut >= to) return 0;
    const rows = this.#sql.slice.all(cut, to, SLICE_RECORDS) as { sequence: number; hash: Buffer }[];
    const end = rows.at(-1);
    // rows that somebody has deleted do not keep the cut from its place: what the file holds is what counts
    const whole = !end || rows.length < SLICE_RECORDS;
    const next = whole ? { sequence: to, hash: this.#notes.noteFrom(to)?.headHash ?? '' } : { sequence: end.sequence, hash: hexOf(end.hash) };
    this.#transaction(() => {
      const range = { after: cut, to: next.sequence };
      this.#seals.heads(-this.#sql.removeHeads.run(range).changes);
      this.#sql.cutSites.run(range);
      this.#sql.cutSpan.run(range);
      for (const remove of this.#sql.removes) remove.run(range);
      // sites are found by their name only, so they are looked through; a span ends with every eighth slice
      if (this.#sql.removeSpans.run(range).changes > 0) this.#sql.removeSites.run(range);
      this.#sql.setMeta.run(CUT_AT, String(next.sequence));
      this.#sql.setMeta.run(CUT_HASH, next.hash);
    });
    return (rows.length + 1) * PAGES_PER_RECORD * PAGE_BYTES;
  }

  #transaction(work: () => void): void {
    try {
      this.#sql.begin.run();
      work();
      this.#seals.write(this.#seals.spansTo);
      this.#sql.commit.run();
      this.#seals.committed();
    } catch (fault) {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      this.#seals.rolledBack();
      throw fault;
    }
  }
}

function prepareAll(database: Database.Database) {
  const records = 'FROM audit WHERE sequence > @after AND sequence <= @to';
  const next = '(SELECT MIN(last) FROM audit_spans WHERE last > @to)';
  const kept = `FROM audit WHERE sequence > @to AND sequence <= ${next}`;
  const before = 'COALESCE((SELECT MAX(last) FROM audit_spans WHERE last < s.last), 0)';
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    setMeta: database.prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'),
    hashAt: database.prepare('SELECT hash FROM audit WHERE sequence = ?').pluck(),
    slice: database.prepare('SELECT sequence, hash FROM audit WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?'),
    putNote: database.prepare('INSERT INTO audit_archives (last, first, file, records, previous_hash, head_hash, sha256, archived_at, mac) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    putBlock: database.prepare(
      'INSERT INTO audit_archive_blocks (last, first, file, start, bytes, text_bytes, sha256, from_at, to_at, sites, keys) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    putHead: database.prepare('INSERT OR REPLACE INTO audit_heads (sequence, hash, at, kid, signature) VALUES (?, ?, ?, ?, ?)'),
    // what of a span stays has the bounds and the sites of its records; one that was not as it was recorded stays as it is, and is told
    cutSpan: database.prepare(`
      UPDATE audit_spans AS s SET first = @to + 1, from_at = COALESCE((SELECT MIN(at) ${kept}), from_at), to_at = COALESCE((SELECT MAX(at) ${kept}), to_at)
      WHERE last = ${next} AND first <= @to AND first > @after AND first > ${before}
      AND NOT EXISTS (SELECT 1 FROM audit WHERE sequence > MAX(@after, ${before}) AND sequence < s.first)
      AND (SELECT COUNT(*) <= s.last - s.first OR (MIN(at) = s.from_at AND MAX(at) = s.to_at) FROM audit WHERE sequence BETWEEN s.first AND s.last)`),
    cutSites: database.prepare(`DELETE FROM audit_sites WHERE last = ${next} AND site IN (SELECT site ${records} EXCEPT SELECT site ${kept})`),
    cutSitesOfBefore: database.prepare(
      `DELETE FROM audit_sites WHERE last = ${next} AND EXISTS (SELECT 1 FROM audit_spans WHERE last = ${next} AND first <= @to) AND site NOT IN (SELECT site ${kept})`,
    ),
    removeSpans: database.prepare('DELETE FROM audit_spans WHERE last <= @to AND last > @after'),
    removeSites: database.prepare('DELETE FROM audit_sites WHERE last <= @to'),
    headAt: database.prepare('SELECT 1 FROM audit_heads WHERE sequence = ?').pluck(),
    removeHeads: database.prepare('DELETE FROM audit_heads WHERE sequence > @after AND sequence <= @to AND sequence NOT IN (SELECT last FROM audit_archives)'),
    removes: [
      `DELETE FROM audit_targets WHERE (kind, name, sequence) IN (SELECT kind, name, sequence ${records})`,
      `DELETE FROM audit_correlations WHERE (correlation, sequence) IN (SELECT correlation, sequence ${records})`,
      `DELETE ${records}`,
    ].map((text) => database.prepare(text)),
  };
}
