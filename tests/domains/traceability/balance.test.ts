/** Whether a lot can have given what it gave. */
import t from 'tap';
import { materialOf, materialText } from '../../../src/domains/batches/phases/materials.js';
import { excessOf, Quantities } from '../../../src/domains/traceability/balance.js';

function quantities(...entries: readonly (readonly [quantity: string, unit: string, material?: string])[]): Quantities {
  const all = new Quantities();
  for (const [text, unit, material = 'resin'] of entries) all.add({ material, unit, count: 1, sum: Number(text), text });
  return all;
}

t.test('ROUTE-03: more given than received is told beyond what scales can tell, unit by unit, of lots that were made here', (t) => {
  const excess = (received: Quantities, given: Quantities) => excessOf('L-1', { produced: received, consumed: given }).map((each) => `${each.received} ${each.given} ${each.unit}`);
  t.same(excess(quantities(['100', 'kg']), quantities(['60', 'kg'], ['40', 'kg'])), []);
  t.same(excess(quantities(['100', 'kg']), quantities(['60', 'kg'], ['40.5', 'kg'])), [], 'half a percent more is what two scales make of it');
  t.same(excess(quantities(['100', 'kg']), quantities(['60', 'kg'], ['40.6', 'kg'])), ['100 100.6 kg']);
  t.same(excess(quantities(['0.1', 'kg'], ['0.2', 'kg']), quantities(['0.7', 'kg'], ['0.1', 'kg'])), ['0.3 0.8 kg'], 'without the noise of binary fractions');
  t.same(excess(quantities(['100', 'kg'], ['2', 'l']), quantities(['90', 'kg'], ['3', 'l'], ['7', 'g'])), ['2 3 l'], 'what was received in no such unit cannot be compared');
  t.same(excess(quantities(), quantities(['500', 'kg'])), [], 'nobody received what came from outside');
  t.same(excess(quantities(['50', 'kg', 'resin A'], ['50', 'kg', 'resin B']), quantities(['99', 'kg', 'resin'])), [], 'whatever it was called');
  t.end();
});

t.test('ROUTE-03: a total is of one material in one unit, one entry stays as it was recorded', (t) => {
  t.same(quantities(['28.50', 'kg']).total, { quantity: '28.50', unit: 'kg' });
  t.same(quantities(['28.50', 'kg'], ['1.25', 'kg']).total, { quantity: '29.75', unit: 'kg' });
  t.same(quantities(['28', 'kg'], ['3', 'l']).total, { quantity: '', unit: '' });
  t.same(quantities().total, { quantity: '', unit: '' });
  t.same(quantities(['1', 'kg', 'b'], ['1', 'kg', 'a'], ['1', 'l', 'a']).material, 'a, b');
  t.end();
});

t.test('ROUTE-03: material and unit are read back from the event that told them', (t) => {
  for (const [material, unit] of [
    ['resin', 'kg'],
    ['resin (blue)', 'kg'],
    ['air', 'm³ (i.N.)'],
    ['resin (a) (b)', 'm³ (i.N.)'],
    ['water', ''],
    ['', 'kg'],
    ['', ''],
  ] as const) {
    t.same(materialOf(materialText(material, unit)), { material, unit }, `${material} in ${unit}`);
  }
  t.same(materialOf('told by hand'), { material: 'told by hand', unit: '' });
  t.same(materialOf('odd)'), { material: 'odd)', unit: '' });
  t.end();
});
