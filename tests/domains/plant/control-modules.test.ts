/** Control modules and templates over the real pipeline. */
import t from 'tap';
import { ControlModuleReconciler } from '../../../src/domains/control-modules/reconciler.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { ControlModuleTemplate } from '../../../src/domains/control-modules/kind.js';

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
  t.notOk(JSON.stringify(plant.store.get(ControlModuleTemplate, '', 'cv')?.spec).includes('PROGRAM'));
  const refused = await engineer.post(TEMPLATES, { name: 'loop', structuredText: 'PROGRAM p\nVAR\n  i : INT;\nEND_VAR\n  WHILE TRUE DO i := 1; END_WHILE;\nEND_PROGRAM' });
  t.match(refused, { status: 422, body: { code: 'unprocessable', diagnostics: [{ line: 5, message: String }] } });
});

t.test('decisions 4.6: VAR_INPUT and VAR_OUTPUT of a text become inputs, bindings and tags of the template', async (t) => {
  const structuredText = `PROGRAM ilk
VAR_INPUT level : REAL := 0.5; END_VAR
VAR_OUTPUT high : BOOL; twice : REAL; whole : REAL; END_VAR
VAR i : INTERLOCK; END_VAR
  high := level > 0.8;
  i(IN1 := NOT high);
  twice := level * 2.0;
  whole := 10.0 * 9 - 8;
END_PROGRAM`;
  const made = await engineer.post(TEMPLATES, { name: 'ilk', structuredText, tags: [{ name: 'high', dataType: 'Boolean', role: 'alarm' }] });
  t.match(
    made,
    {
      status: 201,
      body: {
        variableBindings: [
          { variable: 'level', blockRef: 'gt_1', portRef: 'IN1' },
          { variable: 'level', blockRef: 'mul_1', portRef: 'IN1' },
        ],
      },
    },
    made.text,
  );
  const bindings = (tags: { name: string; dataType: string; blockRef: string; portRef: string }[]) =>
    tags.map(({ name, dataType, blockRef, portRef }) => `${name} ${dataType} ${blockRef}.${portRef}`);
  t.same(bindings(made.body.tags), ['high Boolean gt_1.OUT', 'twice Float mul_1.OUT', 'whole Float sub_1.OUT']);
  t.equal(made.body.tags[0].role, 'alarm', 'a tag of the request keeps what else it says');
  t.notOk('notes' in made.body);
  const turned = await engineer.put(`${TEMPLATES}/ilk`, { structuredText: structuredText.replace('high := level', 'high := level + 0.1') });
  t.same(bindings(turned.body.tags), ['high Boolean gt_1.OUT', 'twice Float mul_1.OUT', 'whole Float sub_1.OUT'], turned.text);
  const other = await engineer.put(`${TEMPLATES}/ilk`, { structuredText: structuredText.replace('twice := level * 2.0', 'twice := (level * 2.0) * 1.5') });
  t.same(bindings(other.body.tags)[1], 'twice Float mul_2.OUT', 'a stored tag follows the text');
  const own = await engineer.put(`${TEMPLATES}/ilk`, { structuredText, tags: [{ name: 'twice', dataType: 'Boolean', blockRef: 'gt_1', portRef: 'OUT' }] });
  t.same(bindings(own.body.tags)[0], 'twice Boolean gt_1.OUT', 'a tag that names its port keeps it');
  t.match(await engineer.put(`${TEMPLATES}/ilk`, { structuredText, tags: [{ name: 'twice', dataType: 'Boolean' }] }), { status: 400, body: { field: 'tags[0].dataType' } });
  t.match(await engineer.put(`${TEMPLATES}/ilk`, { structuredText: structuredText.split('high').join('_high') }), {
    status: 400,
    body: { field: 'structuredText', error: /_high/ },
  });
});

