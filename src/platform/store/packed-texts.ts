/**
 * Texts outside of the heap, each kept once, whoever says it, and known by its address.
 *
 * Invariant: what was written is never written over.
 */
import { randomInt } from 'node:crypto';

/** Addresses are whole numbers of 32 bits: their upper bits name the slab. */
const SLAB_BITS = 20;
export const SLAB_BYTES = 2 ** SLAB_BITS;
/** Of a text: twice its length, and 1 where it takes two bytes a character. */
const HEAD_BYTES = 4;
const PLACES_FIRST = 1024;
const ASKED_FIRST = 256;

/** Bytes by address, in slabs; nothing crosses the end of one. */
export class Slabs {
  readonly #slabs: DataView[] = [];
  readonly #bytes: Buffer[] = [];
  /** Address 0 is nothing's. */
  #end = HEAD_BYTES;

  constructor() {
    this.#grow(SLAB_BYTES);
  }

  /** @returns the address of so many bytes. */
  take(bytes: number): number {
    const left = SLAB_BYTES - (this.#end % SLAB_BYTES);
    if (bytes > left || this.#end === this.#slabs.length * SLAB_BYTES) {
      this.#end = this.#slabs.length * SLAB_BYTES;
      this.#grow(Math.max(bytes, SLAB_BYTES));
    }
    const at = this.#end;
    this.#end += Math.min(bytes, SLAB_BYTES); // one that is larger has a slab to itself
    return at;
  }

  of(at: number): DataView {
    return this.#slabs[at >>> SLAB_BITS] as DataView;
  }

  bytesOf(at: number): Buffer {
    return this.#bytes[at >>> SLAB_BITS] as Buffer;
  }

  #grow(bytes: number): void {
    const slab = new ArrayBuffer(bytes);
    this.#slabs.push(new DataView(slab));
    this.#bytes.push(Buffer.from(slab));
  }
}

/** Texts by address, each once. */
export class Texts {
  readonly #slabs: Slabs;
  /** Addresses by hash, in open addressing; 0 is free. */
  #places = new Uint32Array(PLACES_FIRST);
  /** Of the texts at these places: slabs are far away, and one of another hash is not looked at there. */
  #hashes = new Uint32Array(PLACES_FIRST);
  #count = 0;
  /** Batch IDs are chosen by people: none shall choose where they fall. */
  readonly #seed = randomInt(2 ** 32);
  /** A text that is asked for, as it would lie in a slab. */
  #asked: Buffer = Buffer.alloc(ASKED_FIRST);

  constructor(slabs: Slabs) {
    this.#slabs = slabs;
  }

  /** 0 for a text that nobody says. */
  find(text: string): number {
    const head = this.#ask(text);
    return this.#find(head, this.#asked, 0);
  }

  add(text: string): number {
    const head = this.#ask(text);
    return this.#add(head, this.#asked, 0);
  }

  /** As `find`, of characters of ASCII. */
  findBytes(bytes: Uint8Array, from: number, end: number): number {
    return this.#find((end - from) * 2, bytes, from);
  }

  /** As `add`, of characters of ASCII. */
  addBytes(bytes: Uint8Array, from: number, end: number): number {
    return this.#add((end - from) * 2, bytes, from);
  }

  read(at: number): string {
    const start = at & (SLAB_BYTES - 1);
    const head = this.#slabs.of(at).getUint32(start);
    return this.#slabs.bytesOf(at).toString((head & 1) === 1 ? 'ucs2' : 'latin1', start + HEAD_BYTES, start + HEAD_BYTES + bytesOf(head));
  }

  /** As texts are compared. */
  compare(at: number, text: string): number {
    const view = this.#slabs.of(at);
    const start = at & (SLAB_BYTES - 1);
    const head = view.getUint32(start);
    const length = head >>> 1;
    const common = Math.min(length, text.length);
    for (let n = 0; n < common; n += 1) {
      const difference = characterAt(view, start, head, n) - text.charCodeAt(n);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }

  /** @returns what it begins with in a slab. */
  #ask(text: string): number {
    let wide = 0;
    for (let n = 0; n < text.length; n += 1) if (text.charCodeAt(n) > 255) wide = 1;
    if (text.length << wide > this.#asked.length) this.#asked = Buffer.alloc(text.length << wide);
    this.#asked.write(text, 0, wide === 1 ? 'ucs2' : 'latin1');
    return text.length * 2 + wide;
  }

  #add(head: number, bytes: Uint8Array, from: number): number {
    const hash = this.#hash(bytes, from, bytesOf(head));
    const place = this.#placeOf(hash, head, bytes, from);
    const known = this.#places[place] as number;
    if (known !== 0) return known;
    const length = bytesOf(head);
    const at = this.#slabs.take(HEAD_BYTES + length);
    const start = at & (SLAB_BYTES - 1);
    this.#slabs.of(at).setUint32(start, head);
    const to = this.#slabs.bytesOf(at);
    for (let n = 0; n < length; n += 1) to[start + HEAD_BYTES + n] = bytes[from + n] as number;
    this.#places[place] = at;
    this.#hashes[place] = hash;
    this.#count += 1;
    if (this.#count * 4 > this.#places.length * 3) this.#widen();
    return at;
  }

  #find(head: number, bytes: Uint8Array, from: number): number {
    return this.#places[this.#placeOf(this.#hash(bytes, from, bytesOf(head)), head, bytes, from)] as number;
  }

  #placeOf(hash: number, head: number, bytes: Uint8Array, from: number): number {
    const mask = this.#places.length - 1;
    let place = hash & mask;
    for (let at = this.#places[place] as number; at !== 0; at = this.#places[place] as number) {
      if (this.#hashes[place] === hash && this.#is(at, head, bytes, from)) break;
      place = (place + 1) & mask;
    }
    return place;
  }

  #is(at: number, head: number, bytes: Uint8Array, from: number): boolean {
    const start = at & (SLAB_BYTES - 1);
    if (this.#slabs.of(at).getUint32(start) !== head) return false;
    const own = this.#slabs.bytesOf(at);
    const length = bytesOf(head);
    for (let n = 0; n < length; n += 1) if (own[start + HEAD_BYTES + n] !== bytes[from + n]) return false;
    return true;
  }

  #widen(): void {
    const [places, hashes] = [this.#places, this.#hashes];
    this.#places = new Uint32Array(2 * places.length);
    this.#hashes = new Uint32Array(2 * places.length);
    const mask = this.#places.length - 1;
    for (let n = 0; n < places.length; n += 1) {
      if (places[n] === 0) continue;
      const hash = hashes[n] as number;
      let place = hash & mask;
      while (this.#places[place] !== 0) place = (place + 1) & mask;
      this.#places[place] = places[n] as number;
      this.#hashes[place] = hash;
    }
  }

  #hash(bytes: Uint8Array, from: number, length: number): number {
    let hash = this.#seed;
    for (let n = from; n < from + length; n += 1) hash = Math.imul(hash ^ (bytes[n] as number), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> 0;
  }
}

/** What a text takes of a slab behind its head. */
function bytesOf(head: number): number {
  return (head >>> 1) << (head & 1);
}

function characterAt(view: DataView, start: number, head: number, n: number): number {
  return (head & 1) === 1 ? view.getUint16(start + HEAD_BYTES + 2 * n, true) : view.getUint8(start + HEAD_BYTES + n);
}
