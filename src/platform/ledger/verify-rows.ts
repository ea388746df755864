/**
 * Whether the tables beside the audit trail hold what the ledger wrote (ADR 0018): every resource, every stream of facts, the
 * nonces, the signed heads and the spans of the index, and that nothing is missing. Over one snapshot, in slices.
 */
import Database from '../base/sqlite.js';
import { ArchiveNotes } from './archive-notes.js';
import { isStored } from './chain.js';
import type { Ref } from '../store/resource.js';
import type { DeviceKeys } from './keys.js';
import { digestOfGaps } from './gaps.js';
import { GAPS_CHANGED, MAC_BYTES, mix, type ResourceRow, RowMacs, type Seal, storedSeal } from './row-seals.js';

const SLICE_ROWS = 500;
/** Rows that are only counted are passed over faster: some 10 ms of them. */
const COUNTED_ROWS = 20_000;
const PROBLEMS_MAX = 1000; // the answer stays readable; `ok` is false from the first one on

export interface RowProblem {
  readonly part: 'resources' | 'facts' | 'nonces' | 'audit-heads' | 'audit-index' | 'seal';
  /** Kind of a resource, '' of everything else. */
  readonly kind: string;
  /** Of the resource or stream; '' when it is about the table. */
  readonly name: string;
  readonly site: string;
  /** One sentence. */
  readonly problem: string;
}

export interface RowVerification {
  readonly ok: boolean;
  readonly resources: number;
  readonly facts: number;
  /** Rows of a version without seals, which were taken over as they were, and when; '' when there are none. */
  readonly madeBefore: number;
  readonly adoptedAt: string;
  readonly problems: readonly RowProblem[];
}

/** None reaches back to @before. Of one that has a hole nobody can say which times were in it, and of one that a version cut which left it as it was. */
const WRONG_SPANS = `
  SELECT last FROM (SELECT *, LAG(last, 1, @before) OVER (ORDER BY last) AS before FROM audit_spans) s
  WHERE last >= @after AND (first <= before OR (first >= @after AND EXISTS (
    SELECT 1 FROM (SELECT COUNT(*) AS records, MIN(at) AS earliest, MAX(at) AS latest FROM audit WHERE sequence BETWEEN s.first AND s.last)
    WHERE records = s.last - s.first + 1 AND (earliest <> s.from_at OR latest <> s.to_at))))`;

const STRANGE_META = `SELECT key FROM meta WHERE key NOT IN ('appliance', 'auditArchivedHash', 'auditArchivedTo', 'gaps', 'probe', 'resourceVersion', 'seal')`;

/** Sites of each span of the index, and whether no record of it is of that site. Of one that has a hole, in the table or in the archive, nobody can say. */
const SITES_OF_SPANS = `
  SELECT i.site, i.last, s.last IS NULL OR (
    NOT EXISTS (SELECT 1 FROM audit WHERE sequence BETWEEN s.first AND s.last AND site = i.site)
    AND (SELECT COUNT(*) FROM audit WHERE sequence BETWEEN MAX(s.first, @after) AND s.last) = s.last - MAX(s.first, @after) + 1
    AND NOT EXISTS (SELECT 1 FROM audit_archive_blocks b, json_each(CASE WHEN json_valid(b.sites) THEN b.sites ELSE '[]' END) j WHERE b.first <= s.last AND b.last >= s.first AND j.value = i.site)
    AND NOT EXISTS (SELECT 1 FROM audit_archives WHERE first <= s.last AND last >= s.first AND records <= last - first)) AS isNone
  FROM audit_sites i LEFT JOIN audit_spans s ON s.last = i.last WHERE i.last >= @after`;

/** `pause` is awaited between slices. */
export async function verifyRows(file: string, keys: DeviceKeys, pause: () => Promise<void>): Promise<RowVerification> {
  const database = new Database(file, { readonly: true, timeout: 5000 });
  try {
    database.exec('BEGIN'); // what is written meanwhile is looked at the next time
    return await new RowVerifier(database, keys, pause).verify();
  } finally {
    database.close();
  }
}

/** Whether the entries of one stream are those that were recorded; of one batch they are few. In one snapshot. */
export function isStreamRecorded(database: Database.Database, keys: DeviceKeys, stream: string): boolean {
  const macs = new RowMacs(keys.auditHmac);
  return database.transaction(() => {
    const known = database.prepare('SELECT last, mac, past FROM streams WHERE stream = ?').get(stream) as { last: number; mac: Buffer | null; past: string } | undefined;
    const rows = database.prepare('SELECT sequence, body FROM facts WHERE stream = ? ORDER BY sequence').all(stream) as { sequence: number; body: string }[];
    if (!known) return rows.length === 0;
    const link = rows.reduce((before, { sequence, body }) => macs.fact(before, sequence, body), macs.origin(stream));
    return rows.length === known.last && isStored(known.mac, known.past === '' ? link : macs.pastStream(stream, known.past, link));
  })();
}

