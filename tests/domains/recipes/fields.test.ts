/** What recipes, templates and their charts may hold (contract 3, Recipes, Procedural resources and templates, Structured text). */
import t from 'tap';
import { RECIPE_PHASES } from '../../../src/domains/recipes/kind.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const supervisor = await plant.as('supervisor');
const SITE = '/api/v1/sites/demo';
const MASTER = `${SITE}/recipes/master`;
await engineer.post('/api/v1/demo/provision');

let count = 0;
const create = (spec: object) => {
  count += 1;
  return engineer.post(MASTER, { name: `fields-${count}`, spec });
};
const chart = (...steps: object[]) => ({ procedure: { chart: { steps } } });
const UP = { name: 'up', stepLevel: 'UnitProcedure', templateKind: 'UnitProcedureTemplate', templateRef: 'clean-reactor-up' };

t.test('RECIPE-08: documents of a recipe are an SDS, SOP, Specification or Diagram', async (t) => {
  const documentReferences = ['SDS', 'SOP', 'Specification', 'Diagram'].map((type) => ({ name: `the ${type}`, type, url: 'https://example.com/d', id: 'D-1' }));
  t.match(await create({ otherInformation: { documentReferences } }), { status: 201, body: { spec: { otherInformation: { documentReferences } } } });
  const refused = await create({ otherInformation: { documentReferences: [{ name: 'x', type: 'Manual' }] } });
  t.match(refused, { status: 400, body: { field: 'spec.otherInformation.documentReferences[0].type' } });
});

t.test('RECIPE-09: a step carries template, level, capability, bindings, or a chart of its own, and is served as it was written', async (t) => {
  const phase = { name: 'heat', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'heat', parameterBindings: [{ name: 'target', value: '60' }] };
  const operation = { name: 'op', stepLevel: 'Operation', subChart: { steps: [phase] } };
  const step = { name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } };
  const made = await create(chart(step));
  t.match(made, { status: 201, body: { spec: chart(step) } }, made.text);
  t.match(await create(chart({ ...UP, templates: 'x' })), { status: 400, body: { field: 'spec.procedure.chart.steps[0].templates' } }, 'and nothing else');
});

t.test('RECIPE-10, RECIPE-11: kinds of templates and levels of steps are those of the contract', async (t) => {
  t.match(await create(chart({ ...UP, templateKind: 'RecipeTemplate' })), { status: 400, body: { field: 'spec.procedure.chart.steps[0].templateKind' } });
  t.match(await create(chart({ ...UP, stepLevel: 'Procedure' })), { status: 400, body: { field: 'spec.procedure.chart.steps[0].stepLevel' } });
  t.equal((await create(chart(UP))).status, 201, 'UnitProcedureTemplate at level UnitProcedure');
  t.equal((await engineer.post(`${SITE}/proceduretemplates`, { name: 'whole', spec: { chart: { steps: [UP] } } })).status, 201);
  t.equal((await create(chart({ name: 'all', templateKind: 'ProcedureTemplate', templateRef: 'whole' }))).status, 201, 'a ProcedureTemplate stands for the procedure');
  const operation = { name: 'op', stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'clean-reactor' };
  t.equal((await create(chart({ name: 'up', stepLevel: 'UnitProcedure', targetCapability: 'react', subChart: { steps: [operation] } }))).status, 201);
  t.match(await create(chart(operation)), { status: 400, body: { code: 'st_invalid', diagnostics: [{ code: 'level' }] } }, 'an operation does not stand at the top');
});

