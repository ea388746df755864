/** Curves of tags as the stream tells them, what of them departs from its setpoint, and the limits of their bars. */
import t from 'tap';
import { at } from '../support/at.js';
import { pageModule } from './page-module.js';

interface Curve {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

interface Trend {
  readonly stream: { start(): void };
  emptyCurve(lengthMs: number): Curve;
  follow(pens: readonly object[], curves: readonly Curve[], windowMs: number): () => void;
  csvOf(pens: readonly object[], curves: readonly Curve[], span: { readonly fromMs: number; readonly toMs: number }): string;
}

/** A socket on which the test says what the gateway would say. */
class Socket {
  static readonly OPEN = 1;
  static readonly opened: Socket[] = [];
  readonly readyState = Socket.OPEN;
  onopen: (() => void) | undefined;
  onmessage: ((message: { readonly data: string }) => void) | undefined;
  constructor() {
    Socket.opened.push(this);
  }
  send(): void {}
  tell(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

const MINUTE_MS = 60_000;
const PENS = [{ unit: 'r101', address: 'tic101.pv', label: 'tic101', engUnits: '°C' }];

t.test('a curve begins with the first value of its tag: before that the tag has no time, and the table of the curve is made all the same', async (t) => {
  const timers = { setInterval: () => 0, setTimeout: () => 0, addEventListener: () => undefined };
  Object.assign(globalThis, { window: timers, location: { origin: 'http://box', pathname: '/hmi', hash: '' }, WebSocket: Socket });
  const { stream, emptyCurve, follow, csvOf } = await pageModule<Trend>('data/trend.ts data/plant.ts');
  const curve = emptyCurve(MINUTE_MS);
  stream.start();
  const socket = at(Socket.opened, 0);
  socket.onopen?.();
  follow(PENS, [curve], MINUTE_MS);
  const frame = { type: 'tag', site: '', unit: 'r101', address: 'tic101.pv' };
  const atMs = Date.now();
  socket.tell({ ...frame, seq: 1, value: null, quality: 'Uncertain', ts: null });
  socket.tell({ ...frame, seq: 2, value: 21.5, quality: 'Good', ts: new Date(atMs).toISOString() });
  t.same(curve.times, [atMs / 1000]);
  t.same(curve.values, [21.5]);
  t.match(csvOf(PENS, [curve], { fromMs: atMs - MINUTE_MS, toMs: atMs }), /Z,21\.5\r\n$/);
});

interface Departures {
  readonly modules: { value: ReadonlyMap<string, object> };
  readonly keyTags: { value: ReadonlyMap<string, object> };
  tagValue(unit: string, address: string): { value: { readonly value: number | boolean | null; readonly quality: string } };
  keyTagsOf(unit: string, tags: readonly object[], modules: ReadonlyMap<string, object>): { readonly measurements: readonly object[] };
  patternsOf(keys: readonly object[]): string[];
  departuresOf(units: readonly string[], told: ReadonlySet<string>): string[];
}

t.test('a loop far from its setpoint is told with how far and on which side; one that is switched off departs from nothing', async (t) => {
  const { modules, keyTags, tagValue, keyTagsOf, patternsOf, departuresOf } = await pageModule<Departures>('data/departures.ts data/key-tags.ts data/plant.ts');
  modules.value = new Map([
    ['tic1', { name: 'tic1', unit: 'v1', deviceClass: 'controller', measuredVariable: 'Temperature', description: '', mode: 'Automatic', interlockBypass: { active: false } }],
  ]);
  const tag = (name: string, more: object) => ({
    unit: 'v1',
    controlModule: 'tic1',
    name,
    address: `tic1.${name}`,
    role: '',
    dataType: 'Float',
    accessLevel: 'readwrite',
    engUnits: 'degC',
    ...more,
  });
  const tags = [
    tag('pv', { accessLevel: 'read', engMin: '0', engMax: '90' }),
    tag('sp', { role: 'setpoint', engMin: '0', engMax: '90' }),
    tag('enable', { role: 'command', dataType: 'Boolean', engUnits: '' }),
  ];
  const keys = keyTagsOf('v1', tags, modules.value);
  t.ok(patternsOf([keys]).includes('*.enable'), 'whether it is on is told by the stream');
  keyTags.value = new Map([['v1', keys]]);
  const told = (pv: number, enable: boolean | null): string[] => {
    for (const [address, value] of Object.entries({ 'tic1.pv': pv, 'tic1.sp': 40, 'tic1.enable': enable })) tagValue('v1', address).value = { value, quality: 'Good' };
    return departuresOf(['v1'], new Set());
  };
  t.same(told(22.1, true), ['TIC1: 17.90 °C below setpoint']);
  t.same(told(60, true), ['TIC1: 20.00 °C above setpoint']);
  t.same(told(39, true), []);
  t.same(told(22.1, false), []);
  t.same(told(22.1, null), ['TIC1: 17.90 °C below setpoint'], 'nobody knows that it is off');
});

interface Limits {
  readonly definitions: { value: readonly object[] };
  limitsOf(of: object): { readonly limits: readonly Limit[]; readonly deviation: number | undefined };
  workingRange(range: object, limits: readonly Limit[]): object;
}

interface Limit {
  readonly at: number;
  readonly isHigh: boolean;
  readonly isTrip: boolean;
}

const definition = (conditionType: string, threshold: string, more: object = {}): object => ({
  sourceKind: 'ControlModule',
  sourceName: 'tic101',
  tagName: 'pv',
  armed: true,
  conditionType,
  threshold,
  ...more,
});

t.test('the limits of a value are those of its alarm definitions that are armed now', async (t) => {
  const { definitions, limitsOf } = await pageModule<Limits>('data/limits.ts data/plant.ts');
  const of = { module: 'tic101', tag: { name: 'pv' } };
  t.same(limitsOf(of), { limits: [], deviation: undefined });
  definitions.value = [
    definition('TagHigh', '95'),
    definition('TagHighHigh', '105'),
    definition('TagLow', '60', { armed: false }),
    definition('TagDeviation', '5'),
    definition('TagHigh', '3', { sourceName: 'pi101' }),
    definition('TagHigh', '4', { tagName: 'out' }),
    definition('StateEquals', ''),
  ];
  t.same(limitsOf(of), {
    limits: [
      { at: 95, isHigh: true, isTrip: false },
      { at: 105, isHigh: true, isTrip: true },
    ],
    deviation: 5,
  });
});

t.test('a bar ends a little beyond the outermost limits, and at the range of the instrument where there are none', async (t) => {
  const { workingRange } = await pageModule<Limits>('data/limits.ts data/plant.ts');
  const range = { min: 0, max: 150 };
  const [low, high] = [
    { at: 60, isHigh: false, isTrip: false },
    { at: 100, isHigh: true, isTrip: true },
  ];
  t.same(workingRange(range, []), range);
  t.same(workingRange(range, [low, high]), { min: 54, max: 106 });
  t.same(workingRange(range, [high]), { min: 0, max: 115 });
  t.same(workingRange({ min: 58, max: 150 }, [low, high]), { min: 58, max: 106 }, 'never beyond the instrument');
  t.same(workingRange(range, [{ ...high, at: -50 }]), range, 'a limit outside of it says nothing of the range');
});

interface Rate {
  floodOf(times: readonly number[], nowMs: number): { readonly sinceMs: number; readonly count: number } | undefined;
  perMinute(times: readonly number[], nowMs: number): number[];
}

t.test('ISA-18.2: a flood begins with the eleventh alarm in ten minutes, dates from the first of them, and ends below five', async (t) => {
  const { floodOf, perMinute } = await pageModule<Rate>('data/alarm-rate.ts');
  const ten = Array.from({ length: 10 }, (_each, at) => at * MINUTE_MS);
  t.same(floodOf([], 0), undefined);
  t.same(floodOf(ten, 9 * MINUTE_MS), undefined);
  const eleven = [...ten, 9 * MINUTE_MS + 1];
  t.same(floodOf(eleven, 10 * MINUTE_MS), { sinceMs: 0, count: 11 });
  t.same(floodOf(eleven, 15 * MINUTE_MS), { sinceMs: 0, count: 11 }, 'it lasts while five stand within ten minutes');
  t.same(floodOf(eleven, 18 * MINUTE_MS), undefined);
  const later = [...eleven, 60 * MINUTE_MS];
  t.same(floodOf(later, 60 * MINUTE_MS), undefined, 'one alarm an hour later begins none');
  const counts = perMinute(eleven, 10 * MINUTE_MS);
  t.equal(counts.length, 30);
  t.same(counts.slice(-3), [1, 1, 1]);
});

interface Curves {
  valueAt(curve: Curve & { readonly band: undefined }, atMs: number): { readonly value: number | null } | undefined;
}

t.test('the value at a moment is what it last was', async (t) => {
  const { valueAt } = await pageModule<Curves>('data/trend.ts');
  const curve = { times: [1, 2, 4], values: [10, null, 30], band: undefined, bucketMs: 0 };
  t.same(
    [500, 1000, 1999, 2000, 3999, 9000].map((atMs) => valueAt(curve, atMs)?.value),
    [undefined, 10, 10, null, null, 30],
  );
});

interface Axes {
  axisRange(pens: readonly object[], min: number | null, max: number | null): [number, number];
}

t.test('six pens of five units of measure: each axis shows the range its values work in, so that each curve lies where its value is and noise stays flat', async (t) => {
  const { axisRange } = await pageModule<Axes>('plant/axis-range.ts');
  const ROWS: readonly (readonly [range: { min: number; max: number }, low: number, high: number])[] = [
    [{ min: 0, max: 150 }, 79.9, 80.1],
    [{ min: 0, max: 2 }, -0.001, 0.001],
    [{ min: 0, max: 100 }, 5.2, 5.4],
    [{ min: 0, max: 6 }, 1.2, 1.22],
    [{ min: -100, max: 100 }, 99, 100],
  ];
  const places = ROWS.map(([range, low, high]) => {
    const [from, to] = axisRange([{ range }], low, high);
    t.ok((high - low) / (to - from) < 0.01, `${high - low} of ${to - from} is no more than its share of the axis`);
    return Math.round(((low + high) / 2 - from) * (10 / (to - from)));
  });
  t.same(places, [5, 0, 1, 2, 10], 'they do not lie on one another');
  t.same(axisRange([{ range: { min: 0, max: 90 } }, { range: { min: 20, max: 150 } }], 30, 40), [0, 150], 'two pens of a unit share an axis');
  t.same(axisRange([{ range: { min: 0, max: 10 } }], null, null), [0, 10], 'nothing recorded yet');
  const [low, high] = axisRange([{}], 7, 7);
  t.ok(low < 7 && high > 7, 'a flat line without a range lies in the middle');
  t.same(axisRange([{ range: { min: 0, max: 10 } }], -5, 4), [-5.2, 10], 'what leaves its range is shown');
});

t.test('a live curve has the points that the historian records, so that it looks the same when it is read again', async (t) => {
  const { stream, emptyCurve, follow } = await pageModule<Trend>('data/trend.ts data/plant.ts');
  const curve = emptyCurve(MINUTE_MS);
  stream.start();
  const socket = at(Socket.opened, Socket.opened.length - 1);
  socket.onopen?.();
  follow([{ ...PENS[0], step: 0.15 }], [curve], MINUTE_MS);
  const startMs = Date.now() - 10_000;
  const told = (seq: number, value: number, afterMs: number): void =>
    socket.tell({ type: 'tag', site: '', unit: 'r101', address: 'tic101.pv', seq, value, quality: 'Good', ts: new Date(startMs + afterMs).toISOString() });
  told(1, 20, 0);
  told(2, 20.1, 2000);
  told(3, 21, 2200);
  told(4, 22, 2400);
  told(5, 23, 3400);
  t.same(curve.values, [20, 21, 23]);
});
