/** One unit in its many spellings, and units that are not one. */
import t from 'tap';
import { areOtherUnits } from '../../../src/domains/procedures/units-of-measure.js';

const ONE: readonly (readonly string[])[] = [
  ['g/l', 'g/L', ' g / l '],
  ['mL', 'ml'],
  ['kg/m³', 'kg/m3', 'kg/m^3', 'kg/m**3', 'kg/㎥'],
  ['µS/cm', 'μS/cm', 'uS/cm'],
  ['bar(g)', 'barg', 'bar g'],
  ['Cel', 'Celsius', 'degC', '°C', '℃', '° C', 'deg C'],
  ['°K', 'K', 'kelvin'],
  ['min', 'minutes', 'minute'],
  ['1', '-'],
  ['L/min', 'l/min', 'litres/minute'],
  ['m³/h', 'm3/hr', 'm^3/hour'],
  ['kW·h', 'kW*h', 'kW⋅h'],
  ['1/min', 'rpm', 'min-1', 'min⁻¹'],
  ['%', 'percent', '％'],
  ['K/min', '°K/minute'],
];
const OTHER: readonly (readonly [string, string])[] = [
  ['mW', 'MW'],
  ['degC', 'K'],
  ['degC', 'degF'],
  ['bar', 'barg'],
  ['barg', 'bara'],
  ['g/l', 'g/ml'],
  ['l/h', 'l/min'],
  ['m2', 'm3'],
  ['m', 'min'],
  ['s', 'S'],
  ['kg', 't'],
  ['kg/h', 'kg'],
  ['%', '1'],
];

t.test('spellings of one unit', (t) => {
  for (const [first = '', ...others] of ONE) for (const other of others) t.notOk(areOtherUnits(first, other), `${first} = ${other}`);
  t.end();
});

t.test('units that a number must not go between', (t) => {
  for (const [one, other] of OTHER) t.ok(areOtherUnits(one, other) && areOtherUnits(other, one), `${one} and ${other}`);
  t.end();
});

t.test('no unit is compared with none', (t) => {
  for (const [one, other] of [
    ['', 'kg'],
    ['kg', ''],
    ['', ''],
    [' ', 'kg'],
  ] as const)
    t.notOk(areOtherUnits(one, other));
  t.end();
});
