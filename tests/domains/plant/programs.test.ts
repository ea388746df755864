/** Control programs, block types and logic transforms over the real pipeline. */
import t from 'tap';
import { ControlProgram } from '../../../src/domains/logic/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const PROGRAMS = '/api/v1/sites/north/fbnetworks';
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });

const spec = {
  unitRef: 'r1',
  scanInterval: '1s',
  blocks: [
    { name: 'double', type: 'MUL', params: { IN2: 2 } },
    { name: 'sum', type: 'TOTALIZER', params: { timeBase: 'h' } },
  ],
  connections: [{ sourceBlock: 'double', sourcePort: 'OUT', destBlock: 'sum', destPort: 'IN' }],
  variables: [
    { name: 'level', dataType: 'REAL', direction: 'INPUT' },
    { name: 'total', dataType: 'REAL', direction: 'output' },
  ],
  variableBindings: [
    { variable: 'level', blockRef: 'double', portRef: 'IN1' },
    { variable: 'total', blockRef: 'sum', portRef: 'OUT' },
  ],
};

t.test('PROG-01, PROG-02, PROG-03, PROG-04, PROG-05, PROG-08, PROG-10, PROG-12: a program is a document decoded strictly', async (t) => {
  const wrong: [object, string | RegExp][] = [
    [{ dataConnections: [] }, 'spec.dataConnections'],
    [{ structuredText: 'PROGRAM' }, 'spec.structuredText'],
    [{ colour: 'red' }, 'spec.colour'],
    [{ unitRef: undefined }, 'spec.unitRef'],
    [{ unitRef: 'none' }, 'spec.unitRef'],
    [{ scanInterval: undefined }, 'spec.scanInterval'],
    [{ scanInterval: '' }, 'spec.scanInterval'],
    [{ scanInterval: 'soon' }, 'spec.scanInterval'],
    [{ scanInterval: 0 }, 'spec.scanInterval'],
    [{ blocks: undefined }, 'spec.blocks'],
    [{ blocks: [{ name: 'a', type: 'NOPE' }], connections: [], variableBindings: [] }, /^spec\.blocks\[0\]/],
    [{ variableBindings: [{ variable: 'level', blockRef: 'gone', portRef: 'IN' }] }, 'spec.variableBindings[0].blockRef'],
  ];
  for (const [change, field] of wrong)
    t.match(await engineer.post(PROGRAMS, { metadata: { name: 'p' }, spec: { ...spec, ...change } }), { status: 400, body: { field } }, JSON.stringify(change));
  const made = await engineer.post(PROGRAMS, { metadata: { name: 'energy' }, spec });
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    name: 'energy',
    unitRef: 'r1',
    scanInterval: '1s',
    state: 'Pending',
    scanCount: 0,
    blockCount: 2,
    dataConnections: spec.connections,
    variables: [{ direction: 'input' }, {}],
  });
  t.notOk('connections' in made.body);
});

t.test('D-C-05: form=manifest gives a program as the document that PUT, POST and apply take', async (t) => {
  const labels = { area: 'south', 'lineside.io/managed-by': 'tool' };
  t.equal((await engineer.post(PROGRAMS, { metadata: { name: 'told', labels, annotations: { why: 'a meter' } }, spec })).status, 201);
  const read = await engineer.get(`${PROGRAMS}/told?form=manifest`);
  t.match(read, { status: 200, headers: { etag: String } });
  const { body: manifest } = read;
  const stored = { ...spec, variables: [{ ...spec.variables[0], direction: 'input' }, spec.variables[1]], blocks: spec.blocks.map((block) => ({ ...block, comment: '' })) };
  t.same(manifest, {
    apiVersion: 'control.lineside.io/v1alpha1',
    kind: 'ControlProgram',
    metadata: { name: 'told', namespace: 'site-north', labels, annotations: { why: 'a meter' } },
    spec: stored,
  });
  const put = await engineer.put(`${PROGRAMS}/told`, manifest, { headers: { 'If-Match': read.headers.etag as string } });
  t.equal(put.status, 200, put.text);
  const applied = await engineer.post('/api/v1/apply', manifest);
  t.match(applied, { status: 200, body: { operation: 'unchanged', warnings: [] } }, applied.text);
  const { status, text } = await engineer.post(PROGRAMS, { ...manifest, metadata: { ...manifest.metadata, name: 'retold' } });
  t.equal(status, 201, text);
  t.same((await engineer.get(`${PROGRAMS}/retold?form=manifest`)).body.spec, stored);
  t.match(await engineer.get(`${PROGRAMS}/told?form=yaml`), { status: 400, body: { code: 'invalid_query', allowed: ['manifest'] } });
  t.match(await engineer.get(`${PROGRAMS}/told`), { body: { name: 'told', dataConnections: spec.connections } }, 'without it nothing has changed');
  for (const name of ['told', 'retold']) t.equal((await engineer.delete(`${PROGRAMS}/${name}`)).status, 204);
});

