/** Rehearsal of recipes on a copy of the demonstration plant (ADR 0006): the real appliance, the real threads. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { readDocuments } from '../../../src/platform/base/yaml.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { ANSWERS, outputOf, SITE, startPlant } from '../../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());

const MASTER = `${SITE}/recipes/master`;
const rehearse = (recipe: string, body: object = {}): Promise<ApiAnswer> => plant.api.post(`${MASTER}/${recipe}/rehearse`, { waitSeconds: 75, ...body });

async function apply(kind: string, name: string, spec: object, labels = {}): Promise<void> {
  const answer = await plant.api.post('/api/v1/apply', { apiVersion: 'recipe.lineside.io/v1alpha1', kind, metadata: { name, namespace: 'site-demo', labels }, spec });
  if (answer.status >= 300) throw new Error(`${kind} ${name}: ${answer.status} ${answer.text}`);
}

/** A recipe of one phase on the reactor; the operation binds its parameter to `amount`. */
async function onePhase(name: string, phase: object, amount = '5'): Promise<void> {
  const parameters = [{ name: 'amount', type: 'REAL', unit: 'kg', defaultValue: '5', min: '0', max: '50' }];
  await apply('PhaseTemplate', `${name}-phase`, { parameters, ...phase });
  await apply('OperationTemplate', `${name}-op`, {
    chart: {
      steps: [
        { name: 'run', initial: true, templateRef: `${name}-phase`, templateKind: 'PhaseTemplate', stepLevel: 'Phase', parameterBindings: [{ name: 'amount', value: amount }] },
      ],
    },
  });
  await apply('UnitProcedureTemplate', `${name}-up`, {
    chart: { steps: [{ name: 'op', initial: true, templateRef: `${name}-op`, templateKind: 'OperationTemplate', stepLevel: 'Operation' }] },
  });
  await apply('MasterRecipe', name, {
    productID: name.toUpperCase(),
    version: '1.0.0',
    equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }],
    procedure: {
      chart: { steps: [{ name: 'up', initial: true, templateRef: `${name}-up`, templateKind: 'UnitProcedureTemplate', stepLevel: 'UnitProcedure', targetCapability: 'react' }] },
    },
  });
}

const LISTS = ['batches', 'procedures', 'unitprocedures', 'operations', 'phases', 'units', 'controlmodules', 'recipes/control', 'batchrecords', 'prompts'];

/** What a client can see of the store; values of devices are none of it, and alarms of the box tell of this machine: its disk may be slow meanwhile. */
async function seen(): Promise<Record<string, unknown>> {
  const lists = await Promise.all(LISTS.map(async (list) => [list, (await plant.api.get(`${SITE}/${list}`)).body] as const));
  const alarms = (await plant.api.get(`${SITE}/alarms`)).body.filter(({ type }: { type: string }) => type !== 'System');
  const recipe = await plant.api.get(`${MASTER}/resin-a`);
  const audit = await plant.api.get('/api/v1/audit?limit=5');
  return { ...Object.fromEntries(lists), alarms, recipe: recipe.body, revision: recipe.headers.get('etag'), audit: audit.body };
}

