import { block } from '../block.js';

/** Decisions 5.2; with lag zero and lead zero it is a gain. */
export const LEADLAG = block({
  name: 'LEADLAG',
  family: 'signal',
  description: 'Lead-lag element',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'gain:REAL=1, lead:TIME=T#0s, lag:TIME=T#1s',
  state: { value: 0, before: 0 },
  code: `
    $value = $first !== 0 ? $gain * $IN : ($lag * $value + $gain * (($lead + dtMs) * $IN - $lead * $before)) / ($lag + dtMs);
    $before = $IN;
    $OUT = $value;`,
});
