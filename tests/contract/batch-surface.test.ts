/**
 * The batch part of the interface as a customer tries it: an MES with its key, an operator, an engineer and a supervisor on
 * one appliance with the demonstration plant. Nothing is replaced. What single parts refuse is in tests/domains/mes,
 * tests/domains/recipes and tests/domains/batches.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Answer, Client, RequestOptions } from '../support/gateway.js';
import { ApplianceTest, AT } from './appliance.js';

const test = await ApplianceTest.start();
t.teardown(() => test.stop());
const { admin } = test;
const [viewer, operator, lead, engineer, supervisor] = [
  await test.as('viewer'),
  await test.as('operator'),
  await test.as('lead-operator'),
  await test.as('engineer'),
  await test.as('supervisor'),
];
const MES = '/api/v1/mes/sites/demo';
const { key } = (await admin.post('/api/v1/mes/apikeys', { name: 'erp', site: 'demo' })).body;
const mes = (method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> => test.request(method, `${MES}${path}`, { key, body, ...options });
const order = (body: Record<string, unknown>): Promise<Answer> => mes('POST', '/work-orders?dispatch=immediate', { productDefinition: 'clean-train', ...body });
const MASTER = `${AT}/recipes/master`;
const REASON = 'asked for by the test';
const CLEAN = { masterRecipeRef: 'clean-train' };

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Body = any;

async function did(answer: Promise<Answer>, wanted = 200): Promise<Body> {
  const { status, text, body } = await answer;
  if (status !== wanted) throw new Error(`${status} ${text}`);
  return body;
}

const command = (name: string, word: string, who: Client = operator): Promise<Answer> => who.post(`${AT}/command`, { kind: 'Batch', name, command: word, reason: REASON });
const untilBatch = (name: string, what: string, wanted: (batch: Body) => boolean): Promise<Body> => test.until(`batch ${name} ${what}`, `${AT}/batches/${name}`, wanted);
const FINAL = ['Complete', 'Stopped', 'Aborted', 'Failed'];

async function started(name: string): Promise<void> {
  await did(command(name, 'Start'));
  await untilBatch(name, 'has begun', ({ phase }) => phase !== 'Pending');
}

/** Waits for its end and for its record, to which nothing is added any more. */
async function ended(name: string): Promise<Body> {
  const { recordRef } = await untilBatch(name, 'has its record', (batch) => FINAL.includes(batch.phase) && batch.recordRef !== '');
  const isSettled = ({ type, status }: Body): boolean => type === 'PhaseHistorySettled' && status === 'True';
  return test.until('its record is settled', `${AT}/batchrecords/${recordRef}`, ({ conditions }) => conditions.some(isSettled));
}

