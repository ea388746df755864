/** Values on their way through a batch: outputs of one step become parameters and conditions of the next (decisions 1.7, 2.2). */
import t from 'tap';
import { SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;

const REAL = (name: string, defaultValue: string, more: object = {}) => ({ name, type: 'REAL', defaultValue, ...more });
const DOUBLE = { steps: [{ name: 'only', initial: true, actionST: 'result := start * 2.0 + amount;' }], transitions: [] };
const RESULT = [{ name: 'result', type: 'REAL' }];
const phase = (name: string, more: object = {}) => ({ name, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'double', ...more });
const operation = (name: string, parameterBindings: object[]) => ({ name, stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'chained', parameterBindings });
const bound = (name: string, from: string) => ({ parameterBindings: [{ name, from }] });

async function put(path: string, name: string, spec: object): Promise<void> {
  const answer = await api.post(`${SITE}/${path}`, { name, spec });
  if (answer.status !== 201) throw new Error(`${path} ${name}: ${answer.text}`);
}

await put('phasetemplates', 'double', { parameters: [REAL('start', '5'), REAL('amount', '0')], outputs: RESULT, ...DOUBLE });
await put('phasetemplates', 'small', { parameters: [REAL('start', '5'), REAL('amount', '0', { max: '100' })], outputs: RESULT, ...DOUBLE });
// a and b feed each other until b is 50, then c takes what b has made
await put('operationtemplates', 'chained', {
  parameters: [REAL('amount', '0')],
  outputs: [{ name: 'made', type: 'REAL', unit: 'kg', from: 'c.result' }],
  chart: {
    steps: [phase('a', { initial: true, ...bound('start', 'b.result') }), phase('b', bound('start', 'a.result')), phase('c', bound('start', 'b.result'))],
    transitions: [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a', conditionST: 'b.result < 50.0' },
      { from: 'b', to: 'c', conditionST: 'b.result >= 50.0' },
    ],
  },
});
await put('unitproceduretemplates', 'chain', {
  category: 'equipment',
  parameters: [REAL('amount', '1')],
  outputs: [{ name: 'total', type: 'REAL', from: 'again.made' }],
  chart: {
    steps: [{ ...operation('first', []), initial: true }, operation('again', [{ name: 'amount', from: 'first.made' }])],
    transitions: [{ from: 'first', to: 'again', conditionST: 'first.made > 100.0' }],
  },
});

/** `chain`, then a unit procedure without template that takes its total. */
async function recipe(name: string, template: string): Promise<void> {
  const inner = { steps: [{ name: 'op', stepLevel: 'Operation', subChart: { steps: [{ ...phase('tell'), templateRef: template }] } }] };
  const common = { stepLevel: 'UnitProcedure', targetCapability: 'reactor' };
  await put('recipes/master', name, {
    equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }],
    formulas: [{ name: 'v1.0', default: true, parameters: [{ name: 'amount', value: '1' }] }],
    procedure: {
      chart: {
        steps: [
          { name: 'make', initial: true, templateKind: 'UnitProcedureTemplate', templateRef: 'chain', ...common },
          { name: 'after', subChart: inner, ...common, ...bound('amount', 'make.total') },
        ],
        transitions: [{ from: 'make', to: 'after', conditionST: 'make.total = 1377.0 AND make.X' }],
      },
    },
  });
}

const element = async (list: string, name: string) => (await api.get(`${SITE}/${list}/${name}`)).body;
const made = [{ name: 'made', value: '191', type: 'REAL', unit: 'kg' }];

