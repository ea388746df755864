import { block } from '../block.js';

/** Decisions 5.2, Signal processing: a change of exactly the band does not pass. */
export const DEADBAND = block({
  name: 'DEADBAND',
  family: 'signal',
  description: 'Follows the input only when it moved by more than the band',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'band:REAL=0',
  state: { value: 0 },
  code: `
    if ($first !== 0 || Math.abs($IN - $value) > $band) $value = $IN;
    $OUT = $value;`,
});
