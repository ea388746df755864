/** The bound of every text that somebody writes (OP: none in the contract), by REST and by apply; what is stored stays readable. */
import t from 'tap';
import { Unit } from '../../../src/domains/plant/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { checkTexts } from '../../../src/platform/store/texts.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/sites', { name: 'north' });
const AT = '/api/v1/sites/north';
const LONG = 'x'.repeat(4097);
const refused = (field: string) => ({ status: 400, body: { code: 'invalid_field', field } });

t.test('a text that is too long, or holds a control character, is refused by its field, and changes nothing', async (t) => {
  t.match(await engineer.post(`${AT}/units`, { name: 'r1', description: LONG }), refused('description'));
  t.match(await engineer.post(`${AT}/units`, { name: 'r1', description: 'a\u0000b' }), refused('description'));
  t.match(await engineer.post(`${AT}/units`, { name: 'r1', symbolId: 'a\nb' }), refused('symbolId'), 'one line, where nobody writes lines');
  t.equal((await engineer.get(`${AT}/units/r1`)).status, 404);
  t.match(await engineer.post(`${AT}/units`, { name: 'r1', description: 'two\r\nlines and a\ttab' }), { status: 201 });
  t.match(await engineer.put(`${AT}/units/r1`, { description: LONG }), refused('description'));
  t.match(await engineer.put(`${AT}/units/r1`, { description: 'x'.repeat(4096) }), { status: 200 });
});

t.test('also inside of lists, and by apply', async (t) => {
  const chart = (text: string) => ({ steps: [{ name: 'wait', initial: true, description: text }] });
  t.match(await engineer.post(`${AT}/phasetemplates`, { name: 'p', spec: chart('\u007f') }), refused('spec.steps[0].description'));
  const manifest = (description: string) => [
    { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Unit', metadata: { name: 'r2', namespace: 'site-north' }, spec: { description } },
  ];
  t.match(await engineer.post('/api/v1/apply', manifest(LONG)), { status: 400, body: { field: /spec\.description$/ } });
  t.match(await engineer.post('/api/v1/apply', manifest('short')), { status: 200 });
});

t.test('programs may be longer', async (t) => {
  const program = `x := 1; ${'(* why *) '.repeat(1000)}`;
  const spec = { steps: [{ name: 'wait', initial: true, actionST: program }], variables: [{ name: 'x', type: 'INT' }] };
  t.match(await engineer.post(`${AT}/phasetemplates`, { name: 'long', spec }), { status: 201 });
  t.throws(() => checkTexts({ actionST: 'x'.repeat(262_145) }, undefined), { message: /actionST must have at most 262144 characters/ });
  t.doesNotThrow(() => checkTexts({ options: { certificate: 'x'.repeat(10_000) } }, undefined));
});

t.test('what was stored before there was a bound is read, and stays as it is until somebody changes it', async (t) => {
  const stored = plant.store.get(Unit, 'north', 'r1');
  await plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', spec: { ...stored?.spec, description: LONG } } as Put] });
  t.equal((await engineer.get(`${AT}/units/r1`)).body.description, LONG);
  t.match(await engineer.put(`${AT}/units/r1`, { symbolId: 'vessel' }), { status: 200 });
  t.match(await engineer.put(`${AT}/units/r1`, { description: `${LONG}!` }), refused('description'));
});
