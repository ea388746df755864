/** Alarm definitions as resources; their evaluation is tested with the alarm reconciler. */
import t from 'tap';
import { Alarm, AlarmDefinition } from '../../../src/domains/alarms/kind.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/demo/provision');
const DEFINITIONS = '/api/v1/sites/demo/alarmdefinitions';
const high = { name: 'li101-full', sourceKind: 'ControlModule', sourceName: 'li101', conditionType: 'TagHigh', tagName: 'pv', threshold: '92', deadband: '1', message: 'full' };

t.test('ADEF-01, ADEF-02, ADEF-03, ADEF-06, ADEF-14, ADEF-16: what a definition needs', async (t) => {
  t.match(await engineer.post(DEFINITIONS, high), {
    status: 201,
    body: { ...high, type: 'Process', severity: 'Medium', priority: 500, enabled: true, debounceSeconds: 0, armed: true, gatedBy: '', suppressedBy: '', activeAlarmRef: '' },
  });
  const wrong: [object, string][] = [
    [{ threshold: '' }, 'threshold'],
    [{ threshold: 'much' }, 'threshold'],
    [{ tagName: '' }, 'tagName'],
    [{ tagName: 'none' }, 'tagName'],
    [{ sourceName: 'none' }, 'sourceName'],
    [{ conditionType: 'TagDeviation' }, 'setpoint'],
    [{ conditionType: 'TagWobble' }, 'conditionType'],
    [{ sourceKind: 'Unit', sourceName: 'rx101' }, 'sourceKind'],
    [{ conditionType: 'StateEquals' }, 'stateValue'],
    [{ deadband: '-1' }, 'deadband'],
    [{ armingGate: null }, 'armingGate'],
    [{ severity: 'Loud' }, 'severity'],
    [{ message: 'x'.repeat(1025) }, 'message'],
    [{ message: 'full\u0000' }, 'message'],
    [{ message: 'full\nof it' }, 'message'],
  ];
  for (const [change, field] of wrong) t.match(await engineer.post(DEFINITIONS, { ...high, name: 'x', ...change }), { status: 400, body: { field } }, JSON.stringify(change));
});

t.test('ADEF-01: a message of an earlier release beyond the bound stays until it is changed', async (t) => {
  const { spec } = plant.store.get(AlarmDefinition, 'demo', 'li101-full')!;
  await plant.store.write({ puts: [{ kind: AlarmDefinition, site: 'demo', name: 'li101-full', spec: { ...spec, message: 'x'.repeat(5000) } }] });
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { severity: 'High' }), { status: 200 });
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { message: 'y'.repeat(5000) }), { status: 400, body: { field: 'message' } });
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { message: 'full' }), { status: 200 });
});

t.test('ADEF-03 ADEF-05 Q-ALARM-10: no condition compares texts, so a definition on a text tag is refused with what to do', async (t) => {
  const blocks = [{ name: 'a', type: 'MUL', params: { IN2: 2 } }];
  const tags = [
    { name: 'word', dataType: 'String' },
    { name: 'level', dataType: 'Float' },
  ];
  t.equal((await engineer.post('/api/v1/controlmoduletemplates', { name: 'wordy', blocks, tags })).status, 201);
  t.equal((await engineer.post('/api/v1/sites/demo/controlmodules', { name: 'wm101', parentName: 'rx101', parentKind: 'Unit', templateRef: 'wordy' })).status, 201);
  const onText = { name: 'wordy', sourceKind: 'ControlModule', sourceName: 'wm101', tagName: 'word', threshold: '1', setpoint: '1' };
  for (const conditionType of ['TagHigh', 'TagLow', 'TagHighHigh', 'TagLowLow', 'TagDeviation', 'TagTrue', 'TagFalse']) {
    const refused = await engineer.post(DEFINITIONS, { ...onText, conditionType });
    t.match(refused, { status: 400, body: { code: 'invalid_field', field: 'tagName', dataType: 'String', error: /wm101\.word is a text/ } }, conditionType);
  }
  t.equal((await engineer.post(DEFINITIONS, { ...onText, conditionType: 'TagHigh', tagName: 'level' })).status, 201);
  t.match(await engineer.put(`${DEFINITIONS}/wordy`, { tagName: 'word' }), { status: 400, body: { field: 'tagName' } }, 'nor can it be moved to one');
});

