/** The last minutes of the values that tiles show: from the historian once, then from the stream, one point for each few seconds. */
import { type Signal, signal } from '@preact/signals';
import { boxNowMs } from './box-clock.js';
import { site, stale, tagValue } from './plant.js';
import { can } from './session.js';
import { readCurves, readGaps, type Span } from './trend.js';
import { inTurn } from '../common/turns.js';

export interface Lately {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

const LONG_MS = 600_000;
/** Between two points: a spark line is no wider than a hundred of them. */
const EVERY_MS = 6000;
const NOTHING: Lately = { times: [], values: [] };

interface Kept {
  /** The site that the unit is of: another may have a unit of the same name. */
  readonly of: string;
  readonly unit: string;
  readonly address: string;
  readonly line: Signal<Lately>;
}

const kept = new Map<string, Kept>();
let timer = 0;

export function lately(unit: string, address: string): Signal<Lately> {
  const of = site.peek();
  const key = `${of} ${unit} ${address}`;
  const known = kept.get(key);
  if (known) return known.line;
  for (const [other, one] of kept) if (one.of !== of) kept.delete(other); // it is read anew when somebody comes back to it
  const line = signal(NOTHING);
  const one = { of, unit, address, line };
  kept.set(key, one);
  if (timer === 0) timer = window.setInterval(() => kept.forEach(grow), EVERY_MS);
  if (can('historian:tags')) beginSoon(one);
  return line;
}

/** Whose past is to be read. */
let beginning: Kept[] = [];

/** The lines of all tiles begin together, each in its turn, with gaps that are asked for once. */
function beginSoon(one: Kept): void {
  beginning.push(one);
  if (beginning.length > 1) return;
  inTurn(() => {
    const all = beginning;
    beginning = [];
    const toMs = boxNowMs();
    const span = { fromMs: toMs - LONG_MS, toMs };
    const gaps = readGaps(span);
    for (const each of all) inTurn(() => begin(each, span, gaps));
  });
}

function begin({ unit, address, line }: Kept, span: Span, gaps: ReturnType<typeof readGaps>): void {
  readCurves([{ unit, address, label: '', engUnits: '' }], span, LONG_MS, gaps).then(
    ({ curves: [curve] }) => {
      const every = Math.max(1, Math.floor((curve?.times.length ?? 0) / (LONG_MS / EVERY_MS)));
      const isKept = (_point: unknown, at: number): boolean => at % every === 0;
      if (curve) line.value = { times: [...curve.times.filter(isKept), ...line.peek().times], values: [...curve.values.filter(isKept), ...line.peek().values] };
    },
    () => undefined, // it grows from now on
  );
}

/** While no live data comes nobody knows the value: the line breaks, and does not go on with the last one. */
function grow({ of, unit, address, line }: Kept): void {
  if (of !== site.peek()) return;
  const { value, quality } = tagValue(unit, address).peek();
  const now = boxNowMs() / 1000;
  const { times, values } = line.peek();
  const from = times.findIndex((at) => at >= now - LONG_MS / 1000);
  const last = times.at(-1);
  if (last !== undefined && (from < 0 || last > now)) return void (line.value = NOTHING); // the clock of the box was set
  line.value = {
    times: [...times.slice(Math.max(0, from)), now],
    values: [...values.slice(Math.max(0, from)), typeof value === 'number' && quality === 'Good' && !stale.peek() ? value : null],
  };
}