t.test('BATCH-05 MES-06 MES-09 MES-54: what a batch is asked for is checked where it is asked, by every way in', async (t) => {
  const make = (body: Record<string, unknown>): Promise<Answer> => operator.post(`${AT}/batches`, { batchID: 'odd', ...CLEAN, ...body });
  for (const [body, refusal] of [
    [{ scheduledStartTime: 'tomorrow' }, { field: 'scheduledStartTime' }],
    [{ scheduledStartTime: '2026-01-31' }, { field: 'scheduledStartTime' }],
    [{ lotID: 'a\u0000b' }, { field: 'lotID' }],
    [{ batchID: '   ' }, { field: 'batchID' }],
    [{ engineeringUnit: 't' }, { field: 'engineeringUnit', expected: 'kg' }],
    [{ workOrderID: 'WO-1' }, { field: 'workOrderID' }],
    [{ equipment: [] }, { field: 'equipment' }],
    [{ priority: 1.5 }, { error: 'priority must be a whole number' }],
    [
      {
        parameters: [
          { name: 'dwellTime', value: '1' },
          { name: 'DWELLTIME', value: '2' },
        ],
      },
      { field: 'parameters[1].name' },
    ],
  ] as const)
    t.match(await make(body), { status: 400, body: { code: 'invalid_field', ...refusal } }, JSON.stringify(body));
  t.match(await order({ workOrderID: 'spelt', engineeringUnit: 'kilogram' }), { status: 201 }, 'the same unit in other words');
  t.match(await order({ workOrderID: 'odd', engineeringUnit: 't', quantity: '9' }), { status: 400, body: { field: 'engineeringUnit' } }, '9 t are not 9 kg');

  t.match(await order({ workOrderID: 'odd', requestedEquipment: [] }), { status: 400, body: { error: 'requestedEquipment must be an object' } }, 'an array is no map');
  t.match(await engineer.post(MASTER, { name: 'odd', spec: { batchSize: [] } }), { status: 400, body: { field: 'spec.batchSize' } });

  const made = await did(make({ batchID: ' B-7 ', scheduledStartTime: '2026-01-31T10:00:00+02:00', parameters: [{ name: 'DWELLTIME', value: '2' }] }), 201);
  t.match(made, { batchID: 'B-7', recordPending: false, spec: { scheduledStartTime: '2026-01-31T08:00:00.000Z' } });
  t.match(
    made.parameterValues.find(({ name }: Body) => name === 'dwellTime'),
    { value: '2', source: 'override' },
    'decisions 1.7: what it would start with, resolved',
  );
  t.match(
    (await viewer.post(`${AT}/batches/preflight`, { batch: made.name })).body.parameters.find(({ name }: Body) => name === 'dwellTime'),
    { value: '2', source: 'override' },
    'identifiers are compared without regard to case',
  );
  t.match(await make({ batchID: 'B-7' }), { status: 409, body: { code: 'batch_id_in_use', batch: made.name } }, 'the same name would follow from it');
  const idOf = async (body: object): Promise<Body> => (await viewer.post(`${AT}/batches/preflight`, body)).body.checks.find(({ check }: Body) => check === 'batch-id');
  t.match(await idOf({ batchID: 'B-7', ...CLEAN }), { ok: false, element: made.name, message: /is used by batch/ }, 'preflight says what the request would be told');
  t.match(await idOf({ batch: made.name }), { ok: true }, 'its own ID is not in its way');
  t.match(await make({ batchID: 'B-7', name: 'another' }), { status: 409, body: { code: 'batch_id_in_use', batch: made.name } });
  t.match(await make({ batchID: 'B-8', name: made.name }), { status: 409, body: { code: 'already_exists' } });
  t.match(await order({ workOrderID: 'B-7' }), { status: 409, body: { code: 'batch_id_in_use' } });

  const ordered = await did(order({ workOrderID: 'WO-7', scheduledStartTime: '2020-01-01T00:00:00Z' }), 201);
  const at = `${AT}/batches/${ordered.batchName}`;
  t.match(await operator.put(at, { workOrderID: 'WO-8' }), { status: 400, body: { field: 'workOrderID' } }, 'the MES alone names its orders');
  t.match(await operator.put(at, { workOrderID: 'WO-7', priority: 7 }), { status: 200, body: { workOrderID: 'WO-7', priority: 7 } });
  t.match(
    await operator.put(at, { priority: null, description: null, quantity: null, scheduledStartTime: null, labels: null }),
    { status: 200, body: { priority: 100, description: '', labels: {}, spec: { scheduledStartTime: '' } } },
    'Q-ERR-16: null clears to what the recipe or the contract says',
  );
  t.match((await operator.get(at)).body.quantity, /^\d/, 'the batch size of the recipe');
  t.match(await operator.put(at, { masterRecipeRef: null }), { status: 400, body: { code: 'missing_field', field: 'masterRecipeRef' } });
  t.match(await operator.put(at, { priority: 7, scheduledStartTime: '2020-01-01T00:00:00Z' }), { status: 200 });
  t.match(await operator.put(at, { scheduledStartTime: 'soon' }), { status: 400, body: { field: 'scheduledStartTime' } });
  const manifest = (spec: object) => ({ apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'Batch', metadata: { name: 'applied', namespace: 'site-demo' }, spec });
  for (const spec of [
    { batchID: 'B-9', ...CLEAN, workOrderID: 'WO-7' },
    { batchID: 'B-9', ...CLEAN, scheduledStartTime: 'soon' },
  ])
    t.match(await engineer.post('/api/v1/apply', manifest(spec)), { status: 400 }, JSON.stringify(spec));
  t.match((await mes('GET', '/work-orders/WO-7')).body, { status: 'Pending', priority: 7, scheduledStartTime: '2020-01-01T00:00:00.000Z', awaitingOperatorStart: true });
  await did(mes('DELETE', '/work-orders/WO-7'), 204);
  await did(engineer.delete(`${AT}/batches/${made.name}`), 204);
});

