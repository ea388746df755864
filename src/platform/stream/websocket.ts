/**
 * The WebSocket transport `GET /api/v1/ws` (contract 2, WebSocket; decisions Q-STREAM-05, Q-STREAM-06, Q-STREAM-16): the
 * client's frames in, the hub's frames out.
 */
import { shortText } from '../base/short-text.js';
import type { MonoMs } from '../base/times.js';
import type { Clock } from '../base/clock.js';
import { timestamp } from '../base/clock.js';
import { guardedPromise } from '../base/guarded.js';
import { invalid, Refusal } from '../base/refusal.js';
import type { Proven } from '../http/authenticator.js';
import { type Caller, firstDuty } from '../http/caller.js';
import { notText } from '../http/json-body.js';
import type { SessionWatch, WebSocketSession, WebSocketWire } from '../http/stream-port.js';
import { CHANNELS, isChannel } from './channel.js';
import { type Connection, readText } from './connection.js';
import type { FilterRequest } from './filter.js';
import type { Hub } from './hub.js';
import type { Wire } from './subscriber.js';

/** decisions Q-STREAM-06 */
const FRAME_BYTES_MAX = 64 * 1024;
const FRAMES_PER_SECOND = 50;
const FRAMES_BURST = 100;
/** Not in the contract: whoever goes on at more than twice the rate for this many refused frames floods, and is cut off. */
const REFUSED_BURST = 1000;
/** Not in the contract: so many frames of snapshots count as one frame of the client, or asking on would keep the gateway busy. */
const REPLAYED_PER_FRAME = 1000;
/** A refused frame is parsed for its correlation only, so a large one is not parsed at all. */
const REFUSED_PARSED_BYTES_MAX = 4096;
/** Names of the client's own making are quoted in answers up to this length. */
const QUOTED_MAX = 64;
/** decisions Q-STREAM-16 */
const PING_AFTER_MS = 56_000;
const SILENCE_MAX_MS = 60_000;

export const CLOSE = { goingAway: 1001, policy: 1008, tooBig: 1009, internal: 1011, sessionEnded: 4001 } as const;

export interface WriteFrame {
  readonly site: string;
  readonly unit: string;
  readonly address: string;
  /** Undefined when the frame has none: a write attempt that is refused, and on record. */
  readonly value: unknown;
}

export interface CommandFrame {
  readonly site: string;
  readonly kind: string;
  readonly name: string;
  readonly command: string;
  /** Present when the frame carries one (decisions Q-CMD-02). */
  readonly reason?: unknown;
  /** Says what would happen, and changes nothing. */
  readonly dryRun?: boolean;
}

/** What became of a mutation: the members `ok` and `message` of its result frame. */
export interface FrameResult {
  readonly ok: boolean;
  readonly message: string;
  /** Further members of the result frame. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * The frames that change something, given by the domains. Each passes the barriers of its REST route except the nonce
 * (D-STREAM-03) and has its audit record on disk before it settles; a gateway refusal is thrown as a Refusal.
 */
export interface ClientFrames {
  write(frame: WriteFrame, caller: Caller, sourceIP: string): Promise<FrameResult>;
  command(frame: CommandFrame, caller: Caller, sourceIP: string): Promise<FrameResult>;
}

export interface WebSocketParts {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly sessions: SessionWatch;
  readonly frames: ClientFrames;
  /** A fault of our own while a frame was handled. */
  readonly onFault: (fault: unknown) => void;
}

/** To be given to `webSocket(...)` of stream-port.ts by the route's handler. */
export function openWebSocket(parts: WebSocketParts, caller: Caller): (wire: WebSocketWire) => WebSocketSession {
  return (wire) => new WebSocketClient(parts, caller, wire);
}

type Members = Readonly<Record<string, unknown>>;

class WebSocketClient implements WebSocketSession {
  readonly #parts: WebSocketParts;
  readonly #wire: WebSocketWire;
  readonly #connection: Connection;
  #open = true;
  /** Bytes wait in the socket; the subscriber keeps what follows. */
  #full = false;
  #heardAtMs: number;
  readonly #frames: Allowance;
  readonly #refused: Allowance;
  #cancelWatch: () => void = () => undefined;

