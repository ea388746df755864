/**
 * A WebSocket that was opened without a credential, by a client that offers the subprotocol `AUTHENTICATE_FIRST`: its first frame is
 * `authenticate`, so that no token stands in an address (D-C-20). Until then it is nobody, hears nothing and may nothing, but
 * counts as a stream of its source; who says nothing in time is cut off.
 */
import type { Clock } from '../base/clock.js';
import { guardedPromise } from '../base/guarded.js';
import { Refusal } from '../base/refusal.js';
import type { Proven } from '../http/authenticator.js';
import type { Caller } from '../http/caller.js';
import type { WebSocketSession, WebSocketWire } from '../http/stream-port.js';
import type { Hub } from './hub.js';
import { CLOSE } from './websocket.js';

const TOKEN_WITHIN_MS = 5000;
/** Far beyond any token: what nobody has vouched for is not parsed at length. */
const FRAME_BYTES_MAX = 16 * 1024;
/** Of frames that are sent before the answer to the first; a client that waits for it keeps none. */
const KEPT_BYTES_MAX = 64 * 1024;
const KEPT_FRAMES_MAX = 32;

export interface AwaitingParts {
  readonly hub: Pick<Hub, 'wait'>;
  readonly clock: Clock;
  /** The signature of a token that was not seen before; undefined where nothing is left to prove. */
  readonly prove: (token: string) => Promise<Proven> | undefined;
  /** Whose the token is, when he may connect. Throws a Refusal. */
  readonly admit: (token: string, proven?: Proven) => Caller;
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
  #isOver = false;
  /** Frames that came while the signature of the token was looked at, that of the token first; undefined before and after. */
  #kept: { readonly bytes: ArrayBuffer; readonly isBinary: boolean }[] | undefined;
  #keptBytes = 0;

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
    if (this.#kept) return this.#keep(bytes, isBinary);
    try {
      const token = tokenOf(bytes, isBinary);
      const proving = this.#parts.prove(token);
      if (!proving) return this.#admit(token, undefined, [{ bytes, isBinary }]);
      this.#keep(bytes, isBinary);
      guardedPromise('first frame of a WebSocket', () =>
        proving.then(
          (proven) => this.#isWaiting && this.#admit(token, proven, this.#kept ?? []),
          (fault: unknown) => this.#refuse(fault),
        ),
      );
    } catch (fault) {
      this.#refuse(fault);
    }
  }

  /** A frame is only lent. */
  #keep(bytes: ArrayBuffer, isBinary: boolean): void {
    this.#kept ??= [];
    this.#keptBytes += bytes.byteLength;
    if (this.#keptBytes > KEPT_BYTES_MAX || this.#kept.length >= KEPT_FRAMES_MAX) return this.#cutOff('too much before the token was looked at');
    this.#kept.push({ bytes: bytes.slice(0), isBinary });
  }

  #admit(token: string, proven: Proven | undefined, frames: readonly { readonly bytes: ArrayBuffer; readonly isBinary: boolean }[]): void {
    let session: WebSocketSession;
    try {
      const caller = this.#parts.admit(token, proven);
      this.#settle();
      session = this.#open(caller, this.#wire);
      this.#session = session;
    } catch (fault) {
      return this.#refuse(fault);
    }
    for (const { bytes, isBinary } of frames) session.onMessage(bytes, isBinary); // the first answers `authenticated`
  }

  #refuse(fault: unknown): void {
    if (!(fault instanceof Refusal)) this.#parts.onFault(fault);
    this.#cutOff(fault instanceof Refusal ? fault.message.slice(0, 100) : 'internal fault');
  }

  onDrain(): void {
    this.#session?.onDrain();
  }

  onPong(): void {
    this.#session?.onPong();
  }

  onClose(code: number, reason: string): void {
    this.#isOver = true;
    this.#settle();
    this.#session?.onClose(code, reason);
  }

  #cutOff(reason: string, code: number = CLOSE.sessionEnded): void {
    this.#settle();
    if (this.#isOver) return; // it left, or was too slow, while its token was looked at
    this.#isOver = true;
    this.#wire.close(code, reason);
  }

  #settle(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#kept = undefined;
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
