/**
 * The control part of document 3 as a process engineer tries it who is in a hurry, or means harm: one appliance, real
 * accounts, real unit runtimes and probes. What single parts do for themselves is in tests/domains and tests/runtime.
 */
import t from 'tap';
import type { Answer } from '../support/gateway.js';
import { ApplianceTest, AT } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
const admin = test.admin;
const engineer = await test.as('engineer');
const TEMPLATES = '/api/v1/controlmoduletemplates';
const MODULES = `${AT}/controlmodules`;
const PROGRAMS = `${AT}/fbnetworks`;
const IO = `${AT}/iomodules`;
const APPLY = '/api/v1/apply';

async function did(answer: Promise<Answer>, wanted = 201): Promise<Answer['body']> {
  const { status, text, body } = await answer;
  if (status !== wanted) throw new Error(`${status} ${text}`);
  return body;
}

const manifest = (kind: string, name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: 'control.lineside.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'site-demo', ...metadata },
  spec,
});
const adder = (unitRef: string, more: object = {}): object => ({ unitRef, scanInterval: '100ms', blocks: [{ name: 'a', type: 'ADD', params: { IN1: 1, IN2: 2 } }], ...more });
const running = (name: string): Promise<Answer['body']> =>
  test.until(`program ${name} runs`, `${PROGRAMS}/${name}`, (program) => program.state === 'Running' && program.scanCount > 0);

await did(engineer.post(`${AT}/units`, { name: 'lab', processCellName: 'resin-train' }));
await did(engineer.post(`${AT}/units`, { name: 'bench', processCellName: 'resin-train' }));

t.test('CMT-05 CMT-02: a bound or a parameter with the name of a JavaScript member is no parameter of the block', async (t) => {
  const template = (engMin: string, params: object = {}) => ({
    name: 'bounds',
    tags: [{ name: 'pv', dataType: 'Float', blockRef: 'ai', portRef: 'OUT', engMin }],
    blocks: [{ name: 'ai', type: 'AI', params: { addr: '', ...params } }],
  });
  for (const name of ['constructor', 'toString', 'hasOwnProperty'])
    t.match(await engineer.post(TEMPLATES, template(`ai.${name}`)), { status: 400, body: { field: 'tags[0].engMin', error: new RegExp(name) } }, name);
  for (const name of ['constructor', '__proto__', 'prototype'])
    t.match(
      await engineer.post(TEMPLATES, template('', JSON.parse(`{"${name}": 1}`))),
      { status: 400, body: { code: 'invalid_network', field: `blocks[0].params.${name}` } },
      name,
    );
  t.match(await engineer.post(TEMPLATES, { ...template('0'), scanInterval: '0s' }), { status: 400, body: { field: 'scanInterval' } });
  t.match(await engineer.post(TEMPLATES, { ...template('0'), deviceClass: 'pump' }), {
    status: 400,
    body: { error: 'deviceClass must be empty or one of valve, actuator, sensor, controller, other' },
  });
});

