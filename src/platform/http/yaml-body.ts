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
const WAITING_MAX = 4;

export class YamlBodies {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * One document as it is, several as an array.
   * @throws Refusal 400 `invalid_yaml` with line and column, 413 beyond 2 MiB, 503 `yaml_busy` while others are read.
   */
  async read(bytes: Uint8Array): Promise<unknown> {
    if (bytes.length > YAML_BYTES_MAX)
      throw new Refusal('too-large', `a body in YAML has at most ${YAML_BYTES_MAX} bytes; JSON may be longer`, { code: 'payload_too_large', limitBytes: YAML_BYTES_MAX });
    if (!isUtf8(bytes)) throw invalid('invalid_yaml', 'body', 'the body is not valid UTF-8');
    if (this.#waiting === WAITING_MAX) throw new Refusal('unavailable', 'other bodies in YAML are being read: try again in a moment, or send JSON', { code: 'yaml_busy' });
    this.#waiting += 1;
    const text = new TextDecoder().decode(bytes);
    const own = this.#last.then(() => readApart(text));
    this.#last = own.catch(() => undefined);
    try {
      const read = await own;
      if ('fault' in read) throw invalid('invalid_yaml', 'body', `the body cannot be read as YAML: ${read.fault}`);
      return parseJson(Buffer.from(read.json));
    } finally {
      this.#waiting -= 1;
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
    thread.once('error', (fault) => end({ fault: textOfFault(fault) }));
  });
}
