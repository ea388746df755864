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

t.test('where another needs it first, the warning names the one that holds all the same', async (t) => {
  const module = (name: string, more: object) => manifest('ControlModule', name, { templateRef: 'plain', ...more });
  const parent = (description: string) => module('parent', { parentName: 'mixer', description });
  const told = await applied([module('child', { parentName: 'parent', parentKind: 'ControlModule' }), parent('a'), parent('b')]);
  const held = ['', 'a', 'b'][Number(/what manifest (\d) says holds$/.exec(told[1]?.warnings[0] ?? '')?.[1] ?? 0)];
  t.ok(held);
  t.strictSame(told[1]?.warnings, told[2]?.warnings);
  t.equal(plant.store.get(ControlModule, 'north', 'parent')?.spec.description, held);
});
