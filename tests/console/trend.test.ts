/** Curves of tags as the stream tells them, and what of them departs from its setpoint. */
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
  Object.assign(globalThis, { window: timers, location: { origin: 'http://box' }, WebSocket: Socket });
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
