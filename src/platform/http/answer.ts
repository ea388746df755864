/** What goes back on the wire, before the server writes it: status, headers and a body that is already text or bytes. */
import type { Refusal } from '../base/refusal.js';
import { JSON_MEDIA_TYPE, NO_HEADERS, Reply, StreamedReply } from './route.js';
import { errorBody, headersOf, INTERNAL_ERROR, statusOf } from './status.js';

export class Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly mediaType: string;
  readonly closeConnection: boolean;

  constructor(status: number, body: string | Uint8Array | undefined, headers: Readonly<Record<string, string>> = NO_HEADERS, mediaType = JSON_MEDIA_TYPE, closeConnection = false) {
    this.status = status;
    this.body = body;
    this.headers = headers;
    this.mediaType = mediaType;
    this.closeConnection = closeConnection;
  }

  with(headers: Readonly<Record<string, string>>): Answer {
    return new Answer(this.status, this.body, { ...this.headers, ...headers }, this.mediaType, this.closeConnection);
  }
}

/** The body comes in chunks while it is sent. */
export class StreamedAnswer extends Answer {
  readonly chunks: AsyncIterable<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>>, mediaType = JSON_MEDIA_TYPE) {
    super(200, undefined, headers, mediaType);
    this.chunks = chunks;
  }

  /** Nobody takes it: whoever makes it lets go of what he holds. */
  async abandon(): Promise<void> {
    await this.chunks[Symbol.asyncIterator]().return?.();
  }

  override with(headers: Readonly<Record<string, string>>): StreamedAnswer {
    return new StreamedAnswer(this.chunks, { ...this.headers, ...headers }, this.mediaType);
  }
}

const STATUS_OF_OUTCOME = { ok: 200, created: 201, none: 204, redirect: 302, 'not-modified': 304 } as const;

export function answerOf(value: unknown): Answer {
  if (value instanceof Answer) return value;
  if (value instanceof StreamedReply) return new StreamedAnswer(value.chunks, value.headers, value.mediaType);
  if (!(value instanceof Reply)) return value === undefined ? new Answer(204, undefined) : new Answer(200, JSON.stringify(value));
  const status = STATUS_OF_OUTCOME[value.outcome];
  if (value.outcome === 'none' || value.outcome === 'redirect' || value.outcome === 'not-modified') return new Answer(status, undefined, value.headers);
  if (value.mediaType !== undefined) return new Answer(status, value.body as string | Uint8Array, value.headers, value.mediaType);
  return new Answer(status, JSON.stringify(value.body), value.headers);
}

export function answerRefusal(refusal: Refusal): Answer {
  const status = statusOf(refusal);
  return new Answer(status, JSON.stringify(errorBody(refusal)), headersOf(refusal), JSON_MEDIA_TYPE, status === 413 || status === 408);
}

export function answerFault(): Answer {
  return new Answer(500, JSON.stringify(INTERNAL_ERROR));
}
