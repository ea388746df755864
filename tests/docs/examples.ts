/**
 * Plays the examples of a page of docs/engineering in their order, so that what stands there is what the appliance does.
 *
 * What the fences mean:
 * - `yaml`: manifests, applied together; they are taken. `yaml refused`: they are not, and the `text` behind is the sentence.
 * - `yaml part`: a piece of a manifest, read only.
 * - `http`: a request line and, behind an empty line, a body; it is answered 2xx. The `json` behind is part of the answer; a GET is asked again
 *   until it is. `http refused`: the `text` behind is the sentence.
 * - `<word>` in a `json` is whatever stands there in the answer; in a later `http` it is that.
 * - `st`: structured text that compiles.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { parse } from 'yaml';
import type { ApiAnswer } from '../support/api-client.js';
import type { Plant } from '../support/plant.js';

/** An example that is not true does not become so. */
const ANSWERED_MS_MAX = 15_000;

const WORD = /^<\w+>$/;

interface Fence {
  readonly language: string;
  readonly words: string;
  readonly text: string;
  readonly line: number;
}

export interface Playing {
  readonly box: Plant;
  /** What of the page is another one here: the address of a device. */
  readonly instead?: Readonly<Record<string, string>>;
}

function fencesOf(text: string): Fence[] {
  return [...text.matchAll(/^```(\w+)(?: ([\w ]+))?\n(.*?)^```$/gms)].map((match) => ({
    language: match[1] ?? '',
    words: match[2] ?? '',
    text: (match[3] ?? '').trim(),
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/** Whether `found` has all of `wanted`: members of records, the first elements of lists; `…` in a text stands for anything, and `<word>` is kept in `words`. */
function has(found: unknown, wanted: unknown, words = new Map<string, string>()): boolean {
  if (Array.isArray(wanted)) return Array.isArray(found) && wanted.every((each, at) => has(found[at], each, words));
  if (typeof wanted === 'object' && wanted !== null) {
    return typeof found === 'object' && found !== null && Object.entries(wanted).every(([name, each]) => has((found as Readonly<Record<string, unknown>>)[name], each, words));
  }
  if (typeof wanted === 'string' && WORD.test(wanted) && typeof found === 'string') {
    words.set(wanted, found);
    return true;
  }
  if (typeof wanted !== 'string' || !wanted.includes('…')) return found === wanted;
  const parts = wanted.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return typeof found === 'string' && new RegExp(`^${parts.join('.*')}$`, 's').test(found);
}

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly body: unknown;
}

function askedBy(text: string): Asked {
  const [line = '', ...rest] = text.split('\n');
  const [method = '', target = ''] = line.split(' ');
  const body = rest.join('\n').trim();
  return { method, target, body: body === '' ? undefined : JSON.parse(body) };
}

/** The sentence without the number of its manifest, which a person who sends one does not get. */
const sentence = ({ body }: ApiAnswer): string => String(body?.error ?? '').replace(/^manifest \d+: /, '');

/** @returns how many examples were played. */
export async function play(t: Test, page: string, { box, instead = {} }: Playing): Promise<number> {
  const source = Object.entries(instead).reduce((text, [from, to]) => text.replaceAll(from, to), readFileSync(path.join(process.cwd(), page), 'utf8'));
  const fences = fencesOf(source);
  const words = new Map<string, string>();
  let played = 0;
  for (const [at, fence] of fences.entries()) {
    const where = `${page}:${fence.line}`;
    const behind = fences[at + 1];
    const refused = fence.words === 'refused';
    if (fence.language === 'yaml') {
      const manifests = fence.text.split(/^---$/m).map((text) => parse(text) as unknown);
      if (fence.words === 'part') continue;
      const answer = await box.api.post('/api/v1/apply', manifests);
      if (refused) tellRefusal(t, where, answer, behind);
      else t.equal(answer.status, 200, `${where}: applied: ${answer.text}`);
    } else if (fence.language === 'http') {
      const asked = askedBy([...words].reduce((text, [word, value]) => text.replaceAll(word, value), fence.text));
      if (refused) tellRefusal(t, where, await send(box, asked), behind);
      else if (behind?.language === 'json') await answered(t, where, box, asked, (found) => has(found, JSON.parse(behind.text), words));
      else {
        const answer = await send(box, asked);
        t.ok(answer.status < 300, `${where}: ${answer.status} ${answer.text}`);
      }
    } else if (fence.language === 'st') {
      const answer = await box.api.post('/api/v1/validate/st', { source: fence.text });
      t.match(answer, { status: 200, body: { valid: true } }, `${where}: ${answer.text}`);
    } else continue;
    played += 1;
  }
  return played;
}

function send({ api }: Plant, { method, target, body }: Asked): Promise<ApiAnswer> {
  return api.send(method, encodeURI(target), body);
}

function tellRefusal(t: Test, where: string, answer: ApiAnswer, behind: Fence | undefined): void {
  t.ok(answer.status >= 400, `${where}: refused`);
  t.equal(behind?.language, 'text', `${where}: the sentence stands behind it`);
  t.ok(has(sentence(answer), behind?.text), `${where}: ${sentence(answer)}`);
}

async function answered(t: Test, where: string, box: Plant, asked: Asked, isWanted: (found: unknown) => boolean): Promise<void> {
  if (asked.method !== 'GET') {
    const answer = await send(box, asked);
    t.ok(answer.status < 300 && isWanted(answer.body), `${where}: ${answer.status} ${answer.text.slice(0, 2000)}`);
    return;
  }
  await box.look(
    `${where} is answered as it stands there`,
    async () => {
      const answer = await send(box, asked);
      return { done: (answer.status === 200 && isWanted(answer.body)) || undefined, seen: `${answer.status} ${answer.text.slice(0, 2000)}` };
    },
    ANSWERED_MS_MAX,
  );
  t.pass(`${where}: as it stands there`);
}
