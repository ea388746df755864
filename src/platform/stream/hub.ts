/**
 * The hub of the live streams: one numbering, one memory and one set of filters for both transports (contract 2, Events).
 * Channel owners publish events; units put their tags on the board; the hub walks the board in ten slices of 20 ms, so
 * that every tag is republished each 200 ms whatever changed.
 *
 * Invariant: `eventId` rises by one with every event of the plant; a snapshot covers exactly the events before it, and
 * every event after it reaches the connection as a live frame or is counted as shed.
 *
 * What one connection throws ends that one (`#failed`). The loops over connections have a try of their own each: no closure per slice.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { contain, guarded, guardedPromise } from '../base/guarded.js';
import { sourceKey } from '../base/ip-address.js';
import type { Caller } from '../http/caller.js';
import type { SessionWatch } from '../http/stream-port.js';
import { type ChannelEvent, type ChannelName, EVENT_CHANNELS, type EventChannel, type TagSource } from './channel.js';
import { Connection, type ConnectionParts } from './connection.js';
import { type BrokerStatus, type Encoding, sseEncoding, webSocketEncoding } from './frames.js';
import { type KnownEvent, LastKnown } from './last-known.js';
import { SliceArena } from './slice-arena.js';
import type { Wire } from './subscriber.js';
import { SLICE_MS, SLICES, TagBoard } from './tag-board.js';
import type { Places } from './filter.js';

/** Sessions are looked at this often, so that an expired one is noticed within 50 s (contract 2, Limits). */
export const SUPERVISION_MS = 25_000;
const SWEEP_EVERY = 2; // snapshot memory is swept with every second supervision; reads skip what has lapsed anyway

/** What those who tell something do with the hub. */
export type ChannelHub = Pick<Hub, 'publish' | 'placeTags' | 'removeTags' | 'setBroker'>;

export type Publish = (hub: ChannelHub) => void;

export interface HubOptions {
  readonly clock: Clock;
  readonly sessions: SessionWatch;
  readonly places: Places;
  /**
   * Settles when what was changed so far is on record, and rejects when it never will be: no frame of an acknowledge,
   * command or write goes out before its audit record is on disk (contract 2, Events 6; D-AUDIT-01).
   */
  readonly recorded?: () => Promise<void>;
  /** First half of SSE ids; random per process (decisions Q-STREAM-13). */
  readonly instance?: string;
}

export class Hub {
  readonly instance: string;
  readonly #clock: Clock;
  readonly #sessions: SessionWatch;
  readonly #places: Places;
  readonly #encodings: Readonly<Record<'websocket' | 'sse', Encoding>>;
  readonly #connections = new Set<Connection>();
  /** Open streams and sockets that wait for their token, by source. */
  readonly #perSource = new Map<string, number>();
  /** How each socket that waits for its token is closed. */
  readonly #waiting = new Set<() => void>();
  readonly #known = Object.fromEntries(EVENT_CHANNELS.map((name) => [name, new LastKnown()])) as Readonly<Record<EventChannel, LastKnown>>;
  readonly #board: TagBoard;
  readonly #arena: SliceArena;
  #eventId = 0;
  readonly #recorded: () => Promise<void>;
  /** Events published in this turn of the event loop; they leave together, in one cork per connection. */
  #fresh: ChannelEvent[] = [];
  /** Those that no record has to be ahead of. */
  #atOnce: ChannelEvent[] = [];
  #broker: BrokerStatus = 'connected';
  #slice = 0;
  #nextSliceAtMs = 0;
  #cancelSlice: (() => void) | undefined;
  #cancelSupervision: (() => void) | undefined;
  #supervisions = 0;
  #tagSubscriptions = 0;
  #streamsOpen = 0;
  /** Slices that began more than a whole period late and were left out, since the start. */
  slicesSkipped = 0;

  constructor(options: HubOptions) {
    this.#clock = options.clock;
    this.#sessions = options.sessions;
    this.#places = options.places;
    this.#recorded = options.recorded ?? (() => Promise.resolve());
    this.instance = options.instance ?? randomBytes(6).toString('hex');
    this.#encodings = { websocket: webSocketEncoding, sse: sseEncoding(this.instance) };
    this.#board = new TagBoard(() => this.#nextEventId());
    this.#arena = new SliceArena(this.instance);
    this.#sessions.onEnded((sessionId, reason) => this.#endSession(sessionId, reason));
  }

