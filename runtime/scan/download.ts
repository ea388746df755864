/**
 * The messages of a running unit, of which a plan waits until its networks are prepared: in steps, in the time that the
 * scans leave, while the old networks go on (ADR 0008). It is handed on at the top of the first scan after that.
 *
 * Order: what may speak of the new plan (its phases, new tags, bypasses) waits behind it. What is for the charts that run
 * passes, unless a message that speaks of the plan waits before it; signs of life, recordings and `stop` always pass, and so
 * does a write to a tag that is scanned now and the mode of a module, which is newer than every plan that waits and is
 * entered into each. A plan that is being prepared is finished: however fast plans follow each other, each preparation ends
 * with a swap.
 *
 * Invariant: besides the one that is prepared at most one plan waits. A newer one takes its place, so that what waits behind
 * the older finds a plan that has all it speaks of. Writes and questions that wait have a bound; beyond it they are answered.
 */
import { NetworkSet } from '../network/network-set.js';
import type { PreparedNetworks } from '../network/prepare.js';
import type { Steps } from '../network/steps.js';
import type { TextTable } from '../network/texts.js';
import type { UnitInbound, UnitOutbound } from '../port.js';

type PlanMessage = Extract<UnitInbound, { readonly type: 'plan' }>;
type ModeMessage = Extract<UnitInbound, { readonly type: 'module-mode' }>;

type Question = Extract<UnitInbound, { readonly type: 'write' | 'reset-devices' | 'inspect' }>;

/** For the charts that run, whatever the plan. */
const FOR_CHARTS: ReadonlySet<UnitInbound['type']> = new Set(['command', 'answer', 'signals', 'request-result', 'phase-mode', 'active-step'] satisfies UnitInbound['type'][]);
const ALWAYS: ReadonlySet<UnitInbound['type']> = new Set(['alive', 'record', 'record-stop', 'stop'] satisfies UnitInbound['type'][]);
/** Each is a request that somebody holds open, which a download of some hundred milliseconds does not gather; of other messages there is one per change of the plant. */
const QUESTIONS_MAX = 1000;

export interface DownloadParts {
  readonly receive: () => UnitInbound | undefined;
  readonly post: (answer: UnitOutbound) => void;
  readonly texts: TextTable;
  readonly monoMs: () => number;
  readonly cold: boolean;
  /** The networks that are scanned; undefined before the first plan. */
  readonly running: () => NetworkSet | undefined;
  /** Nobody waits for the first plan of a unit but the unit itself: it is loaded at once, unless others share the thread. */
  readonly mayWait: () => boolean;
}

interface Pending {
  message: PlanMessage;
  readonly steps: Steps<PreparedNetworks>;
  prepared: PreparedNetworks | undefined;
}

export class Downloads {
  readonly #parts: DownloadParts;
  readonly #waiting: UnitInbound[] = [];
  #questions = 0;
  #pending: Pending | undefined;
  #prepared: PreparedNetworks | undefined;

  constructor(parts: DownloadParts) {
    this.#parts = parts;
  }

  /** The next message to be handled now. */
  next(): UnitInbound | undefined {
    if (this.#pending?.prepared) return this.#handOn(this.#pending, this.#pending.prepared);
    for (;;) {
      const message = (!this.#pending && this.#takeWaiting()) || this.#parts.receive();
      if (!message || this.#isDue(message)) return message;
    }
  }

  #handOn({ message }: Pending, prepared: PreparedNetworks): UnitInbound {
    this.#pending = undefined;
    this.#prepared = { ...prepared, plan: message.plan };
    return message;
  }

  #takeWaiting(): UnitInbound | undefined {
    const message = this.#waiting.shift();
    if (message && isQuestion(message)) this.#questions -= 1;
    return message;
  }

  #isDue(message: UnitInbound): boolean {
    if (message.type === 'withdraw') return this.#withdraw(message.id);
    if (ALWAYS.has(message.type)) return true;
    if (!this.#pending) {
      if (message.type !== 'plan' || !this.#parts.mayWait()) return true;
      this.#begin(message);
      return false;
    }
    if (message.type === 'module-mode') this.#enterMode(this.#pending, message);
    else if (!this.#passes(message)) return this.#wait(message);
    return true;
  }

  #passes(message: UnitInbound): boolean {
    if (FOR_CHARTS.has(message.type)) return this.#waiting.every(({ type }) => type === 'plan');
    return message.type === 'write' && (this.#parts.running()?.slot(message.address) ?? -1) >= 0;
  }

  /** Every plan that waits was made before this mode was set. */
  #enterMode(pending: Pending, { module, mode }: ModeMessage): void {
    const entered = ({ plan }: PlanMessage): PlanMessage => ({ type: 'plan', plan: { ...plan, moduleModes: { ...plan.moduleModes, [module]: mode } } });
    pending.message = entered(pending.message);
    const at = this.#waiting.findIndex(({ type }) => type === 'plan');
    if (at >= 0) this.#waiting[at] = entered(this.#waiting[at] as PlanMessage);
  }

  /** @returns false: nothing is due. */
  #wait(message: UnitInbound): false {
    const older = message.type === 'plan' ? this.#waiting.findIndex(({ type }) => type === 'plan') : -1;
    if (older >= 0) this.#waiting[older] = message;
    else if (!isQuestion(message)) this.#waiting.push(message);
    else if (this.#questions >= QUESTIONS_MAX) this.#parts.post(refused(message));
    else {
      this.#questions += 1;
      this.#waiting.push(message);
    }
    return false;
  }

  /** @returns whether it is due: what does not wait here has been handed on. */
  #withdraw(id: number): boolean {
    const at = this.#waiting.findIndex((message) => isWithdrawable(message, id));
    if (at < 0) return true;
    this.#waiting.splice(at, 1);
    this.#questions -= 1;
    this.#parts.post(withdrawn(id));
    return false;
  }

  #begin(message: PlanMessage): void {
    const { texts, monoMs, cold, running } = this.#parts;
    const previous = running();
    this.#pending = { message, steps: NetworkSet.prepare(message.plan, { texts, clockMs: monoMs, cold, ...(previous && { previous }) }), prepared: undefined };
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

/** What moves equipment must not do so when nobody waits for it any longer. */
export function isWithdrawable(message: UnitInbound, id: number): boolean {
  return (message.type === 'write' || message.type === 'reset-devices') && message.id === id;
}

/** Answer to a write or a reset whose caller waits no longer. */
export function withdrawn(id: number): UnitOutbound {
  return { type: 'write-result', id, ok: false, code: 'withdrawn', message: 'the unit did not come to it in time, and takes it no more' };
}

/** A question without a result is one that the runtime could not answer. */
function refused({ type, id }: Question): UnitOutbound {
  if (type === 'inspect') return { type: 'inspect-result', id, result: undefined };
  return { type: 'write-result', id, ok: false, code: 'busy', message: 'too many writes wait for the plan that the unit is taking over; try again' };
}

function isQuestion(message: UnitInbound): message is Question {
  return message.type === 'write' || message.type === 'reset-devices' || message.type === 'inspect';
}
