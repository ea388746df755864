import { block } from '../block.js';

/** Decisions 5.2, Control: the gap lies half on either side of the split. */
export const SPLITRANGE = block({
  name: 'SPLITRANGE',
  family: 'control',
  description: 'Divides one controller output between two actuators',
  inputs: 'IN:REAL',
  outputs: 'OUT1:REAL, OUT2:REAL',
  params: 'inMin:REAL=-100, inMax:REAL=100, split:REAL=0, gap:REAL=0',
  code: `
    const half = $gap / 2;
    $OUT1 = 100 * Math.min(Math.max(($IN - $split - half) / ($inMax - $split - half), 0), 1);
    $OUT2 = 100 * Math.min(Math.max(($split - half - $IN) / ($split - half - $inMin), 0), 1);`,
});