t.test('MES-10 PROC-08 BATCH-02 CMD-14: no batch starts with a value that one of its phases could not run with', async (t) => {
  const given = (value: string, name = 'dwellTime') => ({ parameters: [{ name, value }] });
  for (const value of ['soon', 'NaN', ''])
    t.match(await operator.post(`${AT}/batches`, { batchID: 'no-number', ...CLEAN, ...given(value) }), { status: 400, body: { field: 'parameters[0].value' } }, `'${value}'`);
  t.match(await order({ workOrderID: 'no-number', ...given('soon') }), { status: 400, body: { code: 'invalid_field', field: 'parameters[0].value' } });
  t.match(
    await order({ workOrderID: 'too-long', productDefinition: 'resin-a', ...given('3601', 'premixTime') }),
    { status: 400, body: { code: 'out_of_range', field: 'parameters[0].value', max: '3600' } },
    'the limit of the phase, which the formula does not have',
  );

  const { spec } = (await engineer.get(`${MASTER}/clean-train`)).body;
  const [formula] = spec.formulas;
  const write = (change: object) => ({ ...spec, productID: 'DIRTY', formulas: [{ ...formula, parameters: formula.parameters.map((entry: Body) => ({ ...entry, ...change })) }] });
  await did(engineer.post(MASTER, { name: 'dirty', spec: write({ scaled: false, value: 'soon' }) }), 201);
  const { name } = await did(operator.post(`${AT}/batches`, { batchID: 'dirty-1', masterRecipeRef: 'dirty' }), 201);
  const preflight = (await viewer.post(`${AT}/batches/preflight`, { batch: name })).body;
  t.match(preflight, { ok: false });
  t.match(
    preflight.checks.filter(({ check }: Body) => check === 'formula-limits').map(({ element, liftedBy }: Body) => [element, liftedBy.tier]),
    [
      [/rinseAmount$/, 'engineer'],
      [/dwellTime$/, 'engineer'],
    ],
    'every element that could not run is named; the recipe has to be edited',
  );
  await did(command(name, 'Start'));
  const refused = await untilBatch(name, 'is refused', (batch) => batch.commandRejection !== undefined);
  t.match(refused, { phase: 'Pending', commandRejection: { rule: 'formula-out-of-range', message: /soon is no REAL value/ } });
  t.match((await viewer.get(`${AT}/units/rx101`)).body, { allocatedTo: '' });
  await did(engineer.delete(`${AT}/batches/${name}`), 204);

  for (const [change, field] of [
    [{ scaled: true, value: 'soon' }, 'spec.formulas[0].parameters[0].value'],
    [{ scaled: false, value: 'soon', lowValueLimit: '1' }, 'spec.formulas[0].parameters[0].value'],
    [{ value: '5', lowValueLimit: '9', highValueLimit: '1' }, 'spec.formulas[0].parameters[0].lowValueLimit'],
  ] as const)
    t.match(
      await engineer.put(`${MASTER}/dirty`, { spec: write(change) }),
      { status: 400, body: { code: 'invalid_field', field } },
      'RECIPE-12: what is scaled or limited is a number',
    );
  for (const [batchSize, field] of [
    [{ nominal: '0' }, 'nominal'],
    [{ nominal: '-1' }, 'nominal'],
    [{ nominal: '5', min: '9', max: '1' }, 'min'],
  ] as const)
    t.match(await engineer.put(`${MASTER}/dirty`, { spec: { ...write({}), batchSize } }), { status: 400, body: { field: `spec.batchSize.${field}` } }, JSON.stringify(batchSize));
  t.match(
    await engineer.post(`${MASTER}/dirty/formulas`, { name: 'winter', parameters: [{ name: 'rinseAmount', value: 'much', scaled: true }] }),
    { status: 400, body: { code: 'invalid_field' } },
    'FORMULA-01',
  );
});

