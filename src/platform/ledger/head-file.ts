/**
 * `<dataDir>/audit-head`: the end of the audit chain, kept outside the database, because a chain cut at its end or rolled
 * back to an older copy is still a good chain. Written after every commit, so it is never ahead of the database.
 *
 * Two slots of 512 bytes are written in turn: a power cut can damage the one being written, never both. Each slot carries
 * a MAC with the audit key, so a forged end is recognised, and says under it that the rows of the database are sealed
 * (row-seals.ts): nobody without the key can make a slot that does not. A third slot says whose trail it is (marker.ts).
 *
 * Behind them stand two blocks of one page each, written in turn as well, of the streams of facts that were written last and how far each had come:
 * facts may be written without a record, and what is lost with a WAL is always what was written last (ADR 0040).
 */
import { createHmac, hash as digest, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { exactBase64 } from '../base/exact-base64.js';
import { isThere, readDataFileIfUsable } from '../base/data-file.js';
import { hashOf, macOf, type ShortMac } from './chain.js';
import { isCount } from './counts.js';

const SLOT_BYTES = 512;
const SLOTS = 2;
const SEALED = 'sealed';
const BLOCK_BYTES = 4096;
const BLOCKS = 2;
const BLOCKS_AT = BLOCK_BYTES; // each is one page of the file: a power cut can damage the one being written, never both
const FILE_BYTES = BLOCKS_AT + BLOCKS * BLOCK_BYTES;
const STREAMS_BYTES_MAX = BLOCK_BYTES - 128; // beside them the count, the MAC and the names of the members

export interface ChainEnd {
  readonly sequence: number;
  readonly hash: string;
}

export function headFileOf(dataDir: string): string {
  return path.join(dataDir, 'audit-head');
}

/** Whether any end was ever written to it, genuine or not; what is no file of ours was put where one had been. */
export function isHeadFileUsed(file: string): boolean {
  return isThere(file) && readDataFileIfUsable(file)?.toString('latin1').trim() !== '';
}

/** The newest genuine end; null when the file is missing or no slot is genuine. */
export function readHeadFile(file: string, key: Buffer): ChainEnd | null {
  const bytes = readDataFileIfUsable(file);
  if (!bytes) return null;
  const newest = newestOf(slotsOf(bytes, key));
  return newest && { sequence: newest.sequence, hash: newest.hash };
}

function newestOf(slots: readonly (Slot | null)[]): Slot | null {
  return slots.reduce((newest, end) => (end && (!newest || end.sequence > newest.sequence) ? end : newest), null);
}

/** Whether an end was ever written here by a version that seals its rows. */
export function isHeadOfSealedRows(file: string, key: Buffer): boolean {
  return slotsOf(readDataFileIfUsable(file) ?? Buffer.alloc(0), key).some((end) => end?.rows === SEALED);
}

/** Null for one that is empty or damaged. */
function slotsOf(bytes: Buffer, key: Buffer): readonly (Slot | null)[] {
  return Array.from({ length: SLOTS }, (_, slot) => readSlot(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES), key));
}

/** How far a stream of facts had come. */
export type StreamEnd = readonly [stream: string, last: number];

interface Ends {
  /** Which block was written after the other. */
  readonly count: number;
  readonly streams: readonly StreamEnd[];
}

/** The streams that were written last, the oldest first; none in the file of a version that told of none. */
export function readStreamEnds(file: string, key: Buffer): readonly StreamEnd[] {
  return newestEnds(file, key)?.streams ?? [];
}

function newestEnds(file: string, key: Buffer): Ends | undefined {
  const bytes = readDataFileIfUsable(file) ?? Buffer.alloc(0);
  const blocks = Array.from({ length: BLOCKS }, (_, at) => readEnds(bytes.subarray(BLOCKS_AT + at * BLOCK_BYTES, BLOCKS_AT + (at + 1) * BLOCK_BYTES), key));
  return blocks.filter((ends) => ends !== undefined).sort((a, b) => b.count - a.count)[0];
}

function readEnds(bytes: Buffer, key: Buffer): Ends | undefined {
  try {
    const { ends, mac } = JSON.parse(bytes.toString('utf8')) as { ends: Ends; mac: string };
    return isMac(mac, macOf(hashOf(textOfEnds(JSON.stringify(ends))), key)) && ends.streams.every(([, last]) => isCount(last)) ? ends : undefined;
  } catch {
    return undefined; // an empty or damaged block: the other one is good
  }
}

function textOfEnds(ends: string): string {
  return `stream-ends\n${ends}`;
}

/** As it is told of a file that names less than it has reached. */
export function olderHead(found: ChainEnd, reached: ChainEnd): string {
  return `the file audit-head names record ${found.sequence} as the end of the audit trail, and had named record ${reached.sequence}: an older copy of it was put in place`;
}

