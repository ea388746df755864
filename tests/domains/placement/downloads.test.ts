/** Plans for a unit that runs, one on the heels of the other: what its link shows is what the worker scans (ADR 0008). */
import t from 'tap';
import { LocalRuntimes } from '../../../src/domains/placement/local-runtimes.js';
import type { UnitPlan } from '../../../runtime/port.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import type { Log } from '../../../src/platform/base/log.js';
import { network, tags, unitPlan } from '../../runtime/network/plans.js';

const REVISIONS = 5;
const BLOCKS = 200;

function planOf(revision: number): UnitPlan {
  const blocks = Array.from({ length: BLOCKS + revision }, (_, n) => ({ name: `b${n}`, type: 'ADD', params: { IN1: n } }));
  return unitPlan({ revision, scanIntervalMs: 20, tags: tags(`many.r${revision} b0.OUT REAL`), networks: [network({ name: 'many', hash: `h${revision}`, blocks })] });
}

t.test('Q-UNIT-07, ADR 0008: each plan that is loaded is shown with its own tags and hashes, those on the way to the last one too', async (t) => {
  const fault = (entry: unknown): void => void t.fail(JSON.stringify(entry));
  const runtimes = new LocalRuntimes({ clock: systemClock, log: { info: () => {}, warn: fault, error: fault } as unknown as Log, heapMb: 64, realtime: false });
  t.teardown(() => runtimes.stop());
  const ready = new Promise<void>((resolve) => {
    runtimes.onChange((_, what) => what === 'ready' && resolve());
  });
  const shown: unknown[] = [];
  const last = new Promise<void>((resolve) => {
    runtimes.onMessage((link, message) => {
      if (message.type !== 'plan-loaded') return;
      shown.push([message.revision, link.planRevision, link.tags[0].address, link.networkHash('many')]);
      if (message.revision === REVISIONS) resolve();
    });
  });
  runtimes.run(planOf(1));
  await ready;
  for (let revision = 2; revision <= REVISIONS; revision += 1) runtimes.run(planOf(revision));
  t.equal(runtimes.link('demo', 'u1')?.networkHash('many'), 'h1', 'sent is not loaded');
  await last;
  const revisions = shown.map((entry) => (entry as readonly number[])[0]);
  t.strictSame(revisions.slice(0, 2), [1, 2], 'what was begun is finished');
  t.strictSame(
    shown,
    revisions.map((revision) => [revision, revision, `many.r${revision}`, `h${revision}`]),
  );
});
