/** The sample-block codec: lossless for anything, small for what process values look like. */
import t from 'tap';
import { decodeBlock, encodeBlock, type Samples, type Scaling } from '../../../src/platform/history/block-codec.js';
import fc from '../../support/fuzz.js';
import { ByteReader } from '../../../src/platform/history/byte-buffer.js';
import { at } from '../../support/at.js';

const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);

function samplesOf(values: readonly number[], times?: readonly number[], codes?: readonly number[]): Samples {
  return {
    count: values.length,
    values: Float64Array.from(values),
    times: Float64Array.from(times ?? values.map((_, index) => T0 + index * 1000)),
    codes: Uint16Array.from(codes ?? values.map(() => 0)),
  };
}

function roundTrips(samples: Samples, scaling?: Scaling): boolean {
  const decoded = decodeBlock(encodeBlock(samples, scaling), at(samples.times, 0));
  return (
    decoded.count === samples.count &&
    samples.values.every((value, index) => Object.is(value, decoded.values[index])) &&
    samples.times.every((time, index) => time === decoded.times[index]) &&
    samples.codes.every((code, index) => code === decoded.codes[index])
  );
}

/** A repeatable noise from 0 to 1. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const value = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.integer({ min: -100_000, max: 100_000 }).map((whole) => whole / 100),
  fc.constantFrom(0, 1, -0, 0.1, 1e300, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER, 2 ** 52 + 1),
);
const row = fc.record({
  value,
  step: fc.oneof(fc.constant(1000), fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 990, max: 1010 })),
  code: fc.integer({ min: 0, max: 7 }),
});

t.test('decisions 8.9: what comes out of a block is what went in, bit for bit', async (t) => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 700 }),
      fc.option(fc.record({ offset: fc.double({ noNaN: true, min: -100, max: 100 }), slope: fc.double({ noNaN: true, min: 1e-6, max: 10 }) })),
      (rows, scaling) => {
        let at = T0;
        const times = rows.map((each) => (at += each.step));
        return roundTrips(
          samplesOf(
            rows.map((each) => each.value),
            times,
            rows.map((each) => each.code),
          ),
          scaling ?? undefined,
        );
      },
    ),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 100 }), (bits) => roundTrips(samplesOf(bits.map(Number)))),
    { numRuns: 100 },
  );
  t.pass('400 blocks');
});

t.test('performance C1: at most 2 bytes per sample for converter counts and for 2 decimals', async (t) => {
  const random = noise(7);
  const scaling: Scaling = { offset: -25, slope: 150 / 4095 };
  const wave = (index: number): number => 2048 + 1500 * Math.sin(index / 200) + (random() - 0.5) * 8;
  const counts = samplesOf(Array.from({ length: 600 }, (_, index) => scaling.offset + Math.round(wave(index)) * scaling.slope));
  const decimals = samplesOf(Array.from({ length: 600 }, (_, index) => Math.round((wave(index) / 30) * 100) / 100));
  const jittered = samplesOf(
    [...decimals.values],
    Array.from({ length: 600 }, (_, index) => T0 + index * 1000 + Math.floor(random() * 4)),
  );
  const bits = samplesOf(Array.from({ length: 600 }, (_, index) => Number(index % 50 > 25)));
  const constant = samplesOf(Array.from({ length: 600 }, () => 21.5));
  for (const [name, samples, bytesMax, by] of [
    ['12-bit converter', counts, 2, scaling],
    ['2 decimals', decimals, 2, undefined],
    ['2 decimals with 3 ms of jitter', jittered, 2.6, undefined],
    ['boolean', bits, 0.2, undefined],
    ['constant', constant, 0.1, undefined],
  ] as const) {
    const bytes = encodeBlock(samples, by).length / samples.count;
    t.ok(bytes <= bytesMax, `${name}: ${bytes.toFixed(2)} bytes per sample`);
    t.ok(roundTrips(samples, by), name);
  }
});

t.test('a block that was cut short is read no further', async (t) => {
  t.throws(() => new ByteReader(Uint8Array.of(0x80, 0xff)).varint(), /damaged/, 'a number without an end');
  t.throws(() => new ByteReader(Uint8Array.of(0xff)).signed(), /damaged/);
  t.throws(() => new ByteReader(new Uint8Array()).signed(), /damaged/);
  t.throws(() => new ByteReader(new Uint8Array()).byte(), /damaged/);
});

t.test('a run that is longer than its block is damage, not work without an end', async (t) => {
  const endless = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
  const [head, times, codes] = [
    [1, 3],
    [0, 20, 2],
    [0, 3],
  ];
  t.same(decodeBlock(Uint8Array.from([...head, ...times, ...codes, 0, 0, 2, 0, 1]), 0).values, Float64Array.of(1, 1, 1), 'as it should be');
  t.throws(() => decodeBlock(Uint8Array.from([...head, 0, 20, ...endless]), 0), /damaged/, 'of times');
  t.throws(() => decodeBlock(Uint8Array.from([...head, ...times, 0, ...endless]), 0), /damaged/, 'of codes');
  t.throws(() => decodeBlock(Uint8Array.from([...head, ...times, ...codes, 0, 0, 2, 0, ...endless]), 0), /damaged/, 'of values');
});
