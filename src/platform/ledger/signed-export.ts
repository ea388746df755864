/**
 * An export of the audit trail that proves itself (21 CFR 11.10(b)): the trailer says what was before it, and the appliance signs that with its
 * Ed25519 key (RFC 8032) over the canonical JSON (RFC 8785) of the trailer without `signature`. Whoever has the public key needs nothing else.
 */
import { createHash, createPublicKey, type Hash, type KeyObject, sign, verify } from 'node:crypto';
import * as v from 'valibot';
import { exactBase64 } from '../base/exact-base64.js';
import { readLine, recordOf } from './archive-format.js';
import { GENESIS_HASH, hashOf } from './chain.js';
import type { Anchor } from './anchors.js';
import { canonicalJson } from './canonical-json.js';
import { rawPublicKey } from './keys.js';

export interface ExportTrailer {
  readonly trailer: true;
  readonly records: number;
  /** Of the first and the last record, 0 when there is none. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Hex; '' when there is no record. */
  readonly headHash: string;
  /** Of the lines before the trailer, each with its end of line; hex. */
  readonly sha256: string;
  /** Whether every record from the first to the last one is there: no times were asked for. */
  readonly whole: boolean;
  readonly exportedAt: string;
  /** First 16 hex digits of the SHA-256 of the public key. */
  readonly keyId: string;
}

export function signTrailer(trailer: ExportTrailer, privateKey: KeyObject): ExportTrailer & { readonly signature: string } {
  return { ...trailer, signature: sign(null, Buffer.from(canonicalJson(trailer)), privateKey).toString('base64') };
}

/** `keyId` of a public key. @throws Error when it is no Ed25519 key. */
export function keyIdOf(pem: string): { readonly key: KeyObject; readonly keyId: string } {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`the key is ${key.asymmetricKeyType ?? 'of no known kind'}; the key of an appliance is Ed25519`);
  return { key, keyId: createHash('sha256').update(rawPublicKey(key)).digest('hex').slice(0, 16) };
}

/** What was found in a file, for people and programs. */
export interface ExportVerdict {
  /** Nothing is wrong, and the signature of the trailer is that of the key. Without a key nothing can be. */
  readonly ok: boolean;
  readonly records: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly headHash: string;
  readonly keyId: string;
  readonly exportedAt: string;
  /** Of the trailer: `none` where no key was given or there is no signature. */
  readonly signature: 'valid' | 'invalid' | 'none';
  /** Electronic signatures within records: checked with the key, or made with the secret key of the appliance and only to be checked by it. */
  readonly signed: { readonly valid: number; readonly invalid: number; readonly onTheBoxOnly: number };
  /** Anchors of records that stand in the file; of the others it shows nothing. */
  readonly anchored: number;
  /** The first of them, one sentence each. */
  readonly problems: readonly string[];
  readonly problemsInAll: number;
}

const PROBLEMS_TOLD_MAX = 100;
/** A record is some kilobytes; what claims to be longer is none. */
const LINE_BYTES_MAX = 64 * 1024 * 1024;
const NEW_LINE = 0x0a;

/**
 * Reads a file from its first to its last byte, in constant memory.
 * @param anchors as somebody outside the appliance kept them.
 */
export class ExportVerifier {
  readonly #key: KeyObject | undefined;
  readonly #keyId: string;
  /** Hashes (hex) by sequence: two of one sequence are of two histories. */
  readonly #anchors = new Map<number, string[]>();
  readonly #sha: Hash = createHash('sha256');
  readonly #problems: string[] = [];
  readonly #signed = { valid: 0, invalid: 0, onTheBoxOnly: 0 };
  #problemsInAll = 0;
  #anchored = 0;
  /** Of a line whose end has not come: joined once. */
  readonly #rest: Buffer[] = [];
  #restBytes = 0;
  /** The last line is told from the others when the next one, or the end, is there. */
  #held: Buffer | undefined;
  #lines = 0;
  #records = 0;
  #first = 0;
  #last = 0;
  #headHash = '';
  /** What two records do not follow each other by: no problem of a file that holds a range of times. The first of them. */
  readonly #gaps: string[] = [];
  #gapsInAll = 0;

  constructor(key: { readonly key: KeyObject; readonly keyId: string } | undefined, anchors: readonly Anchor[] = []) {
    this.#key = key?.key;
    this.#keyId = key?.keyId ?? '';
    for (const { sequence, hash } of anchors) this.#anchors.set(sequence, [...(this.#anchors.get(sequence) ?? []), hash]);
  }

  take(chunk: Uint8Array): void {
    let text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = text.indexOf(NEW_LINE); at !== -1; at = text.indexOf(NEW_LINE)) {
      this.#line(Buffer.concat([...this.#rest.splice(0), text.subarray(0, at + 1)]));
      text = text.subarray(at + 1);
      this.#restBytes = 0;
    }
    if (text.length === 0) return;
    this.#restBytes += text.length;
    if (this.#restBytes > LINE_BYTES_MAX) throw new Error(`line ${this.#lines + 1} is longer than any record can be`);
    this.#rest.push(Buffer.from(text));
  }

