import { block, DELAY_SCANS_MAX, scansOf } from '../block.js';

/** Decisions 5.2, Alarm: compares with the input of one window ago; 0 until a window has passed. */
export const ALM_RATE = block({
  name: 'ALM_RATE',
  family: 'alarms',
  description: 'Rate of change over a window',
  inputs: 'IN:REAL, EN:BOOL=TRUE',
  outputs: 'RATE:REAL, ALM:BOOL',
  params: 'limit:REAL!, window:TIME=T#5s',
  state: { at: 0, count: 0, rate: 0 },
  aux: {
    length: (params, scanIntervalMs) => {
      const samples = Math.max(1, scansOf(Number(params.window), scanIntervalMs));
      return samples > DELAY_SCANS_MAX ? `window is ${samples} scans, at most ${DELAY_SCANS_MAX} are kept` : samples;
    },
  },
  code: `
    if ($IN.q !== BAD) {
      if ($count < $auxLength) $count += 1;
      else $rate = ($IN - X[$aux + $at]) / ($auxLength * periodS);
      X[$aux + $at] = $IN;
      $at = $at + 1 < $auxLength ? $at + 1 : 0;
    }
    $RATE = $rate;
    $ALM = $EN !== 0 && Math.abs($rate) >= $limit ? 1 : 0;`,
});
