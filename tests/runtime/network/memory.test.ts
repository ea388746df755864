/** The memory of past values: each block has its own, whatever its neighbours are given (decisions 5.2). */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { network, tags, unitPlan } from './plans.js';

/** What a network with `block` gives in five scans beside one that delays by two. */
function besideDelay(block: { readonly type: string; readonly params: Readonly<Record<string, string>> }): { readonly own: Value[]; readonly delayed: Value[] } {
  const plan = unitPlan({
    tags: tags('a.in b.IN REAL w', 'a.out b.OUT REAL', 'z.in d.IN REAL w', 'z.out d.OUT REAL'),
    networks: [network({ name: 'a', blocks: [{ name: 'b', ...block }] }), network({ name: 'z', blocks: [{ name: 'd', type: 'DEADTIME', params: { delay: 'T#200ms' } }] })],
  });
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
  const own: Value[] = [];
  const delayed: Value[] = [];
  for (let scan = 1; scan <= 5; scan += 1) {
    for (const address of ['a.in', 'z.in']) set.write(set.slot(address), scan);
    set.latch(scan * 100);
    set.scan(1);
    own.push(set.read(set.slot('a.out')));
    delayed.push(set.read(set.slot('z.out')));
  }
  return { own, delayed };
}

t.test('Decisions 5.2: an empty time is none: DEADTIME passes its input on, MAVG averages one sample, and the block beside them keeps its memory', async (t) => {
  for (const [type, param] of [
    ['DEADTIME', 'delay'],
    ['MAVG', 'window'],
  ] as const) {
    const { own, delayed } = besideDelay({ type, params: { [param]: '' } });
    t.strictSame(own, [1, 2, 3, 4, 5], type);
    t.strictSame(delayed, [1, 1, 1, 2, 3], `beside ${type}`);
  }
});