  end(): ExportVerdict {
    const trailer = this.#held && this.#restBytes === 0 ? trailerOf(this.#held.toString('utf8')) : undefined;
    if (this.#held && !trailer) this.#record(this.#held);
    if (this.#restBytes > 0) this.#problem('the file ends within a line: its end is missing');
    const signature = trailer ? this.#checkTrailer(trailer) : 'none';
    if (!trailer) this.#problem('the last line is no trailer: the end of the file is missing, so nobody can say what else is');
    if (trailer?.whole !== false) {
      for (const gap of this.#gaps) this.#problem(gap);
      this.#problemsInAll += this.#gapsInAll - this.#gaps.length;
    }
    this.#checkAnchors(trailer?.whole !== false);
    return {
      ok: this.#problemsInAll === 0 && signature === 'valid',
      records: this.#records,
      firstSequence: this.#first,
      lastSequence: this.#last,
      headHash: this.#headHash,
      keyId: trailer?.keyId ?? '',
      exportedAt: trailer?.exportedAt ?? '',
      signature,
      signed: this.#signed,
      anchored: this.#anchored,
      problems: this.#problems,
      problemsInAll: this.#problemsInAll,
    };
  }

  #line(line: Buffer): void {
    if (this.#held) this.#record(this.#held);
    this.#held = line;
    this.#lines += 1;
  }

  #record(line: Buffer): void {
    this.#sha.update(line);
    const text = line.toString('utf8', 0, line.length - 1);
    const row = rowOf(text);
    if (!row) return this.#problem(`line ${this.#records + 1} is no record of an audit trail`);
    this.#records += 1;
    const { sequence, record, body, hash } = row;
    const named = `record ${sequence}`;
    if (hashOf(body).compare(hash) !== 0) this.#problem(`${named} does not match its hash: it was changed`);
    const previous = String(record.previousHash);
    if (this.#records === 1) {
      this.#first = sequence;
      if (sequence === 1 && previous !== GENESIS_HASH) this.#problem(`${named} does not begin the chain`);
    } else if (sequence !== this.#last + 1) {
      this.#gapsInAll += 1;
      if (this.#gaps.length < PROBLEMS_TOLD_MAX)
        this.#gaps.push(sequence > this.#last ? `records ${this.#last + 1} to ${sequence - 1} are missing` : `${named} comes after record ${this.#last}`);
    } else if (previous !== this.#headHash) this.#problem(`${named} does not follow record ${this.#last}`);
    this.#last = sequence;
    this.#headHash = hash.toString('hex');
    const anchors = this.#anchors.get(sequence) ?? [];
    this.#anchored += anchors.length;
    if (anchors.some((anchored) => anchored !== this.#headHash))
      this.#problem(`${named} is not the one that was anchored: the box was set back to an earlier time, or the trail was written anew`);
    this.#checkSignature(record.signature, named);
  }

  #checkSignature(signature: unknown, named: string): void {
    if (typeof signature !== 'object' || signature === null) return;
    const { value, digest, ...base } = signature as Readonly<Record<string, unknown>>;
    if (base.algorithm !== 'Ed25519' || this.#key === undefined) {
      this.#signed.onTheBoxOnly += 1;
      return;
    }
    if (typeof value === 'string' && base.keyId === this.#keyId && isSignedBy(this.#key, base, value)) {
      this.#signed.valid += 1;
      return;
    }
    this.#signed.invalid += 1;
    this.#problem(`the signature in ${named} (digest ${String(digest)}) is none of this key`);
  }

  #checkTrailer(trailer: ToldTrailer): ExportVerdict['signature'] {
    const { signature, ...signed } = trailer;
    const found = { records: this.#records, headHash: this.#headHash, sha256: this.#sha.digest('hex') };
    for (const member of ['records', 'headHash', 'sha256'] as const)
      if (found[member] !== signed[member]) this.#problem(`the trailer says ${member} ${signed[member]}, and the lines before it give ${found[member]}`);
    if (signature === undefined) {
      this.#problem('the trailer has no signature: the file was not exported by a version that signs, or it was taken out');
      return 'none';
    }
    if (this.#key === undefined) return 'none';
    const isValid = signed.keyId === this.#keyId && isSignedBy(this.#key, signed, signature);
    if (!isValid) this.#problem(`the trailer is not signed with this key (${this.#keyId}); it names key ${signed.keyId ?? 'none'}`);
    return isValid ? 'valid' : 'invalid';
  }

  /** What was anchored later than the file ends is not in it: of a whole export that was made after it, its end was lost. */
  #checkAnchors(whole: boolean): void {
    const newest = [...this.#anchors.keys()].reduce((a, b) => Math.max(a, b), 0);
    if (whole && newest > this.#last)
      this.#problem(`record ${newest} was anchored outside, and the trail ends with record ${this.#last}: its end was lost, or the whole disk is of an earlier time`);
  }

  #problem(what: string): void {
    this.#problemsInAll += 1;
    if (this.#problems.length < PROBLEMS_TOLD_MAX) this.#problems.push(what);
  }
}

/** Whoever made the file wrote what he liked: what cannot be read is no record. */
function rowOf(line: string): ReturnType<typeof readLine> {
  try {
    return readLine(line);
  } catch {
    return null;
  }
}

/** What has no canonical form, such as 1e999 or a thousand levels, nobody has signed. */
function isSignedBy(key: KeyObject, signed: unknown, signature: string): boolean {
  const bytes = exactBase64(signature);
  try {
    return bytes !== undefined && verify(null, Buffer.from(canonicalJson(signed)), key, bytes);
  } catch {
    return false;
  }
}

/** Version 0.1 wrote the first three of them and signed nothing. What else stands in one is part of what was signed. */
const ToldTrailer = v.looseObject({
  trailer: v.literal(true),
  records: v.number(),
  headHash: v.string(),
  sha256: v.string(),
  firstSequence: v.optional(v.number()),
  lastSequence: v.optional(v.number()),
  whole: v.optional(v.boolean()),
  exportedAt: v.optional(v.string()),
  keyId: v.optional(v.string()),
  signature: v.optional(v.string()),
});
type ToldTrailer = v.InferOutput<typeof ToldTrailer>;

function trailerOf(line: string): ToldTrailer | undefined {
  const parsed = v.safeParse(ToldTrailer, recordOf(line));
  return parsed.success ? parsed.output : undefined;
}
