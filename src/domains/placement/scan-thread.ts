/**
 * One scan thread of this process and the units it has now (ADR 0012). It goes with its last unit. When it ends on its own,
 * or no longer comes round, all its units end with it; what becomes of them is theirs to decide.
 */
import { Worker } from 'node:worker_threads';
import type { ScanThreadInbound, ScanThreadOutbound, ScanThreadStart, UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { Waker } from '../../../runtime/vocabulary/scan-thread.js';
import type { Clock } from '../../platform/base/clock.js';
import { guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import type { Realtime } from './runtimes.js';
import { REALTIME_UNASKED } from './realtime.js';

const WORKER = new URL('../../../runtime/worker.js', import.meta.url);
const DROP_TIMEOUT_MS = 2000;
/** So many looks a thread may take to load its modules. */
const LOADING_LOOKS = 45;

/** How a unit came to its end in a thread. */
export interface RuntimeEnd {
  /** What the unit has thrown; empty when it did not. */
  readonly fault: string;
  /** Of the thread; undefined when it goes on. */
  readonly exitCode?: number;
  /** The thread has ended with several units: nobody knows whose fault it is. */
  readonly withOthers: boolean;
}

/** A unit as its thread sees it. */
export interface HostedRuntime {
  readonly site: string;
  readonly unit: string;
  /** Its period class. */
  readonly scanIntervalMs: number;
  take(message: UnitOutbound): void;
  ended(end: RuntimeEnd): void;
}

export interface ScanThreadParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly name: string;
  readonly heapMb: number;
  readonly entry?: URL;
  prioritise(osThreadId: number): Promise<Realtime>;
  takePriorityBack(osThreadId: number): Promise<Realtime>;
  /** Nothing of it runs any more. */
  gone(thread: ScanThread): void;
}

export class ScanThread {
  realtime: Realtime = REALTIME_UNASKED;
  readonly #parts: ScanThreadParts;
  readonly #waker = new Waker();
  readonly #worker: Worker;
  readonly #hosted = new Map<number, HostedRuntime>();
  /** Who waits for the end of a runtime, besides the runtime itself. */
  readonly #waiting = new Map<number, (() => void)[]>();
  readonly #exit: Promise<void>;
  #lastRuntime = 0;
  #isOpen = true;
  #isReady = false;
  #seenRounds = 0;
  #seenSleeps = 0;
  #loadingLooks = 0;
  #osThreadId = 0;

  constructor(parts: ScanThreadParts) {
    this.#parts = parts;
    const worker = new Worker(parts.entry ?? WORKER, {
      name: parts.name,
      resourceLimits: { maxOldGenerationSizeMb: parts.heapMb, maxYoungGenerationSizeMb: 8 },
      workerData: { cells: this.#waker.memory } satisfies ScanThreadStart,
      execArgv: [], // loaders and flags of the gateway are not for its threads: one of the tests takes seconds to load
    });
    this.#worker = worker;
    worker.on('message', (message: ScanThreadOutbound) => guarded('message of a scan thread', () => this.#take(message)));
    worker.on('error', (fault) => {
      for (const { site, unit } of this.#hosted.values()) parts.log.error({ unit, site, fault: fault.stack ?? fault.message }, 'unit runtime failed');
    });
    this.#exit = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.#exited(code);
        resolve();
      });
    });
  }

  get threadId(): number {
    return this.#worker.threadId;
  }

  /** Whether it takes runtimes. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hosted(): HostedRuntime[] {
    return [...this.#hosted.values()];
  }

  // ---------------------------------------------------------------- runtimes

  /** @returns the number under which the thread knows the unit from now on. */
  host(runtime: HostedRuntime): number {
    this.#lastRuntime += 1;
    this.#hosted.set(this.#lastRuntime, runtime);
    this.#tell({ type: 'host', runtime: this.#lastRuntime });
    return this.#lastRuntime;
  }

  send(runtime: number, message: UnitInbound): void {
    this.#worker.postMessage({ type: 'unit', runtime, message } satisfies ScanThreadInbound);
  }

  /** Resolves when the runtime has ended: of itself, or with its thread. */
  untilEnded(runtime: number): Promise<void> {
    if (!this.#hosted.has(runtime)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(runtime, [...(this.#waiting.get(runtime) ?? []), resolve]));
  }

  /** Ends a runtime as it is. One that is alone ends with its thread; where others share it, a thread that does not obey ends with all of them. */
  async end(runtime: number): Promise<void> {
    if (!this.#hosted.has(runtime)) return;
    if (this.#hosted.size === 1) return this.#terminate();
    const ended = this.untilEnded(runtime);
    this.#tell({ type: 'drop', runtime });
    const cancel = this.#parts.clock.after(DROP_TIMEOUT_MS, () => {
      this.#giveUp(`it did not let a unit go within ${DROP_TIMEOUT_MS} ms`);
    });
    await ended;
    cancel();
  }

  #take(message: ScanThreadOutbound): void {
    if (message.type === 'ready') guardedPromise('priority of a scan thread', () => this.#prioritise(message.osThreadId));
    else if (message.type === 'unit') this.#hosted.get(message.runtime)?.take(message.message);
    else this.#ended(message.runtime, { fault: message.fault, withOthers: false });
  }

  #ended(id: number, end: RuntimeEnd): void {
    const runtime = this.#hosted.get(id);
    if (!runtime) return;
    this.#hosted.delete(id);
    if (end.fault !== '') this.#parts.log.error({ unit: runtime.unit, site: runtime.site, fault: end.fault }, 'unit runtime failed');
    guarded('end of a unit runtime', () => runtime.ended(end)); // it starts again in there: the other units of the thread do so, too
    for (const resolve of this.#waiting.get(id) ?? []) resolve();
    this.#waiting.delete(id);
    if (this.#hosted.size === 0 && this.#isOpen) this.#close();
  }

  async #prioritise(osThreadId: number): Promise<void> {
    this.#isReady = true;
    this.#osThreadId = osThreadId;
    this.realtime = await this.#parts.prioritise(osThreadId);
  }

  // ---------------------------------------------------------------- the thread

  /** Whether the thread has come round since the last look; one that still loads its modules is given time. */
  comesRound(): boolean {
    if (!this.#isReady) return this.#loadingLooks++ < LOADING_LOOKS;
    const { rounds } = this.#waker;
    const comes = rounds !== this.#seenRounds;
    this.#seenRounds = rounds;
    return comes;
  }

  /** Whether the thread has slept since the last look. */
  hasSlept(): boolean {
    const { sleeps } = this.#waker;
    const has = sleeps !== this.#seenSleeps;
    this.#seenSleeps = sleeps;
    return has;
  }

  /** Nobody else gets its processor: it goes on as an ordinary thread. */
  async loseRealtime(forMs: number): Promise<void> {
    for (const { site, unit } of this.#hosted.values())
      this.#parts.log.warn({ unit, site, thread: this.#parts.name }, `the scan thread has not slept for ${forMs / 1000} s and loses its real-time priority`);
    this.realtime = await this.#parts.takePriorityBack(this.#osThreadId);
  }

  async regainRealtime(): Promise<void> {
    this.realtime = await this.#parts.prioritise(this.#osThreadId);
    for (const { site, unit } of this.#hosted.values())
      this.#parts.log.info({ unit, site, granted: this.realtime.granted }, 'the scan thread sleeps again and is given back its real-time priority');
  }

  /** The units that it has now, for a sentence. */
  get units(): string {
    return this.hosted.map(({ site, unit }) => `${site}/${unit}`).join(', ');
  }

  /** It no longer comes round: its units are to be scanned by other threads. */
  giveUpStuck(forMs: number): void {
    const stuck = this.#hosted.get(this.#waker.atWork);
    this.#giveUp(`it has not come round for ${forMs / 1000} s${stuck ? `, in the scan of ${stuck.site}/${stuck.unit}` : ''}`);
  }

  #giveUp(why: string): void {
    for (const { site, unit } of this.#hosted.values()) this.#parts.log.error({ unit, site, thread: this.#parts.name }, `the scan thread is ended: ${why}`);
    guardedPromise('end of a scan thread', () => this.#terminate());
  }

  untilGone(): Promise<void> {
    return this.#exit;
  }

  #tell(message: ScanThreadInbound): void {
    this.#worker.postMessage(message);
    this.#waker.wake();
  }

  #close(): void {
    this.#isOpen = false;
    this.#tell({ type: 'close' });
  }

  async #terminate(): Promise<void> {
    this.#isOpen = false;
    await this.#worker.terminate();
  }

  #exited(exitCode: number): void {
    this.#isOpen = false;
    guarded('end of a scan thread', () => this.#parts.gone(this));
    const withOthers = this.#hosted.size > 1;
    for (const id of [...this.#hosted.keys()]) this.#ended(id, { fault: '', exitCode, withOthers });
  }
}
