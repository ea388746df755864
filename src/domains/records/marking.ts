/** What the reconcilers that make runs past (ADR 0037, 0038) have in common: when nothing is marked, and how fast what is. */
import { setTimeout as pause } from 'node:timers/promises';
import { pastRows } from '../../platform/store/past-rows.js';
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