t.test('RECIPE-13, RECIPE-20: a recipe goes through its six phases, from Draft with approve', async (t) => {
  t.same(RECIPE_PHASES, ['Draft', 'Rejected', 'Approved', 'Released', 'Effective', 'Withdrawn']);
  const { name, phase } = (await create(chart(UP))).body;
  t.equal(phase, 'Draft');
  const seen: string[] = [phase];
  for (const action of ['approve', 'release', 'activate', 'withdraw']) seen.push((await supervisor.post(`${MASTER}/${name}/${action}`, { reason: 'reviewed' })).body.phase);
  t.same(seen, ['Draft', 'Approved', 'Released', 'Effective', 'Withdrawn']);
  t.match(await supervisor.post(`${MASTER}/${name}/approve`, { reason: 'again' }), { status: 409, body: { code: 'recipe_phase' } });
  const other = (await create(chart(UP))).body.name;
  t.equal((await supervisor.post(`${MASTER}/${other}/reject`, { reason: 'not this one' })).body.phase, 'Rejected');
});

t.test('PROC-03: procedural resources are authored with POST and PUT like those that the batch controller makes', async (t) => {
  for (const [list, spec] of [
    ['phases', { unitRef: 'rx101', steps: [{ name: 'a', initial: true }] }],
    ['operations', { unitRef: 'rx101' }],
    ['unitprocedures', { unitRef: 'rx101' }],
    ['procedures', {}],
  ] as const) {
    t.match(await engineer.post(`${SITE}/${list}`, { name: 'authored', spec }), { status: 201, body: { state: 'Idle', batch: '', parent: null } }, list);
    t.match(await engineer.put(`${SITE}/${list}/authored`, { spec: { ...spec, description: 'edited' } }), { status: 200, body: { spec: { description: 'edited' } } }, list);
  }
});

t.test('PROC-09, PROC-10, PROC-11: outputs have name, type, unit and description; names are unique over parameters and outputs', async (t) => {
  let made = 0;
  const template = (outputs: object[], parameters: object[] = []) => {
    made += 1;
    return engineer.post(`${SITE}/phasetemplates`, { name: `outputs-${made}`, spec: { parameters, outputs } });
  };
  const outputs = ['BOOL', 'INT', 'REAL', 'STRING', 'TIME'].map((type) => ({ name: `of${type}`, type, unit: 'kg', description: `a ${type}` }));
  t.match(await template(outputs), { status: 201, body: { spec: { outputs } } });
  t.match(await template([{ name: 'x', type: 'DINT' }]), { status: 400, body: { field: 'spec.outputs[0].type' } });
  t.match(await template([{ name: 'x' }]), { status: 400, body: { field: 'spec.outputs[0].type' } }, 'the type is required');
  const twice = { status: 400, body: { code: 'st_invalid', diagnostics: [{ code: 'duplicate-name' }] } };
  t.match(
    await template([
      { name: 'x', type: 'REAL' },
      { name: 'X', type: 'INT' },
    ]),
    twice,
    'two outputs',
  );
  t.match(await template([{ name: 'x', type: 'REAL' }], [{ name: 'x' }]), twice, 'a parameter and an output');
});

t.test('MTP-01, MTP-03: the ten commands of MTP; a procedure only with Start and Restart', async (t) => {
  const validate = (actionST: string) => engineer.post('/api/v1/validate/sfc-chart', { steps: [{ name: 'a', initial: true, actionST }], transitions: [] });
  for (const command of ['Reset', 'Start', 'Stop', 'Hold', 'Unhold', 'Pause', 'Resume', 'Abort', 'Restart', 'Complete']) {
    const word = await validate(`MTP_COMMAND('skid/dose', '${command}');`);
    t.match(word, { status: 200, body: { valid: true } }, word.text);
    const chosen = await validate(`MTP_COMMAND('skid/dose', '${command}', procedure := 2);`);
    t.equal(chosen.status, command === 'Start' || command === 'Restart' ? 200 : 400, `${command} with a procedure`);
  }
  t.match(await validate("MTP_COMMAND('skid/dose', 'Go');"), { status: 400, body: { valid: false } });
  t.match(await validate("MTP_COMMAND('skid/dose', 'Start', procedure := 'fast');"), { status: 200 }, 'by id or by name');
});
