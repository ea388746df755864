/**
 * Records the inputs of scans for a bounded time (ADR 0005). A scan writes into a buffer that is at hand; once per second, or
 * when it is full, the buffer is given away and a new one taken. Nothing else is allocated while no message arrives.
 *
 * Invariant: the parts leave in the order of what happened, so inputs gathered so far go before a message.
 */
import type { MonoMs, WallMs } from '../vocabulary/times.js';
import { assert, inside } from '../vocabulary/assert.js';
import type { RecordedMessage, RecordingEnding, RecordingPart, RecordingStart, UnitInbound } from '../port.js';
import type { IoLink } from '../network/io-link.js';
import type { NetworkSet } from '../network/network-set.js';
import type { TextTable } from '../network/texts.js';
import type { AlarmImage } from '../scan/alarm-image.js';
import type { PhaseEngine } from '../scan/phase-engine.js';
import { Checksum } from '../vocabulary/checksum.js';
import { ByteWriter, InputCells } from './inputs.js';
import { withoutMemory } from './shared-memory.js';

/** Version of the recorded form; from 2 on with the state of the alarms, from 3 on with the passes between the scans of a slow unit, from 4 on with the reach of outputs, from 5 on with what was stale and ages on the monotonic clock. */
export const RECORDING_FORM = 6;
/** A pass over all ports costs about as much as the scan itself. */
export const CHECKSUM_EVERY = 10;
/** Marks in the bytes of scans. */
export const MARK = { scan: 1, checksum: 2, alarmImage: 3 } as const;

const GIVE_AWAY_MS = 1000;
const BUFFER_BYTES_MIN = 64 * 1024;
/** Head of a scan: mark, periods, two clocks; a checksum behind it. */
const HEAD_BYTES_MAX = 1 + 5 + 16 + 9;
/** Head of a pass over alarms: mark and two clocks; then a number and a code of each tag. */
const ALARM_IMAGE_HEAD_BYTES = 1 + 16;
const ALARM_IMAGE_TAG_BYTES = 9;
/** Of the code; the quality is in the others. */
export const ALARM_IMAGE_STALE_BIT = 0x80;

export interface RecorderParts {
  readonly post: (part: RecordingPart, transfer: readonly ArrayBuffer[]) => void;
  readonly texts: TextTable;
  readonly durationMaxMs: number;
  readonly bytesMax: number;
}

/** What a plan has made that is recorded from. */
export interface Recorded {
  readonly io: IoLink;
  /** Of a slow unit with alarms. */
  readonly alarmImage: AlarmImage | undefined;
}

