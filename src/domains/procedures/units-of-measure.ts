/**
 * Engineering units of values that are handed on. They are words of people: nothing is converted anywhere, a number that goes from one unit to
 * another is taken as it is. One unit is written in many ways, and who signs is not to be told of each.
 */

/** Ways of writing one unit, or a factor of one, in NFKC. Capital letters count elsewhere: mW and MW are two. */
const SPELLINGS: readonly (readonly string[])[] = [
  ['degC', '°C', 'ºC', 'deg C', 'deg.C', 'degree Celsius', 'degrees Celsius', 'Celsius', 'celsius', 'Cel', 'C'],
  ['degF', '°F', 'ºF', 'deg F', 'deg.F', 'degree Fahrenheit', 'degrees Fahrenheit', 'Fahrenheit', 'fahrenheit', 'F'],
  ['K', '°K', 'ºK', 'Kelvin', 'kelvin'],
  ['%', 'percent', 'pct'],
  ['1', '-', 'dimensionless'],
  ['l', 'L', 'litre', 'litres', 'liter', 'liters'],
  ['ml', 'mL'],
  ['hl', 'hL'],
  ['ul', 'uL'],
  ['kg', 'kilogram', 'kilograms'],
  ['g', 'gram', 'grams'],
  ['rpm', '1/min', '/min', 'min-1', 'min^-1', 'r/min', 'rev/min'],
  ['s', 'sec', 'second', 'seconds'],
  ['min', 'mins', 'minute', 'minutes'],
  ['h', 'hr', 'hrs', 'hour', 'hours'],
  ['d', 'day', 'days'],
  ['barg', 'bar(g)', 'bar g', 'bar-g', 'bar_g'],
  ['bara', 'bar(a)', 'bar a', 'bar-a', 'bar_a'],
  ['ohm', 'Ohm', 'Ω'],
];

const spelled = new Map(SPELLINGS.flatMap(([first = '', ...others]) => others.map((other) => [other.normalize('NFKC'), first] as const)));

/** Of superscripts, normalised. */
const MINUS = /[−–—]/g;
const DEGREE = /([°º]) /g;
/** Superscripts are digits once they are normalised, and a power is written with or without its sign: m³, m^3, m**3, m3. */
const POWER = /(?:\^|\*\*)(?=\d)/g;
/** Greek letter and sign of micro are one letter, once normalised; u stands for it before a unit. */
const MICRO = /μ/g;
const TIMES = /\s*[*·⋅×]\s*/;
const OVER = /\s*\/\s*/;

const known = new Map<string, string>();
/** A plant has some dozens. */
const KNOWN_MAX = 1000;

/** The one way in which a unit is written here. */
function wordOf(unit: string): string {
  const before = known.get(unit);
  if (before !== undefined) return before;
  const plain = unit.normalize('NFKC').replace(MICRO, 'u').replace(MINUS, '-').replace(/\s+/g, ' ').replace(DEGREE, '$1').trim().replace(POWER, '');
  const word = spelled.get(plain) ?? plain.split(OVER).map(productOf).join('/');
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(unit, word);
  return word;
}

function productOf(part: string): string {
  return part
    .split(TIMES)
    .map((factor) => spelled.get(factor) ?? factor)
    .join('*');
}

/** Whether both say a unit, and not the same. */
export function areOtherUnits(a: string, b: string): boolean {
  const [one, other] = [wordOf(a), wordOf(b)];
  return one !== '' && other !== '' && one !== other;
}
