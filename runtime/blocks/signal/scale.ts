import { block } from '../block.js';

/** Decisions 5.2, Signal processing. Equal input bounds give no finite number, which is a block error (5.1 rule 6). */
export const SCALE = block({
  name: 'SCALE',
  family: 'signal',
  description: 'Linear scaling, clamped to the output range on request',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'inMin:REAL=0, inMax:REAL=1, outMin:REAL=0, outMax:REAL=1, clamp:BOOL=FALSE',
  code: `
    $OUT = $outMin + (($IN - $inMin) * ($outMax - $outMin)) / ($inMax - $inMin);
    if ($clamp !== 0) $OUT = Math.min(Math.max($OUT, Math.min($outMin, $outMax)), Math.max($outMin, $outMax));`,
});
