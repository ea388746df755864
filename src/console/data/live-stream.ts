/**
 * The WebSocket of the console (contract 2, Events and Authentication). It reports three things: frames, that something
 * was missed (a gap frame, a jump of `seq`, a new connection: read again by REST), and whether data is live. It reconnects
 * with growing pauses, and never after 4001: that identity has ended.
 */
import { signal } from '@preact/signals';
import { boxNowMs } from './box-clock.js';
import type { ChannelName } from '../../platform/stream/channel.js';
import type { FilterRequest } from '../../platform/stream/filter.js';
import type { Frame } from './types.js';

/** Tags come every 200 ms; silence longer than this is shown, so that old values are marked within a second. */
const SILENCE_MS_MAX = 700;
const WATCH_MS = 150;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 10_000;
const SESSION_ENDED = 4001; // contract 2, Authentication 5
const AUTHENTICATE_FIRST = 'lineside.authenticate'; // contract 2, Authentication 3

export interface Subscription {
  readonly id: string;
  readonly channel: ChannelName;
  readonly filter: FilterRequest;
}

export interface StreamParts {
  readonly token: () => string;
  readonly onFrame: (frame: Frame) => void;
  /** Frames were missed, or a connection was opened; what is shown must be read again. */
  readonly onMissed: (isNew: boolean) => void;
  /** A connection was opened; its snapshot follows. */
  readonly onOpened: () => void;
  readonly onSessionEnded: (reason: string) => void;
  /** A connection could not be opened; browsers hide the status, so the session has to be asked. */
  readonly onRefused: () => void;
}

export type Liveness = 'connecting' | 'live' | 'stale';

export class LiveStream {
  /** `stale` as soon as values may be older than a second. */
  readonly liveness = signal<Liveness>('connecting');
  /** When the last frame came, by the time of the box; 0 before the first. */
  readonly lastFrameAtMs = signal(0);
  readonly #parts: StreamParts;
  #socket: WebSocket | undefined;
  #subscriptions: readonly Subscription[] = [];
  #lastSeq = 0;
  #heardMonoMs = 0;
  #expectsTags = false;
  #failures = 0;
  #stopped = false;
  /** The gateway knows who this is: frames may be sent. */
  #known = false;
  /** Subscriptions that the gateway has not answered yet, and who waits for it. */
  readonly #unanswered = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(parts: StreamParts) {
    this.#parts = parts;
    window.setInterval(() => this.#watch(), WATCH_MS);
    window.addEventListener('online', () => this.#connectNow());
  }

  start(): void {
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    this.#socket?.close(1000);
  }

  /** Replaces what is subscribed; ids say what stays. */
  subscribe(wanted: readonly Subscription[]): void {
    const kept = new Set(wanted.map(({ id }) => id));
    for (const { id } of this.#subscriptions) if (!kept.has(id)) this.#send({ type: 'unsubscribe', id });
    const known = new Set(this.#subscriptions.map(({ id }) => id));
    this.#subscriptions = wanted;
    this.#expectsTags &&= wanted.some(({ id, channel }) => channel === 'tags' && known.has(id)); // what goes on is missed as before
    for (const { id } of wanted) if (!known.has(id)) this.#unanswered.add(id);
    for (const id of this.#unanswered) if (!kept.has(id)) this.#unanswered.delete(id);
    for (const subscription of wanted) if (!known.has(subscription.id)) this.#send({ type: 'subscribe', ...subscription });
  }

  /** Resolves when the gateway tells what is subscribed, and in any case after a while: nothing that happens from then on goes untold. */
  answered(withinMs: number): Promise<void> {
    if (this.#unanswered.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      window.setTimeout(resolve, withinMs);
    });
  }

  #answer(id: string): void {
    this.#unanswered.delete(id);
    if (this.#unanswered.size > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  /** A renewed token moves the expiry of the open connection (D-STREAM-01). */
  authenticate(token: string): void {
    this.#send({ type: 'authenticate', token });
  }

  #connectNow(): void {
    if (this.#socket === undefined && !this.#stopped) this.#connect();
  }

  #connect(): void {
    if (this.#stopped || this.#socket) return;
    let token = this.#parts.token();
    const address = `${location.origin.replace(/^http/, 'ws')}/api/v1/ws`;
    const socket = token === '' ? new WebSocket(address) : new WebSocket(address, AUTHENTICATE_FIRST); // without one authentication is off
    this.#socket = socket;
    socket.onopen = () => {
      if (token === '') return this.#opened();
      token = this.#parts.token();
      socket.send(JSON.stringify({ type: 'authenticate', token }));
    };
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data as string) as Frame;
      if (!this.#known && frame.type === 'authenticated') {
        this.#opened();
        if (this.#parts.token() !== token) this.authenticate(this.#parts.token()); // renewed meanwhile
      }
      this.#receive(frame);
    };
    socket.onclose = ({ code, reason }) => this.#closed(code, reason);
  }

  #opened(): void {
    this.#known = true;
    this.#failures = 0;
    this.#lastSeq = 0;
    this.#expectsTags = false;
    this.#parts.onOpened();
    this.#heard();
    for (const subscription of this.#subscriptions) this.#send({ type: 'subscribe', ...subscription });
    this.#parts.onMissed(true);
  }

  #receive(frame: Frame): void {
    this.#heard();
    if (frame.type === 'tag') this.#expectsTags = true;
    else if (frame.type === 'subscribed') this.#answer(frame.subscriptionId);
    const missed = frame.type === 'gap' || (this.#lastSeq > 0 && frame.seq !== this.#lastSeq + 1);
    this.#lastSeq = frame.seq;
    if (missed) this.#parts.onMissed(false);
    this.#parts.onFrame(frame);
  }

  #heard(): void {
    this.#heardMonoMs = performance.now();
    this.liveness.value = 'live';
    const nowMs = boxNowMs();
    if (Math.abs(nowMs - this.lastFrameAtMs.peek()) > 200) this.lastFrameAtMs.value = nowMs;
  }

  #closed(code: number, reason: string): void {
    const wasKnown = this.#known;
    this.#known = false;
    this.#socket = undefined;
    this.liveness.value = this.lastFrameAtMs.peek() === 0 ? 'connecting' : 'stale';
    if (this.#stopped) return;
    if (code === SESSION_ENDED && wasKnown) {
      this.#stopped = true;
      this.#parts.onSessionEnded(reason);
      return;
    }
    if (!wasKnown) this.#parts.onRefused();
    const pauseMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.#failures) * (0.75 + Math.random() / 2);
    this.#failures += 1;
    window.setTimeout(() => this.#connect(), pauseMs);
  }

  /** A cable that was pulled closes no socket for a minute; the silence of the tags shows it at once. */
  #watch(): void {
    if (this.#expectsTags && this.liveness.peek() === 'live' && performance.now() - this.#heardMonoMs > SILENCE_MS_MAX) this.liveness.value = 'stale';
  }

  #send(frame: object): void {
    if (this.#known && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }
}
