/** Networks: order, composites, faults, quality, overrides, hot swap, retained values, periods, and no allocation. */
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import t from 'tap';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { blockType, blockTypeEntries, BLOCK_TYPE_NAMES, portLookup, validateNetwork } from '../../../runtime/catalog.js';
import { executionOrder } from '../../../runtime/network/order.js';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { TagPlan, UnitPlan } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import type { BlockSpec, CompositeType } from '../../../runtime/vocabulary/network.js';
import { CONNECTION, OUTPUTS, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { connect, image, network, tags, unitPlan, wires } from './plans.js';
import { at } from '../../support/at.js';

/** A set with its clock: every `scan` is one period. */
class Unit {
  set: NetworkSet;
  readonly texts = new TextTable();
  nowMs = 1_000_000;

  constructor(plan: UnitPlan) {
    this.set = new NetworkSet(plan, { texts: this.texts, clockMs: () => 0 });
  }

  swap(plan: UnitPlan): void {
    this.set = new NetworkSet(plan, { texts: this.texts, clockMs: () => 0, previous: this.set });
  }

  scan(times = 1, elapsed = 1): void {
    for (let n = 0; n < times; n += 1) {
      this.nowMs += 100;
      this.set.latch(this.nowMs);
      this.set.scan(elapsed);
      this.set.drive(this.nowMs);
    }
  }

  get(address: string): Value {
    return this.set.read(this.set.slot(address));
  }

  quality(address: string): string {
    return at(QUALITY_WORDS, this.set.quality(this.set.slot(address)));
  }

  write(address: string, value: Value): string {
    return this.set.write(this.set.slot(address), value)?.code ?? 'ok';
  }

  sample(plan: UnitPlan, channel: number, value: number, quality = 0): void {
    const { buffer, channels } = at(plan.images, 0);
    const io = new ProcessImage(channels.length, buffer);
    io.beginInputs();
    io.value[channel] = value;
    io.quality[channel] = quality;
    io.stamp(channel, this.nowMs + 100, this.nowMs + 100);
    io.endInputs();
  }
}

const HEAT_GUARD: CompositeType = {
  name: 'heat-guard',
  inputs: [
    { name: 'LEVEL', dataType: 'REAL' },
    { name: 'TEMP', dataType: 'REAL' },
  ],
  outputs: [
    { name: 'LEVEL_OK', dataType: 'BOOL' },
    { name: 'TEMP_OK', dataType: 'BOOL' },
  ],
  params: [
    { name: 'levelMin', dataType: 'REAL', defaultValue: '10' },
    { name: 'tempMax', dataType: 'REAL', defaultValue: '110' },
  ],
  blocks: [
    { name: 'lvl', type: 'GE' },
    { name: 'tmp', type: 'LE' },
  ],
  connections: [],
  inputBindings: [
    { port: 'LEVEL', blockRef: 'lvl', portRef: 'IN1' },
    { port: 'TEMP', blockRef: 'tmp', portRef: 'IN1' },
  ],
  outputBindings: [
    { port: 'LEVEL_OK', blockRef: 'lvl', portRef: 'OUT' },
    { port: 'TEMP_OK', blockRef: 'tmp', portRef: 'OUT' },
  ],
  paramBindings: [
    { param: 'levelMin', blockRef: 'lvl', blockParam: 'IN2' },
    { param: 'tempMax', blockRef: 'tmp', blockParam: 'IN2' },
  ],
};

t.test('Decisions 5.1 rule 3: first block in array order whose sources have run, else the first remaining', async (t) => {
  t.strictSame(executionOrder([[1], [], [0]]), [1, 0, 2]);
  t.strictSame(executionOrder([[2], [0], [1]]), [0, 1, 2], 'a loop begins with its first block');
  t.strictSame(executionOrder([[3], [0], [], [2, 1]]), [2, 0, 1, 3], 'independent blocks go first, then the loop');
  t.strictSame(executionOrder([[0], []]), [1, 0], 'a block that feeds itself has a missing source');
});

t.test('Decisions 5.1 rule 3: the missing input of a loop is the value of the previous scan', async (t) => {
  const unit = new Unit(
    unitPlan({
      tags: tags('p.sum add.OUT REAL'),
      networks: [
        network({
          name: 'p',
          blocks: [
            { name: 'add', type: 'ADD', params: { IN2: 1 } },
            { name: 'same', type: 'MOVE' },
          ],
          connections: wires('add.OUT > same.IN', 'same.OUT > add.IN1'),
        }),
      ],
    }),
  );
  unit.scan(3);
  t.equal(unit.get('p.sum'), 3);
  t.strictSame(unit.set.inspect('p')?.executionOrder, ['add', 'same']);
});

t.test('Q-TAG-01: a time is shown as text in the inspection of a network', async (t) => {
  const unit = new Unit(unitPlan({ networks: [network({ name: 'p', blocks: [{ name: 'on', type: 'TON', params: { IN: true, PT: 'T#90s' } }] })] }));
  unit.scan(3);
  const [block] = unit.set.inspect('p')?.blocks ?? [];
  t.match(block, { inputs: { IN: { value: true }, PT: { value: 'T#1m30s', quality: 'Good' } }, outputs: { ET: { value: /^T#\d+ms$/ } } });
});

t.test('Decisions 5.3: a composite is written out with its parameters and named instance/inner', async (t) => {
  const plan = unitPlan({
    composites: [HEAT_GUARD],
    tags: [...tags('h.ok ilk.OK BOOL', 'h.text ilk.TEXT STRING', 'h.level guard.LEVEL REAL w', 'h.temp guard.TEMP REAL w')],
    networks: [
      network({
        name: 'h',
        blocks: [
          { name: 'guard', type: 'heat-guard', params: { levelMin: 20, TEMP: 50 } },
          { name: 'ilk', type: 'INTERLOCK', params: { text1: 'level low', text2: 'hot' } },
        ],
        connections: wires('guard.LEVEL_OK > ilk.IN1', 'guard.TEMP_OK > ilk.IN2'),
      }),
    ],
  });
  const unit = new Unit(plan);
  t.strictSame(at(unit.set.reports(), 0).state, 'Running', at(unit.set.reports(), 0).message);
  unit.scan();
  t.strictSame(unit.set.inspect('h')?.executionOrder, ['guard/lvl', 'guard/tmp', 'ilk']);
  t.strictSame([unit.get('h.ok'), unit.get('h.text')], [false, 'level low']);
  t.equal(unit.write('h.level', 20), 'ok');
  unit.scan();
  t.strictSame([unit.get('h.ok'), unit.get('h.text')], [true, ''], 'the constant 50 of TEMP is below the default of tempMax');
  unit.write('h.temp', 111);
  unit.scan();
  t.strictSame([unit.get('h.ok'), unit.get('h.text')], [false, 'hot']);
});

t.test('PROG-15: a block error skips the block, degrades the program and recovers by itself', async (t) => {
  const plan = unitPlan({
    tags: tags('p.q div.OUT REAL', 'p.twice twice.OUT REAL', 'p.den div.IN2 REAL w', 'p.count ctu.CV INT'),
    networks: [
      network({
        name: 'p',
        owner: 'program',
        blocks: [
          { name: 'div', type: 'DIV', params: { IN1: 10, IN2: 4 } },
          { name: 'twice', type: 'MUL', params: { IN2: 2 } },
          { name: 'ctu', type: 'CTU' },
        ],
        connections: wires('div.OUT > twice.IN1'),
      }),
    ],
  });
  const unit = new Unit(plan);
  unit.scan();
  t.strictSame([unit.get('p.q'), unit.get('p.twice'), unit.set.hasReports], [2.5, 5, false]);
  unit.write('p.den', 0);
  unit.scan();
  t.strictSame([unit.get('p.q'), unit.quality('p.q'), unit.get('p.twice'), unit.quality('p.twice')], [2.5, 'Bad', 5, 'Bad'], 'the value is held, its quality travels on');
  t.strictSame(unit.set.takeReports(), [{ network: 'p', state: 'Degraded', message: 'skipped in the last scan: div', faultedBlocks: ['div'] }]);
  t.equal(unit.quality('p.count'), 'Good', 'other blocks run on');
  unit.scan(3);
  t.notOk(unit.set.hasReports, 'an unchanged fault is reported once');
  unit.write('p.den', 5);
  unit.scan();
  t.strictSame([unit.get('p.q'), unit.quality('p.q')], [2, 'Good']);
  t.strictSame(unit.set.takeReports(), [{ network: 'p', state: 'Running', message: '', faultedBlocks: [] }]);
});

t.test('Decisions 5.1 rule 5 and 7.2: quality travels from the channel; old samples turn Uncertain, then Bad', async (t) => {
  const plan = unitPlan({
    images: [image('io', 'tt input')],
    tags: tags('m.pv ai.OUT REAL', 'm.high gt.OUT BOOL'),
    networks: [
      network({
        name: 'm',
        blocks: [
          { name: 'ai', type: 'AI', params: { addr: '', rawMax: 100, engMax: 100 } },
          { name: 'gt', type: 'GT', params: { IN2: 50 } },
        ],
        connections: wires('ai.OUT > gt.IN1'),
        channels: [{ block: 'ai', image: 0, channel: 0 }],
      }),
    ],
  });
  const unit = new Unit(plan);
  unit.scan();
  t.equal(unit.quality('m.pv'), 'Bad', 'no sample yet');
  unit.sample(plan, 0, 60);
  unit.scan();
  t.strictSame([unit.get('m.pv'), unit.get('m.high'), unit.quality('m.high')], [60, true, 'Good']);
  unit.nowMs += 2500;
  unit.scan();
  t.equal(unit.quality('m.high'), 'Uncertain');
  t.ok(unit.set.stale(unit.set.slot('io:tt')));
  unit.nowMs += 2500;
  unit.scan();
  t.strictSame([unit.quality('m.high'), unit.get('m.pv')], ['Bad', 60]);
  t.ok(unit.set.io.lostForMs('io', unit.nowMs) > 0, 'a silent module counts as lost');
});

t.test('a block without a channel is of quality Bad, never of a value that looks measured', async (t) => {
  const plan = unitPlan({
    images: [image('io', 'tt input')],
    tags: tags('m.pv ai.OUT REAL', 'm.ok ai.OK BOOL', 'm.on di.OUT BOOL', 'm.high gt.OUT BOOL'),
    networks: [
      network({
        name: 'm',
        blocks: [
          { name: 'ai', type: 'AI', params: { addr: '' } },
          { name: 'di', type: 'DI', params: { addr: '' } },
          { name: 'gt', type: 'GT', params: { IN2: 50 } },
        ],
        connections: wires('ai.OUT > gt.IN1'),
      }),
    ],
  });
  const unit = new Unit(plan);
  unit.sample(plan, 0, 60);
  unit.scan();
  t.strictSame([unit.quality('m.pv'), unit.quality('m.on'), unit.quality('m.high'), unit.get('m.ok')], ['Bad', 'Bad', 'Bad', false]);
});

t.test('Decisions 5.1 rule 2 and 7: input ports keep a written value, outputs are overridden only outside Automatic', async (t) => {
  const plan = unitPlan({
    tags: [
      ...tags('m.sp sel.IN0 REAL w', 'm.out ao.OUT REAL w', 'm.raw ao.RAW REAL', 'm.in ao.IN REAL w').map((tag) => (tag.name === 'sp' ? { ...tag, engMin: 0, engMax: 50 } : tag)),
    ],
    images: [image('io', 'v output')],
    networks: [
      network({
        name: 'm',
        blocks: [
          { name: 'sel', type: 'SEL', params: { IN0: 10 } },
          { name: 'ao', type: 'AO', params: { addr: '', rawMin: 4, rawMax: 20 } },
        ],
        connections: wires('sel.OUT > ao.IN'),
        channels: [{ block: 'ao', image: 0, channel: 0 }],
      }),
    ],
  });
  const unit = new Unit(plan);
  connect(plan);
  unit.scan();
  t.equal(unit.get('m.out'), 10);
  t.strictSame(
    [unit.write('m.sp', 51), unit.write('m.sp', '20'), unit.write('m.in', 1), unit.write('m.raw', 1), unit.write('m.sp', 'x')],
    ['out_of_range', 'ok', 'read_only_tag', 'read_only_tag', 'invalid_value'],
  );
  unit.scan();
  t.equal(unit.get('m.out'), 20);
  t.equal(unit.write('m.out', 60), 'write_failed');
  unit.set.setModuleMode('m', 'Manual');
  t.equal(unit.write('m.out', 300), 'ok');
  unit.scan(5);
  t.strictSame([unit.get('m.out'), unit.get('m.raw'), new ProcessImage(1, at(plan.images, 0).buffer).out[0]], [100, 20, 20], 'the override is clamped and written');
  t.strictSame(unit.set.overrides(), [{ address: 'm.out', value: 300 }]);
  t.strictSame(unit.set.writeSettled(unit.set.slot('m.out')), { settled: false }, 'the probe has not answered');
  const next = { ...plan, moduleModes: { m: 'Manual' as const } };
  unit.swap(next);
  unit.scan();
  t.equal(unit.get('m.out'), 100, 'the override stands after a swap');
  unit.set.setModuleMode('m', 'Automatic');
  unit.scan();
  t.equal(unit.get('m.out'), 20);
});

t.test('Decisions 7.7: the end of a write behind a channel', async (t) => {
  const plan = unitPlan({ images: [image('io', 'v output')], tags: [], networks: [] });
  const unit = new Unit(plan);
  const io = new ProcessImage(1, at(plan.images, 0).buffer);
  const slot = unit.set.slot('io:v');
  connect(plan);
  unit.scan();
  const settle = (status: number): unknown => {
    unit.write('io:v', 5);
    unit.scan();
    io.outDone[0] = at(io.outSeq, 0);
    io.outStatus[0] = status;
    unit.scan();
    return unit.set.writeSettled(slot);
  };
  t.strictSame(settle(1), { settled: true });
  t.match(settle(2), { settled: true, rule: 'write-failed' });
  t.match(settle(3), { settled: true, rule: 'readback-mismatch' });
  unit.write('io:v', 6);
  unit.scan(60);
  t.match(unit.set.writeSettled(slot), { settled: true, rule: 'write-failed' }, 'no answer within the read-back time');
});

t.test('Decisions 7.7, Q-PROG-03: a write whose answer is outstanding over a download is judged after it, under the slot its tag has then', async (t) => {
  const raw = (channel: number): TagPlan => ({
    address: 'm.v',
    network: 'm',
    name: 'v',
    type: 'REAL',
    writable: true,
    cyclic: true,
    binding: { kind: 'channel', image: 0, channel },
  });
  const other: TagPlan = { ...raw(0), address: 'm.other', name: 'other' };
  const plan = unitPlan({ images: [image('io', 'v output', 'w output')], tags: [raw(0)], networks: [] });
  const ended = (next: UnitPlan): unknown => {
    const unit = new Unit(plan);
    connect(plan);
    connect(next);
    unit.scan();
    unit.write('m.v', 5);
    unit.scan();
    unit.swap(next);
    unit.scan();
    const slot = unit.set.slot('m.v');
    t.match(unit.set.writeSettled(slot), { settled: false }, 'the device has not answered');
    const io = new ProcessImage(2, at(next.images, 0).buffer);
    io.outDone[0] = at(io.outSeq, 0);
    io.outStatus[0] = 3;
    unit.scan();
    return unit.set.writeSettled(slot);
  };
  t.match(ended({ ...plan, tags: [other, raw(0)] }), { settled: true, rule: 'readback-mismatch' }, 'the tag has another slot');
  const replaced = { ...plan, images: [image('io', 'v output', 'x output')] };
  t.match(
    ended(replaced),
    { settled: true, rule: 'write-failed', message: 'io:v: its channels were changed while the write was on its way' },
    'nobody can say what became of an order to an image that was replaced',
  );
});

t.test('Q-PROG-03: until the first scan after a download a channel reads as the last scan has seen it, wherever it lies in the new plan', async (t) => {
  const plan = unitPlan({ images: [image('io', 'a input', 'b input')], networks: [] });
  const unit = new Unit(plan);
  connect(plan);
  unit.sample(plan, 0, 4.5);
  unit.sample(plan, 1, 7.5, 1);
  unit.scan();
  unit.swap(unitPlan({ images: [image('other', 'a input'), image('io', 'c input', 'b input', 'a input')], networks: [] }));
  t.strictSame([unit.get('io:a'), unit.quality('io:a')], [4.5, 'Good']);
  t.strictSame([unit.get('io:b'), unit.quality('io:b')], [7.5, 'Uncertain']);
  t.equal(unit.quality('io:c'), 'Bad', 'nobody has measured it');
  t.equal(unit.quality('other:a'), 'Bad', 'that of another module is not its own');
});

t.test('TAG-27: what would not reach the device is refused, by the reach that the scan has latched, and never carried out later', async (t) => {
  const channelTag: TagPlan = { address: 'm.coil', network: 'm', name: 'coil', type: 'REAL', writable: true, cyclic: true, binding: { kind: 'channel', image: 0, channel: 1 } };
  const plan = unitPlan({
    images: [image('io', 'v output', 'coil output')],
    tags: [...tags('m.out ao.OUT REAL w'), channelTag],
    moduleModes: { m: 'Manual' },
    networks: [network({ name: 'm', blocks: [{ name: 'ao', type: 'AO', params: { addr: '' } }], channels: [{ block: 'ao', image: 0, channel: 0 }] })],
  });
  const unit = new Unit(plan);
  const io = new ProcessImage(2, at(plan.images, 0).buffer);
  const attempt = (): string[] => ['m.coil', 'io:coil', 'm.out'].map((address) => unit.write(address, 7));
  t.strictSame(attempt(), Array(3).fill('device_unreachable'), 'nothing is known of the device yet');
  connect(plan, CONNECTION.lost);
  unit.scan();
  t.strictSame(attempt(), Array(3).fill('device_unreachable'));
  connect(plan, CONNECTION.connected, OUTPUTS.withheld);
  unit.scan();
  t.strictSame(attempt(), Array(3).fill('outputs_withheld'));
  t.strictSame([io.outSeq[1], unit.set.overrides()], [0, []], 'nothing waits in the image');
  connect(plan);
  t.strictSame(attempt(), Array(3).fill('outputs_withheld'), 'as the scan has latched it');
  unit.scan();
  unit.swap({ ...plan, revision: 2 });
  t.strictSame(attempt(), Array(3).fill('ok'), 'a new plan goes on with what is known');
  unit.scan();
  t.strictSame([io.held[0], io.held[1], io.out[0], io.out[1]], [1, 0, 7, 7], 'the override is held, the order given once');
});

t.test('Q-TAG-01: what was never measured has no value; what was measured keeps its last one', async (t) => {
  const channelTag: TagPlan = { address: 'm.level', network: 'm', name: 'level', type: 'REAL', writable: false, cyclic: true, binding: { kind: 'channel', image: 0, channel: 0 } };
  const onTag: TagPlan = { ...channelTag, address: 'm.on', name: 'on', type: 'BOOL', binding: { kind: 'channel', image: 0, channel: 1 } };
  const plan = unitPlan({
    images: [image('io', 'level input', 'on input bool')],
    tags: [channelTag, onTag, ...tags('m.pv ai.OUT REAL')],
    networks: [network({ name: 'm', blocks: [{ name: 'ai', type: 'AI', params: { addr: '' } }], channels: [{ block: 'ai', image: 0, channel: 0 }] })],
  });
  const unit = new Unit(plan);
  const shown = (): unknown[] => {
    const [values, times, quality] = [new Float64Array(3), new Float64Array(3), new Uint8Array(3)];
    unit.set.publish(values, times, quality, unit.nowMs);
    return [...values].map((value, n) => [unit.set.show(n, value), QUALITY_WORDS[at(quality, n)]]);
  };
  unit.scan();
  t.strictSame(shown(), Array(3).fill([null, 'Bad']));
  unit.sample(plan, 0, 42);
  unit.sample(plan, 1, 1);
  unit.scan();
  t.strictSame(shown(), [
    [42, 'Good'],
    [true, 'Good'],
    [42, 'Good'],
  ]);
  unit.sample(plan, 0, 42, QUALITY.Bad);
  unit.scan();
  t.strictSame((shown() as unknown[][])[0], [42, 'Bad']);
});

const COUNT: readonly BlockSpec[] = [
  { name: 'ctu', type: 'CTU', params: { PV: 5 } },
  { name: 'tot', type: 'TOTALIZER', params: { IN: 10 } },
  { name: 'dead', type: 'DEADTIME', params: { IN: 3, delay: 'T#300ms' } },
];

t.test('Q-PROG-03: a hot swap keeps the state of blocks whose name and type are unchanged', async (t) => {
  const bound = tags('p.total tot.OUT REAL', 'p.cv ctu.CV INT', 'p.cu ctu.CU BOOL w', 'p.late dead.OUT REAL');
  const unit = new Unit(unitPlan({ tags: bound, networks: [network({ name: 'p', blocks: COUNT })] }));
  unit.scan(2);
  unit.write('p.cu', true);
  unit.scan(8);
  t.strictSame([unit.get('p.total'), unit.get('p.cv')], [10, 1]);
  unit.swap(
    unitPlan({
      tags: [...bound, ...tags('p.more add.OUT REAL')],
      networks: [
        network({
          name: 'p',
          hash: 'h2',
          blocks: [
            { name: 'add', type: 'ADD', params: { IN1: 1 } },
            { name: 'tot', type: 'TOTALIZER', params: { IN: 20 } },
            at(COUNT, 0),
            { name: 'dead', type: 'MOVE', params: { IN: 9 } },
          ],
          connections: wires('tot.OUT > add.IN2'),
        }),
      ],
    }),
  );
  t.equal(unit.get('p.total'), 10, 'outputs stand before the first scan');
  t.match(unit.set.saveRetained(), { p: { hash: 'h2', blocks: { tot: { total: 10 }, ctu: { cv: 1, CU: true } } } }, 'the kept values are saved under the new hash');
  unit.scan();
  t.strictSame([unit.get('p.total'), unit.get('p.more'), unit.get('p.cv'), unit.get('p.cu')], [12, 13, 1, true], 'CU stayed TRUE: no new edge');
  t.equal(unit.get('p.late'), 9, 'a block of another type starts anew');
});

t.test('Decisions 3.8: retained values go out when they change and come back under the same hash only', async (t) => {
  const bound = [
    ...tags('p.total tot.OUT REAL', 'p.cu ctu.CU BOOL w', 'p.sp pid.SP REAL w', 'p.man pid.MAN REAL', 'p.pv pid.PV REAL w'),
    { address: 'p.note', network: 'p', name: 'note', type: 'STRING' as const, writable: true, cyclic: true, binding: { kind: 'stored' as const, initial: '' } },
  ];
  const plan = unitPlan({ tags: bound, networks: [network({ name: 'p', blocks: [...COUNT, { name: 'pid', type: 'PID', params: { SP: 40, ti: 'T#10s' } }] })] });
  const unit = new Unit(plan);
  t.equal(unit.set.saveRetained(), undefined, 'nothing changed');
  unit.scan(3);
  unit.write('p.sp', 45);
  unit.write('p.note', 'batch 7');
  unit.scan();
  const saved = unit.set.saveRetained();
  t.match(saved, { p: { hash: 'h1', blocks: { tot: { total: 4 }, pid: { SP: 45 }, '': { note: 'batch 7' } } } });
  t.notOk(saved?.p?.blocks.ctu?.CU !== undefined, 'an input nobody wrote is not retained');
  const again = new Unit({ ...plan, retained: saved ?? {} });
  t.strictSame([again.get('p.sp'), again.get('p.note')], [45, 'batch 7']);
  again.scan();
  t.equal(again.get('p.total'), 5);
  const other = new Unit({ ...plan, retained: { p: { hash: 'other', blocks: saved?.p?.blocks ?? {} } } });
  t.equal(other.get('p.sp'), 40);
});

t.test('Decisions 2.4 and 5.1 rule 4: input bindings see this scan, slower networks run on their own period', async (t) => {
  const gate = (name: string, source: number | undefined): Parameters<typeof network>[0] => ({
    name,
    shape: 'gate',
    blocks: [{ name: 'move', type: 'MOVE' }],
    variables: [{ name: 'in', dataType: 'Float', direction: 'input' }],
    variableBindings: [{ variable: 'in', blockRef: 'move', portRef: 'IN' }],
    inputs: source === undefined ? [{ variable: 'in', value: 7 }] : [{ variable: 'in', tag: source }],
  });
  const plan = unitPlan({
    tags: tags('a.out move.OUT REAL', 'b.out move.OUT REAL', 'c.out move.OUT REAL', 'slow.total tot.OUT REAL'),
    networks: [
      network(gate('a', undefined)),
      network(gate('b', 0)),
      network(gate('c', 1)),
      network({ name: 'slow', owner: 'program', scanIntervalMs: 300, blocks: [{ name: 'tot', type: 'TOTALIZER', params: { IN: 10 } }] }),
    ],
  });
  const unit = new Unit(plan);
  unit.scan();
  t.strictSame([unit.get('a.out'), unit.get('b.out'), unit.get('c.out')], [7, 7, 7], 'three modules of one template, each behind its source');
  t.equal(unit.get('slow.total'), 3, 'one period of 300 ms');
  unit.scan(2);
  t.equal(unit.get('slow.total'), 3);
  unit.scan();
  t.equal(unit.get('slow.total'), 6);
  unit.scan(1, 6);
  t.equal(unit.get('slow.total'), 12, 'missed periods count in dt');
  unit.scan(1, 600);
  t.equal(unit.get('slow.total'), 42, 'at most ten of them');
});

t.test('PROG-14: a network that cannot be loaded is in Error and its tags are Bad', async (t) => {
  const unit = new Unit(
    unitPlan({
      tags: tags('x.out b.OUT REAL w'),
      networks: [network({ name: 'x', blocks: [{ name: 'b', type: 'NOPE' }] }), network({ name: 'y', blocks: [{ name: 'b', type: 'CONST', params: { value: 1 } }] })],
    }),
  );
  t.match(unit.set.reports(), [
    { network: 'x', state: 'Error', message: 'block b: there is no block type NOPE; GET /api/v1/blocktypes lists those there are' },
    { network: 'y', state: 'Running' },
  ]);
  unit.scan();
  t.strictSame([unit.get('x.out'), unit.quality('x.out'), unit.write('x.out', 1)], [null, 'Bad', 'write_failed']);
});

t.test('TAG-12 TAG-13: while a network does not run, the tag of its I/O block is what the driver delivers: unscaled, Raw, Bad when the driver says so', async (t) => {
  const plan = unitPlan({
    images: [image('io', 'tt input')],
    tags: tags('m.pv ai.OUT REAL', 'm.twice twice.OUT REAL'),
    networks: [
      network({
        name: 'm',
        blocks: [
          { name: 'ai', type: 'AI', params: { addr: '', rawMin: 4, rawMax: 20, engMax: 100 } },
          { name: 'twice', type: 'NOPE' },
        ],
        channels: [{ block: 'ai', image: 0, channel: 0 }],
      }),
    ],
  });
  const unit = new Unit(plan);
  unit.sample(plan, 0, 12);
  unit.scan();
  t.strictSame([unit.get('m.pv'), unit.quality('m.pv'), unit.get('io:tt'), unit.quality('io:tt')], [12, 'Raw', 12, 'Good'], '12 mA, not 50 %');
  t.strictSame([unit.get('m.twice'), unit.quality('m.twice')], [null, 'Bad'], 'what only the network computes nobody has');
  const [values, times, qualities] = [new Float64Array(2), new Float64Array(2), new Uint8Array(2)];
  unit.set.publish(values, times, qualities, unit.nowMs);
  t.strictSame([values[0], qualities[0]], [12, QUALITY.Raw], 'so it is served');
  unit.nowMs += 5000;
  unit.scan();
  t.equal(unit.quality('m.pv'), 'Bad', 'a driver that says nothing any more');
  t.equal(unit.write('m.pv', 1), 'read_only_tag');
});

t.test('D-PROG-03: a bypassed interlock lets pass and counts its shadow trips', async (t) => {
  const plan = unitPlan({
    tags: tags('m.ok ilk.OK BOOL', 'm.tripped ilk.TRIPPED BOOL', 'm.in ilk.IN1 BOOL w'),
    networks: [network({ name: 'm', blocks: [{ name: 'ilk', type: 'INTERLOCK' }] })],
  });
  const unit = new Unit(plan);
  unit.set.setBypass('m', true);
  unit.scan();
  unit.write('m.in', false);
  unit.scan();
  t.strictSame([unit.get('m.ok'), unit.get('m.tripped'), unit.set.takeShadowTrips()], [true, true, [{ module: 'm', block: 'ilk' }]]);
  unit.set.setBypass('m', false);
  unit.scan();
  t.strictSame([unit.get('m.ok'), unit.set.takeShadowTrips()], [false, []]);
});

t.test('ADR 0030: a latched fault is reset at rest, and what would move at once only when it may', async (t) => {
  const plan = unitPlan({
    tags: tags('m.cmd v.CMD BOOL w', 'm.fbo v.FBO BOOL w', 'm.fbc v.FBC BOOL w', 'm.fault v.FAULT BOOL', 'm.out v.OUT BOOL'),
    networks: [network({ name: 'm', blocks: [{ name: 'v', type: 'VALVE', params: { openTime: 'T#200ms', closeTime: 'T#200ms', stickTime: 'T#100ms' } }] })],
  });
  const unit = new Unit(plan);
  const reset = (moves = false) => {
    unit.set.askReset(1, 'm', moves);
    unit.scan();
    return unit.set.takeResets();
  };
  unit.write('m.fbc', true);
  unit.scan(2);
  t.strictSame(reset(), [{ id: 1, isLoaded: true, blocks: [] }], 'nothing is in fault');
  unit.write('m.cmd', true);
  unit.scan(8);
  t.strictSame([unit.get('m.fault'), unit.get('m.out')], [true, false], 'it did not open, and has its fail position');
  t.strictSame(reset(), [{ id: 1, isLoaded: true, blocks: [{ block: 'v', outcome: 'would-move' }] }]);
  t.equal(unit.get('m.fault'), true);
  unit.write('m.fbc', false);
  t.strictSame(reset(true), [{ id: 1, isLoaded: true, blocks: [{ block: 'v', outcome: 'not-at-rest' }] }]);
  unit.write('m.fbc', true);
  t.strictSame(reset(true), [{ id: 1, isLoaded: true, blocks: [{ block: 'v', outcome: 'reset' }] }]);
  unit.scan();
  t.strictSame([unit.get('m.fault'), unit.get('m.out')], [false, true], 'and it obeys its command again');
  unit.write('m.cmd', false);
  unit.scan(8);
  unit.write('m.fbc', false);
  unit.scan(8);
  t.equal(unit.get('m.fault'), true);
  unit.write('m.fbc', true);
  t.strictSame(reset(), [{ id: 1, isLoaded: true, blocks: [{ block: 'v', outcome: 'reset' }] }], 'without a command it stays where it is');
  t.strictSame(unit.set.takeResets(), []);
});

t.test('ADR 0030: of two people who press it in one scan each has his own answer, and nothing is reset for who waits no longer', async (t) => {
  const valve = (name: string, more: object = {}) =>
    network({ name, blocks: [{ name: 'v', type: 'VALVE', params: { openTime: 'T#200ms', closeTime: 'T#200ms', stickTime: 'T#100ms' } }], ...more });
  const ports = (name: string) => [`${name}.cmd v.CMD BOOL w`, `${name}.fbc v.FBC BOOL w`, `${name}.fault v.FAULT BOOL`, `${name}.out v.OUT BOOL`];
  const faulted = (plan: UnitPlan, name: string): Unit => {
    const unit = new Unit(plan);
    unit.write(`${name}.fbc`, true);
    unit.scan(20);
    unit.write(`${name}.cmd`, true);
    unit.scan(80);
    t.equal(unit.get(`${name}.fault`), true);
    return unit;
  };
  const outcome = (id: number, word: string) => ({ id, isLoaded: true, blocks: [{ block: 'v', outcome: word }] });
  const unit = faulted(unitPlan({ tags: tags(...ports('m')), networks: [valve('m')] }), 'm');
  unit.set.askReset(1, 'm', false);
  unit.set.askReset(2, 'm', true);
  unit.scan();
  t.strictSame(unit.set.takeResets(), [outcome(1, 'would-move')], 'who has not said that it may move has not moved it');
  t.equal(unit.get('m.fault'), true);
  unit.scan(2);
  t.strictSame(unit.set.takeResets(), [outcome(2, 'reset')]);
  t.equal(unit.get('m.out'), true);
  unit.set.askReset(3, 'elsewhere', false);
  t.strictSame(unit.set.takeResets(), [{ id: 3, isLoaded: false, blocks: [] }], 'of what is not executed nobody knows whether it is in fault');

  const slow = faulted(unitPlan({ tags: tags(...ports('s')), networks: [valve('s', { scanIntervalMs: 1000 })] }), 's');
  slow.scan(3); // its own turn comes later
  slow.set.askReset(1, 's', true);
  slow.set.askReset(2, 's', true);
  slow.set.withdrawReset(2);
  slow.scan();
  slow.set.withdrawReset(1);
  t.strictSame(slow.set.takeResets(), [outcome(1, 'no-answer')]);
  slow.scan(30);
  t.strictSame([slow.get('s.fault'), slow.get('s.out'), slow.set.takeResets()], [true, false, []], 'it is not carried out later');
});

t.test('CMT-03, PROG-10: what keeps a network from being loaded is named with its place', async (t) => {
  const check = (blocks: readonly BlockSpec[], connections: readonly string[] = [], composites: readonly CompositeType[] = []): string[] =>
    validateNetwork(blocks, wires(...connections), [], [], composites).map((problem) => `${problem.path}: ${problem.message}`);
  t.strictSame(check([{ name: 'a', type: 'TON', params: { PT: 'T#5s', IN: true } }]), []);
  t.strictSame(check([{ name: 'a', type: 'TON', params: { PT: 5 } }]), ['blocks[0].params.PT: block a: 5 is no TIME for input PT']);
  t.strictSame(check([{ name: 'a', type: 'AI' }]), ['blocks[0].params.addr: block a: parameter addr is required']);
  t.strictSame(check([{ name: 'a', type: 'AI', params: { addr: '', speed: 1 } }]), ['blocks[0].params.speed: block a: AI has no parameter or input speed']);
  t.strictSame(check([{ name: 'a', type: 'PID', params: { action: 'sideways' } }]), ['blocks[0].params.action: block a: action is one of reverse, direct, not "sideways"']);
  t.match(
    check([
      { name: 'a', type: 'NOT' },
      { name: 'A', type: 'NOT' },
    ]),
    [/blocks\[1\]\.name: block name A is used twice/],
  );
  t.match(
    check(
      [
        { name: 'a', type: 'NOT' },
        { name: 'b', type: 'ADD' },
      ],
      ['a.OUT > b.IN1'],
    ),
    [/connections\[0\]: a\.OUT is BOOL, but b\.IN1 takes INT or REAL/],
  );
  t.match(
    check(
      [
        { name: 'a', type: 'NOT' },
        { name: 'b', type: 'NOT' },
      ],
      ['a.Q > b.IN', 'a.OUT > b.IN', 'b.OUT > b.IN'],
    ),
    [/connections\[0\]\.sourcePort/, /connections\[2\]: input b\.IN is connected twice/],
  );
  t.match(
    check(
      [
        { name: 'a', type: 'NOT' },
        { name: 'b', type: 'TON' },
        { name: 'c', type: 'TON' },
      ],
      ['a.OUT > b.IN', 'b.ET > c.PT'],
    ),
    [/input c\.PT must be a constant/],
  );
  t.match(check([{ name: 'a', type: 'DEADTIME', params: { delay: '2h' } }]), [/delay is 72000 scans/]);
  t.match(check([{ name: 'g', type: 'heat-guard', params: { levelMin: 'low' } }], [], [HEAT_GUARD]), [/blocks\[0\]\.params\.levelMin: block g: "low" is no REAL for levelMin/]);
  t.match(check([{ name: 'g', type: 'loop' }], [], [{ ...HEAT_GUARD, name: 'loop', blocks: [{ name: 'x', type: 'loop' }], inputBindings: [], outputBindings: [] }]), [
    /contains itself/,
  ]);
  t.match(validateNetwork([], [], [{ name: 'v', dataType: 'REAL', direction: 'output' }], [{ variable: 'v', blockRef: 'gone', portRef: 'OUT' }]), [
    { path: 'variableBindings[0].blockRef' },
  ]);
});

t.test('Decisions 1.6: the catalogue describes all 76 built-in types and composites', async (t) => {
  t.equal(BLOCK_TYPE_NAMES.length, 76);
  t.match(blockType('TON'), {
    family: 'timers',
    inputs: [
      { name: 'IN', type: 'BOOL' },
      { name: 'PT', type: 'TIME', constant: true, default: 'T#0s' },
    ],
  });
  t.equal(blockType('ADD')?.inputs.filter((port) => port.extensible).length, 6);
  const entries = blockTypeEntries([HEAT_GUARD]);
  t.match(entries.at(-1), { name: 'heat-guard', kind: 'composite' });
  t.match(
    entries.find((entry) => entry.name === 'VALVE'),
    { kind: 'builtin', stateWords: ['Closed', 'Opening', 'Open', 'Closing', 'Fault', 'Interlocked'] },
  );
  const find = portLookup({
    blocks: [
      { name: 'a', type: 'CONST', params: { value: 2 } },
      { name: 'b', type: 'MOVE' },
    ],
    connections: wires('a.OUT > b.IN'),
  });
  t.strictSame([find('b', 'IN'), find('b', 'OUT'), find('b', 'X')], [{ direction: 'input', type: 'INT', fed: true }, { direction: 'output', type: 'INT', fed: false }, undefined]);
});

interface DemoTemplate {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly blocks?: BlockSpec[];
    readonly dataConnections?: ReturnType<typeof wires>;
    readonly inputs: { readonly name: string; readonly dataType: string }[];
    readonly variableBindings?: [];
  };
}

t.test('CMT-02: every template of the demonstration plant can be loaded', async (t) => {
  const manifests = JSON.parse(readFileSync(new URL('../../../demo/30-control-templates.json', import.meta.url), 'utf8')) as DemoTemplate[];
  const composites = manifests.filter((entry) => entry.kind === 'FunctionBlockType').map((entry) => ({ name: entry.metadata.name, ...entry.spec }) as unknown as CompositeType);
  for (const { metadata, spec } of manifests.filter((entry) => entry.kind === 'ControlModuleTemplate' && entry.spec.blocks)) {
    const variables = spec.inputs.map((input) => ({ name: input.name, dataType: input.dataType, direction: 'input' as const }));
    t.strictSame(validateNetwork(spec.blocks ?? [], spec.dataConnections ?? [], variables, spec.variableBindings, composites), [], metadata.name);
  }
});

t.test('Performance E: a scan allocates nothing', async (t) => {
  const blocks: BlockSpec[] = [
    { name: 'ai', type: 'AI', params: { addr: '', rawMax: 100, engMax: 100, filter: '1s' } },
    { name: 'pid', type: 'PID', params: { kp: 2, ti: '10s', SP: 50 } },
    { name: 'ton', type: 'TON', params: { IN: true, PT: '1s' } },
    { name: 'v', type: 'VALVE', params: { CMD: true } },
    { name: 'div', type: 'DIV' },
    { name: 'ao', type: 'AO', params: { addr: '' } },
  ];
  const plan = unitPlan({
    images: [image('io', 'tt input', 'out output')],
    tags: tags('m.pv ai.OUT REAL', 'm.out ao.OUT REAL w', 'm.state v.STATE STRING'),
    networks: [
      network({
        name: 'm',
        blocks,
        connections: wires('ai.OUT > pid.PV', 'pid.OUT > ao.IN'),
        channels: [
          { block: 'ai', image: 0, channel: 0 },
          { block: 'ao', image: 0, channel: 1 },
        ],
      }),
    ],
  });
  const unit = new Unit(plan);
  unit.sample(plan, 0, 40);
  const values = new Float64Array(3);
  const timestamps = new Float64Array(3);
  const quality = new Uint8Array(3);
  const run = (scans: number): void => {
    for (let n = 0; n < scans; n += 1) {
      unit.set.latch(1_000_200);
      unit.set.scan(1);
      unit.set.drive(1_000_200);
      unit.set.publish(values, timestamps, quality, 1_000_200);
    }
  };
  run(20_000);
  const spent: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    const before = getHeapStatistics().used_heap_size;
    run(100_000);
    spent.push((getHeapStatistics().used_heap_size - before) / 100_000);
  }
  const least = Math.min(...spent.filter((bytes) => bytes >= 0));
  t.ok(least < 1, `${least} bytes a scan, a permanently faulted block included`);
});

/** Required parameters of a type, so that it can be loaded. */
function required(name: string): Record<string, string | number> {
  const texts: Record<string, string> = { x: '0,1', y: '0,1' };
  return Object.fromEntries(
    (blockType(name)?.params ?? []).filter((param) => param.required).map((param) => [param.name, param.type === 'STRING' ? (texts[param.name] ?? '') : 1]),
  );
}

const TYPED: Record<string, BlockSpec> = {
  BOOL: { name: 'src-bool', type: 'NOT' },
  INT: { name: 'src-int', type: 'TO_INT' },
  REAL: { name: 'src-real', type: 'LAG' },
  TIME: { name: 'src-time', type: 'CONST', params: { value: 'T#1s' } },
  STRING: { name: 'src-text', type: 'CONST', params: { value: 'TRUE' } },
};

t.test('D-CAT-01: every block type runs with its ports connected, written, overridden and left alone', async (t) => {
  for (const name of BLOCK_TYPE_NAMES) {
    const block = blockType(name);
    if (!block) continue;
    for (const generic of ['REAL', 'INT', 'BOOL', 'TIME', 'STRING'] as const) {
      const anyPorts = [...block.inputs, ...block.outputs].some((port) => port.type === 'ANY');
      if (generic !== 'REAL' && !(anyPorts || (generic === 'INT' && block.inputs.some((port) => port.type === 'NUM')))) continue;
      const typeOf = (type: string): 'REAL' | 'INT' | 'BOOL' | 'TIME' | 'STRING' => (type === 'ANY' || type === 'NUM' ? generic : (type as 'REAL'));
      const spec = { name: 'b', type: name, params: name === 'CONST' ? { value: 1 } : required(name) };
      const connected = wires(...block.inputs.filter((port) => !port.constant).map((port) => `${at(TYPED, typeOf(port.type)).name}.OUT > b.${port.name}`));
      const overridden = name === 'CONST' ? [] : block.outputs.map((port) => `n.${port.name} b.${port.name} ${typeOf(port.type)} w`);
      const written = block.inputs.map((port) => `n.${port.name}-in b.${port.name} ${typeOf(port.type)} w`);
      const plans = [
        unitPlan({ networks: [network({ name: 'n', blocks: [...Object.values(TYPED), spec], connections: connected })] }),
        unitPlan({ tags: tags(...written, ...overridden), moduleModes: { n: 'Manual' }, networks: [network({ name: 'n', blocks: [spec] })] }),
      ];
      for (const [index, plan] of plans.entries()) {
        if (name === 'CONST' && generic !== 'REAL') continue;
        const unit = new Unit(plan);
        const problem = at(unit.set.reports(), 0).message;
        if (['GT', 'GE', 'LT', 'LE'].includes(name) && generic === 'BOOL') {
          t.match(problem, /does not take BOOL/);
          continue;
        }
        if (problem !== '') {
          t.fail(`${name} of ${generic}, form ${index}: ${problem}`);
          continue;
        }
        for (const tag of plan.tags) unit.write(tag.address, tag.type === 'BOOL' ? true : tag.type === 'STRING' ? 'TRUE' : 1);
        t.doesNotThrow(() => unit.scan(3), `${name} of ${generic}, form ${index}`);
      }
    }
  }
});
