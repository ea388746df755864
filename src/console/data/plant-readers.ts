/** Parts of a site that are read again and again, and why what is shown of them may be old. */
import { signal } from '@preact/signals';
import { Latest } from './latest.js';
import { type Part, reads } from './plant-parts.js';

/** The refusal of a read whose later attempts have failed too. */
export const readFault = signal<unknown>(undefined);

const readers = new Set<Latest>();
const faults = new Map<Latest, unknown>();

export function forgetFaults(): void {
  faults.clear();
  readFault.value = undefined;
}

/** One part of the site, read again and again: the last answer counts, and a refusal stands until the part is read. */
export function reader<T>(ask: () => Promise<T>, take: (found: T) => void, part?: Part): () => Promise<void> {
  const latest = new Latest();
  readers.add(latest);
  return async () => {
    if (part !== undefined && !reads(part)) return;
    try {
      if (await latest.read(ask, take)) faults.delete(latest);
    } catch (fault) {
      faults.set(latest, fault);
    }
    readFault.value = [...faults.values()][0];
  };
}

/** Another site is shown: what is under way is of no more use. */
export function forgetReads(): void {
  for (const each of readers) each.forget();
  forgetFaults();
}
