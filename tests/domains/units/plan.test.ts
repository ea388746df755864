/** From what is engineered to what the worker does: plans built from the store and run as the worker runs them. */
import t from 'tap';
import { NetworkSet } from '../../../runtime/network/network-set.js';
import { TextTable } from '../../../runtime/network/texts.js';
import type { ImagePlan, UnitPlan } from '../../../runtime/port.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { touchesPlan } from '../../../src/domains/control-modules/modules.js';
import { planContent, withTable } from '../../../src/domains/units/plan.js';
import { LocalRuntimes } from '../../../src/domains/placement/local-runtimes.js';
import { UnitReconciler } from '../../../src/domains/units/reconciler.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { eventually } from '../../support/api-client.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { image, SETTINGS } from '../../runtime/network/plans.js';
import { at } from '../../support/at.js';
import { testLog } from '../../support/test-log.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const MODULES = '/api/v1/sites/north/controlmodules';
const did = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
};
await did(engineer.post('/api/v1/sites', { name: 'north' }));
await did(engineer.post('/api/v1/sites/north/units', { name: 'r1' }));

const IO: ImagePlan = image('io-1', 'polled input', 'event input', 'direct input');
let revision = 0;

function planNow(): UnitPlan {
  const content = planContent('north', 'r1', { read: plant.store, image: (name) => (name === 'io-1' ? IO : undefined), settings: SETTINGS, timeScale: 1, retained: {} });
  if (!content) throw new Error('unit r1 has no plan');
  revision += 1;
  return withTable(content, revision, {});
}

const load = (plan: UnitPlan, previous?: NetworkSet): NetworkSet => new NetworkSet(plan, { texts: new TextTable(), clockMs: () => 0, ...(previous && { previous }) });

function scan(set: NetworkSet, nowMs: number): void {
  set.latch(nowMs);
  set.scan(1);
}

const qualityOf = (set: NetworkSet, address: string): string => at(QUALITY_WORDS, set.quality(set.slot(address)));

t.test('CMT-09, CMT-10: an onChange tag is not judged stale by age, a cyclic one is; empty reads as cyclic', async (t) => {
  const tags = [
    { name: 'polled', dataType: 'Float', blockRef: 'a', portRef: 'OUT' },
    { name: 'event', dataType: 'Float', blockRef: 'b', portRef: 'OUT', publishMode: 'onChange' },
    { name: 'direct', dataType: 'Float', channel: 'io-1:direct', publishMode: 'onChange' },
  ];
  const ai = (name: string, channel: string) => ({ name, type: 'AI', params: { addr: `io-1:${channel}`, rawMin: 0, rawMax: 100, engMin: 0, engMax: 100 } });
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'inputs', blocks: [ai('a', 'polled'), ai('b', 'event')], tags }));
  await did(engineer.post(MODULES, { name: 'm', templateRef: 'inputs', parentName: 'r1' }));
  const plan = planNow();
  t.same(
    plan.tags.map(({ name, cyclic }) => [name, cyclic]),
    [
      ['polled', true],
      ['event', false],
      ['direct', false],
    ],
  );
  const set = load(plan);
  const io = new ProcessImage(IO.channels.length, IO.buffer);
  const sampledAtMs = 1_000_000;
  io.beginInputs();
  for (let channel = 0; channel < 3; channel += 1) {
    io.value[channel] = 50;
    io.quality[channel] = 0;
    io.stamp(channel, sampledAtMs, sampledAtMs);
  }
  io.endInputs();
  const states = (afterMs: number): readonly unknown[] => {
    scan(set, sampledAtMs + afterMs);
    return ['m.polled', 'm.event', 'm.direct'].flatMap((address) => [qualityOf(set, address), set.stale(set.slot(address))]);
  };
  t.same(states(100), ['Good', false, 'Good', false, 'Good', false]);
  t.same(states(IO.staleAfterMs + 100), ['Uncertain', true, 'Good', false, 'Good', false]);
  t.same(states(10 * IO.staleAfterMs), ['Bad', true, 'Good', false, 'Good', false]);

  const values = new Float64Array(3);
  const stamps = new Float64Array(3);
  set.publish(values, stamps, new Uint8Array(3), 5_000_000);
  set.publish(values, stamps, new Uint8Array(3), 6_000_000);
  t.same([stamps[0], stamps[1]], [6_000_000, 5_000_000], 'a cyclic value carries the time of its scan, an onChange one that of its change');
});

