import { block } from '../block.js';

/** One limit: set after `beyond` for the delay, cleared at once when back by the deadband. An empty limit is NaN. */
function limit(output: string, beyond: string, back: string): string {
  const on = `$on${output}`;
  const forMs = `$for${output}`;
  return `
      if (${on} === 0) {
        if (${beyond}) { ${forMs} = ${forMs} < 0 ? 0 : ${forMs} + dtMs; if (${forMs} >= $delay) ${on} = 1; }
        else ${forMs} = -1;
      } else if (${back}) { ${on} = 0; ${forMs} = -1; }`;
}

/** Decisions 5.2, Alarm (limits as ISA-18.2): a bad input holds the outputs, EN FALSE clears them. */
export const ALM_ANALOG = block({
  name: 'ALM_ANALOG',
  family: 'alarms',
  description: 'Four limits with deadband and delay',
  inputs: 'IN:REAL, EN:BOOL=TRUE',
  outputs: 'HH:BOOL, H:BOOL, L:BOOL, LL:BOOL, ANY:BOOL',
  params: 'hh:REAL=, h:REAL=, l:REAL=, ll:REAL=, deadband:REAL=0, delay:TIME=T#0s',
  state: { onHH: 0, onH: 0, onL: 0, onLL: 0, forHH: -1, forH: -1, forL: -1, forLL: -1 },
  total: true,
  code: `
    if ($EN === 0) {
      $onHH = $onH = $onL = $onLL = 0;
      $forHH = $forH = $forL = $forLL = -1;
    } else if ($IN.q !== BAD) {${limit('HH', '$IN >= $hh', '!($IN >= $hh - $deadband)')}${limit('H', '$IN >= $h', '!($IN >= $h - $deadband)')}${limit('L', '$IN <= $l', '!($IN <= $l + $deadband)')}${limit('LL', '$IN <= $ll', '!($IN <= $ll + $deadband)')}
    }
    $HH = $onHH;
    $H = $onH;
    $L = $onL;
    $LL = $onLL;
    $ANY = $onHH | $onH | $onL | $onLL;`,
});
