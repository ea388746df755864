import { block } from '../block.js';

/** IEC 61131-3, Table 46 (pulse): not extended by IN; ET returns to zero once the pulse is over and IN is FALSE. */
export const TP = block({
  name: 'TP',
  family: 'timers',
  description: 'Pulse timer',
  inputs: 'IN:BOOL, PT:TIME=T#0s',
  constant: ['PT'],
  outputs: 'Q:BOOL, ET:TIME',
  state: { et: 0, was: 0, runs: 0 },
  total: true,
  code: `
    if ($runs !== 0) {
      $et = Math.min($et + dtMs, Math.max($PT, 0));
      if ($et >= $PT) $runs = 0;
    } else if ($IN !== 0 && $was === 0 && $first === 0) {
      $et = 0;
      $runs = $PT > 0 ? 1 : 0;
    }
    if ($runs === 0 && $IN === 0) $et = 0;
    $was = $IN;
    $ET = $et;
    $Q = $runs;`,
});
