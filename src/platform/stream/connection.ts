/**
 * One streaming connection: who it belongs to, what it subscribed to, and how its frames leave. A WebSocket has up to 64
 * subscriptions with ids of its own; an SSE stream has its channels, fixed at connect.
 */
import { assert } from '../base/assert.js';
import { timestamp } from '../base/clock.js';
import type { WallMs } from '../base/times.js';
import { invalid, Refusal } from '../base/refusal.js';
import { type Caller, firstDuty, hasExpired } from '../http/caller.js';
import type { SessionWatch } from '../http/stream-port.js';
import { CHANNEL_ROWS, type ChannelName, type EventChannel } from './channel.js';
import { type Filter, type FilterRequest, makeFilter, seesPlace, type Places } from './filter.js';
import { type BrokerStatus, type ControlFrame, type Encoding, type EventMembers, type Frame, WEBSOCKET_SEQ_AT } from './frames.js';
import type { KnownEvent } from './last-known.js';
import type { SliceArena } from './slice-arena.js';
import { FRAME_BUFFER_MAX, Subscriber, type Wire } from './subscriber.js';
import { SLICES, type TagSelection } from './tag-board.js';

export const SUBSCRIPTIONS_MAX = 64; // decisions Q-STREAM-05
/** Not in the contract: some 10 MB of a client that subscribes on and reads nothing, and more than a console asks for at once. */
export const REPLAY_WAITING_MAX = 32_768;

/**
 * What uWebSockets.js gathers in one cork before it copies and writes. Frames that would run over it wait for the next cork:
 * a cork that runs over is copied once more before the write, a tenth of the price of a frame.
 */
const CORK_BYTES = 16 * 1024 - 16;
const FRAME_HEADER_BYTES = 4;

/** Reasons a session ends that the hub itself notices (decisions Q-STREAM-15). */
export const TOKEN_EXPIRED = 'access token expired';
export const INACTIVE = 'session terminated after inactivity';
const TERMINATED = 'session ended: terminated by administrator';

export interface ConnectionParts {
  readonly transport: 'websocket' | 'sse';
  readonly wire: Wire;
  readonly caller: Caller;
  readonly encoding: Encoding;
  readonly places: Places;
  /**
   * Ends the transport. `session`: the identity ended (4001 or a session-ended event); `permission`: what the stream
   * showed may no longer be seen (SSE only); `shutdown`: the server stops; `fault`: a bug of ours.
   */
  readonly end: (why: 'session' | 'permission' | 'shutdown' | 'fault', reason: string) => void;
  /** What a snapshot shows: what happened last to each object the filter sees, after event `since`, in the order of the events. */
  readonly knownEvents: (channel: EventChannel, filter: Filter, since: number) => readonly EventMembers[];
  readonly knownTags: (selection: TagSelection, since: number) => readonly EventMembers[];
  readonly selectTags: (filter: Filter) => TagSelection;
  readonly releaseTags: (selection: TagSelection) => void;
  readonly closed: () => void;
  readonly currentEventId: () => number;
}

interface Subscription {
  readonly channel: ChannelName;
  readonly filter: Filter;
  readonly request: FilterRequest;
  /** JSON text of the subscriptionId; '' on SSE. */
  readonly idJson: string;
  readonly tags: TagSelection | undefined;
}

export class Connection {
  readonly transport: 'websocket' | 'sse';
  caller: Caller;
  readonly #parts: ConnectionParts;
  readonly #out: Subscriber;
  readonly #subscriptions = new Map<string, Subscription>();
  /** The same as arrays for the publishing loops. */
  #tagSubscriptions: Subscription[] = [];
  #eventSubscriptions: Subscription[] = [];
  #open = true;

  constructor(parts: ConnectionParts) {
    this.transport = parts.transport;
    this.caller = parts.caller;
    this.#parts = parts;
    this.#out = new Subscriber(parts.wire, parts.encoding);
  }

  get seq(): number {
    return this.#out.seq;
  }

  get shedTotal(): number {
    return this.#out.shedTotal;
  }

  get subscriptionCount(): number {
    return this.#subscriptions.size;
  }

  cork(call: () => void): void {
    this.#parts.wire.cork(call);
  }

