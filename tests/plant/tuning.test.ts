/** Tuned values and a restart of the appliance (D-C-13; decisions 3.8). */
import t from 'tap';
import { startPlant, SITE } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const tag = async (name: string) => (await plant.api.get(`${SITE}/units/rx101/tags/gain1.${name}`)).body;
const tagIs = (name: string, value: number) =>
  plant.look(`${name} is ${value}`, async () => {
    const body = await tag(name);
    return { done: (body?.value === value && body.quality === 'Good') || undefined, seen: JSON.stringify(body) };
  });

t.test('D-C-13: a tuned value that was answered is there after a restart, and its block runs with it', async (t) => {
  await plant.api.post('/api/v1/controlmoduletemplates', {
    name: 'gain',
    blocks: [{ name: 'mul', type: 'MUL', params: { IN1: 1.5, IN2: 2 } }],
    tags: [{ name: 'out', dataType: 'Float', blockRef: 'mul', portRef: 'OUT' }],
    parameters: [{ name: 'gain', blockRef: 'mul', param: 'IN2', tunable: true }],
  });
  await plant.api.post(`${SITE}/controlmodules`, { name: 'gain1', templateRef: 'gain', parentName: 'rx101' });
  await tagIs('out', 3);
  t.equal((await plant.api.put(`${SITE}/controlmodules/gain1/parameters`, { values: { gain: 5 }, reason: 'asked for by the test' })).status, 200);
  await plant.restart();
  await tagIs('out', 7.5);
  await tagIs('par.gain', 5);
  t.match((await plant.api.get(`${SITE}/controlmodules/gain1`)).body.parameters, [{ value: 5, templateValue: 2, tuned: { previous: 2, reason: 'asked for by the test' } }]);
});
