/**
 * The explorer thread as the gateway sees it: started for the first question, ended when none came for a while. Few questions at a time, and
 * one to a server, so that who looks through servers costs the box little and stands in nobody's way; a thread that does not answer is ended.
 */
import { Worker } from 'node:worker_threads';
import type { BoxNotice, ExplorerOutbound, ExplorerReply, ExplorerRequest } from '../../../runtime/port.js';
import type { Clock } from '../../platform/base/clock.js';
import { contain, guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { Refusal } from '../../platform/base/refusal.js';

const ENTRY = new URL('../../../runtime/explorer.js', import.meta.url);
/** Questions to servers under way, each to another server: one that is silent keeps nobody from the others. */
const IN_FLIGHT_MAX = 12;
/** Of one caller, with the one under way. */
const QUEUED_MAX = 4;
const IDLE_MS = 60_000;
/** A thread has its library to load, and tells of a server that is silent. */
const LATER_MS = 10_000;

export type Question = Omit<ExplorerRequest, 'id'>;

interface Waiting {
  /** Which thread was asked. */
  readonly worker?: Worker;
  readonly request: ExplorerRequest;
  readonly caller: string;
  settle(reply: ExplorerReply): void;
}

export class Explorer {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #queue: Waiting[] = [];
  readonly #inFlight = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #nextId = 1;
  #cancelIdle: () => void = () => {};
  #isStopped = false;
  readonly #notice: (notice: BoxNotice) => void;

  constructor({ clock, log, notice }: { readonly clock: Clock; readonly log: Log; readonly notice: (notice: BoxNotice) => void }) {
    this.#notice = notice;
    this.#clock = clock;
    this.#log = log;
  }

  /** @throws Refusal `already_running` when the caller has too many questions open. */
  ask(caller: string, question: Question): Promise<ExplorerReply> {
    const isAlike = (row: Waiting): boolean => row.caller === caller && (serverOf(row.request) === '') === (serverOf(question) === '');
    const open = [...this.#queue, ...this.#inFlight.values()].filter(isAlike).length;
    if (open >= QUEUED_MAX) throw new Refusal('conflict', `${open} questions of yours to servers are not answered yet; wait for one of them`, { code: 'already_running' });
    const request: ExplorerRequest = { ...question, id: this.#nextId++ };
    return new Promise((settle) => {
      this.#queue.push({ request, caller, settle });
      this.#next();
    });
  }

  #next(): void {
    for (const waiting of [...this.#queue]) {
      if (!this.#hasPlace(waiting)) continue;
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      this.#send(waiting);
    }
    this.#cancelIdle();
    if (this.#inFlight.size === 0) this.#cancelIdle = this.#clock.after(IDLE_MS, () => guardedPromise('end of the explorer', () => this.#end()));
  }

  /** One question at a time to a server; what is asked of no server waits for none. */
  #hasPlace({ request }: Waiting): boolean {
    const server = serverOf(request);
    if (server === '') return true;
    const asked = [...this.#inFlight.values()].map((row) => serverOf(row.request)).filter((other) => other !== '');
    return asked.length < IN_FLIGHT_MAX && !asked.includes(server);
  }

  #send(waiting: Waiting): void {
    const { request } = waiting;
    if (this.#isStopped) return waiting.settle(unanswered(request, 'the box is stopping'));
    const cancel = this.#clock.after(request.timeoutMs + LATER_MS, () => {
      this.#log.error({ endpointUrl: request.endpointUrl }, 'the explorer thread does not answer and is ended');
      guardedPromise('end of the explorer', () => this.#end());
    });
    const worker = (this.#worker ??= this.#start());
    this.#inFlight.set(request.id, {
      ...waiting,
      worker,
      settle: (reply) => {
        cancel();
        waiting.settle(reply);
      },
    });
    worker.postMessage(request);
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, { name: 'explorer', execArgv: [] });
    worker.on('message', (reply: ExplorerOutbound) =>
      guarded('message of the explorer', () => {
        if ('type' in reply) return reply.type === 'fault' ? contain(reply.seam, reply.fault) : this.#notice(reply.notice);
        const waiting = this.#inFlight.get(reply.id);
        this.#inFlight.delete(reply.id);
        waiting?.settle(reply);
        this.#next();
      }),
    );
    worker.on('error', (fault) => this.#log.error({ fault: fault.message }, 'the explorer thread failed'));
    worker.on('exit', () => {
      if (worker === this.#worker) this.#worker = undefined;
      guarded('end of the explorer', () => this.#gone(worker));
    });
    return worker;
  }

  /** Of the questions that it was asked: a thread started meanwhile has its own. */
  #gone(worker: Worker): void {
    const lost = [...this.#inFlight.values()].filter((waiting) => waiting.worker === worker);
    for (const { request } of lost) this.#inFlight.delete(request.id);
    for (const { request, settle } of lost) settle(unanswered(request, 'the thread that asks servers has ended'));
    this.#next();
  }

  async #end(): Promise<void> {
    this.#cancelIdle();
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
    for (const { request, settle } of this.#queue.splice(0)) settle(unanswered(request, 'the box is stopping'));
    this.#cancelIdle();
  }
}

/** Host and port; '' of a question that is for the box itself. */
function serverOf({ ask, endpointUrl }: Pick<ExplorerRequest, 'ask' | 'endpointUrl'>): string {
  return ask.what === 'identity' ? '' : endpointUrl.replace(/^([a-z.]+:\/\/[^/]*)\/.*$/, '$1');
}

function unanswered({ id }: ExplorerRequest, message: string): ExplorerReply {
  return { id, ok: false, reason: 'unreachable', opcStatus: 'BadShutdown', message };
}