t.test('PROG-06, PROG-07, PROG-09, PROG-11: a PUT states the whole spec', async (t) => {
  const { variables: _variables, ...without } = spec;
  t.match(await engineer.put(`${PROGRAMS}/energy`, { spec: without }), { status: 400, body: { field: 'spec.variables' } });
  t.match(
    await engineer.put(`${PROGRAMS}/energy`, { spec: { ...spec, unitRef: 'r-1' } }),
    { status: 400, body: { code: 'unknown_reference', field: 'spec.unitRef' } },
    'D-UNIT-02',
  );
  t.match(await engineer.put(`${PROGRAMS}/energy`, { spec: { ...spec, blocks: spec.blocks.slice(1), connections: [] } }), {
    status: 400,
    body: { field: 'spec.variableBindings[0].blockRef' },
  });
  t.match(await engineer.put(`${PROGRAMS}/energy`, { spec: { ...spec, scanInterval: 250 } }), { status: 200, body: { scanInterval: '250ms' } });
  t.match(await engineer.put(`${PROGRAMS}/energy`, { spec: { unitRef: 'r1', scanInterval: '1s', blocks: spec.blocks, variables: [], variableBindings: [] } }), {
    status: 200,
    body: { variables: [], dataConnections: [] },
  });
  const nothing = { connections: null, variables: null, variableBindings: null };
  t.match(await engineer.put(`${PROGRAMS}/energy`, { metadata: { labels: null }, spec: { unitRef: 'r1', scanInterval: '1s', blocks: spec.blocks, ...nothing } }), { status: 200 });
});

t.test('PROG-16, decisions Q-PROG-03: the active-batch gate, its one-shot override, and comments that always pass', async (t) => {
  const unit = plant.store.get(Unit, 'north', 'r1')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...unit.status, allocatedTo: 'b-7' } }] });
  const body = (scanInterval: string) => ({ spec: { ...spec, scanInterval } });
  t.match(await engineer.put(`${PROGRAMS}/energy`, body('2s')), { status: 409, body: { code: 'active_batch', batch: 'b-7', unit: 'r1' } });
  const stored = plant.store.get(ControlProgram, 'north', 'energy')!.spec;
  const commented = { ...stored, blocks: stored.blocks.map((block) => ({ ...block, comment: 'seen' })) };
  t.equal((await engineer.put(`${PROGRAMS}/energy`, { spec: commented })).status, 200);
  t.match(await engineer.post(`${PROGRAMS}/energy/override-hot-swap`, { reason: 'short' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await engineer.post(`${PROGRAMS}/energy/override-hot-swap`, { reason: 'correct a wrong factor' }), { status: 200, body: { armed: true } });
  t.match(await engineer.put(`${PROGRAMS}/energy`, body('2s')), { status: 200, body: { scanInterval: '2s' } });
  t.match(await engineer.put(`${PROGRAMS}/energy`, body('3s')), { status: 409 }, 'used up');
  t.match(await engineer.delete(`${PROGRAMS}/energy`), { status: 409, body: { code: 'active_batch' } });
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: unit.status }] });
});

t.test('PROG-17, decisions Q-PROG-04: a program of a control module is edited through the module', async (t) => {
  await plant.store.write({
    puts: [
      {
        kind: ControlProgram,
        site: 'north',
        name: 'li1',
        spec: plant.store.get(ControlProgram, 'north', 'energy')!.spec,
        ownerReferences: [{ kind: 'ControlModule', name: 'li1', uid: 'u' }],
      },
    ],
  });
  const refused = { status: 409, body: { code: 'managed_by_control_module', controlModule: 'li1' } };
  t.match(await engineer.put(`${PROGRAMS}/li1`, { spec }), refused);
  t.match(await engineer.post(`${PROGRAMS}/li1/override-hot-swap`, { reason: 'a long enough reason' }), refused);
  t.match(await engineer.delete(`${PROGRAMS}/li1`), refused);
  t.match(
    await engineer.post('/api/v1/apply', {
      apiVersion: 'control/v1alpha1',
      kind: 'FBNetwork',
      metadata: { name: 'li1', namespace: 'site-north' },
      spec: { ...spec, scanInterval: '5s' },
    }),
    refused,
  );
});

