/**
 * Alarm definitions on tags, evaluated once per scan in the unit's own thread, and between the scans of a slow one
 * (contract 2, Alarm definition; decisions Q-ALARM-02, Q-ALARM-09, D-ALARM-02; scan/alarm-schedule.ts). Every condition is made one comparison when the plan is loaded, so a scan reads a
 * number and compares it: no names, no allocation. Only edges leave the thread; what becomes of them is the gateway's.
 *
 * The gateway says which definitions are armed and which alarms stand, and its word wins: an evaluator that goes on from
 * another opinion tells the difference as an edge in the next scan. So neither a restart nor a lost message leaves an alarm
 * that nobody ends.
 *
 * Stands among the words, because the gateway replays history through the same lines to say what a change would do.
 */
import type { AlarmEdge, AlarmGate, AlarmPlan } from './alarm.js';
import { assert, inside } from './assert.js';
import { type Copies, copyIn, copyOut, type Fate, type KeptOf } from './kept.js';
import { QUALITY } from './quality.js';

/** What a scan has published. */
export interface AlarmReadings {
  readonly values: Float64Array;
  readonly quality: Uint8Array;
  stale(tag: number): boolean;
}

/** An entry for each definition, at its place in the plan. */
export interface AlarmsState {
  readonly armed: Uint8Array;
  readonly active: Uint8Array;
  /** 1 while its tag cannot be judged. */
  readonly lost: Uint8Array;
  /** Plant ms for which the condition has been true without a break; -1 while it is not. */
  readonly trueForMs: Float64Array;
}

/** Over a download: all of it, where the definition has the same name; the debounce only while the condition is the same. */
const KEPT = { armed: 'kept', active: 'kept', lost: 'kept', trueForMs: 'kept' } as const satisfies Record<keyof AlarmsState, Fate>;
const FIELDS = Object.keys(KEPT) as KeptOf<typeof KEPT>[];

const bytes = { save: (live: Uint8Array) => live.slice(), load: (saved: Uint8Array) => saved.slice() };
const COPIES: Copies<{ -readonly [K in keyof AlarmsState]: AlarmsState[K] }, AlarmsState> = {
  armed: bytes,
  active: bytes,
  lost: bytes,
  trueForMs: { save: (live) => live.slice(), load: (saved) => saved.slice() },
};

/** How a value becomes the number that is compared. */
const MEASURE = { value: 0, negative: 1, distance: 2, isTrue: 3, isFalse: 4 } as const;

interface Comparison {
  readonly measure: (typeof MEASURE)[keyof typeof MEASURE];
  readonly setpoint: number;
  /** True above this while no alarm stands; while one stands, above `back`. */
  readonly from: number;
  readonly back: number;
}

const PLACED = 'a definition has its place in the plan';

export class AlarmSet {
  readonly plans: readonly AlarmPlan[];
  readonly #tag: Int32Array;
  readonly #lastTag: number;
  readonly #measure: Uint8Array;
  readonly #setpoint: Float64Array;
  readonly #from: Float64Array;
  readonly #back: Float64Array;
  readonly #debounceMs: Float64Array;
  readonly #memory: { -readonly [K in keyof AlarmsState]: AlarmsState[K] };
  readonly #index: ReadonlyMap<string, number>;

  /** `before`: the alarms of the plan that this one replaces; what has the same name goes on. */
  constructor(plans: readonly AlarmPlan[] = [], before?: AlarmSet) {
    const compared = plans.map(comparisonOf);
    this.plans = plans;
    this.#tag = Int32Array.from(plans, ({ tag }) => tag);
    this.#lastTag = this.#tag.reduce((last, tag) => Math.max(last, tag), -1); // a plan may have more alarms than a call takes arguments
    this.#measure = Uint8Array.from(compared, ({ measure }) => measure);
    this.#setpoint = Float64Array.from(compared, ({ setpoint }) => setpoint);
    this.#from = Float64Array.from(compared, ({ from }) => from);
    this.#back = Float64Array.from(compared, ({ back }) => back);
    this.#debounceMs = Float64Array.from(plans, ({ debounceMs }) => debounceMs);
    const count = plans.length;
    this.#memory = { armed: new Uint8Array(count), active: new Uint8Array(count), lost: new Uint8Array(count), trueForMs: new Float64Array(count).fill(-1) };
    this.#index = new Map(plans.map(({ definition }, n) => [definition, n]));
    if (before) this.#takeOver(before);
  }

