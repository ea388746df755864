/** What the reconcilers that make runs past (ADR 0033, 0037, 0038) have in common: when nothing is marked, and how fast what is. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../platform/base/clock.js';
import { Stopwatch } from '../../platform/base/elapsed.js';
import { pastRows } from '../../platform/store/past-rows.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Past, Store } from '../../platform/store/store.js';

/** While something keeps a run for a moment. */
export const SOON = { lookAgainMs: 2000 };
/** What nothing can be done about for a while; thousands may wait for it. */
export const LATER = { lookAgainMs: 30_000 };

/** Between two marks: a box that begins with years of data marks them for half an hour, and does its work meanwhile. */
const REST_MS = 50;

/** Not while nothing can be written, and not while somebody reads everything there is. */
export function mayMark(store: Store): boolean {
  return store.accepting && !pastRows(store).isWalked;
}

export async function mark(store: Store, past: Past): Promise<void> {
  await store.write({ pasts: [past] });
  await pause(REST_MS);
}

/** How long each has been as it is: who changes one begins its time anew. */
export class QuietTimes {
  readonly #clock: Clock;
  readonly #afterMs: number;
  /** Since when each version has been there, by `site/name`. */
  readonly #seen = new Map<string, { readonly version: number; readonly since: Stopwatch }>();

  constructor(clock: Clock, afterMs: number) {
    this.#clock = clock;
    this.#afterMs = afterMs;
  }

  /** Until it has been left alone for long enough; 0 or less when it has. */
  leftMs({ metadata: { site, name, resourceVersion: version } }: Resource): number {
    const key = `${site}/${name}`;
    let seen = this.#seen.get(key);
    if (seen?.version !== version) this.#seen.set(key, (seen = { version, since: new Stopwatch(this.#clock) }));
    return this.#afterMs - seen.since.elapsedMs;
  }

  forget({ site, name }: { readonly site: string; readonly name: string }): void {
    this.#seen.delete(`${site}/${name}`);
  }
}
