/** The MES interface over the real store, ledger and pipeline on the demonstration plant (contract 1). */
import t from 'tap';
import { Batch, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { availabilityOf, completeRequest, differingFields } from '../../../src/domains/mes/rules.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { MasterRecipe } from '../../../src/domains/recipes/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { MES, SITE, startMesPlant } from './plant.js';
import { schemaFaults, texts } from './schema.js';
import { at as elementAt } from '../../support/at.js';

const plant = await startMesPlant();
t.teardown(() => plant.stop());
const { mes, operator, store } = plant;
const ORDERS = `${MES}/work-orders`;
const ORDER = {
  workOrderID: 'WO 1/ä',
  productDefinition: 'resin-a',
  quantity: '28',
  engineeringUnit: 'kg',
  priority: 200,
  description: 'first',
  scheduledStartTime: '2020-01-01T02:00:00+02:00',
};
const submit = (order: object, query = '?dispatch=immediate') => mes.post(`${ORDERS}${query}`, order);
const batches = () => store.list(Batch, 'demo');
const at = (id: string) => `${ORDERS}/${encodeURIComponent(id)}`;

async function setStatus(name: string, change: Partial<BatchStatus>): Promise<void> {
  const { status } = store.get(Batch, 'demo', name) as { status: BatchStatus };
  await store.write({ puts: [{ kind: Batch, site: 'demo', name, status: { ...status, ...change } } as Put] });
}

t.test('MES-34, MES-35, MES-36: availability follows from state and allocation, first row wins', async (t) => {
  for (const state of ['', 'Idle', 'Complete', 'Stopped', 'Aborted']) t.equal(availabilityOf(state, ''), 'available', state);
  for (const state of ['Running', 'Holding', 'Held', 'Pausing', 'Paused', 'Restarting', 'Resetting']) t.equal(availabilityOf(state, ''), 'inUse', state);
  for (const state of ['Faulted', 'Stopping', 'toString']) t.equal(availabilityOf(state, ''), 'unavailable', state);
  for (const state of ['Idle', 'Faulted']) t.equal(availabilityOf(state, 'b-1'), 'inUse', state);
});

t.test('MES-56: a resubmission is compared field by field after parsing, absent as its default', async (t) => {
  const defaults = { quantity: '28', engineeringUnit: 'kg' };
  const order = {
    workOrderID: 'a',
    productDefinition: 'p',
    parameters: [
      { name: 'x', value: '10' },
      { name: 'y', value: 'red' },
    ],
    requestedEquipment: { mix: 'mx' },
    scheduledStartTime: '2026-01-01T00:00:00Z',
  };
  const first = completeRequest(order, defaults);
  const differs = (change: object, other = defaults) => differingFields(first, completeRequest({ ...order, ...change }, other));
  t.same(differs({}), []);
  t.same(differs({ quantity: '28.0', engineeringUnit: 'kg', priority: 100, description: '' }), [], 'the defaults, said aloud');
  t.same(differs({}, { quantity: '30', engineeringUnit: 'l' }), [], 'left out both times, whatever the recipe says by now');
  t.same(
    differs({
      parameters: [
        { name: 'y', value: 'red' },
        { name: 'x', value: '1.00e1' },
      ],
    }),
    [],
    'a set by name, numbers as decimals',
  );
  t.same(
    differs({
      parameters: [
        { name: 'X', value: '10' },
        { name: 'y', value: 'red' },
      ],
    }),
    [],
    'names as they are applied: in any case',
  );
  t.same(differs({ scheduledStartTime: '2026-01-01T01:00:00+01:00' }), [], 'one instant');
  t.same(differs({ parameters: [{ name: 'x', value: '10' }] }), ['parameters']);
  t.same(
    differs({
      parameters: [
        { name: 'x', value: '10.000000000000000000001' },
        { name: 'y', value: 'red' },
      ],
    }),
    ['parameters'],
    'beyond binary precision',
  );
  t.same(differs({ requestedEquipment: {} }), ['requestedEquipment']);
  t.same(differs({ productDefinition: 'q', priority: 1, description: 'd', scheduledStartTime: '', quantity: '1', engineeringUnit: 'l' }), [
    'productDefinition',
    'priority',
    'description',
    'scheduledStartTime',
    'quantity',
    'engineeringUnit',
  ]);
});

t.test('MES-17, MES-43: product definitions are the effective recipes, by name', async (t) => {
  const { body } = await mes.get(`${MES}/product-definitions`);
  t.same(
    body.map((definition: { name: string }) => definition.name),
    ['clean-train', 'resin-a'],
  );
  const one = await mes.get(`${MES}/product-definitions/resin-a`);
  t.same(one.body, body[1]);
  t.match(one.body, { version: '1.0.0', effectiveSince: /^\d{4}-.*Z$/, batchSize: { quantity: '28', engineeringUnit: 'kg' } });
  t.ok(one.body.parameters.length > 0 && one.body.outputs.some((output: { name: string }) => output.name === 'viscosity'));
  t.ok(one.body.equipmentRequirements.every((requirement: { steps: string[] }) => requirement.steps.length > 0));
  t.match(await mes.get(`${MES}/product-definitions/other`), { status: 404, body: { code: 'not_found' } });
  t.equal((await operator.get(`${MES}/product-definitions`)).status, 200, 'open to humans');
});

t.test(
  'MES-43, D-C-05: a page of product definitions neither skips nor repeats one when a recipe comes or goes, and all of them are answered where no page is asked for',
  async (t) => {
    const { spec, status } = elementAt(store.list(MasterRecipe, 'demo'), 0); // clean-train, which is Effective
    const add = (...names: string[]) => store.write({ puts: names.map((name) => ({ kind: MasterRecipe, site: 'demo', name, spec, status }) as Put) });
    const remove = (...names: string[]) => store.write({ removes: names.map((name) => ({ kind: MasterRecipe.kind, site: 'demo', name })) });
    const namesOf = (page: { body: readonly { name: string }[] }) => page.body.map(({ name }) => name);
    const next = (page: { headers: Readonly<Record<string, unknown>> }) => /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link))?.[1] ?? '';
    const LIST = `${MES}/product-definitions`;
    await add('b-one', 'd-two');
    const first = await mes.get(`${LIST}?limit=2`);
    t.same([namesOf(first), first.headers['x-total-count']], [['b-one', 'clean-train'], '4']);
    await remove('b-one');
    t.same(namesOf(await mes.get(next(first))), ['d-two', 'resin-a'], 'none is skipped');
    const again = await mes.get(`${LIST}?limit=2`);
    t.same(namesOf(again), ['clean-train', 'd-two']);
    await add('a-new');
    const last = await mes.get(next(again));
    t.same([namesOf(last), last.headers.link], [['resin-a'], undefined], 'none is repeated');
    await remove('a-new');

    const xml = await mes.get(`${LIST}?limit=2&format=b2mml`);
    t.equal(xml.text.match(/<ProductDefinition>/g)?.length, 2, 'pages are those of the XML too');
    t.match(next(xml), /limit=2&cursor=[^&]+&format=b2mml$/);
    t.match((await mes.get(`${LIST}?cursor=x`)).body, { status: 400, code: 'invalid_query', field: 'cursor' });

    const many = Array.from({ length: 1000 }, (_, n) => `many-${n}`);
    await add(...many);
    const whole = await mes.get(LIST);
    t.same([whole.body.length, whole.headers.link], [1003, undefined]);
    t.equal((await mes.get(`${LIST}?format=b2mml`)).text.match(/<ProductDefinition>/g)?.length, 1003);
    await remove('d-two', ...many);
  },
);