/** A phase that asks, and then has used and made something. */
const ASKING = {
  parameters: [{ name: 'lot', type: 'STRING', defaultValue: 'L-1' }],
  outputs: ['used', 'made', 'never'].map((name) => ({ name, type: 'REAL', unit: 'kg' })),
  materials: [
    { direction: 'input', material: 'lot', lot: 'lot', quantity: 'used', unit: 'kg' },
    { direction: 'output', material: 'lot', quantity: 'made', unit: 'kg' },
    { direction: 'input', material: 'lot', quantity: 'never', unit: 'kg' },
  ],
  steps: [
    { name: 'ask', initial: true, actionST: "said := PROMPT('Go on?');" },
    { name: 'work', actionST: 'used := 3.5; made := 2.0;' },
  ],
  transitions: [{ from: 'ask', to: 'work', conditionST: "said = 'Acknowledged'" }],
};

t.test('RECORD-02 RECORD-04 RECORD-07: what is done by hand to the equipment of a batch, and what it consumes, is in its record', async (t) => {
  await did(engineer.post(`${AT}/phasetemplates`, { name: 'asking', spec: ASKING }), 201);
  const step = { name: 'ask', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'asking' };
  const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [step] } };
  const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } }] } };
  await did(engineer.post(MASTER, { name: 'asking', spec: { equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }], procedure } }), 201);

  const mode = (kind: string, name: string, word: string) => did(operator.post(`${AT}/mode`, { kind, name, mode: word }));
  const { name } = await did(operator.post(`${AT}/batches`, { batchID: 'by-hand', masterRecipeRef: 'asking' }), 201);
  await mode('ControlModule', 'xv105', 'Manual');
  await did(operator.post(`${AT}/units/rx101/tags/xv105.cmd`, { value: false }));
  await mode('ControlModule', 'xv105', 'Automatic');
  await started(name);
  const [prompt] = await test.until('it asks', `${AT}/prompts`, (prompts) => prompts.some(({ batch }: Body) => batch === name));
  await mode('ControlModule', 'tic101', 'Manual');
  await did(operator.post(`${AT}/units/rx101/tags/tic101.sp`, { value: 41 }));
  await did(operator.post(`${AT}/controlmodules/tic101/tags/sp`, { value: 42 }));
  await mode('ControlModule', 'tic101', 'Automatic');
  t.equal((await operator.post(`${AT}/units/rx101/tags/tic101.sp`, { value: 43 })).status, 403);
  await mode('Phase', prompt.phase, 'Manual');
  for (const kind of ['Phase', 'Operation', 'UnitProcedure', 'Procedure']) {
    const list = (await viewer.get(`${AT}/${kind.toLowerCase()}s`)).body;
    for (const element of list.filter(({ batch }: Body) => batch === name)) await mode(kind, element.name, 'Automatic');
  }
  await did(lead.post(`${AT}/phases/${prompt.phase}/prompt-response`, { promptID: prompt.id, response: '', reason: REASON }));
  const record = await ended(name);
  t.equal(record.outcome, 'Complete');

  const events = record.spec.executionEvents;
  const of = (type: string, subType: string) => events.filter((event: Body) => event.eventType === type && event.eventSubType === subType);
  t.match(
    of('Equipment', 'Modification').map(({ equipment, unit, value, previousValue, message }: Body) => [equipment, unit, previousValue, value, message]),
    [
      ['tic101', 'rx101', 'Automatic', 'Manual', 'mode of ControlModule tic101'],
      ['tic101', 'rx101', /^\d/, '41', 'tag tic101.sp'],
      ['tic101', 'rx101', '41', '42', 'tag tic101.sp'],
      ['tic101', 'rx101', 'Manual', 'Automatic', 'mode of ControlModule tic101'],
    ],
    'what was done before the batch had the unit, and what was refused, is none of it',
  );
  const write = of('Equipment', 'Modification')[1];
  t.match(write, { element: { kind: 'Batch', name }, person: { displayName: 'operator' } });
  t.match((await viewer.get(`${AT}/audit/${write.auditRecordRef}`)).body, { category: 'tag-write', result: 'Success', correlationID: write.correlationID, after: 41 });
  t.same(
    of('Procedural Execution', 'Mode Command').map(({ element, previousValue, value }: Body) => [element.kind, previousValue, value]),
    [
      ['Phase', 'Automatic', 'Manual'],
      ['Phase', 'Manual', 'Automatic'],
      ['Operation', 'Manual', 'Automatic'],
      ['UnitProcedure', 'Manual', 'Automatic'],
      ['Procedure', 'Manual', 'Automatic'],
    ],
  );
  t.same(
    of('Procedural Execution', 'Mode Change')
      .slice(0, 4)
      .map(({ element, value }: Body) => [element.kind, value]),
    ['Phase', 'Operation', 'UnitProcedure', 'Procedure'].map((kind) => [kind, 'Manual']),
    'the levels above went into Manual with it',
  );
  t.same(
    record.spec.operatorActions.map(({ action }: Body) => action),
    ['Command', 'Mode', 'Write', 'Write', ...Array(6).fill('Mode'), 'PromptAcknowledge'],
  );
  t.match(record.spec.operatorActions[2], { signed: false, person: { displayName: 'operator' }, value: 'tag tic101.sp 41', auditRecordRef: write.auditRecordRef });
  t.same(
    of('Material', 'Consume')
      .concat(of('Material', 'Produce'))
      .map(({ value, previousValue, element }: Body) => [value, previousValue, element.path]),
    [
      ['3.5', 'L-1', 'up/op/ask'],
      ['2', 'by-hand', 'up/op/ask'],
    ],
    'decisions 8.4: a quantity that was never assigned is nothing',
  );
  t.match(record.spec.materials, { inputs: [{ quantity: '3.5', lotID: 'L-1' }], outputs: [{ quantity: '2', lotID: 'by-hand' }] });
  const consolidated = (await viewer.get(`${AT}/batches/${name}/record`)).body;
  t.ok(
    consolidated.audit.some(({ category, target }: Body) => category === 'tag-write' && target.name === 'tic101.sp'),
    'the audit trail of the batch shows it too',
  );
});

