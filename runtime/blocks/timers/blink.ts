import { block } from '../block.js';

/** Decisions 5.2: begins with TRUE in the scan in which IN rises. */
export const BLINK = block({
  name: 'BLINK',
  family: 'timers',
  description: 'Blinker with separate on and off times',
  inputs: 'IN:BOOL=TRUE',
  outputs: 'Q:BOOL',
  params: 'on:TIME=T#1s, off:TIME=T#1s',
  state: { at: 0, was: 0 },
  total: true,
  code: `
    const cycle = $on + $off;
    $at = $IN === 0 || $was === 0 || cycle <= 0 ? 0 : ($at + dtMs) % cycle;
    $was = $IN;
    $Q = $IN !== 0 && ($at < $on || cycle <= 0) ? 1 : 0;`,
});
