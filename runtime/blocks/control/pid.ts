import { assert } from '../../vocabulary/assert.js';
import { block, type LastScan } from '../block.js';

/**
 * Decisions 5.4, step by step. The mode is settled first, because leaving CAS and set-point tracking write the SP port
 * before SPW is made from it. Quality: a mode answers for the inputs it uses, so that an output block goes on in MAN, TRK
 * or with a substitute value while PV is Bad.
 *
 * A measurement that is Bad may stand anywhere. So that the return to AUTO is bumpless (step 4), neither the derivative nor
 * the integral follows it: the integral is made from OUT in the scan of the return, when P is known again. A controller that
 * holds before its first good measurement has not begun yet, and keeps a restored integral for its first scan (step 7).
 *
 * A set-point that comes in the scan of the return out of MAN or TRK is part of the return: the integral is made for it, so
 * that writing the set-point one scan before AUTO or together with it comes to the same (ADR 0028).
 */
export const PID = block({
  name: 'PID',
  family: 'control',
  description: 'PID controller with tracking, cascade, bumpless transfer and anti-windup',
  inputs: 'PV:REAL, SP:REAL=0, RSP:REAL=0, CAS:BOOL, AUTO:BOOL=TRUE, MAN:REAL=0, FF:REAL=0, TRK:BOOL, TRKV:REAL=0',
  outputs: 'OUT:REAL, SPW:REAL, ERR:REAL, SAT:BOOL, MODE:STRING',
  params:
    'kp:REAL=1, ti:TIME=T#0s, td:TIME=T#0s, n:REAL=8, action:STRING=reverse, outMin:REAL=0, outMax:REAL=100, spMin:REAL=-1e30, spMax:REAL=1e30, deadband:REAL=0, spTrack:BOOL=FALSE, onBadPV:STRING=hold, badValue:REAL=0',
  words: { action: ['reverse', 'direct'], onBadPV: ['hold', 'manual', 'value'] },
  fixedTexts: ['TRK', 'BAD', 'MAN', 'CAS', 'AUTO'],
  state: { integral: 0, derivative: 0, before: Number.NaN, out: 0, working: 0, measured: 0, mode: 0, ki: 0, kd: 0, gainsMs: -1 },
  caches: ['gainsMs'],
  retained: ['SP', 'MAN', 'integral'],
  selfWritten: ['SP', 'MAN'],
  retuned: goOn,
  code: (form) => `
    const mode = $TRK !== 0 ? 1 : $PV.q >= RAW ? 2 : $AUTO === 0 || $manual !== 0 ? 3 : $CAS !== 0 ? 4 : 5;
    const returns = $mode === 2;
    if (mode !== $mode) {
      ${form.off('CAS') ? '' : 'if ($mode === 4) $put(SP, $working);'}
      if ($mode !== 0 && (mode === 3 || (mode === 2 && $onBadPV === 1))) $put(MAN, $out);
    }
    if ($spTrack !== 0 && (mode === 3 || mode === 1)) $put(SP, $PV);
    if ($gainsMs !== dtMs) {
      $ki = $ti > 0 ? ($kp * dtMs) / $ti : 0;
      $kd = $td > 0 ? $td / ($td + $n * dtMs) : 0;
      $gainsMs = dtMs;
    }
    const wanted = $CAS !== 0 ? $RSP : $SP;
    const working = wanted < $spMin ? $spMin : wanted > $spMax ? $spMax : wanted;
    const held = $working;
    $working = working;
    const error = working - $PV;
    const signed = $action === 0 ? error : -error;
    const proportional = $kp * ${form.off('deadband') ? 'signed' : '(Math.abs(error) <= $deadband ? 0 : signed)'};
    ${
      form.off('td')
        ? '$derivative = 0;'
        : `const change = $before === $before ? $PV - $before : 0;
    $derivative = mode === 2 ? 0 : $kd * ($derivative - $kp * $n * ($action === 0 ? change : -change));
    $before = mode === 2 ? NaN : $PV;`
    }
    const rest = proportional + $derivative + $FF;
    let u = 0;
    if (mode >= 4) {
      if (returns) $integral = $out - rest;
      else if ($mode === 1 || $mode === 3) {
        const was = ${form.off('deadband') ? 'held' : '(Math.abs(held - $measured) <= $deadband ? $measured : held)'};
        const now = ${form.off('deadband') ? 'working' : '(Math.abs(working - $measured) <= $deadband ? $measured : working)'};
        $integral += $kp * ($action === 0 ? was - now : now - was);
      }
      const integral = $integral + $ki * ${form.off('deadband') ? 'signed' : '(Math.abs(error) <= $deadband ? 0 : signed)'};
      u = rest + integral;
      if ((u > $outMax && proportional > 0) || (u < $outMin && proportional < 0)) u = rest + $integral;
      else $integral = integral;
      $out = u < $outMin ? $outMin : u > $outMax ? $outMax : u;
      $OUT.q = $q;
    } else {
      if (mode === 1) { u = $TRKV; $OUT.q = Math.max($TRKV.q, $TRK.q); }
      else if (mode === 3) { u = $MAN; $OUT.q = Math.max($MAN.q, $AUTO.q); }
      else if ($onBadPV === 0) { u = $out; $OUT.q = $PV.q; }
      else if ($onBadPV === 1) { u = $free(MAN) ? $MAN : $out; $OUT.q = $MAN.q; }
      else { u = $badValue; $OUT.q = 0; }
      $out = Math.min(Math.max(u, $outMin), $outMax);
      if (mode !== 2) $integral = $out - rest;
      ${form.off('deadband') ? '' : '$measured = $PV;'}
    }
    if (!(u - u === 0)) $fail;
    if (mode !== 2 || $mode !== 0 || $onBadPV !== 0) $mode = mode;
    $OUT = $out;
    $SAT = $out !== u ? 1 : 0;
    $SAT.q = $OUT.q;
    $SPW = working;
    $SPW.q = $CAS !== 0 ? $RSP.q : $SP.q;
    $ERR = error;
    $MODE = mode === 5 ? $text(AUTO) : mode === 4 ? $text(CAS) : mode === 3 ? $text(MAN) : mode === 2 ? $text(BAD) : $text(TRK);
    $MODE.q = 0;`,
});

