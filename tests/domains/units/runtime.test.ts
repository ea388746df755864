/** What can be seen and done inside a running unit, on the whole appliance (contract 3, Physical model and logic; decisions Q-UNIT-07, Q-UNIT-08). */
import t from 'tap';
import { WebSocket } from 'ws';
import { AT, LOCKED, LOOP, startSmallPlant } from './small-plant.js';

const plant = await startSmallPlant();
t.teardown(() => plant.end());
const { api } = plant;
const RUNTIME = `${AT}/units/r1/runtime`;
const REASON = 'asked for by the test';
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
type Body = any;

/** Late scans of a busy machine are no part of what is tested. */
const eventsOf = async (): Promise<Body[]> => (await api.get(`${RUNTIME}/events?limit=1000&order=asc`)).body.items.filter((event: Body) => event.reason !== 'ScanOverrun');
const networkOf = (body: Body[], name: string): Body => body.find((entry) => entry.name === name);

t.test('UNIT-10: the runtime runs as soon as a control module refers to an I/O module; nobody starts it', async (t) => {
  await plant.did(api.post('/api/v1/controlmoduletemplates', LOOP));
  await plant.did(api.post(`${AT}/controlmodules`, { name: 'tic1', parentName: 'r1', templateRef: 'loop', tags: [{ name: 'pv', channel: 'io-1:tt' }] }));
  await plant.until('units/r1', (unit) => unit.runtimeReady);
  t.match(await plant.until('units/r1/tags/tic1.pv', (tag) => tag.quality === 'Good'), { value: 42 });
});

t.test('Q-UNIT-07: status and programs tell what each network really does', async (t) => {
  const { body: status } = await api.get(`${RUNTIME}/status`);
  t.match(status, { unit: 'r1', ready: true, image: 'lineside 1.2.3', epoch: 1, scanInterval: '20ms', networks: [{ name: 'tic1', state: 'Running' }] });
  t.ok(status.networks[0].scanCount > 0, 'scans of the network are counted by the worker');
  await plant.until('units/r1/runtime/status', (later) => later.networks[0].scanCount > status.networks[0].scanCount);
  const [module] = (await api.get(`${RUNTIME}/programs`)).body;
  t.match(module, {
    name: 'tic1',
    controlModule: 'tic1',
    state: 'Running',
    scanInterval: '20ms',
    blockCount: 5,
    faultedBlocks: [],
    networkHash: /^[0-9a-f]{16}$/,
    loadedAt: /^20/,
  });
  t.ok((await api.get(`${AT}/fbnetworks/tic1`)).body.scanCount > 0, 'PROG-03: so does the program itself');
});

t.test('Q-UNIT-07: fbnetwork shows the ports after one scan, which its number names', async (t) => {
  const { body } = await api.get(`${RUNTIME}/fbnetwork/tic1`);
  t.match(body, { name: 'tic1', unit: 'r1', state: 'Running', scanInterval: '20ms', executionOrder: ['ai', 'ratio', 'ctu', 'gain', 'conv'] });
  const block = (name: string): Body => networkOf(body.blocks, name);
  t.same([block('gain').inputs.IN1.value, block('gain').outputs.OUT.value], [block('ai').outputs.OUT.value, 84], 'input and output belong to one scan');
  t.ok((await api.get(`${RUNTIME}/fbnetwork/tic1`)).body.scanCount > body.scanCount);
  t.match(await api.get(`${RUNTIME}/fbnetwork/none`), { status: 404 });
});