t.test('rehearsal: the demonstration recipe completes with the outputs of a real batch and tells what happened', async (t) => {
  const answers = { 'makeResin/react/check/measure': ANSWERS.ph, viscosity: ANSWERS.viscosity };
  const { status, body } = await rehearse('resin-a', { answers });
  t.equal(status, 200);
  t.match(body, { ok: true, outcome: 'Complete', recipe: 'resin-a', version: '1.0.0', blockedBecause: '', truncated: {} });
  const avgTemp = outputOf(body, 'avgTemp');
  const packed = outputOf(body, 'packed');
  t.ok(Math.abs(avgTemp - 81.6) < 0.5, `avgTemp ${avgTemp}`);
  t.ok(Math.abs(packed - 29.98) < 0.5, `packed ${packed}`);
  t.equal(outputOf(body, 'ph'), 7.2);
  t.equal(outputOf(body, 'viscosity'), 420);
  t.ok(body.plantSeconds > 50 && body.plantSeconds < 90, `${body.plantSeconds} s of plant time`);
  t.ok(body.wallMs > 0 && body.speed > 1, `${body.speed} x real time in ${body.wallMs} ms`);

  const [first] = body.timeline;
  t.same(first, { ts: 0, element: 'Batch', path: '', state: 'Running', cause: 'Start' });
  t.match(body.timeline.at(-1), { element: 'Batch', state: 'Complete' });
  t.ok(
    body.timeline.some((entry: { path: string; step?: string }) => entry.path === 'makeResin/charge/monomer' && entry.step === 'fill'),
    'steps of phases are told',
  );
  const times = body.timeline.map(({ ts }: { ts: number }) => ts);
  t.same(
    times,
    [...times].sort((a, b) => a - b),
    'in the order of time',
  );
  t.match(body.prompts, [
    { path: 'makeResin/react/check', step: 'measure', type: 'value', answer: '7.2', from: 'answers' },
    { path: 'makeResin/react/sample', resultKey: 'viscosity', answer: '420', from: 'answers' },
  ]);
  t.ok(body.checks.every((check: { ok: boolean }) => check.ok));
  t.same(body.unreachedSteps, [{ path: 'makeResin/react/check', step: 'deviation' }], 'the branch that a good pH does not take');
  t.ok(
    body.alarms.some((alarm: { module: string; severity: string }) => alarm.module === 'li101' && alarm.severity === 'High'),
    'alarm blocks speak',
  );
});

t.test('rehearsal: nothing of the plant is touched and no audit record is left', async (t) => {
  const before = await seen();
  t.equal((await rehearse('resin-a')).body.outcome, 'Complete');
  t.same(await seen(), before);
});

t.test('rehearsal: the same request gives the same answer, another seed another plant', async (t) => {
  const [first, again, other] = [await rehearse('resin-a', { seed: 7 }), await rehearse('resin-a', { seed: 7 }), await rehearse('resin-a', { seed: 8 })];
  const facts = ({ body: { wallMs: _wall, speed: _speed, ...body } }: ApiAnswer) => body;
  t.same(facts(first), facts(again));
  t.not(outputOf(first.body, 'avgTemp'), outputOf(other.body, 'avgTemp'));
  t.match(
    first.body.prompts,
    [
      { answer: '7', from: 'default' },
      { resultKey: 'viscosity', from: 'default' },
    ],
    'prompts are answered by the middle of their limits',
  );
});

t.test('rehearsal: a transition that never becomes true is named with its step and the reason', async (t) => {
  await onePhase('stuck', {
    steps: [{ name: 'begin', initial: true, actionST: 'started := TRUE;', timeout: '10s', onTimeout: 'Alarm' }, { name: 'never' }],
    transitions: [{ from: 'begin', to: 'never', conditionST: 'amount > 100.0' }],
    variables: [{ name: 'started', type: 'BOOL' }],
  });
  const { status, body } = await rehearse('stuck', { limitSeconds: 600 });
  t.equal(status, 200, JSON.stringify(body));
  t.match(body, { ok: false, outcome: 'TimeLimit', plantSeconds: 600, unreachedSteps: [{ path: 'up/op/run', step: 'never' }] });
  t.match(body.blockedBecause, /up\/op\/run.*amount > 100/);
  t.match(body.alarms, [{ element: 'up/op/run', severity: 'Medium', message: /begin/ }], 'and the alarm that would have come');
  t.ok(body.alarms[0].atSeconds >= 10 && body.alarms[0].atSeconds < 11, `after ${body.alarms[0].atSeconds} s`);
  t.match(body.unfiredTransitions, [{ path: 'up/op/run', transition: 'begin->never#0', condition: 'amount > 100.0', reason: /amount > 100/ }]);
});

t.test('rehearsal: a phase that is held ends it, and the failure is the reason', async (t) => {
  await onePhase('late', {
    steps: [{ name: 'begin', initial: true, timeout: '30s', onTimeout: 'Hold' }, { name: 'never' }],
    transitions: [{ from: 'begin', to: 'never', conditionST: 'amount > 100.0' }],
  });
  const { body } = await rehearse('late');
  t.match(body, { ok: false, outcome: 'Held', blockedBecause: /begin/ }, JSON.stringify(body.timeline));
  t.ok(body.plantSeconds >= 30 && body.plantSeconds < 32, `after ${body.plantSeconds} s`);
});

