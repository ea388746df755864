/** Kinds whose runs become past, a store with what is past of it, and a reconciler of the past on it; opened anew as behind a start. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import * as v from 'valibot';
import type { Clock } from '../../src/platform/base/clock.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import type { Kind } from '../../src/platform/store/kind.js';
import { type RunEntry, runEntry } from '../../src/platform/store/past-index.js';
import { pastRows } from '../../src/platform/store/past-rows.js';
import { Store } from '../../src/platform/store/store.js';
import { TestClock } from './test-clock.js';

/** Of a kind that only tests have. */
export const PLAIN = { group: 'system', scope: 'site', action: 'run', body: 'flat', apply: { how: 'yes' } } as const;

export interface OrderEntry extends RunEntry {
  readonly order: string;
}

/** Names its steps. Of the order 'throws' no entry can be made, and of 'disorder' it cannot be said what it is found by. */
export const Run: Kind<{ order: string }, { state: string }> = {
  ...PLAIN,
  kind: 'Run',
  spec: v.object({ order: v.string() }),
  initialStatus: () => ({ state: 'Idle' }),
  pastWith: { kind: 'Run', named: 'alike' },
  pastIndex: ({ spec }, members) => {
    if (spec.order === 'throws') throw new Error('no entry can be made');
    return { order: spec.order, ...runEntry(members) };
  },
  pastOrders: {
    order: ({ order }: OrderEntry) => {
      if (order === 'disorder') throw new Error('no order can be said');
      return order;
    },
  },
  streams: (site, name) => [`events/${site}/${name}`, `messages/${site}/${name}`],
};

/** Is past with its run, without an entry of its own. */
export const Step: Kind<{ of: string }, { state: string }> = {
  ...PLAIN,
  kind: 'Step',
  spec: v.object({ of: v.string() }),
  initialStatus: () => ({ state: 'Idle' }),
  pastWith: { kind: 'Run', named: 'below' },
};

export async function pastStore<Looker>(t: Test, kinds: readonly Kind[], looker: (parts: { readonly store: Store; readonly clock: Clock }) => Looker) {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-past-'));
  const ledger = await openLedger(dir);
  const queries = openQueries(dir);
  t.teardown(async () => {
    await queries.close();
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const clock = new TestClock();
  const opened = async () => {
    const store = new Store(ledger, clock, undefined, kinds);
    await store.open(0);
    pastRows(store).connect(queries);
    return { store, reconciler: looker({ store, clock }) };
  };
  return { dir, ledger, queries, clock, opened, ...(await opened()) };
}
