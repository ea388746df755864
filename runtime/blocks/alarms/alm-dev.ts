import { block } from '../block.js';

/** Decisions 5.2, Alarm; a bad input or set-point holds the state, so that a lost signal neither raises nor clears. */
export const ALM_DEV = block({
  name: 'ALM_DEV',
  family: 'alarms',
  description: 'Deviation from a set-point with deadband and delay',
  inputs: 'IN:REAL, SP:REAL, EN:BOOL=TRUE',
  outputs: 'DEV:BOOL',
  params: 'limit:REAL!, deadband:REAL=0, delay:TIME=T#0s',
  state: { on: 0, forMs: -1 },
  total: true,
  code: `
    const away = Math.abs($IN - $SP);
    if ($EN === 0) { $on = 0; $forMs = -1; }
    else if ($IN.q !== BAD && $SP.q !== BAD) {
      if ($on !== 0) { if (away < $limit - $deadband) { $on = 0; $forMs = -1; } }
      else if (away >= $limit) { $forMs = $forMs < 0 ? 0 : $forMs + dtMs; if ($forMs >= $delay) $on = 1; }
      else $forMs = -1;
    }
    $DEV = $on;`,
});
