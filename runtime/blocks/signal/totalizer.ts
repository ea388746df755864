import { block } from '../block.js';

/**
 * Time with a bad input is not added and makes the total Uncertain until RESET (decisions 5.2). Before its input was good for
 * the first time there is nothing to add: a device that connects later than the unit starts leaves no doubt behind.
 */
export const TOTALIZER = block({
  name: 'TOTALIZER',
  family: 'signal',
  description: 'Totalizer of a rate per second, minute or hour',
  inputs: 'IN:REAL, RUN:BOOL=TRUE, RESET:BOOL',
  outputs: 'OUT:REAL',
  params: 'timeBase:STRING=s, cutoff:REAL=0',
  words: { timeBase: ['s', 'min', 'h'] },
  state: { total: 0, doubt: 0, seen: 0 },
  retained: ['total', 'doubt'],
  code: `
    if ($RESET !== 0) { $total = 0; $doubt = 0; }
    else if ($RUN !== 0) {
      if ($IN.q === BAD) { if ($seen !== 0) $doubt = 1; }
      else if ($IN > $cutoff) $total += ($IN * dt) / ($timeBase === 0 ? 1 : $timeBase === 1 ? 60 : 3600);
    }
    if ($IN.q !== BAD) $seen = 1;
    $OUT = $total;
    $q = Math.max($IN.q === BAD ? 1 : $IN.q, $doubt, $RUN.q, $RESET.q);`,
});