export class HeadFile {
  readonly #fd: number;
  readonly #mac: ShortMac;
  readonly #block = Buffer.alloc(SLOT_BYTES, ' ');
  readonly #endsBlock = Buffer.alloc(BLOCK_BYTES, ' ');
  /** Written next: never the newest. */
  #slot: number;
  /** Newest end in the file, synced or not; null where nobody knows what a sync would bring to the disk. */
  #written: ChainEnd | null;
  #synced: ChainEnd | null = null;
  #endsCount: number;
  #dirty = false;

  constructor(file: string, mac: ShortMac, key: Buffer, origin: { readonly deviceId: string; readonly firstStart: string }) {
    this.#mac = mac;
    const isNew = !isThere(file);
    this.#endsCount = newestEnds(file, key)?.count ?? 0;
    const slots = slotsOf(readDataFileIfUsable(file) ?? Buffer.alloc(0), key);
    const newest = newestOf(slots);
    this.#slot = newest === null ? 0 : (slots.indexOf(newest) + 1) % SLOTS;
    this.#written = newest && { sequence: newest.sequence, hash: newest.hash };
    this.#fd = openSync(file, isNew ? 'w+' : 'r+', 0o600);
    if (isNew) writeSync(this.#fd, Buffer.alloc(SLOTS * SLOT_BYTES, ' ')); // the space is taken now: a full disk does not stop the head
    const { deviceId, firstStart } = origin;
    writeSync(this.#fd, `${JSON.stringify({ deviceId, firstStart })}\n`.padEnd(SLOT_BYTES), SLOTS * SLOT_BYTES);
    this.#dirty = true;
    if (fstatSync(this.#fd).size < FILE_BYTES) writeSync(this.#fd, Buffer.alloc(FILE_BYTES - BLOCKS_AT, ' '), 0, FILE_BYTES - BLOCKS_AT, BLOCKS_AT);
  }

  write(end: ChainEnd): void {
    this.#block.fill(' ');
    this.#block.write(`{"sequence":${end.sequence},"hash":"${end.hash}","rows":"${SEALED}","mac":"${this.#mac.ofText(textOfEnd({ ...end, rows: SEALED }))}"}\n`);
    writeSync(this.#fd, this.#block, 0, SLOT_BYTES, this.#slot * SLOT_BYTES);
    this.#slot = (this.#slot + 1) % SLOTS;
    this.#written = { sequence: end.sequence, hash: end.hash };
    this.#dirty = true;
  }

  /** What a power cut leaves of it at least; null before the first sync. */
  get synced(): ChainEnd | null {
    return this.#synced;
  }

  /** The oldest first; of more than there is room for the newest are kept, for they are lost first. */
  writeStreamEnds(streams: readonly StreamEnd[]): void {
    let from = streams.length;
    for (let bytes = 0; from > 0; from -= 1) {
      bytes += Buffer.byteLength(JSON.stringify(streams[from - 1])) + 1;
      if (bytes > STREAMS_BYTES_MAX) break;
    }
    const ends = JSON.stringify({ count: this.#endsCount + 1, streams: streams.slice(from) } satisfies Ends);
    const mac = this.#mac.ofHash(digest('sha256', textOfEnds(ends), 'hex')).toString('base64');
    this.#endsBlock.fill(' ');
    this.#endsBlock.write(`{"ends":${ends},"mac":"${mac}"}\n`);
    writeSync(this.#fd, this.#endsBlock, 0, BLOCK_BYTES, BLOCKS_AT + ((this.#endsCount + 1) % BLOCKS) * BLOCK_BYTES);
    this.#endsCount += 1;
    this.#dirty = true;
  }

  sync(): void {
    if (!this.#dirty) return;
    const written = this.#written;
    this.#written = null; // after a sync that failed the next one says nothing of what was written before
    fsyncSync(this.#fd);
    this.#written = written;
    this.#synced = written ?? this.#synced;
    this.#dirty = false;
  }

  close(): void {
    this.sync();
    closeSync(this.#fd);
  }
}

/** `rows` is not there in what a version wrote that sealed no rows. */
type Slot = ChainEnd & { readonly rows?: string };

function readSlot(bytes: Buffer, key: Buffer): Slot | null {
  try {
    const { mac, ...end } = JSON.parse(bytes.toString('utf8')) as Slot & { mac: string };
    return isMac(mac, createHmac('sha256', key).update(textOfEnd(end)).digest()) ? end : null;
  } catch {
    return null; // an empty or damaged slot: the other one is good
  }
}

function isMac(mac: string, expected: Buffer): boolean {
  const given = exactBase64(mac);
  return given?.length === expected.length && timingSafeEqual(given, expected);
}

function textOfEnd({ sequence, hash, rows }: Slot): string {
  return `audit-head|${sequence}|${hash}${rows === undefined ? '' : `|rows ${rows}`}`;
}