t.test('MES-18, MES-19, MES-20, MES-44: the capability of the site and one unit of it', async (t) => {
  const { body } = await mes.get(`${MES}/production-capability`);
  t.match(body, { site: 'demo', summary: { total: 3, available: 3, inUse: 0, unavailable: 0 } });
  t.same(
    body.equipment.map((unit: { name: string }) => unit.name),
    ['mx101', 'rx101', 'tk201'],
  );
  const unit = store.get(Unit, 'demo', 'rx101');
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, state: 'Held', allocatedTo: 'b-x' } } as Put] });
  t.match((await mes.get(`${MES}/equipment/rx101/status`)).body, {
    name: 'rx101',
    processCell: 'resin-train',
    area: 'synthesis',
    state: 'Held',
    availability: 'inUse',
    allocatedTo: 'b-x',
    runtimeReady: true,
  });
  t.match((await mes.get(`${MES}/production-capability`)).body.summary, { available: 2, inUse: 1 });
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status } } as Put] });
  t.equal((await mes.get(`${MES}/equipment/nothing/status`)).status, 404);
});

t.test('MES-51, MES-52: dispatch=immediate is demanded before the body is looked at; nothing is created', async (t) => {
  for (const query of ['', '?dispatch=later', '?dispatch=immediate&dispatch=later']) {
    t.match(await submit({ nonsense: true }, query), {
      status: 400,
      body: { error: 'query parameter dispatch is required and must be immediate', code: 'invalid_query', field: 'dispatch' },
    });
  }
  t.equal(batches().length, 0);
});

