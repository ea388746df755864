import { block, type BlockForm } from '../block.js';

/** The filter; without one nothing but the last good value is kept. */
function filtered(form: BlockForm): string {
  if (form.off('filter')) return '$value = x;';
  return `if ($filter <= 0 || $seen === 0) $value = x;
      else {
        if ($alphaMs !== dtMs) { $alpha = 1 - Math.exp(-dtMs / $filter); $alphaMs = dtMs; }
        $value += (x - $value) * $alpha;
      }
      $seen = 1;`;
}

/**
 * Decisions 5.2: the driver's value scaled, filtered and watched for wire faults. RAW is what came with the sample, a Bad one too: whoever
 * hunts a broken wire looks there. OUT keeps its last good value.
 */
export const AI = block({
  name: 'AI',
  family: 'io',
  description: 'Analog input: raw channel value scaled to engineering units, with filter and fault limits',
  outputs: 'OUT:REAL, OK:BOOL, RAW:REAL',
  params: 'addr:STRING!, rawMin:REAL=0, rawMax:REAL=1, engMin:REAL=0, engMax:REAL=1, filter:TIME=T#0s, faultLow:REAL=, faultHigh:REAL=',
  channel: { direction: 'input' },
  state: { value: 0, raw: 0, seen: 0, alpha: 0, alphaMs: -1 },
  caches: ['alphaMs'],
  code: (form) => `
    if (Number.isFinite($channel)) $raw = $channel;
    $RAW = $raw;
    $RAW.q = $channel.q;
    if ($channel.q === BAD || $raw <= $faultLow || $raw >= $faultHigh) {
      $OUT.q = BAD;
      $OK = 0;
    } else {
      const x = $engMin + (($raw - $rawMin) * ($engMax - $engMin)) / ($rawMax - $rawMin);
      ${filtered(form)}
      $OUT.q = $channel.q;
      $OK = 1;
    }
    $OUT = $value;
    $OK.q = 0;`,
});
