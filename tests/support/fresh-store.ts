/** A store over a ledger of its own in a folder of its own, which go with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { openLedger } from '../../src/platform/ledger/ledger.js';
import type { Ledger } from '../../src/platform/ledger/protocol.js';
import type { Kind } from '../../src/platform/store/kind.js';
import { Store } from '../../src/platform/store/store.js';
import { TestClock } from './test-clock.js';

export interface FreshStore {
  readonly ledger: Ledger;
  readonly clock: TestClock;
  readonly store: Store;
}

/** Rows of `kinds` are checked when they are read, and their references are followed. */
export async function freshStore(t: Pick<Test, 'teardown'>, kinds: readonly Kind[] = []): Promise<FreshStore> {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-store-'));
  const ledger = await openLedger(dir);
  t.teardown(async () => {
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const clock = new TestClock();
  const store = new Store(ledger, clock, undefined, kinds);
  await store.open(0);
  return { ledger, clock, store };
}
