/**
 * One streaming connection's side of numbering, waiting and shedding (contract 2, Events 1 and 4; decisions Q-STREAM-04,
 * D-STREAM-04). As long as the wire takes everything a frame goes straight to it. Once the wire is full, frames wait
 * here: up to 256, then live frames are shed and counted, and the next frame that finds room is preceded by a gap frame.
 *
 * Frames get their number when they leave, not when they begin to wait: the wire sees the same numbers either way, and a
 * snapshot can be kept as a cursor that takes no room and is delivered whole, with the live frames that follow it behind.
 *
 * Invariant: frames sent + sum of `dropped` = seq of the last frame sent.
 */
import { assert } from '../base/assert.js';
import type { ControlFrame, Encoding, Frame } from './frames.js';
import { stamp } from './frames.js';

export const FRAME_BUFFER_MAX = 256; // contract 2, Limits
const ANSWERS_WAITING_MAX = 256; // answers are never shed; a peer that asks on and reads nothing is cut off instead

/** What the subscriber needs of a transport. */
export interface Wire {
  /** False while bytes given earlier still wait in the transport. */
  ready(): boolean;
  /** Takes a copy of the bytes whatever happens; false when no more should be given before `drained` is called. */
  send(bytes: Uint8Array): boolean;
  /** Gathers the sends of `call` into few packets. */
  cork(call: () => void): void;
  /** The peer does not read its answers: end the connection. */
  overrun(): void;
}

/** The frames of one snapshot, in order; undefined at its end. */
export type SnapshotCursor = () => Frame | undefined;

type Waiting =
  | { readonly is: 'live'; readonly text: string; readonly seqAt: number }
  | { readonly is: 'answer'; readonly frame: Frame }
  | { readonly is: 'gap'; readonly dropped: number }
  | { readonly is: 'snapshot'; readonly next: SnapshotCursor };

export class Subscriber {
  readonly #wire: Wire;
  readonly #encoding: Encoding;
  #seq = 0;
  #waiting: Waiting[] = [];
  #head = 0;
  /** Live frames and gaps in `#waiting`. */
  #frames = 0;
  #answers = 0;
  /** Frames left in the snapshots in `#waiting`. */
  #replays = 0;
  #shed = 0;
  #shedTotal = 0;

  constructor(wire: Wire, encoding: Encoding) {
    this.#wire = wire;
    this.#encoding = encoding;
  }

  /** Number of the last frame sent. */
  get seq(): number {
    return this.#seq;
  }

  /** Live frames shed since the connection opened. */
  get shedTotal(): number {
    return this.#shedTotal;
  }

  get waiting(): number {
    return this.#frames;
  }

  /** Frames of snapshots that were not sent yet. */
  get replayWaiting(): number {
    return this.#replays;
  }

  /** True when a live frame would go straight to the wire. */
  get direct(): boolean {
    return this.#head === this.#waiting.length && this.#shed === 0 && this.#wire.ready();
  }

