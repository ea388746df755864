/** Maximum ages of tags in the networks (ADR 0070): the quality of the tag stays as it is reported, and to whoever reads it too late it is Bad. */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { TagPlan } from '../../../runtime/port.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY, QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { at } from '../../support/at.js';
import { connect, image, network, tags, unitPlan, wires } from './plans.js';

const aged = (tag: TagPlan, maxAgeMs: number): TagPlan => ({ ...tag, maxAgeMs });

t.test('ADR 0070, SIM-10: an interlock that reads a tag older than its maximum age trips; the tag keeps its quality, and another age on its channel its own', async (t) => {
  const io = { ...image('io', 'level input', 'valve output'), staleAfterMs: 60_000 };
  const [strict, patient, out] = tags('s.strict ai.OUT REAL', 's.patient ai.OUT REAL', 's.driven ao.OUT REAL');
  if (!strict || !patient || !out) throw new Error('three tags');
  const direct: TagPlan = {
    address: 's.direct',
    network: 's',
    name: 'direct',
    type: 'REAL',
    writable: false,
    cyclic: true,
    binding: { kind: 'channel', image: 0, channel: 0 },
    maxAgeMs: 500,
  };
  const reader = (name: string, tag: number) =>
    network({
      name,
      blocks: [
        { name: 'low', type: 'LT', params: { IN2: 90 } },
        { name: 'ilk', type: 'INTERLOCK', params: { text1: 'level too high' } },
      ],
      connections: wires('low.OUT > ilk.IN1'),
      variables: [{ name: 'level', dataType: 'REAL', direction: 'input' }],
      variableBindings: [{ variable: 'level', blockRef: 'low', portRef: 'IN1' }],
      inputs: [{ variable: 'level', tag }],
    });
  const plan = unitPlan({
    images: [io],
    tags: [aged(strict, 500), aged(patient, 1500), direct, aged(out, 500), ...tags('a.ok ilk.OK BOOL', 'b.ok ilk.OK BOOL', 'c.ok ilk.OK BOOL')],
    networks: [
      network({
        name: 's',
        blocks: [
          { name: 'ai', type: 'AI', params: { addr: '', rawMax: 100, engMax: 100 } },
          { name: 'ao', type: 'AO', params: { addr: '' } },
        ],
        channels: [
          { block: 'ai', image: 0, channel: 0 },
          { block: 'ao', image: 0, channel: 1 },
        ],
      }),
      reader('a', 0),
      reader('b', 1),
      reader('c', 2),
    ],
  });
  connect(plan);
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
  const process = new ProcessImage(2, io.buffer);
  const sampledAtMs = 1_000_000;
  const sample = (nowMs: number): void => {
    process.beginInputs();
    process.value[0] = 50;
    process.quality[0] = 0;
    process.stamp(0, nowMs, nowMs);
    process.endInputs();
  };
  const seen = (afterMs: number): unknown[] => {
    set.latch(sampledAtMs + afterMs);
    set.scan(1);
    return ['a.ok', 'b.ok', 'c.ok'].map((address) => set.read(set.slot(address)));
  };
  const shown = (address: string): unknown[] => [at(QUALITY_WORDS, set.quality(set.slot(address))), set.stale(set.slot(address)), set.exceededAgeMs(set.slot(address))];
  sample(sampledAtMs);
  t.same(seen(400), [true, true, true]);
  t.same(seen(500), [true, true, true], 'as old as its maximum is not older');
  t.same(seen(600), [false, true, false], 'each reader by the tag that it reads');
  t.same(
    [shown('s.strict'), shown('s.patient'), shown('s.direct')],
    [
      ['Good', true, 500],
      ['Good', false, 0],
      ['Good', true, 500],
    ],
  );
  t.same(seen(1600), [false, false, false]);
  t.same(shown('s.driven').slice(1), [false, 0], 'an output is not sampled');
  sample(sampledAtMs + 1700);
  t.same(seen(1700), [true, true, true], 'a fresh sample is valid at once');
});

t.test('ADR 0070: more ages on one channel than there is room for are judged by the next shorter one', async (t) => {
  const plan = unitPlan({
    images: [{ ...image('io', 'level input'), staleAfterMs: 0 }],
    tags: Array.from(
      { length: 9 },
      (_, n): TagPlan => ({
        address: `s.t${n}`,
        network: 's',
        name: `t${n}`,
        type: 'REAL',
        writable: false,
        cyclic: true,
        binding: { kind: 'channel', image: 0, channel: 0 },
        maxAgeMs: 1000 * (n + 1),
      }),
    ),
    networks: [],
  });
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
  const process = new ProcessImage(1, at(plan.images, 0).buffer);
  process.beginInputs();
  process.stamp(0, 10_000, 10_000);
  process.endInputs();
  set.latch(17_500);
  t.same(
    plan.tags.map(({ address }) => set.stale(set.slot(address))),
    [true, true, true, true, true, true, true, true, true],
    'seven have a bit each, the others are as strict as the seventh',
  );
  set.latch(16_500);
  t.same(
    plan.tags.map(({ address }) => set.stale(set.slot(address))),
    [true, true, true, true, true, true, false, false, false],
  );
});

t.test('ADR 0070, D-C-07: a clock that is set makes no sample older or younger, and an image that was abandoned is Bad, whatever its age', (t) => {
  const plan = unitPlan({
    images: [{ ...image('io', 'level input'), staleAfterMs: 0 }],
    tags: [
      {
        address: 's.pv',
        network: 's',
        name: 'pv',
        type: 'REAL',
        writable: false,
        cyclic: true,
        binding: { kind: 'channel', image: 0, channel: 0 },
        maxAgeMs: 1000,
      },
    ],
    networks: [],
  });
  connect(plan);
  const set = new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0 });
  const process = new ProcessImage(1, at(plan.images, 0).buffer);
  const sample = (wallMs: number, monoMs: number): void => {
    process.beginInputs();
    process.quality[0] = QUALITY.Good;
    process.stamp(0, wallMs, monoMs);
    process.endInputs();
  };
  const seen = (monoMs: number): unknown[] => {
    set.latch(monoMs);
    return [at(QUALITY_WORDS, set.quality(set.slot('s.pv'))), set.exceededAgeMs(set.slot('s.pv'))];
  };
  const year = 31_536_000_000;
  sample(2 * year, 10_000);
  t.same(seen(10_900), ['Good', 0]);
  sample(year, 11_000); // the clock of the box was set back by a year
  t.same(seen(11_900), ['Good', 0]);
  t.same(seen(12_001), ['Good', 1000], 'and forth by none: it is a second old');
  process.abandonInputs(QUALITY.Bad); // its probe has ended
  t.same(seen(12_001).slice(0, 1), ['Bad']);
  sample(year, 12_100);
  t.same(seen(12_200), ['Good', 0], 'the next life of the probe has sampled it');
  t.end();
});
