import { block } from '../block.js';

/** Decisions 5.2: the first good sample is taken at once, later ones when they were stable for `debounce`. */
export const DI = block({
  name: 'DI',
  family: 'io',
  description: 'Digital input with inversion and debounce',
  outputs: 'OUT:BOOL, OK:BOOL',
  params: 'addr:STRING!, invert:BOOL=FALSE, debounce:TIME=T#0s',
  channel: { direction: 'input' },
  state: { value: 0, seen: 0, differsMs: -1 },
  code: `
    if ($channel.q === BAD) {
      $OUT.q = BAD;
      $OK = 0;
    } else {
      const now = ($channel !== 0 ? 1 : 0) ^ $invert;
      if ($seen === 0 || $debounce <= 0 || now === $value) {
        $value = now;
        $differsMs = -1;
      } else {
        $differsMs = $differsMs < 0 ? 0 : $differsMs + dtMs;
        if ($differsMs >= $debounce) { $value = now; $differsMs = -1; }
      }
      $seen = 1;
      $OUT.q = $channel.q;
      $OK = 1;
    }
    $OUT = $value;
    $OK.q = 0;`,
});