  /**
   * A live frame in shared bytes: sent at once, copied to wait, or shed. The bytes belong to the publisher again after
   * the call.
   */
  live(bytes: Uint8Array, seqAt: number): void {
    if (this.direct) {
      this.#seq += 1;
      stamp(bytes, seqAt, this.#seq);
      this.#wire.send(bytes);
      return;
    }
    if (this.#frames + (this.#shed > 0 ? 1 : 0) >= FRAME_BUFFER_MAX) {
      this.#shed += 1;
      this.#shedTotal += 1;
      return;
    }
    this.#announceShed();
    this.#frames += 1;
    this.#waiting.push({ is: 'live', text: keep(bytes), seqAt });
    this.#deliver();
  }

  /**
   * A run of live frames that lie one behind the other in shared bytes, as server-sent events of one slice do: one write
   * when the wire is free. `seqAts[i]` and `ends[i]` are offsets of frame i; `count` frames in all.
   */
  liveRun(bytes: Uint8Array, seqAts: Int32Array, ends: Int32Array, count: number): void {
    if (count === 0) return;
    if (this.direct) {
      for (let frame = 0; frame < count; frame += 1) stamp(bytes, seqAts[frame] as number, this.#seq + 1 + frame);
      this.#seq += count;
      this.#wire.send(bytes.subarray(0, ends[count - 1]));
      return;
    }
    let start = 0;
    for (let frame = 0; frame < count; frame += 1) {
      this.live(bytes.subarray(start, ends[frame]), (seqAts[frame] as number) - start);
      start = ends[frame] as number;
    }
  }

  /** A frame that answers the client or ends the session: waits its turn, is never shed. */
  answer(frame: Frame): void {
    if (this.#answers >= ANSWERS_WAITING_MAX) {
      this.#wire.overrun();
      return;
    }
    this.#announceShed();
    this.#answers += 1;
    this.#waiting.push({ is: 'answer', frame });
    this.#deliver();
  }

  /** The frame that ends the connection. Nothing waits any more: live frames in line count as shed. */
  last(frame: Frame): void {
    let dropped = this.#shed;
    for (const waiting of this.#waiting.slice(this.#head)) {
      if (waiting.is === 'gap') dropped += waiting.dropped;
      else if (waiting.is === 'live') dropped += 1;
    }
    this.#waiting = [];
    this.#head = 0;
    this.#replays = 0;
    if (dropped > 0) {
      this.#seq += dropped;
      this.#send(this.#encoding.control({ type: 'gap', dropped } satisfies ControlFrame));
    }
    this.#send(frame);
  }

  /** A snapshot of `count` frames: every one of them, as fast as the wire takes them; what is live meanwhile waits behind it. */
  snapshot(next: SnapshotCursor, count: number): void {
    this.#announceShed();
    this.#replays += count;
    this.#waiting.push({ is: 'snapshot', next });
    this.#deliver();
  }

  /** The wire has room again. */
  drained(): void {
    this.#wire.cork(() => this.#deliver());
  }

  /** Keeps the order: what was shed lies below whatever is put in line now. */
  #announceShed(): void {
    if (this.#shed === 0) return;
    this.#waiting.push({ is: 'gap', dropped: this.#shed });
    this.#frames += 1;
    this.#shed = 0;
  }

  #deliver(): void {
    while (this.#wire.ready()) {
      if (this.#head === this.#waiting.length) {
        this.#waiting = [];
        this.#head = 0;
        if (this.#shed === 0) return;
        this.#announceShed(); // room appeared and nothing follows yet: say at once what was lost
      }
      const first = this.#waiting[this.#head];
      assert(first, 'what waits lies between the head and the end');
      if (first.is === 'snapshot') {
        const frame = first.next();
        if (frame) {
          this.#replays -= 1;
          this.#send(frame);
        } else this.#take();
      } else if (first.is === 'gap') {
        this.#take();
        this.#frames -= 1;
        this.#seq += first.dropped; // a shed frame spent its number, so the client can see the hole
        this.#send(this.#encoding.control({ type: 'gap', dropped: first.dropped } satisfies ControlFrame));
      } else if (first.is === 'answer') {
        this.#take();
        this.#answers -= 1;
        this.#send(first.frame);
      } else {
        this.#take();
        this.#frames -= 1;
        this.#send({ bytes: restore(first.text), seqAt: first.seqAt });
      }
    }
  }

  #take(): void {
    this.#head += 1;
    if (this.#head < 64 || this.#head * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }

  #send(frame: Frame): void {
    this.#seq += 1;
    stamp(frame.bytes, frame.seqAt, this.#seq);
    this.#wire.send(frame.bytes);
  }
}

/** Bytes that wait, one character each: half the memory of an array of bytes of their own, and nothing for the system to free. */
function keep(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

let scratch = Buffer.allocUnsafeSlow(4096);

/** Valid until the next call: a wire copies what it is given. */
function restore(text: string): Uint8Array {
  if (text.length > scratch.length) scratch = Buffer.allocUnsafeSlow(text.length * 2);
  return scratch.subarray(0, scratch.write(text, 'latin1'));
}
