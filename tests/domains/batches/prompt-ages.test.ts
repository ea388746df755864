/** A prompt waits as long as time elapses (D-C-07). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import type { PendingPrompt } from '../../../src/domains/procedures/kind.js';
import { promptAges } from '../../../src/domains/procedures/prompt-ages.js';
import { timestamp } from '../../../src/platform/base/clock.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { Store } from '../../../src/platform/store/store.js';
import { TestClock } from '../../support/test-clock.js';

const HOUR_MS = 3_600_000;

t.test('D-C-07: the age of a prompt does not jump with the clock', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-prompts-'));
  const ledger = await openLedger(dir);
  t.teardown(async () => {
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const clock = new TestClock();
  const ages = promptAges(new Store(ledger, clock));
  const prompt = { id: 'w1', timestamp: timestamp(clock.wallMs()), text: 'Go on?', stepName: 'ask', type: 'acknowledge' } as const satisfies PendingPrompt;
  const age = (): number => ages.ageMs('north', 'p', prompt, clock);
  t.equal(age(), 0);
  clock.advance(30_000);
  for (const jumpMs of [HOUR_MS, -2 * HOUR_MS, HOUR_MS]) {
    clock.jump(jumpMs);
    t.equal(age(), 30_000, `set by ${jumpMs} ms`);
  }
  t.equal(ages.ageMs('north', 'p', { ...prompt, id: 'w2', timestamp: timestamp(clock.wallMs()) }, clock), 0, 'the next prompt of the phase begins anew');
});
