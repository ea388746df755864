/** Tunable parameters of a module: what a template may declare, who changes them, and what stays of it (D-C-13; ADR 0025). */
import t from 'tap';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const operator = await plant.as('lead-operator');
const SITE = '/api/v1/sites/north';
const TEMPLATES = '/api/v1/controlmoduletemplates';
const REASON = 'the loop swings';

const PID = { name: 'pid', type: 'PID', params: { kp: 2, ti: 'T#10s', outMax: 80 } };
const kp = { name: 'kp', blockRef: 'pid', param: 'kp', tunable: true, engMin: '0.1', engMax: '10', description: 'Gain' };
const ti = { name: 'ti', blockRef: 'pid', param: 'ti', tunable: true, engMin: 'T#1s', engMax: '${1000.0 * 60.0}' };
const top = { name: 'top', blockRef: 'pid', param: 'outMax', tunable: true, engMin: 'pid.outMin', engMax: '100' };
const bottom = { name: 'bottom', blockRef: 'pid', param: 'outMin', tunable: true, engMax: 'pid.outMax' };
const filter = { name: 'filter', blockRef: 'pid', param: 'n' };
const template = (name: string, more: object = {}) => ({ name, moduleType: 'tic', blocks: [PID], parameters: [kp, ti, top, bottom, filter], ...more });

await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post(`${SITE}/units`, { name: 'r1' });
await engineer.post(TEMPLATES, template('loop'));
await engineer.post(`${SITE}/controlmodules`, { name: 'tic', templateRef: 'loop', parentName: 'r1' });

const tune = (values: unknown, reason: unknown = REASON, who = engineer) => who.put(`${SITE}/controlmodules/tic/parameters`, { values, reason });
const parameters = async () => Object.fromEntries((await engineer.get(`${SITE}/controlmodules/tic`)).body.parameters.map((each: { name: string }) => [each.name, each]));
const values = async () => Object.fromEntries(Object.entries(await parameters()).map(([name, each]) => [name, (each as { value: unknown }).value]));
const work = async (allocatedTo: string) => {
  const { status } = plant.store.get(Unit, 'north', 'r1')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...status, allocatedTo } }] });
};

t.test('D-C-13: a template declares what can be tuned; what could not be changed in a running network is refused by name', async (t) => {
  t.match((await engineer.get(`${TEMPLATES}/loop`)).body.parameters, [{ ...kp, dataType: 'Float' }, { name: 'ti', dataType: 'Time' }, {}, {}, { tunable: false }]);
  const refused = async (parameter: object, field: string, error: RegExp, more: object = {}) =>
    t.match(await engineer.post(TEMPLATES, template('bad', { parameters: [kp, { tunable: true, ...parameter }], ...more })), {
      status: 400,
      body: { field: `parameters[1].${field}`, error },
    });
  await refused({ name: 'x', blockRef: 'gone', param: 'kp' }, 'blockRef', /block gone/);
  await refused({ name: 'x', blockRef: 'pid', param: 'constructor' }, 'param', /PID has no parameter constructor/);
  await refused({ name: 'KP', blockRef: 'pid', param: 'ti' }, 'name', /twice/);
  await refused({ name: 'x', blockRef: 'pid', param: 'kp' }, 'param', /has a name already/);
  await refused({ name: 'x', blockRef: 'pid', param: 'action' }, 'param', /STRING; numbers and times can be tuned/);
  await refused({ name: 'x', blockRef: 'pid', param: 'spTrack' }, 'param', /BOOL; numbers and times/);
  await refused({ name: 'x', blockRef: 'pid', param: 'SP' }, 'param', /written by the PID itself/);
  await refused({ name: 'x', blockRef: 'pid', param: 'ti', dataType: 'Float' }, 'dataType', /x is Float, but pid.ti is TIME/);
  await refused({ name: 'x', blockRef: 'pid', param: 'ti', engMin: '${soon}' }, 'engMin', /soon/);
  await refused({ name: 'x', blockRef: 'pid', param: 'ti', engMax: 'nobody.ti' }, 'engMax', /nobody/);
  const blocks = [PID, { name: 'wait', type: 'DEADTIME', params: { delay: 'T#1s' } }, { name: 'lim', type: 'LIMIT', params: { MN: 0, MX: 1 } }];
  await refused({ name: 'x', blockRef: 'wait', param: 'delay' }, 'param', /length of the memory/, { blocks });
  const dataConnections = [{ sourceBlock: 'pid', sourcePort: 'OUT', destBlock: 'lim', destPort: 'MX' }];
  await refused({ name: 'x', blockRef: 'lim', param: 'MX' }, 'param', /is connected/, { blocks: [PID, { name: 'lim', type: 'LIMIT', params: { MN: 0 } }], dataConnections });
  const tags = [{ name: 'limit', dataType: 'Integer', accessLevel: 'readwrite', blockRef: 'lim', portRef: 'MX' }];
  await refused({ name: 'x', blockRef: 'lim', param: 'MX' }, 'param', /written by tag limit/, { blocks, tags });
  t.match(await engineer.post(TEMPLATES, template('bad', { parameters: [{ ...kp, engMin: '3' }] })), { status: 400, body: { code: 'out_of_range', field: 'parameters[0]' } });
  t.match(await engineer.post(TEMPLATES, template('bad', { parameters: [{ ...kp, name: 'a.b' }] })), { status: 400, body: { field: 'parameters[0].name' } });
});

