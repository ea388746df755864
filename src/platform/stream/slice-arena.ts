/**
 * The frames of one publishing slice as bytes, rendered once and shared by all connections. The text that is the same for
 * everyone is written once; in front of it stands what differs by subscription (WebSocket) or by filter (server-sent
 * events), and in that a hole for the sequence number, which differs by connection.
 */
import { SSE_JSON_HEAD, SSE_JSON_SEQ_AT, sseHead, webSocketTagHead } from './frames.js';
import type { TagSelection } from './tag-board.js';

const FIRST_BYTES = 64 * 1024;
const FORM_FIRST_BYTES = 8 * 1024; // a form belongs to one subscriptionId, and there may be many of a few tags each
const SSE_END = Buffer.from('\n\n');
const SSE_HEAD_BYTES_MAX = 128; // `id: <12 hex>-<16 digits>`, `event: tag`, `data: {"seq":` and the hole

export class SliceArena {
  readonly #instance: string;
  #tails: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #count = 0;
  #starts = new Int32Array(256);
  #ends = new Int32Array(256);
  #eventIds = new Float64Array(256);
  readonly #forms = new Map<string, WebSocketForm>();
  readonly #runs = new Map<string, EventRun>();

  constructor(instance: string) {
    this.#instance = instance;
  }

  /** Forgets the slice before. Forms nobody asked for in it are dropped. */
  begin(): void {
    this.#used = 0;
    this.#count = 0;
    for (const [key, form] of this.#forms) {
      if (form.asked) form.begin();
      else this.#forms.delete(key);
    }
    for (const [key, run] of this.#runs) {
      if (run.built) run.built = false;
      else this.#runs.delete(key);
    }
  }

  /** Called for position 0, 1, 2 ... of the slice. */
  add(eventId: number, tail: string): void {
    const worst = tail.length * 3;
    if (this.#used + worst > this.#tails.length) this.#tails = grown(this.#tails, this.#used + worst);
    if (this.#count === this.#starts.length) this.#widen();
    this.#starts[this.#count] = this.#used;
    this.#used += this.#tails.write(tail, this.#used);
    this.#ends[this.#count] = this.#used;
    this.#eventIds[this.#count] = eventId;
    this.#count += 1;
  }

  /** `subscription` is the JSON text of the subscriptionId. */
  form(subscription: string): WebSocketForm {
    let form = this.#forms.get(subscription);
    if (!form) {
      form = new WebSocketForm(subscription);
      this.#forms.set(subscription, form);
    }
    form.asked = true;
    return form;
  }

  /** One frame of a form; the bytes are valid until the next slice. */
  frame(form: WebSocketForm, position: number): Uint8Array {
    return form.frames[position] ?? form.build(position, this.#tails, this.#starts[position] as number, this.#ends[position] as number);
  }

  /** The events a filter sees, one behind the other. */
  run(selection: TagSelection, slots: Int32Array): EventRun {
    let run = this.#runs.get(selection.filter.key);
    if (!run) {
      run = new EventRun();
      this.#runs.set(selection.filter.key, run);
    }
    if (!run.built) run.build(this.#instance, slots, this.#eventIds, this.#tails, this.#starts, this.#ends);
    return run;
  }

  #widen(): void {
    const size = this.#starts.length * 2;
    const starts = new Int32Array(size);
    const ends = new Int32Array(size);
    const eventIds = new Float64Array(size);
    starts.set(this.#starts);
    ends.set(this.#ends);
    eventIds.set(this.#eventIds);
    this.#starts = starts;
    this.#ends = ends;
    this.#eventIds = eventIds;
  }
}

/** Tag frames of one subscriptionId; connections that use the same id share them. */
export class WebSocketForm {
  readonly #head: Buffer;
  #buffer = Buffer.allocUnsafeSlow(FORM_FIRST_BYTES);
  #used = 0;
  /** By position in the slice; filled as positions are asked for. */
  frames: (Uint8Array | undefined)[] = [];
  asked = false;

  constructor(subscription: string) {
    this.#head = webSocketTagHead(subscription);
  }

  begin(): void {
    this.#used = 0;
    this.frames = [];
    this.asked = false;
  }

  build(position: number, tails: Buffer, start: number, end: number): Uint8Array {
    const size = this.#head.length + end - start;
    // frames already handed out keep the old buffer; they are used up within this slice
    if (this.#used + size > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, size));
      this.#used = 0;
    }
    const at = this.#used;
    this.#head.copy(this.#buffer, at);
    tails.copy(this.#buffer, at + this.#head.length, start, end);
    this.#used += size;
    const frame = new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset + at, size);
    this.frames[position] = frame;
    return frame;
  }
}

/** Server-sent tag events of one filter and slice in one buffer. */
export class EventRun {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  seqAts = new Int32Array(256);
  ends = new Int32Array(256);
  count = 0;
  built = false;

  build(instance: string, slots: Int32Array, eventIds: Float64Array, tails: Buffer, starts: Int32Array, tailEnds: Int32Array): void {
    let worst = 0;
    for (const position of slots) worst += SSE_HEAD_BYTES_MAX + (tailEnds[position] as number) - (starts[position] as number) + SSE_END.length;
    if (worst > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(worst * 2);
    if (slots.length > this.ends.length) {
      this.seqAts = new Int32Array(slots.length * 2);
      this.ends = new Int32Array(slots.length * 2);
    }
    let used = 0;
    for (let frame = 0; frame < slots.length; frame += 1) {
      const position = slots[frame] as number;
      const head = sseHead(instance, eventIds[position] as number, 'tag');
      this.seqAts[frame] = used + head.length + SSE_JSON_SEQ_AT;
      used += this.bytes.write(head + SSE_JSON_HEAD, used, 'latin1');
      used += tails.copy(this.bytes, used, starts[position] as number, tailEnds[position] as number);
      used += SSE_END.copy(this.bytes, used);
      this.ends[frame] = used;
    }
    this.count = slots.length;
    this.built = true;
  }
}

function grown(buffer: Buffer, least: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, least));
  buffer.copy(larger);
  return larger;
}
