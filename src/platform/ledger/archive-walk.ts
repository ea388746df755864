/**
 * Walks through the records of one file of the archive in its order and says what is wrong with them: a record that was
 * changed together with everything around it (its hash, its MAC, the link of the next one, what finds it in `state.db`),
 * one that is not there, and a trailer that does not fit. How the lines were packed is not asked here.
 */
import { createHash } from 'node:crypto';
import { auditName } from '../base/audit-name.js';
import { type ArchiveBlock, type ArchivedRow, archiveLine, columnsOf, correlationKey, readLine, readTrailer, targetKey } from './archive-format.js';
import type { SealedNote } from './archive-notes.js';
import type { RecordColumns } from './audit-row.js';
import { hashOf, macOf } from './chain.js';
import type { DeviceKeys } from './keys.js';
import { KeyFilter, type Probe, probeOf } from './key-filter.js';
import type { ArchiveProblem, ChainProblem } from './problems.js';
import type { Verification } from './verify-chain.js';

export const PROBLEMS_MAX = 1000;

/**
 * What is wrong with a file: it is not there; it does not read as what was written; it holds what was written and was packed
 * again, so that nobody finds a record in it; its trailer or the digest in it does not fit; its note in `state.db`, or the
 * list of its blocks, was changed; or, as in the table, a record of it.
 */
/** What was found so far; `first` is what is told of the file. */
export class Findings {
  readonly problems: Verification['problems'][number][] = [];
  first: { readonly problem: ArchiveProblem; readonly sequence?: number } | undefined;

  wrong(problem: ArchiveProblem, sequence?: number): void {
    this.first ??= { problem, ...(sequence === undefined ? {} : { sequence }) };
  }

  report(sequence: number, problem: ChainProblem): void {
    this.wrong(problem, sequence);
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ sequence, name: auditName(sequence), problem });
  }

  lost(first: number, last: number): void {
    for (let sequence = first; sequence <= last && this.problems.length < PROBLEMS_MAX; sequence += 1) this.report(sequence, 'missing');
  }
}

/** Where a search would look for a record. */
interface Place {
  readonly block: ArchiveBlock;
  readonly filter: KeyFilter;
  readonly met: Met;
}

/** What the records of a block would be found by. */
interface Met {
  /** Sequences; 0 before the first. */
  first: number;
  last: number;
  readonly probes: Map<string, Probe>;
  readonly sites: Set<string>;
  earliest: number;
  latest: number;
}

function placeIn(block: ArchiveBlock): Place {
  return {
    block,
    filter: new KeyFilter(block.keys),
    met: { first: 0, last: 0, probes: new Map(), sites: new Set(), earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY },
  };
}

export class ArchiveWalk {
  readonly findings = new Findings();
  readonly note: SealedNote;
  readonly blocks: readonly ArchiveBlock[];
  readonly #keys: DeviceKeys;
  readonly #isExplained: (sequence: number) => boolean;
  readonly #sha = createHash('sha256');
  #block: Place | undefined;
  #records = 0;
  #checked = 0;
  /** Hash of the record before; null when nobody can say what it was. */
  #previous: string | null;
  /** Sequence that comes next. */
  #next: number;

  constructor(note: SealedNote, blocks: readonly ArchiveBlock[], keys: DeviceKeys, previous: string | null, isExplained: (sequence: number) => boolean = () => false) {
    this.note = note;
    this.blocks = blocks;
    this.#keys = keys;
    this.#isExplained = isExplained;
    this.#previous = previous;
    this.#next = note.first;
  }

  get checked(): number {
    return this.#checked;
  }

  /** Hash of the last record; null when the file cannot say. */
  get headHash(): string | null {
    return this.#previous;
  }

  /** The text of a block, where it was noted: its records are looked for nowhere else. */
  block(block: ArchiveBlock, text: string): void {
    this.#sha.update(text);
    const place = placeIn(block);
    this.#block = place;
    const before = this.findings.problems.length;
    for (const line of text.split('\n').slice(0, -1)) this.#line(line, place);
    if (this.findings.problems.length === before && !(isSummary(place) && isNotedOf(block, text))) this.findings.report(Math.min(block.last, this.note.last), 'hash'); // searches look into it in vain, or nobody knows any more why
  }

  /** A line of a text of which nobody knows where its blocks begin. */
  line(bytes: Buffer): void {
    this.#sha.update(bytes).update('\n');
    this.#line(bytes.toString('utf8'), null);
  }

