/**
 * The tar inside a backup (POSIX.1-1988 ustar; sizes of 8 GiB and more as GNU tar writes them): plain files and nothing else, so that what
 * reads it has no link, no device and no folder to think about.
 */
import { assert } from '../base/assert.js';
import { BackupRefused } from './refused.js';

const BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;
const PLAIN_FILE = '0';
const OCTAL_MAX = 8 ** 11 - 1;
const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;

export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
}

export function tarHeader({ name, bytes }: TarEntry, mtimeS: number): Buffer {
  assert(Buffer.byteLength(name) <= NAME_BYTES_MAX, 'a name in a backup fits into one header');
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  if (bytes <= OCTAL_MAX) header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(bytes), 128);
  }
  header.write(`${mtimeS.toString(8).padStart(11, '0')}\0`, 136);
  header.write(PLAIN_FILE, 156);
  header.write('ustar\0' + '00', 257);
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM_AT);
  return header;
}

/** What stands behind a file, so that the next header begins at a block. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK_BYTES);
}

/** With the field of the sum itself as blanks. */
function sumOf(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK_BYTES; at += 1) sum += at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES ? 0x20 : (header[at] ?? 0);
  return sum;
}

/** Reads one file after the other from a stream, and never holds more of it than one piece. */
export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);
  #hasEnded = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * The header of the next file; undefined at the end of the archive.
   * @throws BackupRefused for what is no plain file, no header, or cut off.
   */
  async next(): Promise<TarEntry | undefined> {
    const header = await this.#take(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return undefined;
    const field = (at: number, bytes: number): string => header.toString('utf8', at, at + bytes).split('\0')[0] ?? '';
    if (field(257, 5) !== 'ustar' || parseInt(field(CHECKSUM_AT, CHECKSUM_BYTES), 8) !== sumOf(header)) throw new BackupRefused('it holds no tar that this program reads');
    const name = field(0, NAME_BYTES_MAX);
    const type = String.fromCharCode(header[156] ?? 0);
    if (type !== PLAIN_FILE || field(157, NAME_BYTES_MAX) !== '' || field(345, 155) !== '')
      throw new BackupRefused(`${shown(name)} in it is not a plain file: links, folders and devices are not taken`);
    const bytes = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : parseInt(field(124, 12), 8);
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw new BackupRefused(`${shown(name)} in it has no length`);
    return { name, bytes };
  }

  /** The content of the file whose header came last, in pieces. */
  async *content(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0; ) {
      if (this.#held.length === 0) await this.#fill();
      const piece = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
    await this.#take(tarPadding(bytes).length);
  }

  /** @throws BackupRefused when anything stands behind the end. */
  async end(): Promise<void> {
    for (;;) {
      if (this.#held.some((byte) => byte !== 0)) throw new BackupRefused('something stands behind its end');
      this.#held = Buffer.alloc(0);
      if (this.#hasEnded) return;
      await this.#fill(true);
    }
  }

  async #take(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes) await this.#fill();
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  async #fill(mayEnd = false): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) {
      this.#hasEnded = true;
      if (mayEnd) return;
      throw new BackupRefused('it is cut off');
    }
    const piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
  }
}

/** A name may have been made up. */
export function shown(name: string): string {
  return JSON.stringify(name.slice(0, NAME_BYTES_MAX));
}
