import { block } from '../block.js';

/** Decisions 5.2: EN FALSE or a bad PV switches off at once, whatever the minimum times say. */
export const ONOFF = block({
  name: 'ONOFF',
  family: 'control',
  description: 'Two-point controller with minimum on and off times',
  inputs: 'PV:REAL, SP:REAL=0, EN:BOOL=TRUE',
  outputs: 'OUT:BOOL',
  params: 'band:REAL=1, action:STRING=reverse, minOn:TIME=T#0s, minOff:TIME=T#0s',
  words: { action: ['reverse', 'direct'] },
  state: { on: 0, sinceMs: 1e12 },
  total: true,
  code: `
    $sinceMs = Math.min($sinceMs + dtMs, 1e12);
    if ($EN === 0 || $PV.q === BAD) {
      if ($on !== 0) $sinceMs = 0;
      $on = 0;
    } else {
      const over = $action === 0 ? $PV - $SP : $SP - $PV;
      const want = over <= -$band / 2 ? 1 : over >= $band / 2 ? 0 : $on;
      if (want !== $on && $sinceMs >= ($on !== 0 ? $minOn : $minOff)) { $on = want; $sinceMs = 0; }
    }
    $OUT = $on;
    $q = Math.max($PV.q === BAD ? 0 : $PV.q, $SP.q, $EN.q);`,
});