t.test('D-PROG-02: a whole number in the place of a REAL constant of the template stays REAL', async (t) => {
  const structuredText =
    'PROGRAM k\nVAR_OUTPUT limit : REAL; scaled : REAL; END_VAR\nVAR m : MUL := (IN1 := 2.0); END_VAR\n  limit := 90.0;\n  m(IN2 := 3);\n  scaled := m.OUT;\nEND_PROGRAM';
  const tags = [{ name: 'set', dataType: 'Float', accessLevel: 'readwrite', engMin: '0', engMax: 'const_1.value' }];
  const made = await engineer.post(TEMPLATES, { name: 'k', structuredText, tags });
  t.match(
    made.body.blocks,
    [
      { name: 'const_1', params: { value: 'REAL#90.0' } },
      { name: 'm', params: { IN1: '2.0', IN2: 3 } },
    ],
    made.text,
  );
  const spec = (value: number) => ({
    templateRef: 'k',
    parentName: 'r1',
    paramOverrides: [
      { blockRef: 'const_1', param: 'value', value },
      { blockRef: 'm', param: 'IN1', value },
    ],
  });
  const applied = await engineer.post('/api/v1/apply', {
    apiVersion: 'physical.lineside.io/v1alpha1',
    kind: 'ControlModule',
    metadata: { name: 'k-1', namespace: 'site-north' },
    spec: spec(95),
  });
  t.equal(applied.status, 200, applied.text);
  t.match((await engineer.get(`${MODULES}/k-1`)).body.effectiveTags, [{ name: 'set', engMax: '95' }]);
});

t.test('LOGIC-01, LOGIC-02: what to-network answers is a template as it is posted, and to-st prints its inputs and outputs', async (t) => {
  const structuredText =
    'PROGRAM ilk\nVAR_INPUT level : REAL; if_1 : BOOL := TRUE; END_VAR\nVAR_OUTPUT high : BOOL; END_VAR\nVAR i : INTERLOCK; END_VAR\n  high := level > 0.8;\n  i(IN1 := NOT high, IN2 := if_1);\nEND_PROGRAM';
  const { body: pasted } = await engineer.post('/api/v1/control-logic/to-network', { st: structuredText });
  const logic = ({ blocks, dataConnections, inputs, variableBindings, tags }: Record<string, unknown>) => ({ blocks, dataConnections, inputs, variableBindings, tags });
  const fromPaste = await engineer.post(TEMPLATES, { ...pasted, name: 'ilk-pasted' });
  const fromText = await engineer.post(TEMPLATES, { name: 'ilk-text', structuredText });
  t.equal(fromPaste.status, 201, fromPaste.text);
  t.same(logic(fromPaste.body), logic(fromText.body));
  const printed = await engineer.post('/api/v1/control-logic/to-st', logic(fromText.body));
  t.match(printed, { status: 200, body: { st: /VAR_INPUT\n  level : REAL;\n  if_1 : BOOL := TRUE;\nEND_VAR\nVAR_OUTPUT\n  high : BOOL;\nEND_VAR/ } }, printed.text);
  const again = await engineer.post(TEMPLATES, { name: 'ilk-again', structuredText: printed.body.st });
  t.same(logic(again.body), logic(fromText.body), again.text);
  const wrong = {
    ...logic(fromText.body),
    inputs: [
      { name: 'level', dataType: 'REAL' },
      { name: 'if', dataType: 'BOOL' },
    ],
    variableBindings: [],
  };
  t.match(await engineer.post('/api/v1/control-logic/to-st', wrong), { status: 400, body: { field: 'inputs[1].name', error: /rename/ } });
  t.match(await engineer.post('/api/v1/control-logic/to-st', { ...wrong, inputs: [], variableBindings: [{ variable: 'level', blockRef: 'gt_1', portRef: 'IN1' }] }), {
    status: 400,
  });
});

t.test('a template whose inputs lead nowhere, or whose operands are fed by nothing, says so', async (t) => {
  const lost = { inputs: [{ name: 'level', dataType: 'REAL' }], blocks: [{ name: 'gt_1', type: 'GT', params: { IN2: 0.8 } }] };
  const made = await engineer.post(TEMPLATES, { name: 'lost', ...lost });
  t.match(made, { status: 201, body: { notes: [/^input level leads to no port/, /^gt_1\.IN1 \(GT\) is fed by nothing/] } }, made.text);
  const applied = await engineer.post('/api/v1/apply', { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'ControlModuleTemplate', metadata: { name: 'lost-2' }, spec: lost });
  t.match(applied, { status: 200, body: { warnings: [/^input level/, /^gt_1\.IN1/] } }, applied.text);
  const mended = await engineer.put(`${TEMPLATES}/lost`, { variableBindings: [{ variable: 'level', blockRef: 'gt_1', portRef: 'IN1' }] });
  t.notOk('notes' in mended.body, mended.text);
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
