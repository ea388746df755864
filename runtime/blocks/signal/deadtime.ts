import { block, DELAY_SCANS_MAX, scansOf } from '../block.js';

/** A ring of the last n inputs; before n scans have run it holds the first input (decisions 5.2). */
export const DEADTIME = block({
  name: 'DEADTIME',
  family: 'signal',
  description: 'Dead time, at most 10000 scans',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'delay:TIME=T#1s',
  state: { at: 0 },
  aux: {
    length: (params, scanIntervalMs) => {
      const scans = scansOf(Number(params.delay), scanIntervalMs);
      return scans > DELAY_SCANS_MAX ? `delay is ${scans} scans, at most ${DELAY_SCANS_MAX} are kept` : scans;
    },
  },
  code: `
    if ($auxLength <= 0) $OUT = $IN;
    else {
      if ($first !== 0) X.fill($IN, $aux, $aux + $auxLength);
      $OUT = X[$aux + $at];
      X[$aux + $at] = $IN;
      $at = $at + 1 < $auxLength ? $at + 1 : 0;
    }`,
});
