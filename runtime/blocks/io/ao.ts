import { block } from '../block.js';

/**
 * Decisions 5.2 and 5.1 rule 7: an override is clamped and written, while `position` goes on underneath. Before the first
 * scan `position` is NaN; it then starts from what the channel has (3.8, fail-safe value).
 */
export const AO = block({
  name: 'AO',
  family: 'io',
  description: 'Analog output: demand clamped, limited in rate, scaled to raw and written to the channel',
  inputs: 'IN:REAL',
  outputs: 'OUT:REAL, RAW:REAL, OK:BOOL',
  params: 'addr:STRING!, outMin:REAL=0, outMax:REAL=100, rawMin:REAL=0, rawMax:REAL=100, rate:REAL=0',
  channel: { direction: 'output', raw: 'RAW' },
  state: { position: Number.NaN },
  code: (form) => `
    if ($position !== $position) {
      const back = $outMin + (($channel - $rawMin) * ($outMax - $outMin)) / ($rawMax - $rawMin);
      $position = Math.min(Math.max(back - back === 0 ? back : 0, $outMin), $outMax);
    }
    if ($IN.q !== BAD) {
      const target = $IN < $outMin ? $outMin : $IN > $outMax ? $outMax : $IN;
      $position = ${form.off('rate') ? 'target' : '$rate > 0 ? Math.min(Math.max(target, $position - $rate * dt), $position + $rate * dt) : target'};
    }
    $OUT = $position;
    $OK.q = 0;`,
  after: `
    $OUT = $OUT < $outMin ? $outMin : $OUT > $outMax ? $outMax : $OUT;
    $RAW = $rawMin + (($OUT - $outMin) * ($rawMax - $rawMin)) / ($outMax - $outMin);
    $RAW.q = $OUT.q;
    $OK = $ack === 1 || ($ack === 2 && Math.abs($back - $RAW) <= 0.001 * Math.abs($rawMax - $rawMin)) ? 1 : 0;`,
});