t.test('decisions 2.2: an output is a parameter of the next step at every level, in loops, and in elements without template', async (t) => {
  await recipe('chained', 'double');
  const batch = await plant.runBatch({ masterRecipeRef: 'chained' });
  const { outputs } = await plant.until(batch, 'Complete');
  t.match(
    outputs.map(({ element: path, value }: { element: string; value: string }) => [path, Number(value)]).sort(),
    [
      ['after/op/tell', 10 + 1377],
      ['make/again/a', 10 + 191],
      ['make/again/b', 2 * 201 + 191],
      ['make/again/c', 2 * 593 + 191],
      ['make/first/a', 2 * 23 + 1],
      ['make/first/b', 2 * 47 + 1],
      ['make/first/c', 2 * 95 + 1],
    ],
    'the loop of the first operation has run twice',
  );
  t.match(await element('operations', `${batch}-make-first`), { outputs: made, state: 'Complete' });
  t.match((await element('unitprocedures', `${batch}-make`)).outputs, [{ name: 'total', value: '1377' }]);
  t.match((await element('phases', `${batch}-make-first-a`)).runCount, 2);
  const tell = await element('phases', `${batch}-after-op-tell`);
  t.match(tell.spec.parameterValues, [
    { name: 'start', value: '5', source: 'default', sourceRef: 'template' },
    { name: 'amount', value: '1377', source: 'override', sourceRef: 'make.total' },
  ]);
  const events = (await plant.events(batch)).filter((event) => event.eventSubType === 'Parameter Data');
  t.match(
    events.find((event) => event.element?.name === `${batch}-make-again`),
    { value: '191', message: 'amount (first.made)' },
  );
  t.ok(
    events.some((event) => event.element?.name === `${batch}-make-first` && event.message === 'made' && event.value === '191'),
    'what an operation has made is an event',
  );
});

t.test('decisions 2.2: an operation and a phase of one batch may have one name, and neither reads what is of the other', async (t) => {
  await put('operationtemplates', 'gated', {
    parameters: [REAL('target', '7')],
    chart: { steps: [phase('before', { initial: true }), phase('behind')], transitions: [{ from: 'before', to: 'behind', conditionST: 'target = 7.0' }] },
  });
  const subChart = (steps: object[], transitions: object[] = []) => ({ subChart: { steps, transitions } });
  const operations = [
    { name: 'heat_up', initial: true, stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'gated' },
    { name: 'heat', stepLevel: 'Operation', ...subChart([phase('up', { initial: true })]) },
  ];
  const make = { name: 'make', stepLevel: 'UnitProcedure', targetCapability: 'reactor', ...subChart(operations, [{ from: 'heat_up', to: 'heat' }]) };
  await put('recipes/master', 'two-of-a-name', { equipmentRequirements: [{ capability: 'reactor', defaultUnit: 'rx101' }], procedure: { chart: { steps: [make] } } });
  const batch = await plant.runBatch({ masterRecipeRef: 'two-of-a-name' });
  await plant.until(batch, 'Complete');
  const name = `${batch}-make-heat-up`;
  t.match(await element('operations', name), { state: 'Complete', spec: { parameterValues: [{ name: 'target', value: '7' }] } });
  t.match(await element('phases', name), { state: 'Complete', spec: { stepPath: 'make/heat/up' } });
});

t.test('decisions 3.2: a value outside what its parameter allows starts nothing, holds the element above, and says why', async (t) => {
  await recipe('too-much', 'small');
  const batch = await plant.runBatch({ masterRecipeRef: 'too-much' });
  const held = await plant.until(batch, 'Held');
  t.match(held, { failure: { rule: 'formula-out-of-range', class: 'hold' }, blockedBecause: /amount 1377 is outside any to 100/ });
  t.match(await element('phases', `${batch}-after-op-tell`), { state: 'Idle', runCount: 0 });
  t.match(await element('operations', `${batch}-after-op`), { state: 'Held', failure: { rule: 'formula-out-of-range' } });
  t.equal((await plant.command(batch, 'Restart')).status, 200);
  await plant.look('it is held again', async () => {
    const { body } = await api.get(`${SITE}/operations/${batch}-after-op`);
    return { done: body.failure && body.failure.since !== held.failure.since && body.state === 'Held' ? body : undefined, seen: body.state };
  });
  t.equal((await element('phases', `${batch}-after-op-tell`)).runCount, 0);
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');
});
