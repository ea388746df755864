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
const long = (bytes: Uint8Array): Promise<Read> => parseLongJson(bytes, clock).then((value) => ({ value }), refused);

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
  const read = parseLongJson(text(JSON.stringify(members)), impatient).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  t.strictSame(await read, members);
  t.ok(turns >= members.length, `${turns} turns`);
});
