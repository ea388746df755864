import { block } from '../block.js';

/** Decisions 5.5, CTRLVALVE. ILOCK of quality Bad counts as TRUE and supervision begins with the first reading, as on VALVE. */
export const CTRLVALVE = block({
  name: 'CTRLVALVE',
  family: 'devices',
  description: 'Control valve with interlock, rate and position supervision',
  inputs: 'SP:REAL, FB:REAL, PERMIT:BOOL=TRUE, ILOCK:BOOL, RESET:BOOL',
  outputs: 'OUT:REAL, POS:REAL, FAULT:BOOL, INTERLOCKED:BOOL, STATE:STRING',
  params: 'failValue:REAL=0, hasFb:BOOL=FALSE, tol:REAL=5, travelTime:TIME=T#30s, rate:REAL=0',
  stateWords: ['Ready', 'Moving', 'Fault', 'Interlocked'],
  state: { out: 0, seen: 0, offMs: 0, fault: 0, resetWas: 0, bypass: 0, tripWas: 0, shadowTrips: 0, asked: 0 },
  code: `
    const trip = $ILOCK !== 0 || $ILOCK.q === BAD ? 1 : 0;
    if ($bypass !== 0 && trip !== 0 && $tripWas === 0) $shadowTrips += 1;
    $tripWas = trip;
    const locked = trip !== 0 && $bypass === 0;
    if ($first !== 0) $out = $failValue;
    const target = locked || $fault !== 0 ? $failValue : $PERMIT !== 0 ? Math.min(Math.max($SP, 0), 100) : $out;
    $out = $rate > 0 ? Math.min(Math.max(target, $out - $rate * dt), $out + $rate * dt) : target;
    const position = $hasFb !== 0 ? $FB : $out;
    const off = Math.abs($out - position) > $tol;
    if ($hasFb !== 0) {
      $offMs = off && $seen !== 0 ? $offMs + dtMs : 0;
      if ($FB.q < RAW) $seen = 1;
      if (off && $offMs >= $travelTime) $fault = 1;
    }
    if ($RESET !== 0 && $resetWas === 0 && $first === 0 && !off) $fault = 0;
    $resetWas = $RESET;
    if ($asked > 0) {
      const goes = !locked && $PERMIT !== 0 && Math.abs(Math.min(Math.max($SP, 0), 100) - $out) > $tol;
      $asked = off ? -1 : goes && $asked === 1 ? -2 : -3;
      if ($asked === -3) $fault = 0;
    }
    $OUT = $out;
    $OUT.q = Math.max($SP.q, $PERMIT.q);
    $POS = position;
    $FAULT = $fault;
    $INTERLOCKED = locked ? 1 : 0;
    $INTERLOCKED.q = 0;
    if ($fault !== 0) $STATE = $text(Fault);
    else if (locked) $STATE = $text(Interlocked);
    else $STATE = Math.abs($out - position) > 1 ? $text(Moving) : $text(Ready);`,
});
