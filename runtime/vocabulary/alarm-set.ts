/**
 * Alarm definitions on tags, evaluated once per scan in the unit's own thread, and between the scans of a slow one
 * (contract 2, Alarm definition; decisions Q-ALARM-02, Q-ALARM-09, D-ALARM-02; scan/alarm-passes.ts). Every condition is made one comparison when the plan is loaded, so a scan reads a
 * number and compares it: no names, no allocation. Only edges leave the thread; what becomes of them is the gateway's.
 *
 * The gateway says which definitions are armed and which alarms stand, and its word wins: an evaluator that goes on from
 * another opinion tells the difference as an edge in the next scan. So neither a restart nor a lost message leaves an alarm
 * that nobody ends.
 *
 * Stands among the words, because the gateway replays history through the same lines to say what a change would do.
 */
import type { AlarmEdge, AlarmGate, AlarmPlan } from './alarm.js';
import { QUALITY } from './quality.js';

/** What a scan has published. */
export interface AlarmReadings {
  readonly values: Float64Array;
  readonly quality: Uint8Array;
  stale(tag: number): boolean;
}

export interface AlarmsState {
  readonly armed: Uint8Array;
  readonly active: Uint8Array;
  readonly lost: Uint8Array;
  readonly trueForMs: Float64Array;
}

/** How a value becomes the number that is compared. */
const MEASURE = { value: 0, negative: 1, distance: 2, isTrue: 3, isFalse: 4 } as const;

interface Comparison {
  readonly measure: (typeof MEASURE)[keyof typeof MEASURE];
  readonly setpoint: number;
  /** True above this while no alarm stands; while one stands, above `back`. */
  readonly from: number;
  readonly back: number;
}

export class AlarmSet {
  readonly plans: readonly AlarmPlan[];
  readonly #tag: Int32Array;
  readonly #measure: Uint8Array;
  readonly #setpoint: Float64Array;
  readonly #from: Float64Array;
  readonly #back: Float64Array;
  readonly #debounceMs: Float64Array;
  readonly #armed: Uint8Array;
  readonly #active: Uint8Array;
  readonly #lost: Uint8Array;
  /** Plant ms for which the condition has been true without a break; -1 while it is not. */
  readonly #trueForMs: Float64Array;
  readonly #index: ReadonlyMap<string, number>;

  /** `before`: the alarms of the plan that this one replaces; what has the same name goes on. */
  constructor(plans: readonly AlarmPlan[] = [], before?: AlarmSet) {
    const compared = plans.map(comparisonOf);
    this.plans = plans;
    this.#tag = Int32Array.from(plans, ({ tag }) => tag);
    this.#measure = Uint8Array.from(compared, ({ measure }) => measure);
    this.#setpoint = Float64Array.from(compared, ({ setpoint }) => setpoint);
    this.#from = Float64Array.from(compared, ({ from }) => from);
    this.#back = Float64Array.from(compared, ({ back }) => back);
    this.#debounceMs = Float64Array.from(plans, ({ debounceMs }) => debounceMs);
    this.#armed = new Uint8Array(plans.length);
    this.#active = new Uint8Array(plans.length);
    this.#lost = new Uint8Array(plans.length);
    this.#trueForMs = new Float64Array(plans.length).fill(-1);
    this.#index = new Map(plans.map(({ definition }, n) => [definition, n]));
    if (before) this.#takeOver(before);
  }