/** Whether a resource is present as it was recorded; one that was put back as it once was fits as well, and is missed by the verification of all rows only. */
export function isRowRecorded(database: Database.Database, keys: DeviceKeys, { kind, site, name }: Ref): boolean {
  const row = database.prepare('SELECT version, body, mac, past, past_entry AS entry FROM resources WHERE kind = ? AND site = ? AND name = ?').get(kind, site, name) as
    | (Omit<ResourceRow, 'kind' | 'site' | 'name'> & { readonly mac: Buffer | null })
    | undefined;
  return row !== undefined && isStored(row.mac, new RowMacs(keys.auditHmac).resource({ kind, site, name, ...row }));
}

class RowVerifier {
  readonly #database: Database.Database;
  readonly #macs: RowMacs;
  readonly #pause: () => Promise<void>;
  readonly #problems: RowProblem[] = [];

  constructor(database: Database.Database, keys: DeviceKeys, pause: () => Promise<void>) {
    this.#database = database;
    this.#macs = new RowMacs(keys.auditHmac);
    this.#pause = pause;
  }

  async verify(): Promise<RowVerification> {
    const stored = storedSeal(this.#database);
    const seal = stored === undefined ? null : this.#macs.opened(stored);
    if (!seal) this.#report('seal', 'the seal over the stored rows is missing or not one of this appliance');
    const resources = await this.#resources(seal);
    const facts = await this.#facts(seal);
    await this.#nonces(seal);
    if (seal) await this.#counts(seal);
    for (const sentence of seal?.broken ?? []) this.#report('seal', sentence);
    return { ok: this.#problems.length === 0, resources, facts, madeBefore: seal?.madeBefore ?? 0, adoptedAt: seal?.adoptedAt ?? '', problems: this.#problems };
  }

  async #resources(seal: Seal | null): Promise<number> {
    const sum = Buffer.alloc(MAC_BYTES);
    const before = this.#problems.length;
    let count = 0;
    const slice = this.#database.prepare(
      'SELECT rowid AS id, kind, site, name, version, body, mac, past, past_entry AS entry FROM resources WHERE rowid > ? ORDER BY rowid LIMIT ?',
    );
    for (let after = Number.MIN_SAFE_INTEGER; ; await this.#pause()) {
      const rows = slice.all(after, SLICE_ROWS) as (ResourceRow & { readonly id: number; readonly mac: Buffer | null })[];
      for (const row of rows) {
        const mac = this.#macs.resource(row);
        mix(sum, mac);
        if (!isStored(row.mac, mac)) this.#report('resources', 'it is not what was recorded of it', row);
      }
      count += rows.length;
      after = rows.at(-1)?.id ?? after;
      if (rows.length < SLICE_ROWS) break;
    }
    if (!seal) return count;
    if (count !== seal.rows)
      this.#report('resources', count < seal.rows ? `${seal.rows - count} of ${seal.rows} resources are missing` : `there are ${count - seal.rows} resources too many`);
    else if (this.#problems.length === before && sum.toString('hex') !== seal.resources)
      this.#report('resources', 'a resource was put back as it once was, or changed before it was written over');
    return count;
  }

  async #facts(seal: Seal | null): Promise<number> {
    const streams = this.#database.prepare('SELECT stream, last, mac, past FROM streams ORDER BY stream').all() as {
      stream: string;
      last: number;
      mac: Buffer | null;
      past: string;
    }[];
    const known = new Set(streams.map(({ stream }) => stream));
    const slice = this.#database.prepare('SELECT sequence, body FROM facts WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?');
    const sum = Buffer.alloc(MAC_BYTES);
    const before = this.#problems.length;
    let count = 0;
    for (const { stream, last, mac, past } of streams) {
      let link = this.#macs.origin(stream);
      let length = 0;
      for (let after = Number.MIN_SAFE_INTEGER; ; await this.#pause()) {
        const rows = slice.all(stream, after, SLICE_ROWS) as { sequence: number; body: string }[];
        for (const { sequence, body } of rows) link = this.#macs.fact(link, sequence, body);
        length += rows.length;
        after = rows.at(-1)?.sequence ?? after;
        if (rows.length < SLICE_ROWS) break;
      }
      count += length;
      if (mac) mix(sum, mac);
      if (length !== last) this.#report('facts', `${length} entries are there, and ${last} were written`, { name: stream });
      else if (!isStored(mac, past === '' ? link : this.#macs.pastStream(stream, past, link)))
        this.#report('facts', 'its entries are not those that were recorded', { name: stream });
    }
    // from one to the next by the index: DISTINCT would pass over every fact in one go
    const next = this.#database.prepare('SELECT stream FROM facts WHERE stream > ? ORDER BY stream LIMIT 1').pluck();
    let looked = 0;
    for (let stream = next.get('') as string | undefined; stream !== undefined; stream = next.get(stream) as string | undefined) {
      if (!known.has(stream)) this.#report('facts', 'it has entries and does not stand in the list of streams', { name: stream });
      looked += 1;
      if (looked % SLICE_ROWS === 0) await this.#pause();
    }
    if (seal && this.#problems.length === before && sum.toString('hex') !== seal.streams) this.#report('facts', 'a stream is missing, or was put back as it once was');
    return count;
  }

  async #nonces(seal: Seal | null): Promise<void> {
    const sum = Buffer.alloc(MAC_BYTES);
    await this.#each<{ newest: number; entries: string }>('SELECT newest, entries FROM nonce_groups', SLICE_ROWS, ({ newest, entries }) =>
      mix(sum, this.#macs.nonces(newest, entries)),
    );
    if (seal && sum.toString('hex') !== seal.nonces) this.#report('nonces', 'the nonces of admitted requests are not those that were recorded: a request may be admitted again');
  }

  /** Every row of a query, with a pause after so many. */
  async #each<Row>(text: string, slice: number, take: (row: Row) => void, given: Readonly<Record<string, number>> = {}): Promise<number> {
    let count = 0;
    for (const row of this.#database.prepare(text).iterate(given) as IterableIterator<Row>) {
      take(row);
      count += 1;
      if (count % slice === 0) await this.#pause();
    }
    return count;
  }

