/** The parts of a recording file, one by one; says which frame is damaged, with its scans (form: runtime/vocabulary/recording-file.ts). */
import { deserialize } from 'node:v8';
import { constants, crc32, inflateRawSync } from 'node:zlib';
import type { RecordingPart } from '../port.js';
import { FRAME_HEAD_BYTES, type FrameHead, RECORDING_MAGIC, readCrc, readFrameHead, setCrc } from '../vocabulary/recording-file.js';

/** The file is no recording, or not as it was written. */
export class RecordingDamage extends Error {
  /** First and last scan of the frame; 0 where no scan can be named. */
  readonly first: number;
  readonly last: number;

  constructor(message: string, first = 0, last = 0) {
    super(message);
    this.first = first;
    this.last = last;
  }
}

/** Ends silently after the last whole frame: a power cut leaves a file without end. */
export function* recordingParts(file: Uint8Array): Generator<RecordingPart> {
  const magic = String.fromCharCode(...file.subarray(0, RECORDING_MAGIC.length));
  if (magic !== RECORDING_MAGIC) throw new RecordingDamage('the file is no recording');
  let at = RECORDING_MAGIC.length;
  let scan = 0;
  for (let frame = 1; at + FRAME_HEAD_BYTES <= file.length; frame += 1) {
    const head = soundHead(file.subarray(at, at + FRAME_HEAD_BYTES));
    if (!head) throw new RecordingDamage(`the head of frame ${frame} at byte ${at}, after scan ${scan}, is damaged: its CRC differs`, scan + 1, scan + 1);
    const end = at + FRAME_HEAD_BYTES + head.storedBytes;
    if (end > file.length) return;
    const stored = file.subarray(at + FRAME_HEAD_BYTES, end);
    if (crc32(stored) !== head.contentCrc) throw damagedFrame(frame, at, head);
    yield readPart(head, inflateRawSync(stored, { maxOutputLength: Math.max(1, head.plainBytes), chunkSize: chunkOf(head.plainBytes) }));
    scan = head.last;
    at = end;
  }
}

/** Bytes that are inflated at a time: a frame is mostly of some hundred, and the 16 KiB otherwise taken cost as much as its inflation. */
function chunkOf(plainBytes: number): number {
  return Math.min(Math.max(plainBytes + 1, constants.Z_MIN_CHUNK), constants.Z_DEFAULT_CHUNK);
}

/** Undefined when the CRC of the head differs. */
function soundHead(bytes: Uint8Array): FrameHead | undefined {
  const head = Uint8Array.from(bytes);
  setCrc(head, 0);
  return crc32(head) === readCrc(bytes) ? readFrameHead(head) : undefined;
}

function damagedFrame(frame: number, at: number, { kind, first, last }: FrameHead): RecordingDamage {
  const scans = kind === 'scans' ? ` with scans ${first} to ${last}` : ` (${kind}, scan ${first})`;
  return new RecordingDamage(`frame ${frame} at byte ${at}${scans} is damaged: its CRC differs`, first, last);
}

function readPart({ kind, first, last }: FrameHead, content: Uint8Array): RecordingPart {
  return kind === 'scans' ? { kind, first, last, bytes: content } : (deserialize(content) as RecordingPart);
}