  #takeOver(before: AlarmSet): void {
    this.plans.forEach((plan, n) => {
      const old = before.#index.get(plan.definition);
      if (old === undefined) return;
      const isSame = isSameCondition(plan, inside(before.plans, old, PLACED));
      for (const field of FIELDS) if (isSame || field !== 'trueForMs') this.#memory[field][n] = inside(before.#memory[field], old, PLACED);
    });
  }

  /** What the gateway holds true; a definition that is disarmed starts anew when it is armed. */
  setGates(gates: readonly AlarmGate[]): void {
    const memory = this.#memory;
    for (const { definition, armed, active, evaluable } of gates) {
      const n = this.#index.get(definition);
      if (n === undefined) continue;
      if (!armed || memory.armed[n] === 0) memory.trueForMs[n] = -1;
      memory.armed[n] = armed ? 1 : 0;
      memory.active[n] = active ? 1 : 0;
      memory.lost[n] = evaluable ? 0 : 1;
    }
  }

  /** After the tags of a scan are published, or between two scans; `dtMs` of plant time have passed since the last time. */
  scan(dtMs: number, readings: AlarmReadings, tell: (alarm: AlarmPlan, edge: AlarmEdge) => void): void {
    const { armed, lost } = this.#memory;
    const { values, quality } = readings;
    assert(values.length > this.#lastTag && quality.length > this.#lastTag, 'an alarm is defined on a tag of the plan');
    for (let n = 0; n < this.plans.length; n += 1) {
      if (armed[n] === 0) continue;
      const tag = this.#tag[n] as number;
      const value = values[tag] as number;
      // a value that is not Good freezes the alarm: it neither comes nor goes (decisions Q-ALARM-02)
      if (quality[tag] !== QUALITY.Good || Number.isNaN(value) || readings.stale(tag)) {
        if (lost[n] === 0) {
          lost[n] = 1;
          tell(this.plans[n] as AlarmPlan, 'lost');
        }
        continue;
      }
      let knownMs = dtMs;
      if (lost[n] !== 0) {
        lost[n] = 0;
        knownMs = 0; // since the last time it was frozen, and so was its debounce
        tell(this.plans[n] as AlarmPlan, 'evaluable');
      }
      this.#judge(n, this.#measured(n, value), knownMs, tell);
    }
  }

  /** Plant ms until the first debounce is over, if its condition holds so long; one that is frozen has no end. */
  restMs(): number {
    const { armed, active, lost, trueForMs } = this.#memory;
    let restMs = Number.POSITIVE_INFINITY;
    for (let n = 0; n < this.plans.length; n += 1) {
      const trueFor = trueForMs[n] as number;
      if (armed[n] === 0 || active[n] !== 0 || lost[n] !== 0 || trueFor < 0) continue;
      restMs = Math.min(restMs, (this.#debounceMs[n] as number) - trueFor);
    }
    return restMs;
  }

  #measured(n: number, value: number): number {
    switch (this.#measure[n]) {
      case MEASURE.negative:
        return -value;
      case MEASURE.distance:
        return Math.abs(value - (this.#setpoint[n] as number));
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
    const { active, trueForMs } = this.#memory;
    if (measured > ((active[n] === 0 ? this.#from[n] : this.#back[n]) as number)) {
      const before = trueForMs[n] as number;
      const trueFor = before < 0 ? 0 : before + dtMs;
      trueForMs[n] = trueFor;
      if (active[n] !== 0 || trueFor < (this.#debounceMs[n] as number)) return;
      active[n] = 1;
      tell(this.plans[n] as AlarmPlan, 'raised');
      return;
    }
    trueForMs[n] = -1;
    if (active[n] === 0) return;
    active[n] = 0;
    tell(this.plans[n] as AlarmPlan, 'cleared');
  }

  snapshot(): AlarmsState {
    return copyOut(COPIES, this.#memory);
  }

  /** Goes on from a snapshot of the same plan. */
  restore(saved: AlarmsState): void {
    assert(saved.armed.length === this.plans.length, 'a snapshot is of the same definitions');
    copyIn(COPIES, this.#memory, saved, undefined);
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

/** From which bound on the value of its tag clears it, the bound itself included; undefined where no bound of the value does: a deviation is one of two values, and without a threshold nothing clears. */
export function clearsAt(plan: AlarmPlan): { readonly wanted: '<=' | '>=' | '='; readonly limit: number | boolean } | undefined {
  const { measure, back } = comparisonOf(plan);
  if (measure === MEASURE.isTrue || measure === MEASURE.isFalse) return { wanted: '=', limit: measure === MEASURE.isFalse };
  if (measure === MEASURE.distance || !Number.isFinite(back)) return undefined;
  return measure === MEASURE.value ? { wanted: '<=', limit: back } : { wanted: '>=', limit: -back };
}

function isSameCondition(a: AlarmPlan, b: AlarmPlan): boolean {
  return a.condition === b.condition && a.threshold === b.threshold && a.setpoint === b.setpoint && a.deadband === b.deadband && a.address === b.address;
}