  constructor(parts: WebSocketParts, caller: Caller, wire: WebSocketWire) {
    this.#parts = parts;
    this.#wire = wire;
    this.#heardAtMs = parts.clock.monoMs();
    this.#frames = new Allowance(FRAMES_BURST, this.#heardAtMs);
    this.#refused = new Allowance(REFUSED_BURST, this.#heardAtMs);
    this.#connection = parts.hub.open('websocket', this.#hubWire(), wire.sourceIP, caller, (why, reason) => {
      if (why === 'shutdown') this.#close(CLOSE.goingAway, reason);
      else if (why === 'fault') this.#cutOff(CLOSE.internal, reason);
      else this.#close(CLOSE.sessionEnded, reason);
    });
    try {
      if (parts.hub.broker === 'disconnected') this.#connection.pushBroker('disconnected', parts.clock.wallMs());
      this.#watchSilence(PING_AFTER_MS);
    } catch (fault) {
      this.onClose(); // nobody will tell who was never there: it must not stay a stream of its source
      throw fault;
    }
  }

  #hubWire(): Wire {
    const wire = this.#wire;
    return {
      ready: () => this.#open && !this.#full,
      send: (bytes) => {
        const room = wire.send(bytes) === 1;
        if (!room) this.#full = true;
        return room;
      },
      // what the last cork left in the socket shows here, once per slice and not once per frame
      cork: (call) => {
        this.#full = wire.bufferedBytes() > 0;
        wire.cork(call);
      },
      overrun: () => this.#cutOff(CLOSE.policy, 'too many unread answers'),
    };
  }

  onMessage(bytes: ArrayBuffer, isBinary: boolean): void {
    if (!this.#open) return;
    this.#heardAtMs = this.#parts.clock.monoMs();
    if (bytes.byteLength > FRAME_BYTES_MAX) return this.#cutOff(CLOSE.tooBig, `frame over ${FRAME_BYTES_MAX} bytes`);
    if (!this.#frames.take(this.#heardAtMs)) return this.#refuseUnread(bytes, isBinary);
    let members: Members = {};
    try {
      const frame = isBinary ? undefined : parseFrame(bytes);
      members = frame ?? {};
      if (!frame) throw malformed('a frame is a JSON object sent as text');
      // a right that was lost since the last look, or a session that ended, must not serve this frame
      this.#connection.supervise(this.#parts.sessions, this.#parts.clock.wallMs());
      if (this.#open) this.#execute(frame);
    } catch (fault) {
      this.#refuse(fault, members);
    }
  }

  #refuseUnread(bytes: ArrayBuffer, isBinary: boolean): void {
    if (!this.#refused.take(this.#heardAtMs)) return this.#cutOff(CLOSE.policy, 'far too many frames');
    const refusal = new Refusal('limited', `more than ${FRAMES_PER_SECOND} frames a second; this frame was not executed`, { code: 'rate_limited' });
    let members: Members = {};
    try {
      if (!isBinary && bytes.byteLength <= REFUSED_PARSED_BYTES_MAX) members = parseFrame(bytes) ?? {};
    } catch {
      // no JSON: there is nothing to correlate with
    }
    this.#refuse(refusal, members);
  }

  onDrain(): void {
    this.#full = this.#wire.bufferedBytes() > 0;
    this.#connection.drained();
  }

  onPong(): void {
    this.#heardAtMs = this.#parts.clock.monoMs();
  }

  onClose(): void {
    this.#open = false;
    this.#cancelWatch();
    this.#connection.closed();
  }

  #execute(frame: Members): void {
    const duty = firstDuty(this.#connection.caller);
    if (duty && frame.type !== 'authenticate' && frame.type !== 'unsubscribe') throw duty;
    switch (frame.type) {
      case 'subscribe':
        return this.#subscribe(frame);
      case 'unsubscribe':
        only(frame, ['type', 'id']);
        return this.#connection.unsubscribe(readText(frame.id, 'id', 64));
      case 'authenticate':
        return this.#authenticate(frame);
      case 'write':
        return this.#mutate(frame, this.#parts.frames.write(readWrite(frame), this.#connection.caller, this.#wire.sourceIP));
      case 'command':
        return this.#mutate(frame, this.#parts.frames.command(readCommand(frame), this.#connection.caller, this.#wire.sourceIP));
      default:
        if (typeof frame.type !== 'string') throw malformed('a frame has a text member type');
        throw new Refusal('invalid', `frame type ${shortText(frame.type, QUOTED_MAX)} is not one of subscribe, unsubscribe, write, command, authenticate`, {
          code: 'unknown_type',
          field: 'type',
        });
    }
  }

  #subscribe(frame: Members): void {
    only(frame, ['type', 'id', 'channel', 'filter']);
    const id = readText(frame.id, 'id', 64);
    const { channel } = frame;
    if (typeof channel !== 'string' || !isChannel(channel)) {
      throw new Refusal('invalid', `channel must be one of ${CHANNELS.join(', ')}`, { code: 'unknown_channel', field: 'channel' });
    }
    const replayed = this.#connection.subscribe(id, channel, readFilter(frame.filter));
    this.#frames.charge(Math.floor(replayed / REPLAYED_PER_FRAME));
  }

  /** D-STREAM-01: a token of the same account and session moves the connection's expiry. */
  #authenticate(frame: Members): void {
    only(frame, ['type', 'token']);
    const token = readText(frame.token, 'token', FRAME_BYTES_MAX);
    const proving = this.#parts.sessions.proveToken?.(token);
    if (!proving) return this.#renew(token);
    guardedPromise('authenticate frame', () => proving.then((proven) => this.#open && this.#renew(token, proven)).catch((fault: unknown) => this.#refuse(fault, frame)));
  }

  /** Frames that came meanwhile were served as from who the connection was before: it is the same account and session. */
  #renew(token: string, proven?: Proven): void {
    const caller = this.#parts.sessions.authenticateToken(token, proven);
    const now = this.#connection.caller;
    if (caller.kind === 'apiKey' || caller.accountId !== now.accountId || caller.sessionId !== now.sessionId) {
      throw new Refusal('forbidden', 'the token belongs to another account or session; open a new connection with it', { code: 'other_identity', field: 'token' });
    }
    this.#connection.renew(caller);
    this.#connection.answer({ type: 'authenticated', expiresAt: caller.expiresAtMs === null ? null : timestamp(caller.expiresAtMs) });
  }

  #mutate(frame: Members, outcome: Promise<FrameResult>): void {
    this.#parts.sessions.touch(this.#connection.caller);
    const requestId = requestIdOf(frame);
    guardedPromise('answer of a frame', () =>
      outcome.then(
        ({ ok, message, details }) => this.#connection.answer({ ...details, type: 'result', ...requestId, ok, message }),
        (fault: unknown) => this.#refuse(fault, frame),
      ),
    );
  }

  #refuse(fault: unknown, frame: Members): void {
    const correlation = frame.type === 'subscribe' || frame.type === 'unsubscribe' ? subscriptionIdOf(frame) : requestIdOf(frame);
    if (fault instanceof Refusal) {
      this.#connection.refuse(fault, correlation);
      return;
    }
    this.#parts.onFault(fault);
    this.#connection.answer({ type: 'error', message: 'internal error', code: 'internal', ...correlation });
  }

  /** Asks a silent peer for a sign of life, and gives it up when none comes (contract 2, Events 5). */
  #watchSilence(delayMs: number): void {
    this.#cancelWatch = this.#parts.clock.after(delayMs, () => {
      if (!this.#open) return;
      const silentMs = this.#parts.clock.monoMs() - this.#heardAtMs;
      if (silentMs >= SILENCE_MAX_MS) return this.#wire.terminate();
      if (silentMs < PING_AFTER_MS) return this.#watchSilence(PING_AFTER_MS - silentMs);
      this.#watchSilence(SILENCE_MAX_MS - silentMs); // first: also a socket that cannot be asked is given up
      this.#wire.ping();
    });
  }

  #close(code: number, reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#wire.close(code, reason);
  }

  /** Ends the connection of a peer that breaks the rules: one that reads nothing would keep its socket for a close frame. */
  #cutOff(code: number, reason: string): void {
    if (this.#wire.bufferedBytes() === 0) return this.#close(code, reason);
    if (!this.#open) return;
    this.#open = false;
    this.#wire.terminate();
  }
}

