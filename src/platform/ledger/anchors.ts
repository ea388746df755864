/**
 * Anchors: signed heads of the audit chain, kept outside the box. A chain that was rolled back with the whole disk is a good chain, and only
 * somebody who remembers a later end can tell. One line of JSON each, so that any program can keep them: a file of them, or what a receiver of
 * syslog has written among everything else.
 */
import type { KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { exactBase64 } from '../base/exact-base64.js';
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
  readonly kid: string;
}

export interface Anchors {
  /** In the order of the file: one that goes back tells that the box lived two histories. */
  readonly anchors: readonly Anchor[];
  /** Numbers of the lines that are none, or were not signed with the key, from 1 on. */
  readonly strange: readonly number[];
}

/** Undefined where the line is none, or was not signed with the key. */
export function anchorOf(line: string, publicKey: KeyObject | undefined): Anchor | undefined {
  const parsed = v.safeParse(AnchorLine, recordOf(line));
  if (!parsed.success) return undefined;
  const signature = exactBase64(parsed.output.signature);
  if (signature === undefined) return undefined;
  const head = { ...parsed.output, signature };
  const { sequence, hash, at, kid } = head;
  return !publicKey || isHeadGenuine(head, publicKey) ? { sequence, hash, at, kid } : undefined;
}

/**
 * A line that is cut off was being written when the power went or the share was full: it is left out, as what is empty. A file that begins with an anchor holds nothing
 * else. Of what a receiver of syslog has written the anchors count. With a key only those that name it do: others are of other boxes, whose anchors a broker holds beside.
 */
export function anchorsOf(text: string, publicKey: KeyObject | undefined, keyId?: string): Anchors {
  const isOurs = text.startsWith(BEGIN);
  const anchors: Anchor[] = [];
  const strange: number[] = [];
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const json = isOurs ? line : carriedBy(line);
    if (json === undefined || (isOurs && isCutOff(json)) || isOfAnother(json, keyId)) continue;
    const anchor = anchorOf(json, publicKey);
    if (anchor) anchors.push(anchor);
    else strange.push(index + 1);
  }
  return { anchors, strange };
}

const BEGIN = '{"sequence":';

/** The begin of an anchor and no more: the box goes on in a line of its own. Whoever cuts one has taken out no more than who removes it. */
export function isCutOff(line: string): boolean {
  return BEGIN.startsWith(line) || (line.startsWith(BEGIN) && !line.endsWith('}'));
}

/** The head of RFC 5424 stands in the line only where the receiver was told to write it. */
const SAYS_ANCHOR = / ANCHOR \[lineside@32473 /;

/** The JSON of an anchor at the end of a line; '' of one that says it carries one and does not; undefined of any other line. */
function carriedBy(line: string): string | undefined {
  const end = line.trimEnd();
  const at = end.lastIndexOf(BEGIN);
  const json = at === 0 || /\s/.test(end.charAt(at - 1)) ? end.slice(at) : undefined;
  if (json !== undefined && (SAYS_ANCHOR.test(line) || v.is(AnchorLine, recordOf(json)))) return json;
  return SAYS_ANCHOR.test(line) ? '' : undefined;
}

function isOfAnother(json: string, keyId: string | undefined): boolean {
  const kid = recordOf(json)?.kid;
  return keyId !== undefined && typeof kid === 'string' && kid !== keyId;
}