t.test('MES-08, MES-09, MES-10, MES-11: what does not fit is refused by field and nothing is created', async (t) => {
  const { requestedEquipment: capability } = { requestedEquipment: (await mes.get(`${MES}/product-definitions/resin-a`)).body.equipmentRequirements[0].capability as string };
  const parameter = (await mes.get(`${MES}/product-definitions/resin-a`)).body.parameters[0].name as string;
  const refused: [object, string][] = [
    [{ workOrderID: undefined }, 'workOrderID'],
    [{ workOrderID: ' ' }, 'workOrderID'],
    [{ workOrderID: 'a\u0007' }, 'workOrderID'],
    [{ productDefinition: 'nothing' }, 'productDefinition'],
    [{ productDefinition: 'resin-a ' }, 'productDefinition'],
    [{ quantity: 'much' }, 'quantity'],
    [{ quantity: '0' }, 'quantity'],
    [{ quantity: '28000' }, 'quantity'],
    [{ priority: 1001 }, 'priority'],
    [{ priority: '5' }, 'priority'],
    [{ parameters: [{ name: 'nothing', value: '1' }] }, 'parameters[0].name'],
    [
      {
        parameters: [
          { name: parameter, value: '1' },
          { name: parameter, value: '2' },
        ],
      },
      'parameters[1].name',
    ],
    [{ requestedEquipment: { nothing: 'rx101' } }, 'requestedEquipment.nothing'],
    [JSON.parse('{"requestedEquipment": {"__proto__": "rx101"}}'), 'requestedEquipment.__proto__'],
    [{ requestedEquipment: { [capability]: 'nothing' } }, `requestedEquipment.${capability}`],
    [{ scheduledStartTime: 'tomorrow' }, 'scheduledStartTime'],
    [{ colour: 'red' }, 'colour'],
  ];
  for (const [change, field] of refused) t.match(await submit({ ...ORDER, ...change }), { status: 400, body: { field } }, field);
  const undeclared = await submit({ ...ORDER, parameters: [{ name: 'nothing', value: '1' }] });
  t.ok(undeclared.body.allowed.includes(parameter), 'the parameters that there are');
  t.match(undeclared.body, { error: /declares no parameter nothing; it declares / });
  const recipe = store.get(MasterRecipe, 'demo', 'resin-a');
  await store.write({ puts: [{ kind: MasterRecipe, site: 'demo', name: 'resin-a', status: { ...recipe?.status, phase: 'Withdrawn' } } as Put] });
  t.match(await submit(ORDER), { status: 400, body: { code: 'unknown_reference', field: 'productDefinition' } });
  await store.write({ puts: [{ kind: MasterRecipe, site: 'demo', name: 'resin-a', status: recipe?.status } as Put] });
  t.equal(batches().length, 0);
});

t.test('MES-03, MES-13, MES-14, MES-28, MES-45, MES-55: an order creates a batch that waits; its repetition creates nothing', async (t) => {
  const made = await submit(ORDER);
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    workOrderID: 'WO 1/ä',
    batchID: 'WO 1/ä',
    batchName: /^wo-wo-1-[0-9a-f]{8}$/,
    origin: 'mes',
    awaitingOperatorStart: true,
    scheduledStartTime: '2020-01-01T00:00:00.000Z',
    createdBy: 'erp',
  });
  t.notOk('status' in made.body);
  t.equal(made.headers.location, at('WO 1/ä'));
  const batch = store.get(Batch, 'demo', made.body.batchName);
  t.match(batch?.status, { phase: 'Pending' });
  t.ok(batch?.status.allocations.length && batch.status.allocations.every((allocation) => allocation.state === 'Requested'));
  const again = await submit({ ...ORDER, quantity: '28.00', scheduledStartTime: '2020-01-01T00:00:00Z' });
  t.equal(again.status, 200);
  t.same(again.body, made.body);
  t.equal(batches().length, 1);
  t.match(
    plant.audits.filter((record) => record.target.name === made.body.batchName).map((record) => [record.action, record.actorType]),
    [
      ['Create', 'apiKey'],
      ['Request', 'apiKey'],
    ],
  );
});

