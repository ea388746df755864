/** Which values become samples (decisions 8.9), on a clock the test owns. */
import t from 'tap';
import type { Clock } from '../../../src/platform/base/clock.js';
import { type SampledTag, Sampler, type SampleSource } from '../../../src/platform/history/sampler.js';
import type { Gap } from '../../../src/platform/history/words.js';

const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);

class Bench implements SampleSource, Clock {
  readonly site = 'north';
  readonly unit = 'u1';
  readonly tags: readonly SampledTag[];
  readonly taken: [number, number | null, number][] = [];
  readonly gaps: Gap[] = [];
  readonly texts: string[] = [];
  readonly sampler: Sampler;
  current: number | boolean | string | null = 50;
  quality = 0;
  full = false;
  wall = T0;
  mono = 5000;
  refreshes = 0;

  constructor(tag: Partial<SampledTag> = {}) {
    this.tags = [{ site: 'north', unit: 'u1', address: 'a.pv', tag: 'pv', dataType: 'Float', range: 100, ...tag }];
    this.sampler = new Sampler(
      {
        tag: () => 1,
        push: (_id, quality, atMs, value) => {
          if (this.full) return false;
          this.taken.push([atMs - T0, value, quality]);
          return true;
        },
        text: (text) => this.texts.push(text),
        renumberTexts: () => void this.texts.push('(renumbered)'),
        recordGap: (gap) => void this.gaps.push(gap),
      },
      this,
      1000,
    );
    this.sampler.place(this);
  }

  wallMs = (): number => this.wall;
  monoMs = (): number => this.mono;
  after = () => () => undefined;
  refresh = (): boolean => (this.refreshes += 1) > 0;
  reading = () => ({ value: this.current, quality: this.quality, atMs: 0 });

  /** Looks every 200 ms for a while; a value given is there from the first look on. */
  run(ms: number, value: number | boolean | string | null = this.current): void {
    this.current = value;
    for (let passed = 0; passed < ms; passed += 200) {
      this.sampler.pass();
      this.wall += 200;
      this.mono += 200;
    }
  }
}

t.test('8.9: a change by more than 0.1 % of the range is recorded, a smaller one is not', async (t) => {
  const bench = new Bench();
  bench.run(2000);
  bench.run(2000, 50.1);
  bench.run(2000, 50.11);
  bench.run(2000, 50.05);
  t.same(
    bench.taken.map(([at, value]) => [at, value]),
    [
      [0, 50],
      [4000, 50.11],
    ],
  );
  t.ok(bench.refreshes > 10);
});

t.test('8.9: without a range any change is recorded', async (t) => {
  const bench = new Bench({ range: 0 });
  bench.run(2000);
  bench.run(2000, 50.000001);
  t.equal(bench.taken.length, 2);
});

t.test('8.9: at most every minInterval; the value that stayed is recorded when the interval is over', async (t) => {
  const bench = new Bench();
  bench.run(400);
  bench.run(200, 60);
  bench.run(200, 70);
  bench.run(2000, 80);
  t.same(
    bench.taken.map(([at, value]) => [at, value]),
    [
      [0, 50],
      [1000, 80],
    ],
  );
});

t.test('8.9: at least every 60 s', async (t) => {
  const bench = new Bench();
  bench.run(180_000);
  t.same(
    bench.taken.map(([at]) => at),
    [0, 60_000, 120_000],
  );
});

t.test('8.9: a change of quality is a change, and so is the loss of the value', async (t) => {
  const bench = new Bench();
  bench.run(2000);
  bench.quality = 3;
  bench.run(2000);
  bench.run(2000, Number.NaN);
  t.same(bench.taken, [
    [0, 50, 0],
    [2000, 50, 3],
    [4000, null, 3],
  ]);
});

t.test('8.9: booleans and texts are samples, too', async (t) => {
  const flag = new Bench({ dataType: 'Boolean', range: 0 });
  flag.run(2000, true);
  flag.run(2000, false);
  t.same(
    flag.taken.map(([, value]) => value),
    [1, 0],
  );
  const text = new Bench({ dataType: 'String', range: 0 });
  text.run(1000, 'filling');
  t.equal(text.texts[0], 'filling');
});

t.test('8.9: a sample the ring did not take is offered again', async (t) => {
  const bench = new Bench();
  bench.full = true;
  bench.run(1000);
  bench.full = false;
  bench.run(1000);
  t.same(bench.taken, [[1000, 50, 0]]);
});

t.test('8.9, G5: a jump of the wall clock is a declared gap and changes no interval', async (t) => {
  const bench = new Bench();
  bench.run(2000);
  bench.wall += 3_600_000;
  bench.run(20_000);
  bench.wall -= 7_200_000;
  bench.run(60_000);
  t.same(bench.taken.length, 2, 'one at the start, one after 60 s of monotonic time');
  t.match(bench.gaps, [
    { unit: 'u1', cause: 'ClockJump', bounds: 'Exact', fromMs: T0 + 1800 },
    { unit: 'u1', cause: 'ClockJump', bounds: 'Overlapping' },
  ]);
  t.ok(bench.gaps.every((gap) => gap.fromMs < gap.toMs));
  t.same(bench.texts, ['(renumbered)', '(renumbered)'], 'a text is dated when it gets its number, and forgotten with the samples of that time');
});

t.test('8.9: a time in which nobody looked is a declared gap as long as it was, and a value that stayed is recorded after it', async (t) => {
  const bench = new Bench();
  bench.run(20_000);
  bench.wall += 5000;
  bench.mono += 5000;
  bench.run(2000);
  t.same(bench.gaps, [{ site: 'north', unit: 'u1', address: '', fromMs: T0 + 19_800, toMs: T0 + 25_000, cause: 'Overload', bounds: 'Exact' }]);
  t.same(
    bench.taken.map(([at]) => at),
    [0, 25_200],
    'and not by the pass that was late: what it finds may be of before',
  );
  bench.wall += 2000;
  bench.mono += 2000;
  bench.run(2000);
  t.equal(bench.gaps.length, 1, 'a pass that a busy machine delays leaves nothing out');
});

t.test('8.9: a new plan of the unit keeps what is known of a tag; a removed unit is not sampled', async (t) => {
  const bench = new Bench();
  bench.run(2000);
  bench.sampler.place(bench);
  bench.run(2000);
  t.equal(bench.taken.length, 1);
  bench.sampler.remove('north', 'u1');
  bench.run(100_000);
  t.equal(bench.taken.length, 1);
});
