/**
 * The two threads of a rehearsal (ADR 0006). They begin with the first one and can be asked again: the next one finds them
 * started and their code compiled, which is most of what a short rehearsal takes.
 */
import { MessageChannel, Worker } from 'node:worker_threads';
import { guarded } from '../../platform/base/guarded.js';
import type { RehearsalFindings, RehearsalProgress } from './findings.js';
import type { RehearsalOrder } from './order.js';

const CONTROLLER = new URL('./thread.js', import.meta.url);
const PLANT = new URL('../../../runtime/rehearsal/plant-thread.js', import.meta.url);

/** Who is told of one rehearsal; after findings or a failure nothing comes any more. */
export interface Told {
  progress(plantSeconds: number): void;
  findings(findings: RehearsalFindings): void;
  /** `fault`: of the thread that has failed. */
  failed(reason: string, fault?: Error): void;
}

export class ThreadPair {
  readonly #threads: readonly Worker[];
  readonly #plant: Worker;
  readonly #controller: Worker;
  #told: Told | undefined;
  #isWhole = true;

  /** `heapMb`: limit of each of the two. */
  constructor(heapMb: number) {
    this.#plant = begun(PLANT, 'rehearsal plant', heapMb);
    this.#controller = begun(CONTROLLER, 'rehearsal controller', heapMb);
    this.#threads = [this.#plant, this.#controller];
    this.#controller.on('message', (said: RehearsalFindings | RehearsalProgress) => guarded('message of a rehearsal', () => this.#hear(said)));
    for (const thread of this.#threads) {
      thread.on('error', (fault) => guarded('fault of a rehearsal', () => this.#fail(fault.message, fault)));
      thread.on('exit', () => guarded('end of a rehearsal', () => this.#fail('a thread ended before its time')));
    }
  }

  /** Whether both threads are there: one that has failed rehearses nothing any more. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** One at a time. The process waits for it, and not for threads that wait to be asked. */
  rehearse(order: RehearsalOrder, told: Told): void {
    this.#told = told;
    const { port1, port2 } = new MessageChannel(); // of its own: what the one before left unsaid is heard by nobody
    for (const thread of this.#threads) thread.ref();
    this.#plant.postMessage({ port: port2 }, [port2]);
    this.#controller.postMessage({ order, port: port1 }, [port1]);
  }

  /** Whatever they do: nobody is told any more. */
  async end(): Promise<void> {
    this.#over();
    this.#isWhole = false;
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  #hear(said: RehearsalFindings | RehearsalProgress): void {
    if ('progress' in said) this.#told?.progress(said.progress);
    else this.#over()?.findings(said);
  }

  #fail(reason: string, fault?: Error): void {
    this.#isWhole = false;
    this.#over()?.failed(reason, fault);
  }

  #over(): Told | undefined {
    const told = this.#told;
    this.#told = undefined;
    for (const thread of this.#threads) thread.unref();
    return told;
  }
}

function begun(entry: URL, name: string, heapMb: number): Worker {
  // what a copied batch logs is not news of the plant
  const env = { ...process.env, LINESIDE_LOG_LEVEL: 'silent' };
  return new Worker(entry, { name, env, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 16 } });
}