t.test('MES-54, MES-56: a changed repetition is refused with the fields that differ', async (t) => {
  t.match(await submit({ ...ORDER, priority: 300, description: 'second' }), {
    status: 409,
    body: { error: 'work order WO 1/ä exists with a different priority', code: 'work_order_mismatch', field: 'priority', fields: ['priority', 'description'] },
  });
  t.match(await submit({ ...ORDER, quantity: '29' }), { status: 409, body: { field: 'quantity' } });
  const { metadata, spec } = elementAt(batches(), 0);
  await store.write({ puts: [{ kind: Batch, site: 'demo', name: metadata.name, spec: { ...spec, description: 'changed at the plant' } } as Put] });
  t.equal((await submit(ORDER)).status, 200, 'what the plant changed afterwards does not make the same order another one');
});

t.test('MES-12, MES-15, MES-16, MES-33, MES-46: an order is read with its status and its planned time', async (t) => {
  const { body, headers } = await mes.get(at('WO 1/ä'));
  t.match(
    body,
    { status: 'Pending', awaitingOperatorStart: true, scheduledStartTime: '2020-01-01T00:00:00.000Z', startedAt: null, finishedAt: null },
    'a passed time starts nothing',
  );
  t.equal((await mes.get(at('WO 1/ä'), { headers: { 'if-none-match': String(headers.etag) } })).status, 304);
  t.equal((await mes.get(at('none'))).status, 404);
});

t.test('MES-46, MES-57: the list has one entry per batch, local ones too, newest first and paged', async (t) => {
  plant.clock.advance(1000);
  t.equal((await operator.post(`${SITE}/batches`, { batchID: 'L-1', masterRecipeRef: 'resin-a' })).status, 201);
  t.match(await submit({ ...ORDER, workOrderID: 'L-1' }), { status: 409, body: { code: 'batch_id_in_use' } });
  t.match((await mes.get(at('L-1'))).body, { origin: 'local', workOrderID: 'L-1', status: 'Pending' });
  t.match(await mes.delete(at('L-1')), { status: 409, body: { code: 'not_a_work_order' } });
  // a legacy pair: two batches of one order
  const order = elementAt(
    batches().filter((batch) => batch.status.workOrder),
    0,
  );
  plant.clock.advance(1000);
  await store.write({ puts: [{ kind: Batch, site: 'demo', name: 'wo-legacy', spec: order.spec, status: order.status } as Put] });
  const list = await mes.get(ORDERS);
  t.same(
    list.body.map((entry: { batchName: string }) => entry.batchName),
    ['wo-legacy', store.list(Batch, 'demo').find((batch) => batch.spec.batchID === 'L-1')?.metadata.name, order.metadata.name],
  );
  t.equal((await mes.get(at('WO 1/ä'))).body.batchName, order.metadata.name, 'reads resolve to the older one');
  const first = await mes.get(`${ORDERS}?limit=2`);
  t.equal(first.body.length, 2);
  const next = /^<([^>]+)>; rel="next"$/.exec(String(first.headers.link))?.[1] ?? '';
  const second = await mes.get(next);
  t.same([...first.body, ...second.body], list.body);
  t.notOk(second.headers.link);
  t.match(await mes.get(`${ORDERS}?cursor=zzz`), { status: 400, body: { field: 'cursor' } });
  await store.write({ removes: [{ kind: 'Batch', site: 'demo', name: 'wo-legacy' }] });
});

t.test('MES-04: no key sets equipment running', async (t) => {
  t.match(await mes.post(`${SITE}/command`, { kind: 'Batch', name: elementAt(batches(), 0).metadata.name, command: 'Start' }), { status: 403, body: { code: 'api_key_fence' } });
});

