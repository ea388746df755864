/**
 * A recipe that stands for more steps than a batch is made of: it is kept and read, its faults are told of its first steps, and it is neither
 * signed nor run. Templates hold templates, so the document itself is short.
 */
import t from 'tap';
import type { ProceduralChart, ProceduralStep } from '../../../runtime/vocabulary/chart.js';
import { checkBatch } from '../../../src/domains/batches/creation/creation.js';
import type { BatchSpec } from '../../../src/domains/batches/kind.js';
import { instantiate } from '../../../src/domains/batches/start/instantiation.js';
import type { MasterRecipeSpec } from '../../../src/domains/recipes/kind.js';
import type { PhaseTemplateSpec } from '../../../src/domains/procedures/kind.js';
import { expandRecipe, type Templates } from '../../../src/domains/recipes/expand.js';
import { STEPS_MAX } from '../../../src/domains/recipes/expansion-limit.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const steps = (count: number, step: Partial<ProceduralStep>): ProceduralStep[] => Array.from({ length: count }, (_, at) => ({ name: `s${at}`, ...step }));
const PHASES: ProceduralChart = { steps: steps(100, { stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'heat' }) };
const OPERATIONS: ProceduralChart = { steps: steps(100, { stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'warm' }) };
const procedure = (count: number): ProceduralChart => ({
  steps: steps(count, { stepLevel: 'UnitProcedure', targetCapability: 'mixing', templateKind: 'UnitProcedureTemplate', templateRef: 'make' }),
});
/** Steps of one of the unit procedures, with itself. */
const OF_ONE = 1 + 100 + 100 * 100;

const counted = () => {
  const looks = { phases: 0, charts: 0 };
  const templates: Templates = {
    phase() {
      looks.phases += 1;
      return { parameters: [], roles: [], outputs: [] } as unknown as PhaseTemplateSpec;
    },
    chart(kind) {
      looks.charts += 1;
      return kind === 'OperationTemplate' ? PHASES : OPERATIONS;
    },
  };
  return { looks, templates };
};

t.test('a recipe that is large and no larger than a batch is expanded to its end', async (t) => {
  const { phases, notes, isWhole } = expandRecipe(procedure(1), counted().templates);
  t.strictSame([phases.length, notes, isWhole], [10_000, [], true]);
});

t.test('a recipe of a million steps is expanded to those that a batch may have', async (t) => {
  const { looks, templates } = counted();
  const { phases, notes, isWhole, capabilities } = expandRecipe(procedure(100), templates);
  t.equal(isWhole, false);
  t.ok(looks.phases + looks.charts <= STEPS_MAX + 1, `${looks.phases} phases and ${looks.charts} charts are looked at`);
  t.ok(phases.length > STEPS_MAX - 500 && phases.length <= STEPS_MAX, `${phases.length}`);
  t.strictSame(capabilities, ['mixing']);
  t.match(notes, [/^the procedure has more than 20000 steps with all that its templates hold, and no batch is made of it: use fewer steps, or divide it into several recipes; /]);
});

t.test('steps without a phase count, too', async (t) => {
  let looks = 0;
  const templates: Templates = {
    phase: () => undefined,
    chart(kind) {
      looks += 1;
      return kind === 'OperationTemplate' ? { steps: [] } : { steps: steps(1000, { templateKind: 'OperationTemplate', templateRef: 'warm' }) };
    },
  };
  t.equal(expandRecipe(procedure(1000), templates).isWhole, false);
  t.ok(looks <= STEPS_MAX + 1, `${looks}`);
});

t.test('no elements are made beyond it', async (t) => {
  let looks = 0;
  const templates = {
    get(kind: string) {
      looks += 1;
      return { parameters: [], outputs: [], chart: kind === 'OperationTemplate' ? PHASES : OPERATIONS };
    },
  };
  const recipe = { procedure: { chart: procedure(100) } } as Pick<MasterRecipeSpec, 'procedure'>;
  const made = { batch: 'b1', mode: 'Automatic', recipe, parameters: [], allocation: {}, templates: templates as never } as const;
  t.throws(() => instantiate(made), { message: /^the procedure has more than 20000 steps/, context: { code: 'chart_invalid' } });
  t.ok(looks <= STEPS_MAX + 1, `${looks}`);
  t.equal(instantiate({ ...made, recipe: { procedure: { chart: procedure(1) } } as typeof recipe }).length, 1 + OF_ONE);
});

t.test('it is taken and read, told of, and neither signed nor run', async (t) => {
  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const [admin, supervisor] = [await plant.as('admin'), await plant.as('supervisor')];
  const applied = await admin.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell', capabilities: ['mixing'] }),
    manifest('PhaseTemplate', 'heat', { roles: [], parameters: [], outputs: [], steps: [{ name: 'wait', initial: true, actionST: '' }] }),
    manifest('OperationTemplate', 'warm', { chart: PHASES }),
    manifest('UnitProcedureTemplate', 'make', { chart: OPERATIONS }),
    manifest('MasterRecipe', 'endless', { procedure: { chart: procedure(100) } }),
  ]);
  t.equal(applied.status, 200, applied.text);
  const TOO_LARGE = /the procedure has more than 20000 steps/;
  t.match(applied.body[7].warnings.join('\n'), TOO_LARGE);
  const read = await admin.get('/api/v1/sites/north/recipes/master/endless');
  t.equal(read.status, 200);
  t.match(read.body.notes.join('\n'), TOO_LARGE);
  t.ok(read.text.length < 100_000, `${read.text.length} characters`);
  t.match(await supervisor.post('/api/v1/sites/north/recipes/master/endless/approve', { reason: 'reviewed' }), {
    status: 409,
    body: { code: 'recipe_invalid', error: TOO_LARGE, diagnostics: [{ severity: 'error' }] },
  });
  const batch = { batchID: 'B-1', masterRecipeRef: 'endless', formulaName: '', parameters: [], equipment: {}, quantity: '', engineeringUnit: '' } as unknown as BatchSpec;
  t.throws(() => checkBatch(plant.store, 'north', 'b-1', batch, false), { message: TOO_LARGE, context: { code: 'chart_invalid' } });
});