t.test('CM-12 CM-08 D-UNIT-02: what a module refers to and is not there is said in its read body', async (t) => {
  const network = {
    tags: [
      { name: 'pv', dataType: 'Float', blockRef: 'ai', portRef: 'OUT' },
      { name: 'high', dataType: 'Boolean', blockRef: 'gt', portRef: 'OUT' },
    ],
    blocks: [
      { name: 'ai', type: 'AI', params: { addr: 'io-rx101:lt101' } },
      { name: 'gt', type: 'GT', params: { IN2: 50 } },
    ],
    dataConnections: [{ sourceBlock: 'ai', sourcePort: 'OUT', destBlock: 'gt', destPort: 'IN1' }],
  };
  await did(engineer.post(TEMPLATES, { name: 'level', ...network }));
  const own = { name: 'limit', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'gt', portRef: 'IN2' };
  await did(engineer.post(MODULES, { name: 'level1', templateRef: 'level', parentName: 'lab', tags: [{ name: 'high', trueLabel: 'Full' }, own] }));
  const valid = { type: 'ConfigurationValid', status: 'True', reason: 'AllFound', message: '' };
  await test.until('level1 runs', `${MODULES}/level1`, (module) => module.state === 'Running');
  t.match((await engineer.get(`${MODULES}/level1`)).body, { message: '', conditions: [valid] });

  await did(engineer.put(`${TEMPLATES}/level`, { tags: network.tags.slice(0, 1), blocks: network.blocks.slice(0, 1), dataConnections: [] }), 200);
  t.match((await engineer.get(`${MODULES}/level1`)).body, {
    message: /no longer fits its template level: .*high/,
    conditions: [{ type: 'ConfigurationValid', status: 'False', reason: 'DanglingReference' }],
  });
  t.match(
    (await engineer.get(MODULES)).body.find(({ name }: { name: string }) => name === 'level1'),
    { message: /no longer fits/ },
    'in the list too',
  );
  await did(engineer.put(`${TEMPLATES}/level`, network), 200);
  t.match((await engineer.get(`${MODULES}/level1`)).body.conditions, [valid], 'the template is as it was');

  for (const [channel, problem] of [
    ['nowhere:lt101', /tag pv needs I\/O module nowhere, which does not exist/],
    ['io-rx101:lt999', /tag pv needs channel lt999, which I\/O module io-rx101 does not have/],
  ] as const) {
    await did(engineer.put(`${MODULES}/level1`, { tags: [{ name: 'pv', channel }] }), 200);
    t.match((await engineer.get(`${MODULES}/level1`)).body, { message: problem, conditions: [{ status: 'False' }] }, channel);
  }
});

t.test('PROG-07 PROG-08 PROG-01 VER-02: an interval that would not read back, and a document of another place, are refused', async (t) => {
  const post = (spec: object, document: object = {}) => engineer.post(PROGRAMS, { metadata: { name: 'odd' }, spec: adder('lab', spec), ...document });
  for (const scanInterval of [1e300, 1e-9, 0, -1, '', ' ', 'soon', '-5s', '0ms', 'T#5s'])
    t.match(await post({ scanInterval }), { status: 400, body: { field: 'spec.scanInterval' } }, JSON.stringify(scanInterval));
  for (const apiVersion of ['', 'v1', 'control/v2', 'control.lineside.io/v1alpha1x'])
    t.match(await post({}, { apiVersion }), { status: 400, body: { field: 'apiVersion' } }, apiVersion);
  t.match(await post({}, { metadata: { name: 'odd', namespace: 'site-south' } }), { status: 400, body: { field: 'metadata.namespace' } });
  t.match(await post({}, { metadata: { name: 'odd', labels: { 'a b': 'c' } } }), { status: 400, body: { field: 'metadata.labels.a b' } });
  t.match(await post({}, { metadata: { name: 'odd', labels: { a: 'c d' } } }), { status: 400, body: { field: 'metadata.labels.a' } });
  t.match(
    await post(
      {},
      { apiVersion: 'anything.example.com/v1alpha1', kind: 'FBNetwork', metadata: { name: 'odd', namespace: 'site-demo', labels: { 'example.com/a': 'c', constructor: 'd' } } },
    ),
    {
      status: 201,
      body: { name: 'odd', labels: { 'example.com/a': 'c', constructor: 'd' } },
    },
  );
  t.match(await engineer.put(`${PROGRAMS}/odd`, { apiVersion: 'v1', spec: adder('lab') }), { status: 400, body: { field: 'apiVersion' } });
  t.match(await engineer.put(`${PROGRAMS}/odd`, { metadata: { namespace: 'site-south' }, spec: adder('lab') }), { status: 400, body: { field: 'metadata.namespace' } });
  t.match(await engineer.post(APPLY, manifest('Area', 'odd', {}, { labels: { 'a b': 'c' } })), { status: 400, body: { field: 'metadata.labels.a b' } });
  t.match(await engineer.post(APPLY, manifest('Area', 'odd', JSON.parse('{"constructor": 1}'))), { status: 400, body: { field: 'spec.constructor' } });
});