/** A token bucket: `burst` at once, then `FRAMES_PER_SECOND`. */
class Allowance {
  readonly #burst: number;
  #left: number;
  #refilledAtMs: number;

  constructor(burst: number, nowMs: MonoMs) {
    this.#burst = burst;
    this.#left = burst;
    this.#refilledAtMs = nowMs;
  }

  take(nowMs: MonoMs): boolean {
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#refilledAtMs) * FRAMES_PER_SECOND) / 1000);
    this.#refilledAtMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Takes what a frame costs beyond itself; what is left may go below nothing. */
  charge(frames: number): void {
    this.#left -= frames;
  }
}

function parseFrame(bytes: ArrayBuffer): Members | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw malformed('the frame is not JSON');
  }
  const field = notText(value, '');
  if (field !== undefined) throw malformed(`${field} holds half of a surrogate pair, which is no Unicode text`);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

function readFilter(value: unknown): FilterRequest {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid('invalid_field', 'filter', 'filter must be an object with site, unit and addressPattern');
  const filter = value as Members;
  only(filter, ['site', 'unit', 'addressPattern'], 'filter.');
  const read = (name: string, lengthMax: number): Record<string, string> => {
    const member = filter[name];
    if (member === undefined || member === null) return {};
    // a variable of the client that was never set must not become a subscription to everything
    if (member === '') throw invalid('invalid_field', `filter.${name}`, `filter.${name} must not be empty; leave it out for no filter`);
    return { [name]: readText(member, `filter.${name}`, lengthMax) };
  };
  return { ...read('site', 128), ...read('unit', 128), ...read('addressPattern', 4096) };
}

