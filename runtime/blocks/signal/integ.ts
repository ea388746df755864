import { block } from '../block.js';

/** Decisions 5.2, Signal processing: the integral itself is limited, so it comes back at once when the input turns round. */
export const INTEG = block({
  name: 'INTEG',
  family: 'signal',
  description: 'Integrator with limits',
  inputs: 'IN:REAL, RESET:BOOL',
  outputs: 'OUT:REAL',
  params: 'initial:REAL=0, min:REAL=-1e30, max:REAL=1e30',
  state: { value: 0 },
  code: `
    $value = $RESET !== 0 || $first !== 0 ? $initial : Math.min(Math.max($value + $IN * dt, $min), $max);
    $OUT = $value;`,
});
