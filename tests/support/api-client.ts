/** A caller of the REST interface: sends JSON with a fresh nonce, answers status, headers and decoded body. */
import { randomUUID } from 'node:crypto';
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
    const response = await fetch(this.base + path, {
      method,
      redirect: 'manual',
      headers: {
        connection: 'close', // one that is kept idle is closed by the gateway, and a process that had no turn for seconds sends into it
        ...(this.#credential ? { authorization: this.#credential } : {}),
        ...(method === 'GET' ? {} : { 'x-dcs-nonce': randomUUID() }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const mediaType = response.headers.get('content-type') ?? '';
    if (CHECKS) checkAnswer(Number(new URL(this.base).port), { method, target: path, status: response.status, mediaType, text });
    const json = /\bjson\b/.test(mediaType);
    return { status: response.status, headers: response.headers, text, body: json && text !== '' ? JSON.parse(text) : undefined };
  }
}

/** Looks again until the probe answers something, at most `timeoutMs`; for waiting on another process. */
export async function eventually<T>(what: string, probe: () => Promise<T | undefined | false>, timeoutMs = 30_000, everyMs = 50): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (performance.now() > end) throw new Error(`gave up after ${timeoutMs} ms waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
