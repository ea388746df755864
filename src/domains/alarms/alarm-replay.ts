/**
 * Recorded samples through the evaluator of the scan, to say how often a definition would have raised its alarm. Between
 * two samples a value holds, as the historian means it (decisions 8.9); the moment at which a debounce ends between them is
 * looked at of its own. Where no sample came for longer than the historian ever waits, nothing is known: the evaluation
 * stops and begins anew after it, as that of a unit runtime does that was away. An arming gate opens and closes as it did.
 */
import type { WallMs } from '../../platform/base/times.js';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { AlarmPlan } from '../../../runtime/vocabulary/alarm.js';
import { AlarmSet } from '../../../runtime/vocabulary/alarm-set.js';
import { inside } from '../../platform/base/assert.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Series } from '../../platform/history/history.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { GateEdge, GateHistory } from './gate-history.js';

/** A running tag is recorded at least every 60 s (decisions 8.9); this much later it was not running. */
const SILENCE_MS = 90_000;
/** How many activations are shown from the beginning, and how many from the end. */
const SHOWN_MAX = 10;

const Activation = v.strictObject({
  at: v.string(),
  /** Null while it stands. */
  clearedAt: v.nullable(v.string()),
  value: v.number(),
});
type Activation = ToldBy<typeof Activation>;

nameSchemas({ AlarmActivation: Activation });

export const ReplayReport = v.strictObject({ activations: v.number(), activeSeconds: v.number(), first: v.array(Activation), last: v.array(Activation) });
export type ReplayReport = ToldBy<typeof ReplayReport>;

interface Raised {
  readonly atMs: WallMs;
  readonly value: number;
  clearedMs: number | null;
}

const ALONE = 'a replay has the one definition in its set';

export class AlarmReplay {
  readonly #set: AlarmSet;
  readonly #plan: AlarmPlan;
  readonly #fromMs: WallMs;
  readonly #timeScale: number;
  readonly #readings = { values: new Float64Array(1), quality: new Uint8Array(1), stale: () => false };
  readonly #first: Raised[] = [];
  readonly #last: Raised[] = [];
  #count = 0;
  #activeMs = 0;
  #standing: Raised | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #gaps = 0;
  #samples = 0;
  readonly #edges: readonly GateEdge[];
  #nextEdge = 0;
  #open: boolean;

  /**
   * `plan` is of tag 0. What comes before `fromMs` brings the evaluator into the state of that time and is not counted.
   * Without a gate it is armed all the time.
   */
  constructor(plan: AlarmPlan, fromMs: WallMs, timeScale: number, gate: Pick<GateHistory, 'openBefore' | 'edges'> = { openBefore: true, edges: [] }) {
    this.#edges = gate.edges;
    this.#open = gate.openBefore;
    this.#plan = plan;
    this.#fromMs = fromMs;
    this.#timeScale = timeScale;
    this.#set = new AlarmSet([plan]);
    this.#arm();
  }

  /** The next samples, oldest first; the historian counts qualities as the scan does (runtime/vocabulary/quality.ts). */
  take({ times, values, codes }: Series): void {
    for (let n = 0; n < times.length; n += 1) {
      const atMs = times[n];
      const value = values[n];
      const code = codes[n];
      if (atMs === undefined || value === undefined || code === undefined) throw new Error('assertion failed: a series has a value and a code for each of its times');
      const dtMs = this.#advance(atMs);
      const hasValue = (code & 1) === 0;
      this.#readings.values[0] = hasValue ? value : Number.NaN;
      this.#readings.quality[0] = code >> 1;
      this.#scan(atMs, dtMs);
      if (atMs >= this.#fromMs) this.#samples += 1;
    }
  }

  report(toMs: WallMs): ReplayReport {
    this.#advance(toMs);
    const standing = this.#standing;
    if (standing) this.#activeMs += Math.max(0, toMs - Math.max(standing.atMs, this.#fromMs));
    return { activations: this.#count, activeSeconds: Math.round(this.#activeMs / 1000), first: this.#first.map(shown), last: this.#last.map(shown) };
  }

  get samples(): number {
    return this.#samples;
  }

  /** Stretches without samples within the window. */
  get gaps(): number {
    return this.#gaps;
  }

  /** To the time of the next sample, with what the gate did until then. Answers what is left of the time to the next scan. */
  #advance(atMs: WallMs): number {
    const isKnown = atMs - this.#lastMs <= SILENCE_MS;
    for (let edge = this.#edges.at(this.#nextEdge); edge !== undefined && edge.atMs <= atMs; edge = this.#edges.at(this.#nextEdge)) {
      this.#nextEdge += 1;
      if (isKnown) this.#holdUntil(edge.atMs);
      this.#turn(edge);
      if (isKnown && edge.open) this.#scan(edge.atMs, 0);
    }
    return this.#holdUntil(atMs);
  }

  /** A gate that closes ends the alarm; one that opens begins the debounce. */
  #turn({ atMs, open }: GateEdge): void {
    if (!open) this.#clear(atMs);
    this.#open = open;
    this.#arm();
  }

  /** The value that was sampled last holds until a millisecond before. Answers what is left of the time to the next scan. */
  #holdUntil(atMs: WallMs): number {
    const heldMs = atMs - this.#lastMs;
    if (heldMs === Number.POSITIVE_INFINITY || heldMs <= 0) return 0;
    if (heldMs > SILENCE_MS) {
      if (atMs >= this.#fromMs) this.#gaps += 1;
      this.#arm();
      return 0;
    }
    const trueForMs = inside(this.#set.snapshot().trueForMs, 0, ALONE);
    const restMs = trueForMs < 0 || this.#standing ? Number.POSITIVE_INFINITY : Math.ceil((this.#plan.debounceMs - trueForMs) / this.#timeScale);
    if (restMs > 0 && restMs < heldMs) this.#scan(this.#lastMs + restMs, restMs);
    this.#scan(atMs - 1, atMs - 1 - this.#lastMs);
    return 1;
  }

  /** As the gateway arms a runtime that knows nothing yet but what stands. */
  #arm(): void {
    const gate = { definition: this.#plan.definition, active: this.#standing !== undefined, evaluable: true };
    this.#set.setGates([{ ...gate, armed: false }]);
    this.#set.setGates([{ ...gate, armed: this.#open }]);
  }

  #scan(atMs: WallMs, dtMs: number): void {
    this.#lastMs = atMs;
    this.#set.scan(dtMs * this.#timeScale, this.#readings, (_plan, edge) => {
      if (edge === 'raised') this.#raise(atMs);
      if (edge === 'cleared') this.#clear(atMs);
    });
  }

  #raise(atMs: WallMs): void {
    const raised: Raised = { atMs, value: inside(this.#readings.values, 0, ALONE), clearedMs: null };
    this.#standing = raised;
    if (atMs < this.#fromMs) return;
    this.#count += 1;
    if (this.#first.length < SHOWN_MAX) this.#first.push(raised);
    this.#last.push(raised);
    if (this.#last.length > SHOWN_MAX) this.#last.shift();
  }

  #clear(atMs: WallMs): void {
    const raised = this.#standing;
    if (!raised) return;
    raised.clearedMs = atMs;
    this.#activeMs += Math.max(0, atMs - Math.max(raised.atMs, this.#fromMs));
    this.#standing = undefined;
  }
}

function shown({ atMs, value, clearedMs }: Raised): Activation {
  return { at: timestamp(atMs), clearedAt: clearedMs === null ? null : timestamp(clearedMs), value };
}