t.test('MES-42, MES-67, MES-68, VER-03: every read has its XML, in the namespace of the contract', async (t) => {
  const paths: [string, string, string][] = [
    ['product-definitions', 'ProductDefinitionInformation', 'ProductDefinition'],
    ['product-definitions/resin-a', 'ProductDefinitionInformation', 'ProductDefinition'],
    ['production-capability', 'ProductionCapability', 'EquipmentCapability'],
    ['equipment/rx101/status', 'ProductionCapability', 'EquipmentCapability'],
    ['work-orders', 'ProductionSchedule', 'ProductionRequest'],
    [`work-orders/${encodeURIComponent('WO 1/ä')}`, 'ProductionSchedule', 'ProductionRequest'],
    ['production-performance', 'ProductionPerformance', ''],
    ['external-results/pending', 'PendingExternalResults', ''],
  ];
  for (const [target, root, inner] of paths) {
    for (const format of ['b2mml', 'xml']) {
      const answer = await mes.get(`${MES}/${target}?format=${format}`);
      t.equal(answer.headers['content-type'], 'application/xml; charset=utf-8', target);
      t.match(answer.text, new RegExp(`^<\\?xml version="1.0" encoding="UTF-8"\\?><${root} xmlns="urn:wbf:b2mml:v0700"`));
      if (inner) t.ok(texts(answer.text, `/b:${root}/b:${inner}`).length > 0, `${target} has ${inner}`);
    }
    const accepted = await mes.get(`${MES}/${target}`, { headers: { accept: 'application/xml' } });
    t.match(accepted.headers, { vary: /Accept/, 'content-type': /^application\/xml/ });
  }
  const schedule = (await mes.get(`${at('WO 1/ä')}?format=b2mml`)).text;
  t.same(texts(schedule, '//b:ProductionRequest/b:StartTime'), ['2020-01-01T00:00:00.000Z'], 'MES-12');
  t.same(texts(schedule, '//b:ProductionRequest/b:RequestState'), ['Pending']);
  t.match(await mes.get(`${ORDERS}?format=yaml`), { status: 400, body: { field: 'format' } });
  t.equal((await mes.get(`${ORDERS}?format=json`, { headers: { accept: 'application/xml' } })).headers['content-type'], 'application/json; charset=utf-8', 'format wins');
});

t.test('MES-68: the MESA form is valid against the official schemas', async (t) => {
  for (const target of [
    'product-definitions',
    'product-definitions/resin-a',
    'production-capability',
    'equipment/rx101/status',
    'work-orders',
    `work-orders/${encodeURIComponent('WO 1/ä')}`,
  ]) {
    const answer = await mes.get(`${MES}/${target}?format=b2mml-mesa`);
    t.equal(answer.headers['content-type'], 'application/xml; charset=utf-8; profile=mesa');
    t.equal(schemaFaults(answer.text), '', target);
  }
  t.equal((await mes.get(`${MES}/production-performance?format=b2mml-mesa`)).status, 204, 'an empty performance cannot be said');
  t.match(await mes.get(`${MES}/external-results/pending?format=b2mml-mesa`), { status: 406, body: { code: 'not_acceptable' } });
  t.not(schemaFaults('<OperationsSchedule xmlns="http://www.mesa.org/xml/B2MML"><ID>x</ID></OperationsSchedule>'), '', 'the judge can say no');
});

t.test('MES-30, MES-31, MES-47, MES-58: only what has not begun can be withdrawn, and its ID is free again', async (t) => {
  const { batchName } = (await mes.get(at('WO 1/ä'))).body;
  for (const phase of ['Running', 'Held', 'Complete', 'Failed'] as const) {
    await setStatus(batchName, { phase });
    t.match(await mes.delete(at('WO 1/ä')), { status: 409, body: { code: 'work_order_started', phase } });
    t.match((await mes.get(at('WO 1/ä'))).body, { status: phase, awaitingOperatorStart: false });
    t.match(await submit(ORDER), { status: 200, body: { awaitingOperatorStart: false } }, 'MES-29');
  }
  await setStatus(batchName, { phase: 'Pending' });
  t.equal((await mes.delete(at('WO 1/ä'))).status, 204);
  t.equal((await mes.get(at('WO 1/ä'))).status, 404);
  t.equal((await submit({ ...ORDER, quantity: '29' })).status, 201);
});

t.test('MES-22: a batch without a record has no production performance yet', async (t) => {
  t.match(await mes.get(`${MES}/production-performance/L-1`), { status: 404, body: { code: 'no_production_record', state: 'Pending' } });
  t.match(await mes.get(`${MES}/production-performance/none`), { status: 404, body: { code: 'not_found' } });
});
