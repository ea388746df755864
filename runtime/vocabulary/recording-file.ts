/**
 * The file of a recording (ADR 0005): eight bytes that name it, then frames. A frame is a head of 40 bytes and its content,
 * compressed for itself (raw deflate), so that damage stays in one frame and a file without end can be read up to its last
 * whole frame. Numbers are little-endian.
 *
 * Head: kind, three zero bytes, stored bytes, plain bytes (32 bits each), CRC-32 of the head with a zero in this place, first
 * and last scan (Float64), CRC-32 of the stored content, four zero bytes. So a damaged head is not taken for a short file, and
 * a damaged content has scans that can be named.
 */
export const RECORDING_MAGIC = 'LSREC01\n';
export const FRAME_HEAD_BYTES = 40;
export const FRAME_KINDS = ['start', 'scans', 'message', 'texts', 'end'] as const;

export type FrameKind = (typeof FRAME_KINDS)[number];

export interface FrameHead {
  readonly kind: FrameKind;
  readonly storedBytes: number;
  readonly plainBytes: number;
  readonly first: number;
  readonly last: number;
  /** CRC-32 of the stored content. */
  readonly contentCrc: number;
}

const CRC_AT = 12;
const CONTENT_CRC_AT = 32;

/** With a zero in the place of its own CRC. */
export function frameHead({ kind, storedBytes, plainBytes, first, last, contentCrc }: FrameHead): Uint8Array {
  const head = new Uint8Array(FRAME_HEAD_BYTES);
  const view = new DataView(head.buffer);
  view.setUint8(0, FRAME_KINDS.indexOf(kind) + 1);
  view.setUint32(4, storedBytes, true);
  view.setUint32(8, plainBytes, true);
  view.setFloat64(16, first, true);
  view.setFloat64(24, last, true);
  view.setUint32(CONTENT_CRC_AT, contentCrc, true);
  return head;
}

export function setCrc(head: Uint8Array, crc: number): void {
  new DataView(head.buffer, head.byteOffset).setUint32(CRC_AT, crc, true);
}

export function readCrc(head: Uint8Array): number {
  return new DataView(head.buffer, head.byteOffset).getUint32(CRC_AT, true);
}

/** Undefined when the bytes are no head. */
export function readFrameHead(head: Uint8Array): FrameHead | undefined {
  const view = new DataView(head.buffer, head.byteOffset);
  const kind = FRAME_KINDS[view.getUint8(0) - 1];
  if (!kind) return undefined;
  return {
    kind,
    storedBytes: view.getUint32(4, true),
    plainBytes: view.getUint32(8, true),
    first: view.getFloat64(16, true),
    last: view.getFloat64(24, true),
    contentCrc: view.getUint32(CONTENT_CRC_AT, true),
  };
}