t.test('CMT-05, CMT-07, decisions Q-PROG-13: bounds are literals, expressions, or parameters, after the overrides of the instance', async (t) => {
  const bounds = [
    ['literal', '-5', '7.5e1'],
    ['expression', '${-ABS(lim.MX - lim.MN) / 2.0}', '${lim.MX + 10.0 MOD 4.0}'],
    ['parameter', 'lim.MN', 'lim.MX'],
    ['open', '', ''],
    ['nothing', '${1.0 / lim.MN}', 'lim.MX'],
  ];
  const tags = bounds.map(([name, engMin, engMax]) => ({ name, dataType: 'Float', accessLevel: 'readwrite', engMin, engMax }));
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'bounds', blocks: [{ name: 'lim', type: 'LIMIT', params: { MN: 0, MX: 40 } }], tags }));
  await did(engineer.post(MODULES, { name: 'b', templateRef: 'bounds', parentName: 'r1' }));
  const limits = () =>
    planNow()
      .tags.filter((tag) => tag.network === 'b')
      .map(({ engMin, engMax }) => [engMin, engMax]);
  t.same(limits(), [
    [-5, 75],
    [-20, 42],
    [0, 40],
    [undefined, undefined],
    [undefined, 40],
  ]);
  await did(
    engineer.post('/api/v1/apply', {
      apiVersion: 'physical.lineside.io/v1alpha1',
      kind: 'ControlModule',
      metadata: { name: 'b', namespace: 'site-north' },
      spec: { templateRef: 'bounds', parentName: 'r1', paramOverrides: [{ blockRef: 'lim', param: 'MX', value: 60 }] },
    }),
  );
  t.same(limits()[2], [0, 60]);
  const set = load(planNow());
  const write = (tag: string, value: number): string => set.write(set.slot(`b.${tag}`), value)?.code ?? 'written';
  t.same([write('parameter', 60), write('parameter', 61), write('open', 1e12), write('nothing', -1e12)], ['written', 'out_of_range', 'written', 'written']);
});

t.test('CMT-05: a bound may name a parameter of a composite block that the template leaves at its default', async (t) => {
  await did(
    engineer.post('/api/v1/fbblocktypes', {
      name: 'guard',
      inputs: [{ name: 'LEVEL', dataType: 'REAL' }],
      outputs: [{ name: 'OK', dataType: 'BOOL' }],
      params: [{ name: 'min', dataType: 'REAL', defaultValue: '12.5' }],
      blocks: [{ name: 'ge', type: 'GE', params: { IN2: 10.5 } }],
      inputBindings: [{ port: 'LEVEL', blockRef: 'ge', portRef: 'IN1' }],
      outputBindings: [{ port: 'OK', blockRef: 'ge', portRef: 'OUT' }],
      paramBindings: [{ param: 'min', blockRef: 'ge', blockParam: 'IN2' }],
    }),
  );
  const tags = [{ name: 'sp', dataType: 'Float', accessLevel: 'readwrite', engMin: 'g.min' }];
  t.match(await engineer.post('/api/v1/controlmoduletemplates', { name: 'wrong', blocks: [{ name: 'g', type: 'guard' }], tags: [{ ...tags[0], engMin: 'g.none' }] }), {
    status: 400,
    body: { field: 'tags[0].engMin' },
  });
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'guarded', blocks: [{ name: 'g', type: 'guard' }], tags }));
  await did(engineer.post(MODULES, { name: 'g', templateRef: 'guarded', parentName: 'r1' }));
  t.match(
    planNow().tags.find((tag) => tag.address === 'g.sp'),
    { engMin: 12.5 },
  );
  t.match((await engineer.get(`${MODULES}/g`)).body.effectiveTags, [{ name: 'sp', engMin: '12.5' }]);
});

