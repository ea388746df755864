/** Runs rehearsals in threads of their own, one at a time (ADR 0006). The gateway thread waits for nothing and computes nothing. */
import { MessageChannel, type TransferListItem, Worker } from 'node:worker_threads';
import type { Clock } from '../../platform/base/clock.js';
import type { Log } from '../../platform/base/log.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import type { RehearsalFindings } from './findings.js';
import type { RehearsalOrder } from './order.js';

const CONTROLLER = new URL('./thread.js', import.meta.url);
const PLANT = new URL('../../../runtime/rehearsal/plant-thread.js', import.meta.url);
/** Both sides keep the limit of the order themselves; after this long a side that does not is ended. */
const GRACE_MS = 15_000;

export interface RehearsalResult extends RehearsalFindings {
  readonly wallMs: number;
  /** Plant time per wall time, the start of the threads included. */
  readonly speed: number;
}

export class Rehearsals {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #heapMb: number;
  #end: ((reason: string) => void) | undefined;
  #running = Promise.resolve();

  /** `heapMb`: limit of each of the two threads. */
  constructor(parts: { readonly clock: Clock; readonly log: Log; readonly heapMb: number }) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#heapMb = parts.heapMb;
  }

  /** @throws Refusal 409 while another one runs, 503 when a thread fails. */
  async run(order: () => RehearsalOrder): Promise<RehearsalResult> {
    if (this.#end) throw conflict('rehearsal_active', 'another rehearsal runs; one at a time');
    const began = this.#clock.monoMs();
    const findings = await this.#findings(order());
    const wallMs = Math.round(this.#clock.monoMs() - began);
    return { ...findings, wallMs, speed: Math.round((10_000 * findings.plantSeconds) / Math.max(1, wallMs)) / 10 };
  }

  /** Ends the one that runs; its caller is refused. */
  async stop(): Promise<void> {
    this.#end?.('the appliance stops');
    await this.#running;
  }

  #findings(order: RehearsalOrder): Promise<RehearsalFindings> {
    const { port1, port2 } = new MessageChannel();
    const plant = this.#thread(PLANT, 'rehearsal plant', { port: port2 }, [port2]);
    const controller = this.#thread(CONTROLLER, 'rehearsal controller', { order, port: port1 }, [port1]);
    const threads = [plant, controller];
    return new Promise((resolve, reject) => {
      const settle = (deliver: () => void): void => {
        if (this.#end !== fail) return; // it is over: threads that end now end the way they should
        this.#end = undefined;
        cancel();
        this.#running = Promise.all(threads.map((thread) => thread.terminate())).then(() => undefined);
        deliver();
      };
      const fail = (reason: string): void => settle(() => reject(new Refusal('unavailable', `the rehearsal failed: ${reason}`, { code: 'rehearsal_failed' })));
      const cancel = this.#clock.after(order.wallMsMax + GRACE_MS, () => fail('it did not end in time'));
      this.#end = fail;
      controller.on('message', (findings: RehearsalFindings) => settle(() => resolve(findings)));
      for (const thread of threads) {
        thread.on('error', (fault) => {
          this.#log.error({ fault: fault.stack ?? fault.message, recipe: order.batch.masterRecipeRef }, 'a rehearsal failed');
          fail(fault.message);
        });
      }
      // its findings come before its end; the end of the plant may be heard of before both, and without a plant it ends too
      controller.on('exit', () => fail('a thread ended before its time'));
    });
  }

  #thread(entry: URL, name: string, workerData: object, transferList: TransferListItem[]): Worker {
    // what a copied batch logs is not news of the plant
    const env = { ...process.env, LINESIDE_LOG_LEVEL: 'silent' };
    return new Worker(entry, { name, workerData, transferList, env, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: 16 } });
  }
}
