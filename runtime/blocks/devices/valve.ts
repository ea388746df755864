import { block } from '../block.js';

/**
 * Decisions 5.5, VALVE, in its order. An ILOCK of quality Bad counts as TRUE, as an unhealthy input does for INTERLOCK, so
 * that a failed transmitter drives the valve to its fail position instead of freezing it. OUT answers for CMD and PERMIT
 * only: a bad limit switch must not hold the output. Supervision begins with the first reading of the switches: before it
 * nobody knows where the valve is, and a fault would latch at every start whose I/O answers later than the valve travels.
 * The position of the model is a sum of fractions: what is left of the way by rounding is no way.
 */
export const VALVE = block({
  name: 'VALVE',
  family: 'devices',
  description: 'Open-close valve with limit switches, interlock and travel supervision',
  inputs: 'CMD:BOOL, FBO:BOOL, FBC:BOOL, PERMIT:BOOL=TRUE, ILOCK:BOOL, RESET:BOOL',
  outputs: 'OUT:BOOL, OPENED:BOOL, CLOSED:BOOL, FAULT:BOOL, INTERLOCKED:BOOL, STATE:STRING',
  params: 'failPos:STRING=closed, hasFbo:BOOL=TRUE, hasFbc:BOOL=TRUE, openTime:TIME=T#5s, closeTime:TIME=T#5s, stickTime:TIME=T#1s',
  words: { failPos: ['closed', 'open'] },
  stateWords: ['Closed', 'Opening', 'Open', 'Closing', 'Fault', 'Interlocked'],
  state: { target: 0, seen: 0, sinceMs: 0, missedMs: 0, fault: 0, resetWas: 0, position: 0, bypass: 0, tripWas: 0, shadowTrips: 0, asked: 0 },
  total: true,
  code: `
    const trip = $ILOCK !== 0 || $ILOCK.q === BAD ? 1 : 0;
    if ($bypass !== 0 && trip !== 0 && $tripWas === 0) $shadowTrips += 1;
    $tripWas = trip;
    const locked = trip !== 0 && $bypass === 0;
    const want = locked || $fault !== 0 ? $failPos : $CMD !== 0 && ($PERMIT !== 0 || $target !== 0) ? 1 : 0;
    if ($first !== 0) $position = $failPos;
    if ($first !== 0 || want !== $target || $seen === 0) { $target = want; $sinceMs = 0; $missedMs = 0; }
    else { $sinceMs = Math.min($sinceMs + dtMs, 1e12); $missedMs = Math.min($missedMs + dtMs, 1e12); }
    if (($hasFbo === 0 || $FBO.q < RAW) && ($hasFbc === 0 || $FBC.q < RAW)) $seen = 1;
    let fo = $FBO;
    let fc = $FBC;
    if ($hasFbo === 0 && $hasFbc === 0) {
      const travel = $target !== 0 ? $openTime : -$closeTime;
      const moved = travel === 0 ? $target : $position + dtMs / travel;
      $position = $target !== 0 ? (moved > 1 - 1e-9 ? 1 : moved) : moved < 1e-9 ? 0 : moved;
      fo = $position >= 1 ? 1 : 0;
      fc = $position <= 0 ? 1 : 0;
    } else if ($hasFbo === 0) fo = $target !== 0 && $FBC === 0 && $sinceMs >= $openTime ? 1 : 0;
    else if ($hasFbc === 0) fc = $target === 0 && $FBO === 0 && $sinceMs >= $closeTime ? 1 : 0;
    const opened = fo !== 0 && fc === 0;
    const closed = fc !== 0 && fo === 0;
    if ($target !== 0 ? opened : closed) $missedMs = 0;
    else if ($sinceMs >= ($target !== 0 ? $openTime : $closeTime) && $missedMs >= $stickTime) $fault = 1;
    if ($RESET !== 0 && $resetWas === 0 && $first === 0 && ($failPos !== 0 ? opened : closed)) $fault = 0;
    $resetWas = $RESET;
    if ($asked > 0) {
      const goes = !locked && ($CMD !== 0 && ($PERMIT !== 0 || $target !== 0) ? 1 : 0) !== $failPos;
      $asked = !($failPos !== 0 ? opened : closed) ? -1 : goes && $asked === 1 ? -2 : -3;
      if ($asked === -3) $fault = 0;
    }
    $OUT = $target;
    $OUT.q = Math.max($CMD.q, $PERMIT.q);
    $OPENED = opened ? 1 : 0;
    $CLOSED = closed ? 1 : 0;
    $FAULT = $fault;
    $INTERLOCKED = locked ? 1 : 0;
    $INTERLOCKED.q = 0;
    if ($fault !== 0) $STATE = $text(Fault);
    else if (locked) $STATE = $text(Interlocked);
    else if ($target !== 0) $STATE = opened ? $text(Open) : $text(Opening);
    else $STATE = closed ? $text(Closed) : $text(Closing);`,
});
