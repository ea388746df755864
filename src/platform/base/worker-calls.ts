/**
 * Calls to a worker thread by name: one message there, one answer back. A worker that dies refuses what was waiting and
 * is started again by the next call.
 */
import { assert } from './assert.js';
import { type MessagePort, type TransferListItem, Worker } from 'node:worker_threads';
import { guarded, guardedPromise } from './guarded.js';
import { Refusal, type RefusalContext, type RefusalKind } from './refusal.js';

export interface WorkerEntry {
  readonly url: URL;
  readonly name: string;
  readonly data: unknown;
}

interface CallMessage {
  readonly call: number;
  readonly name: string;
  readonly args: unknown;
}

type AnswerMessage =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: string; readonly refusal?: { readonly kind: RefusalKind; readonly context: RefusalContext } };

interface Waiting {
  resolve(value: unknown): void;
  reject(fault: Error): void;
  readonly timer: NodeJS.Timeout | undefined;
}

export interface CallLimits {
  /** A call that is not answered in this time is refused; 0: whoever calls waits for the end of the thread. */
  readonly withinMs?: number;
  /** Told when the thread ends by itself. */
  readonly died?: ((name: string, fault: string) => void) | undefined;
  /** A thread that ended by itself is started again after so long, and does not wait for the next call. */
  readonly againAfterMs?: number;
  /** Told when there is a thread in place of one that ended: it knows nothing that was told to that one alone. */
  readonly began?: () => void;
}

export class WorkerCalls {
  readonly #entry: WorkerEntry;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onMessage: (message: unknown) => void;
  readonly #withinMs: number;
  readonly #died: CallLimits['died'];
  readonly #againAfterMs: number;
  readonly #began: CallLimits['began'];
  #isFirst = true;
  #worker: Worker | null = null;
  #nextCall = 1;
  #closing = false;
  #closed = false;

  /** `onMessage` gets what the thread sends besides answers. */
  constructor(entry: WorkerEntry, onMessage: (message: unknown) => void = () => undefined, { withinMs = 0, died, againAfterMs = 0, began }: CallLimits = {}) {
    this.#withinMs = withinMs;
    this.#died = died;
    this.#againAfterMs = againAfterMs;
    this.#began = began;
    this.#entry = entry;
    this.#onMessage = onMessage;
  }

  /** `withinMs`: for a call that may take longer than the others. */
  call<T>(name: string, args: unknown, withinMs = this.#withinMs): Promise<T> {
    if (this.#closed) return Promise.reject(new Error(`the ${this.#entry.name} thread is closed`));
    const call = this.#nextCall;
    this.#nextCall += 1;
    const timer = withinMs > 0 ? setTimeout(() => this.#giveUp(call, name, withinMs), withinMs).unref() : undefined;
    const answered = new Promise<T>((resolve, reject) => this.#waiting.set(call, { resolve: resolve as (value: unknown) => void, reject, timer }));
    try {
      this.#running().postMessage({ call, name, args } satisfies CallMessage);
    } catch (fault) {
      this.#settled(call)?.reject(fault as Error); // what cannot be cloned was never sent
    }
    return answered;
  }

  /** A message without an answer. */
  tell(message: unknown): void {
    if (!this.#closed) this.#running().postMessage(message);
  }

  /** Lets the thread finish by its call `close`, then waits until it is gone. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const worker = this.#worker;
    if (!worker) {
      this.#closed = true;
      return;
    }
    this.#closing = true;
    const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    await this.call('close', {}).catch(() => undefined);
    this.#closed = true;
    await worker.terminate();
    await gone;
  }

  /** Ends the thread in the middle of what it does; one that hangs in the kernel goes on, and this with it. */
  async terminate(): Promise<void> {
    this.#closing = true;
    await this.#worker?.terminate();
  }

  #giveUp(call: number, name: string, withinMs: number): void {
    this.#settled(call)?.reject(new Refusal('unavailable', `the ${this.#entry.name} thread has not answered ${name} within ${withinMs / 1000} s`, { code: 'no_answer' }));
  }

  #settled(call: number): Waiting | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  #running(): Worker {
    if (this.#worker) return this.#worker;
    const worker = (this.#worker = this.#start());
    if (!this.#isFirst) guarded(`begin of another ${this.#entry.name} thread`, () => this.#began?.());
    this.#isFirst = false;
    return worker;
  }

  #startAgain(): void {
    setTimeout(() => {
      if (!this.#closed && !this.#closing) this.#running();
    }, this.#againAfterMs).unref();
  }

  #start(): Worker {
    const worker = new Worker(this.#entry.url, { workerData: this.#entry.data, name: this.#entry.name, execArgv: [] });
    let fault = `the ${this.#entry.name} thread stopped`;
    worker.on('message', (message: unknown) => guarded(`message of the ${this.#entry.name} thread`, () => this.#receive(message)));
    worker.on('error', (error) => {
      fault = `the ${this.#entry.name} thread died: ${textOfFault(error)}`;
    });
    worker.on('exit', () => {
      this.#worker = null;
      if (!this.#closed && !this.#closing) {
        guarded('death of a thread', () => this.#died?.(this.#entry.name, fault));
        if (this.#againAfterMs > 0) this.#startAgain();
      }
      for (const call of [...this.#waiting.keys()]) this.#settled(call)?.reject(new Error(fault));
    });
    return worker;
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('call' in message)) return this.#onMessage(message);
    const answer = message as AnswerMessage;
    const waiting = this.#settled(answer.call);
    if ('value' in answer) waiting?.resolve(answer.value);
    else waiting?.reject(answer.refusal ? new Refusal(answer.refusal.kind, answer.fault, answer.refusal.context) : new Error(answer.fault));
  }
}

/** Of what a thread ended by: something that is no error has no message. */
export function textOfFault(fault: unknown): string {
  const { message, code } = (fault ?? {}) as { readonly message?: unknown; readonly code?: unknown };
  return String(message ?? code ?? fault);
}

/** What a call may return to have its bytes moved instead of copied. */
export class Transferred {
  readonly bytes: Uint8Array;

  constructor(text: string) {
    this.bytes = new TextEncoder().encode(text);
  }
}

/** Each call declares its own arguments; that a caller sends these is the doing of the two sides of one table. */
export type CallTable = Readonly<Record<string, (args: never) => unknown>>;

/** The thread's side: answers calls from the table, hands every other message to `onMessage`. */
export function serveCalls(port: MessagePort, table: CallTable, onMessage: (message: unknown) => void = () => undefined): (message: unknown) => void {
  const receive = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('call' in message)) return onMessage(message);
    guardedPromise('answer of a thread', () => answerCall(port, table, message as CallMessage));
  };
  port.on('message', receive);
  return receive;
}

async function answerCall(port: MessagePort, table: CallTable, { call, name, args }: CallMessage): Promise<void> {
  try {
    const serve = table[name];
    assert(serve, `the thread knows the call ${name}`);
    const given = serve(args as never);
    const value = given instanceof Promise ? await given : given;
    if (value instanceof Transferred) port.postMessage({ call, value: value.bytes }, [value.bytes.buffer as TransferListItem]);
    else port.postMessage({ call, value });
  } catch (fault) {
    const { message } = fault as Error;
    port.postMessage(fault instanceof Refusal ? { call, fault: message, refusal: { kind: fault.kind, context: fault.context } } : { call, fault: message });
  }
}
