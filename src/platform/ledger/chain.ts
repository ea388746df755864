/**
 * The audit chain (decisions 8.6, D-AUDIT-01): hash = SHA-256 over the canonical record without `hash`, with the hash of
 * the record before as previousHash; one chain per appliance. A record is stored as exactly the bytes that were hashed,
 * so verifying needs no second writing of the record.
 */
import { createHash, createHmac, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

/** previousHash of record 1 (decisions 8.6). */
export const GENESIS_HASH = '0'.repeat(64);

export interface SealedAudit {
  /** Canonical JSON of the record without `hash`. */
  readonly body: string;
  readonly hash: Buffer;
  /** HMAC-SHA256 over the 32 bytes of the hash. */
  readonly mac: Buffer;
}

export function sealAudit(record: Readonly<Record<string, unknown>>, previousHash: string, key: Buffer): SealedAudit {
  const body = canonicalJson({ ...record, previousHash });
  const hash = hashOf(body);
  return { body, hash, mac: macOf(hash, key) };
}

export function hashOf(body: string): Buffer {
  return createHash('sha256').update(body, 'utf8').digest();
}

export function macOf(hash: Buffer, key: Buffer): Buffer {
  return createHmac('sha256', key).update(hash).digest();
}

/** The served record: the hashed bytes with `hash` as the last member. */
export function servedAudit(body: string, hash: Buffer): string {
  return `${body.slice(0, -1)},"hash":"${hash.toString('hex')}"}`;
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
  return verify(null, headBytes(head), publicKey, head.signature);
}

function headBytes({ sequence, hash, at, kid }: { readonly sequence: number; readonly hash: string; readonly at: string; readonly kid: string }): Buffer {
  return Buffer.from(canonicalJson({ at, hash, kid, sequence }), 'utf8');
}
