/** Curves of tags as the stream tells them. */
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