t.test('PROG-08, PROG-13, decisions Q-PROG-05: a program that apply stored with an unreadable interval does not run, and says why', async (t) => {
  const apply = (name: string, scanInterval: unknown) =>
    did(
      engineer.post('/api/v1/apply', {
        apiVersion: 'control.lineside.io/v1alpha1',
        kind: 'ControlProgram',
        metadata: { name, namespace: 'site-north' },
        spec: { unitRef: 'r1', scanInterval, blocks: [{ name: 'one', type: 'CONST', params: { value: 1 } }] },
      }),
    );
  await apply('p-empty', '');
  await apply('p-often', 'often');
  await apply('p-bare', 250);
  await apply('p-fast', '1ms');
  const plan = planNow();
  t.same(
    plan.networks.filter(({ owner }) => owner === 'program').map(({ name, scanIntervalMs }) => [name, scanIntervalMs]),
    [
      ['p-bare', 250],
      ['p-empty', 0],
      ['p-fast', 10],
      ['p-often', 0],
    ],
    'and none scans faster than every 10 ms',
  );
  t.match(plan, { scanIntervalMs: 10, chartIntervalMs: 100 });
  const reports = load(plan)
    .reports()
    .filter(({ network }) => network.startsWith('p-'));
  t.match(reports, [{ state: 'Running' }, { state: 'Error', message: /interval/ }, { state: 'Running', message: /runs every 10ms: .* 1ms is no multiple/ }, { state: 'Error' }]);
  for (const name of ['p-fast', 'p-bare']) await did(engineer.delete(`/api/v1/sites/north/fbnetworks/${name}`)); // with them a scan of this unit is 10 ms
});

t.test('PROG-07, decisions 1.5: networks have their own interval, faster than the unit or between its scans', async (t) => {
  await did(engineer.post('/api/v1/sites/north/units', { name: 'r2' }));
  const program = (name: string, scanInterval: string, blocks: readonly object[]) =>
    did(engineer.post('/api/v1/sites/north/fbnetworks', { metadata: { name }, spec: { unitRef: 'r2', scanInterval, blocks } }));
  const blink = { name: 'b', type: 'BLINK', params: { on: '50ms', off: '50ms' } };
  await program('q-fast', '50ms', [blink]);
  await program('q-odd', '250ms', [blink]);
  await program('q-unit', '100ms', [blink]);
  const content = planContent('north', 'r2', { read: plant.store, image: () => undefined, settings: SETTINGS, timeScale: 1, retained: {} })!;
  t.match(content, {
    scanIntervalMs: 50,
    chartIntervalMs: 100,
    networks: [
      { name: 'q-fast', scanIntervalMs: 50 },
      { name: 'q-odd', scanIntervalMs: 250 },
      { name: 'q-unit', scanIntervalMs: 100 },
    ],
  });
  const set = load(withTable(content, 1, {}));
  for (let n = 0; n < 20; n += 1) scan(set, n * content.scanIntervalMs);
  const count = (name: string): number => (set.inspect(name) as { scanCount: number }).scanCount;
  t.same(['q-fast', 'q-odd', 'q-unit'].map(count), [20, 4, 10], 'in a second');
});

