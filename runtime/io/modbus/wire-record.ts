/** The bytes of the last exchange of a connection, kept in two places of fixed size: nothing is made while nobody asks. */
import type { MonoMs, WallMs } from '../../vocabulary/times.js';
import type { Exchange } from '../device-answers.js';

const FRAME_BYTES_MAX = 260; // Modbus TCP: 7 of the header and 253 of the PDU

function hexOf(bytes: Buffer, length: number): string {
  return (bytes.toString('hex', 0, length).match(/../g) ?? []).join(' ');
}

export class WireRecord {
  readonly #sent = Buffer.alloc(FRAME_BYTES_MAX);
  readonly #received = Buffer.alloc(FRAME_BYTES_MAX);
  #sentLength = 0;
  #receivedLength = 0;
  #atMs: WallMs = 0;
  #roundTripMs = 0;

  /** A request has got its answer, or none. */
  note(sent: Buffer, received: Buffer | undefined, atMs: WallMs, roundTripMs: MonoMs): void {
    this.#sentLength = sent.copy(this.#sent);
    this.#receivedLength = received?.copy(this.#received) ?? 0;
    this.#atMs = atMs;
    this.#roundTripMs = roundTripMs;
  }

  get last(): Exchange | undefined {
    if (this.#sentLength === 0) return undefined;
    const roundTripMs = Math.round(this.#roundTripMs * 1000) / 1000;
    return { sent: hexOf(this.#sent, this.#sentLength), received: hexOf(this.#received, this.#receivedLength), atMs: this.#atMs, roundTripMs };
  }
}
