/** Keys of the MES over the years: replaced with an overlap, given a longer life in place, and when each was used last (ADR 0119). */
import t from 'tap';
import { type GatewayTest, startGatewayTest } from '../../support/gateway.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KEYS = '/api/v1/mes/apikeys';

/** What the fence says tells that the key was known; a key that is not answers 401. */
const opens = async (test: GatewayTest, key: string): Promise<boolean> => (await test.request('GET', '/api/v1/auth/me', { key })).body.code === 'api_key_fence';

t.test('KEY-02: a key is replaced with an overlap in which both open the same; each tells when it was used', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const old = (await admin.post(KEYS, { name: 'erp', site: 'north' })).body.key as string;
  t.ok(await opens(test, old));
  test.clock.advance(MINUTE);
  const rotated = await admin.post(`${KEYS}/erp/rotate`, { overlap: '2h' });
  t.match(rotated, {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: { name: 'erp', key: /^lsk_[\w-]{43}$/, lastUsedAt: null, previous: { keyPrefix: old.slice(0, 12) } },
  });
  t.equal(rotated.body.previous.validUntil, new Date(test.clock.wallMs() + 2 * HOUR).toISOString());
  const { key } = rotated.body;
  t.ok((await opens(test, old)) && (await opens(test, key)), 'the program may be given the new one at any time');
  const usedAt = new Date(test.clock.wallMs()).toISOString();
  t.match((await admin.get(`${KEYS}/erp`)).body, { lastUsedAt: usedAt, previous: { lastUsedAt: usedAt } });
  t.match(
    await admin.post(`${KEYS}/erp/rotate`),
    { status: 409, body: { code: 'rotation_open', validUntil: rotated.body.previous.validUntil } },
    'a third would leave the first without a word',
  );
  test.clock.jump(-24 * HOUR);
  test.clock.advance(2 * HOUR);
  t.notOk(await opens(test, old), 'a clock that was set back prolongs nothing (D-C-07)');
  t.match((await test.request('GET', '/api/v1/auth/me', { key: old })).body, { status: 401, code: 'token_expired', error: /replaced/ });
  t.ok(await opens(test, key));
  t.match((await admin.get(`${KEYS}/erp`)).body, { previous: null });
  t.notMatch(JSON.stringify(test.audits), new RegExp(`${key}|${old}`), 'no key is in the audit trail');
  const told = test.audits.find(({ action, target }) => action === 'Update' && target.name === 'erp');
  t.match(told, { result: 'Success', before: { keyPrefix: old.slice(0, 12) }, after: { keyPrefix: key.slice(0, 12) } });
});

t.test('an overlap is ended by hand, is none at 0s, and every key of a name ends with it', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const first = (await admin.post(KEYS, { name: 'erp', site: 'north' })).body.key as string;
  t.match(await admin.delete(`${KEYS}/erp/previous`), { status: 409, body: { code: 'no_rotation_open' } });
  const second = (await admin.post(`${KEYS}/erp/rotate`)).body.key as string;
  t.equal((await admin.delete(`${KEYS}/erp/previous`)).status, 204);
  t.same([await opens(test, first), await opens(test, second)], [false, true]);
  const third = (await admin.post(`${KEYS}/erp/rotate`, { overlap: '0s' })).body.key as string;
  t.same([await opens(test, second), await opens(test, third)], [false, true]);
  const fourth = (await admin.post(`${KEYS}/erp/rotate`, { overlap: '30d' })).body.key as string;
  t.equal((await admin.delete(`${KEYS}/erp`)).status, 204);
  t.same([await opens(test, third), await opens(test, fourth)], [false, false]);
  for (const body of [{ overlap: '31d' }, { overlap: 'a while' }, { expiresAt: 'tomorrow' }]) {
    await admin.post(KEYS, { name: 'other', site: 'north' });
    t.match(await admin.post(`${KEYS}/other/rotate`, body), { status: 400, body: { code: 'invalid_field', field: Object.keys(body)[0] } });
  }
  t.match((await admin.get(`${KEYS}/other`)).body, { previous: null }, 'what was refused has changed nothing');
});

t.test('two that rotate at once: one key comes of it, the other one is told', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const old = (await admin.post(KEYS, { name: 'erp', site: 'north' })).body.key as string;
  const answers = await Promise.all([admin.post(`${KEYS}/erp/rotate`), admin.post(`${KEYS}/erp/rotate`)]);
  t.same(answers.map(({ status }) => status).sort(), [200, 409]);
  const key = answers.find(({ status }) => status === 200)?.body.key as string;
  t.ok((await opens(test, key)) && (await opens(test, old)));
});

t.test('the expiry of a key is changed in place, without a moment in which it is refused', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const soon = new Date(test.clock.wallMs() + 5 * MINUTE).toISOString();
  const { key } = (await admin.post(KEYS, { name: 'erp', site: 'north', expiresAt: soon })).body;
  const read = await admin.get(`${KEYS}/erp`);
  const later = new Date(test.clock.wallMs() + 15 * MINUTE).toISOString();
  t.match(await admin.put(`${KEYS}/erp`, { ...read.body, expiresAt: later }), { status: 200, body: { expiresAt: later, keyPrefix: key.slice(0, 12) } }, 'D-C-05: as it was read');
  t.match(await admin.put(`${KEYS}/erp`, { expiresAt: null }, { headers: { 'if-match': String(read.headers.etag) } }), { status: 412 });
  t.match(await admin.put(`${KEYS}/erp`, { site: 'south' }), { status: 400, body: { code: 'read_only_field', field: 'site' } });
  test.clock.advance(10 * MINUTE);
  t.ok(await opens(test, key));
  t.match(await admin.put(`${KEYS}/erp`, { expiresAt: null }), { status: 200, body: { expiresAt: null } });
  test.clock.advance(24 * HOUR);
  t.ok(await opens(test, key));
});

t.test('a key that has expired is not revived by its rotation, and one that will ends at its time', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const inMinutes = (minutes: number): string => new Date(test.clock.wallMs() + minutes * MINUTE).toISOString();
  const first = (await admin.post(KEYS, { name: 'erp', site: 'north', expiresAt: inMinutes(5) })).body.key as string;
  test.clock.advance(6 * MINUTE);
  t.notOk(await opens(test, first));
  const rotated = await admin.post(`${KEYS}/erp/rotate`, { expiresAt: inMinutes(4) });
  t.match(rotated, { status: 200, body: { previous: null } }, 'nothing of it is left to overlap with');
  const second = rotated.body.key as string;
  t.same([await opens(test, first), await opens(test, second)], [false, true]);
  const again = await admin.post(`${KEYS}/erp/rotate`, { expiresAt: null });
  t.match(again, { status: 200, body: { previous: { validUntil: inMinutes(4) } } });
  t.ok(await opens(test, second));
  test.clock.advance(4 * MINUTE);
  t.same([await opens(test, second), await opens(test, again.body.key as string)], [false, true]);
});

t.test('D-C-07: after a start that cannot tell how long the box was away an overlap is over, and the new key goes on', async (t) => {
  const before = await startGatewayTest();
  const admin = await before.as('admin');
  const old = (await admin.post(KEYS, { name: 'erp', site: 'north' })).body.key as string;
  const { key } = (await admin.post(`${KEYS}/erp/rotate`)).body;
  t.same([await opens(before, old), await opens(before, key)], [true, true]);
  const after = await before.restart();
  t.teardown(() => after.stop());
  t.same([await opens(after, old), await opens(after, key)], [false, true]);
});
