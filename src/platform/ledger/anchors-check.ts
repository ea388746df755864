/**
 * A file of anchors held against the trail, on the query thread: a thousand signatures are 60 to 200 ms of a core, which nobody shall wait for who is
 * served by another thread, and who is served by this one waits for some of them only.
 */
import { open } from 'node:fs/promises';
import type { KeyObject } from 'node:crypto';
import { type Anchor, anchorOf, isCutOff } from './anchors.js';

export interface AnchorsAgainst {
  readonly checked: number;
  readonly newest: { readonly sequence: number; readonly at: string } | null;
  /** Sentences. */
  readonly problems: readonly string[];
}

export interface Trail {
  readonly key: KeyObject;
  /** Sequence of its last record. */
  readonly end: number;
  hashesOf(sequences: readonly number[]): ReadonlyMap<number, string>;
  /** Others are served meanwhile. */
  pause(): Promise<void>;
}

/** Some thousand anchors, a week at ten minutes: the others were looked at when they were new, and the file grows for years. */
const LOOKED_AT_BYTES = 300_000;
/** Of signatures; some milliseconds. */
const AT_ONCE = 32;

/** From the first whole line on. */
export async function endOfAnchors(name: string): Promise<string> {
  const file = await open(name, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - LOOKED_AT_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    await file.close();
  }
}

export async function judgedAnchors(text: string, { key, end, hashesOf, pause }: Trail): Promise<AnchorsAgainst> {
  const anchors: Anchor[] = [];
  let strange = 0;
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const anchor = anchorOf(line, key);
    if (anchor) anchors.push(anchor);
    else if (!isCutOff(line)) strange += 1;
    if (index % AT_ONCE === AT_ONCE - 1) await pause();
  }
  const hashes = hashesOf(anchors.map(({ sequence }) => sequence));
  const problems = [
    ...(strange > 0 ? [`${strange} lines of the anchors are none, or were not signed by this box: somebody has changed the file`] : []),
    ...anchors.flatMap((anchor) => contradicted(anchor, end, hashes)),
  ];
  const newest = anchors.at(-1);
  return { checked: anchors.length, newest: newest ? { sequence: newest.sequence, at: newest.at } : null, problems };
}

/** What is not in the table any more was looked at before it was archived, and the chain goes through it. */
function contradicted({ sequence, hash, at }: Anchor, end: number, hashes: ReadonlyMap<number, string>): string[] {
  if (sequence > end) return [`record ${sequence} was anchored ${at}, and the trail ends with record ${end}: this box was set back to an earlier time`];
  const found = hashes.get(sequence);
  return found === undefined || found === hash
    ? []
    : [`record ${sequence} was anchored ${at} with another content: this box was set back to an earlier time and went on from there`];
}