  /** Number of the last event. */
  get eventId(): number {
    return this.#eventId;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Live frames shed by the connections that are open now; for the diagnostics. */
  get shedTotal(): number {
    let shed = 0;
    for (const connection of this.#connections) shed += connection.shedTotal;
    return shed;
  }

  /** Open streams of one source, both transports together, and sockets that have not said who they are (D-C-20); one IPv6 subscriber has 2^64 addresses and is one source (decisions Q-STREAM-10). */
  streamCount(sourceIP: string): number {
    return this.#perSource.get(sourceKey(sourceIP)) ?? 0;
  }

  get streamsOpen(): number {
    return this.#streamsOpen;
  }

  /** Open streams of a session, for the list of sessions (decisions Q-AUTH-03). */
  streamsOfSession(sessionId: string): number {
    let count = 0;
    for (const connection of this.#connections) if (connection.caller.sessionId === sessionId) count += 1;
    return count;
  }

  start(): void {
    this.#nextSliceAtMs = this.#clock.monoMs() + SLICE_MS;
    this.#armSlice();
    this.#armSupervision();
  }

  stop(): void {
    this.#cancelSlice?.();
    this.#cancelSupervision?.();
    this.#cancelSlice = undefined;
    this.#cancelSupervision = undefined;
  }

  /** Server shutdown: every stream ends without a session-ended event (decisions Q-STREAM-15). */
  async endAll(): Promise<void> {
    this.stop();
    for (const close of [...this.#waiting]) guarded('hub: end of all', close);
    for (const connection of [...this.#connections]) guarded('hub: end of all', () => connection.shutDown());
  }

  /**
   * A socket waits for its token and counts as a stream of its source meanwhile. It is closed by `shutDown` when the server stops.
   * @returns ends the wait; called once.
   */
  wait(sourceIP: string, shutDown: () => void): () => void {
    this.#waiting.add(shutDown);
    this.#count(sourceIP, 1);
    return () => {
      this.#waiting.delete(shutDown);
      this.#count(sourceIP, -1);
    };
  }

  #count(sourceIP: string, change: 1 | -1): void {
    this.#streamsOpen += change;
    const count = this.streamCount(sourceIP) + change;
    if (count > 0) this.#perSource.set(sourceKey(sourceIP), count);
    else this.#perSource.delete(sourceKey(sourceIP));
  }

  /** A unit's tags, or its new list after a plan was loaded. */
  placeTags(source: TagSource): void {
    this.#board.place(source);
  }

  removeTags(site: string, unit: string): void {
    this.#board.remove(site, unit);
  }

  /**
   * Numbered, remembered and sent once it is on record. When a change of this turn fails to commit, its events are dropped
   * with those of all others of the turn, which may well be on disk: their owners hear of it (`dropped`).
   */
  publish(event: ChannelEvent): void {
    if (event.unrecorded) return this.#publishAtOnce(event);
    this.#fresh.push(event);
    if (this.#fresh.length > 1) return;
    queueMicrotask(() => {
      const events = this.#fresh;
      this.#fresh = [];
      guardedPromise('hub: events of a turn', () =>
        this.#recorded().then(
          () => this.#deliver(events),
          () => {
            for (const { dropped } of events) if (dropped) guarded('hub: owner of a dropped event', dropped);
          },
        ),
      );
    });
  }

  #publishAtOnce(event: ChannelEvent): void {
    this.#atOnce.push(event);
    if (this.#atOnce.length > 1) return;
    queueMicrotask(() => {
      const events = this.#atOnce;
      this.#atOnce = [];
      guarded('hub: events of a turn', () => this.#deliver(events));
    });
  }

  /** The link between gateway and unit runtimes (decisions Q-STREAM-03); pushed on change only. */
  setBroker(status: BrokerStatus): void {
    if (status === this.#broker) return;
    this.#broker = status;
    for (const connection of this.#connections) {
      if (connection.transport !== 'websocket') continue;
      try {
        connection.pushBroker(status, this.#clock.wallMs());
      } catch (fault) {
        this.#failed('hub: broker', connection, fault);
      }
    }
  }

  get broker(): BrokerStatus {
    return this.#broker;
  }

  open(transport: 'websocket' | 'sse', wire: Wire, sourceIP: string, caller: Caller, end: ConnectionParts['end']): Connection {
    const connection = new Connection({
      transport,
      wire,
      caller,
      encoding: this.#encodings[transport],
      end,
      places: this.#places,
      knownEvents: (channel, filter, since) => this.#known[channel].select(filter, since, this.#clock.monoMs()),
      knownTags: (selection, since) => this.#board.known(selection, since),
      selectTags: (filter) => {
        this.#tagSubscriptions += 1;
        return this.#board.select(filter);
      },
      releaseTags: (selection) => {
        this.#tagSubscriptions -= 1;
        this.#board.release(selection);
      },
      closed: () => {
        if (this.#connections.delete(connection)) this.#count(sourceIP, -1);
      },
      currentEventId: () => this.#eventId,
    });
    this.#connections.add(connection);
    this.#count(sourceIP, 1);
    return connection;
  }

  #nextEventId(): number {
    this.#eventId += 1;
    return this.#eventId;
  }

  #deliver(events: readonly ChannelEvent[]): void {
    const now = this.#clock.monoMs();
    const fresh: { readonly channel: ChannelName; readonly event: KnownEvent }[] = [];
    for (const event of events) {
      try {
        const known = this.#known[event.channel].note(event, this.#nextEventId(), now);
        if (known) fresh.push({ channel: event.channel, event: known });
      } catch (fault) {
        contain('hub: event', fault);
      }
    }
    for (const connection of this.#connections) {
      try {
        if (!fresh.some(({ channel, event }) => connection.wants(channel, event.site, event.unit))) continue;
        connection.cork(() => {
          for (const { channel, event } of fresh) connection.offer(channel, event);
        });
      } catch (fault) {
        this.#failed('hub: connection', connection, fault);
      }
    }
  }

  /** A bug of ours met this connection: its client opens another. */
  #failed(seam: string, connection: Connection, fault: unknown): void {
    contain(seam, fault);
    guarded(seam, () => connection.fail());
  }

  // ------------------------------------------------------------------ tags

  #armSlice(): void {
    const delay = Math.max(0, this.#nextSliceAtMs - this.#clock.monoMs());
    this.#cancelSlice = this.#clock.after(delay, () => this.#onSliceDue());
  }

  /** The due time moves on by whole slices, so that a late timer never shifts the following ones. */
  #onSliceDue(): void {
    const now = this.#clock.monoMs();
    let behind = Math.floor((now - this.#nextSliceAtMs) / SLICE_MS);
    if (behind >= SLICES) {
      this.slicesSkipped += behind;
      this.#slice = (this.#slice + behind) % SLICES;
      this.#nextSliceAtMs += behind * SLICE_MS;
      behind = 0;
    }
    for (let due = 0; due <= behind; due += 1) {
      guarded('hub: slice of the tags', () => this.#publishSlice(this.#slice));
      this.#slice = (this.#slice + 1) % SLICES;
      this.#nextSliceAtMs += SLICE_MS;
    }
    this.#armSlice();
  }

  #publishSlice(slice: number): void {
    const arena = this.#arena;
    arena.begin();
    const count = this.#board.walk(slice, this.#tagSubscriptions > 0 ? (_position, eventId, tail) => arena.add(eventId, tail) : undefined);
    if (count === 0 || this.#tagSubscriptions === 0) return;
    for (const connection of this.#connections) {
      try {
        connection.offerSlice(arena, slice);
      } catch (fault) {
        this.#failed('hub: connection', connection, fault);
      }
    }
  }

  // ------------------------------------------------------------------ sessions

  #armSupervision(): void {
    this.#cancelSupervision = this.#clock.after(SUPERVISION_MS, () => {
      guarded('hub: supervision', () => this.#supervise());
      this.#armSupervision();
    });
  }

  #supervise(): void {
    for (const connection of [...this.#connections]) {
      try {
        connection.supervise(this.#sessions, this.#clock.wallMs());
      } catch (fault) {
        this.#failed('hub: supervision', connection, fault);
      }
    }
    this.#supervisions += 1;
    if (this.#supervisions % SWEEP_EVERY === 0) for (const known of Object.values(this.#known)) known.sweep(this.#clock.monoMs());
  }

  #endSession(sessionId: string, reason: string): void {
    for (const connection of [...this.#connections]) {
      if (connection.caller.sessionId !== sessionId) continue;
      try {
        connection.sessionEnded(reason);
      } catch (fault) {
        this.#failed('hub: end of a session', connection, fault); // it must not go on for who is signed out
      }
    }
  }
}
