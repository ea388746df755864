import { block } from '../block.js';

/** Decisions 5.2, Signal processing. */
export const RATELIMIT = block({
  name: 'RATELIMIT',
  family: 'signal',
  description: 'Limits the change per second, up and down apart',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL, LIMITED:BOOL',
  params: 'up:REAL=1, down:REAL=1',
  state: { value: 0 },
  code: `
    $value = $first !== 0 ? $IN : Math.min(Math.max($IN, $value - $down * dt), $value + $up * dt);
    $OUT = $value;
    $LIMITED = $value !== $IN ? 1 : 0;`,
});
