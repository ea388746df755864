/** What a control module and its template may say, and what is served of it (contract 3, Control module, Control-module template). */
import t from 'tap';
import { controlModuleRoutes } from '../../../src/domains/control-modules/routes.js';
import { CHANNEL_ROWS } from '../../../src/platform/stream/channel.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { at } from '../../support/at.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const TEMPLATES = '/api/v1/controlmoduletemplates';
const MODULES = '/api/v1/sites/north/controlmodules';
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });

const moduleOf = async (template: object, module: object = {}) => {
  const name = `t${Math.random().toString(36).slice(2, 10)}`;
  const made = await engineer.post(TEMPLATES, { name, ...template });
  if (made.status !== 201) return made;
  return engineer.post(MODULES, { name, templateRef: name, parentName: 'r1', ...module });
};

t.test('CM-03: device classes are five words; a module whose template declares none is in the group other', async (t) => {
  for (const deviceClass of ['valve', 'actuator', 'sensor', 'controller', 'other']) {
    t.match(await moduleOf({ deviceClass }), { status: 201, body: { deviceClass } }, deviceClass);
  }
  t.match(await moduleOf({}), { status: 201, body: { deviceClass: 'other' } });
  t.match(await moduleOf({ deviceClass: '' }), { status: 201, body: { deviceClass: 'other' } });
  for (const deviceClass of ['Valve', 'pump', 7]) t.match(await moduleOf({ deviceClass }), { status: 400, body: { field: 'deviceClass' } }, String(deviceClass));
});

t.test('CM-04: moduleType is free text, served as it was sent', async (t) => {
  for (const moduleType of ['on-off-valve', 'Ventil Größe 3/4"', 'constructor', '']) {
    t.match(await moduleOf({ moduleType }), { status: 201, body: { moduleType } }, moduleType);
  }
  t.match(await moduleOf({ moduleType: 7 }), { status: 400, body: { field: 'moduleType' } });
});

t.test('CM-05: a measured variable is one of seven words, of the module or else of its template', async (t) => {
  for (const measuredVariable of ['Temperature', 'Pressure', 'Flow', 'Level', 'Analytical', 'Speed', 'Weight']) {
    t.match(await moduleOf({ measuredVariable }), { status: 201, body: { measuredVariable } }, measuredVariable);
    t.match(await moduleOf({ measuredVariable: 'Flow' }, { measuredVariable }), { status: 201, body: { measuredVariable } });
  }
  t.match(await moduleOf({}), { status: 201, body: { measuredVariable: '' } });
  t.match(await moduleOf({}, { measuredVariable: 'temperature' }), { status: 400, body: { field: 'measuredVariable' } });
});

t.test('CMT-04: every tag field of a template is taken, checked and served', async (t) => {
  const tag = {
    name: 'sp',
    dataType: 'Float',
    accessLevel: 'readwrite',
    blockRef: 'pid',
    portRef: 'SP',
    engMin: '0',
    engMax: 'pid.spMax',
    role: 'setpoint',
    publishMode: 'onChange',
    trueLabel: 'on',
    falseLabel: 'off',
  };
  const blocks = [{ name: 'pid', type: 'PID', params: { kp: 1.5, ti: 'T#20s', spMax: 120.5 } }];
  const made = await moduleOf({ blocks, tags: [tag] });
  t.equal(made.status, 201, made.text);
  const template = (await engineer.get(`${TEMPLATES}/${made.body.templateRef}`)).body;
  t.match(template.tags, [tag]);
  t.match(made.body.tags, [{ ...tag, inherited: true }]);
  t.match(made.body.effectiveTags, [{ ...tag, engMin: '0', engMax: '120.5' }]);
  const wrong: [object, string][] = [
    [{ name: '1st' }, 'tags[0].name'],
    [{ dataType: 'Double' }, 'tags[0].dataType'],
    [{ accessLevel: 'write' }, 'tags[0].accessLevel'],
    [{ blockRef: 'none' }, 'tags[0].portRef'],
    [{ portRef: '' }, 'tags[0].portRef'],
    [{ role: 'display' }, 'tags[0].role'],
    [{ publishMode: 'event' }, 'tags[0].publishMode'],
    [{ engMax: '${pid.kp > 1.0}' }, 'tags[0].engMax'],
    [{ engMax: '${SIN(pid.kp)}' }, 'tags[0].engMax'],
    [{ engMax: 'pid.none' }, 'tags[0].engMax'],
    [{ unit: 'bar' }, 'tags[0].unit'],
  ];
  for (const [change, field] of wrong) t.match(await moduleOf({ blocks, tags: [{ ...tag, ...change }] }), { status: 400, body: { field } }, JSON.stringify(change));
});

t.test('CMT-09: a publish mode is cyclic, onChange, or empty, which is cyclic; an instance may choose another', async (t) => {
  const tags = ['', 'cyclic', 'onChange'].map((publishMode, n) => ({ name: `t${n}`, dataType: 'Float', publishMode }));
  const made = await moduleOf({ tags }, { tags: [{ name: 't1', publishMode: 'onChange' }] });
  t.same(
    made.body.effectiveTags.map((tag: { publishMode: string }) => tag.publishMode),
    ['', 'onChange', 'onChange'],
  );
});

t.test('HEALTH-03: the list needs controlmodule:list, which is read and the action of the cmhealth channel', async (t) => {
  t.equal((await moduleOf({})).status, 201);
  const viewer = await plant.as('viewer');
  const { status, body } = await viewer.get(MODULES);
  t.equal(status, 200);
  t.ok(body.length > 0 && body.every((module: { state: string }) => ['Running', 'Down', 'CompileError', 'Unknown'].includes(module.state)), 'each with its health');
  t.equal((await plant.request('GET', MODULES)).status, 401);
  const row = at(
    controlModuleRoutes.filter((each) => each.path === '/api/v1/sites/{site}/controlmodules' && each.method === 'GET'),
    0,
  );
  t.match(row, { action: 'controlmodule:list', tier: 'read' });
  t.equal(CHANNEL_ROWS.cmhealth.action, row.action);
});
