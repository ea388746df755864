/**
 * Which thread a unit is scanned by (ADR 0012): one of its own while there are few; then it joins the thread of its period
 * class that has the fewest units. Nothing moves as long as its thread lives. Units whose thread has ended under several of
 * them get threads of their own, so that the one that is to blame cannot do it to the others again.
 */
import type { Clock } from '../../platform/base/clock.js';
import { guarded, guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import type { Realtime } from './runtimes.js';
import { ScanThread } from './scan-thread.js';

/** Heap that each unit of a thread can count on: a typical one takes 2 to 5 MB. */
const UNIT_HEAP_MB = 16;
const LOOK_MS = 1000;
/** A thread sleeps for a second at most, and its longest step is a scan or the first plan of a unit that is alone. */
const STUCK_LOOKS = 15;
/** One that was ended and is still there by then does not let go: it hangs below JavaScript, and only the end of the process ends it. */
const ENDED_LOOKS = 5;
/** Without a sleep in so many looks a thread loses its real-time priority; with one in each of so many it is given back. */
const AWAKE_LOOKS = 3;
const CALM_LOOKS = 60;

export interface ScanThreadsParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Limit of each thread. */
  readonly heapMb: number;
  /** From then on units share; further threads only for a period class that has none, or when all are full. */
  readonly threadsMax: number;
  /** Entry of the threads. */
  readonly entry?: URL;
  prioritise(osThreadId: number): Promise<Realtime>;
  takePriorityBack(osThreadId: number): Promise<Realtime>;
}

/** Looks at a thread with real-time priority that did not find it asleep; at one that has lost it, those that did. */
interface Priority {
  awake: number;
  calm: number;
  isLost: boolean;
}

export class ScanThreads {
  readonly #parts: ScanThreadsParts;
  readonly #threads = new Set<ScanThread>();
  /** Threads of units that share no more. */
  readonly #apart = new WeakSet<ScanThread>();
  readonly #silentLooks = new WeakMap<ScanThread, number>();
  readonly #priorities = new WeakMap<ScanThread, Priority>();
  readonly #runtimesMax: number;
  #made = 0;
  #cancelLook: (() => void) | undefined;

  constructor(parts: ScanThreadsParts) {
    this.#parts = parts;
    this.#runtimesMax = Math.max(1, Math.floor(parts.heapMb / UNIT_HEAP_MB));
  }

  /** A thread for a unit of this period class; `apart` when it shares no more. */
  place(scanIntervalMs: number, apart: boolean): ScanThread {
    const open = [...this.#threads].filter(({ isOpen }) => isOpen);
    if (apart || open.length < this.#parts.threadsMax) return this.#start(apart);
    const fits = (thread: ScanThread): boolean =>
      !this.#apart.has(thread) && thread.hosted.length < this.#runtimesMax && thread.hosted.every((runtime) => runtime.scanIntervalMs === scanIntervalMs);
    const [first, ...others] = open.filter(fits);
    return first ? others.reduce((least, thread) => (thread.hosted.length < least.hosted.length ? thread : least), first) : this.#start(false);
  }

  /** Resolves when no thread runs any more; their units must have been ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.untilGone()));
  }

  #start(apart: boolean): ScanThread {
    const { clock, log, heapMb, entry, prioritise, takePriorityBack } = this.#parts;
    this.#made += 1;
    const name = `scan ${this.#made}`;
    const thread = new ScanThread({ clock, log, heapMb, name, ...(entry && { entry }), prioritise, takePriorityBack, gone: (ended) => this.#threads.delete(ended) });
    this.#threads.add(thread);
    if (apart) this.#apart.add(thread);
    this.#cancelLook ??= this.#lookAgain();
    return thread;
  }

  // ---------------------------------------------------------------- threads that no longer come round

  #lookAgain(): () => void {
    return this.#parts.clock.after(LOOK_MS, () => {
      for (const thread of this.#threads) guarded('watchdog of the scan threads', () => this.#look(thread));
      this.#cancelLook = this.#threads.size > 0 ? this.#lookAgain() : undefined;
    });
  }

  /** Looks are counted, not time: when the whole process stood still, nobody is to blame. */
  #look(thread: ScanThread): void {
    const silent = thread.comesRound() ? 0 : (this.#silentLooks.get(thread) ?? 0) + 1;
    this.#silentLooks.set(thread, silent);
    if (silent === STUCK_LOOKS) thread.giveUpStuck(STUCK_LOOKS * LOOK_MS);
    this.#lookAfterPriority(thread);
  }

  /** A thread that does not come round and did not end when it was told to, in words. */
  get hung(): string | undefined {
    for (const thread of this.#threads) {
      const silent = this.#silentLooks.get(thread) ?? 0;
      if (silent >= STUCK_LOOKS + ENDED_LOOKS) return `the scan thread of ${thread.units} has not come round for ${(silent * LOOK_MS) / 1000} s and cannot be ended`;
    }
    return undefined;
  }

  /** One that never sleeps keeps its processor from everybody else, and from whoever would end it. */
  #lookAfterPriority(thread: ScanThread): void {
    const sleeps = thread.hasSlept();
    let priority = this.#priorities.get(thread);
    if (!priority) this.#priorities.set(thread, (priority = { awake: 0, calm: 0, isLost: false }));
    if (priority.isLost) {
      priority.calm = sleeps ? priority.calm + 1 : 0;
      if (priority.calm < CALM_LOOKS) return;
      this.#priorities.delete(thread);
      return guardedPromise('priority of a scan thread', () => thread.regainRealtime());
    }
    priority.awake = sleeps || !thread.realtime.granted ? 0 : priority.awake + 1;
    if (priority.awake < AWAKE_LOOKS) return;
    priority.isLost = true;
    guardedPromise('priority of a scan thread', () => thread.loseRealtime(AWAKE_LOOKS * LOOK_MS));
  }
}