t.test('ADEF-11, ADEF-12, ADEF-13, ADEF-15: reads, filters and clearing', async (t) => {
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { exceptionAction: 'Hold' }), { status: 200, body: { exceptionAction: 'Hold', threshold: '92' } });
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { exceptionAction: '' }), { status: 200, body: { exceptionAction: '' } });
  for (const [enabled, armed, suppressedBy] of [
    [false, false, 'Disabled'],
    [true, true, ''],
  ]) {
    const answered = await engineer.put(`${DEFINITIONS}/li101-full`, { enabled });
    t.match(answered, { status: 200, body: { enabled, armed, suppressedBy } }, `the answer to enabled ${enabled} is not the state before`);
  }
  t.match((await engineer.get(`${DEFINITIONS}/tic101-low-react`)).body, {
    armingGate: { phaseTemplateRef: 'react', unitRef: 'rx101', states: ['Running'] },
    gatedBy: 'PhaseTemplate/react',
    armed: false,
    suppressedBy: 'NotArmed',
  });
  const names = (await engineer.get(`${DEFINITIONS}?source_kind=ControlModule&source_name=li101`)).body.map((item: { name: string }) => item.name);
  t.ok(names.includes('li101-full') && !names.includes('tic101-high'));
});

t.test('ADEF-15 ADEF-16 ADEF-17: who may do what; PUT takes every field of create but the name', async (t) => {
  const [viewer, operator] = [await plant.as('viewer'), await plant.as('operator')];
  t.equal((await viewer.get(DEFINITIONS)).status, 200);
  t.match(await viewer.get(`${DEFINITIONS}/li101-full`), { status: 200, body: { name: 'li101-full' } });
  for (const [who, person] of Object.entries({ viewer, operator })) {
    t.match(await person.post(DEFINITIONS, { ...high, name: 'x' }), { status: 403, body: { action: 'alarmdefinition:create' } }, who);
    t.match(await person.put(`${DEFINITIONS}/li101-full`, { message: 'x' }), { status: 403, body: { action: 'alarmdefinition:update' } }, who);
    t.match(await person.delete(`${DEFINITIONS}/li101-full`), { status: 403, body: { action: 'alarmdefinition:delete' } }, who);
  }
  t.match(await engineer.post(DEFINITIONS, high), { status: 409 }, 'the name is taken');
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { name: 'another' }), { status: 400, body: { field: 'name' } });
  const gate = { phaseTemplateRef: 'fill', whileState: 'Running' };
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { armingGate: gate }), { status: 400, body: { code: 'read_only_field', field: 'armingGate' } }, 'ADEF-13');
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { armingGate: null }), { status: 200, body: { armingGate: null } }, 'D-C-05: unchanged, it may be sent back');
  t.match(await engineer.put(`${DEFINITIONS}/nowhere`, { message: 'x' }), { status: 404 });
  const { name: _name, ...before } = high;
  for (const change of [
    { threshold: '93' },
    { deadband: '2' },
    { setpoint: '5' },
    { conditionType: 'TagDeviation' },
    { stateValue: 'Held' },
    { debounceSeconds: 7 },
    { type: 'Safety' },
    { severity: 'Critical' },
    { message: 'fuller' },
    { priority: 1 },
    { enabled: false },
    { exceptionAction: 'Stop' },
    { sourceName: 'tic101' },
    { sourceKind: 'Unit', sourceName: 'rx101', conditionType: 'StateEquals', stateValue: 'Held' },
  ]) {
    t.match(await engineer.put(`${DEFINITIONS}/li101-full`, change), { status: 200, body: change }, Object.keys(change).join(', '));
  }
  const defaults = { stateValue: '', setpoint: '', debounceSeconds: 0, type: 'Process', severity: 'Medium', priority: 500, enabled: true, exceptionAction: '' };
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { ...defaults, ...before }), { status: 200, body: high });
});