t.test('Q-UNIT-07: diagnostics are measured in the worker', async (t) => {
  const { body } = await api.get(`${RUNTIME}/diagnostics`);
  t.match(body, {
    unit: 'r1',
    scan: { count: Number, overruns: Number, missed: Number, p99Ms: Number, durations: [{ leMs: Number, count: Number }], jitter: Array },
    lateness: { lastMs: Number, p50Ms: Number, p99Ms: Number, maxMs: Number },
    gc: { count: Number, totalMs: Number, maxMs: Number },
    faultedBlocks: [],
    drivers: [{ ioModule: 'io-1', reads: Number, errors: 0 }],
    stateWrites: { count: Number },
    messagesShed: 0,
    realtime: { granted: Boolean, reason: String },
  });
  t.ok(body.scan.durations.reduce((sum: number, step: Body) => sum + step.count, 0) === body.scan.count, 'every scan is in the histogram');
  t.ok(body.drivers[0].ageMs < 10_000, 'the probe measures; a busy machine lets it wait');
  t.ok(body.heapUsedBytes > 0 && body.heapLimitBytes > body.heapUsedBytes);
});

t.test('RUNTIME-02, Q-UNIT-07: tags are the tags of the unit', async (t) => {
  const live = (await api.get(`${RUNTIME}/tags`)).body;
  t.same(
    live.map((tag: Body) => tag.address),
    (await api.get(`${AT}/units/r1/tags`)).body.map((tag: Body) => tag.address),
  );
  t.match(networkOf(live, 'pv'), { address: 'tic1.pv', value: 42, quality: 'Good', timestamp: /^20/ });
});

t.test('RUNTIME-04, Q-UNIT-08: write has the barriers of a tag write, one by one and together; each attempt is on record', async (t) => {
  const write = (address: string, value: unknown) => api.post(`${RUNTIME}/write`, { address, value });
  t.match(await write('tic1.divisor', 2), { status: 403, body: { code: 'automatic_mode', controlModule: 'tic1' } });
  await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'tic1', mode: 'Manual' }));
  t.match(await write('tic1.divisor', 2), { status: 200, body: { ok: true, address: 'tic1.divisor', message: String } });
  t.match(await write('tic1.pv', 2), { status: 403, body: { code: 'read_only_tag' } });
  t.match(await write('tic1.divisor', 'two'), { status: 400, body: { code: 'invalid_value' } });
  t.match(await write('tic1.divisor', 50.5), { status: 400, body: { code: 'out_of_range', tag: 'tic1.divisor', engMin: 0, engMax: 50 } });
  t.match(await write('tic1.none', 1), { status: 404, body: { code: 'unknown_tag' } });
  t.match(await api.post(`${RUNTIME}/write`, { address: 'tic1.limit' }), { status: 400, body: { code: 'missing_field', field: 'value' } });
  t.match(await api.post(`${RUNTIME}/write`, { writes: [] }), { status: 400, body: { field: 'writes' } });
  t.match(await api.post(`${RUNTIME}/write`, { writes: [{ address: 'tic1.limit', value: 1 }], force: true }), { status: 400, body: { code: 'unknown_field', field: 'force' } });

  const some = await api.post(`${RUNTIME}/write`, {
    writes: [
      { address: 'tic1.limit', value: 70 },
      { address: 'tic1.limit', value: 101 },
      { address: 'tic1.pv', value: 1 },
      { address: 'tic1.none', value: 1 },
      { address: 'tic1.divisor', value: '4' },
    ],
  });
  t.equal(some.status, 200, some.text);
  t.match(some.body, {
    ok: false,
    results: [
      { address: 'tic1.limit', ok: true },
      { ok: false, code: 'out_of_range' },
      { ok: false, code: 'read_only_tag' },
      { ok: false, code: 'unknown_tag' },
      { address: 'tic1.divisor', ok: true },
    ],
  });
  await plant.until('units/r1/tags/tic1.divisor', (tag) => tag.value === 4); // a write is answered before the scan that shows it
  const read = (await api.post(`${RUNTIME}/read`, { addresses: ['tic1.limit', 'tic1.divisor', 'tic1.none'] })).body.values;
  t.match(read, [{ value: 70, quality: 'Good', error: '' }, { value: 4 }, { value: null, error: /no tag/ }]);
  const { body: records } = await api.get(`${AT}/audit?category=tag-write&limit=100`);
  const verdicts = records.items.map((record: Body) => `${record.target.name} ${record.result} ${record.reason ?? ''}`.trim());
  for (const wanted of [
    'tic1.divisor Rejected AutomaticMode',
    'tic1.divisor Accepted',
    'tic1.divisor Success',
    'tic1.limit Rejected OutOfRange',
    'tic1.pv Rejected ReadOnlyTag',
    'tic1.none Rejected UnknownTag',
  ]) {
    t.ok(verdicts.includes(wanted), wanted);
  }
});