t.test('rehearsal: a parameter outside what its phase declares is named, and the recipe is run all the same', async (t) => {
  await onePhase('wrong', { steps: [{ name: 'only', initial: true }], transitions: [] }, '500');
  const { body } = await rehearse('wrong');
  t.match(body, { ok: false, outcome: 'Complete' });
  t.match(
    body.checks.filter((check: { ok: boolean }) => !check.ok),
    [{ check: 'parameters', message: /up\/op\/run\.amount: .*500.*0 to 50/ }],
  );
});

t.test('rehearsal: a recipe that cannot be started says why', async (t) => {
  await apply('MasterRecipe', 'homeless', {
    productID: 'HOMELESS',
    version: '1.0.0',
    procedure: {
      chart: { steps: [{ name: 'up', initial: true, templateRef: 'stuck-up', templateKind: 'UnitProcedureTemplate', stepLevel: 'UnitProcedure', targetCapability: 'levitate' }] },
    },
  });
  const { body } = await rehearse('homeless');
  t.match(body, { ok: false, outcome: 'NotStarted', plantSeconds: 0, blockedBecause: /levitate/ });
  t.match(
    body.checks.find((check: { check: string }) => check.check === 'equipment'),
    { ok: false, message: /levitate/ },
  );
});

t.test('rehearsal: a template that is gone is named', async (t) => {
  const step = { name: 'up', initial: true, templateRef: 'gone', templateKind: 'UnitProcedureTemplate', stepLevel: 'UnitProcedure', targetCapability: 'react' };
  await apply('MasterRecipe', 'dangling', {
    productID: 'DANGLING',
    version: '1.0.0',
    equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }],
    procedure: { chart: { steps: [step] } },
  });
  const { status, body } = await rehearse('dangling');
  t.match({ status, body }, { status: 200, body: { ok: false, outcome: 'NotStarted', blockedBecause: /gone/ } });
  t.ok(
    body.checks.some(({ ok, message }: { ok: boolean; message: string }) => !ok && /UnitProcedureTemplate gone/.test(message)),
    JSON.stringify(body.checks),
  );
});

t.test('rehearsal: an answer that the prompt does not allow, or that nothing asks for, is told', async (t) => {
  const { body } = await rehearse('resin-a', { answers: { viscosity: 'thick', visosity: '420' } });
  t.match(body, { ok: false, outcome: 'Complete' });
  t.match(
    body.checks.filter((check: { check: string }) => check.check === 'answers').map(({ message }: { message: string }) => message),
    [/answers\.viscosity was not taken/, /answers\.visosity: nothing asked for it; asked were .*viscosity/],
  );
});

t.test('rehearsal: a request that does not fit is refused with its field; the recipe must exist and be one that is run', async (t) => {
  for (const [body, field] of [
    [{ formulaName: 'none' }, 'formulaName'],
    [{ quantity: '1000000' }, 'quantity'],
    [{ parameters: [{ name: 'none', value: '1' }] }, 'parameters[0].name'],
    [{ equipment: { react: 'tk201' } }, 'equipment.react'],
    [{ limitSeconds: 0 }, 'limitSeconds'],
    [{ seed: 1.5 }, 'seed'],
    [{ speed: 100 }, 'speed'],
  ] as const) {
    t.match(await rehearse('resin-a', body), { status: 400, body: { field } }, field);
  }
  t.equal((await rehearse('nobody')).status, 404);
});

t.test('rehearsal: who does not wait is told how far it has come, and reads the findings afterwards', async (t) => {
  const at = `${MASTER}/resin-a/rehearse`;
  const begun = await rehearse('resin-a', { waitSeconds: 0, seed: 7 });
  t.match(begun, { status: 200, body: { recipe: 'resin-a', running: true, limitSeconds: 86400, wallMs: Number } });
  t.notOk('outcome' in begun.body);
  t.match(await rehearse('resin-a'), { status: 409, body: { code: 'rehearsal_active' } });
  const found = await plant.look('it has ended', async () => {
    const { body } = await plant.api.get(at);
    return { done: body.running ? undefined : body, seen: JSON.stringify(body).slice(0, 200) };
  });
  t.match(found, { running: false, outcome: 'Complete' });
  t.strictSame((await plant.api.get(at)).body, found, 'and again');
  t.strictSame((await plant.api.get(`${MASTER}/clean-train/rehearse`)).body, { recipe: 'clean-train', running: false });
});

