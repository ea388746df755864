/**
 * A WebSocket that was opened without a credential, by a client that offers the subprotocol `AUTHENTICATE_FIRST`: its first frame is
 * `authenticate`, so that no token stands in an address (D-C-20). Until then it is nobody, hears nothing and may nothing, but
 * counts as a stream of its source; who says nothing in time is cut off.
 */
import type { Clock } from '../base/clock.js';
import { Refusal } from '../base/refusal.js';
import type { Caller } from '../http/caller.js';
import type { WebSocketSession, WebSocketWire } from '../http/stream-port.js';
import type { Hub } from './hub.js';
import { CLOSE } from './websocket.js';

const TOKEN_WITHIN_MS = 5000;
/** Far beyond any token: what nobody has vouched for is not parsed at length. */
const FRAME_BYTES_MAX = 16 * 1024;

export interface AwaitingParts {
  readonly hub: Pick<Hub, 'wait'>;
  readonly clock: Clock;
  /** Whose the token is, when he may connect. Throws a Refusal. */
  readonly admit: (token: string) => Caller;
  readonly onFault: (fault: unknown) => void;
}

export class AwaitingToken implements WebSocketSession {
  readonly #parts: AwaitingParts;
  readonly #wire: WebSocketWire;
  readonly #open: (caller: Caller, wire: WebSocketWire) => WebSocketSession;
  readonly #cancel: () => void;
  readonly #leave: () => void;
  #session: WebSocketSession | undefined;
  #isWaiting = true;

  constructor(parts: AwaitingParts, wire: WebSocketWire, open: (caller: Caller, wire: WebSocketWire) => WebSocketSession) {
    this.#parts = parts;
    this.#wire = wire;
    this.#open = open;
    this.#leave = parts.hub.wait(wire.sourceIP, () => this.#cutOff('the server stops', CLOSE.goingAway));
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

  #cutOff(reason: string, code: number = CLOSE.sessionEnded): void {
    this.#settle();
    this.#wire.close(code, reason);
  }

  #settle(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#cancel();
    this.#leave();
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
