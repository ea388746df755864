/** Which tag tells that a device is in latched fault: by block and port, whatever it is called (contract 2, Tag descriptor; ADR 0030). */
import t from 'tap';
import { TagCatalog } from '../../../src/domains/tags/catalog.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });

t.test('TAG-01: the fault of a device is marked by its block and port, also where a composite block passes it on, and no other tag is', async (t) => {
  const guarded = {
    name: 'guarded-valve',
    inputs: [{ name: 'OPEN', dataType: 'BOOL' }],
    outputs: [
      { name: 'ALARM', dataType: 'BOOL' },
      { name: 'THERE', dataType: 'BOOL' },
    ],
    blocks: [{ name: 'inner', type: 'VALVE' }],
    inputBindings: [{ port: 'OPEN', blockRef: 'inner', portRef: 'CMD' }],
    outputBindings: [
      { port: 'ALARM', blockRef: 'inner', portRef: 'FAULT' },
      { port: 'THERE', blockRef: 'inner', portRef: 'OPENED' },
    ],
  };
  t.match(await engineer.post('/api/v1/fbblocktypes', guarded), { status: 201 });
  const tag = (name: string, blockRef: string, portRef: string, role = '') => ({ name, dataType: 'Boolean', blockRef, portRef, role });
  const template = {
    moduleType: 'double',
    scanInterval: '1s',
    blocks: [
      { name: 'v', type: 'VALVE' },
      { name: 'g', type: 'guarded-valve' },
      { name: 'n', type: 'NOT' },
    ],
    tags: [
      tag('stuck', 'v', 'FAULT'),
      tag('opened', 'v', 'OPENED'),
      tag('hung', 'g', 'ALARM'),
      tag('there', 'g', 'THERE'),
      tag('failure', 'n', 'OUT', 'alarm'), // a name alone says nothing
    ],
  };
  const made = await engineer.post('/api/v1/controlmoduletemplates', { name: 'double', ...template });
  t.equal(made.status, 201, made.text);
  const module = await engineer.post('/api/v1/sites/north/controlmodules', { name: 'xv1', templateRef: 'double', parentName: 'r1' });
  t.equal(module.status, 201, module.text);
  const entries = new TagCatalog(plant.store).ofModule('north', 'xv1').map(({ descriptor, openJson }) => ({ ...descriptor, served: openJson }));
  const marked = entries.filter(({ deviceFault, served }) => deviceFault === true && served.includes('"deviceFault":true'));
  t.same(
    marked.map(({ name }) => name),
    ['hung', 'stuck'],
  );
  t.equal(entries.filter(({ served }) => served.includes('deviceFault')).length, marked.length, 'absent in all others');
});
