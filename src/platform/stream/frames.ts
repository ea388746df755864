/**
 * Frames as bytes with a hole for `seq` (contract 2, Stream frame fields). Both transports share the JSON; they differ in
 * what stands around it: a WebSocket message is the JSON alone, a server-sent event has `id:`, `event:` and `data:` lines.
 *
 * The hole has a fixed width and the number stands right-aligned in it, filled up with spaces (legal JSON white space),
 * so that one rendered frame serves every connection: each writes its own digits and sends the same bytes.
 */
import type { ChannelName } from './channel.js';

/** 12 digits last for 6 years at 5,000 frames a second. */
export const SEQ_WIDTH = 12;
const SEQ_HOLE = ' '.repeat(SEQ_WIDTH);
const SEQ_HEAD = '{"seq":';
const HALF = 1_000_000;

/** A rendered frame that no connection has numbered yet; whoever sends it stamps it first. */
export interface Frame {
  readonly bytes: Uint8Array;
  /** Offset of the hole for the sequence number. */
  readonly seqAt: number;
}

/** Offset of the hole in a WebSocket frame. */
export const WEBSOCKET_SEQ_AT = SEQ_HEAD.length;

export function stamp(bytes: Uint8Array, seqAt: number, seq: number): void {
  let low = seq % HALF;
  let high = (seq - low) / HALF;
  let at = seqAt + SEQ_WIDTH - 1;
  if (high > 0) {
    for (let digit = 0; digit < 6; digit += 1) {
      bytes[at] = 48 + (low % 10);
      low = (low / 10) | 0;
      at -= 1;
    }
    low = high;
    high = 0;
  }
  do {
    bytes[at] = 48 + (low % 10);
    low = (low / 10) | 0;
    at -= 1;
  } while (low > 0);
  while (at >= seqAt) {
    bytes[at] = 32;
    at -= 1;
  }
}

/** Members that follow `seq` of a frame about a plant event; `body` is the rest of its JSON without braces. */
export interface EventMembers {
  readonly eventId: number;
  readonly type: string;
  readonly body: string;
}

/** The frame of a tag without what every frame has. */
export type TagFrame = {
  readonly type: 'tag';
  readonly site: string;
  readonly unit: string;
  readonly address: string;
  /** As its source writes it, and so is `quality`. */
  readonly value: unknown;
  readonly quality: string;
  /** Null of a tag that was never written (decisions Q-TAG-02). */
  readonly ts: string | null;
};

/** Of the link between gateway and unit runtimes (decisions Q-STREAM-03). */
export type BrokerStatus = 'connected' | 'disconnected';

/** A frame that tells of no event of the plant, without `seq`. */
export type ControlFrame =
  | { readonly type: 'authenticated'; readonly expiresAt: string | null }
  | { readonly type: 'broker-status'; readonly status: BrokerStatus; readonly ts: string }
  /** So many frames were shed. */
  | { readonly type: 'gap'; readonly dropped: number }
  | { readonly type: 'session-ended'; readonly reason: string }
  | { readonly type: 'subscribed'; readonly subscriptionId: string; readonly channel: ChannelName; readonly filter: Readonly<Record<string, unknown>> }
  | { readonly type: 'unsubscribed'; readonly subscriptionId: string }
  /** With details of its own. */
  | { readonly type: 'result'; readonly ok: boolean; readonly message: string; readonly [detail: string]: unknown }
  /** With the context of the refusal. */
  | { readonly type: 'error'; readonly message: string; readonly [detail: string]: unknown };

/** How one transport writes frames. */
export interface Encoding {
  /**
   * An event of one subscription, in bytes that are valid until the next call: a snapshot has thousands of them, each sent at
   * once or copied. `resumeAt` is the number an SSE `id:` line names instead of the event's own.
   */
  event(event: EventMembers, subscription: string, replay: boolean, resumeAt?: number): Frame;
  /** Acknowledgement, error, result, gap, broker status, session end: no eventId. `members` without seq, `type` first. */
  control(members: Readonly<Record<string, unknown>>): Frame;
}

/** The JSON members of an object without its braces; '' for an empty one. */
export function membersOf(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(value).slice(1, -1);
}

let scratch = Buffer.allocUnsafeSlow(4096);

function inScratch(text: string): Uint8Array {
  const worst = text.length * 3;
  if (worst > scratch.length) scratch = Buffer.allocUnsafeSlow(worst * 2);
  return scratch.subarray(0, scratch.write(text));
}

export const webSocketEncoding: Encoding = {
  event({ eventId, body }, subscription, replay) {
    const id = subscription === '' ? '' : `,"subscriptionId":${subscription}`;
    return { bytes: inScratch(`${SEQ_HEAD}${SEQ_HOLE}${id},"eventId":${eventId}${replay ? ',"replay":true' : ''},${body}}`), seqAt: WEBSOCKET_SEQ_AT };
  },
  control(members) {
    return { bytes: Buffer.from(`${SEQ_HEAD}${SEQ_HOLE},${membersOf(members)}}`), seqAt: WEBSOCKET_SEQ_AT };
  },
};

/** `instance` is the first half of every `id:` (decisions Q-STREAM-13). */
export function sseEncoding(instance: string): Encoding {
  return {
    event({ eventId, type, body }, _subscription, replay, resumeAt = eventId) {
      const head = `${sseHead(instance, resumeAt, type)}${SEQ_HEAD}`;
      return { bytes: inScratch(`${head}${SEQ_HOLE},"eventId":${eventId}${replay ? ',"replay":true' : ''},${body}}\n\n`), seqAt: Buffer.byteLength(head) };
    },
    control(members) {
      const head = `event: ${String(members.type)}\ndata: ${SEQ_HEAD}`;
      return { bytes: Buffer.from(`${head}${SEQ_HOLE},${membersOf(members)}}\n\n`), seqAt: Buffer.byteLength(head) };
    },
  };
}

/** Everything before the JSON of a server-sent event with an id. */
export function sseHead(instance: string, resumeAt: number, type: string): string {
  return `id: ${instance}-${resumeAt}\nevent: ${type}\ndata: `;
}

/** First bytes of a WebSocket tag frame of one subscription: everything before `,"eventId":`. */
export function webSocketTagHead(subscription: string): Buffer {
  return Buffer.from(`${SEQ_HEAD}${SEQ_HOLE},"subscriptionId":${subscription}`);
}

/** `{"seq":` and the hole, as it stands after the `data: ` of an event. */
export const SSE_JSON_HEAD = `${SEQ_HEAD}${SEQ_HOLE}`;

/** Offset of the hole in `SSE_JSON_HEAD`. */
export const SSE_JSON_SEQ_AT = SEQ_HEAD.length;