t.test('CMT-06, CMT-07: a declared range holds on every write path; an absent or not numeric bound is none', async (t) => {
  t.match(await api.post(`${AT}/units/r1/tags/tic1.limit`, { value: 101 }), { status: 400, body: { code: 'out_of_range', engMin: 0, engMax: 100 } });
  t.match(await api.post(`${AT}/units/r1/tags/tic1.limit`, { value: '-0.1' }), { status: 400, body: { code: 'out_of_range' } }, 'as text too');
  t.match(await api.post(`${AT}/controlmodules/tic1/tags/limit`, { value: 101 }), { status: 400, body: { code: 'out_of_range' } });
  t.match(await api.post(`${RUNTIME}/write`, { address: 'tic1.limit', value: 101 }), { status: 400, body: { code: 'out_of_range' } });
  t.equal((await api.post(`${AT}/units/r1/tags/tic1.limit`, { value: 100 })).status, 200, 'the bound itself is inside');
  t.match(await plant.tag('tic1.free'), { engMin: '', engMax: '' }, '10 / 0 is no number');
  t.equal((await api.post(`${RUNTIME}/write`, { address: 'tic1.free', value: -1e9 })).status, 200);
});

t.test('PROG-15: a block that divides by zero is skipped and named everywhere, and recovers by itself', async (t) => {
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.divisor', value: 0 }));
  t.match(await plant.until('fbnetworks/tic1', (program) => program.state === 'Degraded'), { faultedBlocks: ['ratio'] });
  t.match(await plant.tag('tic1.quotient'), { quality: 'Bad', value: 3.125 }, 'the last good value stays, and is called bad');
  t.match(await plant.tag('tic1.doubled'), { quality: 'Good', value: 84 }, 'the blocks beside it run on');
  const degraded = (body: Body): Body => body.conditions.find((condition: Body) => condition.type === 'Degraded');
  t.match(degraded((await api.get(`${AT}/controlmodules/tic1`)).body), { status: 'True', reason: 'BlockFaulted', message: /ratio/ });
  t.match(
    (await api.get(`${AT}/units/r1`)).body.conditions.find((condition: Body) => condition.type === 'ProgramsHealthy'),
    {
      status: 'False',
      reason: 'BlockFaulted',
      message: /tic1: .*ratio/,
    },
  );
  t.match((await api.get(`${RUNTIME}/programs`)).body, [{ name: 'tic1', state: 'Degraded', faultedBlocks: ['ratio'] }]);
  t.match((await api.get(`${RUNTIME}/status`)).body.networks, [{ name: 'tic1', state: 'Degraded' }]);
  t.match((await api.get(`${RUNTIME}/fbnetwork/tic1`)).body.blocks[1], { name: 'ratio', error: /skipped/, outputs: { OUT: { quality: 'Bad' } } });
  t.same((await api.get(`${RUNTIME}/diagnostics`)).body.faultedBlocks, [{ network: 'tic1', block: 'ratio' }]);
  const faulted = (await api.get(`${RUNTIME}/logs?level=warn`)).body.items.find((line: Body) => line.fields.reason === 'BlockFaulted');
  t.match(faulted, { level: 'warn', message: /ratio/, fields: { unit: 'r1' } });

  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.divisor', value: 5 }));
  t.match(await plant.until('fbnetworks/tic1', (program) => program.state === 'Running'), { faultedBlocks: [] });
  await plant.until('units/r1/tags/tic1.quotient', (tag) => tag.quality === 'Good' && tag.value === 2.5);
  t.equal(degraded((await api.get(`${AT}/controlmodules/tic1`)).body), undefined);
  const told = (await eventsOf()).filter((event) => event.object === 'ControlProgram/tic1').map(({ type, reason }) => `${type} ${reason}`);
  t.same(told.slice(-2), ['Warning BlockFaulted', 'Normal Recovered']);
});