t.test('PROG-13: generic apply is exempt: unknown fields warn, a missing interval is stored', async (t) => {
  const applied = await engineer.post('/api/v1/apply', {
    apiVersion: 'control.lineside.io/v1alpha1',
    kind: 'ControlProgram',
    metadata: { name: 'loose', namespace: 'site-north' },
    spec: { unitRef: 'r1', colour: 'red', dataConnections: [] },
  });
  t.match(applied, { status: 200, body: { kind: 'ControlProgram', operation: 'created', warnings: [/colour/] } });
  t.match((await engineer.get(`${PROGRAMS}/loose`)).body, { scanInterval: '', blockCount: 0 });
});

t.test('LOGIC-05, LOGIC-06, LOGIC-07: built-in and composite types are one catalogue', async (t) => {
  const guard = {
    name: 'guard',
    inputs: [{ name: 'LEVEL', dataType: 'REAL' }],
    outputs: [{ name: 'OK', dataType: 'BOOL' }],
    params: [{ name: 'min', dataType: 'REAL', defaultValue: '10' }],
    blocks: [{ name: 'ge', type: 'GE', params: { IN2: 10 } }],
    inputBindings: [{ port: 'LEVEL', blockRef: 'ge', portRef: 'IN1' }],
    outputBindings: [{ port: 'OK', blockRef: 'ge', portRef: 'OUT' }],
    paramBindings: [{ param: 'min', blockRef: 'ge', blockParam: 'IN2' }],
  };
  t.match(await engineer.post('/api/v1/fbblocktypes', guard), { status: 201, body: { name: 'guard' } });
  t.match(await engineer.post('/api/v1/fbblocktypes', { ...guard, name: 'ton' }), { status: 409, body: { code: 'already_exists' } });
  t.match(await engineer.put('/api/v1/fbblocktypes/guard', { blocks: [{ name: 'ge', type: 'guard' }] }), { status: 400, body: { error: /contain itself/ } });
  t.match((await engineer.get('/api/v1/blocktypes/guard')).body, {
    kind: 'composite',
    inputs: [{ name: 'LEVEL', dataType: 'REAL', required: false }],
    params: [{ name: 'min', defaultValue: '10' }],
  });
  t.match((await engineer.get('/api/v1/blocktypes/AI')).body, { kind: 'builtin', params: [{ name: 'addr', dataType: 'STRING', required: true }] });
  const names = (await engineer.get('/api/v1/blocktypes')).body.map((entry: { name: string }) => entry.name);
  t.ok(names.includes('guard') && names.includes('PID') && names.length > 60);
  t.match(await engineer.get('/api/v1/blocktypes/NOPE'), { status: 404 });
});

t.test('LOGIC-01, LOGIC-02, LOGIC-03: text and network turn into each other', async (t) => {
  const network = {
    name: 'temp-loop',
    description: 'text',
    scanInterval: '200ms',
    blocks: [
      { name: 'ai', type: 'AI', params: { addr: 'io-1:tt', rawMin: 4, rawMax: 20 } },
      { name: 'hi', type: 'GT', params: { IN2: 90 } },
    ],
    dataConnections: [{ sourceBlock: 'ai', sourcePort: 'OUT', destBlock: 'hi', destPort: 'IN1' }],
  };
  const printed = await engineer.post('/api/v1/control-logic/to-st', network);
  t.equal(printed.status, 200, printed.text);
  t.match(printed.body.st, /PROGRAM temp_loop/);
  const back = await engineer.post('/api/v1/control-logic/to-network', { st: printed.body.st });
  t.match(back, { status: 200, body: { name: 'temp-loop', scanInterval: '200ms', dataConnections: network.dataConnections } });
  t.same(
    back.body.blocks.map((block: { name: string; type: string }) => [block.name, block.type]),
    [
      ['ai', 'AI'],
      ['hi', 'GT'],
    ],
  );
  t.match(await engineer.post('/api/v1/control-logic/to-network', { st: 'PROGRAM p\n  EXIT;\nEND_PROGRAM' }), {
    status: 422,
    body: { blocks: [], dataConnections: [], diagnostics: [{ line: 2 }] },
  });
});