t.test('MES-30 MES-54 BATCH-05 RECORD-11: an order sent again after it was withdrawn is another batch; an ID that has a record is not given again', async (t) => {
  const first = await did(order({ workOrderID: 'again' }), 201);
  await did(command(first.batchName, 'Resume'));
  const events = () => viewer.get(`${AT}/batches/${first.batchName}/events`);
  await test.until('the refusal is an event', `${AT}/batches/${first.batchName}/events`, ({ items }) => items.length === 1);
  await did(mes('DELETE', '/work-orders/again'), 204);
  const second = await did(order({ workOrderID: 'again' }), 201);
  t.equal(second.batchName, first.batchName);
  t.same((await events()).body, { items: [], nextCursor: null }, 'it has no history yet');
  await started(second.batchName);
  const record = await ended(second.batchName);
  t.notOk(
    record.spec.executionEvents.some(({ value }: Body) => value === 'Resume'),
    'and none of the first later',
  );
  await did(supervisor.post(`${AT}/batchrecords/${second.batchName}/finalize`, { reason: REASON }));
  t.match(await mes('DELETE', '/work-orders/again'), { status: 409, body: { code: 'work_order_started' } });
  await did(engineer.delete(`${AT}/batches/${second.batchName}`), 204);
  t.match(await order({ workOrderID: 'again' }), { status: 409, body: { code: 'batch_id_in_use', batchRecord: second.batchName } });
  t.match(await operator.post(`${AT}/batches`, { batchID: 'again', ...CLEAN }), { status: 409, body: { code: 'batch_id_in_use' } });
  t.match(await operator.post(`${AT}/batches`, { batchID: 'again-2', name: second.batchName, ...CLEAN }), { status: 409, body: { code: 'batch_id_in_use' } });
  t.match((await mes('GET', '/production-performance/again')).body, { recordPhase: 'Finalized', state: 'Complete' }, 'the record stays as it was');
});

