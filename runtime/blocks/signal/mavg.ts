import { block, DELAY_SCANS_MAX, scansOf } from '../block.js';

/** Decisions 5.2, Signal processing. The sum is made anew each time the ring is full once more, so that rounding does not add up over months. */
export const MAVG = block({
  name: 'MAVG',
  family: 'signal',
  description: 'Moving average over a window of at most 10000 samples; bad samples are left out',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL',
  params: 'window:TIME=T#10s',
  state: { at: 0, count: 0, sum: 0 },
  aux: {
    length: (params, scanIntervalMs) => {
      const samples = Math.max(1, scansOf(Number(params.window), scanIntervalMs));
      return samples > DELAY_SCANS_MAX ? `window is ${samples} samples, at most ${DELAY_SCANS_MAX} are kept` : samples;
    },
  },
  code: `
    if ($IN.q !== BAD) {
      $sum += $IN - ($count < $auxLength ? 0 : X[$aux + $at]);
      X[$aux + $at] = $IN;
      if ($count < $auxLength) $count += 1;
      $at += 1;
      if ($at >= $auxLength) {
        $at = 0;
        $sum = 0;
        for (let k = 0; k < $auxLength; k += 1) $sum += X[$aux + k];
      }
    }
    $OUT = $count > 0 ? $sum / $count : 0;`,
});