t.test('D-C-05 LOGIC-01 LOGIC-02 ST-19: text and wiring go by one name in templates, transforms and validation, and by their other names as well', async (t) => {
  const TEMPLATES = '/api/v1/controlmoduletemplates';
  const structuredText = 'PROGRAM p\nVAR_INPUT a : REAL; END_VAR\nVAR_OUTPUT high : BOOL; END_VAR\n  high := (a * 2.0) > 9.0;\nEND_PROGRAM';
  const other = structuredText.replace('9.0', '8.0');
  const logic = ({ blocks, dataConnections, inputs, variableBindings, tags }: Record<string, unknown>) => ({ blocks, dataConnections, inputs, variableBindings, tags });
  const { body: network } = await engineer.post('/api/v1/control-logic/to-network', { structuredText });
  t.equal(network.dataConnections.length, 1);
  const { dataConnections: connections, ...unwired } = logic(network);
  const printed = await engineer.post('/api/v1/control-logic/to-st', logic(network));
  t.equal(printed.body.structuredText, printed.body.st);
  t.same((await engineer.post('/api/v1/control-logic/to-st', { ...unwired, connections })).body, printed.body);
  t.same((await engineer.post('/api/v1/control-logic/to-network', printed.body)).body.dataConnections, connections, 'what to-st answers goes back whole');
  for (const name of ['structuredText', 'st', 'source']) {
    t.same((await engineer.post('/api/v1/control-logic/to-network', { [name]: structuredText })).body, network, name);
    t.match(await engineer.post('/api/v1/validate/st', { [name]: structuredText }), { status: 200, body: { valid: true } }, name);
    t.match(await engineer.post('/api/v1/validate/st', { [name]: 'a >', mode: 'expression' }), { status: 400, body: { code: 'st_invalid' } }, name);
    t.match(await engineer.post(TEMPLATES, { name: `by-${name.toLowerCase()}`, [name]: structuredText }), { status: 201, body: logic(network) }, name);
  }
  for (const path of ['/api/v1/control-logic/to-network', '/api/v1/validate/st']) {
    t.match(await engineer.post(path, {}), { status: 400, body: { code: 'missing_field', field: 'structuredText' } });
    t.match(await engineer.post(path, { structuredText, st: other }), { status: 400, body: { code: 'invalid_field', field: 'st' } });
  }
  const wired = await engineer.post(TEMPLATES, { name: 'wired', ...unwired, connections });
  t.match(wired, { status: 201, body: logic(network) }, wired.text);
  t.notOk('connections' in wired.body, 'what is served goes by one name');
  t.equal((await engineer.put(`${TEMPLATES}/wired`, wired.body)).status, 200);
  t.match(await engineer.put(`${TEMPLATES}/wired`, { connections: null }), { status: 200, body: { dataConnections: [] } });
  t.match(await engineer.put(`${TEMPLATES}/wired`, { connections }), { status: 200, body: logic(network) });
  t.match(await engineer.put(`${TEMPLATES}/wired`, { connections, dataConnections: [] }), { status: 400, body: { code: 'invalid_field', field: 'connections' } });
  t.match(await engineer.put(`${TEMPLATES}/wired`, { connections: [{}] }), { status: 400, body: { field: 'connections[0].sourceBlock' } });
  const document = { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'ControlModuleTemplate', metadata: { name: 'wired' } };
  t.match(await engineer.post('/api/v1/apply', { ...document, spec: { ...unwired, connections } }), { status: 200, body: { operation: 'unchanged' } });
  t.match(await engineer.post('/api/v1/apply', { ...document, spec: { ...unwired, connections, dataConnections: [] } }), { status: 400, body: { field: 'spec.connections' } });
});

