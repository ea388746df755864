/** Plans for a unit that runs, one on the heels of the other: what its link shows is what the worker scans (ADR 0008). */
import t from 'tap';
import { LocalRuntimes } from '../../../src/domains/placement/local-runtimes.js';
import type { UnitPlan } from '../../../runtime/port.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { eventually } from '../../support/api-client.js';
import { TestClock } from '../../support/test-clock.js';
import { network, tags, unitPlan } from '../../runtime/network/plans.js';
import { at } from '../../support/at.js';
import { testLog } from '../../support/test-log.js';

const REVISIONS = 5;
const BLOCKS = 200;

function planOf(revision: number): UnitPlan {
  const blocks = Array.from({ length: BLOCKS + revision }, (_, n) => ({ name: `b${n}`, type: 'ADD', params: { IN1: n } }));
  return unitPlan({ revision, scanIntervalMs: 20, tags: tags(`many.r${revision} b0.OUT REAL`), networks: [network({ name: 'many', hash: `h${revision}`, blocks })] });
}

t.test('Q-UNIT-07, ADR 0008: each plan that is loaded is shown with its own tags and hashes, those on the way to the last one too', async (t) => {
  const runtimes = new LocalRuntimes({ clock: systemClock, log: testLog((entry) => entry.level !== 'info' && t.fail(JSON.stringify(entry))), heapMb: 64, realtime: false });
  t.teardown(() => runtimes.stop());
  const ready = new Promise<void>((resolve) => {
    runtimes.onChange((_, what) => what === 'ready' && resolve());
  });
  const shown: unknown[] = [];
  const last = new Promise<void>((resolve) => {
    runtimes.onMessage((link, message) => {
      if (message.type !== 'plan-loaded') return;
      shown.push([message.revision, link.planRevision, at(link.tags, 0).address, link.networkHash('many')]);
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

t.test('TAG-27 UNIT-02: a write to a unit that scans seldom is given the time of its scan; what nobody waits for any more is withdrawn', async (t) => {
  const clock = new TestClock();
  const runtimes = new LocalRuntimes({ clock, log: testLog(), heapMb: 64, realtime: false });
  t.teardown(() => runtimes.stop());
  const slow = unitPlan({
    scanIntervalMs: 4000,
    tags: tags('n.in b0.IN REAL w'),
    networks: [network({ name: 'n', scanIntervalMs: 4000, blocks: [{ name: 'b0', type: 'MOVE' }] })],
  });
  runtimes.run(slow);
  const link = runtimes.link('demo', 'u1');
  if (!link) throw new Error('there is no unit');
  await eventually('it is ready', async () => link.ready);
  let outcome: unknown = 'waits';
  const written = link.write('n.in', 5).then((result) => {
    outcome = result;
  });
  clock.advance(12_900);
  t.equal(outcome, 'waits', 'two scans and 5 s');
  clock.advance(200);
  await eventually('it is answered', async () => outcome !== 'waits');
  await written;
  t.match(outcome, { ok: false, code: 'runtime_unreachable', message: /withdrawn/ });
});