t.test('rehearsal: one at a time', async (t) => {
  const answers = await Promise.all([rehearse('resin-a'), rehearse('resin-a')]);
  t.same(answers.map(({ status }) => status).sort(), [200, 409]);
  t.match(
    answers.find(({ status }) => status === 409),
    { body: { code: 'rehearsal_active' } },
  );
  t.equal((await rehearse('resin-a')).status, 200, 'and then the next');
});

t.test('rehearsal: units are taken as free, network modules stand at their last values or are simulated by the preset they name', async (t) => {
  const manifests = JSON.parse(readFileSync('demo/50-units.json', 'utf8')) as { metadata: { name: string }; spec: object }[];
  const level = JSON.stringify(manifests.find(({ metadata }) => metadata.name === 'li101')?.spec);
  const channels = [{ name: 'li199.raw', address: 'holding:0:float32', direction: 'input', dataType: 'float', initial: 12 }];
  await apply('SimulationPreset', 'level', { behaviors: [{ address: 'li199.raw', type: 'NoisyConstant', params: { value: 8 } }] });
  const module = { protocol: 'modbus', address: 'tcp://127.0.0.1:1', channels };
  await apply('IOModule', 'io-net', module);
  await apply('ControlModule', 'li199', JSON.parse(level.replaceAll(/io-rx101:[\w.]+/g, 'io-net:li199.raw')) as object);
  const batch = await plant.runBatch();
  const { body } = await rehearse('clean-train');
  t.match(body, { outcome: 'Complete' }, JSON.stringify(body.checks));
  const told = (text: RegExp): boolean => body.assumptions.some((assumption: string) => text.test(assumption));
  t.ok(told(new RegExp(`unit rx101 is free .*${batch}`)), 'a real batch has the unit');
  t.ok(told(/io-net \(modbus\) is not simulated/) || told(/io-net .*is not simulated/), body.assumptions.join('; '));
  await apply('IOModule', 'io-net', module, { 'lineside.io/rehearsal-preset': 'level' });
  t.match((await rehearse('clean-train')).body.assumptions.join('; '), /io-net \(modbus\) is simulated by preset level/);
  t.match(await plant.batch(batch), { phase: 'Running' });
});

t.test(
  'rehearsal: a plant whose inputs come from Modbus stands still without a process behind them, which is said; with the preset of the example it comes to its end',
  async (t) => {
    const folder = 'examples/own-plant';
    const manifests = readdirSync(folder)
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .flatMap((file) => readDocuments(readFileSync(`${folder}/${file}`, 'utf8')).map(({ value }) => value as { kind: string; metadata: { labels?: object } }));
    const bare = manifests.map((manifest) => (manifest.kind === 'IOModule' ? { ...manifest, metadata: { ...manifest.metadata, labels: {} } } : manifest));
    t.equal((await plant.api.post('/api/v1/apply', bare)).status, 200);
    const warm = async (body: object = {}) => (await plant.api.post('/api/v1/sites/works/recipes/master/warm-water/rehearse', { waitSeconds: 60, ...body })).body;
    const dead = await warm({ limitSeconds: 600 });
    t.match(dead, { outcome: 'Held', ok: false, blockedBecause: /step open has exceeded its timeout/ });
    t.match(
      dead.assumptions.at(-1),
      /plc \(modbus\) is not simulated: .* What waits for one of its inputs waits for ever: give it a process with a simulation preset, named in its label lineside\.io\/rehearsal-preset$/,
    );
    const labelled = await plant.api.post(
      '/api/v1/apply',
      manifests.filter(({ kind }) => kind === 'IOModule'),
    );
    t.equal(labelled.status, 200, labelled.text);
    const alive = await warm();
    t.match(alive, { outcome: 'Complete', ok: true, unreachedSteps: [] }, `${alive.blockedBecause} ${alive.assumptions}`);
    t.match(alive.assumptions.at(-1), 'I/O module plc (modbus) is simulated by preset vessel', 'and nothing of it is refused');
    t.ok(Math.abs(outputOf(alive, 'temperatureReached') - 40) < 5, JSON.stringify(alive.outputs));
  },
);