t.test('PROG-15: a block whose evaluation throws is skipped like one without a result', async (t) => {
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.word', value: 'seven' }));
  t.match(await plant.until('fbnetworks/tic1', (program) => program.state === 'Degraded'), { faultedBlocks: ['conv'] });
  t.match(await plant.tag('tic1.number'), { value: 7, quality: 'Bad' });
  const [{ scanCount }] = (await api.get(`${RUNTIME}/status`)).body.networks;
  await plant.until('units/r1/runtime/status', (status) => status.networks[0].scanCount > scanCount + 5);
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.word', value: '-12' }));
  await plant.until('units/r1/tags/tic1.number', (tag) => tag.quality === 'Good' && tag.value === -12);
  await plant.until('fbnetworks/tic1', (program) => program.state === 'Running');
});

t.test('CMT, Q-PROG-03: an edit of the template reaches its modules by a hot swap that keeps their state', async (t) => {
  for (const value of [true, false, true]) {
    await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.pulse', value }));
    await plant.until('units/r1/tags/tic1.pulse', (tag) => tag.value === value);
  }
  await plant.until('units/r1/tags/tic1.count', (tag) => tag.value === 2);
  const { epoch } = (await api.get(`${RUNTIME}/status`)).body;
  const { networkHash } = (await api.get(`${AT}/fbnetworks/tic1`)).body;
  const blocks = [...LOOP.blocks.map((block) => (block.name === 'gain' ? { ...block, params: { IN2: 3 } } : block)), { name: 'more', type: 'CONST', params: { value: 7 } }];
  await plant.did(api.put('/api/v1/controlmoduletemplates/loop', { blocks }));
  await plant.until('units/r1/tags/tic1.doubled', (tag) => tag.value === 126);
  t.match(await plant.tag('tic1.count'), { value: 2 }, 'the counter goes on');
  t.match(await plant.tag('tic1.divisor'), { value: 5 }, 'what was written stands');
  t.equal((await api.get(`${RUNTIME}/status`)).body.epoch, epoch, 'in the same worker');
  t.not((await plant.until('fbnetworks/tic1', (program) => program.networkHash !== networkHash && program.state === 'Running')).blockCount, 5);
  t.match((await eventsOf()).at(-1), { type: 'Normal', reason: 'HotSwapped' });
  await plant.did(api.put('/api/v1/controlmoduletemplates/loop', { tags: LOOP.tags.map((tag) => (tag.name === 'limit' ? { ...tag, engMax: '60' } : tag)) }));
  t.match(await api.post(`${RUNTIME}/write`, { address: 'tic1.limit', value: 61 }), { status: 400, body: { engMax: 60 } }, 'and so does its range');
});

t.test('TAG-19, Q-UNIT-08, Q-PROG-03: of writes in one scan the last one stands, each on record; a write beside a download is not lost', async (t) => {
  const writes = [10, 20, 30].map((value) => ({ address: 'tic1.limit', value }));
  const together = await api.post(`${RUNTIME}/write`, { writes });
  t.match(together.body, { ok: true, results: [{ ok: true }, { ok: true }, { ok: true }] });
  await plant.until('units/r1/tags/tic1.limit', (tag) => tag.value === 30);
  const { items } = (await api.get(`${AT}/audit?category=tag-write&name=tic1.limit&limit=6&order=desc`)).body;
  t.same(items.map(({ result, after }: Body) => `${result} ${after}`).sort(), ['Accepted 10', 'Accepted 20', 'Accepted 30', 'Success 10', 'Success 20', 'Success 30']);

  const blocks = (factor: number) => [
    ...LOOP.blocks.map((block) => (block.name === 'gain' ? { ...block, params: { IN2: factor } } : block)),
    { name: 'more', type: 'CONST', params: { value: 7 } },
  ];
  for (let n = 1; n <= 10; n += 1) {
    const [edited, written] = await Promise.all([
      api.put('/api/v1/controlmoduletemplates/loop', { blocks: blocks(3 + n) }),
      api.post(`${AT}/units/r1/tags/tic1.limit`, { value: n }),
    ]);
    t.match([edited.status, written.status, written.body], [200, 200, { ok: true }], `download ${n}`);
  }
  await plant.until('units/r1/tags/tic1.doubled', (tag) => tag.value === 42 * 13);
  t.match(await plant.tag('tic1.limit'), { value: 10, quality: 'Good' }, 'what was answered is what stands');
  await plant.did(api.put('/api/v1/controlmoduletemplates/loop', { blocks: blocks(3) }));
  await plant.until('units/r1/tags/tic1.doubled', (tag) => tag.value === 126);
});