t.test('PROG-13 PROG-16: a label that says a control module manages a program neither stops nor removes it', async (t) => {
  const label = { 'lineside.io/managed-by': 'control-module' };
  const variables = { variables: [{ name: 'sum', dataType: 'INT', direction: 'output' }], variableBindings: [{ variable: 'sum', blockRef: 'a', portRef: 'OUT' }] };
  await did(engineer.post(PROGRAMS, { metadata: { name: 'free' }, spec: adder('lab', variables) }));
  await running('free');
  await did(engineer.put(`${PROGRAMS}/free`, { metadata: { labels: label }, spec: adder('lab', variables) }), 200);
  await did(engineer.post(APPLY, manifest('ControlProgram', 'applied', adder('lab'), { labels: label })), 200);
  await running('applied');
  // the module's controller has looked at every program when it has made the one of a module that is new
  await did(engineer.post(TEMPLATES, { name: 'wake', blocks: [{ name: 'c', type: 'CONST', params: { value: 1 } }] }));
  await did(engineer.post(MODULES, { name: 'wake1', templateRef: 'wake', parentName: 'lab' }));
  await running('wake1');
  const { scanCount } = (await engineer.get(`${PROGRAMS}/free`)).body;
  await test.until('free scans on', `${PROGRAMS}/free`, (program) => program.scanCount > scanCount);
  t.match((await engineer.get(`${PROGRAMS}/free`)).body, { state: 'Running', managedBy: '' });
  t.match((await engineer.get(`${AT}/units/lab/tags/free.sum`)).body, { value: 3, quality: 'Good' }, 'its variables are tags as before');
  t.match((await engineer.get(`${PROGRAMS}/wake1`)).body, { managedBy: 'wake1' });
  t.match(await engineer.post(`${PROGRAMS}/wake1/override-hot-swap`, { reason: 'a long enough reason' }), { status: 409, body: { code: 'managed_by_control_module' } });
});

t.test('CTRL-01 CTRL-08 LIMIT-14: a name of 63 characters is one whatever they are; labels are kept or refused, never lost', async (t) => {
  const CONTROLLERS = `${AT}/controllers`;
  t.match(await admin.post(CONTROLLERS, { name: 'box', displayName: '🏭'.repeat(63), simulation: true }), { status: 201, body: { name: 'box' } });
  t.match(await admin.post(CONTROLLERS, { name: 'box2', displayName: '🏭'.repeat(64) }), { status: 400, body: { field: 'displayName' } });
  for (const displayName of ['a\u0000', 'a\nb', 'a\u007f', 'a\u0085'])
    t.match(await admin.post(CONTROLLERS, { name: 'box2', displayName }), { status: 400 }, JSON.stringify(displayName));
  for (const key of ['zone', 'constructor', '__proto__', 'kubernetes.io/zone', 'a.k3s.io/zone'])
    t.match(
      await admin.post(CONTROLLERS, { name: 'box2', nodeLabels: JSON.parse(`{"${key}": "a"}`) }),
      { status: 400, body: { code: 'label_prefix', field: `nodeLabels.${key}` } },
      key,
    );
  t.match(await admin.put(`${CONTROLLERS}/box`, { nodeLabels: { 'example.com/zone': 'a' } }), { status: 200, body: { displayName: '🏭'.repeat(63) } }, 'left out: as it was');
  t.match(await admin.put(`${CONTROLLERS}/box`, { displayName: '' }), { status: 200, body: { displayName: '', nodeLabels: { 'example.com/zone': 'a' } } });
});

const simulated = (name: string, more: object = {}): object => ({
  name,
  protocol: 'simulation',
  controllerRef: 'box',
  channels: [
    { address: 'level', dataType: 'float' },
    { address: 'valve', direction: 'output', dataType: 'bool' },
    { address: 'speed', direction: 'output', dataType: 'float' },
  ],
  ...more,
});