  #takeOver(before: AlarmSet): void {
    for (let n = 0; n < this.plans.length; n += 1) {
      const old = before.#index.get(this.plans[n].definition);
      if (old === undefined) continue;
      this.#armed[n] = before.#armed[old];
      this.#active[n] = before.#active[old];
      this.#lost[n] = before.#lost[old];
      if (isSameCondition(this.plans[n], before.plans[old])) this.#trueForMs[n] = before.#trueForMs[old];
    }
  }

  /** What the gateway holds true; a definition that is disarmed starts anew when it is armed. */
  setGates(gates: readonly AlarmGate[]): void {
    for (const { definition, armed, active, evaluable } of gates) {
      const n = this.#index.get(definition);
      if (n === undefined) continue;
      if (!armed || this.#armed[n] === 0) this.#trueForMs[n] = -1;
      this.#armed[n] = armed ? 1 : 0;
      this.#active[n] = active ? 1 : 0;
      this.#lost[n] = evaluable ? 0 : 1;
    }
  }

  /** After the tags of a scan are published, or between two scans; `dtMs` of plant time have passed since the last time. */
  scan(dtMs: number, readings: AlarmReadings, tell: (alarm: AlarmPlan, edge: AlarmEdge) => void): void {
    for (let n = 0; n < this.plans.length; n += 1) {
      if (this.#armed[n] === 0) continue;
      const tag = this.#tag[n];
      const value = readings.values[tag];
      // a value that is not Good freezes the alarm: it neither comes nor goes (decisions Q-ALARM-02)
      if (readings.quality[tag] !== QUALITY.Good || Number.isNaN(value) || readings.stale(tag)) {
        if (this.#lost[n] === 0) {
          this.#lost[n] = 1;
          tell(this.plans[n], 'lost');
        }
        continue;
      }
      let knownMs = dtMs;
      if (this.#lost[n] !== 0) {
        this.#lost[n] = 0;
        knownMs = 0; // since the last time it was frozen, and so was its debounce
        tell(this.plans[n], 'evaluable');
      }
      this.#judge(n, this.#measured(n, value), knownMs, tell);
    }
  }

  /** Plant ms until the first debounce is over, if its condition holds so long; one that is frozen has no end. */
  restMs(): number {
    let restMs = Number.POSITIVE_INFINITY;
    for (let n = 0; n < this.plans.length; n += 1) {
      if (this.#armed[n] === 0 || this.#active[n] !== 0 || this.#lost[n] !== 0 || this.#trueForMs[n] < 0) continue;
      restMs = Math.min(restMs, this.#debounceMs[n] - this.#trueForMs[n]);
    }
    return restMs;
  }

  #measured(n: number, value: number): number {
    switch (this.#measure[n]) {
      case MEASURE.negative:
        return -value;
      case MEASURE.distance:
        return Math.abs(value - this.#setpoint[n]);
      case MEASURE.isTrue:
        return value !== 0 ? 1 : 0;
      case MEASURE.isFalse:
        return value === 0 ? 1 : 0;
      default:
        return value;
    }
  }

  /** Comes after the debounce, goes at once (contract 2, Alarm definition). */
  #judge(n: number, measured: number, dtMs: number, tell: (alarm: AlarmPlan, edge: AlarmEdge) => void): void {
    if (measured > (this.#active[n] === 0 ? this.#from[n] : this.#back[n])) {
      this.#trueForMs[n] = this.#trueForMs[n] < 0 ? 0 : this.#trueForMs[n] + dtMs;
      if (this.#active[n] !== 0 || this.#trueForMs[n] < this.#debounceMs[n]) return;
      this.#active[n] = 1;
      tell(this.plans[n], 'raised');
      return;
    }
    this.#trueForMs[n] = -1;
    if (this.#active[n] === 0) return;
    this.#active[n] = 0;
    tell(this.plans[n], 'cleared');
  }

  snapshot(): AlarmsState {
    return { armed: this.#armed.slice(), active: this.#active.slice(), lost: this.#lost.slice(), trueForMs: this.#trueForMs.slice() };
  }

  /** Goes on from a snapshot of the same plan. */
  restore(saved: AlarmsState): void {
    this.#armed.set(saved.armed);
    this.#active.set(saved.active);
    this.#lost.set(saved.lost);
    this.#trueForMs.set(saved.trueForMs);
  }
}

/** Decisions Q-ALARM-09. A low limit is a high one of the negative value. */
function comparisonOf({ condition, threshold, setpoint = 0, deadband }: AlarmPlan): Comparison {
  switch (condition) {
    case 'TagHigh':
    case 'TagHighHigh': {
      const from = threshold ?? Number.POSITIVE_INFINITY;
      return { measure: MEASURE.value, setpoint, from, back: from - deadband };
    }
    case 'TagLow':
    case 'TagLowLow': {
      const from = -(threshold ?? Number.NEGATIVE_INFINITY);
      return { measure: MEASURE.negative, setpoint, from, back: from - deadband };
    }
    case 'TagDeviation': {
      // without a threshold the deadband is the limit, and there is no hysteresis
      const from = threshold ?? deadband;
      return { measure: MEASURE.distance, setpoint, from, back: threshold === undefined ? from : from - deadband };
    }
    case 'TagTrue':
      return { measure: MEASURE.isTrue, setpoint, from: 0, back: 0 };
    case 'TagFalse':
      return { measure: MEASURE.isFalse, setpoint, from: 0, back: 0 };
  }
}

function isSameCondition(a: AlarmPlan, b: AlarmPlan): boolean {
  return a.condition === b.condition && a.threshold === b.threshold && a.setpoint === b.setpoint && a.deadband === b.deadband && a.address === b.address;
}