t.test('PROG-07, decisions 2.4: programs of one unit keep their own scan intervals', async (t) => {
  const program = (scanInterval: string) => ({ unitRef: 'r1', scanInterval, blocks: [{ name: 'tot', type: 'TOTALIZER', params: { IN: 1 } }] });
  for (const [name, interval] of [
    ['fast', '20ms'],
    ['slow', '100ms'],
  ] as const)
    await plant.did(api.post(`${AT}/fbnetworks`, { metadata: { name }, spec: program(interval) }));
  const counted = (status: Body) => {
    const scansOf = (name: string): number => networkOf(status.networks, name)?.scanCount ?? 0;
    return { fast: scansOf('fast'), slow: scansOf('slow'), scans: status.scanCount as number, periods: (status.scanCount + status.missed) as number };
  };
  const from = counted(await plant.until('units/r1/runtime/status', (status) => counted(status).fast > 0 && counted(status).slow > 0));
  const to = counted(await plant.until('units/r1/runtime/status', (status) => counted(status).slow >= from.slow + 10));
  const [fast, slow, scans, periods] = [to.fast - from.fast, to.slow - from.slow, to.scans - from.scans, to.periods - from.periods];
  t.ok(Math.abs(fast - scans) <= 2, `${fast} scans of the program of 20 ms in ${scans} of the unit`);
  // a unit that is late skips periods: the slow program is due with every fifth scan at the latest, and with every fifth period at the earliest
  t.ok(slow >= scans / 5 - 2 && slow <= periods / 5 + 2, `${slow} scans of the program of 100 ms in ${scans} scans and ${periods} periods of 20 ms`);
  t.match((await api.get(`${RUNTIME}/programs`)).body, [
    { name: 'fast', scanInterval: '20ms', controlModule: '' },
    { name: 'slow', scanInterval: '100ms' },
    { name: 'tic1', controlModule: 'tic1' },
  ]);
});

t.test('Q-PROG-03: an edit of a program goes on with the state of every block whose name and type are unchanged', async (t) => {
  const seen = async (): Promise<Body> => (await api.get(`${RUNTIME}/fbnetwork/fast`)).body;
  const total = (network: Body): number => networkOf(network.blocks, 'tot').outputs.OUT.value;
  const before = await seen();
  const { networkHash } = (await api.get(`${AT}/fbnetworks/fast`)).body;
  const blocks = [
    { name: 'more', type: 'CONST', params: { value: 3 } },
    { name: 'tot', type: 'TOTALIZER', params: { IN: 2 } },
  ];
  await plant.did(api.put(`${AT}/fbnetworks/fast`, { spec: { unitRef: 'r1', scanInterval: '20ms', blocks, connections: [] } }));
  await plant.until('fbnetworks/fast', (program) => program.state === 'Running' && program.networkHash !== networkHash);
  const after = await seen();
  t.equal(after.blocks.length, 2);
  t.ok(total(before) > 0 && total(after) >= total(before), `${total(after)} goes on from ${total(before)}`);
  t.ok(after.scanCount > before.scanCount, 'and so do the scans');
});

