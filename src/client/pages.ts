/** The way through the pages of a list (decisions Q-MES-16): where the next one is, and that the way has an end. */
import { ApiError } from './api-error.js';
import { LONG_ANSWER_BYTES_MAX } from './answer.js';

/** A million resources in the shortest pages that the product asks for. */
const PAGES_MAX = 10_000;

/** Address of the next page, of the same box; '' where there is none. */
export function nextPageOf({ headers, status }: Response): string {
  const link = headers.get('Link') ?? '';
  const next = /^<([^>]+)>; rel="next"$/.exec(link)?.[1] ?? '';
  // an address such as `@elsewhere/x` behind that of the box would be another machine
  if (next === '' || /^\/[^/\\]/.test(next)) return next;
  throw new ApiError(status, { error: `the next page is said to be at ${next}, which is no address of the box`, code: 'page_elsewhere' });
}

/**
 * Notices a way that goes in circles, whatever their length, and remembers one cursor: the one that is compared with is moved on after 1, 2, 4 ...
 * steps (Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980).
 */
export class Cursors {
  #mark: string;
  #steps = 0;
  #stepsMax = 1;

  constructor(first: string) {
    this.#mark = first;
  }

  /** @throws ApiError where `next` was there before. */
  advance(next: string): void {
    if (next === this.#mark) throw new ApiError(200, { error: 'the pages of the list go round in a circle: no box answers so; is the address right?', code: 'pages_in_circle' });
    this.#steps += 1;
    if (this.#steps < this.#stepsMax) return;
    this.#mark = next;
    this.#steps = 0;
    this.#stepsMax *= 2;
  }
}

/** Of a list that is kept whole: it has an end. */
export class WholeList<T> {
  readonly items: T[] = [];
  readonly #cursors: Cursors;
  #pages = 0;
  #characters = 0;

  constructor(first: string) {
    this.#cursors = new Cursors(first);
  }

  /** @throws ApiError where it goes in a circle, or does not end. */
  add({ items, characters, next }: { readonly items: readonly T[]; readonly characters: number; readonly next: string }): void {
    for (const item of items) this.items.push(item); // of a long page there are more than a call takes arguments
    this.#pages += 1;
    this.#characters += characters;
    if (next === '') return;
    this.#cursors.advance(next);
    if (this.#pages < PAGES_MAX && this.#characters <= LONG_ANSWER_BYTES_MAX) return;
    const error = `the list does not end within ${PAGES_MAX} pages and ${LONG_ANSWER_BYTES_MAX / 1024 ** 2} MiB and is not read further`;
    throw new ApiError(200, { error, code: 'list_too_long' });
  }
}
