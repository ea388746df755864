import { block } from '../block.js';

/** Decisions 5.2, Alarm: the delay counts from the scan in which the condition comes; a latched alarm needs EN to go FALSE. */
export const ALM_DIGITAL = block({
  name: 'ALM_DIGITAL',
  family: 'alarms',
  description: 'Alarm of a digital condition with delay and latch',
  inputs: 'IN:BOOL, EN:BOOL=TRUE',
  outputs: 'ALM:BOOL',
  params: 'delay:TIME=T#0s, invert:BOOL=FALSE, latch:BOOL=FALSE',
  state: { on: 0, forMs: -1, released: 0 },
  total: true,
  code: `
    const condition = $IN ^ $invert;
    if ($latch !== 0 && $EN === 0) $released = 1;
    if (condition !== 0 && ($EN !== 0 || $on !== 0)) {
      if ($on === 0) { $forMs = $forMs < 0 ? 0 : $forMs + dtMs; if ($forMs >= $delay) { $on = 1; $released = 0; } }
    } else {
      $forMs = -1;
      if ($latch === 0 || $released !== 0) $on = 0;
    }
    if ($latch === 0 && $EN === 0) { $on = 0; $forMs = -1; }
    $ALM = $on;`,
});
