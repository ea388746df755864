/** Control modules and templates over the real pipeline. */
import t from 'tap';
import { ControlModuleReconciler } from '../../../src/domains/control-modules/reconciler.js';
import { TEMPLATE } from '../../../src/domains/control-modules/rules.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const TEMPLATES = '/api/v1/controlmoduletemplates';
const MODULES = '/api/v1/sites/north/controlmodules';
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });

const transmitter = {
  name: 'tx',
  moduleType: 'transmitter',
  deviceClass: 'sensor',
  symbolId: 'instrument-field',
  measuredVariable: 'Level',
  scanInterval: '100ms',
  tags: [
    { name: 'pv', dataType: 'Float', blockRef: 'ai', portRef: 'OUT', engMin: 'ai.engMin', engMax: '${ai.engMax - 10.0}', engUnits: '%' },
    { name: 'high', dataType: 'Boolean', blockRef: 'hi', portRef: 'OUT', role: 'alarm' },
    { name: 'limit', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'hi', portRef: 'IN2', role: 'setpoint', engMin: '0', engMax: 'nan.engMax' },
  ],
  blocks: [
    { name: 'ai', type: 'AI', params: { addr: '', engMax: 100 } },
    { name: 'hi', type: 'GT', params: { IN2: 90 } },
  ],
  dataConnections: [{ sourceBlock: 'ai', sourcePort: 'OUT', destBlock: 'hi', destPort: 'IN1' }],
};

t.test('CMT-01, CMT-02, CMT-05: a template is checked as a network, its bounds as references', async (t) => {
  t.match(await engineer.post(TEMPLATES, transmitter), { status: 400, body: { field: 'tags[2].engMax', error: /nan/ } });
  const good = { ...transmitter, tags: transmitter.tags.map((tag) => (tag.name === 'limit' ? { ...tag, engMax: 'ai.engMax' } : tag)) };
  t.match(await engineer.post(TEMPLATES, good), { status: 201, body: { name: 'tx', deviceClass: 'sensor', blocks: [{ name: 'ai' }, { name: 'hi' }] } });
  const wrong: [object, RegExp | string][] = [
    [{ blocks: [{ name: 'ai', type: 'NOPE' }] }, /^blocks\[0\]/],
    [{ deviceClass: 'gadget' }, 'deviceClass'],
    [{ measuredVariable: 'Colour' }, 'measuredVariable'],
    [{ tags: [{ name: 'a', dataType: 'Float', accessLevel: 'write' }] }, 'tags[0].accessLevel'],
    [{ tags: [{ name: 'a', dataType: 'Float', publishMode: 'often' }] }, 'tags[0].publishMode'],
    [{ tags: [{ name: 'a', dataType: 'Float', blockRef: 'ai', portRef: 'NOPE' }] }, 'tags[0].portRef'],
    [{ tags: [{ name: 'a', dataType: 'Boolean', blockRef: 'ai', portRef: 'OUT' }] }, 'tags[0].dataType'],
    [{ tags: [{ name: 'a', dataType: 'Float', accessLevel: 'readwrite', blockRef: 'hi', portRef: 'IN1' }] }, 'tags[0].accessLevel'],
    [{ tags: [{ name: 'a', dataType: 'Float', engMax: 'ai.none', blockRef: 'ai', portRef: 'OUT' }] }, 'tags[0].engMax'],
    [{ dataConnections: [{ sourceBlock: 'ai', sourcePort: 'NOPE', destBlock: 'hi', destPort: 'IN1' }] }, /^dataConnections\[0\]/],
  ];
  for (const [change, field] of wrong) t.match(await engineer.put(`${TEMPLATES}/tx`, change), { status: 400, body: { field } }, JSON.stringify(change));
});

