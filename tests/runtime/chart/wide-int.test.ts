import t from 'tap';
import { highOf, intOf, lowOf } from '../../../runtime/chart/wide-int.js';
import { fromValue, normalInt } from '../../../runtime/chart/value.js';
import type { DataType } from '../../../runtime/vocabulary/data-types.js';
import fc from '../../support/fuzz.js';
import { Bench } from './versions.js';
import { at as elementAt } from '../../support/at.js';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const BIG = 2n ** 60n;

/** Every size, and more often what lies at a border of halves, doubles and 64 bits. */
const anInt = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc.integer({ min: -70, max: 70 }).map(BigInt),
  fc
    .tuple(fc.constantFrom(15n, 16n, 21n, 31n, 32n, 33n, 47n, 48n, 52n, 53n, 54n, 62n, 63n), fc.integer({ min: -3, max: 3 }), fc.boolean())
    .map(([bits, near, negative]) => clamp((negative ? -1n : 1n) * 2n ** bits + BigInt(near))),
  fc.integer({ min: 0, max: 62 }).chain((bits) => fc.bigInt({ min: -(2n ** BigInt(bits)), max: 2n ** BigInt(bits) })),
);

/** Divisors that become shifts. */
const aPower = fc.integer({ min: 0, max: 33 }).map((shift) => 2n ** BigInt(shift));

function clamp(value: bigint): bigint {
  return value < MIN ? MIN : value > MAX ? MAX : value;
}

const operands = (type: DataType) => [
  { name: 'a', type: 'INT' as const },
  { name: 'b', type: 'INT' as const },
  { name: 'r', type },
];
const shown = (value: bigint): number | string => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value));

function within(value: bigint): number | string {
  return value < MIN || value > MAX ? 'overflow' : shown(value);
}

const OPERATIONS: readonly (readonly [DataType, string, (a: bigint, b: bigint) => number | string | boolean])[] = [
  ['INT', 'a + b', (a, b) => within(a + b)],
  ['INT', 'a - b', (a, b) => within(a - b)],
  ['INT', 'a * b', (a, b) => within(a * b)],
  ['INT', 'a / b', (a, b) => (b === 0n ? 'division-by-zero' : within(a / b))],
  ['INT', 'a MOD b', (a, b) => (b === 0n ? 'division-by-zero' : shown(a % b))],
  ['INT', '-a', (a) => within(-a)],
  ['INT', 'ABS(a)', (a) => within(a < 0n ? -a : a)],
  ['BOOL', 'a < b', (a, b) => a < b],
  ['BOOL', 'a <= b', (a, b) => a <= b],
  ['BOOL', 'a > b', (a, b) => a > b],
  ['BOOL', 'a >= b', (a, b) => a >= b],
  ['BOOL', 'a = b', (a, b) => a === b],
  ['BOOL', 'a <> b', (a, b) => a !== b],
  ['REAL', 'a', (a) => Number(a)],
  ['STRING', "'' + a", (a) => String(a)],
];

t.test('ST-01: halves of 64 bits compute as bigint does, with variables and with literals', async () => {
  const benches = OPERATIONS.map(([type, text]) => new Bench(`r := ${text};`, operands(type)));
  const outcome = (bench: Bench, a: bigint, b: bigint): unknown => {
    bench.slots[0] = normalInt(a);
    bench.slots[1] = normalInt(b);
    return bench.go('wide') || bench.value('r');
  };
  fc.assert(
    fc.property(anInt, anInt, (a, b) => {
      for (const [at, [, text, wanted]] of OPERATIONS.entries()) {
        const got = outcome(elementAt(benches, at), a, b);
        if (got !== wanted(a, b)) throw new Error(`${text} with ${a}, ${b}: ${got}, not ${wanted(a, b)}`);
      }
    }),
    { numRuns: 20_000 },
  );
  fc.assert(
    fc.property(anInt, fc.oneof(anInt, aPower), (a, b) => {
      for (const [type, text, wanted] of OPERATIONS) {
        const bench = new Bench(`r := ${text.replace(/\bb\b/g, `(${b})`)};`, operands(type));
        const got = outcome(bench, a, b);
        if (got !== wanted(a, b)) throw new Error(`${text} with ${a} and the literal ${b}: ${got}, not ${wanted(a, b)}`);
      }
    }),
    { numRuns: 1000 },
  );
});

t.test('ST-01: a value comes back from its halves as slots hold it', async (t) => {
  fc.assert(
    fc.property(anInt, (value) => intOf(highOf(normalInt(value)), lowOf(normalInt(value))) === normalInt(value)),
    { numRuns: 5000 },
  );
  t.strictSame(fromValue('INT', String(MAX)), MAX);
  t.strictSame([fromValue('INT', String(MAX + 1n)), fromValue('INT', String(MIN - 1n))], [null, null], 'what does not fit into 64 bits is no INT');
});

t.test('ST-01: an action goes wide after a run beyond 2^53, not before, and nothing is done twice', async (t) => {
  const part = "FOR i := 1 TO 20 DO w := w + 1; WRITE('m.a', w); END_FOR;";
  const text = `${part} ack := PROMPT('go on'); ${part}`;
  const near = new Bench(text, [{ name: 'w', type: 'INT' }]);
  t.strictSame([near.go('run'), near.go('run'), near.action.versions.isWide], ['suspended', '', false]);
  const far = new Bench(text, [{ name: 'w', type: 'INT' }]);
  far.slots[0] = BIG;
  t.equal(far.action.versions.isWide, false);
  t.equal(far.go('run'), 'suspended');
  t.ok(far.action.versions.isWide, 'the run that left 2^53 is the last narrow one');
  t.equal(far.writes.length, 20);
  t.equal(far.go('run'), '');
  t.strictSame(
    far.writes,
    Array.from({ length: 40 }, (_, index) => BIG + BigInt(index + 1)),
  );
  t.strictSame([far.value('w'), far.value('i')], [String(BIG + 40n), 21]);
  far.slots[0] = 0;
  t.strictSame([far.go('run'), far.go('run'), far.value('w')], ['suspended', '', 40], 'a wide action is right with small values too');
});

t.test('ST-01: an overflow in the wide version leaves what stood before its statement', async (t) => {
  const bench = new Bench("w := w + 1; WRITE('m.a', w); w := w + 1; WRITE('m.a', w);", [{ name: 'w', type: 'INT' }]);
  bench.slots[0] = MAX - 1n;
  t.equal(bench.go('wide'), 'overflow');
  t.strictSame([bench.value('w'), bench.writes], [String(MAX), [MAX]]);
});
