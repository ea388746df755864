import { block } from '../block.js';

/**
 * Decisions 5.5, MOTOR. ILOCK of quality Bad counts as TRUE, as on VALVE; OUT answers for CMD and PERMIT only. Supervision
 * begins with the first reading of the feedback, as on VALVE; `watchedMs` is the time a start or a stop has been waited for.
 */
export const MOTOR = block({
  name: 'MOTOR',
  family: 'devices',
  description: 'Motor with run feedback, interlock, trip, run supervision and hours',
  inputs: 'CMD:BOOL, FB:BOOL, PERMIT:BOOL=TRUE, ILOCK:BOOL, TRIP:BOOL, RESET:BOOL',
  outputs: 'OUT:BOOL, RUNNING:BOOL, FAULT:BOOL, INTERLOCKED:BOOL, STATE:STRING, HOURS:REAL',
  params: 'hasFb:BOOL=TRUE, startTime:TIME=T#5s, stopTime:TIME=T#5s, lossTime:TIME=T#1s, minOff:TIME=T#0s',
  stateWords: ['Stopped', 'Starting', 'Running', 'Stopping', 'Fault', 'Interlocked'],
  state: { on: 0, seen: 0, sinceMs: 1e12, watchedMs: 1e12, missedMs: 0, fault: 0, resetWas: 0, hours: 0, bypass: 0, tripWas: 0, shadowTrips: 0, asked: 0 },
  retained: ['hours'],
  code: `
    const trip = $ILOCK !== 0 || $ILOCK.q === BAD ? 1 : 0;
    if ($bypass !== 0 && trip !== 0 && $tripWas === 0) $shadowTrips += 1;
    $tripWas = trip;
    const locked = trip !== 0 && $bypass === 0;
    if ($TRIP !== 0) $fault = 1;
    $sinceMs = Math.min($sinceMs + dtMs, 1e12);
    const may = $on !== 0 || ($PERMIT !== 0 && $sinceMs >= $minOff);
    const want = $CMD !== 0 && !locked && $fault === 0 && may ? 1 : 0;
    if (want !== $on) { $on = want; $sinceMs = 0; $watchedMs = 0; $missedMs = 0; }
    else if ($hasFb !== 0 && $seen === 0) { $watchedMs = 0; $missedMs = 0; }
    else { $watchedMs = Math.min($watchedMs + dtMs, 1e12); $missedMs = Math.min($missedMs + dtMs, 1e12); }
    if ($FB.q < RAW) $seen = 1;
    const due = $watchedMs >= ($on !== 0 ? $startTime : $stopTime);
    const run = $hasFb !== 0 ? $FB : due ? $on : $on ^ 1;
    if (run === $on) $missedMs = 0;
    else if (due && $missedMs >= $lossTime) $fault = 1;
    if ($RESET !== 0 && $resetWas === 0 && $first === 0 && $TRIP === 0 && run === 0) $fault = 0;
    $resetWas = $RESET;
    if ($asked > 0) {
      const goes = $CMD !== 0 && !locked && may;
      $asked = !($TRIP === 0 && run === 0) ? -1 : goes && $asked === 1 ? -2 : -3;
      if ($asked === -3) $fault = 0;
    }
    if (run !== 0) $hours += dt / 3600;
    $OUT = $on;
    $OUT.q = Math.max($CMD.q, $PERMIT.q);
    $RUNNING = run;
    $FAULT = $fault;
    $INTERLOCKED = locked ? 1 : 0;
    $INTERLOCKED.q = 0;
    $HOURS = $hours;
    if ($fault !== 0) $STATE = $text(Fault);
    else if (locked) $STATE = $text(Interlocked);
    else if ($on !== 0) $STATE = run !== 0 ? $text(Running) : $text(Starting);
    else $STATE = run !== 0 ? $text(Stopping) : $text(Stopped);`,
});