t.test('ADEF-18: while the equipment executes only the message changes', async (t) => {
  const unit = plant.store.get(Unit, 'demo', 'rx101')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit.status, state: 'Running' } }] });
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { threshold: '80' }), { status: 409, body: { code: 'equipment_executing', units: ['rx101'] } });
  t.match(await engineer.put(`${DEFINITIONS}/li101-full`, { message: 'very full', threshold: '92' }), { status: 200, body: { message: 'very full' } });
  await plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: unit.status }] });
});

t.test('ADEF-19: a definition stays while an alarm of it is unacknowledged', async (t) => {
  await plant.store.write({
    puts: [
      {
        kind: Alarm,
        site: 'demo',
        name: 'al',
        spec: { source: 'ControlModule/li101', type: 'Process', severity: 'High', message: '', definitionRef: 'li101-full', conditionType: 'TagHigh', setpoint: '92', value: '93' },
      },
    ],
  });
  t.match(await engineer.delete(`${DEFINITIONS}/li101-full`), { status: 409, body: { alarm: 'al' } });
  await plant.store.write({ removes: [{ kind: 'Alarm', site: 'demo', name: 'al' }] });
  t.equal((await engineer.delete(`${DEFINITIONS}/li101-full`)).status, 204);
});

t.test('decisions 5.3: a composite type used by an active unit does not change', async (t) => {
  const unit = plant.store.get(Unit, 'demo', 'rx101')!;
  await plant.store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit.status, allocatedTo: 'b-1' } }] });
  t.match(await engineer.put('/api/v1/fbblocktypes/heat-guard', { description: 'changed' }), { status: 409, body: { code: 'active_batch', unit: 'rx101' } });
});

t.test('decisions Q-ERR-11: an I/O module with bound tags stays', async (t) => {
  const admin = await plant.as('admin');
  t.match(await admin.delete('/api/v1/sites/demo/iomodules/io-rx101'), { status: 409, body: { code: 'has_dependents', dependents: [{ kind: 'ControlModule' }] } });
});

t.test('D-UNIT-01: what an operator is told of an alarm is written by apply, bounded, and stays as it is over an edit of the definition', async (t) => {
  const guidance = { cause: 'the outlet is blocked', consequence: 'it overflows', action: ['close XV101', 'open XV104'], follows: ['hx101-tripped'] };
  const { name, ...spec } = { ...high, name: 'told' };
  const apply = (change: object) =>
    engineer.post('/api/v1/apply', {
      apiVersion: 'control.lineside.io/v1alpha1',
      kind: 'AlarmDefinition',
      metadata: { name, namespace: 'site-demo' },
      spec: { ...spec, ...change },
    });
  t.match(await apply(guidance), { status: 200 });
  t.match(await engineer.get(`${DEFINITIONS}/told`), { body: guidance });
  t.match(await engineer.put(`${DEFINITIONS}/told`, { message: 'fuller' }), { status: 200, body: { ...guidance, message: 'fuller' } });
  for (const field of ['cause', 'action']) t.match(await engineer.put(`${DEFINITIONS}/told`, { [field]: 'something else' }), { status: 400, body: { field } });
  const wrong: [object, RegExp][] = [
    [{ cause: 'x'.repeat(1025) }, /cause/],
    [{ consequence: 'over\u0007' }, /consequence/],
    [{ action: 'close it' }, /action/],
    [{ action: new Array(13).fill('close it') }, /action/],
    [{ follows: [''] }, /follows/],
  ];
  for (const [change, field] of wrong) t.match(await apply({ ...guidance, ...change }), { status: 400, body: { error: field } }, JSON.stringify(change).slice(0, 60));
  t.match(await engineer.get(`${DEFINITIONS}/told`), { body: guidance });
});
