/** A caller of the REST interface: sends JSON with a fresh nonce, answers status, headers and decoded body. */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { CHECKS, checkAnswer } from './answer-check.js';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
  readonly text: string;
}

export class ApiClient {
  readonly base: string;
  readonly #credential: string | undefined;

  /** @param credential the whole Authorization header, for example `Bearer ...` or `ApiKey ...`. */
  constructor(base: string, credential?: string) {
    this.base = base;
    this.#credential = credential;
  }

  with(credential: string): ApiClient {
    return new ApiClient(this.base, credential);
  }

  get credential(): string | undefined {
    return this.#credential;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    return this.send('POST', path, body, headers);
  }

  put(path: string, body?: unknown): Promise<ApiAnswer> {
    return this.send('PUT', path, body);
  }

  delete(path: string): Promise<ApiAnswer> {
    return this.send('DELETE', path);
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const { status, fields, text } = await onItsOwn(this.base + path, {
      method,
      headers: {
        ...(this.#credential ? { authorization: this.#credential } : {}),
        ...(method === 'GET' ? {} : { 'x-dcs-nonce': randomUUID() }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
        ...headers,
      },
      payload,
    });
    const mediaType = fields.get('content-type') ?? '';
    if (CHECKS) checkAnswer(Number(new URL(this.base).port), { method, target: path, status, mediaType, text });
    const json = /\bjson\b/.test(mediaType);
    return { status, headers: fields, text, body: json && text !== '' ? JSON.parse(text) : undefined };
  }
}

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string | undefined;
}

/**
 * On a connection of its own: one that is kept idle is closed by the gateway, and a process that had no turn for seconds sends into it.
 * Not by `fetch`, which takes the end of such a connection for that of a long answer that it has not read to its end.
 */
function onItsOwn(url: string, { method, headers, payload }: Sent): Promise<{ readonly status: number; readonly fields: Headers; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const fields = new Headers();
        for (const [name, values = []] of Object.entries(incoming.headersDistinct)) for (const value of values) fields.append(name, value);
        resolve({ status: incoming.statusCode ?? 0, fields, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

/** How long a test waits for what must come: it ends a test that hangs and says what for, and never judges how busy the machine is. */
export const PATIENCE_MS = 180_000;

/** Looks again until the probe answers something, at most `timeoutMs`; for waiting on another process. */
export async function eventually<T>(what: string, probe: () => Promise<T | undefined | false>, timeoutMs = PATIENCE_MS, everyMs = 50): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (performance.now() > end) throw new Error(`gave up after ${timeoutMs} ms waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
