/**
 * One verification of everything that is evidence (D-C-10, ADR 0018): the audit trail with its heads and its archive, every
 * stored row beside it, and what the domains hold against the trail (records, signatures, recipes). One at a time. It reads,
 * and mends nothing: what it finds stands as an alarm until a run finds nothing.
 */
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { conflict } from '../../platform/base/refusal.js';
import type { Damage, LedgerQueries } from '../../platform/ledger/queries.js';
import type { RowProblem } from '../../platform/ledger/verify-rows.js';
import type { Store } from '../../platform/store/store.js';
import type { AuditAnchors } from './anchors.js';
import type { DraftOf } from './archive-integrity.js';
import { type EvidenceRun, IntegrityProblem } from './bodies.js';
import { OneRun, recalled } from './one-run.js';

/** Facts: what runs have found that found something else than the one before, and those that somebody asked for. */
export const EVIDENCE_STREAM = 'integrity';
export const EVIDENCE_KIND = 'IntegrityReport';
const Recalled = v.looseObject({ ok: v.boolean(), finishedAt: v.string(), problems: v.array(v.looseObject(IntegrityProblem.entries)) });
const UNMADE = 'verification';
const PROBLEMS_MAX = 1000; // the answer stays readable; `ok` is false from the first one on

/** Tables whose rows tell what is and was; the others are what they are checked by (verify-rows.ts). What the seal remembers stays for ever, also of rows that are as they should be again. */
const ROW_PARTS: ReadonlySet<string> = new Set<RowProblem['part']>(['resources', 'facts', 'nonces']);

/** What a domain has looked at and found. */
export interface EvidenceCheck {
  /** Counts by name, for example `records`. */
  readonly checked: Readonly<Record<string, number>>;
  readonly problems: readonly IntegrityProblem[];
}

export interface IntegrityParts {
  readonly store: Store;
  readonly queries: Pick<LedgerQueries, 'verify' | 'verifyArchives' | 'verifyRows' | 'factPage'>;
  readonly clock: Clock;
  /** What was kept outside the box against it. */
  readonly anchors: Pick<AuditAnchors, 'check'>;
  /** What the domains hold against the audit trail. */
  readonly evidence: () => Promise<EvidenceCheck>;
  /** What is wrong with the structure of the file itself; null when nothing. */
  readonly file: () => Promise<string | null>;
}

export class Integrity {
  readonly #parts: IntegrityParts;
  readonly #runs = new OneRun();
  #last: EvidenceRun | undefined;
  /** What was met between two runs, by sentence; the next run judges it. */
  readonly #met = new Map<string, IntegrityProblem>();
  /** In a row, of those that nobody waits for. */
  #unmadeRuns = 0;

  constructor(parts: IntegrityParts) {
    this.#parts = parts;
  }

  get running(): boolean {
    return this.#runs.underWay;
  }

  /** The last run, also of before this start. */
  get last(): EvidenceRun | undefined {
    return this.#last;
  }

  /** Met by whoever was about to use it: told at once, until the next run. */
  report(problem: IntegrityProblem): void {
    this.#met.set(sentenceOf(problem), problem);
  }

  /** A query could not read a part of the file, or one entry of a stream. */
  damaged({ fault, stream }: Damage): void {
    this.report(stream === undefined ? damagedFile(fault) : of('facts', fault, { name: stream }));
  }

  /** What the last run found, or was met since, in words; undefined when nothing. */
  get damage(): string | undefined {
    const problems = this.#standing;
    const [first] = problems;
    if (!first) return undefined;
    const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
    return `evidence is not what was recorded: ${sentenceOf(first)}${more}; GET /api/v1/system/integrity tells all of it`;
  }

  /** What of it is about the rows beside the trail, in words. */
  get damagedRows(): readonly string[] {
    return this.#standing.filter(({ part }) => ROW_PARTS.has(part)).map(sentenceOf);
  }