t.test('D-C-13: a change is of the module, in the answer, its read body and its tags, and leaves one audit record', async (t) => {
  const before = plant.audits.length;
  const done = await tune({ kp: 3, ti: '30s' });
  t.match(done, { status: 200, body: { name: 'tic' } });
  t.match(done.body.parameters.slice(0, 2), [
    {
      name: 'kp',
      blockRef: 'pid',
      param: 'kp',
      dataType: 'Float',
      value: 3,
      templateValue: 2,
      engMin: '0.1',
      engMax: '10',
      description: 'Gain',
      tuned: { previous: 2, by: String, reason: REASON },
    },
    { name: 'ti', dataType: 'Time', value: '30s', templateValue: 'T#10s', engMin: '1000', engMax: '60000', tuned: { previous: 'T#10s' } },
  ]);
  t.match(await parameters(), { kp: { value: 3 }, top: { value: 80, tuned: null } });
  t.equal(plant.audits.length, before + 1);
  t.match(plant.audits.at(-1), {
    action: 'Update',
    category: 'tuning',
    target: { kind: 'ControlModule', name: 'tic', site: 'north' },
    result: 'Success',
    operatorReason: REASON,
    before: { kp: 2, ti: 'T#10s' },
    after: { kp: 3, ti: '30s' },
  });
  t.match((await tune({ kp: null, ti: null })).body.parameters, [
    { value: 2, tuned: null },
    { value: 'T#10s', tuned: null },
  ]);
  t.same(plant.store.get(ControlModule, 'north', 'tic')?.spec.paramOverrides, []);
});

t.test('D-C-13: whatever is wrong names its field, changes nothing and is on record', async (t) => {
  const state = JSON.stringify([await values(), plant.store.get(ControlModule, 'north', 'tic')]);
  const refused = async (asked: unknown, field: string, code: string, error: RegExp, reason: unknown = REASON) => {
    t.match(await tune(asked, reason), { status: 400, body: { code, field, error } }, JSON.stringify(asked));
    t.match(plant.audits.at(-1), { category: 'tuning', result: 'Rejected', target: { name: 'tic' } });
  };
  await refused({}, 'values', 'missing_field', /at least one/);
  await refused({ kq: 1 }, 'values.kq', 'unknown_reference', /no parameter kq; it has kp, ti, top, bottom/);
  await refused({ constructor: 1 }, 'values.constructor', 'unknown_reference', /constructor/);
  await refused(JSON.parse('{"__proto__": 1}'), 'values.__proto__', 'unknown_reference', /__proto__/);
  await refused({ filter: 5 }, 'values.filter', 'not_tunable', /filter of tic is not tunable/);
  await refused({ kp: '3' }, 'values.kp', 'invalid_field', /a finite number/);
  await refused({ kp: true }, 'values.kp', 'invalid_field', /a finite number/);
  await refused({ kp: 'NaN' }, 'values.kp', 'invalid_field', /a finite number/);
  await refused({ kp: [3] }, 'values.kp', 'invalid_field', /kp/);
  await refused({ ti: 30 }, 'values.ti', 'invalid_field', /a duration as text/);
  await refused({ ti: 'T#-5s' }, 'values.ti', 'invalid_field', /negative/);
  await refused({ kp: 10.5 }, 'values.kp', 'out_of_range', /10\.5, outside its limits 0\.1 to 10/);
  await refused({ ti: '61s' }, 'values.ti', 'out_of_range', /61s/);
  await refused({ kp: 3, ti: '0s' }, 'values.ti', 'out_of_range', /0s/);
  await refused({ top: 40, bottom: 50 }, 'values.top', 'out_of_range', /top would be 40, outside its limits pid\.outMin to 100/);
  await refused({ bottom: 90 }, 'values', 'out_of_range', /top would be 80/);
  await refused({ kp: 3 }, 'reason', 'reason_too_short', /reason/, '');
  t.match(await engineer.put(`${SITE}/controlmodules/tic/parameters`, { values: { kp: 3 } }), { status: 400, body: { code: 'reason_too_short', field: 'reason' } });
  t.match(await engineer.put(`${SITE}/controlmodules/none/parameters`, { values: { kp: 3 }, reason: REASON }), { status: 404 });
  t.match(await engineer.put(`${SITE}/controlmodules/tic/parameters`, { kp: 3, reason: REASON }), { status: 400 });
  t.equal(JSON.stringify([await values(), plant.store.get(ControlModule, 'north', 'tic')]), state);
  t.equal((await tune({ top: 40, bottom: 30 })).status, 200, 'together they fit');
  t.equal((await tune({ top: null, bottom: null })).status, 200);
});

