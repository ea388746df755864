/** What goes back on the wire, before the server writes it: status, headers and a body that is already text or bytes. */
import type { Refusal } from '../base/refusal.js';
import { JSON_MEDIA_TYPE, NO_HEADERS, Reply, StreamedReply } from './route.js';
import { errorBody, headersOf, INTERNAL_ERROR, statusOf } from './status.js';

export class UwsReply {
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

  with(headers: Readonly<Record<string, string>>): UwsReply {
    return new UwsReply(this.status, this.body, { ...this.headers, ...headers }, this.mediaType, this.closeConnection);
  }
}

/** The body comes in chunks while it is sent. */
export class StreamedUwsReply extends UwsReply {
  readonly chunks: AsyncIterable<Uint8Array>;

  constructor(chunks: AsyncIterable<Uint8Array>, headers: Readonly<Record<string, string>>, mediaType = JSON_MEDIA_TYPE) {
    super(200, undefined, headers, mediaType);
    this.chunks = chunks;
  }

  /** Nobody takes it: whoever makes it lets go of what he holds. */
  async abandon(): Promise<void> {
    await this.chunks[Symbol.asyncIterator]().return?.();
  }

  override with(headers: Readonly<Record<string, string>>): StreamedUwsReply {
    return new StreamedUwsReply(this.chunks, { ...this.headers, ...headers }, this.mediaType);
  }
}

const STATUS_OF_OUTCOME = { ok: 200, created: 201, none: 204, redirect: 302, 'not-modified': 304 } as const;

export function uwsReplyOf(value: unknown): UwsReply {
  if (value instanceof UwsReply) return value;
  if (value instanceof StreamedReply) return new StreamedUwsReply(value.chunks, value.headers, value.mediaType);
  if (!(value instanceof Reply)) return value === undefined ? new UwsReply(204, undefined) : new UwsReply(200, JSON.stringify(value));
  const status = STATUS_OF_OUTCOME[value.outcome];
  if (value.outcome === 'none' || value.outcome === 'redirect' || value.outcome === 'not-modified') return new UwsReply(status, undefined, value.headers);
  if (value.mediaType !== undefined) return new UwsReply(status, value.body as string | Uint8Array, value.headers, value.mediaType);
  return new UwsReply(status, JSON.stringify(value.body), value.headers);
}

export function uwsReplyOfRefusal(refusal: Refusal): UwsReply {
  const status = statusOf(refusal);
  return new UwsReply(status, JSON.stringify(errorBody(refusal)), headersOf(refusal), JSON_MEDIA_TYPE, status === 413 || status === 408);
}

export function uwsReplyOfFault(): UwsReply {
  return new UwsReply(500, JSON.stringify(INTERNAL_ERROR));
}
