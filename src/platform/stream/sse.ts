/**
 * The server-sent-events transport `GET /api/v1/sites/{site}/events/sse` (contract 2, Server-sent events; decisions
 * Q-STREAM-12 to Q-STREAM-15, D-STREAM-04): everything is said in the query, so whatever is wrong refuses the connection
 * whole, before it starts.
 */
import type { Clock } from '../base/clock.js';
import { guarded } from '../base/guarded.js';
import { invalid, Refusal } from '../base/refusal.js';
import type { Caller } from '../http/caller.js';
import type { SseSession, SseWire } from '../http/stream-port.js';
import { CHANNEL_ROWS, CHANNELS, type ChannelName, isChannel } from './channel.js';
import { checkChannelAccess, type Connection } from './connection.js';
import type { FilterRequest, Places } from './filter.js';
import type { Hub } from './hub.js';

export const KEEPALIVE_MS = 25_000; // contract 2, Limits
const KEEPALIVE = Buffer.from(': keepalive\n\n');
const DEFAULT_CHANNELS: readonly ChannelName[] = CHANNELS.filter((name) => CHANNEL_ROWS[name].unasked);

export interface SseParts {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly places: Places;
}

export interface SseRequest {
  readonly site: string;
  readonly unit: string | undefined;
  readonly channel: string | undefined;
  readonly lastEventId: string | undefined;
}

/** @throws Refusal 400 `invalid_query` for an unknown or empty channel, 403, or 404 for an unknown unit. */
export function openEventStream(parts: SseParts, request: SseRequest, caller: Caller): (wire: SseWire) => SseSession {
  const channels = readChannels(request.channel);
  const filter: FilterRequest = { site: request.site, ...(request.unit === undefined || request.unit === '' ? {} : { unit: request.unit }) };
  for (const channel of channels) checkChannelAccess(caller, channel, filter, parts.places);
  const since = resumePoint(request.lastEventId, parts.hub.instance, parts.hub.eventId);
  return (wire) => new EventStream(parts, channels, filter, since, caller, wire);
}

function readChannels(text: string | undefined): readonly ChannelName[] {
  if (text === undefined) return DEFAULT_CHANNELS;
  const channels = new Set<ChannelName>();
  for (const word of text.split(',')) {
    if (!isChannel(word)) throw invalid('invalid_query', 'channel', `channel ${JSON.stringify(word)} is not one of ${CHANNELS.join(', ')}`);
    channels.add(word);
  }
  return [...channels];
}

/** Number after which to replay; 0 (everything) for an id of another instance, one not read, or one not yet given out. */
export function resumePoint(lastEventId: string | undefined, instance: string, newest: number): number {
  const parts = /^([0-9a-f]{12})-(\d{1,15})$/.exec(lastEventId ?? '');
  if (!parts || parts[1] !== instance) return 0;
  const number = Number(parts[2]);
  return number <= newest ? number : 0;
}

class EventStream implements SseSession {
  readonly #clock: Clock;
  readonly #wire: SseWire;
  readonly #connection: Connection;
  #open = true;
  #full = false;
  #cancelKeepalive: () => void = () => undefined;

  constructor(parts: SseParts, channels: readonly ChannelName[], filter: FilterRequest, since: number, caller: Caller, wire: SseWire) {
    this.#clock = parts.clock;
    this.#wire = wire;
    this.#connection = parts.hub.open(
      'sse',
      {
        ready: () => this.#open && !this.#full,
        send: (bytes) => this.#send(bytes),
        cork: (call) => wire.cork(call),
        overrun: () => wire.end(),
      },
      wire.sourceIP,
      caller,
      (why, reason) => this.#end(why, reason),
    );
    try {
      this.#connection.openChannels(channels, filter, since);
      this.#keepAlive();
    } catch (fault) {
      this.onClose(); // nobody will tell who was never there: it must not stay a stream of its source
      throw fault;
    }
  }

  onWritable(): void {
    this.#full = false;
    this.#connection.drained();
  }

  onClose(): void {
    this.#open = false;
    this.#cancelKeepalive();
    this.#connection.closed();
  }

  #send(bytes: Uint8Array): boolean {
    const room = this.#wire.write(bytes);
    this.#full = !room;
    return room;
  }

  /**
   * A full socket needs no further bytes, and no clock of ours: the library cuts it when the peer has taken nothing for some
   * 10 s, and a peer that takes a little is a slow one.
   *
   * A peer that vanished while its channels are quiet looks like one that reads, for the kernel takes the few bytes of a
   * comment for it; the library shows neither what was not acknowledged nor the peer's port to look it up by. It keeps its
   * place until TCP gives up (some 15 minutes), its token expires, or its host is back and answers the next comment with a
   * reset, and so a panel that was switched off and on never meets its own remains for long.
   */
  #keepAlive(): void {
    this.#cancelKeepalive = this.#clock.after(KEEPALIVE_MS, () => {
      if (!this.#open) return;
      if (!this.#full) guarded('event stream: keep-alive', () => this.#wire.cork(() => this.#send(KEEPALIVE)));
      this.#keepAlive();
    });
  }

  #end(why: 'session' | 'permission' | 'shutdown' | 'fault', reason: string): void {
    if (!this.#open) return;
    if (why === 'session') this.#wire.cork(() => this.#connection.sayLast({ type: 'session-ended', reason }));
    this.#open = false;
    this.#wire.end();
  }
}

export function refuseApiKey(caller: Caller): void {
  if (caller.kind === 'apiKey') throw new Refusal('forbidden', 'an API key cannot open a live stream; use a session token', { code: 'api_key_fence' });
}
