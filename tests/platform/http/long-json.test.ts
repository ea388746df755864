/** A long body is read as a short one is, only in slices: the same value, or the same refusal. */
import t, { type Test } from 'tap';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { parseJson } from '../../../src/platform/http/json-body.js';
import { parseLongJson } from '../../../src/platform/http/long-json.js';
import fc, { anyCharacter } from '../../support/fuzz.js';
import { TestClock } from '../../support/test-clock.js';

type Read = { readonly value: unknown } | { readonly refused: string; readonly context: unknown };

function refused(fault: unknown): Read {
  if (!(fault instanceof Refusal)) throw fault;
  return { refused: fault.message, context: fault.context };
}

const clock = new TestClock();
const LIMITS = { max: 1000, bytesMax: 1024 ** 2, namesMax: 100 };
const long = (bytes: Uint8Array): Promise<Read> => parseLongJson(bytes, clock, LIMITS).then((value) => ({ value }), refused);

function short(bytes: Uint8Array): Read {
  try {
    return { value: parseJson(bytes) };
  } catch (fault) {
    return refused(fault);
  }
}

async function same(t: Test, bytes: Uint8Array): Promise<void> {
  t.strictSame(await long(bytes), short(bytes), Buffer.from(bytes).toString('latin1').slice(0, 60));
}

const text = (words: string): Uint8Array => Buffer.from(words, 'utf8');

t.test('Q-ERR-06, Q-ERR-07: texts that are nearly an array', async (t) => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const odd = ['', '[]', '[1]', '[1,2]', '[1,]', '[,1]', '[1,,2]', '[1 , 2]', '[1,2],[3,4]', '[1,2] [3,4]', '[1,2]x', ' [1,2]', '[1,2] ', '[1}', '[{]}', '[{"a":1},{"a":2]]'];
  const texts = ['["a,b","c]d","e\\"f,g"]', '["a","b', '["\\', '["\\ud800",1]', '[{"a":"\\udc00"},{"b":2}]', '[{"__proto__":1},{"a":1}]', '[1,2}', '[[1,2],[3,4]]', '{"a":[1,2]}'];
  for (const words of [...odd, ...texts, `[${nested(63)},1]`, `[${nested(64)},1]`, `[1,${nested(200)}]`]) await same(t, text(words));
  await same(t, Buffer.from([0x5b, 0x31, 0x2c, 0x22, 0xff, 0x22, 0x5d]));
});

t.test('Q-ERR-06: arrays of anything, and what one changed byte makes of them', async (t) => {
  const json = fc.array(fc.oneof(fc.jsonValue(), fc.string({ unit: anyCharacter })), { minLength: 0, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(json, fc.boolean(), fc.nat(), fc.constantFrom(0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d, 0x20, 0x80), async (value, isSpaced, place, byte) => {
      const bytes = Buffer.from(JSON.stringify(value, null, isSpaced ? 1 : 0));
      await same(t, bytes);
      bytes[place % bytes.length] = byte;
      await same(t, bytes);
    }),
    { numRuns: 300 },
  );
});

t.test('Q-ERR-06: what a text holds makes the look at its depth a few times as long as the body, and no more', async (t) => {
  const plain = 'x'.repeat(257);
  for (const unit of ['\\n', `${plain}\\n`, `${plain}${plain}\\"`, `${plain}", "`, plain]) {
    const words = `["${unit.repeat(2000)}"]`;
    const bytes = Buffer.from(words);
    let looked = 0;
    bytes.subarray = (from = 0, to = bytes.length) => {
      looked += to - from;
      return Buffer.prototype.subarray.call(bytes, from, to);
    };
    t.same(parseJson(bytes), JSON.parse(words));
    t.ok(looked <= 3 * bytes.length, `${looked} of ${bytes.length} bytes`);
    const deep = Buffer.from(`${'['.repeat(65)}"${unit.repeat(20)}"${']'.repeat(65)}`);
    t.throws(() => parseJson(deep), /nested deeper than 64/);
    t.doesNotThrow(() => parseJson(deep.subarray(1, -1)));
  }
});

t.test('others have their turn while a long body is read', async (t) => {
  let looks = 0;
  const impatient = {
    wallMs: () => clock.wallMs(),
    after: () => () => undefined,
    monoMs: () => {
      looks += 10;
      return looks;
    },
  };
  const members = Array.from({ length: 50 }, (_, at) => ({ at, text: 'x,]}'.repeat(500) }));
  let turns = 0;
  let isDone = false;
  const read = parseLongJson(text(JSON.stringify(members)), impatient, LIMITS).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  t.strictSame(await read, members);
  t.ok(turns >= members.length, `${turns} turns`);
});

t.test('a flood of members is read no further than the schema needs to refuse it', async (t) => {
  const flood = (member: string, count: number): Uint8Array => text(`[${Array.from({ length: count }, () => member).join(',')}]`);
  const read = await long(flood('0', 2_000_000));
  t.equal((read as { readonly value: readonly unknown[] }).value.length, LIMITS.max + 1, 'one more than it takes');
  t.match(await long(flood('', 2_000_000)), { context: { code: 'payload_too_large', limitBytes: LIMITS.bytesMax } }, 'members that are none');
  t.match(await long(flood('{"a":1} ', 900)), { value: Array.from({ length: 900 }, () => ({ a: 1 })) });
});

t.test('one member is no longer than a body elsewhere, and what is no array of several neither', async (t) => {
  const large = JSON.stringify({ spec: 'x'.repeat(LIMITS.bytesMax) });
  const refusal = { context: { code: 'payload_too_large', limitBytes: LIMITS.bytesMax } };
  t.match(await long(text(`[1,${large}]`)), { refused: /^member 1 of the array has at most 1048576 bytes/, ...refusal });
  for (const body of [large, `[${large}]`, `{"a":${large}`, `[${large}`])
    t.match(await long(text(body)), { refused: /^what is no array of several, or cannot be read, has at most/, ...refusal });
  const many = `{${Array.from({ length: 101 }, (_, at) => `"k${at}":0`).join(',')}}`;
  t.match(await long(text(`[{},${many}]`)), { refused: /101 fields/ });
  const wrong = `[${JSON.stringify('y'.repeat(700_000))},${JSON.stringify('y'.repeat(700_000))},{"a":}]`;
  t.match(await long(text(wrong)), { refused: /^member 2 of the array: the body is not valid JSON/, context: { code: 'invalid_json' } });
});
