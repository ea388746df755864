/**
 * What the service manager is told of this process (ADR 0045): that it starts, is ready, stops, and, in time for its watchdog, that no
 * thread hangs for good. The beat is that of the main thread: where that hangs, nothing is sent.
 *
 * Invariant: once a thread was found hung for good the watchdog is fed no more.
 */
import { Stopwatch } from '../base/elapsed.js';
import type { Clock } from '../base/clock.js';
import type { NotifySocket } from './notify-socket.js';

/** So often threads are looked at. */
const LOOK_MS = 1000;
/** Of the time-out of the watchdog: two that are lost on the way do not matter. */
const FEEDS_PER_TIMEOUT = 4;
/** A start that goes on asks for so much more, every EXTEND_EVERY_MS; one that still goes on after START_MAX_MS is left to the time-out. */
const EXTEND_MS = 60_000;
const EXTEND_EVERY_MS = 10_000;
const START_MAX_MS = 15 * 60_000;

/** What is looked at. */
export interface Watched {
  readonly condition: string;
  /** Why a thread will not come back and cannot be started anew. */
  look(): string | undefined;
}

export interface ServiceManagerParts {
  readonly socket: NotifySocket;
  readonly clock: Clock;
  /** Time-out of the watchdog; undefined: it has none for this process. */
  readonly watchdogMs: number | undefined;
  /** A thread hangs for good: told once. */
  hung(why: string): void;
}

/** In ms, as systemd says it in the environment; undefined: there is none, or it is of another process. */
export function watchdogOf(environment: NodeJS.ProcessEnv, pid: number): number | undefined {
  const { WATCHDOG_USEC: usec = '', WATCHDOG_PID: of = '' } = environment;
  delete environment.WATCHDOG_USEC;
  delete environment.WATCHDOG_PID;
  if (!/^\d+$/.test(usec) || Number(usec) === 0 || (of !== '' && Number(of) !== pid)) return undefined;
  return Number(usec) / 1000;
}

export class ServiceManager {
  readonly #parts: ServiceManagerParts;
  /** What is to be said and the manager does not have yet: the last value of each name. */
  readonly #unsaid = new Map<string, string>();
  readonly #fed: Stopwatch;
  #status = '';
  #cancel: (() => void) | undefined;

  constructor(parts: ServiceManagerParts) {
    this.#parts = parts;
    this.#fed = new Stopwatch(parts.clock);
  }

  /** The start begins, and may take as long as there is to read. */
  starting(): void {
    this.#tell({ STATUS: 'starting' });
    const started = new Stopwatch(this.#parts.clock);
    const extend = (): void => {
      if (started.elapsedMs >= START_MAX_MS) return;
      this.#tell({ EXTEND_TIMEOUT_USEC: String(EXTEND_MS * 1000), STATUS: `starting, for ${Math.round(started.elapsedMs / 1000)} s` });
      this.#cancel = this.#parts.clock.after(EXTEND_EVERY_MS, extend);
    };
    this.#cancel = this.#parts.clock.after(EXTEND_EVERY_MS, extend);
  }

  /** Its parts are up, or it is in rescue and stays there: neither is better for a new start. */
  ready(watched: Watched): void {
    this.#cancel?.();
    this.#status = watched.condition;
    this.#tell({ READY: '1', STATUS: this.#status, WATCHDOG: '1' });
    this.#fed.restart();
    this.#beatLater(watched);
  }

  /** From here on nothing is looked at: the manager has a time-out for the stop. */
  stopping(why: string): void {
    this.#cancel?.();
    this.#tell({ STOPPING: '1', STATUS: why });
  }

  #beatLater(watched: Watched): void {
    this.#cancel = this.#parts.clock.after(LOOK_MS, () => {
      const why = watched.look();
      if (why !== undefined) return this.#stopFeeding(why);
      this.#beatLater(watched);
      this.#beat(watched.condition);
    });
  }

  #beat(condition: string): void {
    const { watchdogMs } = this.#parts;
    const say: Record<string, string> = {};
    if (condition !== this.#status) say.STATUS = this.#status = condition;
    const isDue = watchdogMs !== undefined && this.#fed.elapsedMs >= watchdogMs / FEEDS_PER_TIMEOUT - LOOK_MS;
    if (isDue) say.WATCHDOG = '1';
    if (this.#tell(say) && isDue) this.#fed.restart();
  }

  #stopFeeding(why: string): void {
    this.#unsaid.delete('WATCHDOG');
    this.#tell({ STATUS: `ends: ${why}` });
    this.#parts.hung(why);
  }

  /** With what was not taken before. @returns whether the manager has all of it. */
  #tell(fields: Readonly<Record<string, string>>): boolean {
    for (const [name, value] of Object.entries(fields)) this.#unsaid.set(name, value);
    if (this.#unsaid.size === 0) return true;
    const isSaid = this.#parts.socket.send([...this.#unsaid].map(([name, value]) => `${name}=${value}`));
    if (isSaid) this.#unsaid.clear();
    return isSaid;
  }
}
