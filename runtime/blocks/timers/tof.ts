import { block } from '../block.js';

/** IEC 61131-3, Table 46 (off-delay); the scan in which IN falls counts as zero (decisions 5.2). */
export const TOF = block({
  name: 'TOF',
  family: 'timers',
  description: 'Off-delay timer',
  inputs: 'IN:BOOL, PT:TIME=T#0s',
  constant: ['PT'],
  outputs: 'Q:BOOL, ET:TIME',
  state: { et: 0, was: 0 },
  total: true,
  code: `
    const preset = Math.max($PT, 0);
    if ($IN !== 0) $et = 0;
    else if ($first !== 0) $et = preset;
    else if ($was === 0) $et = Math.min($et + dtMs, preset);
    $was = $IN;
    $ET = $et;
    $Q = $IN !== 0 || $et < preset ? 1 : 0;`,
});
