/** A recording on its way to disk: frames in the order of their parts, compressed beside the gateway thread (ADR 0005). */
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { serialize } from 'node:v8';
import { crc32, deflateRaw } from 'node:zlib';
import type { RecordingPart } from '../../../runtime/port.js';
import { frameHead, RECORDING_MAGIC, setCrc } from '../../../runtime/vocabulary/recording-file.js';
import { syncFolder } from '../../platform/base/sync-folder.js';

export type StoredPart = Exclude<RecordingPart, { readonly kind: 'refused' }>;

const compress = promisify(deflateRaw);

/** Product and engine: a replay by another one may lay out memory, or calculate, in another way. */
export function madeBy({ version, commit }: { readonly version: string; readonly commit: string }): string {
  return `lineside ${version}${commit === '' ? '' : ` (${commit})`}, Node ${process.versions.node} ${process.arch}`;
}

/** Head and content of one frame. */
export async function encodeFrame(part: StoredPart): Promise<readonly [Uint8Array, Uint8Array]> {
  const plain = part.kind === 'scans' ? part.bytes : serialize(part);
  const stored = await compress(plain);
  const head = frameHead({ kind: part.kind, storedBytes: stored.length, plainBytes: plain.length, ...scansOf(part), contentCrc: crc32(stored) });
  setCrc(head, crc32(head));
  return [head, stored];
}

function scansOf(part: StoredPart): { readonly first: number; readonly last: number } {
  if (part.kind === 'scans') return { first: part.first, last: part.last };
  const scan = part.kind === 'start' ? part.start.scan : part.scan;
  return { first: scan, last: scan };
}

export class RecordingFile {
  readonly #file: string;
  readonly #handle: FileHandle;
  #written: Promise<void>;
  bytes = 0;

  private constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
    this.#written = this.#write([Buffer.from(RECORDING_MAGIC)]);
  }

  static async create(file: string): Promise<RecordingFile> {
    return new RecordingFile(file, await open(file, 'wx', 0o640));
  }

  /** Parts are written one after the other; the result rejects when the disk does. */
  add(part: StoredPart): Promise<void> {
    const frame = encodeFrame(part);
    this.#written = this.#written.then(async () => this.#write(await frame));
    return this.#written;
  }

  /** Puts what was added on disk, and the name of the file. */
  async close(): Promise<void> {
    try {
      await this.#written;
      await this.#handle.sync();
    } finally {
      await this.#handle.close();
    }
    syncFolder(path.dirname(this.#file));
  }

  async #write(chunks: readonly Uint8Array[]): Promise<void> {
    const { bytesWritten } = await this.#handle.writev(chunks);
    this.bytes += bytesWritten;
  }
}