  /** The transport has room again. */
  drained(): void {
    if (this.#open) this.#out.drained();
  }

  /** The transport is gone. */
  closed(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      for (const id of [...this.#subscriptions.keys()]) this.#drop(id);
    } finally {
      this.#parts.closed(); // whatever was left undone: it is no stream of its source any more
    }
  }

  // ------------------------------------------------------------------ subscriptions

  /**
   * Registers, acknowledges and replays (contract 2, Events 1; decisions Q-STREAM-02).
   * @returns the frames of the snapshot.
   * @throws Refusal, or a fault of ours: then nothing is registered.
   */
  subscribe(id: string, channel: ChannelName, request: FilterRequest): number {
    if (this.#subscriptions.has(id))
      throw new Refusal('conflict', `subscription ${id} is active; unsubscribe it first or choose another id`, { code: 'already_subscribed', field: 'id' });
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX) {
      throw new Refusal('limited', `this connection has ${SUBSCRIPTIONS_MAX} subscriptions, the most allowed; unsubscribe one first`, {
        code: 'too_many_subscriptions',
        limit: SUBSCRIPTIONS_MAX,
      });
    }
    const filter = this.#filterOf(channel, request);
    const subscription = this.#add(id, channel, filter, request);
    let items: readonly EventMembers[];
    try {
      items = this.#known(subscription, 0);
      if (!this.#hasRoomFor(items.length)) {
        throw new Refusal('limited', `${this.#out.replayWaiting} snapshot frames of earlier subscriptions wait to be read; read them, then subscribe again`, {
          code: 'snapshot_pending',
          limit: REPLAY_WAITING_MAX,
        });
      }
    } catch (why) {
      this.#drop(id);
      throw why;
    }
    this.cork(() => {
      this.answer({ type: 'subscribed', subscriptionId: id, channel, filter: present(request) });
      this.#replay(items, subscription.idJson);
    });
    return items.length;
  }

  /** A snapshot is never shed, so what waits of snapshots is bounded where it is asked for. The first and the small are always taken. */
  #hasRoomFor(frames: number): boolean {
    const waiting = this.#out.replayWaiting;
    return waiting === 0 || frames <= FRAME_BUFFER_MAX || waiting + frames <= REPLAY_WAITING_MAX;
  }

  #known({ channel, filter, tags }: Subscription, since: number): readonly EventMembers[] {
    if (channel === 'tags') return tags ? this.#parts.knownTags(tags, since) : [];
    return this.#parts.knownEvents(channel, filter, since);
  }

