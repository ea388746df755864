/**
 * Anchors: signed heads of the audit chain, kept outside the box. A chain that was rolled back with the whole disk is a good chain, and only
 * somebody who remembers a later end can tell. One line of JSON each, so that any program can keep them.
 */
import type { KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { isHeadGenuine, type SignedHead, signHead } from './chain.js';
import { recordOf } from './archive-format.js';

const AnchorLine = v.strictObject({
  sequence: v.pipe(v.number(), v.integer(), v.minValue(1)),
  hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  at: v.string(),
  kid: v.string(),
  /** Base64; of chain.ts, so the heads within the box and those outside are one thing. */
  signature: v.string(),
});

export function anchorLine(head: Omit<SignedHead, 'signature'>, privateKey: KeyObject): string {
  const { signature, ...signed } = signHead(head, privateKey);
  return `${JSON.stringify({ ...signed, signature: signature.toString('base64') })}\n`;
}

export interface Anchor {
  readonly sequence: number;
  readonly hash: string;
  readonly at: string;
}

export interface Anchors {
  /** In the order of the file: one that goes back tells that the box lived two histories. */
  readonly anchors: readonly Anchor[];
  /** Numbers of the lines that are none, or were not signed with the key, from 1 on. */
  readonly strange: readonly number[];
}

/** A line that is cut off at the end of the file was being written when the power went: it is left out. */
export function anchorsOf(text: string, publicKey: KeyObject | undefined): Anchors {
  const anchors: Anchor[] = [];
  const strange: number[] = [];
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const parsed = v.safeParse(AnchorLine, recordOf(line));
    const head = parsed.success ? { ...parsed.output, signature: Buffer.from(parsed.output.signature, 'base64') } : undefined;
    if (head && (!publicKey || isHeadGenuine(head, publicKey))) anchors.push({ sequence: head.sequence, hash: head.hash, at: head.at });
    else strange.push(index + 1);
  }
  return { anchors, strange };
}