t.test('SFC-03 ADHOC-05: a chart commands its own root only, and sets modes in its own unit only', async (t) => {
  const clean = await did(order({ workOrderID: 'rinse' }), 201);
  await started(clean.batchName);
  await ended(clean.batchName);
  await did(command(clean.batchName, 'Reset'));
  await test.until('the reactor is Idle', `${AT}/units/rx101`, ({ state }) => state === 'Idle');
  const limited = { parameters: [{ name: 'amount', type: 'REAL', defaultValue: '1', max: '10' }], steps: [{ name: 'only', initial: true }] };
  await did(engineer.post(`${AT}/phasetemplates`, { name: 'limited', spec: limited }), 201);
  const steps = [{ name: 'ph', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'limited' }];
  const wide = { category: 'equipment', parameters: [{ name: 'amount', type: 'REAL', defaultValue: '1' }], chart: { steps } };
  await did(engineer.post(`${AT}/operationtemplates`, { name: 'wide', spec: wide }), 201);
  const launched = (...values: string[]) =>
    lead.post(`${AT}/units/rx101/execute-operation`, { operationTemplateRef: 'wide', parameterValues: values.map((value) => ({ name: 'amount', value })) });
  t.match(await launched('11'), { status: 400, body: { code: 'out_of_range', error: /ph.amount: amount 11 is outside any to 10/ } }, 'ADHOC-11: its phase could not run with it');
  t.match(await launched('1', '2'), { status: 400, body: { field: 'parameterValues[1].name' } });
  t.match(await viewer.get(`${AT}/phases?adhoc=maybe`), { status: 400, body: { code: 'invalid_query', field: 'adhoc' } }, 'PROC-13');
  const spec = {
    steps: [
      {
        name: 'only',
        initial: true,
        actionST: "foreign := MODE('xv201', 'Manual'); own := MODE('xv105', 'Manual'); back := MODE('xv105', 'Automatic'); held := COMMAND('root', 'Hold', 'asked by the chart');",
      },
    ],
  };
  await did(engineer.post(`${AT}/phasetemplates`, { name: 'reaching', spec }), 201);
  const { name } = await did(operator.post(`${AT}/units/rx101/execute-phase`, { phaseTemplateRef: 'reaching' }), 201);
  const held = await test.until('the chart has held its root', `${AT}/phases/${name}`, ({ state }) => state === 'Held');
  t.match(held.sfcStatus.variableSnapshot, { foreign: 'FALSE', own: 'TRUE', back: 'TRUE' });
  t.equal((await viewer.get(`${AT}/controlmodules/xv201`)).body.mode, 'Automatic', 'the valve of another unit is left alone');
  await did(operator.post(`${AT}/command`, { kind: 'Phase', name, command: 'Abort', reason: REASON }));
  await test.until('it is aborted', `${AT}/phases/${name}`, ({ state }) => state === 'Aborted');
  await did(operator.post(`${AT}/command`, { kind: 'Phase', name, command: 'Reset', reason: REASON }));
});

t.test('SFC-03: a chart that holds itself fails with st-command; a reason goes with it, and Restart goes on', async (t) => {
  await test.until('the reactor is Idle', `${AT}/units/rx101`, ({ state }) => state === 'Idle');
  const actionST = "IF times < 1 THEN times := times + 1; ok := COMMAND('self', 'Hold', 'the sight glass is dark'); END_IF; after := TRUE;";
  const variables = [
    { name: 'times', type: 'INT', initial: '0' },
    { name: 'ok', type: 'BOOL' },
    { name: 'after', type: 'BOOL' },
  ];
  await did(engineer.post(`${AT}/phasetemplates`, { name: 'self-holding', spec: { variables, steps: [{ name: 'only', initial: true, actionST }] } }), 201);
  const { name } = await did(operator.post(`${AT}/units/rx101/execute-phase`, { phaseTemplateRef: 'self-holding' }), 201);
  const own = `${AT}/phases/${name}`;
  const held = await test.until('it has held itself', own, ({ state }) => state === 'Held');
  t.match(held.failure, { rule: 'st-command', class: 'hold', message: /the sight glass is dark/ });
  t.notMatch(held.sfcStatus.variableSnapshot, { after: 'TRUE' }, 'the rest of its action is skipped');
  const { items } = (await viewer.get(`${AT}/audit?category=command&name=${name}`)).body;
  t.match(
    items.find(({ rule }: Body) => rule === 'st-command'),
    { actorType: 'component', target: { kind: 'Phase', name }, result: 'Success', details: { command: 'Hold', reason: 'the sight glass is dark' } },
  );
  await did(operator.post(`${AT}/command`, { kind: 'Phase', name, command: 'Restart', reason: REASON }));
  await test.until('it goes on to its end', own, ({ state }) => state === 'Complete');
});