t.test('HIER-09 IO-04 IO-16: a fail-safe value that its output cannot take, and a heartbeat that leads nowhere, are refused', async (t) => {
  const failSafe = (more: object) => simulated('fs', { failSafe: { posture: 'regulating', timeout: '5s', ...more } });
  const wrong: [object, string][] = [
    [{ outputs: [{ channel: 'valve', value: 'shut' }] }, 'failSafe.outputs[0].value'],
    [{ outputs: [{ channel: 'speed', value: 'slow' }] }, 'failSafe.outputs[0].value'],
    [{ outputs: [{ channel: 'level', value: 1 }] }, 'failSafe.outputs[0].channel'],
    [{ outputs: [{ channel: 'constructor', value: 1 }] }, 'failSafe.outputs[0].channel'],
    [
      {
        outputs: [
          { channel: 'valve', value: true },
          { channel: 'valve', value: false },
        ],
      },
      'failSafe.outputs[1].channel',
    ],
    [{ heartbeatChannel: 'pulse' }, 'failSafe.heartbeatChannel'],
    [{ heartbeatChannel: 'level' }, 'failSafe.heartbeatChannel'],
    [{ timeout: 'soon' }, 'failSafe.timeout'],
  ];
  for (const [change, field] of wrong) t.match(await admin.post(IO, failSafe(change)), { status: 400, body: { field } }, JSON.stringify(change));
  t.match(await admin.post(IO, simulated('fs', { channels: [{ address: 'valve', direction: 'output', dataType: 'bool', initial: 'ajar' }] })), {
    status: 400,
    body: { field: 'channels[0].initial' },
  });
  t.match(await admin.post(IO, simulated('fs', { options: { constructor: 1 } })), { status: 400, body: { field: 'options.constructor' } });
  t.match(await admin.post(IO, failSafe({ heartbeatChannel: 'valve', outputs: [{ channel: 'speed', value: '12.5' }] })), {
    status: 201,
    body: { writePosture: { verdict: 'regulating' } },
  });
});

t.test('SIM-16 IO-17 IO-18 IO-19 IO-20: a simulated channel is read, forced until released, and listed with the tags that stand on it', async (t) => {
  const [operator, viewer] = [await test.as('operator'), await test.as('viewer')];
  const rx = `${IO}/io-rx101`;
  const { body: all } = await viewer.get(`${rx}/tags`);
  const channel = all.find(({ controlModules }: Answer['body']) => controlModules.some(({ name, tag }: Answer['body']) => name === 'tic101' && tag === 'pv'));
  t.match(channel, { direction: 'input', dataType: 'float', value: Number, quality: 'Good', ts: /Z$/, forced: false });
  const own = `${rx}/tags/${channel.channel}`;
  t.match(await viewer.get(own), { status: 200, body: { channel: channel.channel, address: channel.address, forced: false } });
  t.match(await viewer.get(`${rx}/tags/nothing`), { status: 404, body: { code: 'unknown_channel' } });
  t.match(await operator.post(`${rx}/read`, { channel: channel.channel }), { status: 200, body: { channel: channel.channel, quality: 'Good', value: Number, message: '' } });

  t.match(await operator.post(`${rx}/write`, { channel: channel.channel, value: 12 }), { status: 200, body: { ok: true, forced: true, readback: 12 } });
  await test.until('the forced value is measured', own, (now) => now.forced && now.value === 12);
  t.match((await operator.get(`${AT}/audit?category=iomodule-write&limit=2`)).body.items, [
    { result: 'Success', target: { kind: 'IOModule', name: 'io-rx101' }, details: { channel: channel.channel, forced: true }, after: 12 },
    { result: 'Accepted' },
  ]);
  t.same((await operator.post(`${rx}/release`, { channel: channel.channel })).body, { released: [channel.channel] });
  t.same((await operator.post(`${rx}/release`, {})).body, { released: [] }, 'nothing is forced any more');
  await test.until('the behaviour shows again', own, (now) => !now.forced && now.value !== 12);

  const batch = await operator.post(`${rx}/read-batch`, { channels: [channel.channel, 'nothing', 'constructor'] });
  t.match(batch.body.values, [{ quality: 'Good' }, { channel: 'nothing', value: null, quality: 'Bad', message: /no channel nothing/ }, { quality: 'Bad' }]);
  for (const [path, body, field] of [
    ['read', { channel: 'nothing' }, 'channel'],
    ['read', { channel: '__proto__' }, 'channel'],
    ['read', {}, 'channel'],
    ['read-batch', { channels: [] }, 'channels'],
    ['read-batch', { channels: Array(501).fill('a') }, 'channels'],
    ['write', { channel: 'nothing', value: 1 }, 'channel'],
    ['write', { channel: channel.channel }, 'value'],
    ['write', { channel: channel.channel, value: 'warm' }, 'value'],
    ['write', { channel: channel.channel, value: null }, 'value'],
    ['write', { channel: 'tcv101.out', value: 1e6 }, 'value'],
    ['release', { channel: 'nothing' }, 'channel'],
  ] as const)
    t.match(await operator.post(`${rx}/${path}`, body), { status: 400, body: { field } }, `${path} ${JSON.stringify(body).slice(0, 60)}`);
  t.match(
    await operator.post(`${rx}/write`, { channel: 'tcv101.out', value: 1e6 }),
    { status: 400, body: { code: 'out_of_range', tag: /^tcv101\./, engMin: 0, engMax: 100 } },
    'the range of the output holds for a force too',
  );
  for (const path of ['read', 'read-batch', 'write', 'release']) t.match(await viewer.post(`${rx}/${path}`, {}), { status: 403, body: { code: 'action_missing' } }, path);
  t.match(await operator.post(`${IO}/nowhere/read`, { channel: 'a' }), { status: 404 });
});