t.test('D-C-13: an engineer may in every mode and while the unit works, where an edit is refused; a lead operator not', async (t) => {
  t.match(await tune({ kp: 3 }, REASON, operator), { status: 403 });
  await work('b-1');
  for (const mode of ['Manual', 'Semi-Automatic', 'Automatic']) {
    const { spec, status } = plant.store.get(ControlModule, 'north', 'tic')!;
    await plant.store.write({ puts: [{ kind: ControlModule, site: 'north', name: 'tic', spec, status: { ...status, mode: mode as 'Manual' } }] });
    t.equal((await tune({ kp: mode.length })).status, mode.length > 10 ? 400 : 200, mode);
  }
  t.match(await engineer.put(`${TEMPLATES}/loop`, { parameters: [kp] }), { status: 409, body: { code: 'active_batch' } });
  t.equal((await tune({ kp: 4 })).status, 200);
  await work('');
});

t.test('D-C-13: a tuned value is exported, and a manifest that states another one says so', async (t) => {
  await tune({ kp: 4 });
  const { body } = await engineer.get('/api/v1/export?site=north');
  const exported = (body.items ?? body).find((manifest: { kind: string; metadata: { name: string } }) => manifest.kind === 'ControlModule' && manifest.metadata.name === 'tic');
  t.match(exported.spec.paramOverrides, [{ blockRef: 'pid', param: 'kp', value: 4 }]);
  const same = await engineer.post('/api/v1/apply', exported);
  t.match(same.body, { operation: 'unchanged', warnings: [] });
  const older = { ...exported, spec: { ...exported.spec, paramOverrides: [] } };
  const undone = await engineer.post('/api/v1/apply', older);
  t.match(undone.body, { operation: 'configured', warnings: [/^parameter kp was tuned to 4 by .+ and is 2 with this manifest$/] }, undone.text);
  t.match(await parameters(), { kp: { value: 2, tuned: null } });
  await tune({ kp: 4 });
  const put = await engineer.put(`${SITE}/controlmodules/tic`, { paramOverrides: [] });
  t.equal(put.status, 200, put.text);
  t.match(put.headers['x-lineside-warning'], /^parameter kp was tuned to 4 by .+ and is 2 with this body$/, 'and so does a PUT that leaves one out');
  t.match(plant.audits.at(-1), { action: 'Update', details: { warnings: [/^parameter kp was tuned to 4/] } });
  t.equal((await engineer.put(`${SITE}/controlmodules/tic`, { description: 'nothing of it' })).headers['x-lineside-warning'], undefined);
  const beyond = { ...exported, spec: { ...exported.spec, paramOverrides: [{ blockRef: 'pid', param: 'kp', value: 11 }] } };
  t.match(await engineer.post('/api/v1/apply', beyond), { status: 400, body: { code: 'out_of_range', field: 'paramOverrides[0].value' } }, 'the limits hold for every way');
});

t.test('D-C-13: an edit of the template keeps what was tuned; what no longer fits is said', async (t) => {
  await tune({ kp: 9 });
  t.equal((await engineer.put(`${TEMPLATES}/loop`, { blocks: [{ ...PID, params: { ...PID.params, kp: 1 } }] })).status, 200);
  t.match(await parameters(), { kp: { value: 9, templateValue: 1, tuned: { previous: 2 } } });
  t.equal((await engineer.put(`${TEMPLATES}/loop`, { parameters: [{ ...kp, engMax: '5' }] })).status, 200);
  t.match((await engineer.get(`${SITE}/controlmodules/tic`)).body.message, /no longer fits its template loop: parameter kp would be 9, outside its limits 0\.1 to 5/);
  t.equal((await engineer.put(`${TEMPLATES}/loop`, { parameters: [] })).status, 200);
  t.match((await engineer.get(`${SITE}/controlmodules/tic`)).body, { parameters: [], paramOverrides: [{ param: 'kp', value: 9 }] }, 'no longer tunable: an override as any other');
});
