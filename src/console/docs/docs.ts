/** The script of the documents at /docs: it searches an index that is fetched once somebody wants to search. Without it the pages read as well. */
import { keptHere } from '../common/kept-here.js';

/** Of `search.json`: address and title of a page, and its parts as anchor, heading and text. */
type IndexedPage = readonly [address: string, title: string, parts: readonly (readonly [id: string, heading: string, text: string])[]];

interface Found {
  readonly address: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly points: number;
}

const SHOWN_MAX = 20;
const EXCERPT_CHARS = 160;
/** Reasons and rules are found after what tells how to do a thing. */
const LATER = /^\/docs\/(adr|changelog|contributing)/;

const look = keptHere('lineside.look');
if (look === 'light' || look === 'dark') document.documentElement.dataset.look = look;

let pages: Promise<readonly IndexedPage[]> | undefined;

function indexed(): Promise<readonly IndexedPage[]> {
  pages ??= fetch('/docs/search.json').then((answer) => {
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return answer.json() as Promise<readonly IndexedPage[]>;
  });
  pages.catch(() => {
    pages = undefined; // asked again with the next letter
  });
  return pages;
}

/** Every word has to occur in the part, its heading or the title of its page. */
function search(all: readonly IndexedPage[], asked: string): Found[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: Found[] = [];
  for (const [address, title, parts] of all) {
    for (const [id, heading, text] of parts) {
      const points = pointsOf(words, title.toLowerCase(), heading.toLowerCase(), text.toLowerCase());
      if (points > 0) found.push({ address: id === '' ? address : `${address}#${id}`, title, heading, text, points: LATER.test(address) ? points / 4 : points });
    }
  }
  return found.sort((a, b) => b.points - a.points).slice(0, SHOWN_MAX);
}

/** A word at its beginning counts more than within another: `second` is meant by the second master and not by `timeoutSeconds`. */
function pointsOf(words: readonly string[], title: string, heading: string, text: string): number {
  let points = 0;
  for (const word of words) {
    const begins = new RegExp(`(^|[^\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'u');
    const worth = (place: string, begun: number, within: number): number => (begins.test(place) ? begun : place.includes(word) ? within : 0);
    const here = (heading === word ? 40 : worth(heading, 14, 6)) + worth(title, 8, 3) + worth(text, 4, 1);
    if (here === 0) return 0;
    points += here;
  }
  const asked = words.join(' ');
  if (words.length > 1) points += (heading.includes(asked) ? 30 : 0) + (text.includes(asked) ? 10 : 0);
  return points;
}

/** Some words around the first place that is asked for. */
function excerpt(text: string, asked: string): string {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  const found = [words.join(' '), ...words].map((each) => lower.indexOf(each)).find((place) => place >= 0) ?? 0;
  const at = Math.max(0, found - EXCERPT_CHARS / 4);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const shown = text.slice(start, start + EXCERPT_CHARS);
  return `${start > 0 ? '… ' : ''}${shown}${start + EXCERPT_CHARS < text.length ? ' …' : ''}`;
}

function item({ address, title, heading, text }: Found, asked: string): HTMLElement {
  const link = document.createElement('a');
  link.href = address;
  const head = document.createElement('strong');
  head.textContent = heading === title ? title : `${title}: ${heading}`;
  const words = document.createElement('span');
  words.textContent = excerpt(text, asked);
  link.append(head, words);
  const entry = document.createElement('li');
  entry.append(link);
  return entry;
}

const input = document.querySelector<HTMLInputElement>('#find');
const place = document.querySelector<HTMLElement>('#found');

function note(text: string): HTMLElement {
  const line = document.createElement('p');
  line.textContent = text;
  return line;
}

async function show(): Promise<void> {
  if (!input || !place) return;
  const asked = input.value;
  if (asked.trim() === '') return hide();
  let shown: HTMLElement;
  try {
    const found = search(await indexed(), asked);
    if (input.value !== asked) return; // more letters have come
    const list = document.createElement('ol');
    list.append(...found.map((each) => item(each, asked)));
    shown = found.length > 0 ? list : note('Nothing has all of these words.');
  } catch {
    shown = note('The index could not be read. Is the box still there?');
  }
  place.replaceChildren(shown);
  place.hidden = false;
}

function hide(): void {
  if (!place) return;
  place.hidden = true;
  place.replaceChildren();
}

input?.addEventListener('input', () => void show());
input?.form?.addEventListener('submit', (event) => {
  event.preventDefault();
  place?.querySelector<HTMLAnchorElement>('a')?.click();
});
place?.addEventListener('click', () => hide());
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    hide();
    return;
  }
  if (event.key !== '/' || event.target === input) return;
  event.preventDefault();
  input?.focus();
});

export {};
