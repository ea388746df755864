/**
 * A file of the archive read as one text, whatever its gzip members are: what is left of it when somebody has packed it
 * again. It comes through a small window, and what claims to unpack to more than such a file can hold is refused.
 */
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ArchiveBlock } from './archive-format.js';

const WINDOW_BYTES = 64 * 1024;
const DEFLATE_RATIO_MAX = 1032; // deflate packs no text smaller than to this part of it (RFC 1951: 258 bytes in 2 bits)
const GROWTH_FACTOR = 2; // an edit may have made the text longer: it is read as far as this
const GROWTH_BYTES = WINDOW_BYTES; // and a small file by as much
const GROWTH_LINES = 1000;
const NEW_LINE = 0x0a;

export interface TextLimits {
  readonly textBytes: number;
  readonly lineBytes: number;
  readonly lines: number;
}

/** The most that a text may hold, from what was noted of its blocks: no line was longer than a whole block. */
export function textLimits(blocks: readonly Pick<ArchiveBlock, 'first' | 'last' | 'bytes' | 'textBytes'>[]): TextLimits {
  const texts = blocks.map(({ bytes, textBytes }) => textBytes ?? bytes * DEFLATE_RATIO_MAX);
  const records = blocks.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  return {
    textBytes: texts.reduce((sum, bytes) => sum + bytes, 0) * GROWTH_FACTOR + GROWTH_BYTES,
    lineBytes: Math.max(0, ...texts) * GROWTH_FACTOR + GROWTH_BYTES,
    lines: records * GROWTH_FACTOR + GROWTH_LINES,
  };
}

/**
 * Its lines without their ends, some at a time.
 * @throws Error when it is not gzip to its end, or holds more than it may.
 */
export async function* textLines(file: FileHandle, limits: TextLimits): AsyncGenerator<readonly Buffer[]> {
  const gunzip = createGunzip({ chunkSize: WINDOW_BYTES });
  // a fault of the file reaches the loop through `gunzip`; leaving the loop ends the reading
  pipeline(file.createReadStream({ start: 0, autoClose: false, highWaterMark: WINDOW_BYTES }), gunzip, () => undefined);
  let left = limits.textBytes;
  let linesLeft = limits.lines;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    left -= chunk.length;
    if (left < 0) throw new Error('the file unpacks to more than it may hold');
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, from)) {
      lines.push(Buffer.concat([...begun, chunk.subarray(from, end)]));
      begun = [];
      begunBytes = 0;
      from = end + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
    begunBytes += chunk.length - from;
    if (begunBytes > limits.lineBytes) throw new Error('a line of the file is longer than it may be');
    linesLeft -= lines.length;
    if (linesLeft < 0) throw new Error('the file has more lines than it may have');
    if (lines.length > 0) yield lines;
  }
  if (begunBytes > 0) yield [Buffer.concat(begun)];
}
