import { block } from '../block.js';

const POINTS_MIN = 2;
const POINTS_MAX = 64; // decisions 5.2

/** A list that is not given has one number, which is none. */
function numbers(text: number | string = ''): number[] {
  return String(text)
    .split(',')
    .map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
}

/** Decisions 5.2, Signal processing. The table lies in `X`: all x, then all y. */
export const CHARACTERIZER = block({
  name: 'CHARACTERIZER',
  family: 'signal',
  description: 'Piecewise linear characteristic of 2 to 64 points',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'x:STRING!, y:STRING!, extrapolate:BOOL=FALSE',
  aux: {
    length: (params) => {
      const x = numbers(params.x);
      const y = numbers(params.y);
      if (x.length < POINTS_MIN || x.length > POINTS_MAX) return `x needs ${POINTS_MIN} to ${POINTS_MAX} numbers`;
      if (y.length !== x.length) return 'x and y need the same number of numbers';
      if (![...x, ...y].every(Number.isFinite)) return 'x and y are comma lists of numbers';
      return x.every((value, n) => value > (x[n - 1] ?? Number.NEGATIVE_INFINITY)) ? 2 * x.length : 'x must rise strictly';
    },
    fill: (params) => [...numbers(params.x), ...numbers(params.y)],
  },
  code: `
    const points = $auxLength / 2;
    let k = 1;
    while (k < points - 1 && $IN > X[$aux + k]) k += 1;
    const x0 = X[$aux + k - 1], x1 = X[$aux + k];
    const y0 = X[$aux + points + k - 1], y1 = X[$aux + points + k];
    const at = $extrapolate !== 0 ? $IN : Math.min(Math.max($IN, x0), x1);
    $OUT = y0 + ((at - x0) * (y1 - y0)) / (x1 - x0);`,
});
