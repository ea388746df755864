/**
 * The file of a recording (ADR 0005): eight bytes that name it, then frames. A frame is a head of 32 bytes and its content,
 * compressed for itself (raw deflate), so that damage stays in one frame and a file without end can be read up to its last
 * whole frame. Numbers are little-endian.
 *
 * Head: kind, three zero bytes, stored bytes, plain bytes, CRC-32 (three 32-bit numbers), first and last scan (Float64).
 * The CRC is over the head with a zero in its place, and the stored content.
 */
export const RECORDING_MAGIC = 'LSREC01\n';
export const FRAME_HEAD_BYTES = 32;
export const FRAME_KINDS = ['start', 'scans', 'message', 'texts', 'end'] as const;

export type FrameKind = (typeof FRAME_KINDS)[number];

export interface FrameHead {
  readonly kind: FrameKind;
  readonly storedBytes: number;
  readonly plainBytes: number;
  readonly first: number;
  readonly last: number;
}

const CRC_AT = 12;

/** With a zero in the place of the CRC. */
export function frameHead({ kind, storedBytes, plainBytes, first, last }: FrameHead): Uint8Array {
  const head = new Uint8Array(FRAME_HEAD_BYTES);
  const view = new DataView(head.buffer);
  view.setUint8(0, FRAME_KINDS.indexOf(kind) + 1);
  view.setUint32(4, storedBytes, true);
  view.setUint32(8, plainBytes, true);
  view.setFloat64(16, first, true);
  view.setFloat64(24, last, true);
  return head;
}

export function setCrc(head: Uint8Array, crc: number): void {
  new DataView(head.buffer, head.byteOffset).setUint32(CRC_AT, crc, true);
}

/** Undefined when the bytes are no head. */
export function readFrameHead(head: Uint8Array): (FrameHead & { readonly crc: number }) | undefined {
  const view = new DataView(head.buffer, head.byteOffset);
  const kind = FRAME_KINDS[view.getUint8(0) - 1];
  if (!kind) return undefined;
  return {
    kind,
    storedBytes: view.getUint32(4, true),
    plainBytes: view.getUint32(8, true),
    crc: view.getUint32(CRC_AT, true),
    first: view.getFloat64(16, true),
    last: view.getFloat64(24, true),
  };
}
