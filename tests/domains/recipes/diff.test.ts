/** Differences of recipes in the words of the process (decisions Q-RECIPE-08, `summary`), and what else a recipe must be. */
import t from 'tap';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const SITE = '/api/v1/sites/demo';
const MASTER = `${SITE}/recipes/master`;
await engineer.post('/api/v1/demo/provision');

/** A phase step; `heat` of the demonstration takes a target in degC. */
const heat = (target: string) => ({ name: 'heat', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'heat', parameterBindings: [{ name: 'target', value: target }] });
const rinse = { name: 'rinse', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'rinse' };

interface Shape {
  readonly phases?: readonly object[];
  readonly transitions?: readonly object[];
  readonly more?: object;
}

function spec({ phases = [heat('60')], transitions = [], more = {} }: Shape) {
  const operation = { name: 'treat', stepLevel: 'Operation', subChart: { steps: phases, transitions } };
  return {
    formulas: [{ name: 'standard', parameters: [{ name: 'rate', value: '1', engineeringUnit: 'kg/min', lowValueLimit: '0', highValueLimit: '5' }] }],
    procedure: { chart: { steps: [{ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } }] } },
    ...more,
  };
}

let revision = 1;
t.equal((await engineer.post(MASTER, { name: 'words', spec: spec({}) })).status, 201);

/** Edits the recipe and answers what the difference to the revision before is called. */
async function edit(t: { match(found: unknown, wanted: unknown, message: string): unknown }, shape: Shape): Promise<readonly string[]> {
  const answer = await engineer.put(`${MASTER}/words`, { spec: spec(shape) });
  t.match(answer, { status: 200, body: { revision: revision + 1 } }, answer.text);
  revision += 1;
  return (await engineer.get(`${MASTER}/words/revisions/diff?v1=${revision - 1}&v2=${revision}`)).body.summary;
}

t.test('Q-RECIPE-08: parameters of steps with their units, steps with their place', async (t) => {
  t.same(await edit(t, { phases: [heat('70')] }), ['step up/treat/heat: parameter target changes from 60 to 70 degC']);
  t.same(await edit(t, { phases: [heat('70'), rinse] }), ['step up/treat/rinse added after heat']);
  t.same(await edit(t, { phases: [rinse, heat('70')] }), ['step up/treat: order is now rinse, heat']);
  t.same(await edit(t, { phases: [rinse, { ...heat('70'), timeoutSeconds: 90, roleMap: { temp: 'upper' } }] }), [
    'step up/treat/heat: time-out changes from 0 to 90 s',
    'step up/treat/heat: role temp is upper of the unit, was temp',
  ]);
  t.same(await edit(t, { phases: [heat('70')] }), [
    'step up/treat/rinse removed',
    'step up/treat/heat: time-out changes from 90 to 0 s',
    'step up/treat/heat: role temp is temp of the unit, was upper',
  ]);
});

t.test('Q-RECIPE-08: transitions by their ends and conditions', async (t) => {
  const phases = [{ ...heat('70'), initial: true }, rinse];
  const way = (conditionST: string) => [{ from: 'heat', to: 'rinse', conditionST }];
  t.same(await edit(t, { phases, transitions: way('') }), [
    'step up/treat/heat is now the initial step',
    'step up/treat/rinse added after heat',
    'transition up/treat: heat->rinse added: condition is always true',
  ]);
  t.same(await edit(t, { phases, transitions: way('heat.T > T#5s') }), ['transition up/treat: heat->rinse: condition was always true, is heat.T > T#5s']);
});

t.test('Q-RECIPE-08: formulas, sizes, equipment and the rest', async (t) => {
  const before = { phases: [heat('70')] };
  await edit(t, before);
  const parameters = [
    { name: 'rate', value: '2', engineeringUnit: 'kg/min', lowValueLimit: '0', highValueLimit: '6', scaled: true },
    { name: 'lot', value: 'L1' },
  ];
  const more = {
    formulas: [{ name: 'standard', parameters }, { name: 'small' }],
    batchSize: { nominal: '28', engineeringUnit: 'kg' },
    equipmentRequirements: [{ capability: 'react', defaultUnit: 'rx101' }],
    onPhaseFailure: 'Fail',
  };
  t.same(await edit(t, { ...before, more }), [
    'onPhaseFailure changed from Hold to Fail',
    'batch size: nominal changes from none to 28 kg',
    'batch size: unit changes from none to kg',
    'capability react added',
    'formula standard: rate 1 → 2 kg/min',
    'formula standard: limits of rate 0 to 5 → 0 to 6 kg/min',
    'formula standard: rate is now scaled with the quantity of the batch',
    'formula standard: parameter lot added',
    'formula small added',
  ]);
  t.same(await edit(t, { ...before, more: { ...more, formulas: [{ name: 'small', default: true }], equipmentRequirements: [{ capability: 'react' }] } }), [
    'capability react: default unit changes from rx101 to none',
    'formula standard removed',
    'formula small becomes the default',
  ]);
});

t.test('Q-RECIPE-08: a template that was edited between two revisions is named, though the document does not show it', async (t) => {
  const own = { name: 'own-phase', spec: { steps: [{ name: 'a', initial: true }], parameters: [{ name: 'x', type: 'REAL', unit: 'kg', defaultValue: '1' }] } };
  t.equal((await engineer.post(`${SITE}/phasetemplates`, own)).status, 201);
  const phase = { name: 'fill', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'own-phase' };
  await edit(t, { phases: [phase] });
  const edited = await engineer.put(`${SITE}/phasetemplates/own-phase`, { spec: { ...own.spec, description: 'another one' } });
  t.equal(edited.status, 200, edited.text);
  const summary = await edit(t, { phases: [phase], more: { description: 'signed anew' } });
  t.equal(summary.length, 2);
  t.match(summary[0], 'description changed from');
  t.match(summary[1], /^template own-phase of step up\/treat\/fill changed \(digest [0-9a-f]{12} → [0-9a-f]{12}\)$/);
  const { templates } = (await engineer.get(`${MASTER}/words/revisions/${revision}`)).body;
  t.match(templates, [{ path: 'up/treat/fill', kind: 'PhaseTemplate', name: 'own-phase', digest: /^[0-9a-f]{64}$/ }]);
});
