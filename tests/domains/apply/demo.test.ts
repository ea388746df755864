/** The demonstration plant through generic apply, over the real ledger, store and pipeline. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { demoManifests } from '../../../src/domains/demo/demo.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const DEMO = fileURLToPath(new URL('../../../demo', import.meta.url));

t.test('APPLY-01: every manifest of the demonstration plant applies, and again without a change', async (t) => {
  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const engineer = await plant.as('admin');
  const manifests = demoManifests(DEMO);
  t.ok(manifests.length > 80, `${manifests.length} manifests in ${path.basename(DEMO)}`);
  const first = await engineer.post('/api/v1/apply', manifests);
  t.equal(first.status, 200, first.text.slice(0, 600));
  t.same(new Set(first.body.map((result: { operation: string }) => result.operation)), new Set(['created']));
  t.match(first.body[4], {
    apiVersion: 'physical.lineside.io/v1alpha1',
    kind: 'Controller',
    namespace: 'site-demo',
    name: 'edge-1',
    operation: 'created',
    generation: 1,
    warnings: [],
  });
  const again = await engineer.post('/api/v1/apply', manifests);
  t.equal(again.status, 200, again.text.slice(0, 600));
  t.same(new Set(again.body.map((result: { operation: string }) => result.operation)), new Set(['unchanged']));

  for (const name of ['resin-a', 'clean-train']) {
    const matrix = await engineer.get(`/api/v1/sites/demo/recipes/master/${name}/bindings`);
    t.equal(matrix.status, 200);
    t.equal(matrix.body.violations, 0, `BIND-04: recipe ${name} has no binding violation`);
    t.same(matrix.body.notes, []);
    t.ok(matrix.body.rows.length > 0);
  }
  for (const family of ['enterprises', 'sites', 'controlmoduletemplates', 'fbblocktypes', 'blocktypes']) t.equal((await engineer.get(`/api/v1/${family}`)).status, 200, family);
  for (const family of [
    'areas',
    'processcells',
    'units',
    'controlmodules',
    'iomodules',
    'controllers',
    'simulationpresets',
    'fbnetworks',
    'recipes/master',
    'phasetemplates',
    'operationtemplates',
    'unitproceduretemplates',
    'proceduretemplates',
    'phases',
  ]) {
    t.equal((await engineer.get(`/api/v1/sites/demo/${family}`)).status, 200, family);
  }
});

t.test('no chart waits for the word Closed of a valve: one that its interlock holds shut says Interlocked, and its limit switch says that it is closed', (t) => {
  const waiting = demoManifests(DEMO).filter((manifest) => /state'\) = 'Closed'/.test(JSON.stringify(manifest)));
  t.same(waiting, []);
  t.end();
});
