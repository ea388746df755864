/** What a link shows of its unit while one plan follows another (ADR 0008). */
import t from 'tap';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { STAT, TagTable } from '../../../runtime/vocabulary/tag-table.js';
import type { UnitPlan } from '../../../runtime/port.js';
import { TagView } from '../../../src/domains/placement/tag-view.js';
import { tags, unitPlan } from '../../runtime/network/plans.js';

const NEVER_READ = { value: null, quality: QUALITY.Uncertain, atMs: 0 };

/** As the worker does at the end of a scan. */
function publish({ table, tags: { length } }: UnitPlan, scanCount: number, ...values: readonly number[]): void {
  const written = new TagTable(length, table);
  written.stats[STAT.scanCount] = scanCount;
  written.stats[STAT.heartbeatAtMs] = scanCount * 100;
  written.publish(Float64Array.from(values), new Float64Array(length).fill(scanCount * 100), new Uint8Array(length).fill(QUALITY.Good));
}

function shown(view: TagView): Record<string, unknown> {
  t.ok(view.refresh());
  return Object.fromEntries(view.tags.map(({ address }, index) => [address, view.reading(index)]));
}

t.test('ADR 0008: until the first scan of a new plan, its tags show what was last published of them; what is new was never read', async (t) => {
  const before = unitPlan({ networks: [], tags: tags('m.a b.A REAL', 'm.b b.B BOOL', 'm.c b.C STRING', 'm.gone b.D REAL') });
  const view = new TagView();
  view.addText(7, 'open');
  view.adopt(before);
  t.same(shown(view)['m.a'], NEVER_READ, 'nothing is invented');
  publish(before, 5, 1.5, 1, 7, 9);
  const after = unitPlan({ networks: [], revision: 2, tags: tags('m.new b.N REAL', 'm.c b.C STRING', 'm.b b.B REAL', 'm.a b.A REAL') });
  view.adopt(after);
  t.same(shown(view), {
    'm.new': NEVER_READ,
    'm.c': { value: 'open', quality: QUALITY.Good, atMs: 500 },
    'm.b': NEVER_READ, // another type
    'm.a': { value: 1.5, quality: QUALITY.Good, atMs: 500 },
  });
  t.match(view.statistics(), { scanCount: 5, heartbeatAtMs: 500 }, 'a worker that ends now was alive then');
  publish(after, 6, 10, 7, 11, 12);
  t.match(shown(view), { 'm.new': { value: 10, atMs: 600 }, 'm.a': { value: 12, atMs: 600 } });
  t.equal(view.statistics().scanCount, 6);
});

t.test('ADR 0008: another worker begins with nothing', async (t) => {
  const plan = unitPlan({ networks: [], tags: tags('m.a b.A REAL') });
  const view = new TagView();
  view.adopt(plan);
  publish(plan, 5, 1.5);
  view.startOver();
  view.adopt(unitPlan({ networks: [], tags: plan.tags }));
  t.same(shown(view)['m.a'], NEVER_READ);
  t.equal(view.statistics().scanCount, 0);
});

t.test('Q-TAG-01: a whole number that a port cannot hold, and a text that is not kept, are no value of quality Good', async (t) => {
  const plan = unitPlan({ networks: [], tags: tags('m.a b.A INT', 'm.b b.B STRING') });
  const view = new TagView();
  view.adopt(plan);
  publish(plan, 5, 9_007_199_254_740_992, 4711);
  t.match(shown(view), { 'm.a': { value: null, quality: QUALITY.Bad }, 'm.b': { value: null, quality: QUALITY.Bad } });
});
