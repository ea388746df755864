/** Bodies in YAML (RFC 9512) of the routes that take them (D-C-03): read in a thread of their own, one at a time. */
import { isUtf8 } from 'node:buffer';
import { Worker } from 'node:worker_threads';
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
/** Of one caller: one is read, and the others wait. */
const BODIES_OF_ONE_MAX = 4;

export class YamlBodies {
  /** By caller, how many bodies of his are read or wait. */
  readonly #bodies = new Map<string, number>();
  /** What lets each body that waits begin, by caller; in the order in which it is their turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** Whose body is read; undefined while none is. */
  #readingOf: string | undefined;

  /**
   * One document as it is, several as an array. Further bodies of a caller wait for his earlier ones, and callers take turns, so that nobody
   * holds up the others with several.
   * @param by who sends it.
   * @throws Refusal 400 `invalid_yaml` with line and column, 503 `yaml_busy` while too many are read or wait.
   */
  async read(bytes: Uint8Array, by: string): Promise<unknown> {
    if (!isUtf8(bytes)) throw invalid('invalid_yaml', 'body', 'the body is not valid UTF-8');
    const own = this.#bodies.get(by) ?? 0;
    if (own === BODIES_OF_ONE_MAX || (own === 0 && this.#bodies.size === CALLERS_MAX)) {
      const others = own === 0 ? 'other bodies in YAML are' : `${own} bodies of yours in YAML are`;
      throw new Refusal('unavailable', `${others} being read: try again in a moment, or send JSON`, { code: 'yaml_busy' });
    }
    this.#bodies.set(by, own + 1);
    try {
      await this.#turnOf(by);
      const read = await readApart(new TextDecoder().decode(bytes)).finally(() => this.#next());
      if ('fault' in read) throw invalid('invalid_yaml', 'body', `the body cannot be read as YAML: ${read.fault}`);
      return parseJson(Buffer.from(read.json));
    } finally {
      const left = (this.#bodies.get(by) ?? 1) - 1;
      if (left === 0) this.#bodies.delete(by);
      else this.#bodies.set(by, left);
    }
  }

  async #turnOf(by: string): Promise<void> {
    if (this.#readingOf === undefined) {
      this.#readingOf = by;
      return;
    }
    await new Promise<void>((begin) => {
      const before = this.#waiting.get(by);
      if (before) before.push(begin);
      else this.#waiting.set(by, [begin]);
    });
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

function readApart(text: string): Promise<YamlRead> {
  return new Promise((resolve) => {
    const thread = new Worker(THREAD, {
      workerData: { text, charactersMax: JSON_CHARACTERS_MAX } satisfies YamlOrder,
      name: 'yaml',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    const end = (read: YamlRead): void => {
      clearTimeout(timer);
      resolve(read);
      guardedPromise('end of the thread that reads YAML', () => thread.terminate());
    };
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