t.test('IO-18 Q-UNIT-08: a device output obeys access level and direction; a device that is away is Bad, and a write to it 503', async (t) => {
  const channels = [
    { name: 'level', address: 'holding:1:float32' },
    { name: 'lamp', address: 'coil:1', direction: 'output' },
    { name: 'pump', address: 'coil:2', direction: 'output' },
  ];
  await did(admin.post(IO, { name: 'plc', protocol: 'modbus', address: '127.0.0.1:1', options: { timeout: '100ms', retries: 0 }, channels }));
  await did(
    engineer.post(TEMPLATES, {
      name: 'lamp',
      tags: [{ name: 'on', dataType: 'Boolean', blockRef: 'out', portRef: 'OUT', channel: 'plc:lamp' }],
      blocks: [{ name: 'out', type: 'DO', params: { addr: '' } }],
    }),
  );
  await did(engineer.post(MODULES, { name: 'lamp1', templateRef: 'lamp', parentName: 'bench' }));
  await test.until('the device is found away', `${IO}/plc`, (module) => module.connectivity.verdict === 'lost');
  t.match(await admin.post(`${IO}/plc/write`, { channel: 'level', value: 1 }), { status: 400, body: { field: 'channel' } }, 'an input');
  t.match(await admin.post(`${IO}/plc/write`, { channel: 'lamp', value: true }), { status: 403, body: { code: 'read_only_tag', tag: 'lamp1.on' } });
  t.match(await admin.post(`${IO}/plc/write`, { channel: 'coil:1', value: true }), { status: 403 }, 'by its address too');
  t.match(await admin.post(`${IO}/plc/write`, { channel: 'pump', value: 'perhaps' }), { status: 400, body: { code: 'invalid_value' } });
  t.match(await admin.post(`${IO}/plc/write`, { channel: 'pump', value: true }), { status: 503, body: { code: 'device_unreachable' } });
  t.match((await admin.get(`${AT}/audit?category=iomodule-write&limit=2`)).body.items, [{ result: 'Failed', details: { code: 'device_unreachable' } }, { result: 'Accepted' }]);
  t.match(await admin.post(`${IO}/plc/read`, { channel: 'level' }), { status: 200, body: { value: null, quality: 'Bad', message: /.+/ } });
  t.match(await admin.post(`${IO}/plc/release`, {}), { status: 400, body: { code: 'not_simulated' } });
  t.match((await admin.get(`${IO}/plc/tags`)).body, [
    { channel: 'level', quality: 'Bad', value: null, controlModules: [] },
    { channel: 'lamp', direction: 'output', controlModules: [{ name: 'lamp1', tag: 'on' }] },
    { channel: 'pump' },
  ]);
});

