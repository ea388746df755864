/**
 * The audit chain (decisions 8.6, D-AUDIT-01): hash = SHA-256 over the canonical record without `hash`, with the hash of
 * the record before as previousHash; one chain per appliance. A record is stored as exactly the bytes that were hashed,
 * so verifying needs no second writing of the record.
 */
import { createHash, createHmac, hash as digest, type KeyObject, sign, verify } from 'node:crypto';
import { assert } from '../base/assert.js';
import type { AuditText } from './audit-text.js';
import { canonicalJson } from './canonical-json.js';

/** previousHash of record 1 (decisions 8.6). */
export const GENESIS_HASH = '0'.repeat(64);

export interface SealedAudit {
  /** Canonical JSON of the record without `hash`. */
  readonly body: string;
  /** Lower-case hex. */
  readonly hash: string;
  /** Bytes that hold until the next record is sealed, as those of `mac`. */
  readonly hashBytes: Buffer;
  /** HMAC-SHA256 over the 32 bytes of the hash. */
  readonly mac: Buffer;
}

export function sealAudit({ head, tail }: AuditText, previousHash: string, key: ShortMac): SealedAudit {
  const body = head + previousHash + tail;
  const hash = digest('sha256', body, 'hex');
  const mac = key.ofHash(hash);
  return { body, hash, hashBytes: key.hashBytes, mac };
}

export function hashOf(body: string): Buffer {
  return createHash('sha256').update(body, 'utf8').digest();
}

export function macOf(hash: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(hash).digest();
}

const BLOCK_BYTES = 64; // of SHA-256
const HASH_BYTES = 32;
const TEXT_BYTES_MAX = 256;

/**
 * HMAC-SHA256 (RFC 2104) with one key over one short message after the other, from two one-shot digests: they cost a third
 * of the object that `createHmac` makes for each.
 */
export class ShortMac {
  /** The padded key, and after it what is hashed. */
  readonly #inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX, 0x36);
  readonly #overHash = this.#inner.subarray(0, BLOCK_BYTES + HASH_BYTES);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES, 0x5c);
  readonly #mac = Buffer.alloc(HASH_BYTES);
  /** The hash that `ofHash` was given last, as bytes. */
  readonly hashBytes = this.#inner.subarray(BLOCK_BYTES, BLOCK_BYTES + HASH_BYTES);

  constructor(key: Buffer) {
    assert(key.length <= BLOCK_BYTES, 'a longer key would have to be hashed first');
    for (let at = 0; at < key.length; at += 1) {
      this.#inner[at] = (this.#inner[at] as number) ^ (key[at] as number);
      this.#outer[at] = (this.#outer[at] as number) ^ (key[at] as number);
    }
  }

  /**
   * @param hash 32 bytes in hex.
   * @returns bytes that hold until the next call.
   */
  ofHash(hash: string): Buffer {
    this.#inner.write(hash, BLOCK_BYTES, 'hex');
    this.#mac.write(this.#finish(this.#overHash, 'hex'), 'hex');
    return this.#mac;
  }

  /** Base64; of at most 256 bytes. */
  ofText(text: string): string {
    const bytes = this.#inner.write(text, BLOCK_BYTES, 'utf8');
    assert(bytes < TEXT_BYTES_MAX, 'the text is longer than this MAC is made for');
    return this.#finish(this.#inner.subarray(0, BLOCK_BYTES + bytes), 'base64');
  }

  #finish(message: Buffer, encoding: 'hex' | 'base64'): string {
    this.#outer.write(digest('sha256', message, 'hex'), BLOCK_BYTES, 'hex');
    return digest('sha256', this.#outer, encoding);
  }
}

/** Of a hash as it lies in the table, where somebody may have put anything; '' where it is none. */
export function hexOf(stored: unknown): string {
  return Buffer.isBuffer(stored) ? stored.toString('hex') : '';
}

/** Whether these bytes are what lies in the table. */
export function isStored(stored: unknown, bytes: Buffer): boolean {
  return Buffer.isBuffer(stored) && stored.equals(bytes);
}

/** The served record: the hashed bytes with `hash` as the last member. */
export function servedAudit(body: string, hash: Buffer): string {
  return `${body.slice(0, -1)},"hash":"${hexOf(hash)}"}`;
}

/** A signed head says: at that time the chain ended, or passed through, this record. */
export interface SignedHead {
  readonly sequence: number;
  readonly hash: string;
  readonly at: string;
  readonly kid: string;
  readonly signature: Buffer;
}

export function signHead(head: { readonly sequence: number; readonly hash: string; readonly at: string; readonly kid: string }, privateKey: KeyObject): SignedHead {
  return { ...head, signature: sign(null, headBytes(head), privateKey) };
}

export function isHeadGenuine(head: SignedHead, publicKey: KeyObject): boolean {
  return Buffer.isBuffer(head.signature) && verify(null, headBytes(head), publicKey, head.signature);
}

function headBytes({ sequence, hash, at, kid }: { readonly sequence: number; readonly hash: string; readonly at: string; readonly kid: string }): Buffer {
  return Buffer.from(canonicalJson({ at, hash, kid, sequence }), 'utf8');
}
