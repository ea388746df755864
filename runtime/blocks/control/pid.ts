import { block } from '../block.js';

/**
 * Decisions 5.4, step by step. The mode is settled first, because leaving CAS and set-point tracking write the SP port
 * before SPW is made from it. Quality: a mode answers for the inputs it uses, so that an output block goes on in MAN, TRK
 * or with a substitute value while PV is Bad.
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
  state: { integral: 0, derivative: 0, before: 0, out: 0, working: 0, mode: 0 },
  retained: ['SP', 'MAN', 'integral'],
  selfWritten: ['SP', 'MAN'],
  code: `
    const mode = $TRK !== 0 ? 1 : $PV.q >= RAW ? 2 : $AUTO === 0 || $manual !== 0 ? 3 : $CAS !== 0 ? 4 : 5;
    if ($mode === 4 && mode !== 4 && $free(SP)) $SP = $working;
    if (mode === 3 && $mode !== 3 && $mode !== 0 && $free(MAN)) $MAN = $out;
    if (mode === 2 && $mode !== 2 && $mode !== 0 && $onBadPV === 1 && $free(MAN)) $MAN = $out;
    if ($spTrack !== 0 && (mode === 3 || mode === 1) && $free(SP)) $SP = $PV;
    $working = Math.min(Math.max($CAS !== 0 ? $RSP : $SP, $spMin), $spMax);
    const error = $working - $PV;
    const sigma = $action === 0 ? 1 : -1;
    const e = Math.abs(error) <= $deadband ? 0 : sigma * error;
    const proportional = $kp * e;
    const change = $first !== 0 ? 0 : $PV - $before;
    $derivative = $td > 0 ? ($td / ($td + $n * dtMs)) * ($derivative - $kp * $n * sigma * change) : 0;
    $before = $PV;
    let u = 0;
    if (mode >= 4) {
      let integral = $ti > 0 ? $integral + (($kp * dtMs) / $ti) * e : $integral;
      u = proportional + integral + $derivative + $FF;
      if ((u > $outMax && proportional > 0) || (u < $outMin && proportional < 0)) {
        integral = $integral;
        u = proportional + integral + $derivative + $FF;
      }
      $integral = integral;
      $out = Math.min(Math.max(u, $outMin), $outMax);
      $OUT.q = $q;
    } else {
      if (mode === 1) { u = $TRKV; $OUT.q = Math.max($TRKV.q, $TRK.q); }
      else if (mode === 3) { u = $MAN; $OUT.q = Math.max($MAN.q, $AUTO.q); }
      else if ($onBadPV === 0) { u = $out; $OUT.q = $PV.q; }
      else if ($onBadPV === 1) { u = $free(MAN) ? $MAN : $out; $OUT.q = $MAN.q; }
      else { u = $badValue; $OUT.q = 0; }
      $out = Math.min(Math.max(u, $outMin), $outMax);
      $integral = $out - proportional - $derivative - $FF;
    }
    if (u - u !== 0) $fail;
    $mode = mode;
    $OUT = $out;
    $SAT = $out !== u ? 1 : 0;
    $SAT.q = $OUT.q;
    $SPW = $working;
    $SPW.q = $CAS !== 0 ? $RSP.q : $SP.q;
    $ERR = error;
    $MODE = mode === 1 ? $text(TRK) : mode === 2 ? $text(BAD) : mode === 3 ? $text(MAN) : mode === 4 ? $text(CAS) : $text(AUTO);
    $MODE.q = 0;`,
});