  unsubscribe(id: string): void {
    if (!this.#drop(id)) throw new Refusal('missing', `subscription ${id} does not exist on this connection`, { code: 'not_found', field: 'id' });
    this.answer({ type: 'unsubscribed', subscriptionId: id });
  }

  /**
   * The channels of an SSE stream, in one snapshot (contract 2, Server-sent events; D-STREAM-04). Its `id:` lines repeat
   * the point the connection started from; only the last one names the newest event covered, so that a broken-off
   * snapshot is started again. `since` 0: everything.
   */
  openChannels(channels: readonly ChannelName[], request: FilterRequest, since: number): void {
    const prepared = channels.map((channel) => ({ channel, filter: this.#filterOf(channel, request) }));
    const opened = prepared.map(({ channel, filter }) => this.#add(channel, channel, filter, request));
    const items = opened.flatMap((subscription) => this.#known(subscription, since)).sort((a, b) => a.eventId - b.eventId);
    const covered = this.#parts.currentEventId();
    this.cork(() => this.#replay(items, '', { since, covered }));
  }

  /** Checks that the caller may open a channel with a filter; the same barriers on both transports. */
  checkChannel(channel: ChannelName, request: FilterRequest): void {
    this.#filterOf(channel, request);
  }

  #filterOf(channel: ChannelName, request: FilterRequest): Filter {
    checkChannelAccess(this.caller, channel, request, this.#parts.places);
    return makeFilter(request, this.caller.sites);
  }

  #add(id: string, channel: ChannelName, filter: Filter, request: FilterRequest): Subscription {
    const idJson = this.transport === 'websocket' ? JSON.stringify(id) : '';
    const subscription: Subscription = { channel, filter, request, idJson, tags: channel === 'tags' ? this.#parts.selectTags(filter) : undefined };
    this.#subscriptions.set(id, subscription);
    this.#list();
    return subscription;
  }

  #drop(id: string): boolean {
    const subscription = this.#subscriptions.get(id);
    if (!subscription) return false;
    this.#subscriptions.delete(id);
    if (subscription.tags) this.#parts.releaseTags(subscription.tags);
    this.#list();
    return true;
  }

  #list(): void {
    const all = [...this.#subscriptions.values()];
    this.#tagSubscriptions = all.filter(({ channel }) => channel === 'tags');
    this.#eventSubscriptions = all.filter(({ channel }) => channel !== 'tags');
  }

  #replay(items: readonly EventMembers[], idJson: string, resume?: { readonly since: number; readonly covered: number }): void {
    if (items.length === 0) return;
    const { encoding } = this.#parts;
    let next = 0;
    this.#out.snapshot((): Frame | undefined => {
      if (next === items.length) return undefined;
      const item = items[next] as EventMembers;
      next += 1;
      const resumeAt = resume && (next === items.length ? resume.covered : resume.since);
      return encoding.event(item, idJson, true, resumeAt);
    }, items.length);
  }

  // ------------------------------------------------------------------ frames

  wants(channel: ChannelName, site: string, unit: string): boolean {
    return this.#eventSubscriptions.some((subscription) => subscription.channel === channel && seesPlace(subscription.filter, site, unit));
  }

  offer(channel: ChannelName, event: KnownEvent): void {
    for (const subscription of this.#eventSubscriptions) {
      if (subscription.channel !== channel || !seesPlace(subscription.filter, event.site, event.unit)) continue;
      const frame = this.#parts.encoding.event(event, subscription.idJson, false);
      this.#out.live(frame.bytes, frame.seqAt);
    }
  }

  /** The tags of one publishing slice, in one cork. */
  offerSlice(arena: SliceArena, slice: number): void {
    assert(slice >= 0 && slice < SLICES, 'a selection has its tags in as many slices as the board');
    const subscriptions = this.#tagSubscriptions;
    if (subscriptions.length === 0) return;
    if (this.transport === 'sse') {
      this.cork(() => {
        for (const { tags } of subscriptions) {
          if (!tags) continue;
          const run = arena.run(tags, tags.slots[slice] as Int32Array);
          this.#out.liveRun(run.bytes, run.seqAts, run.ends, run.count);
        }
      });
      return;
    }
    if (!subscriptions.some(({ tags }) => tags && (tags.slots[slice] as Int32Array).length > 0)) return;
    let at = 0;
    let slot = 0;
    const fillCork = (): void => {
      let room = CORK_BYTES;
      for (; at < subscriptions.length; at += 1, slot = 0) {
        const { tags, idJson } = subscriptions[at] as Subscription;
        if (!tags) continue;
        const form = arena.form(idJson);
        const slots = tags.slots[slice] as Int32Array;
        for (; slot < slots.length; slot += 1) {
          const bytes = arena.frame(form, slots[slot] as number);
          if (bytes.length > room && room < CORK_BYTES) return;
          room -= bytes.length + FRAME_HEADER_BYTES;
          this.#out.live(bytes, WEBSOCKET_SEQ_AT);
        }
      }
    };
    while (at < subscriptions.length) this.cork(fillCork);
  }

  /** A frame without eventId; `members` without seq. Never shed. */
  answer(members: ControlFrame): void {
    if (this.#open) this.#out.answer(this.#parts.encoding.control(members));
  }

  /** The last frame of the connection: goes out before anything that waits. */
  sayLast(members: ControlFrame): void {
    if (this.#open) this.#out.last(this.#parts.encoding.control(members));
  }

  pushBroker(status: BrokerStatus, wallMs: WallMs): void {
    this.answer({ type: 'broker-status', status, ts: timestamp(wallMs) });
  }

  /** The error frame of a refusal: code and context as the REST body has them (decisions Q-STREAM-06). */
  refuse(refusal: Refusal, correlation: { readonly requestId?: string; readonly subscriptionId?: string } = {}): void {
    const { code, ...context } = refusal.context;
    this.answer({ type: 'error', message: refusal.message, code: code ?? refusal.kind, ...correlation, ...context });
  }

  // ------------------------------------------------------------------ identity

  /** The session ended; the reason is one of decisions Q-STREAM-15. */
  sessionEnded(reason: string): void {
    this.#parts.end('session', reason);
  }

  shutDown(): void {
    this.#parts.end('shutdown', 'server shutdown');
  }

  fail(): void {
    this.#parts.end('fault', 'internal error');
  }

  /** Another token of the same identity (D-STREAM-01); what it may no longer see ends now. */
  renew(caller: Caller): void {
    this.caller = caller;
    this.#recheck();
  }

  /** Looks whether the identity still holds and still may see what it subscribed to (contract 2, Authentication 4; D-STREAM-02). */
  supervise(sessions: SessionWatch, nowMs: WallMs): void {
    if (!this.#open) return;
    if (hasExpired(this.caller, nowMs)) return this.sessionEnded(TOKEN_EXPIRED);
    const state = sessions.stateOf(this.caller);
    if (state === 'expired') return this.sessionEnded(TOKEN_EXPIRED);
    if (state === 'inactive') return this.sessionEnded(INACTIVE);
    if (state === 'ended') return this.sessionEnded(TERMINATED);
    try {
      this.caller = sessions.refresh(this.caller);
    } catch {
      return this.sessionEnded(TERMINATED);
    }
    this.#recheck();
  }

  #recheck(): void {
    for (const [id, subscription] of [...this.#subscriptions]) {
      const lost = lostAccess(this.caller, subscription);
      if (!lost) continue;
      if (this.transport === 'sse') return this.#parts.end('permission', lost.message);
      this.#drop(id);
      this.refuse(lost, { subscriptionId: id });
    }
  }
}

/** @throws Refusal `action_missing`, `site_scope` or `not_found`, in the order of decisions Q-ERR-06. */
export function checkChannelAccess(caller: Caller, channel: ChannelName, request: FilterRequest, places: Places): void {
  const { site, unit } = request;
  if (site !== undefined && !maySee(caller, site)) throw siteScope(site);
  const action = CHANNEL_ROWS[channel].action;
  if (!caller.may(action)) throw actionMissing(action);
  if (site !== undefined && !places.hasSite(site)) throw new Refusal('missing', `site ${site} does not exist`, { code: 'not_found', field: 'filter.site' });
  if (unit !== undefined && !places.hasUnit(site, unit)) throw new Refusal('missing', `unit ${unit} does not exist`, { code: 'not_found', field: 'filter.unit' });
}

export function maySee(caller: Caller, site: string): boolean {
  return caller.sites === null || caller.sites.includes(site);
}

export function siteScope(site: string): Refusal {
  return new Refusal('forbidden', `site ${site} is outside your sites`, { code: 'site_scope', site });
}

export function actionMissing(action: string): Refusal {
  return new Refusal('forbidden', `this needs the action ${action}, which your groups do not grant`, { code: 'action_missing', action });
}

/** A subscription without a site resolved to the sites of its time; one of them lost ends it too. */
function lostAccess(caller: Caller, { channel, filter }: Subscription): Refusal | undefined {
  const duty = firstDuty(caller); // who has one opens no stream, and sees on in none that he has
  if (duty) return duty;
  const action = CHANNEL_ROWS[channel].action;
  if (!caller.may(action)) return actionMissing(action);
  if (caller.sites === null) return undefined;
  if (filter.sites === null) return new Refusal('forbidden', 'your sites were restricted; subscribe again to see the sites that are left', { code: 'site_scope' });
  const gone = filter.sites.find((site) => !maySee(caller, site));
  return gone === undefined ? undefined : siteScope(gone);
}

function present(request: FilterRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Record<string, string>;
}

/** @throws Refusal `invalid_field`. */
export function readText(value: unknown, field: string, lengthMax = 256): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > lengthMax) throw invalid('invalid_field', field, `${field} must be text of 1 to ${lengthMax} characters`);
  return value;
}
