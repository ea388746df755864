/**
 * Real-time priority of the scan threads (performance notes, section D): with it a scan begins within 0.1 ms of its time
 * whatever the gateway and other programs do. The machine may refuse it, which is no fault: scans then run with ordinary
 * priority, and the log, `system/health` and the diagnostics of a unit say so.
 *
 * A thread cannot raise itself from JavaScript, so `chrt` does it from outside, by the id the operating system knows it by.
 */
import type { Log } from '../../platform/base/log.js';
import { ANSWER_MS_MAX, PriorityShell, type ShellFault } from './priority-shell.js';
import type { Realtime } from './runtimes.js';

/** POSIX priority: above everything ordinary, below the kernel's own threads. */
const SCAN_PRIORITY = '10';

export const REALTIME_OFF: Realtime = { granted: false, reason: 'switched off by the setting runtime.realtime' };
export const REALTIME_UNASKED: Realtime = { granted: false, reason: 'no scan thread has started yet' };
const GRANTED: Realtime = { granted: true, reason: '' };
const NO_THREAD_ID: Realtime = { granted: false, reason: 'the operating system has no threads by number' };

const TAKEN_BACK: Realtime = {
  granted: false,
  reason: 'taken back: the thread did not sleep any more, so that others could not run; it is asked for again when it has slept for a minute',
};

/** The thread has ended meanwhile, which tells nothing about the next one. */
const GONE = /No such process/;

/** Gives a thread real-time priority. Rejects when the machine does not allow it. */
export type Prioritise = (osThreadId: number) => Promise<void>;

export interface RealtimeParts {
  readonly wanted: boolean;
  readonly log: Log;
  readonly prioritise?: Prioritise;
  /** Takes it back. */
  readonly demote?: Prioritise;
}

export class RealtimePriority {
  readonly #log: Log;
  readonly #shell = new PriorityShell();
  readonly #prioritise: Prioritise;
  readonly #demote: Prioritise;
  /** How the last thread fared; a refusal holds for all that follow, so that the log has it once. */
  #state: Realtime;
  #refused = false;
  /** Whoever asked last has his answer. */
  #answered: Promise<unknown> = Promise.resolve();

  constructor({ wanted, log, prioritise, demote }: RealtimeParts) {
    this.#log = log;
    this.#prioritise = prioritise ?? ((osThreadId) => this.#shell.chrt('-f', SCAN_PRIORITY, osThreadId));
    // back among ordinary threads, which the machine allows always
    this.#demote = demote ?? ((osThreadId) => this.#shell.chrt('-o', '0', osThreadId));
    this.#state = wanted ? REALTIME_UNASKED : REALTIME_OFF;
    this.#refused = !wanted;
  }

  get state(): Realtime {
    return this.#state;
  }

  /**
   * Asks for a thread that has just started; 0 is a thread without number. One after the other: what the machine refuses to the first it
   * refuses to all.
   */
  ask(osThreadId: number): Promise<Realtime> {
    const answer = this.#answered.then(() => this.#askNow(osThreadId));
    this.#answered = answer;
    return answer;
  }

  /** Nobody asks any more. */
  close(): void {
    this.#refused = true;
    this.#shell.close();
  }

  /** Takes the priority of one thread back, which tells nothing about others. @returns what it has now. */
  takeBack(osThreadId: number): Promise<Realtime> {
    const answer = this.#answered.then(() => this.#takeBackNow(osThreadId));
    this.#answered = answer;
    return answer;
  }

  async #takeBackNow(osThreadId: number): Promise<Realtime> {
    try {
      await onceMoreWhenLost(() => this.#demote(osThreadId));
      return TAKEN_BACK;
    } catch (fault) {
      this.#log.error({ fault: (fault as Error).message }, 'a scan thread that does not sleep keeps its real-time priority');
      return GRANTED;
    }
  }

  async #askNow(osThreadId: number): Promise<Realtime> {
    if (this.#refused) return this.#state;
    if (osThreadId <= 0) return this.#refuse(NO_THREAD_ID);
    try {
      await onceMoreWhenLost(() => this.#prioritise(osThreadId));
      if (!this.#refused) this.#state = GRANTED;
      return GRANTED;
    } catch (fault) {
      if (GONE.test((fault as Error).message)) return REALTIME_UNASKED;
      if ((fault as ShellFault).isLost === true) return this.#notAnswered({ granted: false, reason: explain(fault) });
      return this.#refuse({ granted: false, reason: explain(fault) });
    }
  }

  /** What the machine would say is not known: the next thread is asked for again. */
  #notAnswered(state: Realtime): Realtime {
    if (this.#refused) return this.#state;
    if (this.#state.reason !== state.reason) this.#log.warn({ reason: state.reason }, 'a scan thread runs without real-time priority');
    this.#state = state;
    return state;
  }

  #refuse(state: Realtime): Realtime {
    if (!this.#refused) this.#log.warn({ reason: state.reason }, 'scan threads run without real-time priority');
    this.#refused = true;
    this.#state = state;
    return state;
  }
}

/** A shell that went tells nothing of the machine; another one is asked. */
async function onceMoreWhenLost(ask: () => Promise<void>): Promise<void> {
  try {
    await ask();
  } catch (fault) {
    if ((fault as ShellFault).isLost !== true) throw fault;
    await ask();
  }
}

/** What an engineer has to change. */
function explain(fault: unknown): string {
  if ((fault as { killed?: boolean }).killed === true) return `the program chrt (util-linux) gave no answer within ${ANSWER_MS_MAX / 1000} s`;
  if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return 'the program chrt (util-linux) is not installed';
  if ((fault as ShellFault).isLost === true) return `the shell that asks for it was lost twice (${(fault as Error).message}); the next scan thread is asked for again`;
  return 'the machine refuses it: the service needs the capability CAP_SYS_NICE or the limit RTPRIO of at least 10';
}