t.test('PROC-03 RECORD-02: nobody but the batch controller adds an element to a batch, and every way up from an element ends', async (t) => {
  const make = (list: string, name: string, spec: object): Promise<Answer> => engineer.post(`${AT}/${list}`, { name, spec });
  for (const [list, kind] of [
    ['operations', 'Operation'],
    ['unitprocedures', 'UnitProcedure'],
    ['procedures', 'Procedure'],
    ['phases', 'Phase'],
  ] as const)
    t.match(
      await make(list, 'circle', { parentRef: { kind, name: 'circle' } }),
      { status: 400, body: { code: 'invalid_field', field: 'spec.parentRef.kind' } },
      `${kind} in ${kind}`,
    );
  await did(make('operations', 'authored', {}), 201);
  await did(make('phases', 'authored-child', { parentRef: { kind: 'Operation', name: 'authored' } }), 201);

  const { name } = await did(operator.post(`${AT}/batches`, { batchID: 'not-joined', masterRecipeRef: 'asking' }), 201);
  await started(name);
  const prompts = await test.until('it asks', `${AT}/prompts`, (all) => all.some(({ batch }: Body) => batch === name));
  const prompt = prompts.find(({ batch }: Body) => batch === name);
  const { parent } = (await viewer.get(`${AT}/phases/${prompt.phase}`)).body;
  const forged = { unitRef: 'rx101', stepPath: 'up/op/forged', parameterValues: [{ name: 'lot', value: 'L-2', unit: '', source: 'default', sourceRef: '' }] };
  for (const spec of [
    { ...forged, batchRef: name },
    { ...forged, parentRef: parent },
  ]) {
    t.match(await make('phases', 'forged', spec), { status: 409, body: { code: 'element_owned' } });
    const manifest = { apiVersion: 'recipe.lineside.io/v1alpha1', kind: 'Phase', metadata: { name: 'forged', namespace: 'site-demo' }, spec };
    t.match(await engineer.post('/api/v1/apply', manifest), { status: 409, body: { code: 'element_owned' } });
    t.match(await engineer.put(`${AT}/phases/authored-child`, { spec }), { status: 409, body: { code: 'element_owned' } });
  }
  await did(lead.post(`${AT}/phases/${prompt.phase}/prompt-response`, { promptID: prompt.id, response: '', reason: REASON }));
  t.notMatch(JSON.stringify(await ended(name)), /forged/);
  await did(operator.put(`${AT}/batches/${name}`, { labels: { shift: 'night' }, description: 'seen' }));
  t.match((await viewer.get(`${AT}/batches/${name}`)).body, { labels: { shift: 'night' }, description: 'seen' }, 'BATCH-03');
});