t.test('D-UNIT-02: what a program is wired to and is not there stands in its message', async (t) => {
  await did(engineer.post('/api/v1/sites/north/units', { name: 'r3' }));
  const admin = await plant.as('admin');
  await did(admin.post('/api/v1/sites/north/controllers', { name: 'box', simulation: true }));
  await did(
    admin.post('/api/v1/sites/north/iomodules', {
      name: 'io-3',
      protocol: 'simulation',
      controllerRef: 'box',
      channels: [{ name: 'in', address: 'in', direction: 'input', dataType: 'float' }],
    }),
  );
  const block = (name: string, type: string, addr: string) => ({ name, type, params: { addr } });
  await did(
    engineer.post('/api/v1/sites/north/fbnetworks', {
      metadata: { name: 'lost' },
      spec: {
        unitRef: 'r3',
        scanInterval: '100ms',
        blocks: [block('a', 'AI', 'gone:x'), block('b', 'AI', 'io-3:nochan'), block('c', 'AI', 'nonsense'), block('d', 'AO', 'io-3:in'), block('e', 'AI', 'io-3:in')],
        variables: [{ name: 'v', dataType: 'REAL', direction: 'input', source: 'nobody.pv' }],
      },
    }),
  );
  const content = planContent('north', 'r3', { read: plant.store, image: () => undefined, settings: SETTINGS, timeScale: 1, retained: {} })!;
  const { state, message } = at(load(withTable(content, 1, {})).reports(), 0);
  t.equal(state, 'Running');
  t.same(message.split('; '), [
    'block a needs I/O module gone, which does not exist',
    'block b needs channel nochan, which I/O module io-3 does not have',
    'block c has the address nonsense',
    'an address is <io module>:<channel>',
    'block d (AO) needs an output, and channel io-3:in is an input',
    'variable v reads tag nobody.pv, which the unit does not have',
  ]);
});

t.test('D-PROG-03: a bypass in force is in the plan, so that a worker that starts again and a hot swap know it', async (t) => {
  const tags = [
    { name: 'in', dataType: 'Boolean', accessLevel: 'readwrite', blockRef: 'ilk', portRef: 'IN1' },
    { name: 'ok', dataType: 'Boolean', blockRef: 'ilk', portRef: 'OK' },
  ];
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'locked', blocks: [{ name: 'ilk', type: 'INTERLOCK' }], tags }));
  await did(engineer.post(MODULES, { name: 'x', templateRef: 'locked', parentName: 'r1' }));
  const woken: boolean[] = [];
  plant.store.watch(ControlModule, (event) => woken.push(touchesPlan(event)));
  const bypass = (active: boolean) => {
    const { status } = plant.store.get(ControlModule, 'north', 'x')!;
    return plant.store.write({
      puts: [{ kind: ControlModule, site: 'north', name: 'x', status: { ...status, interlockBypass: { active, until: '', by: 'e', reason: 'r', interlocks: ['ilk'] } } }],
    });
  };
  const trip = (set: NetworkSet): unknown => {
    scan(set, 1000);
    set.write(set.slot('x.in'), false);
    scan(set, 1100);
    return set.read(set.slot('x.ok'));
  };
  t.equal(trip(load(planNow())), false);
  await bypass(true);
  const bypassed = load(planNow());
  t.equal(trip(bypassed), true, 'a new worker lets pass');
  t.same(bypassed.takeShadowTrips(), [{ module: 'x', block: 'ilk' }]);
  await bypass(false);
  const after = load(planNow(), bypassed);
  scan(after, 1200);
  t.equal(after.read(after.slot('x.ok')), false, 'and a swap ends what is no longer in force');
  t.same(woken, [true, true], 'both changes are a new plan');
});

