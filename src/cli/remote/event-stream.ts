/** The live events of a site (contract 2, Server-sent events): one connection after the other, each going on where the last one ended. */
import { setTimeout as pause } from 'node:timers/promises';
import { refusalOf } from '../../client/answer.js';
import { ApiError } from '../../client/api.js';
import { isPassing } from '../../client/passing.js';
import { addressOf } from '../../client/typed.js';
import type { Box } from './box.js';

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 10_000;
/** A comment comes every 25 s where nothing else does. */
const SILENCE_MS_MAX = 60_000;
/** An event of a box is some kilobytes: what has no end is none. */
const EVENT_CHARACTERS_MAX = 1024 ** 2;

export type StreamFrame = Readonly<Record<string, unknown>> & { readonly type: string };

export interface StreamWish {
  readonly site: string;
  readonly channels: readonly string[];
  readonly unit: string | undefined;
}

export interface StreamListener {
  onFrame(frame: StreamFrame): Promise<void>;
  /** There is no connection any more; another is tried. */
  onLost(why: string): Promise<void>;
  /** There is one again. */
  onBack(): Promise<void>;
}

/** Goes on until `signal`. @throws ApiError where nobody is signed in any more, or what is asked for is refused. */
export async function followEvents(box: Box, wish: StreamWish, listener: StreamListener, signal: AbortSignal): Promise<void> {
  let lastEventId: string | undefined;
  let isLost = false;
  let failures = 0;
  while (!signal.aborted) {
    let why = 'the connection has ended';
    let isToldWhy = false;
    try {
      const body = await opened(box, wish, lastEventId, signal);
      failures = 0;
      if (isLost) await listener.onBack();
      isLost = false;
      for await (const { id, data } of eventsOf(body, signal)) {
        lastEventId = id ?? lastEventId;
        const frame = JSON.parse(data) as StreamFrame;
        // the next try says whether that is final
        if (frame.type === 'session-ended') {
          why = String(frame.reason);
          isToldWhy = true;
        } else await listener.onFrame(frame);
      }
    } catch (fault) {
      if (signal.aborted) return;
      if (fault instanceof ApiError && !isPassing(fault)) throw fault;
      if (fault instanceof ApiError && failures === 0 && !isLost && lastEventId === undefined && fault.status === 0) throw fault;
      // the end of a session cuts the connection too
      if (!isToldWhy) why = fault instanceof ApiError || fault instanceof SilenceError ? fault.message : 'the connection was cut';
    }
    if (signal.aborted) return;
    // a token that has ended is the ordinary course: the next try brings a new one, which may end at once where clocks differ
    if (why === TOKEN_EXPIRED && !isLost) {
      await pause(RETRY_MS_MIN, undefined, { signal }).catch(() => undefined);
      continue;
    }
    if (!isLost) {
      isLost = true;
      await listener.onLost(why);
    }
    const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failures);
    failures += 1;
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

const TOKEN_EXPIRED = 'access token expired'; // contract 2, Authentication 5

async function opened(box: Box, { site, channels, unit }: StreamWish, lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const address = addressOf('/api/v1/sites/{site}/events/sse', { path: { site }, query: { channel: channels.join(','), unit, lastEventId } });
  const answer = await box.api.ask('GET', address, undefined, { accept: 'text/event-stream', signal });
  if (answer.ok && answer.body) return answer.body;
  throw new ApiError(answer.status, await refusalOf(answer));
}

class SilenceError extends Error {
  constructor() {
    super('the box has said nothing for a minute');
  }
}

interface ServerSent {
  readonly id: string | undefined;
  readonly data: string;
}

/** @throws where nothing has come for longer than a live connection is silent. */
async function* eventsOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncIterable<ServerSent> {
  const decoder = new TextDecoder();
  const chunks = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await heard(chunks, signal);
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      if (rest.length > EVENT_CHARACTERS_MAX) throw new ApiError(200, { error: 'the box tells an event that does not end', code: 'event_too_long' });
      for (const block of blocks) {
        const lines = block.split('\n');
        const of = (field: string): string | undefined => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
        const data = of('data');
        if (data !== undefined) yield { id: of('id'), data };
      }
    }
  } finally {
    // whoever ends early ends the connection; one that is broken has nothing to say to that
    await chunks.cancel().catch(() => undefined);
  }
}

async function heard(chunks: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
  const enough = new AbortController();
  const silence = pause(SILENCE_MS_MAX, undefined, { signal: AbortSignal.any([signal, enough.signal]) }).then(() => {
    throw new SilenceError();
  });
  silence.catch(() => undefined);
  try {
    return await Promise.race([chunks.read(), silence]);
  } finally {
    enough.abort();
  }
}
