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

export class YamlBodies {
  /** Whose bodies are read or wait. */
  readonly #callers = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  /**
   * One document as it is, several as an array. Of one caller one body is read or waits, so that nobody holds up the others with several.
   * @param by who sends it.
   * @throws Refusal 400 `invalid_yaml` with line and column, 503 `yaml_busy` while others are read.
   */
  async read(bytes: Uint8Array, by: string): Promise<unknown> {
    if (!isUtf8(bytes)) throw invalid('invalid_yaml', 'body', 'the body is not valid UTF-8');
    const isOwn = this.#callers.has(by);
    if (isOwn || this.#callers.size === CALLERS_MAX)
      throw new Refusal('unavailable', `${isOwn ? 'another body of yours in YAML is' : 'other bodies in YAML are'} being read: try again in a moment, or send JSON`, {
        code: 'yaml_busy',
      });
    this.#callers.add(by);
    const text = new TextDecoder().decode(bytes);
    const own = this.#last.then(() => readApart(text));
    this.#last = own.catch(() => undefined);
    try {
      const read = await own;
      if ('fault' in read) throw invalid('invalid_yaml', 'body', `the body cannot be read as YAML: ${read.fault}`);
      return parseJson(Buffer.from(read.json));
    } finally {
      this.#callers.delete(by);
    }
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
