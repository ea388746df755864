/**
 * The messages of a running unit, of which a plan waits until its networks are prepared: in steps, in the time that the
 * scans leave, while the old networks go on (ADR 0008). It is handed on at the top of the first scan after that.
 *
 * Order: what may speak of the new plan (its phases, tags, modules) waits behind it. What is for the charts that run passes,
 * unless a message that speaks of the plan waits before it; signs of life, recordings and `stop` always pass. Of plans that
 * wait one behind the other only the last counts, but a plan that is being prepared is finished: however fast plans follow
 * each other, each preparation ends with a swap.
 *
 * The messages that wait are those of some hundred milliseconds; there is no other limit than the one of the port.
 */
import { NetworkSet } from '../network/network-set.js';
import type { PreparedNetworks } from '../network/prepare.js';
import type { Steps } from '../network/steps.js';
import type { TextTable } from '../network/texts.js';
import type { UnitInbound } from '../port.js';

type PlanMessage = Extract<UnitInbound, { readonly type: 'plan' }>;

/** For the charts that run, whatever the plan. */
const FOR_CHARTS: ReadonlySet<UnitInbound['type']> = new Set(['command', 'answer', 'signals', 'request-result', 'phase-mode', 'active-step'] satisfies UnitInbound['type'][]);
const ALWAYS: ReadonlySet<UnitInbound['type']> = new Set(['alive', 'record', 'record-stop', 'stop'] satisfies UnitInbound['type'][]);

export interface DownloadParts {
  readonly receive: () => UnitInbound | undefined;
  readonly texts: TextTable;
  readonly monoMs: () => number;
  /** The networks that are scanned; undefined before the first plan. */
  readonly running: () => NetworkSet | undefined;
  /** Nobody waits for the first plan of a unit but the unit itself: it is loaded at once, unless others share the thread. */
  readonly mayWait: () => boolean;
}

interface Pending {
  readonly message: PlanMessage;
  readonly steps: Steps<PreparedNetworks>;
  prepared: PreparedNetworks | undefined;
}

export class Downloads {
  readonly #parts: DownloadParts;
  readonly #waiting: UnitInbound[] = [];
  #pending: Pending | undefined;
  #prepared: PreparedNetworks | undefined;

  constructor(parts: DownloadParts) {
    this.#parts = parts;
  }

  /** The next message to be handled now. */
  next(): UnitInbound | undefined {
    if (this.#pending?.prepared) return this.#handOn(this.#pending);
    for (;;) {
      const message = (!this.#pending && this.#waiting.shift()) || this.#parts.receive();
      if (!message || this.#isDue(message)) return message;
    }
  }

  #handOn({ message, prepared }: Pending): UnitInbound {
    this.#pending = undefined;
    this.#prepared = prepared;
    return message;
  }

  #isDue(message: UnitInbound): boolean {
    if (ALWAYS.has(message.type)) return true;
    if (this.#pending) {
      if (FOR_CHARTS.has(message.type) && this.#waiting.every(({ type }) => type === 'plan')) return true;
      this.#wait(message);
      return false;
    }
    if (message.type !== 'plan' || !this.#parts.mayWait()) return true;
    this.#begin(message);
    return false;
  }

  #wait(message: UnitInbound): void {
    if (message.type === 'plan' && this.#waiting.at(-1)?.type === 'plan') this.#waiting.pop();
    this.#waiting.push(message);
  }

  #begin(message: PlanMessage): void {
    const { texts, monoMs, running } = this.#parts;
    const previous = running();
    this.#pending = { message, steps: NetworkSet.prepare(message.plan, { texts, clockMs: monoMs, ...(previous && { previous }) }), prepared: undefined };
  }

  get isPreparing(): boolean {
    return this.#pending !== undefined && !this.#pending.prepared;
  }

  /** Prepares what waits, at least one step of it, and begins none after `untilMs`. */
  work(untilMs: number): void {
    const pending = this.#pending;
    if (!pending || pending.prepared) return;
    do {
      const { done, value } = pending.steps.next();
      if (done) pending.prepared = value;
    } while (!pending.prepared && this.#parts.monoMs() < untilMs);
  }

  /** What was prepared of the plan that `next` gave last. */
  takePrepared(): PreparedNetworks | undefined {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    return prepared;
  }
}