t.test('MODE-01 ADR 0008: modes of modules are told one by one, and change no plan; of other changes two plans are under way at most', async (t) => {
  const runtimes = new LocalRuntimes({ clock: systemClock, log: testLog(), heapMb: 64, realtime: false });
  t.teardown(() => runtimes.stop());
  const loaded: number[] = [];
  runtimes.onMessage((_, message) => message.type === 'plan-loaded' && loaded.push(message.revision));
  const units = new UnitReconciler({ store: plant.store, clock: systemClock, runtimes, image: () => () => undefined, settings: SETTINGS, timeScale: () => 1, build: '' });
  await did(
    engineer.post('/api/v1/controlmoduletemplates', {
      name: 'moded',
      blocks: [{ name: 'a', type: 'ADD' }],
      tags: [
        { name: 'in', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'a', portRef: 'IN1' },
        { name: 'out', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'a', portRef: 'OUT' },
      ],
    }),
  );
  await did(engineer.post('/api/v1/sites/north/processcells', { name: 'train' }));
  await did(engineer.post('/api/v1/sites/north/units', { name: 'r9', processCellName: 'train' }));
  await did(engineer.post(MODULES, { name: 'moded1', templateRef: 'moded', parentName: 'r9' }));
  const look = () => units.reconcile({ site: 'north', name: 'r9' });
  await look();
  const link = runtimes.link('north', 'r9');
  if (!link) throw new Error('unit r9 has no link');
  await eventually('r9 is ready', async () => link.ready);
  const setMode = async (mode: 'Manual' | 'Automatic'): Promise<void> => {
    const { spec } = plant.store.get(ControlModule, 'north', 'moded1')!;
    plant.store.apply({ puts: [{ kind: ControlModule, site: 'north', name: 'moded1', spec: { ...spec, mode } } as never] });
    await look();
  };
  for (let n = 0; n < 50; n += 1) {
    await setMode('Automatic');
    await setMode('Manual');
  }
  t.match(await link.write('moded1.out', 3), { ok: true }, 'it is in Manual: an output can be overridden');
  await setMode('Automatic');
  t.match(await link.write('moded1.out', 3), { ok: false, code: 'write_failed' });
  t.equal(loaded.length, 1, 'one plan for all of that');
  await setMode('Manual');
  await link.restart();
  await eventually('r9 is ready again', async () => link.ready && link.epoch === 2);
  t.match(await link.write('moded1.out', 3), { ok: true }, 'the next runtime begins in the mode of now');

  for (let n = 1; n <= 20; n += 1) {
    const { spec } = plant.store.get(ControlModule, 'north', 'moded1')!;
    plant.store.apply({ puts: [{ kind: ControlModule, site: 'north', name: 'moded1', spec: { ...spec, paramOverrides: [{ blockName: 'a', param: 'IN2', value: n }] } } as never] });
    await look();
    t.ok(link.plansComing <= 2, `${link.plansComing} plans under way`);
  }
  await eventually('the last one is loaded', async () => (await look()) === 'settled' && link.plansComing === 0);
  await eventually('its parameter counts', async () => link.refresh() && link.write('moded1.in', 1).then(({ ok }) => ok));
});

t.test('what the last run of the box left of its units is not told as the case: before anybody is answered they are starting', async (t) => {
  await did(engineer.post('/api/v1/sites/north/units', { name: 'r10', processCellName: 'train' }));
  const statusOf = (name: string) => plant.store.get(Unit, 'north', name)!.status;
  const { runtime } = statusOf('r10');
  plant.store.apply({ puts: [{ kind: Unit, site: 'north', name: 'r10', status: { ...statusOf('r10'), runtime: { ...runtime, ready: true, message: '', epoch: 3 } } } as never] });
  const runtimes = new LocalRuntimes({ clock: systemClock, log: testLog(), heapMb: 64, realtime: false, startsMax: 1 });
  t.teardown(() => runtimes.stop());
  const units = new UnitReconciler({ store: plant.store, clock: systemClock, runtimes, image: () => () => undefined, settings: SETTINGS, timeScale: () => 1, build: '' });
  units.begin();
  t.match(statusOf('r10').runtime, { ready: false, message: 'starting', epoch: 3 });
  t.match(
    statusOf('r10').conditions.find(({ type }) => type === 'RuntimeReady'),
    { status: 'False', message: 'starting' },
  );
  const { resourceVersion } = plant.store;
  units.begin();
  t.equal(plant.store.resourceVersion, resourceVersion, 'what is so already is not written again');
  await Promise.all([units.reconcile({ site: 'north', name: 'r9' }), units.reconcile({ site: 'north', name: 'r10' })]);
  t.same(
    runtimes.links().map(({ unit }) => unit),
    ['r10', 'r9'],
  );
  await eventually('both scan', async () => runtimes.links().every(({ ready }) => ready));
});
