/**
 * An edit of running logic that went through an armed override is in the record of the batch that held the unit (D-C-13;
 * 21 CFR 11.10(e)): what was changed, from what to what, by whom and why. One appliance, real accounts, a real batch.
 */
import t from 'tap';
import type { Answer } from '../support/gateway.js';
import { ApplianceTest, AT } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
const [viewer, operator, engineer] = [await test.as('viewer'), await test.as('operator'), await test.as('engineer')];

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

async function did(answer: Promise<Answer>, wanted = 200): Promise<Body> {
  const { status, text, body } = await answer;
  if (status !== wanted) throw new Error(`${status} ${text}`);
  return body;
}

const constant = (value: number) => [{ name: 'c', type: 'CONST', params: { value } }];
const program = (value: number) => ({ unitRef: 'rx101', scanInterval: '100ms', blocks: constant(value) });
const arm = (path: string, reason: string) => did(engineer.post(`${AT}/${path}/override-hot-swap`, { reason }));
const WAITS = {
  steps: [{ name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" }, { name: 'done' }],
  transitions: [{ from: 'ask', to: 'done', conditionST: "said = 'Acknowledged'" }],
};

t.test('D-C-13: what an override lets through stands in the record of the batch, with old and new value, person and reason', async (t) => {
  await did(engineer.post('/api/v1/controlmoduletemplates', { name: 'gain', moduleType: 'x', blocks: constant(1) }), 201);
  for (const name of ['m1', 'm2']) await did(engineer.post(`${AT}/controlmodules`, { name, templateRef: 'gain', parentName: 'rx101' }), 201);
  await did(engineer.post(`${AT}/fbnetworks`, { metadata: { name: 'p1' }, spec: program(1) }), 201);
  const channels = [{ name: 'l', address: 'l', dataType: 'float' }];
  await did(test.admin.post(`${AT}/iomodules`, { name: 'plc', protocol: 'simulation', controllerRef: 'edge-1', channels }), 201);
  await did(engineer.put(`${AT}/controlmodules/m2`, { tags: [{ name: 'pv', dataType: 'Float', channel: 'plc:l' }] }));

  await did(engineer.post(`${AT}/phasetemplates`, { name: 'waits', spec: WAITS }), 201);
  const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [{ name: 'ph', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'waits' }] } };
  const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } }] } };
  await did(engineer.post(`${AT}/recipes/master`, { name: 'waiting', spec: { equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }], procedure } }), 201);
  const { name } = await did(operator.post(`${AT}/batches`, { batchID: 'edited-1', masterRecipeRef: 'waiting' }), 201);
  await did(operator.post(`${AT}/command`, { kind: 'Batch', name, command: 'Start', reason: 'asked for' }));
  await test.until('the phase waits', `${AT}/batches/${name}`, (batch) => batch.phase === 'Running' && batch.blockedBecause !== '');

  await arm('controlmodules/m1', 'the gain is too low');
  const manifest = (kind: string, of: string, spec: object) => ({ apiVersion: 'x.lineside.io/v1alpha1', kind, metadata: { name: of, namespace: 'site-demo' }, spec });
  const spec = { templateRef: 'gain', parentName: 'rx101', paramOverrides: [{ blockRef: 'c', param: 'value', value: 2 }] };
  await did(engineer.post('/api/v1/apply', [manifest('Area', 'first-of-all', {}), manifest('ControlModule', 'm1', spec)]));
  await arm('fbnetworks/p1', 'a wrong constant');
  await did(engineer.put(`${AT}/fbnetworks/p1`, { spec: { ...program(7), variables: [], variableBindings: [] } }));
  for (const module of ['m1', 'm2']) await arm(`controlmodules/${module}`, 'all of them');
  await did(engineer.put('/api/v1/controlmoduletemplates/gain', { blocks: constant(3) }));
  await arm('controlmodules/m2', 'the sensor is an integer');
  await did(test.admin.put(`${AT}/iomodules/plc`, { channels: [{ ...channels[0], dataType: 'int' }] }));

  const [prompt] = await test.until('it asks', `${AT}/prompts`, (list) => list.length > 0);
  await did(test.admin.post(`${AT}/phases/${prompt.phase}/prompt-response`, { promptID: prompt.id, response: '', reason: 'all is edited' }));
  const { recordRef } = await test.until('the batch has its record', `${AT}/batches/${name}`, (batch) => batch.phase === 'Complete' && batch.recordRef !== '');
  const record = (await viewer.get(`${AT}/batchrecords/${recordRef}`)).body;
  const wanted = [
    ['m1', 'edit of control module m1: paramOverrides[c.value].value', '', '2', 'the gain is too low'],
    ['p1', 'edit of control program p1: blocks[c].params.value', '1', '7', 'a wrong constant'],
    ['', 'edit of control module template gain of m1, m2: blocks[c].params.value', '1', '3', 'all of them'],
    ['m2', 'edit of I/O module plc of m2: channels[l].dataType', 'float', 'int', 'the sensor is an integer'],
  ];
  const edits = record.spec.executionEvents.filter(({ message }: Body) => message.startsWith('edit of') && !/\.(blockRef|param)$/.test(message));
  t.strictSame(
    edits.map(({ eventType, eventSubType, equipment, message, previousValue, value }: Body) => [eventType, eventSubType, equipment, message, previousValue, value]),
    wanted.map(([equipment, message, from, to]) => ['Equipment', 'Modification', equipment, message, from, to]),
  );
  const actions = record.spec.operatorActions.filter(({ action, value }: Body) => action === 'Edit' && !/\.(blockRef|param) /.test(value));
  t.strictSame(
    actions.map(({ value, reason }: Body) => [value, reason]),
    wanted.map(([, message, , to, reason]) => [`${message} ${to}`, reason]),
  );
  t.match(actions[0].person, { displayName: 'engineer' });
  t.equal(record.spec.operatorActions.filter(({ action }: Body) => action === 'OverrideHotSwap').length, 5, 'so is each override that was armed');
  // that of the template belongs to no site
  for (const [index, category] of Object.entries({ 0: 'controlmodule', 1: 'controlprogram', 3: 'iomodule' }))
    t.match((await viewer.get(`${AT}/audit/${edits[Number(index)].auditRecordRef}`)).body, { category, action: 'Update' }, `it names its audit record: ${category}`);
  const { text } = await viewer.get(`${AT}/batches/${name}/record?format=xml`);
  t.match(text, /<Description>edit of control program p1: blocks\[c\]\.params\.value<\/Description>/, 'the XML has it');
});

t.test('D-C-13: without work there is no batch to tell, and an edit passes as ever', async (t) => {
  await arm('controlmodules/m1', 'nobody works');
  t.equal((await engineer.put('/api/v1/controlmoduletemplates/gain', { blocks: constant(5) })).status, 200);
});
