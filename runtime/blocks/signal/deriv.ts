import { block } from '../block.js';

/** Decisions 5.2, Signal processing: change per second, filtered by a first-order lag that starts with the first value, 0. */
export const DERIV = block({
  name: 'DERIV',
  family: 'signal',
  description: 'Filtered derivative per second',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'filter:TIME=T#1s',
  state: { value: 0, before: 0, alpha: 0, alphaMs: -1 },
  caches: ['alphaMs'],
  code: `
    const x = $first !== 0 ? 0 : ($IN - $before) / dt;
    if ($first !== 0 || $filter <= 0) $value = x;
    else {
      if ($alphaMs !== dtMs) { $alpha = 1 - Math.exp(-dtMs / $filter); $alphaMs = dtMs; }
      $value += (x - $value) * $alpha;
    }
    $before = $IN;
    $OUT = $value;`,
});
