import { block } from '../block.js';

/** Decisions 5.2: units per second; RATE of zero or less follows at once. */
export const RAMP = block({
  name: 'RAMP',
  family: 'signal',
  description: 'Set-point ramp',
  inputs: 'IN:REAL, RATE:REAL=0, RESET:BOOL, RESETV:REAL=0',
  outputs: 'OUT:REAL, ACTIVE:BOOL',
  state: { value: 0 },
  code: `
    if ($RESET !== 0) $value = $RESETV;
    else if ($first !== 0 || $RATE <= 0) $value = $IN;
    else $value = Math.min(Math.max($IN, $value - $RATE * dt), $value + $RATE * dt);
    $OUT = $value;
    $ACTIVE = $value !== $IN && $RESET === 0 ? 1 : 0;`,
});