/** The clocks as the loop has read them for this scan or message. */
export interface Moment {
  readonly wallMs: WallMs;
  readonly monoMs: MonoMs;
}

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #out = new ByteWriter();
  readonly #checksum = new Checksum();
  readonly #checksumEvery: number;
  #cells: InputCells;
  #textCount: number;
  /** Number of the last scan, and of the first one in the buffer. */
  #scan: number;
  #firstScan: number;
  #beganMonoMs: MonoMs;
  #givenMonoMs: MonoMs;
  #bytes = 0;
  #alarmImageBytes = 0;

  constructor(parts: RecorderParts, start: RecordingStart, { io, alarmImage }: Recorded, now: Moment) {
    this.#parts = parts;
    this.#scan = start.scan;
    this.#firstScan = start.scan + 1;
    this.#checksumEvery = start.checksumEvery;
    this.#beganMonoMs = now.monoMs;
    this.#givenMonoMs = now.monoMs;
    this.#textCount = parts.texts.count;
    this.#cells = new InputCells(io);
    this.#alarmImageBytes = bytesOf(alarmImage);
    this.#takeBuffer();
    parts.post({ kind: 'start', start }, []);
  }

  /** A message is about to be handled. */
  message(message: UnitInbound, { wallMs, monoMs }: Moment): void {
    const recorded = recordedForm(message);
    if (!recorded) return;
    this.#giveAway(monoMs);
    this.#parts.post({ kind: 'message', scan: this.#scan + 1, wallMs, monoMs, message: recorded }, []);
  }

  /** A message was handled; a plan has made new channels. */
  handled({ io, alarmImage }: Recorded, isPlan: boolean, monoMs: MonoMs): void {
    this.#texts(monoMs);
    if (!isPlan) return;
    this.#cells = new InputCells(io);
    this.#alarmImageBytes = bytesOf(alarmImage);
    this.#takeBuffer();
  }

  /** The inputs of a scan have been latched. */
  latched(elapsed: number, now: Moment): void {
    this.#texts(now.monoMs);
    const out = this.#out;
    out.byte(MARK.scan);
    out.varint(elapsed);
    out.number(now.wallMs);
    out.number(now.monoMs);
    this.#cells.write(out, now.monoMs);
    this.#scan += 1;
  }

  /** Alarms are about to be judged between two scans: what they see. */
  judgedBetween(alarmImage: AlarmImage, now: Moment): void {
    const { tags, values, quality } = alarmImage;
    const out = this.#out;
    out.byte(MARK.alarmImage);
    out.number(now.wallMs);
    out.number(now.monoMs);
    for (const tag of tags) {
      out.number(inside(values, tag, IMAGED));
      out.byte(inside(quality, tag, IMAGED) | (alarmImage.stale(tag) ? ALARM_IMAGE_STALE_BIT : 0));
    }
    if (this.#isFull()) this.#giveAway(now.monoMs);
  }

  /** There may be no room for the next scan, or the next pass. */
  #isFull(): boolean {
    return this.#out.at + HEAD_BYTES_MAX + this.#cells.bytesMax + this.#alarmImageBytes > this.#out.bytes.length;
  }

  /** The scan has run; why the recording must end now, if it must. */
  scanned(networks: NetworkSet, phases: PhaseEngine, monoMs: MonoMs): RecordingEnding | undefined {
    const out = this.#out;
    if (this.#scan % this.#checksumEvery === 0) {
      const sum = this.#checksum.reset();
      networks.sum(sum);
      phases.sum(sum);
      out.byte(MARK.checksum);
      out.word(sum.low);
      out.word(sum.high);
    }
    if (this.#bytes + out.at >= this.#parts.bytesMax) return 'bytes';
    if (monoMs - this.#beganMonoMs >= this.#parts.durationMaxMs) return 'duration';
    if (monoMs - this.#givenMonoMs >= GIVE_AWAY_MS || this.#isFull()) this.#giveAway(monoMs);
    return undefined;
  }

  end(ending: RecordingEnding, now: Moment, state?: unknown): void {
    this.#giveAway(now.monoMs);
    this.#parts.post({ kind: 'end', scan: this.#scan, wallMs: now.wallMs, ending, ...(state !== undefined && { state }) }, []);
  }

  /** Texts that got an id since the last look: by a text channel, or by an inspection, which is not recorded. */
  #texts(monoMs: MonoMs): void {
    const { texts } = this.#parts;
    if (texts.count === this.#textCount) return;
    this.#giveAway(monoMs);
    this.#parts.post({ kind: 'texts', scan: this.#scan + 1, texts: texts.from(this.#textCount) }, []);
    this.#textCount = texts.count;
  }

  #giveAway(monoMs: MonoMs): void {
    this.#givenMonoMs = monoMs;
    const { bytes, at: length } = this.#out;
    if (length === 0) return;
    // a byte behind the end would be lost without a word, and the replay would go astray
    assert(length <= bytes.length, 'the buffer has room for the longest scan');
    this.#bytes += length;
    // with passes after the last scan alone it bears the number of that scan
    this.#parts.post({ kind: 'scans', first: Math.min(this.#firstScan, this.#scan), last: this.#scan, bytes: bytes.subarray(0, length) }, [bytes.buffer]);
    this.#firstScan = this.#scan + 1;
    this.#takeBuffer();
  }

  #takeBuffer(): void {
    this.#out.bytes = new Uint8Array(Math.max(BUFFER_BYTES_MIN, 2 * (HEAD_BYTES_MAX + this.#cells.bytesMax + this.#alarmImageBytes)));
    this.#out.at = 0;
  }
}

const IMAGED = 'an alarm image has a reading of every tag it names';

function bytesOf(alarmImage: AlarmImage | undefined): number {
  return alarmImage ? ALARM_IMAGE_HEAD_BYTES + ALARM_IMAGE_TAG_BYTES * alarmImage.tags.length : 0;
}

/** Undefined for messages that change nothing in a scan. */
function recordedForm(message: UnitInbound): RecordedMessage | undefined {
  switch (message.type) {
    case 'plan':
      return { type: 'plan', plan: withoutMemory(message.plan) };
    case 'inspect':
    case 'record':
    case 'record-stop':
    case 'stop':
      return undefined;
    default:
      return message;
  }
}
