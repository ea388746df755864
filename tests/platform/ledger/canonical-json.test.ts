/** RFC 8785: the vectors of the RFC (section 3.2.3, appendix B) and what it asks of objects. */
import t from 'tap';
import { canonicalDigest, canonicalJson } from '../../../src/platform/ledger/canonical-json.js';
import fc from '../../support/fuzz.js';

/** Appendix B: IEEE 754 bits and their text. */
const NUMBERS: readonly (readonly [string, string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

t.test('8.6: numbers are written as RFC 8785, appendix B, writes them', async (t) => {
  for (const [bits, text] of NUMBERS) {
    const value = Buffer.from(bits, 'hex').readDoubleBE();
    t.equal(canonicalJson(value), text, bits);
  }
  t.throws(() => canonicalJson(Number.NaN), TypeError);
  t.throws(() => canonicalJson({ a: Number.POSITIVE_INFINITY }), TypeError);
});

t.test('8.6: the sample object of RFC 8785, section 3.2.3', async (t) => {
  const input = JSON.parse(
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  ) as unknown;
  t.equal(canonicalJson(input), '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}');
});

t.test('8.6: members are sorted by UTF-16 code units, at every depth', async (t) => {
  const members = { '\u20ac': 'Euro Sign', '\r': 'Carriage Return', '\ufb33': 'Hebrew', '1': 'One', '\u{1f600}': 'Emoji', '\u0080': 'Control', '\u00f6': 'Latin' };
  t.equal(canonicalJson(members), '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin","\u20ac":"Euro Sign","\u{1f600}":"Emoji","\ufb33":"Hebrew"}');
  t.equal(canonicalJson({ b: [{ d: 1, c: undefined, a: 2 }], a: {} }), '{"a":{},"b":[{"a":2,"d":1}]}');
  t.equal(canonicalDigest({}), '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
});

t.test('8.6: canonical text reads back as the same value and does not depend on the order of members', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      return JSON.stringify(JSON.parse(text)) !== undefined && canonicalJson(JSON.parse(text)) === text && canonicalJson(reversed(value)) === text;
    }),
    { numRuns: 300 },
  );
  t.pass('300 values');
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
