/**
 * One TLS connection to a receiver of syslog (RFC 5425). TCP acknowledges nothing that a receiver has read, and syslog has no answers. What does say it is
 * the orderly end of RFC 5425, 4.4: once all that was sent is acknowledged by the receiver's kernel, this side ends, and a receiver that ends in
 * turn has read up to there. `confirm` does that; a connection that is over in any other way confirms nothing.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock.js';
import { Deadline } from '../base/elapsed.js';
import { ReceiverFault, receiverFault } from './faults.js';
import { unacknowledged } from './unacknowledged.js';

export interface ReceiverOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;
  readonly clock: Clock;
  /** Gives the connection up. */
  readonly signal: AbortSignal;
  /** Nothing is waited for longer; 30 s. */
  readonly answerMs?: number;
}

/** A record of TLS: so much must be taken within the time, however slow the line is. */
const PIECE_BYTES = 16 * 1024;
const ANSWER_MS = 30_000;
const KEEP_ALIVE_MS = 15_000;
/** With TLS 1.3 a receiver says that it does not take this box after the box has taken it. */
const SETTLE_MS = 200;
const LOOK_MS = 50;
/** Where the system does not tell what is acknowledged: what was sent is given so long to arrive. */
const ARRIVAL_MS = 1000;

export function nameOfReceiver({ host, port }: Pick<ReceiverOptions, 'host' | 'port'>): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

export class ReceiverConnection {
  /** What is below TLS. */
  readonly #line: Socket;
  readonly #socket: TLSSocket;
  readonly #clock: Clock;
  readonly #receiver: string;
  readonly #answerMs: number;
  #fault: ReceiverFault | undefined;
  #isEnding = false;
  #isClosed = false;
  /** Whoever waits for anything of the connection. */
  #wake: () => void = () => undefined;
  /** Told when the connection is over. */
  onOver: () => void = () => undefined;

  private constructor(line: Socket, socket: TLSSocket, { clock, answerMs = ANSWER_MS, tls, ...to }: ReceiverOptions) {
    const isNamed = tls.cert !== undefined;
    this.#line = line;
    this.#socket = socket;
    this.#clock = clock;
    this.#answerMs = answerMs;
    this.#receiver = nameOfReceiver(to);
    line.on('error', (fault) => this.#fail(receiverFault(this.#receiver, fault, isNamed)));
    socket.on('error', (fault) => this.#fail(receiverFault(this.#receiver, fault, isNamed)));
    socket.on('end', () => {
      if (!this.#isEnding) this.#fail(new ReceiverFault(`${this.#receiver} has closed the connection`));
    });
    socket.on('close', () => {
      this.#isClosed = true;
      if (!this.#isEnding) this.#fail(new ReceiverFault(`${this.#receiver} has closed the connection`));
      this.#wake();
    });
    socket.resume(); // a receiver has nothing to say
  }

  /** @throws ReceiverFault */
  static async open(options: ReceiverOptions): Promise<ReceiverConnection> {
    const { host, port, tls, signal, answerMs = ANSWER_MS } = options;
    const line = connectTcp({ host, port, allowHalfOpen: true }).setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    const socket = connect({ socket: line, host, ...tls, minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(isIP(host) === 0 ? { servername: host } : {}) });
    const connection = new ReceiverConnection(line, socket, options);
    signal.addEventListener('abort', connection.drop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', connection.drop));
    let isSecure = false;
    socket.once('secureConnect', () => {
      isSecure = true;
      connection.#wake();
    });
    await connection.#until(
      () => isSecure,
      answerMs,
      () => `${nameOfReceiver(options)} does not answer`,
    );
    await connection.#rest(SETTLE_MS);
    return connection;
  }

  /** Why it is over; undefined while it is not. */
  get fault(): ReceiverFault | undefined {
    return this.#fault;
  }

  /** Settles when the kernel has taken all of it. @throws ReceiverFault; then nobody knows how much of it has arrived. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      let isTaken = false;
      this.#check();
      this.#socket.write(bytes.subarray(at, at + PIECE_BYTES), () => {
        isTaken = true;
        this.#wake();
      });
      await this.#until(
        () => isTaken,
        this.#answerMs,
        () => `${this.#receiver} takes nothing any more`,
      );
    }
  }

  /**
   * Ends it so that the receiver is known to have read everything.
   * @returns whether it said goodbye (close_notify), which nobody between it and this box can say in its place: not every receiver does.
   * @throws ReceiverFault where it is not known to have read.
   */
  async confirm(): Promise<boolean> {
    await this.#arrived();
    this.#check();
    this.#isEnding = true;
    const before = this.#line.bytesRead;
    this.#socket.end();
    await this.#until(
      () => this.#isClosed,
      this.#answerMs,
      () => `${this.#receiver} does not end a connection that this box ends (RFC 5425, 4.4): what it has read is not known, and is sent again`,
    );
    return this.#line.bytesRead > before; // a receiver says nothing else
  }

  /** Confirms nothing. */
  readonly drop = (): void => {
    this.#fail(new ReceiverFault(`the connection to ${this.#receiver} was given up`));
  };

  async #arrived(): Promise<void> {
    const { localPort = 0, remotePort = 0 } = this.#line;
    const deadline = new Deadline(this.#clock, this.#answerMs);
    for (;;) {
      const octets = await unacknowledged({ localPort, remotePort });
      this.#check();
      if (octets === 0) return;
      if (octets === undefined) return this.#rest(ARRIVAL_MS);
      if (deadline.hasPassed) throw this.#fail(new ReceiverFault(`${this.#receiver} has not acknowledged what was sent to it: the line may be gone`));
      await this.#rest(LOOK_MS);
    }
  }

  async #rest(ms: number): Promise<void> {
    let isOver = false;
    const cancel = this.#clock.after(ms, () => {
      isOver = true;
      this.#wake();
    });
    await this.#until(
      () => isOver,
      Number.POSITIVE_INFINITY,
      () => '',
    ).finally(cancel);
  }

  /** One waits at a time. */
  async #until(isSo: () => boolean, withinMs: number, otherwise: () => string): Promise<void> {
    const cancel = Number.isFinite(withinMs) ? this.#clock.after(withinMs, () => isSo() || this.#fail(new ReceiverFault(otherwise()))) : () => undefined;
    try {
      for (;;) {
        this.#check();
        if (isSo()) return;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      cancel();
    }
  }

  #check(): void {
    if (this.#fault) throw this.#fault;
  }

  /** The first one is what is told. */
  #fail(fault: ReceiverFault): ReceiverFault {
    const isFirst = this.#fault === undefined;
    this.#fault ??= fault;
    this.#socket.destroy();
    this.#line.destroy();
    this.#wake();
    if (isFirst) this.onOver();
    return this.#fault;
  }
}