  /** The line of health; `ok` null before the first run. */
  get summary(): { readonly ok: boolean | null; readonly checkedAt: string; readonly problems: number } {
    const problems = this.#standing.length;
    return { ok: problems > 0 ? false : (this.#last?.ok ?? null), checkedAt: this.#last?.finishedAt ?? '', problems };
  }

  /** Of the last run, and met since. */
  get #standing(): readonly IntegrityProblem[] {
    return [...this.#met.values(), ...(this.#last?.problems ?? [])];
  }

  /** Problems that were met since the last run. */
  get met(): readonly IntegrityProblem[] {
    return [...this.#met.values()];
  }

  /** What the last run before this start found: its alarm stands over a restart. */
  async recall(): Promise<void> {
    const { run, unread } = await recalled<EvidenceRun>(this.#parts.queries, EVIDENCE_STREAM, Recalled);
    this.#last = run;
    if (unread !== undefined) this.report(of('facts', `what the last verification found cannot be read (${unread})`, { name: EVIDENCE_STREAM }));
  }

  /** @throws Refusal `already_running`. */
  async run(audit: DraftOf): Promise<EvidenceRun> {
    if (this.running) throw conflict('already_running', 'a verification is under way; read its result when it has ended');
    return this.#runs.alone(async () => this.#keep(await this.#check(), audit));
  }

  /** A run that nobody waits for; it is kept when it found something else than the one before. */
  async runQuietly(audit: DraftOf): Promise<void> {
    if (this.running) return;
    await this.#runs.alone(async () => {
      const run = await this.#check().catch((fault: unknown) => this.#unmade(fault));
      this.#unmadeRuns = 0;
      if (saidBy(run) === saidBy(this.#last)) this.#last = run;
      else await this.#keep(run, audit);
    });
  }

  /** What was found before may be long past: from the second in a row on it stands as what a run has found. */
  #unmade(fault: unknown): never {
    this.#unmadeRuns += 1;
    for (const [sentence, { part }] of this.#met) if (part === UNMADE) this.#met.delete(sentence); // each run fails with words of its own
    if (this.#unmadeRuns > 1) this.report(of(UNMADE, `it could not be made: ${fault instanceof Error ? fault.message : String(fault)}`));
    throw fault;
  }

  async #check(): Promise<EvidenceRun> {
    const { queries, clock, anchors, evidence, file } = this.#parts;
    const runId = randomUUID();
    const startedAt = timestamp(clock.wallMs());
    const judged = [...this.#met.keys()]; // what is met from now on may be in a part that was looked at already
    const structure = await file();
    if (structure !== null) this.report(damagedFile(structure)); // what comes next may not get past it
    const trail = await queries.verify();
    const outside = await anchors.check();
    const archive = await queries.verifyArchives({ gently: true });
    const rows = await queries.verifyRows();
    const domains = await evidence();
    for (const sentence of judged) this.#met.delete(sentence);
    if (structure !== null) this.#met.delete(sentenceOf(damagedFile(structure)));
    const problems: IntegrityProblem[] = [
      ...(structure === null ? [] : [damagedFile(structure)]),
      ...trail.problems.map(({ name, problem }) => of('audit-trail', WORDS[problem], { kind: 'AuditRecord', name })),
      ...outside.problems.map((problem) => of('audit-trail', problem)),
      ...archive.archives.flatMap(({ file, ok, problem }) =>
        ok ? [] : [of('audit-archive', `the file is not as it was written: ${problem ?? ''}`, { kind: 'AuditArchive', name: file })],
      ),
      ...(archive.ok || archive.archives.some(({ ok }) => !ok) ? [] : [of('audit-archive', 'files of the archive are missing')]),
      ...rows.problems,
      ...domains.problems,
    ];
    return {
      runId,
      startedAt,
      finishedAt: timestamp(clock.wallMs()),
      ok: problems.length === 0,
      checked: { auditRecords: trail.checked, archivedRecords: archive.checked, resources: rows.resources, facts: rows.facts, ...domains.checked },
      madeBefore: { rows: rows.madeBefore, adoptedAt: rows.adoptedAt },
      problems: problems.slice(0, PROBLEMS_MAX),
    };
  }

  async #keep(run: EvidenceRun, audit: DraftOf): Promise<EvidenceRun> {
    const { store } = this.#parts;
    this.#last = run; // known also where it cannot be kept
    const { runId, ok, checked, problems } = run;
    const details = { ok, checked, problems: problems.length, ...(problems[0] ? { first: sentenceOf(problems[0]) } : {}) };
    await store.write({
      audits: [audit({ target: { kind: EVIDENCE_KIND, name: runId, site: '' }, details })],
      facts: [{ stream: EVIDENCE_STREAM, body: () => run }],
    });
    return run;
  }
}

const WORDS = {
  hash: 'the record is not what was hashed, or cannot be found by what it says',
  link: 'the record does not follow the one before',
  missing: 'the record is missing',
  signature: 'the record, or the signed head at it, was not sealed by this appliance',
} as const;

export function sentenceOf({ part, kind, name, site, problem }: IntegrityProblem): string {
  const what = name === '' ? part : `${kind === '' ? part : kind} ${name}${site === '' ? '' : ` of site ${site}`}`;
  return `${what}: ${problem}`;
}

function of(part: string, problem: string, { kind = '', name = '', site = '' }: Partial<Pick<IntegrityProblem, 'kind' | 'name' | 'site'>> = {}): IntegrityProblem {
  return { part, kind, name, site, problem };
}

function damagedFile(fault: string): IntegrityProblem {
  return of('state.db', `the file is damaged (${fault}); keep a copy of the data directory, and put state.db back from a backup`);
}

/** What a run says apart from when, and of how much. */
function saidBy(run: EvidenceRun | undefined): string {
  return JSON.stringify(run?.problems ?? []);
}
