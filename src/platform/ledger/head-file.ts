/**
 * `<dataDir>/audit-head`: the end of the audit chain, kept outside the database, because a chain cut at its end or rolled
 * back to an older copy is still a good chain. Written after every commit, so it is never ahead of the database.
 *
 * Two slots of 512 bytes are written in turn: a power cut can damage the one being written, never both. Each slot carries
 * a MAC with the audit key, so a forged end is recognised, and says under it that the rows of the database are sealed
 * (row-seals.ts): nobody without the key can make a slot that does not. A third slot says whose trail it is (marker.ts).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isThere, readDataFileIfUsable } from '../base/data-file.js';
import type { ShortMac } from './chain.js';

const SLOT_BYTES = 512;
const SLOTS = 2;
const SEALED = 'sealed';

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
  let newest: ChainEnd | null = null;
  for (const end of readSlots(bytes, key)) if (!newest || end.sequence > newest.sequence) newest = { sequence: end.sequence, hash: end.hash };
  return newest;
}

/** Whether an end was ever written here by a version that seals its rows. */
export function isHeadOfSealedRows(file: string, key: Buffer): boolean {
  return readSlots(readDataFileIfUsable(file) ?? Buffer.alloc(0), key).some(({ rows }) => rows === SEALED);
}

function readSlots(bytes: Buffer, key: Buffer): readonly Slot[] {
  return Array.from({ length: SLOTS }, (_, slot) => readSlot(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES), key)).filter((end) => end !== null);
}

export class HeadFile {
  readonly #fd: number;
  readonly #mac: ShortMac;
  readonly #block = Buffer.alloc(SLOT_BYTES, ' ');
  #slot = 0;
  #dirty = false;

  constructor(file: string, mac: ShortMac, origin: { readonly deviceId: string; readonly firstStart: string }) {
    this.#mac = mac;
    const isNew = !isThere(file);
    this.#fd = openSync(file, isNew ? 'w+' : 'r+', 0o600);
    if (isNew) writeSync(this.#fd, Buffer.alloc(SLOTS * SLOT_BYTES, ' ')); // the space is taken now: a full disk does not stop the head
    const { deviceId, firstStart } = origin;
    writeSync(this.#fd, `${JSON.stringify({ deviceId, firstStart })}\n`.padEnd(SLOT_BYTES), SLOTS * SLOT_BYTES);
  }

  write(end: ChainEnd): void {
    this.#block.fill(' ');
    this.#block.write(`{"sequence":${end.sequence},"hash":"${end.hash}","rows":"${SEALED}","mac":"${this.#mac.ofText(textOfEnd({ ...end, rows: SEALED }))}"}\n`);
    writeSync(this.#fd, this.#block, 0, SLOT_BYTES, this.#slot * SLOT_BYTES);
    this.#slot = (this.#slot + 1) % SLOTS;
    this.#dirty = true;
  }

  sync(): void {
    if (!this.#dirty) return;
    fsyncSync(this.#fd);
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
    const given = Buffer.from(mac, 'base64');
    const expected = createHmac('sha256', key).update(textOfEnd(end)).digest();
    return given.length === expected.length && timingSafeEqual(given, expected) ? end : null;
  } catch {
    return null; // an empty or damaged slot: the other one is good
  }
}

function textOfEnd({ sequence, hash, rows }: Slot): string {
  return `audit-head|${sequence}|${hash}${rows === undefined ? '' : `|rows ${rows}`}`;
}
