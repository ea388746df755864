/** Networks live in the halves of an arena in turns; a warm-up leaves no trace (performance notes, E). */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { finish } from '../../../runtime/network/steps.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { UnitPlan } from '../../../runtime/port.js';
import { image, network, tags, unitPlan, wires } from './plans.js';

const COUNTER = network({
  name: 'c',
  blocks: [
    { name: 'add', type: 'ADD', params: { IN2: 1 } },
    { name: 'same', type: 'MOVE' },
    { name: 'late', type: 'DEADTIME', params: { delay: 'T#300ms' } },
  ],
  connections: wires('add.OUT > same.IN', 'same.OUT > add.IN1', 'add.OUT > late.IN'),
});

/** The counter behind some padding, so that its places differ from plan to plan. */
function planOf(padding: number, revision: number): UnitPlan {
  const blocks = Array.from({ length: padding }, (_, n) => ({ name: `x${n}`, type: 'ADD', params: { IN1: n, IN2: revision } }));
  return unitPlan({
    revision,
    tags: tags('c.sum add.OUT REAL', 'c.late late.OUT REAL'),
    networks: padding === 0 ? [COUNTER] : [network({ name: 'padding', hash: String(revision), blocks }), COUNTER],
  });
}

t.test('Q-PROG-03: state, feedback and delay lines go on through many swaps and through an arena that grows', async (t) => {
  const texts = new TextTable();
  const clockMs = (): number => 0;
  let set = new NetworkSet(planOf(0, 1), { texts, clockMs });
  const get = (address: string): unknown => set.read(set.slot(address));
  let scans = 0;
  for (const padding of [0, 3, 1, 200, 7, 9000, 2]) {
    set = new NetworkSet(planOf(padding, scans + 2), { texts, clockMs, previous: set });
    for (let n = 0; n < 2; n += 1, scans += 1) {
      set.latch(1000 + scans * 100);
      set.scan(1);
    }
    t.equal(get('c.sum'), scans, `${padding} blocks of padding`);
    if (scans > 4) t.equal(get('c.late'), scans - 3, 'the delay line was not emptied');
  }
});

t.test('ADR 0008: networks prepared long before their swap are as those prepared and swapped at once', async (t) => {
  const named = (name: string): UnitPlan =>
    unitPlan({
      tags: tags('n.a pick.OUT STRING', 'n.c add.OUT REAL'),
      networks: [
        network({
          name: 'n',
          hash: name,
          blocks: [
            { name: 'pick', type: 'SEL', params: { G: true, IN0: 'left', IN1: name } },
            { name: 'add', type: 'ADD', params: { IN2: 1 } },
            { name: 'same', type: 'MOVE' },
          ],
          connections: wires('add.OUT > same.IN', 'same.OUT > add.IN1'),
        }),
      ],
    });
  const clockMs = (): number => 0;
  /** Five scans, in which the unit meets a text, and then the swap. */
  const swap = (early: boolean): NetworkSet => {
    const texts = new TextTable();
    const previous = new NetworkSet(named('before'), { texts, clockMs });
    const next = named('after');
    const options = { texts, clockMs, previous };
    const prepared = early ? finish(NetworkSet.prepare(next, options)) : undefined;
    for (let scan = 0; scan < 5; scan += 1) {
      texts.intern(`met in scan ${scan}`);
      previous.latch(1000 + scan * 100);
      previous.scan(1);
    }
    const set = new NetworkSet(next, { ...options, ...(prepared && { prepared }) });
    set.latch(2000);
    set.scan(1);
    t.strictSame([set.read(set.slot('n.a')), set.read(set.slot('n.c'))], ['after', 6]);
    return set;
  };
  t.strictSame(swap(true).snapshot(), swap(false).snapshot(), 'the ids of texts included, which the ports show');

  const texts = new TextTable();
  const first = new NetworkSet(named('a'), { texts, clockMs });
  const plan = named('c');
  const prepared = finish(NetworkSet.prepare(plan, { texts, clockMs, previous: first }));
  const second = new NetworkSet(named('b'), { texts, clockMs, previous: first });
  t.throws(() => new NetworkSet(plan, { texts, clockMs, previous: second, prepared }), /prepared for another swap/, 'it lies where the networks now run');
});

t.test('Performance E: the warm-up leaves memory, channels and texts as they were', async (t) => {
  const plan = (): UnitPlan =>
    unitPlan({
      images: [image('io', 'in input', 'out output')],
      networks: [
        network({
          name: 'loop',
          blocks: [
            { name: 'ai', type: 'AI', params: { addr: '', rawMax: 100, engMax: 100, filter: '1s' } },
            { name: 'pid', type: 'PID', params: { kp: 2, ti: '10s', SP: 50 } },
            { name: 'ao', type: 'AO', params: { addr: '' } },
          ],
          connections: wires('ai.OUT > pid.PV', 'pid.OUT > ao.IN'),
          channels: [
            { block: 'ai', image: 0, channel: 0 },
            { block: 'ao', image: 0, channel: 1 },
          ],
        }),
      ],
    });
  let now = 0;
  const cold = new NetworkSet(plan(), { texts: new TextTable(), clockMs: () => (now += 1e9) });
  const texts: string[] = [];
  const announced = new TextTable({ announce: (_, text) => texts.push(text) });
  const before = texts.length;
  const warm = new NetworkSet(plan(), { texts: announced, clockMs: () => 0 });
  t.strictSame(warm.snapshot(), cold.snapshot());
  t.equal(texts.length, before);
  t.strictSame(warm.takeReports(), []);
});
