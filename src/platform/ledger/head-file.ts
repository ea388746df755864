/**
 * `<dataDir>/audit-head`: the end of the audit chain, kept outside the database, because a chain cut at its end or rolled
 * back to an older copy is still a good chain. Written after every commit, so it is never ahead of the database.
 *
 * Two slots of 512 bytes are written in turn: a power cut can damage the one being written, never both. Each slot carries
 * a MAC with the audit key, so a forged end is recognised. A third slot says whose trail it is (marker.ts).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { ShortMac } from './chain.js';

const SLOT_BYTES = 512;
const SLOTS = 2;

export interface ChainEnd {
  readonly sequence: number;
  readonly hash: string;
}

export function headFileOf(dataDir: string): string {
  return path.join(dataDir, 'audit-head');
}

/** Whether any end was ever written to it, genuine or not. */
export function isHeadFileUsed(file: string): boolean {
  return existsSync(file) && readFileSync(file).toString('latin1').trim() !== '';
}

/** The newest genuine end; null when the file is missing or no slot is genuine. */
export function readHeadFile(file: string, key: Buffer): ChainEnd | null {
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  let newest: ChainEnd | null = null;
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const end = readSlot(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES), key);
    if (end && (!newest || end.sequence > newest.sequence)) newest = end;
  }
  return newest;
}

export class HeadFile {
  readonly #fd: number;
  readonly #mac: ShortMac;
  readonly #block = Buffer.alloc(SLOT_BYTES, ' ');
  #slot = 0;
  #dirty = false;

  constructor(file: string, mac: ShortMac, origin: { readonly deviceId: string; readonly firstStart: string }) {
    this.#mac = mac;
    const isNew = !existsSync(file);
    this.#fd = openSync(file, isNew ? 'w+' : 'r+', 0o600);
    if (isNew) writeSync(this.#fd, Buffer.alloc(SLOTS * SLOT_BYTES, ' ')); // the space is taken now: a full disk does not stop the head
    const { deviceId, firstStart } = origin;
    writeSync(this.#fd, `${JSON.stringify({ deviceId, firstStart })}\n`.padEnd(SLOT_BYTES), SLOTS * SLOT_BYTES);
  }

  write(end: ChainEnd): void {
    this.#block.fill(' ');
    this.#block.write(`{"sequence":${end.sequence},"hash":"${end.hash}","mac":"${this.#mac.ofText(textOfEnd(end))}"}\n`);
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

function readSlot(bytes: Buffer, key: Buffer): ChainEnd | null {
  try {
    const { sequence, hash, mac } = JSON.parse(bytes.toString('utf8')) as { sequence: number; hash: string; mac: string };
    const given = Buffer.from(mac, 'base64');
    const expected = createHmac('sha256', key).update(textOfEnd({ sequence, hash })).digest();
    return given.length === expected.length && timingSafeEqual(given, expected) ? { sequence, hash } : null;
  } catch {
    return null; // an empty or damaged slot: the other one is good
  }
}

function textOfEnd({ sequence, hash }: ChainEnd): string {
  return `audit-head|${sequence}|${hash}`;
}