t.test('CMT-07: a bound that is not numeric is kept and not enforced; one that is meant to be computed and cannot be is refused', async (t) => {
  const tag = (engMax: string) => ({ name: 'free', dataType: 'Float', accessLevel: 'readwrite', engMin: '0', engMax });
  const made = await engineer.post(TEMPLATES, { name: 'unbound', tags: [tag('unlimited')] });
  t.match(made, { status: 201, body: { tags: [{ engMin: '0', engMax: 'unlimited' }] } }, made.text);
  await engineer.post(MODULES, { name: 'free-1', templateRef: 'unbound', parentName: 'r1' });
  t.match((await engineer.get(`${MODULES}/free-1`)).body, { tags: [{ engMax: 'unlimited' }], effectiveTags: [{ engMin: '0', engMax: '' }] });
  for (const engMax of ['no limit', 'n/a', '1O0', '∞']) t.match(await engineer.put(`${TEMPLATES}/unbound`, { tags: [tag(engMax)] }), { status: 200 }, engMax);
  for (const engMax of ['ai.engMax', '${1 +}', '${ai.engMax}', '${SQRT(2.0)}']) {
    t.match(await engineer.put(`${TEMPLATES}/unbound`, { tags: [tag(engMax)] }), { status: 400, body: { field: 'tags[0].engMax' } }, engMax);
  }
});

t.test('CMT-08, decisions Q-PROG-09: a second tag with role state is refused by name', async (t) => {
  const tags = ['a', 'b'].map((name) => ({ name, dataType: 'String', role: 'state' }));
  t.match(await engineer.put(`${TEMPLATES}/tx`, { tags }), { status: 400, body: { field: 'tags[1].role', error: /tag b/ } });
});

t.test('CMT-03, CMT-12: structured text is compiled, only the network is stored; outside the subset it is 422', async (t) => {
  const structuredText = "PROGRAM cv\nVAR_INPUT\n  demand : REAL;\nEND_VAR\n  AO('', LIMIT(0.0, demand, 100.0), 0.0, 100.0, 4.0, 20.0);\nEND_PROGRAM\n";
  const made = await engineer.post(TEMPLATES, {
    name: 'cv',
    structuredText,
    blocks: [{ name: 'ignored', type: 'NOPE' }],
    tags: [{ name: 'out', dataType: 'Float', blockRef: 'ao_1', portRef: 'OUT' }],
  });
  t.equal(made.status, 201, made.text);
  t.notOk('structuredText' in made.body);
  t.match(made.body, {
    inputs: [{ name: 'demand', dataType: 'REAL' }],
    blocks: [
      { name: 'limit_1', type: 'LIMIT' },
      { name: 'ao_1', type: 'AO' },
    ],
  });
  t.notOk(JSON.stringify(plant.store.get(TEMPLATE, '', 'cv')?.spec).includes('PROGRAM'));
  const refused = await engineer.post(TEMPLATES, { name: 'loop', structuredText: 'PROGRAM p\nVAR\n  i : INT;\nEND_VAR\n  WHILE TRUE DO i := 1; END_WHILE;\nEND_PROGRAM' });
  t.match(refused, { status: 422, body: { code: 'unprocessable', diagnostics: [{ line: 5, message: String }] } });
});

t.test('CM-01, CM-02, CM-06, CM-07, CM-08, CM-09, CM-11, CM-12: an instance is stored unmerged and served merged', async (t) => {
  t.match(await engineer.post(MODULES, { name: 'li1' }), { status: 400, body: { code: 'missing_field', field: 'templateRef' } });
  t.match(await engineer.post(MODULES, { name: 'li1', templateRef: 'none' }), { status: 400, body: { code: 'unknown_reference', field: 'templateRef' } });
  const made = await engineer.post(MODULES, {
    name: 'li1',
    templateRef: 'tx',
    parentName: 'r1',
    measuredVariable: 'Weight',
    tags: [
      { name: 'pv', channel: 'io-1:lt1', engUnits: 'kg' },
      { name: 'note', dataType: 'String', accessLevel: 'readwrite' },
    ],
  });
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    unit: 'r1',
    moduleType: 'transmitter',
    deviceClass: 'sensor',
    symbolId: 'instrument-field',
    measuredVariable: 'Weight',
    state: 'Unknown',
    ioModules: ['io-1'],
  });
  const [pv, high, limit, note] = made.body.tags;
  t.match(pv, { name: 'pv', inherited: false, dataType: 'Float', channel: 'io-1:lt1', engUnits: 'kg', blockRef: 'ai' }, 'field by field');
  t.match(high, { name: 'high', inherited: true, trueLabel: 'Active', falseLabel: 'Normal' }, 'CMT-11');
  t.match(
    [limit, note],
    [
      { name: 'limit', inherited: true },
      { name: 'note', inherited: false, dataType: 'String' },
    ],
  );
  t.match(made.body.effectiveTags[0], { engMin: '0', engMax: '90' });
});