  end(trailerText: string): void {
    const { note, findings } = this;
    if (this.#next <= note.last) this.#previous = null;
    findings.lost(this.#next, note.last);
    const trailer = readTrailer(trailerText);
    const fits = trailer?.records === this.#records && trailer.records === note.records && trailer.headHash === this.#previous && trailer.headHash === note.headHash;
    if (!fits) findings.wrong('trailer');
    const sha256 = this.#sha.digest('hex');
    if (trailer?.sha256 !== sha256 || note.sha256 !== sha256) findings.wrong('sha256');
  }

  /** The last line of a text: the trailer, or a record when somebody has taken the trailer away. */
  endWith(bytes: Buffer | null): void {
    const text = bytes?.toString('utf8') ?? '';
    const isTrailer = readTrailer(text) !== null;
    if (bytes && !isTrailer) this.line(bytes);
    this.end(isTrailer ? text : '');
  }

  /** What follows cannot be read. */
  torn(): void {
    this.findings.wrong('unreadable');
    this.findings.lost(this.#next, this.note.last);
    this.#previous = null;
  }

  #line(line: string, place: Place | null): void {
    const row = readLine(line);
    if (!row || `${line}\n` !== archiveLine(row)) {
      this.findings.wrong('unreadable', this.#next);
      this.findings.report(this.#next, 'hash');
      this.#previous = null;
      return;
    }
    this.#records += 1;
    if (row.sequence < this.note.first || row.sequence > this.note.last) return; // of no use to anybody; the trailer does not count it
    if (row.sequence !== this.#next) {
      this.findings.lost(this.#next, row.sequence - 1);
      this.#previous = null;
    }
    this.#record(row, place ?? this.#placeOf(row.sequence));
    this.#previous = row.hash.toString('hex');
    this.#next = row.sequence + 1;
    this.#checked += 1;
  }

  #placeOf(sequence: number): Place | undefined {
    const holds = (block: ArchiveBlock): boolean => block.first <= sequence && sequence <= block.last;
    if (this.#block && holds(this.#block.block)) return this.#block;
    const block = this.blocks.find(holds);
    return (this.#block = block && placeIn(block));
  }

  #record(row: ArchivedRow, place: Place | undefined): void {
    const { record } = row;
    const previous = this.#previous;
    if (!place || !isFound(row, place) || !hashOf(row.body).equals(row.hash) || record.name !== auditName(row.sequence)) this.findings.report(row.sequence, 'hash');
    if (previous !== null && record.previousHash !== previous) this.findings.report(row.sequence, 'link');
    if ((row.key_id !== this.#keys.auditKeyId || !macOf(row.hash, this.#keys.auditHmac).equals(row.mac)) && !this.#isExplained(row.sequence))
      this.findings.report(row.sequence, 'signature');
  }
}

/** A search that asks for it looks into its block. */
function isFound({ sequence, record }: ArchivedRow, { block, filter, met }: Place): boolean {
  const columns = columnsOf(record);
  met.first ||= sequence;
  met.last = sequence;
  const { at, site } = columns;
  met.sites.add(site);
  met.earliest = Math.min(met.earliest, at);
  met.latest = Math.max(met.latest, at);
  const probes = probesOf(columns, met.probes);
  return at >= block.fromAt && at <= block.toAt && block.sites.includes(site) && probes.every((probe) => filter.mayHave(probe));
}

function probesOf({ kind, name, correlation }: RecordColumns, known: Map<string, Probe>): readonly Probe[] {
  return [targetKey(kind, name), correlationKey(correlation)].map((key) => {
    const probe = known.get(key) ?? probeOf(key);
    known.set(key, probe);
    return probe;
  });
}

/** A search reads no text of another digest, and none that is longer; a version before noted neither. */
function isNotedOf({ sha256, textBytes }: ArchiveBlock, text: string): boolean {
  if (sha256 === null && textBytes === null) return true;
  return createHash('sha256').update(text).digest('hex') === sha256 && Buffer.byteLength(text) === textBytes;
}

/** Whether the block says of itself what follows from its records, and no more. */
function isSummary({ block, met: { first, last, probes, sites, earliest, latest } }: Place): boolean {
  const isOfThese = block.first === first && block.last === last && block.fromAt === earliest && block.toAt === latest;
  return isOfThese && block.sites.length === sites.size && block.sites.every((site) => sites.has(site)) && KeyFilter.ofProbes([...probes.values()]).equals(block.keys);
}
