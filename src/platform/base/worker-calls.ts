/**
 * Calls to a worker thread by name: one message there, one answer back. A worker that dies refuses what was waiting and
 * is started again by the next call.
 */
import { type MessagePort, type TransferListItem, Worker } from 'node:worker_threads';
import { guarded } from './guarded.js';
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
}

export class WorkerCalls {
  readonly #entry: WorkerEntry;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onMessage: (message: unknown) => void;
  #worker: Worker | null = null;
  #nextCall = 1;
  #closed = false;

  /** `onMessage` gets what the thread sends besides answers. */
  constructor(entry: WorkerEntry, onMessage: (message: unknown) => void = () => undefined) {
    this.#entry = entry;
    this.#onMessage = onMessage;
  }

  call<T>(name: string, args: unknown): Promise<T> {
    if (this.#closed) return Promise.reject(new Error(`the ${this.#entry.name} thread is closed`));
    const call = this.#nextCall;
    this.#nextCall += 1;
    const answered = new Promise<T>((resolve, reject) => this.#waiting.set(call, { resolve: resolve as (value: unknown) => void, reject }));
    this.#running().postMessage({ call, name, args } satisfies CallMessage);
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
    const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    await this.call('close', {}).catch(() => undefined);
    this.#closed = true;
    await worker.terminate();
    await gone;
  }

  #running(): Worker {
    this.#worker ??= this.#start();
    return this.#worker;
  }

  #start(): Worker {
    const worker = new Worker(this.#entry.url, { workerData: this.#entry.data, name: this.#entry.name, execArgv: [] });
    let fault = `the ${this.#entry.name} thread stopped`;
    worker.on('message', (message: unknown) => guarded(`message of the ${this.#entry.name} thread`, () => this.#receive(message)));
    worker.on('error', (error) => {
      fault = `the ${this.#entry.name} thread died: ${error.message}`;
    });
    worker.on('exit', () => {
      this.#worker = null;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const each of waiting) each.reject(new Error(fault));
    });
    return worker;
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null || !('call' in message)) return this.#onMessage(message);
    const answer = message as AnswerMessage;
    const waiting = this.#waiting.get(answer.call);
    this.#waiting.delete(answer.call);
    if ('value' in answer) waiting?.resolve(answer.value);
    else waiting?.reject(answer.refusal ? new Refusal(answer.refusal.kind, answer.fault, answer.refusal.context) : new Error(answer.fault));
  }
}

/** What a call may return to have its bytes moved instead of copied. */
export class Transferred {
  readonly bytes: Uint8Array;

  constructor(text: string) {
    this.bytes = new TextEncoder().encode(text);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each call declares its own arguments
export type CallTable = Readonly<Record<string, (args: any) => unknown>>;

/** The thread's side: answers calls from the table, hands every other message to `onMessage`. */
export function serveCalls(port: MessagePort, table: CallTable, onMessage: (message: unknown) => void = () => undefined): (message: unknown) => void {
  const receive = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('call' in message)) return onMessage(message);
    void answerCall(port, table, message as CallMessage);
  };
  port.on('message', receive);
  return receive;
}

async function answerCall(port: MessagePort, table: CallTable, { call, name, args }: CallMessage): Promise<void> {
  try {
    const given = table[name](args);
    const value = given instanceof Promise ? await given : given;
    if (value instanceof Transferred) port.postMessage({ call, value: value.bytes }, [value.bytes.buffer as TransferListItem]);
    else port.postMessage({ call, value });
  } catch (fault) {
    const { message } = fault as Error;
    port.postMessage(fault instanceof Refusal ? { call, fault: message, refusal: { kind: fault.kind, context: fault.context } } : { call, fault: message });
  }
}
