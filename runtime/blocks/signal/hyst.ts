import { block } from '../block.js';

/** Decisions 5.2, Signal processing: both bounds belong to the range that switches. */
export const HYST = block({
  name: 'HYST',
  family: 'signal',
  description: 'Two-point switch with hysteresis; with on below off it acts downward',
  inputs: 'IN:REAL',
  outputs: 'Q:BOOL',
  params: 'on:REAL!, off:REAL!',
  state: { set: 0 },
  total: true,
  code: `
    if ($on >= $off) {
      if ($IN >= $on) $set = 1;
      else if ($IN <= $off) $set = 0;
    } else if ($IN <= $on) $set = 1;
    else if ($IN >= $off) $set = 0;
    $Q = $set;`,
});