  async #counts(seal: Seal): Promise<void> {
    const value = (text: string): number => Number(this.#database.prepare(text).pluck().get() ?? 0);
    const version = value("SELECT value FROM meta WHERE key = 'resourceVersion'");
    if (version !== seal.resourceVersion) this.#report('resources', `the last resource version is ${version}, and ${seal.resourceVersion} was written`);
    const counted = (text: string): Promise<number> => this.#each(text, COUNTED_ROWS, () => undefined);
    if (seal.gaps !== undefined && seal.gaps !== digestOfGaps(this.#database)) this.#report('seal', GAPS_CHANGED);
    await this.#each<{ key: string }>(STRANGE_META, SLICE_ROWS, ({ key }) => this.#report('seal', `table meta has a row ${key}, which nobody has written`));
    const heads = await counted('SELECT 1 FROM audit_heads');
    if (heads !== seal.heads) this.#report('audit-heads', `${heads} signed heads of the audit trail are there, and ${seal.heads} were written`);
    const [spans, cut] = [value('SELECT COALESCE(MAX(last), 0) FROM audit_spans'), new ArchiveNotes(this.#database).cut().sequence];
    if (spans !== seal.spansTo && seal.spansTo > cut) this.#report('audit-index', `the index of the audit trail ends at record ${spans}, and had reached ${seal.spansTo}`);
    // each record that is covered stands once under its target and once under its correlation
    const covered = await counted('SELECT 1 FROM audit WHERE sequence <= (SELECT COALESCE(MAX(last), 0) FROM audit_spans)');
    for (const table of ['audit_targets', 'audit_correlations']) {
      const entries = await counted(`SELECT 1 FROM ${table}`);
      if (entries > covered) this.#report('audit-index', `${table} names ${entries} records, and ${covered} are there`);
    }
    await this.#each<{ last: number }>(
      WRONG_SPANS,
      1,
      ({ last }) => this.#report('audit-index', `the span of the index that ends at record ${last} does not have the bounds of its records`),
      { after: cut + 1, before: seal.areSpansCut === true ? cut : 0 },
    );
    const take = ({ site, last, isNone }: { readonly site: string; readonly last: number; readonly isNone: number }): void => {
      if (isNone !== 0) this.#report('audit-index', `the span of the index that ends at record ${last} names a site of which it has no record`, { site });
    };
    await this.#each(SITES_OF_SPANS, SLICE_ROWS, take, { after: cut + 1 });
  }

  #report(part: RowProblem['part'], problem: string, { kind = '', name = '', site = '' }: Partial<Pick<RowProblem, 'kind' | 'name' | 'site'>> = {}): void {
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ part, kind: String(kind), name: String(name), site: String(site), problem }); // a damaged row may have anything there
  }
}
