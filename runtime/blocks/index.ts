/**
 * The catalog of built-in function blocks (decisions 5.2): one file and one line per block. A name is never removed or
 * redefined (D-CAT-01).
 */
import type { BlockType } from './block.js';
import { AI } from './io/ai.js';
import { AO } from './io/ao.js';
import { DI } from './io/di.js';
import { DO } from './io/do.js';
import { TON } from './timers/ton.js';
import { TOF } from './timers/tof.js';
import { TP } from './timers/tp.js';
import { BLINK } from './timers/blink.js';
import { CTU } from './counters/ctu.js';
import { CTD } from './counters/ctd.js';
import { CTUD } from './counters/ctud.js';
import { R_TRIG } from './edges/r-trig.js';
import { F_TRIG } from './edges/f-trig.js';
import { SR } from './bistables/sr.js';
import { RS } from './bistables/rs.js';
import { ADD } from './arithmetic/add.js';
import { SUB } from './arithmetic/sub.js';
import { MUL } from './arithmetic/mul.js';
import { DIV } from './arithmetic/div.js';
import { MOD } from './arithmetic/mod.js';
import { NEG } from './arithmetic/neg.js';
import { ABS } from './arithmetic/abs.js';
import { SQRT } from './arithmetic/sqrt.js';
import { EXP } from './arithmetic/exp.js';
import { LN } from './arithmetic/ln.js';
import { LOG } from './arithmetic/log.js';
import { EXPT } from './arithmetic/expt.js';
import { SIN } from './arithmetic/sin.js';
import { COS } from './arithmetic/cos.js';
import { TRUNC } from './arithmetic/trunc.js';
import { ROUND } from './arithmetic/round.js';
import { GT } from './comparison/gt.js';
import { GE } from './comparison/ge.js';
import { LT } from './comparison/lt.js';
import { LE } from './comparison/le.js';
import { EQ } from './comparison/eq.js';
import { NE } from './comparison/ne.js';
import { AND } from './logic/and.js';
import { OR } from './logic/or.js';
import { XOR } from './logic/xor.js';
import { NOT } from './logic/not.js';
import { SEL } from './selection/sel.js';
import { MUX } from './selection/mux.js';
import { MIN } from './selection/min.js';
import { MAX } from './selection/max.js';
import { LIMIT } from './selection/limit.js';
import { MOVE } from './selection/move.js';
import { CONST } from './selection/const.js';
import { TO_REAL } from './selection/to-real.js';
import { TO_INT } from './selection/to-int.js';
import { TO_BOOL } from './selection/to-bool.js';
import { SCALE } from './signal/scale.js';
import { LAG } from './signal/lag.js';
import { LEADLAG } from './signal/leadlag.js';
import { DEADTIME } from './signal/deadtime.js';
import { DERIV } from './signal/deriv.js';
import { RAMP } from './signal/ramp.js';
import { RATELIMIT } from './signal/ratelimit.js';
import { MAVG } from './signal/mavg.js';
import { DEADBAND } from './signal/deadband.js';
import { CHARACTERIZER } from './signal/characterizer.js';
import { TOTALIZER } from './signal/totalizer.js';
import { INTEG } from './signal/integ.js';
import { HYST } from './signal/hyst.js';
import { PID } from './control/pid.js';
import { ONOFF } from './control/onoff.js';
import { RATIO } from './control/ratio.js';
import { SPLITRANGE } from './control/splitrange.js';
import { VALVE } from './devices/valve.js';
import { MOTOR } from './devices/motor.js';
import { CTRLVALVE } from './devices/ctrlvalve.js';
import { INTERLOCK } from './devices/interlock.js';
import { ALM_ANALOG } from './alarms/alm-analog.js';
import { ALM_DEV } from './alarms/alm-dev.js';
import { ALM_RATE } from './alarms/alm-rate.js';
import { ALM_DIGITAL } from './alarms/alm-digital.js';

/** In the order of the catalog. */
export const BLOCK_TYPES: readonly BlockType[] = [
  AI,
  AO,
  DI,
  DO,
  TON,
  TOF,
  TP,
  BLINK,
  CTU,
  CTD,
  CTUD,
  R_TRIG,
  F_TRIG,
  SR,
  RS,
  ADD,
  SUB,
  MUL,
  DIV,
  MOD,
  NEG,
  ABS,
  SQRT,
  EXP,
  LN,
  LOG,
  EXPT,
  SIN,
  COS,
  TRUNC,
  ROUND,
  GT,
  GE,
  LT,
  LE,
  EQ,
  NE,
  AND,
  OR,
  XOR,
  NOT,
  SEL,
  MUX,
  MIN,
  MAX,
  LIMIT,
  MOVE,
  CONST,
  TO_REAL,
  TO_INT,
  TO_BOOL,
  SCALE,
  LAG,
  LEADLAG,
  DEADTIME,
  DERIV,
  RAMP,
  RATELIMIT,
  MAVG,
  DEADBAND,
  CHARACTERIZER,
  TOTALIZER,
  INTEG,
  HYST,
  PID,
  ONOFF,
  RATIO,
  SPLITRANGE,
  VALVE,
  MOTOR,
  CTRLVALVE,
  INTERLOCK,
  ALM_ANALOG,
  ALM_DEV,
  ALM_RATE,
  ALM_DIGITAL,
];

const BY_NAME = new Map(BLOCK_TYPES.map((type) => [type.name, type]));

/** A built-in type by its exact name. */
export function builtinBlock(name: string): BlockType | undefined {
  return BY_NAME.get(name);
}
