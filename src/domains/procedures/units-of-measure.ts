/**
 * Engineering units of values that are handed on. They are words of people: nothing is converted anywhere, a number that goes from one unit to
 * another is taken as it is.
 */

/** Ways of writing one unit. Capital letters count elsewhere: mW and MW are two. */
const SPELLINGS: readonly (readonly string[])[] = [
  ['degC', '°C', 'ºC', '℃', 'deg C', 'C'],
  ['degF', '°F', 'ºF', '℉', 'deg F', 'F'],
  ['K', 'Kelvin', 'kelvin'],
  ['%', 'percent', 'pct'],
  ['l', 'L', 'ℓ'],
  ['l/h', 'L/h'],
  ['l/min', 'L/min'],
  ['m2', 'm²', 'm^2'],
  ['m3', 'm³', 'm^3'],
  ['m3/h', 'm³/h', 'm^3/h'],
  ['rpm', '1/min', 'min-1', 'r/min'],
  ['s', 'sec'],
  ['h', 'hr'],
  ['um', 'µm', 'μm'],
];

const spelled = new Map(SPELLINGS.flatMap(([first = '', ...others]) => others.map((other) => [other, first] as const)));

function wordOf(unit: string): string {
  const trimmed = unit.trim();
  return spelled.get(trimmed) ?? trimmed;
}

/** Whether both say a unit, and not the same. */
export function areOtherUnits(a: string, b: string): boolean {
  const [one, other] = [wordOf(a), wordOf(b)];
  return one !== '' && other !== '' && one !== other;
}
