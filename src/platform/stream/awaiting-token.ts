/**
 * A WebSocket that was opened without a credential, by a client that offers the subprotocol `AUTHENTICATE_FIRST`: its first frame is
 * `authenticate`, so that no token stands in an address (D-C-20). Until then it is nobody, hears nothing and may nothing; who says
 * nothing in time is cut off.
 */
import type { Clock } from '../base/clock.js';
import { Refusal } from '../base/refusal.js';
import type { Caller } from '../http/caller.js';
import type { WebSocketSession, WebSocketWire } from '../http/stream-port.js';

const TOKEN_WITHIN_MS = 5000;
const FRAME_BYTES_MAX = 64 * 1024;
const UNAUTHENTICATED_CLOSE = 4001;

export interface AwaitingParts {
  readonly clock: Clock;
  /** Whose the token is, when he may connect. Throws a Refusal. */
  readonly admit: (token: string) => Caller;
  readonly onFault: (fault: unknown) => void;
}

/** Sockets that have not said who they are, by source. */
const waiting = new Map<string, number>();

export function awaitingOf(sourceIP: string): number {
  return waiting.get(sourceIP) ?? 0;
}

export class AwaitingToken implements WebSocketSession {
  readonly #parts: AwaitingParts;
  readonly #wire: WebSocketWire;
  readonly #open: (caller: Caller, wire: WebSocketWire) => WebSocketSession;
  readonly #cancel: () => void;
  #session: WebSocketSession | undefined;
  #isWaiting = true;

  constructor(parts: AwaitingParts, wire: WebSocketWire, open: (caller: Caller, wire: WebSocketWire) => WebSocketSession) {
    this.#parts = parts;
    this.#wire = wire;
    this.#open = open;
    waiting.set(wire.sourceIP, awaitingOf(wire.sourceIP) + 1);
    this.#cancel = parts.clock.after(TOKEN_WITHIN_MS, () => this.#cutOff('no token was presented'));
  }

  onMessage(bytes: ArrayBuffer, isBinary: boolean): void {
    if (this.#session) return this.#session.onMessage(bytes, isBinary);
    if (!this.#isWaiting) return;
    let session: WebSocketSession;
    try {
      const caller = this.#parts.admit(tokenOf(bytes, isBinary));
      this.#settle();
      session = this.#open(caller, this.#wire);
      this.#session = session;
    } catch (fault) {
      if (!(fault instanceof Refusal)) this.#parts.onFault(fault);
      return this.#cutOff(fault instanceof Refusal ? fault.message.slice(0, 100) : 'internal fault');
    }
    session.onMessage(bytes, isBinary); // answers `authenticated`
  }

  onDrain(): void {
    this.#session?.onDrain();
  }

  onPong(): void {
    this.#session?.onPong();
  }

  onClose(code: number, reason: string): void {
    this.#settle();
    this.#session?.onClose(code, reason);
  }

  #cutOff(reason: string): void {
    this.#settle();
    this.#wire.close(UNAUTHENTICATED_CLOSE, reason);
  }

  #settle(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#cancel();
    const left = awaitingOf(this.#wire.sourceIP) - 1;
    if (left > 0) waiting.set(this.#wire.sourceIP, left);
    else waiting.delete(this.#wire.sourceIP);
  }
}

function tokenOf(bytes: ArrayBuffer, isBinary: boolean): string {
  try {
    const frame: unknown = isBinary || bytes.byteLength > FRAME_BYTES_MAX ? undefined : JSON.parse(Buffer.from(bytes).toString('utf8'));
    const { type, token } = (frame ?? {}) as { readonly type?: unknown; readonly token?: unknown };
    if (type === 'authenticate' && typeof token === 'string') return token;
  } catch {
    // said below
  }
  throw new Refusal('unauthenticated', 'the first frame must be authenticate with a token', { code: 'unauthenticated' });
}