t.test('CM-10: an inherited tag sent back is refused by name', async (t) => {
  const { body } = await engineer.get(`${MODULES}/li1`);
  t.match(await engineer.put(`${MODULES}/li1`, { tags: body.tags }), { status: 400, body: { error: /tag high/, tag: 'high' } });
  const own = body.tags.filter((tag: { inherited: boolean }) => !tag.inherited);
  t.match(await engineer.put(`${MODULES}/li1`, { tags: own }), {
    status: 200,
    body: { tags: [{ name: 'pv', inherited: false }, { name: 'high', inherited: true }, {}, { name: 'note' }] },
  });
});

t.test('decisions Q-PROG-10: modules nest at most four deep, without a cycle', async (t) => {
  for (let depth = 2; depth <= 4; depth += 1) {
    t.equal((await engineer.post(MODULES, { name: `li${depth}`, templateRef: 'tx', parentKind: 'ControlModule', parentName: `li${depth - 1}` })).status, 201);
  }
  t.match((await engineer.get(`${MODULES}/li4`)).body, { unit: 'r1' });
  t.match(await engineer.post(MODULES, { name: 'li5', templateRef: 'tx', parentKind: 'ControlModule', parentName: 'li4' }), { status: 400, body: { field: 'parentName' } });
  t.match(await engineer.put(`${MODULES}/li1`, { parentKind: 'ControlModule', parentName: 'li3' }), { status: 400, body: { field: 'parentName' } });
  t.match(await engineer.put(`${MODULES}/li1`, { parentKind: 'Area', parentName: 'x' }), { status: 400, body: { field: 'parentKind' } });
});

t.test('decisions D-PROG-01: a module has a program of its name, derived from template and instance', async (t) => {
  const { store } = plant;
  const reconciler = new ControlModuleReconciler({ store });
  for (const key of [...reconciler.keys()]) reconciler.reconcile(key);
  const program = (await engineer.get('/api/v1/sites/north/fbnetworks/li1')).body;
  t.match(program, { unitRef: 'r1', scanInterval: '100ms', managedBy: 'li1', blocks: [{ name: 'ai', params: { addr: 'io-1:lt1' } }, { name: 'hi' }] });
  t.match((await engineer.get(`${MODULES}/li1`)).body, { program: 'li1', state: 'Unknown' });
  const before = store.resourceVersion;
  for (const key of [...reconciler.keys()]) reconciler.reconcile(key);
  t.equal(store.resourceVersion, before, 'running it twice changes nothing');
  t.match(await engineer.post('/api/v1/sites/north/fbnetworks', { metadata: { name: 'li2' }, spec: { unitRef: 'r1', scanInterval: '1s', blocks: [] } }), { status: 409 });
  await engineer.post(MODULES, { name: 'gone', templateRef: 'tx', parentName: 'r1' });
  reconciler.reconcile({ site: 'north', name: 'gone' });
  t.equal((await engineer.delete(`${MODULES}/gone`)).status, 204);
  reconciler.reconcile({ site: 'north', name: 'gone' });
  t.equal((await engineer.get('/api/v1/sites/north/fbnetworks/gone')).status, 404);
});

t.test('decisions Q-ERR-11: a template in use and a parent module cannot be deleted', async (t) => {
  t.match(await engineer.delete(`${TEMPLATES}/tx`), { status: 409, body: { code: 'has_dependents', dependentCount: 4 } });
  t.match(await engineer.delete(`${MODULES}/li3`), { status: 409, body: { dependents: [{ kind: 'ControlModule', name: 'li4' }] } });
});