t.test('RUNTIME-03, RUNTIME-05, decisions 3.8: after a restart the newest written values are there, and events and logs tell of it', async (t) => {
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'tic1.limit', value: 33 }));
  await plant.until('units/r1/tags/tic1.limit', (tag) => tag.value === 33);
  t.match(await api.post(`${RUNTIME}/restart`, { reason: REASON }), { status: 200, body: { unit: 'r1', status: 'Restarting', oldImage: 'lineside 1.2.3' } });
  await plant.until('units/r1/runtime/status', (status) => status.ready && status.epoch === 2);
  t.match(await plant.until('units/r1/tags/tic1.limit', (tag) => tag.value !== null), { value: 33 }, 'not what its plan was made with');
  await plant.until('fbnetworks/fast', (program) => program.state === 'Running');
  t.match(await api.get(`${AT}/units/r1`), { body: { runtimeReady: true, runtimeBuild: { verdict: 'current' } } });
  const raised = (await api.get(`${AT}/alarmevents?event=Activated`)).body.items as { source: string }[];
  t.same(
    raised.filter(({ source }) => source === 'Unit/r1'),
    [],
    'a restart that somebody asked for is no alarm',
  );

  const events = await eventsOf();
  const reasons = events.map((event) => event.reason);
  for (const reason of ['RuntimeReady', 'PlanLoaded', 'HotSwapped', 'ModeChanged', 'RestartRequested', 'RuntimeDown']) t.ok(reasons.includes(reason), reason);
  t.match(
    events.find((event) => event.reason === 'ModeChanged'),
    { ts: /^20.*Z$/, type: 'Normal', message: 'Automatic to Manual', object: 'ControlModule/tic1' },
  );
  const to = `to=${new Date().toISOString()}`;
  const first = (await api.get(`${RUNTIME}/events?limit=3&${to}`)).body;
  const second = (await api.get(`${RUNTIME}/events?limit=3&${to}&cursor=${first.nextCursor}`)).body;
  t.same([...first.items, ...second.items], (await api.get(`${RUNTIME}/events?limit=6&${to}`)).body.items, 'newest first, page by page');
  t.match(await api.get(`${RUNTIME}/events?limit=0`), { status: 400, body: { field: 'limit' } });
  t.match(await api.get(`${RUNTIME}/logs?level=loud`), { status: 400, body: { field: 'level' } });
  const lines = (await api.get(`${RUNTIME}/logs?order=asc`)).body.items;
  t.match(lines[0], { ts: /^20/, level: 'info', message: 'unit runtime started', fields: { unit: 'r1', epoch: 1 } });
  t.ok(
    lines.some((line: Body) => line.message === 'unit runtime ended' && line.level === 'warn'),
    'the end of the worker is logged',
  );
});

t.test(
  'decisions 5.1 rule 7, Q-PROG-12, MODE-08, TAG-30: an override is listed on the module with its author, and ends with Automatic; what else was written stands',
  async (t) => {
    await plant.did(api.post('/api/v1/controlmoduletemplates', LOCKED));
    await plant.did(api.post(`${AT}/controlmodules`, { name: 'x1', parentName: 'r1', templateRef: 'locked' }));
    await plant.until('units/r1/tags/x1.out', (tag) => tag.value === 3);
    await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'x1', mode: 'Manual' }));
    await plant.did(api.post(`${RUNTIME}/write`, { address: 'x1.out', value: '99' }));
    await plant.until('units/r1/tags/x1.out', (tag) => tag.value === 99);
    const { overrides } = await plant.until('controlmodules/x1', (module) => module.overrides.length > 0);
    const { items } = (await api.get(`${AT}/audit?category=tag-write&limit=1`)).body;
    t.strictSame(overrides, [{ tag: 'out', value: 99, by: items[0].displayName, at: overrides[0].at }]);
    await plant.did(api.post(`${RUNTIME}/write`, { address: 'x1.healthy', value: false }));
    await plant.until('units/r1/tags/x1.ok', (tag) => tag.value === false);
    await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'x1', mode: 'Automatic' }));
    await plant.until('controlmodules/x1', (module) => module.overrides.length === 0);
    t.match(await api.post(`${RUNTIME}/write`, { address: 'x1.out', value: 98 }), { status: 403, body: { code: 'automatic_mode' } }, 'people are refused');
    await plant.until('units/r1/tags/x1.out', (tag) => tag.value === 3); // the control algorithm is not
    t.equal((await plant.tag('x1.healthy')).value, false, 'nothing in the network writes this input');
    await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'x1', mode: 'Manual' }));
    await plant.did(api.post(`${RUNTIME}/write`, { address: 'x1.healthy', value: true }));
    await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'x1', mode: 'Automatic' }));
  },
);