t.test('CTRL-03 CTRL-05 CTRL-06 CTRL-07: whether the box works now is what the modules behind it say; its adoption stays', async (t) => {
  await did(admin.post(`${AT}/controllers`, { name: 'cabinet', simulation: true }));
  const own = `${AT}/controllers/cabinet`;
  t.match((await engineer.get(own)).body, { phase: 'Joined', health: 'unknown', healthReason: /no I\/O module/, ioProbePodName: '', ioProbeReady: false, lastAlive: '' });
  const modbus = (name: string) => did(admin.post(IO, { name, protocol: 'modbus', controllerRef: 'cabinet', address: '127.0.0.1:1', channels: [{ address: 'coil:1' }] }));
  await modbus('cabinet-plc');
  const offline = await test.until('the box is offline', own, (box) => box.health === 'offline' && box.healthReason.includes('Disconnected'));
  t.match(offline, { phase: 'Joined', healthReason: /^cabinet-plc is Disconnected: .+/, ioProbeReady: true, lastAlive: /Z$/ });
  t.equal(offline.ioProbePodName, (await engineer.get(`${IO}/cabinet-plc`)).body.probe.podName, 'the name is that of the probe which serves');
  await did(admin.post(IO, simulated('cabinet-sim', { controllerRef: 'cabinet' })));
  await test.until('one of two answers', own, (box) => box.health === 'degraded' && box.phase === 'Joined');
  await did(admin.delete(`${IO}/cabinet-plc`), 204);
  await test.until('all that is there answers', own, (box) => box.health === 'healthy' && box.healthReason === '');
});

