/** What a condition compares, also where NOT stands before it (decisions 3.9). */
import t from 'tap';
import { withSides } from '../../../src/domains/batches/reading/condition-sides.js';

const names = { scope: { name: () => undefined, member: () => undefined, read: () => undefined } as never, place: () => undefined, engUnits: () => '', givers: () => [] };

t.test('NOT is told as what it asks for', async (t) => {
  const ROWS: readonly (readonly [expression: string, left: string, operator: string, right: string])[] = [
    ['a', 'a', '=', 'TRUE'],
    ['NOT a', 'a', '=', 'FALSE'],
    ['NOT NOT a', 'a', '=', 'TRUE'],
    ['a > b', 'a', '>', 'b'],
    ['NOT (a > b)', 'a', '<=', 'b'],
    ['NOT (a >= b)', 'a', '<', 'b'],
    ['NOT (a = b)', 'a', '<>', 'b'],
    ['NOT (a <> b)', 'a', '=', 'b'],
    ['NOT (a < b)', 'a', '>=', 'b'],
    ['NOT NOT (a <= b)', 'a', '<=', 'b'],
  ];
  for (const [expression, left, operator, right] of ROWS)
    t.match(withSides({ expression, met: false, asTold: true }, names).sides, { left: { text: left }, operator, right: { text: right } }, expression);
  t.equal(withSides({ expression: 'NOT (a AND b)', met: false, asTold: true }, names).sides, undefined, 'no comparison');
});