interface Gains {
  readonly kp: number;
  readonly td: number;
  readonly deadband: number;
  readonly action: number;
  readonly outMin: number;
  readonly outMax: number;
}

function gainsOf({ kp, td, deadband, action, outMin, outMax }: LastScan['before']): Gains {
  assert(
    kp !== undefined && td !== undefined && deadband !== undefined && action !== undefined && outMin !== undefined && outMax !== undefined,
    'a block has a value for every parameter of its row',
  );
  return { kp, td, deadband, action, outMin, outMax };
}

/**
 * The integral takes over what the other gains make of the last error, as far as OUT would jump: a controller that stays at its
 * limit keeps its integral, and one that a wider limit would let go begins at the limit it was at. The derivative goes with
 * kp and td, to which it is proportional. In TRK and MAN the integral is made from OUT in each scan, also for a return that comes
 * in the first scan with the other gains; after BAD it is made in the return.
 */
function goOn({ before: was, after: now, state, port }: LastScan): Readonly<Record<string, number>> {
  const before = gainsOf(was);
  const after = gainsOf(now);
  const mode = state('mode');
  if (mode === 0 || mode === 2) return {};
  const error = port('ERR');
  const proportional = Math.abs(error) <= after.deadband ? 0 : after.kp * (after.action === 0 ? error : -error);
  const slope = (params: Gains): number => (params.action === 0 ? 1 : -1) * params.kp * params.td;
  const derivative = slope(before) === 0 ? 0 : (state('derivative') * slope(after)) / slope(before);
  const rest = proportional + derivative + port('FF');
  const within = (u: number): number => Math.min(Math.max(u, after.outMin), after.outMax);
  const out = within(state('out'));
  const isKept = mode >= 4 && within(rest + state('integral')) === out;
  return { derivative, integral: isKept ? state('integral') : out - rest };
}
