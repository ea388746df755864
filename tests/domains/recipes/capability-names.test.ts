/** Capabilities are words of people: `constructor` is one, and names no unit that nobody has named. */
import t from 'tap';
import { instantiate } from '../../../src/domains/batches/start/instantiation.js';
import { bindRecipe, plannedUnits } from '../../../src/domains/recipes/binding-matrix.js';
import type { SiteUnits } from '../../../src/domains/recipes/bindings.js';
import type { Templates } from '../../../src/domains/recipes/expand.js';
import type { MasterRecipeSpec } from '../../../src/domains/recipes/kind.js';

const NONE: SiteUnits = { unit: () => undefined, modules: () => [], withCapability: () => [] };
const templates: Templates = { phase: () => undefined, chart: () => ({ steps: [] }) };

for (const capability of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__']) {
  t.test(`a capability named ${capability}`, async (t) => {
    const chart = { steps: [{ name: 'make', targetCapability: capability, subChart: { steps: [] } }] };
    const recipe = { equipmentRequirements: [], procedure: { chart } } as unknown as MasterRecipeSpec;
    t.strictSame(bindRecipe(recipe, templates, NONE).notes, [`no unit of the site has capability ${capability}`]);
    const planned = plannedUnits(recipe, { capabilities: [capability], phases: [] }, NONE);
    t.strictSame(Object.entries(planned), [[capability, '']]);
    const elements = instantiate({ batch: 'b1', mode: 'Automatic', recipe, parameters: [], allocation: {}, templates: {} as never });
    t.strictSame(
      elements.map(({ spec }) => ('unitRef' in spec ? spec.unitRef : '')),
      ['', ''],
    );
  });
}

t.test('a unit that somebody names is taken', async (t) => {
  const recipe = { equipmentRequirements: [], procedure: { chart: { steps: [{ name: 'make', targetCapability: 'constructor', subChart: { steps: [] } }] } } };
  t.strictSame(bindRecipe(recipe as unknown as MasterRecipeSpec, templates, NONE, { constructor: 'mixer' } as never).notes, [
    'capability constructor names unit mixer, which does not exist',
  ]);
});
