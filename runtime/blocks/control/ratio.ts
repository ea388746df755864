import { block } from '../block.js';

/** Decisions 5.2, Control. */
export const RATIO = block({
  name: 'RATIO',
  family: 'control',
  description: 'Ratio station with bias and limits',
  inputs: 'IN:REAL, RATIO:REAL=1, BIAS:REAL=0',
  outputs: 'OUT:REAL',
  params: 'outMin:REAL=-1e30, outMax:REAL=1e30',
  code: '$OUT = Math.min(Math.max($IN * $RATIO + $BIAS, $outMin), $outMax);',
});
