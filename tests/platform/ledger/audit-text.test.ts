/** The text of an audit record as it is written once, and the MAC over its hash, against their definitions. */
import { createHmac, randomBytes } from 'node:crypto';
import t from 'tap';
import { auditText } from '../../../src/platform/ledger/audit-text.js';
import { canonicalJson } from '../../../src/platform/ledger/canonical-json.js';
import { macOf, ShortMac } from '../../../src/platform/ledger/chain.js';
import type { UnchainedAudit } from '../../../src/platform/store/audit-record.js';
import fc, { anyCharacter } from '../../support/fuzz.js';
import { auditDraft } from '../../support/ledger-data.js';

const PREVIOUS = 'a'.repeat(64);

/** Decisions 8.6 by the letter: RFC 8785 over what JSON says of the record. */
function defined(record: UnchainedAudit): string {
  return canonicalJson(JSON.parse(JSON.stringify({ ...record, previousHash: PREVIOUS })));
}

function written(record: UnchainedAudit): string {
  const { head, tail } = auditText(record);
  return head + PREVIOUS + tail;
}

t.test('8.6: the text around previousHash is the canonical record, whatever its members hold', async (t) => {
  const text = fc.string({ unit: anyCharacter });
  const json = fc.jsonValue();
  const object = fc.dictionary(text, json);
  const members = fc.record(
    {
      site: text,
      accountId: text,
      displayName: text,
      component: text,
      sourceIP: text,
      category: text,
      target: fc.record({ kind: text, name: text, site: text }),
      reason: text,
      operatorReason: text,
      rule: text,
      before: json,
      after: json,
      details: object,
      signature: object,
      correlationID: text,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(members, fc.integer({ min: 1, max: 2 ** 40 }), (more, sequence) => {
      const record = auditDraft(sequence, more as Partial<UnchainedAudit>);
      return written(record) === defined(record);
    }),
    { numRuns: 500 },
  );
  t.pass('500 records');
});

t.test('8.6: what JSON has no word for is written as JSON.stringify does', async (t) => {
  const odd = { nan: Number.NaN, at: new Date(0), gone: undefined, call: () => 1, map: new Map([[1, 2]]), list: [undefined, Number.POSITIVE_INFINITY], zero: -0 };
  for (const after of [odd, Number.NaN, new Date(0), [odd], { deep: { odd } }, null, Object.create(null) as unknown]) {
    const record = auditDraft(1, { after });
    t.equal(written(record), defined(record));
  }
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  t.throws(() => auditText(auditDraft(1, { after: loop })));
  t.throws(() => auditText(auditDraft(1, { after: 1n })), TypeError);
});

t.test('8.6: the MAC of one key over one message after the other is HMAC-SHA256', async (t) => {
  for (const bytes of [0, 32, 64]) {
    const key = randomBytes(bytes);
    const mac = new ShortMac(key);
    for (let round = 0; round < 20; round += 1) {
      const hash = randomBytes(32);
      t.same(mac.ofHash(hash.toString('hex')), createHmac('sha256', key).update(hash).digest());
      t.same(mac.ofHash(hash.toString('hex')), macOf(hash, key));
      const text = hash
        .toString('base64')
        .repeat(5)
        .slice(round * 3);
      t.equal(mac.ofText(text), createHmac('sha256', key).update(text).digest('base64'));
    }
  }
  t.throws(() => new ShortMac(randomBytes(65)), /longer key/);
  t.throws(() => new ShortMac(randomBytes(32)).ofText('x'.repeat(300)), /longer than/);
});
