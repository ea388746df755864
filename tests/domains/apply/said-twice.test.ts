/** A resource that one request has twice: taken, as manifests are applied one after the other (Q-CHANGE-06), and told. */
import t from 'tap';
import { Area } from '../../../src/domains/plant/kind.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { manifest } from '../../support/manifest.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');

const applied = async (manifests: readonly object[], query = ''): Promise<readonly { readonly warnings: readonly string[] }[]> => {
  const { status, body } = await admin.post(`/api/v1/apply${query}`, manifests);
  t.equal(status, 200, JSON.stringify(body));
  return body as never;
};

t.before(() =>
  applied([
    manifest('Site', 'north', {}, {}),
    manifest('Area', 'hall'),
    manifest('ProcessCell', 'cell', { areaName: 'hall' }),
    manifest('Unit', 'mixer', { processCellName: 'cell' }),
    manifest('ControlModuleTemplate', 'plain', { tags: [{ name: 'pv', dataType: 'REAL' }] }, {}),
  ]),
);

t.test('both manifests are told of each other and of the one that holds', async (t) => {
  const areas = [manifest('Area', 'attic', { description: 'a' }), manifest('Area', 'cellar'), manifest('Area', 'attic', { description: 'b' })];
  const warning = 'Area attic stands twice in this request, as manifests 0 and 2: what manifest 2 says holds';
  for (const query of ['?dryRun=true', ''])
    t.strictSame(
      (await applied(areas, query)).map(({ warnings }) => warnings),
      [[warning], [], [warning]],
    );
  t.equal(plant.store.get(Area, 'north', 'attic')?.spec.description, 'b');
});

t.test('where another needs it first, those of one resource keep the order of the request: the last one holds', async (t) => {
  const module = (name: string, more: object) => manifest('ControlModule', name, { templateRef: 'plain', ...more });
  const parent = (description: string) => module('parent', { parentName: 'mixer', description });
  const child = module('child', { parentName: 'parent', parentKind: 'ControlModule' });
  for (const [manifests, held] of [
    [[child, parent('a'), parent('b')], 2],
    [[parent('c'), child, parent('d')], 2],
    [[parent('e'), parent('f'), child], 1],
    [[child, parent('g'), child, parent('h'), parent('i')], 4],
  ] as const) {
    const told = await applied(manifests);
    const warnings = told.flatMap(({ warnings: of }) => of).filter((warning) => /^ControlModule parent /.test(warning));
    t.ok(warnings.length >= 2);
    for (const warning of warnings) t.match(warning, `: what manifest ${held} says holds`);
    t.equal(plant.store.get(ControlModule, 'north', 'parent')?.spec.description, (manifests[held] as { spec: { description: string } }).spec.description);
  }
});
