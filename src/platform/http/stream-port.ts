/**
 * The seam between the HTTP server and the live streams (contract 2, Events). A stream is an ordinary route row with
 * `stream: 'websocket' | 'sse'`: the pipeline applies rate limit, stream count per source, authentication (header, else
 * query `token`), fence, site scope and action as everywhere; the handler then checks what is its own, throws a Refusal
 * (answered as a plain HTTP error before any upgrade) or returns `webSocket(...)` or `eventStream(...)`.
 *
 * The handler must return synchronously: the upgrade happens in the turn in which the request has passed its barriers. All calls come on the
 * gateway thread. After `onClose` every call on the wire is ignored.
 */
import type { Proven } from './authenticator.js';
import type { Caller } from './caller.js';

/** Subprotocol of a WebSocket client that presents its token in its first frame instead of the header or the query (D-C-20). */
export const AUTHENTICATE_FIRST = 'lineside.authenticate';

/** What `send` did: 0 buffered (back-pressure), 1 sent, 2 dropped. The server sets its own limit so high that 2 never happens. */
export type SendResult = 0 | 1 | 2;

export interface WebSocketWire {
  readonly sourceIP: string;
  /** Text frame; `payload` is UTF-8 bytes or text and is copied before the call returns. */
  send(payload: Uint8Array | string): SendResult;
  /** Bytes that wait in the socket. */
  bufferedBytes(): number;
  /** Batches all `send` calls made inside into one write. */
  cork(call: () => void): void;
  ping(): void;
  /** Sends a close frame; `onClose` follows. */
  close(code: number, reason: string): void;
  /** Cuts the connection without a close frame. */
  terminate(): void;
}

export interface WebSocketSession {
  /** One client frame; `bytes` is only valid during the call. The server admits frames up to 256 KiB; the 64 KiB rule (1009) is the session's. */
  onMessage(bytes: ArrayBuffer, isBinary: boolean): void;
  onDrain(): void;
  onPong(): void;
  onClose(code: number, reason: string): void;
}

export interface SseWire {
  readonly sourceIP: string;
  /** False when the socket is full: stop, and go on in `onWritable`. Head and status are written by the server. */
  write(payload: Uint8Array | string): boolean;
  cork(call: () => void): void;
  /** Ends the response after what was written; `onClose` follows. */
  end(): void;
}

export interface SseSession {
  onWritable(): void;
  onClose(): void;
}

/** What a stream handler returns. */
export class StreamReply {
  readonly transport: 'websocket' | 'sse';
  readonly open: ((wire: WebSocketWire) => WebSocketSession) | ((wire: SseWire) => SseSession);

  constructor(transport: 'websocket' | 'sse', open: StreamReply['open']) {
    this.transport = transport;
    this.open = open;
  }
}

/** `open` is called once the upgrade is done; it returns who listens. */
export function webSocket(open: (wire: WebSocketWire) => WebSocketSession): StreamReply {
  return new StreamReply('websocket', open);
}

/** `open` is called after status and headers are written. */
export function eventStream(open: (wire: SseWire) => SseSession): StreamReply {
  return new StreamReply('sse', open);
}

/** How many streams of all sources may be open at once, and what says so. */
export interface StreamsMax {
  readonly count: number;
  readonly because: string;
}

/** What the server asks of the streams. */
export interface StreamConnections {
  /** Open streams of a source IP, both transports together (decisions Q-STREAM-10). */
  streamCount(sourceIP: string): number;
  /** Of all sources. */
  readonly streamsOpen: number;
  /** Server shutdown: end every stream (WebSocket 1001). Resolves when they are closed. */
  endAll(): Promise<void>;
}

export type SessionState = 'active' | 'expired' | 'inactive' | 'ended';

/** What the streams ask of `domains/access`: the life of the identity behind a stream (contract 2, Authentication 4 and 5). */
export interface SessionWatch {
  stateOf(caller: Caller): SessionState;
  /** `reason` as in decisions Q-STREAM-15, for example `session ended: logout`. Called at once. */
  onEnded(listener: (sessionId: string, reason: string) => void): void;
  /** A WebSocket write or command frame is activity (decisions Q-AUTH-21). */
  touch(caller: Caller): void;
  /** The caller as it stands now (groups are read from the account): D-STREAM-02. Throws a Refusal when the identity has ended. */
  refresh(caller: Caller): Caller;
  /** The signature of a token of an `authenticate` frame that was not seen before (Authenticator.prove); undefined where nothing is left to prove. */
  proveToken?(token: string): Promise<Proven> | undefined;
  /** A token presented in an `authenticate` frame (D-STREAM-01). Throws a Refusal when it does not hold. */
  authenticateToken(token: string, proven?: Proven): Caller;
}
