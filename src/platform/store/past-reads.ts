/**
 * The past as it may be asked for: a run or a page of rows is some milliseconds of the gateway, which parses and checks them, so that
 * thousands of requests at once would keep it from everybody else. Two runs, and one page, are read in one turn of the event loop.
 */
import { Turnstile } from '../base/turnstile.js';
import type { LedgerQueries } from '../ledger/queries.js';

export type UnboundedReads = Pick<LedgerQueries, 'pastRun' | 'pastPage' | 'pastTexts'>;

export interface PastReads extends Pick<LedgerQueries, 'pastRun' | 'pastTexts'> {
  /** `isPatient`: the walk has begun, and what it has found so far may be on its way to a reader. */
  pastPage(request: Parameters<LedgerQueries['pastPage']>[0], isPatient?: boolean): ReturnType<LedgerQueries['pastPage']>;
}

/** The rows of a run are some hundred kB. */
const RUNS_AT_ONCE = 2;
/** A second or two of reading. */
const RUNS_WAITING_MAX = 200;
const WALKS_WAITING_MAX = 20;
const WAIT_MAX_MS = 10_000;

/**
 * `settled`: when these runs, or all, are on disk where they are in memory. A commit of anything else keeps nobody from reading.
 * @throws Refusal 503 `past_busy`, of what it gives back.
 */
export function inTurns(reads: UnboundedReads, settled: (runs?: readonly string[]) => Promise<void>): PastReads {
  const limits = { what: 'requests read what is past', waitMaxMs: WAIT_MAX_MS };
  const runs = new Turnstile({ ...limits, atOnce: RUNS_AT_ONCE, waitingMax: RUNS_WAITING_MAX });
  const pages = new Turnstile({ ...limits, atOnce: 1, waitingMax: WALKS_WAITING_MAX });
  return {
    pastRun: (run) => runs.through(() => settled([run]).then(() => reads.pastRun(run))),
    pastPage: (request, isPatient) => pages.through(() => settled().then(() => reads.pastPage(request)), isPatient),
    pastTexts: (request) => pages.through(() => settled(request.runs).then(() => reads.pastTexts(request)), true), // one who asks at a time
  };
}