t.test(
  'AUTH-05 AUTH-06 MES-01 MES-05 MES-07 MES-32 MES-41 MES-53 MES-59 MES-69 NONCE-07 NONCE-10 NONCE-17 NONCE-18 BATCH-04: an order from the MES to its record, in two forms that agree',
  async (t) => {
    const spec = {
      steps: [
        { name: 'wait', initial: true, timeout: '30m', actionST: "v := AWAIT_RESULT('viscosity', 1.0, 9.0, 'mPa.s');" },
        { name: 'told', actionST: 'MESSAGE(\'a < b & "c"\');' },
      ],
      transitions: [{ from: 'wait', to: 'told', conditionST: 'v > 0.0' }],
    };
    await did(engineer.post(`${AT}/phasetemplates`, { name: 'lab', spec }), 201);
    const step = { name: 'sample', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'lab' };
    const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [step] } };
    const procedure = { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } }] } };
    await did(engineer.post(MASTER, { name: 'lab', spec: { productID: 'LAB', equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }], procedure } }), 201);
    for (const step of ['approve', 'release', 'activate']) await did(supervisor.post(`${MASTER}/lab/${step}`, { reason: REASON }));

    const body = { workOrderID: 'WO/5 ü', productDefinition: 'lab', scheduledStartTime: '2020-01-01T00:00:00Z', description: 'first "of" <two>' };
    const path = '/work-orders?dispatch=immediate';
    const nonce = randomUUID();
    t.equal((await mes('POST', path, { ...body, priority: -1 }, { nonce })).status, 400);
    t.match(await mes('POST', path, body, { nonce }), { status: 409, body: { error: 'duplicate request nonce', status: 409 } }, 'the refused attempt has spent it');
    const first = await mes('POST', path, body);
    const again = await mes('POST', path, body);
    t.same([first.status, again.status, again.body], [201, 200, first.body], 'a retry with a new nonce is the same order');
    t.notOk('status' in again.body);
    t.equal(
      (await test.request('POST', '/api/v1/mes/apikeys', { token: admin.token, nonce: null, body: { name: 'second', site: 'demo' } })).status,
      400,
      'keys are made with a nonce',
    );
    const at = `/work-orders/${encodeURIComponent(body.workOrderID)}`;
    t.match((await mes('GET', at)).body, { status: 'Pending', awaitingOperatorStart: true, scheduledStartTime: '2020-01-01T00:00:00.000Z' }, 'its time is long past');
    for (const [method, target] of [
      ['POST', `${AT}/command`],
      ['GET', `${AT}/events/sse`],
      ['GET', `${AT}/batches`],
    ] as const)
      t.match(await test.request(method, target, { key, body: method === 'POST' ? { kind: 'Batch', name: first.body.batchName, command: 'Start' } : undefined }), {
        status: 403,
        body: { code: 'api_key_fence' },
      });

    const { batchName } = first.body;
    await started(batchName);
    const { items } = await test.until('the laboratory is waited for', `${MES}/external-results/pending`, (pending) => pending.items.length === 1);
    t.match(items, [{ batchID: body.workOrderID, resultKey: 'viscosity', stepName: 'wait', min: '1', max: '9', unit: 'mPa.s' }]);
    const result = { resultID: items[0].id, resultKey: 'viscosity', value: '4.20', externalSystem: 'LIMS <1>', sampleID: 'S&1' };
    t.equal((await lead.post(`${MES}/phases/${items[0].phaseName}/external-result`, result)).status, 403);
    t.match((await mes('POST', `/phases/${items[0].phaseName}/external-result`, result)).body, { ok: true, value: '4.2' });
    t.equal((await mes('POST', `/phases/${items[0].phaseName}/external-result`, result)).status, 409);
    const record = await ended(batchName);
    t.match(record, { outcome: 'Complete', spec: { externalResults: [{ value: '4.2', externalSystem: 'LIMS <1>', sampleID: 'S&1', credential: 'erp' }] } });

    const { text } = await viewer.get(`${AT}/batches/${batchName}/record?format=xml`);
    const events = [...text.matchAll(/<Event>(.*?)<\/Event>/gs)].map(([, event = '']) => ({
      id: Number(within(event, 'EntryID')),
      ts: within(event, 'TimeStamp'),
      eventType: within(event, 'EventType'),
      eventSubType: within(event, 'EventSubType'),
      value: within(within(event, 'Value'), 'ValueString'),
      previousValue: within(within(event, 'PreviousValue'), 'ValueString'),
    }));
    t.same(
      events,
      record.spec.executionEvents.map(({ id, ts, eventType, eventSubType, value, previousValue }: Body) => ({ id, ts, eventType, eventSubType, value, previousValue })),
      'the same events in the same order',
    );
    t.match(
      [
        within(text, 'BatchID'),
        within(text, 'RecordStatus'),
        within(within(text, 'Sample'), 'SampleSourceID'),
        within(within(text, 'Results'), 'ValueString'),
        within(text, 'ProductID'),
      ],
      [body.workOrderID, 'Open', 'S&1', '4.2', 'LAB'],
    );
    t.match(await mes('GET', `/production-performance/${encodeURIComponent(body.workOrderID)}`), {
      status: 200,
      body: { state: 'Complete', executionEvents: record.spec.executionEvents },
    });

    const second = await did(order({ ...body, workOrderID: 'WO-6' }), 201);
    await started(second.batchName);
    t.equal((await mes('DELETE', '/work-orders/WO-6')).status, 409);
    await did(command(second.batchName, 'Stop'));
    t.equal((await ended(second.batchName)).outcome, 'Stopped', 'an operator ends what has begun');
    t.match((await mes('GET', '/work-orders/WO-6')).body, { status: 'Stopped', awaitingOperatorStart: false });
  },
);

/** Text of the first element of that name, '' without one. */
function within(xml: string, name: string): string {
  const [, text = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml) ?? [];
  return text.includes('<') ? text : text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