function readWrite(frame: Members): WriteFrame {
  only(frame, ['type', 'requestId', 'site', 'unit', 'address', 'value']);
  checkRequestId(frame);
  return { site: needText(frame, 'site'), unit: needText(frame, 'unit'), address: needText(frame, 'address', 1024), value: frame.value };
}

function readCommand(frame: Members): CommandFrame {
  only(frame, ['type', 'requestId', 'site', 'kind', 'name', 'command', 'reason', 'dryRun']);
  checkRequestId(frame);
  if (frame.dryRun !== undefined && typeof frame.dryRun !== 'boolean') throw invalid('invalid_field', 'dryRun', 'dryRun must be true or false');
  return {
    site: needText(frame, 'site'),
    kind: needText(frame, 'kind'),
    name: needText(frame, 'name'),
    command: needText(frame, 'command'),
    ...(frame.reason === undefined ? {} : { reason: frame.reason }),
    ...(frame.dryRun ? { dryRun: true } : {}),
  };
}

function needText(frame: Members, name: string, lengthMax?: number): string {
  if (frame[name] === undefined) throw invalid('missing_field', name, `${name} is missing`);
  return readText(frame[name], name, lengthMax);
}

/** Only a correlation: it need not be there, be unique, or be anything but short text. */
function checkRequestId(frame: Members): void {
  const { requestId } = frame;
  if (requestId !== undefined && (typeof requestId !== 'string' || requestId.length > 128))
    throw invalid('invalid_field', 'requestId', 'requestId must be text of at most 128 characters');
}

function requestIdOf({ requestId }: Members): { readonly requestId?: string } {
  return typeof requestId === 'string' && requestId.length <= 128 ? { requestId } : {};
}

function subscriptionIdOf({ id }: Members): { readonly subscriptionId?: string } {
  return typeof id === 'string' && id.length <= 64 ? { subscriptionId: id } : {};
}

/** Unknown members are refused, as on every route (decisions Q-ERR-04): a misspelt filter must not show the whole plant. */
function only(frame: Members, names: readonly string[], prefix = ''): void {
  for (const name of Object.keys(frame)) {
    if (!names.includes(name)) {
      const member = prefix + shortText(name, QUOTED_MAX);
      throw invalid('unknown_field', member, `${member} is not a member of this frame`);
    }
  }
}

function malformed(why: string): Refusal {
  return new Refusal('invalid', why, { code: 'malformed_frame' });
}
