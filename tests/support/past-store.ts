/** A store with what is past of it, and a reconciler of the past on it; opened anew as behind a start. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { Clock } from '../../src/platform/base/clock.js';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import { openQueries } from '../../src/platform/ledger/queries.js';
import type { Kind } from '../../src/platform/store/kind.js';
import { pastRows } from '../../src/platform/store/past-rows.js';
import { Store } from '../../src/platform/store/store.js';
import { TestClock } from './test-clock.js';

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
