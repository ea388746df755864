/**
 * The control loop of the blocks bench as engines without generated code run it (performance notes, E): blocks as objects
 * whose values are looked up by name, and an array of closures over one array. Neither knows quality or faults.
 */
import { at as elementAt, leading } from '../support/at.js';

/** One scan of all loops over the inputs, two per loop; a sum of the outputs keeps it honest. */
export type Peer = (inputs: Float64Array) => number;

const RAW_MIN = 4;
const GAIN = 6.25;
const KP = 2;
const KI = 0.01;
const KD = 1 / 1.8;
const SP = 90;
const N = 8;
const DT_MS = 100;
const PRESET_MS = 2000;
const clamp = (value: number, low: number, high: number): number => (value < low ? low : value > high ? high : value);

interface ObjectBlock {
  readonly type: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly state: Map<string, number>;
}

type Values = Map<string, number>;

const STEPS: Readonly<Record<string, (inputs: number[], state: Map<string, number>) => number>> = {
  AI: ([raw = 0]) => (raw - RAW_MIN) * GAIN,
  ADD: ([a = 0, b = 0]) => a + b,
  PID: ([pv = 0], state) => {
    const error = SP - pv;
    const derivative = KD * ((state.get('derivative') ?? 0) - KP * N * (pv - (state.get('before') ?? pv)));
    state.set('derivative', derivative);
    state.set('before', pv);
    const held = state.get('integral') ?? 0;
    const integral = held + KI * error;
    const u = KP * error + derivative + integral;
    const stuck = (u > 100 && error > 0) || (u < 0 && error < 0);
    state.set('integral', stuck ? held : integral);
    return clamp(stuck ? u - integral + held : u, 0, 100);
  },
  GT: ([a = 0]) => Number(a > 120),
  LT: ([a = 0]) => Number(a < 60),
  OR: ([a = 0, b = 0]) => a | b,
  TON: ([on = 0], state) => {
    const et = on === 1 && state.get('was') === 1 ? Math.min((state.get('et') ?? 0) + DT_MS, PRESET_MS) : 0;
    state.set('et', et);
    state.set('was', on);
    return Number(on === 1 && et >= PRESET_MS);
  },
  SEL: ([g, a = 0]) => (g === 1 ? 5 : a),
  AO: ([demand = 0]) => RAW_MIN + clamp(demand, 0, 100) * 0.16,
};

/** Rows of one loop: type, name, names of the inputs. */
const ROWS = [
  ['AI', 'a', 'raw-a'],
  ['AI', 'b', 'raw-b'],
  ['ADD', 'sum', 'a', 'b'],
  ['PID', 'pid', 'sum'],
  ['GT', 'high', 'sum'],
  ['LT', 'low', 'sum'],
  ['OR', 'any', 'high', 'low'],
  ['TON', 'ton', 'any'],
  ['SEL', 'sel', 'ton', 'pid'],
  ['AO', 'ao', 'sel'],
] as const;

export function objectInterpreter(loops: number): Peer {
  const blocks: ObjectBlock[] = Array.from({ length: loops }, (_, n) =>
    ROWS.map(([type, name, ...inputs]) => ({ type, name: `${name}${n}`, inputs: inputs.map((input) => `${input}${n}`), state: new Map<string, number>() })),
  ).flat();
  const values: Values = new Map();
  return (raw) => {
    for (let n = 0; n < loops; n += 1) {
      values.set(`raw-a${n}`, raw[2 * n] as number);
      values.set(`raw-b${n}`, raw[2 * n + 1] as number);
    }
    let sum = 0;
    for (const { type, name, inputs, state } of blocks) {
      const value = elementAt(STEPS, type)(
        inputs.map((input) => values.get(input) ?? 0),
        state,
      );
      values.set(name, value);
      sum += value;
    }
    return sum;
  };
}

const SLOTS = 20;

function loopClosures(S: Float64Array, at: number): (() => void)[] {
  const ai = (raw: number, out: number) => () => {
    S[out] = ((S[raw] as number) - RAW_MIN) * GAIN;
  };
  const [rawA, rawB, a, b, sum, pid, derivative, before, integral, high, low, any, et, was, ton, sel, ao] = leading(
    Array.from({ length: 17 }, (_, n) => at + n),
    17,
  );
  return [
    ai(rawA, a),
    ai(rawB, b),
    () => {
      S[sum] = (S[a] as number) + (S[b] as number);
    },
    () => {
      const error = SP - (S[sum] as number);
      S[derivative] = KD * ((S[derivative] as number) - KP * N * ((S[sum] as number) - (S[before] as number)));
      S[before] = S[sum] as number;
      const next = (S[integral] as number) + KI * error;
      let u = KP * error + (S[derivative] as number) + next;
      if ((u > 100 && error > 0) || (u < 0 && error < 0)) u = KP * error + (S[derivative] as number) + (S[integral] as number);
      else S[integral] = next;
      S[pid] = clamp(u, 0, 100);
    },
    () => {
      S[high] = (S[sum] as number) > 120 ? 1 : 0;
    },
    () => {
      S[low] = (S[sum] as number) < 60 ? 1 : 0;
    },
    () => {
      S[any] = (S[high] as number) | (S[low] as number);
    },
    () => {
      S[et] = (S[any] as number) === 0 || (S[was] as number) === 0 ? 0 : Math.min((S[et] as number) + DT_MS, PRESET_MS);
      S[was] = S[any] as number;
      S[ton] = (S[any] as number) !== 0 && (S[et] as number) >= PRESET_MS ? 1 : 0;
    },
    () => {
      S[sel] = (S[ton] as number) !== 0 ? 5 : (S[pid] as number);
    },
    () => {
      S[ao] = RAW_MIN + clamp(S[sel] as number, 0, 100) * 0.16;
    },
  ];
}

export function arrayOfClosures(loops: number): Peer {
  const S = new Float64Array(loops * SLOTS);
  const blocks = Array.from({ length: loops }, (_, n) => loopClosures(S, n * SLOTS)).flat();
  return (raw) => {
    for (let n = 0; n < loops; n += 1) {
      S[n * SLOTS] = raw[2 * n] as number;
      S[n * SLOTS + 1] = raw[2 * n + 1] as number;
    }
    for (let n = 0; n < blocks.length; n += 1) blocks[n]?.();
    return S[SLOTS - 4] as number;
  };
}