t.test('IO-14 IO-15 IO-16: a probe is restarted for a reason; exposed fail-safe values are named and must be acknowledged', async (t) => {
  // modules of box: fs, which the test before has made, has a fail-safe timeout
  const body = await did(admin.post(IO, simulated('plain')));
  t.equal(body.name, 'plain');
  const { probe } = await test.until('it is served', `${IO}/plain`, (module) => module.state === 'Connected');
  const restart = `${IO}/plain/ioprobe/restart`;
  t.match(await (await test.as('operator')).post(restart, { reason: 'a long enough reason' }), { status: 403, body: { action: 'iomodule:restart-probe' } });
  t.match(await engineer.post(restart, { reason: 'short' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await engineer.post(restart, { reason: 'a long enough reason', acknowledgeFailSafe: 'yes' }), { status: 400, body: { field: 'acknowledgeFailSafe' } });
  t.match(await engineer.post(restart, { reason: 'a long enough reason' }), {
    status: 409,
    body: { code: 'fail_safe_not_acknowledged', error: /fs after 5s/, failSafeArmed: [{ ioModule: 'fs', timeout: '5s' }] },
  });
  await did(admin.post(`${IO}/plain/write`, { channel: 'level', value: 7 }), 200);
  const answer = await engineer.post(restart, { reason: 'a long enough reason', acknowledgeFailSafe: true });
  t.match(answer, {
    status: 200,
    body: {
      ioModule: 'plain',
      pod: probe.podName,
      oldImage: /lineside/,
      newImage: /lineside/,
      servedModules: ['fs', 'plain'],
      failSafeArmed: [{ ioModule: 'fs' }],
      status: 'Restarting',
    },
  });
  await test.until('what was forced is forced by the new probe', `${IO}/plain/tags/level`, (channel) => channel.forced && channel.value === 7 && channel.quality === 'Good');
  t.match((await engineer.get(`${AT}/audit?category=ioprobe&limit=1`)).body.items[0], { result: 'Success', operatorReason: 'a long enough reason', target: { name: 'plain' } });
});

t.test('D-UNIT-02: a unit without process cell is stored and not executed, and says so; with one it is executed', async (t) => {
  await did(engineer.post(`${AT}/units`, { name: 'loose' }));
  await did(
    engineer.post(TEMPLATES, {
      name: 'loose',
      blocks: [{ name: 'c', type: 'MUL', params: { IN1: 1.5, IN2: 2 } }],
      tags: [{ name: 'six', dataType: 'Float', blockRef: 'c', portRef: 'OUT' }],
    }),
  );
  await did(engineer.post(MODULES, { name: 'loose1', templateRef: 'loose', parentName: 'loose' }));
  const stored = await test.until('it says so', `${AT}/units/loose`, (unit) => unit.runtimeMessage.includes('process cell'));
  const words = /belongs to no process cell, so it is stored and not executed; set processCellName/;
  t.match(stored, { runtimeReady: false, runtimeMessage: words, processCell: '' });
  t.match(
    stored.conditions.find(({ type }: { type: string }) => type === 'RuntimeReady'),
    { status: 'False', reason: 'NoProcessCell', message: words },
  );
  t.match(await engineer.get(`${AT}/units/loose/tags/loose1.six`), { status: 503, body: { code: 'runtime_unreachable' } });
  t.match(await engineer.post(`${AT}/units/loose/runtime/restart`, { reason: 'a long enough reason' }), { status: 503, body: { error: words } });
  t.match(await engineer.post(`${AT}/units/loose/execute-phase`, { phaseTemplateRef: 'none' }), { status: 400 });

  await did(engineer.put(`${AT}/units/loose`, { processCellName: 'resin-train' }), 200);
  await test.until('it is executed', `${AT}/units/loose`, (unit) => unit.runtimeReady);
  await test.until('its module runs', `${AT}/units/loose/tags/loose1.six`, (tag) => tag.value === 3 && tag.quality === 'Good');
  await did(engineer.put(`${AT}/units/loose`, { processCellName: '' }), 200);
  await test.until('it ends', `${AT}/units/loose`, (unit) => !unit.runtimeReady && words.test(unit.runtimeMessage));
  t.match((await engineer.get(`${AT}/units/loose/tags/loose1.six`)).body, { code: 'runtime_unreachable' });
  t.match((await engineer.get(`${MODULES}/loose1`)).body, { state: 'Down', message: words });
  t.notOk(
    (await engineer.get(`${AT}/alarms`)).body.some(({ source }: { source: string }) => source === 'Unit/loose'),
    'what an engineer takes out is no fault',
  );
});

t.test('HIER-08 HIER-10 CM-06 CM-07: a module and a controller are read with every field they were made with', async (t) => {
  await did(engineer.post(TEMPLATES, { name: 'gate', moduleType: 'gate-valve', deviceClass: 'valve', symbolId: 'gate', measuredVariable: 'Flow' }));
  const module = { name: 'gate1', parentName: 'lab', parentKind: 'Unit', templateRef: 'gate', symbolId: 'ball', measuredVariable: 'Pressure', description: 'outlet' };
  await did(engineer.post(MODULES, module));
  t.match((await engineer.get(`${MODULES}/gate1`)).body, { ...module, moduleType: 'gate-valve', deviceClass: 'valve' });
  t.match(
    await engineer.put(`${MODULES}/gate1`, { symbolId: '', measuredVariable: '' }),
    { status: 200, body: { symbolId: 'gate', measuredVariable: 'Flow' } },
    'those of the template',
  );
  const controller = { name: 'panel', displayName: 'Panel 1', nodeLabels: { 'example.com/hall': 'b' }, simulation: true };
  t.match(await engineer.post(`${AT}/controllers`, controller), { status: 403, body: { action: 'controller:create' } });
  t.same(await did(admin.post(`${AT}/controllers`, controller)), { name: 'panel' });
  t.match((await engineer.get(`${AT}/controllers/panel`)).body, controller);
});

t.test('ERR-20 ERR-23 ERR-24 ERR-25 SIM-05 SIM-11 SIM-13: what engineering sends wrongly is answered with the status of the contract, and changes nothing', async (t) => {
  const before = (await engineer.get('/api/v1/export')).text;
  const expression = (params: object) => ({ name: 'odd', behaviors: [{ address: 'a', type: 'Expr', params }] });
  const mapped = (addressMap?: object) => ({ ...simulated('odd'), simulation: { preset: 'simple-vessel', ...(addressMap && { addressMap }) } });
  const loop = 'PROGRAM p VAR a : INT; END_VAR WHILE a < 3 DO a := a + 1; END_WHILE; END_PROGRAM';
  const block = { mode: 'Signal', batchRef: '', timeoutSeconds: 0 };
  const lost = adder('lab', { variables: [{ name: 'v', dataType: 'INT', direction: 'output' }], variableBindings: [{ variable: 'v', blockRef: 'b', portRef: 'OUT' }] });
  for (const [what, answer, status] of [
    ['a reason below the policy', engineer.post(`${PROGRAMS}/free/override-hot-swap`, { reason: 'short' }), 400],
    ['a param that is no number', engineer.post(`${AT}/simulationpresets`, expression({ expr: 't', engMin: 'low' })), 400],
    ['an expression without its text', engineer.post(`${AT}/simulationpresets`, expression({})), 400],
    ['an unknown function', engineer.post(`${AT}/simulationpresets`, expression({ expr: 'integrate(t)' })), 400],
    ['an unknown field of a program', engineer.post(PROGRAMS, { metadata: { name: 'odd' }, spec: adder('lab', { speed: 1 }) }), 400],
    ['text in a program', engineer.post(PROGRAMS, { metadata: { name: 'odd' }, spec: adder('lab', { structuredText: '' }) }), 400],
    ['the read name of the wiring', engineer.post(PROGRAMS, { metadata: { name: 'odd' }, spec: adder('lab', { dataConnections: [] }) }), 400],
    ['a scan interval that is empty', engineer.post(PROGRAMS, { metadata: { name: 'odd' }, spec: adder('lab', { scanInterval: '' }) }), 400],
    ['a binding to a block that is not there', engineer.post(PROGRAMS, { metadata: { name: 'odd' }, spec: lost }), 400],
    ['a kind that nobody knows', engineer.post(APPLY, manifest('Gadget', 'odd', {})), 400],
    ['a signal block without its signal', engineer.post(APPLY, manifest('CoordinationBlock', 'odd', block)), 400],
    ['a command that is none', engineer.post(`${AT}/command`, { kind: 'Batch', name: 'odd', command: 'Run' }), 400],
    ['a resource that is not there', engineer.put(`${MODULES}/nothing`, { description: 'x' }), 404],
    ['a program that is not there', engineer.post(`${PROGRAMS}/nothing/override-hot-swap`, { reason: 'a long enough reason' }), 404],
    ['a command to a batch that is not there', engineer.post(`${AT}/command`, { kind: 'Batch', name: 'nothing', command: 'Start' }), 404],
    ['a name that is taken', engineer.post(MODULES, { name: 'xv101', parentName: 'rx101', templateRef: 'on-off-valve' }), 409],
    ['a product and version that are taken', engineer.post(`${AT}/recipes/master`, { name: 'odd', spec: { productID: 'CLEAN-TRAIN', version: '1.0.0' } }), 409],
    ['an edit of an effective recipe', engineer.put(`${AT}/recipes/master/clean-train`, { spec: { description: 'x' } }), 409],
    ['a preset without its addresses', admin.post(IO, mapped()), 422],
    ['a preset with an empty address', admin.post(IO, mapped({ level: '' })), 422],
    ['text outside the dataflow subset', engineer.post(TEMPLATES, { name: 'odd', structuredText: loop }), 422],
    ['a kind that is deliberately not applied', engineer.post(APPLY, manifest('BatchRecord', 'odd', {})), 422],
  ] as const) {
    const { status: got, body, text } = await answer;
    t.equal(got, status, `${what}: ${text.slice(0, 200)}`);
    t.match(body, { error: /\w/, status, code: /^[a-z_]+$/ }, what);
  }
  t.equal((await engineer.get('/api/v1/export')).text, before);
});

t.test('GEN-10 GEN-26 MES-27: reads are plain objects, manifests are documents; what belongs to a site has its namespace, enterprise and site have none', async (t) => {
  for (const path of [
    '/api/v1/enterprises/acme-resins',
    '/api/v1/sites/demo',
    `${AT}/areas/synthesis`,
    `${AT}/processcells/resin-train`,
    `${AT}/units/rx101`,
    `${MODULES}/xv101`,
  ]) {
    const { body } = await engineer.get(path);
    t.equal(body.name, path.split('/').at(-1));
    for (const field of ['apiVersion', 'kind', 'metadata', 'status']) t.notOk(field in body, `${path}: ${field}`);
  }
  const exported = (await engineer.get('/api/v1/export')).body as { apiVersion: string; kind: string; metadata: { namespace?: string } }[];
  const scopes = new Map(exported.map(({ kind, metadata }) => [kind, metadata.namespace]));
  t.match(Object.fromEntries(scopes), { Area: 'site-demo', ProcessCell: 'site-demo', Unit: 'site-demo', MasterRecipe: 'site-demo' });
  t.same([scopes.get('Enterprise'), scopes.get('Site'), scopes.get('ControlModuleTemplate')], [undefined, undefined, undefined]);
  t.ok(
    exported.every(({ apiVersion }) => /^[a-z]+\.lineside\.io\/v1alpha1$/.test(apiVersion)),
    'VER-02',
  );
  t.match((await engineer.get('/api/v1/sites/demo')).body, { namespace: 'site-demo' });
});