t.test('ST-19, SFC validation (decisions Q-ST-03): text and charts are judged as the write would judge them', async (t) => {
  const st = (source: string, mode?: string) => engineer.post('/api/v1/validate/st', { source, ...(mode ? { mode } : {}) });
  t.match(await st("WRITE('v.cmd', TRUE); x := 1;"), { status: 200, body: { valid: true } });
  t.match(await st('IF x THEN'), { status: 400, body: { code: 'st_invalid', valid: false, diagnostics: [{ severity: 'error', line: 1 }] } });
  t.match(await st('PROGRAM p\n WHILE TRUE DO ; END_WHILE;\nEND_PROGRAM'), { status: 422, body: { diagnostics: [{ line: 2 }] } });
  t.match(await st("READ('a.b') > 3.0 AND x", 'expression'), { status: 200, body: { valid: true } });
  t.match(await st('x >', 'expression'), { status: 400 });
  const chart = { steps: [{ name: 'a', initial: true, actionST: 'n := 1;' }, { name: 'b' }], transitions: [{ from: 'a', to: 'b', conditionST: 'n = 1' }] };
  t.match(await engineer.post('/api/v1/validate/sfc-chart', chart), { status: 200, body: { valid: true } });
  t.match(await engineer.post('/api/v1/validate/sfc-chart', { chart: { ...chart, transitions: [{ from: 'a', to: 'gone' }] } }), {
    status: 400,
    body: { code: 'st_invalid', diagnostics: [{ code: 'unknown-step' }] },
  });
  t.match(await engineer.post('/api/v1/validate/sfc-chart', { ...chart, chartKind: 'holding' }), { status: 200 });
  t.match(
    await engineer.post('/api/v1/validate/sfc-chart', {
      steps: [{ name: 'p', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'x' }],
      chartKind: 'procedural',
      site: 'north',
    }),
    { status: 200 },
  );
});

t.test('decisions 2.8: a literal outside the range of a tag is found by the type of the role, and by the module of the unit', async (t) => {
  const tags = [{ name: 'x', dataType: 'Float', accessLevel: 'readwrite', engMin: '0', engMax: '100' }];
  await engineer.post('/api/v1/controlmoduletemplates', { name: 'memory', moduleType: 'memory', tags });
  const chart = (value: string) => ({
    roles: [{ name: 'mem', requiredType: 'memory' }],
    steps: [{ name: 'a', initial: true, actionST: `WRITE('mem.x', ${value});` }, { name: 'b' }],
    transitions: [{ from: 'a', to: 'b' }],
  });
  const validate = (value: string, place = {}) => engineer.post('/api/v1/validate/sfc-chart', { ...chart(value), ...place });
  const template = (name: string, value: string) => engineer.post('/api/v1/sites/north/phasetemplates', { name, spec: chart(value) });
  const outside = { status: 400, body: { code: 'st_invalid', diagnostics: [{ code: 'range', step: 'a' }] } };
  t.match(await template('far', '200.0'), outside);
  t.match(await template('low', '-1'), outside);
  t.match(await template('near', '100.0'), { status: 201 });
  t.match(await validate('200.0', { site: 'north' }), outside);
  const unit = {
    apiVersion: 'physical.lineside.io/v1alpha1',
    kind: 'Unit',
    metadata: { name: 'mem-unit', namespace: 'site-north' },
    spec: { roleBindings: [{ role: 'mem', controlModule: 'mem-1' }] },
  };
  t.equal((await engineer.post('/api/v1/apply', unit)).status, 200);
  await engineer.post('/api/v1/sites/north/controlmodules', { name: 'mem-1', templateRef: 'memory', parentName: 'mem-unit' });
  t.match(await validate('200.0', { site: 'north', unit: 'mem-unit' }), outside);
  t.match(await engineer.put('/api/v1/sites/north/controlmodules/mem-1', { tags: [{ name: 'x', engMax: '300' }] }), { status: 200 });
  t.match(await validate('200.0', { site: 'north', unit: 'mem-unit' }), { status: 200 }, 'the module of the unit takes it');
  t.match(await template('far', '200.0'), { status: 201 }, 'and so does a module of the site');
  t.match(await template('farther', '300.5'), outside);
  await engineer.post('/api/v1/sites/north/controlmodules', { name: 'mem-2', templateRef: 'memory', parentName: 'mem-unit', tags: [{ name: 'x', engMax: 'unlimited' }] });
  t.match(await template('farther', '300.5'), { status: 201 }, 'one without a bound takes all');
});
