/**
 * The units of one scan thread, earliest deadline first (ADR 0012). Most threads have one; where a box has more units than
 * threads, some share one. Each keeps its own clock, messages, networks and figures; a unit that throws ends alone.
 *
 * A turn is the messages and a scan of one unit, or, between two scans of a slow one, a look at its alarms
 * (`alarm-schedule.ts`). It is never interrupted, so what takes long is done in steps while others share the thread: the preparation of a plan, even of
 * the first one, and a flood of messages. Nothing here is looked up by name, and a round allocates nothing.
 */
import { PhaseSet } from '../chart/phase-set.js';
import type { ScanThreadInbound, ScanThreadOutbound, UnitInbound } from '../port.js';
import { ScanClock } from './clock.js';
import { isWithdrawable, withdrawn } from './download.js';
import { UnitLoop } from './loop.js';
import type { PhaseEngineFactory } from './phase-engine.js';

/** Longest sleep: a thread that has nothing to do shows that it lives. */
const SLEEP_MS_MAX = 1000;

export interface HostParts {
  readonly receive: () => ScanThreadInbound | undefined;
  readonly post: (message: ScanThreadOutbound, transfer?: readonly ArrayBuffer[]) => void;
  readonly monoMs: () => number;
  readonly wallMs: () => number;
  /** A round of the thread begins: what is told from here on ends the next sleep. */
  readonly round: () => void;
  /** Sleeps for at most the given milliseconds; may return early. */
  readonly sleep: (ms: number) => void;
  /** Whose turn it is; 0 is nobody's. */
  readonly turnOf: (runtime: number) => void;
  readonly phases?: PhaseEngineFactory;
}

interface HostedRuntime {
  readonly id: number;
  readonly loop: UnitLoop;
  readonly inbox: UnitInbound[];
}

export class ScanHost {
  readonly #parts: HostParts;
  readonly #runtimes: HostedRuntime[] = [];
  #isClosed = false;

  constructor(parts: HostParts) {
    this.#parts = parts;
  }

  /** Runs until `close`. @throws what the only unit of the thread has thrown: then the thread is of no use. */
  run(): void {
    const { monoMs, round, sleep } = this.#parts;
    for (;;) {
      round();
      this.#receive();
      if (this.#isClosed) return;
      const next = this.#earliest();
      const restMs = next ? next.loop.dueMs - monoMs() : SLEEP_MS_MAX;
      if (!next || restMs > 0) sleep(Math.min(restMs, SLEEP_MS_MAX));
      else this.#turn(next);
    }
  }

  // ---------------------------------------------------------------- messages

  #receive(): void {
    for (let message = this.#parts.receive(); message; message = this.#parts.receive()) {
      if (message.type === 'close') this.#isClosed = true;
      else if (message.type === 'host') this.#runtimes.push(this.#newRuntime(message.runtime));
      else this.#tell(message);
    }
  }

  /** A runtime that has ended hears nothing. */
  #tell(message: Extract<ScanThreadInbound, { readonly type: 'unit' | 'drop' }>): void {
    const hosted = this.#runtimes.find(({ id }) => id === message.runtime);
    if (!hosted) return;
    if (message.type === 'drop') return this.#end(hosted);
    const told = message.message;
    if (told.type !== 'withdraw' || !this.#withdraw(hosted, told.id)) hosted.inbox.push(told);
  }

  /** A write or reset that waits for the next scan; false when it is there no more. */
  #withdraw({ id: runtime, inbox }: HostedRuntime, id: number): boolean {
    const at = inbox.findIndex((message) => isWithdrawable(message, id));
    if (at < 0) return false;
    inbox.splice(at, 1);
    this.#parts.post({ type: 'unit', runtime, message: withdrawn(id) });
    return true;
  }

  #newRuntime(id: number): HostedRuntime {
    const { post, monoMs, wallMs, phases = (host, settings) => new PhaseSet(host, settings) } = this.#parts;
    const inbox: UnitInbound[] = [];
    const others = (): HostedRuntime[] => this.#runtimes.filter((hosted) => hosted.id !== id);
    const loop = new UnitLoop({
      receive: () => inbox.shift(),
      post: (message, transfer) => post({ type: 'unit', runtime: id, message }, transfer),
      clock: new ScanClock({
        monoMs,
        firstDueMs: (periodMs) =>
          freeMoment(
            periodMs,
            monoMs(),
            others().map(({ loop: { scanDueMs } }) => scanDueMs),
          ),
      }),
      monoMs,
      wallMs,
      phases,
      sharers: { present: () => this.#runtimes.length > 1, due: () => this.#isDueBeside(id) },
    });
    return { id, loop, inbox };
  }

  #isDueBeside(id: number): boolean {
    const nowMs = this.#parts.monoMs();
    return this.#runtimes.some((hosted) => hosted.id !== id && hosted.loop.dueMs <= nowMs);
  }

  // ---------------------------------------------------------------- turns

  #earliest(): HostedRuntime | undefined {
    let next: HostedRuntime | undefined;
    for (let n = 0; n < this.#runtimes.length; n += 1) {
      const hosted = this.#runtimes[n] as HostedRuntime;
      if (!next || hosted.loop.dueMs < next.loop.dueMs) next = hosted;
    }
    return next;
  }

  #turn(hosted: HostedRuntime): void {
    const { turnOf, monoMs } = this.#parts;
    turnOf(hosted.id);
    try {
      hosted.loop.turn();
      hosted.loop.prepareBeside((this.#earliest()?.loop.dueMs ?? 0) - monoMs());
    } catch (fault) {
      this.#failed(hosted, fault);
    }
    turnOf(0);
    if (hosted.loop.stopped) this.#end(hosted);
  }

  #failed(hosted: HostedRuntime, fault: unknown): void {
    try {
      hosted.loop.failed();
    } catch {
      // a recording that cannot be ended lacks its end; told is what ended the unit
    }
    if (this.#runtimes.length === 1) throw fault;
    this.#end(hosted, fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
  }

  /** Nothing more comes from it, so what it keeps can be collected. */
  #end(hosted: HostedRuntime, fault = ''): void {
    const at = this.#runtimes.indexOf(hosted);
    if (at < 0) return;
    this.#runtimes.splice(at, 1);
    this.#parts.post({ type: 'ended', runtime: hosted.id, fault });
  }
}

/**
 * When a unit that shares a thread has its first scan: in the middle of the longest time in which none of the others is due,
 * so that they do not queue behind each other in every period. `dueMs` are their deadlines; the moment lies within one period.
 */
export function freeMoment(periodMs: number, nowMs: number, dueMs: readonly number[]): number {
  const places = dueMs.map((due) => (((due - nowMs) % periodMs) + periodMs) % periodMs).sort((a, b) => a - b);
  const [first] = places;
  if (first === undefined) return nowMs + periodMs;
  let longestMs = -1;
  let middle = 0;
  places.forEach((place, n) => {
    const gapMs = (places[n + 1] ?? first + periodMs) - place; // behind the last one comes the first of the next period
    if (gapMs <= longestMs) return;
    longestMs = gapMs;
    middle = place + gapMs / 2;
  });
  return nowMs + (middle > periodMs ? middle - periodMs : middle);
}
