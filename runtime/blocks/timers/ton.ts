import { block } from '../block.js';

/** IEC 61131-3, Table 46 (on-delay); the scan in which IN rises counts as zero (decisions 5.2). */
export const TON = block({
  name: 'TON',
  family: 'timers',
  description: 'On-delay timer',
  inputs: 'IN:BOOL, PT:TIME=T#0s',
  constant: ['PT'],
  outputs: 'Q:BOOL, ET:TIME',
  state: { et: 0, was: 0 },
  total: true,
  code: `
    const preset = Math.max($PT, 0);
    $et = $IN === 0 || $was === 0 ? 0 : Math.min($et + dtMs, preset);
    $was = $IN;
    $ET = $et;
    $Q = $IN !== 0 && $et >= preset ? 1 : 0;`,
});