t.test('D-PROG-03, decisions 3.8: a bypass reaches the worker, outlives a restart of it, and ends when it is taken back', async (t) => {
  const bypass = `${AT}/controlmodules/x1/interlock/bypass`;
  await plant.did(api.post(`${AT}/mode`, { kind: 'ControlModule', name: 'x1', mode: 'Manual' }));
  await plant.did(api.post(`${RUNTIME}/write`, { address: 'x1.healthy', value: false }));
  await plant.until('units/r1/tags/x1.ok', (tag) => tag.value === false);
  t.match(await api.post(bypass, { reason: REASON }), { status: 200, body: { active: true, interlocks: ['ilk'] } });
  await plant.until('units/r1/tags/x1.ok', (tag) => tag.value === true);
  const { epoch } = (await api.get(`${RUNTIME}/status`)).body;
  await plant.did(api.post(`${RUNTIME}/restart`, { reason: REASON }));
  await plant.until('units/r1/runtime/status', (status) => status.ready && status.epoch === epoch + 1);
  const { scanCount } = await plant.until('units/r1/runtime/status', (status) => status.scanCount > 2);
  t.ok(scanCount > 0);
  t.match([(await plant.tag('x1.healthy')).value, (await plant.tag('x1.ok')).value], [false, true], 'tripped, and still bypassed');
  // the tags are shared memory and ahead of the messages of the worker: its word of the trip may still be on its way
  await plant.until('units/r1/runtime/events?limit=1000', (page) => page.items.some((event: Body) => event.reason === 'InterlockShadowTrip'));
  t.equal((await api.delete(bypass)).status, 204);
  await plant.until('units/r1/tags/x1.ok', (tag) => tag.value === false);
  const told = (await eventsOf()).filter((event) => event.object === 'ControlModule/x1').map((event) => event.reason);
  t.same(
    told.filter((reason) => reason.startsWith('Interlock')),
    ['InterlockBypassed', 'InterlockShadowTrip', 'InterlockBypassEnded'],
  );
});

t.test('HEALTH-01 HEALTH-03: the list of control modules and the cmhealth channel say the same of every module, through a restart', async (t) => {
  const socket = new WebSocket(`${api.base.replace('http', 'ws')}/api/v1/ws`);
  t.teardown(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const told = new Map<string, string[]>();
  socket.on('message', (data: Buffer) => {
    const { type, name, state } = JSON.parse(data.toString()) as Body;
    if (type === 'cmhealth') told.set(name, [...(told.get(name) ?? []), state]);
  });
  socket.send(JSON.stringify({ type: 'subscribe', id: 'h', channel: 'cmhealth', filter: { site: 'north' } }));
  const agree = (wanted: (states: readonly string[]) => boolean) =>
    plant.until(
      'controlmodules',
      (modules: Body[]) => modules.length === 2 && modules.every(({ name, state }) => told.get(name)?.at(-1) === state && wanted(told.get(name) ?? [])),
    );
  const modules = await agree((states) => states.at(-1) === 'Running');
  t.match(modules, [
    { name: 'tic1', state: 'Running', message: '' },
    { name: 'x1', state: 'Running' },
  ]);
  const { epoch } = (await api.get(`${RUNTIME}/status`)).body;
  await plant.did(api.post(`${RUNTIME}/restart`, { reason: REASON }));
  await plant.until('units/r1/runtime/status', (status) => status.ready && status.epoch === epoch + 1);
  await agree((states) => states.slice(-2).join() === 'Down,Running');
  t.same(told.get('tic1'), ['Running', 'Down', 'Running'], 'one frame per change');
});
