/** Bodies in YAML (RFC 9512) of the routes that take them (D-C-03): read in a thread of their own, one at a time. */
import { isUtf8 } from 'node:buffer';
import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../base/clock.js';
import { guardedPromise } from '../base/guarded.js';
import { invalid, Refusal } from '../base/refusal.js';
import { textOfFault } from '../base/worker-calls.js';
import { parseJson } from './json-body.js';
import type { YamlOrder, YamlRead } from './yaml-thread.js';

export const YAML_MEDIA_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml'] as const;

const THREAD = new URL('./yaml-thread.js', import.meta.url);
/** Reading YAML takes a hundred times as long as JSON. */
export const YAML_BYTES_MAX = 2 * 1024 ** 2;
/** What aliases may make of it; of JSON a request may have four times as much. */
const JSON_CHARACTERS_MAX = 4 * 1024 ** 2;
const WITHIN_MS = 10_000;
const MEMORY_MB_MAX = 192;
const CALLERS_MAX = 4;
/** Of callers who have no other body here, one below this size is let in beside those four, up to so many callers: few long ones do not keep all others out. */
const SHORT_BYTES = 64 * 1024;
const CALLERS_OF_SHORT_MAX = 16;
/** Of one caller: one is read, and the others wait. */
const BODIES_OF_ONE_MAX = 4;
/** Whoever waits for his turn is told so in the end: a client gives up at some time, and then nothing must happen. */
const TURN_WITHIN_MS = 20_000;
const RETRY_AFTER_S = 5;

export class YamlBodies {
  readonly #clock: Clock;
  /** By caller, how many bodies of his are read or wait. */
  readonly #bodies = new Map<string, number>();
  /** What lets each body that waits begin, by caller; in the order in which it is their turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Whose body is read; undefined while none is. */
  #readingOf: string | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * One document as it is, several as an array. Further bodies of a caller wait for his earlier ones, and callers take turns, so that nobody
   * holds up the others with several.
   * @param by who sends it.
   * @param gone aborted once he has left: his body is dropped, whether it waits or is being read, and its place is free.
   * @param parse what it stands for, as a body in JSON is.
   * @throws Refusal 400 `invalid_yaml` with line and column, `body_incomplete` where he has left, 503 `yaml_busy` while too many are read or
   *   wait, and for one whose turn does not come.
   */
  async read(bytes: Uint8Array, by: string, gone: AbortSignal, parse: (json: Uint8Array) => unknown = parseJson): Promise<unknown> {
    if (gone.aborted) throw left();
    if (!isUtf8(bytes)) throw invalid('invalid_yaml', 'body', 'the body is not valid UTF-8');
    const own = this.#bodies.get(by) ?? 0;
    if (own === BODIES_OF_ONE_MAX) throw busy(`${own} bodies of yours in YAML are being read: try again in a moment, or send JSON`);
    const callers = this.#bodies.size + (own === 0 ? 1 : 0);
    if (callers > (bytes.length < SHORT_BYTES ? CALLERS_OF_SHORT_MAX : CALLERS_MAX)) throw busy('other bodies in YAML are being read: try again in a moment, or send JSON');
    this.#bodies.set(by, own + 1);
    try {
      await this.#turnOf(by, gone);
      const read = await readApart(new TextDecoder().decode(bytes), gone).finally(() => this.#next());
      if (gone.aborted) throw left();
      if ('fault' in read) throw invalid('invalid_yaml', 'body', `the body cannot be read as YAML: ${read.fault}`);
      const value = await parse(read.json);
      if (gone.aborted) throw left();
      return value;
    } finally {
      const left = (this.#bodies.get(by) ?? 1) - 1;
      if (left === 0) this.#bodies.delete(by);
      else this.#bodies.set(by, left);
    }
  }

  async #turnOf(by: string, gone: AbortSignal): Promise<void> {
    if (this.#readingOf === undefined) {
      this.#readingOf = by;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const settle = (end: () => void) => (): void => {
        forget();
        gone.removeEventListener('abort', leave);
        end();
      };
      const begin = settle(resolve);
      const drop = (refusal: () => Refusal) =>
        settle(() => {
          this.#dropWaiting(by, begin);
          reject(refusal());
        });
      const leave = drop(left);
      const forget = this.#clock.after(TURN_WITHIN_MS, drop(late));
      gone.addEventListener('abort', leave);
      const before = this.#waiting.get(by);
      if (before) before.push(begin);
      else this.#waiting.set(by, [begin]);
    });
  }

  #dropWaiting(by: string, begin: () => void): void {
    const others = (this.#waiting.get(by) ?? []).filter((each) => each !== begin);
    if (others.length > 0) this.#waiting.set(by, others);
    else this.#waiting.delete(by);
  }

  /** The first body of whoever is next: whose body was read now stands behind everybody else who waits. */
  #next(): void {
    const before = this.#readingOf ?? '';
    const own = this.#waiting.get(before);
    if (own) {
      this.#waiting.delete(before);
      this.#waiting.set(before, own);
    }
    const [next] = this.#waiting;
    const [by, [begin, ...further]] = next ?? [undefined, []];
    this.#readingOf = by;
    if (by === undefined) return;
    if (further.length > 0) this.#waiting.set(by, further);
    else this.#waiting.delete(by);
    begin?.();
  }
}

function busy(message: string): Refusal {
  return new Refusal('unavailable', message, { code: 'yaml_busy', retryAfterSeconds: RETRY_AFTER_S });
}

function late(): Refusal {
  return busy(`other bodies in YAML were read for ${TURN_WITHIN_MS / 1000} s, and nothing was changed: try again in ${RETRY_AFTER_S} s, or send JSON`);
}

/** Nobody reads it but the audit trail. */
function left(): Refusal {
  return invalid('body_incomplete', 'body', 'the connection was closed before the body was read; nothing was changed');
}

/** Ends early once whoever sent it has left. */
function readApart(text: string, gone: AbortSignal): Promise<YamlRead> {
  return new Promise((resolve) => {
    const thread = new Worker(THREAD, {
      workerData: { text, charactersMax: JSON_CHARACTERS_MAX } satisfies YamlOrder,
      name: 'yaml',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    const end = (read: YamlRead): void => {
      clearTimeout(timer);
      gone.removeEventListener('abort', leave);
      resolve(read);
      guardedPromise('end of the thread that reads YAML', () => thread.terminate());
    };
    const leave = (): void => end({ fault: 'the connection was closed' });
    gone.addEventListener('abort', leave);
    const timer = setTimeout(() => end({ fault: `it takes longer than ${WITHIN_MS / 1000} s to read` }), WITHIN_MS);
    thread.once('message', (read: YamlRead) => end(read));
    thread.once('error', (fault) =>
      end({ fault: isOutOfMemory(fault) ? `it takes more than ${MEMORY_MB_MAX} MB of memory to read: send it in parts, or as JSON` : textOfFault(fault) }),
    );
  });
}

function isOutOfMemory(fault: Error): boolean {
  return (fault as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}
