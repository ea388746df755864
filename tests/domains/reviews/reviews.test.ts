/** Periodic reviews of the audit trail and of the access of users (ADR 0131; 21 CFR 11.10(e), EU Annex 11, 9 and 12). */
import type { Test } from 'tap';
import t from 'tap';
import { Account, ApiKey, Panel } from '../../../src/domains/access/kind.js';
import { Site } from '../../../src/domains/plant/kind.js';
import { joinReviews } from '../../../src/domains/reviews/join.js';
import { PeriodicReview, type ReviewResource } from '../../../src/domains/reviews/kind.js';
import { reviewEvidence } from '../../../src/domains/reviews/verify.js';
import { canonicalDigest } from '../../../src/platform/ledger/canonical-json.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startGatewayTest } from '../../support/gateway.js';
import { ownFolder } from '../../support/own-folder.js';
import { TestClock } from '../../support/test-clock.js';

const DAY = 86_400_000;
const FOUND = { outcome: 'Accepted', remarks: 'nothing that was not asked for' };

async function start(t: Test, dataDir = ownFolder(t), clock = new TestClock()) {
  const keys = { ...openDeviceKeys(dataDir), algorithm: 'Ed25519', authMode: 'local' } as const;
  const settings = { trailReviewIntervalMs: 30 * DAY, accessReviewIntervalMs: 90 * DAY };
  let troubles: ReturnType<typeof joinReviews>['troubles'] | undefined;
  let queries: ReturnType<typeof openQueries> | undefined;
  const test = await startGatewayTest({
    dataDir,
    clock,
    routes: ({ store, access }) => {
      queries = openQueries(dataDir, () => store.recorded);
      const joined = joinReviews({ store, clock, keys, queries, settings, rightsOf: (groups) => access.roles.rightsOf(groups) });
      ({ troubles } = joined);
      return joined.routes;
    },
  });
  t.teardown(() => queries?.close());
  t.teardown(() => test.stop());
  if (!queries || !troubles) throw new Error('the gateway asks for its routes');
  return { test, keys, queries, overdue: troubles.review, clock };
}

t.test('ADR 0131: the review of the trail names its time, what was looked at and what the chain said, and is signed', async (t) => {
  const { test, clock, queries, keys, overdue } = await start(t);
  const supervisor = await test.as('supervisor');
  const now = new Date(clock.wallMs()).toISOString();
  const from = new Date(clock.wallMs() - 30 * DAY).toISOString();
  clock.advance(1000);
  const body = { from, to: now, ...FOUND };
  const post = (sent: object, client = supervisor) => client.post('/api/v1/reviews/audit-trail', sent);
  t.match(overdue()?.message, /audit trail was never done; .*access of users was never done/);
  t.match(await post(body, await test.as('viewer')), { status: 403 });
  t.match(await post(body, await test.as('supervisor', 'site-north')), { status: 403, body: { code: 'site_scope' } }, 'the whole is reviewed by who sees all of it');
  t.match(await post({ ...body, remarks: ' ' }), { status: 400, body: { field: 'remarks' } });
  t.match(await post({ ...body, to: from, from: now }), { status: 400, body: { field: 'to' } });
  t.match(await post({ ...body, to: '2031-01-01T00:00:00Z' }), { status: 400, body: { field: 'to' } });
  t.match(await post({ ...body, site: 'nowhere' }), { status: 400, body: { code: 'unknown_reference', field: 'site' } });
  const answer = await post({ ...body, to: new Date(clock.wallMs()).toISOString() });
  t.match(answer, {
    status: 201,
    body: {
      type: 'audit-trail',
      outcome: 'Accepted',
      meaning: 'audit-trail-review',
      trail: { site: '', from, chainOk: true, headHash: /^[0-9a-f]{64}$/ },
      words: /^review of the audit trail of .* from .* to .* \(\d+ records, the chain holds\): \w+; audit-trail-review, signed by /,
    },
  });
  t.ok(answer.body.trail.records > 0);
  t.equal(answer.headers.location, `/api/v1/reviews/${answer.body.id}`);
  t.match(test.audits.at(-1), { action: 'Sign', category: 'review', target: { kind: 'PeriodicReview', name: answer.body.id }, signature: { meaning: 'audit-trail-review' } });
  t.match((await supervisor.get(`/api/v1/reviews/${answer.body.id}`)).body, { valid: true, problems: [], list: null });
  t.match((await supervisor.get('/api/v1/reviews?type=audit-trail')).body.items, [{ id: answer.body.id }]);
  t.same((await supervisor.get('/api/v1/reviews?type=user-access')).body.items, []);
  t.match((await reviewEvidence({ store: test.store, queries, keys })).problems, []);
  clock.advance(300_001);
  t.match(await post(body), { status: 401, body: { code: 'reauthentication_required' } });
});

t.test('ADR 0131: a review counts that begins at the first record, or where those before have ended; a gap is told, and what is long past ends no reminder', async (t) => {
  const { test, clock, overdue } = await start(t);
  let supervisor = await test.as('supervisor');
  const SECOND = 1000;
  const begin = clock.wallMs();
  const at = (ms: number) => new Date(ms).toISOString();
  const review = async (from: number, to: number, site?: string) => {
    const answer = await supervisor.post('/api/v1/reviews/audit-trail', { from: at(from), to: at(to), ...FOUND, ...(site ? { site } : {}) });
    t.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const due = async () => (await supervisor.get('/api/v1/review-dates')).body.items[0];
  clock.advance(SECOND);
  await review(0, 1);
  t.match(await due(), { overdue: true, reviewedTo: at(1), gap: false });
  clock.advance(SECOND);
  const minute = await review(begin + SECOND, begin + 2 * SECOND);
  t.match(await due(), { overdue: true, last: '', gap: true }, 'a review of one second is none of the whole interval');
  t.match(overdue()?.message, /audit trail was never done, nothing was reviewed from 1970\S* on/);
  await review(0, begin + SECOND);
  t.match(await due(), { overdue: false, last: minute.id, reviewedTo: at(begin + 2 * SECOND), gap: false }, 'what was missing before it has come');
  clock.advance(SECOND);
  await review(0, 1);
  clock.advance(SECOND);
  await review(begin + 3 * SECOND, begin + 4 * SECOND);
  t.match(await due(), { overdue: false, last: minute.id, reviewedTo: at(begin + 2 * SECOND), gap: true });
  clock.advance(30 * DAY);
  supervisor = await test.as('admin'); // his session of a month ago is over
  t.match(overdue()?.message, new RegExp(`audit trail was due .*, nothing was reviewed from ${at(begin + 2 * SECOND)} on`));
  await review(0, begin + 4 * SECOND);
  t.match(await due(), { overdue: true, gap: false }, 'its time was over for longer than the interval');
  const { id } = await review(0, begin + 4 * SECOND + 1);
  t.match(await due(), { overdue: false, last: id });
  await test.store.write({ puts: [{ kind: Site, site: '', name: 'north', spec: { displayName: 'North' } } as Put] });
  t.match(await due(), { site: 'north', overdue: false, last: id }, 'a review of the whole box counts for each site');
  t.match(await review(begin, clock.wallMs(), 'north'), { trail: { fromBegin: true }, words: /site north .* records of all sites, the chain holds/ });
  clock.jump(-90 * DAY);
  t.match(await due(), { overdue: false });
});

t.test('ADR 0131: the review of the access keeps the list as it was, and is refused for another one', async (t) => {
  const { test } = await start(t);
  const admin = await test.as('admin');
  const { users, apiKeys, panels, digest } = (await admin.get('/api/v1/reviews/user-access/list')).body;
  t.equal(digest, canonicalDigest({ users, apiKeys, panels }));
  t.match(users, [{ displayName: admin.username, origin: 'local', enabled: true, tiers: /admin/, sites: null }]);
  const late = await test.as('operator', 'site-north');
  t.match(await admin.post('/api/v1/reviews/user-access', { digest, ...FOUND }), { status: 409, body: { code: 'shown_digest_differs', shown: digest } });
  await programs(test);
  const again = (await admin.get('/api/v1/reviews/user-access/list')).body;
  t.match(again.apiKeys, [{ name: 'mes', site: 'north', keyPrefix: 'lsk_12345678', expiresAt: '2027-01-01T00:00:00.000Z', test: false, lastUsedAt: null }]);
  t.match(again.panels, [{ name: 'hall-1', site: 'north', enrolledBy: 'anna', lastContactAt: null }]);
  await test.store.write({ puts: [{ kind: ApiKey, site: '', name: 'mes', status: { lastUsedAtMs: Date.UTC(2026, 0, 30) } } as Put] });
  const used = (await admin.get('/api/v1/reviews/user-access/list')).body;
  t.match(used, { digest: again.digest, apiKeys: [{ lastUsedAt: '2026-01-30T00:00:00.000Z' }] }, 'use changes no list');
  const answer = await admin.post('/api/v1/reviews/user-access', { digest: again.digest, ...FOUND, outcome: 'Findings' });
  t.match(answer, {
    status: 201,
    body: { type: 'user-access', outcome: 'Findings', access: { users: 2, apiKeys: 1, panels: 1, digest: again.digest }, meaning: 'user-access-review' },
  });
  const account = test.store.get(Account, '', late.username.toLowerCase());
  await test.store.write({ puts: [{ kind: Account, site: '', name: late.username.toLowerCase(), spec: { ...account?.spec, groups: [] } } as Put] });
  t.match(
    (await admin.get(`/api/v1/reviews/${answer.body.id}`)).body,
    { valid: true, list: { users: again.users, apiKeys: [{ name: 'mes' }], panels: [{ name: 'hall-1' }] } },
    'as it was, whatever has changed since',
  );
  t.match((await (await test.as('supervisor')).get(`/api/v1/reviews/${answer.body.id}`)).body, { list: null }, 'not for who may not list accounts');
});

t.test('ADR 0131: a review is overdue after its time, whatever the wall clock does', async (t) => {
  const dataDir = ownFolder(t);
  const clock = new TestClock();
  const { test, overdue } = await start(t, dataDir, clock);
  const admin = await test.as('admin');
  const review = async (client = admin) => {
    const { digest } = (await client.get('/api/v1/reviews/user-access/list')).body;
    t.equal((await client.post('/api/v1/reviews/user-access', { digest, ...FOUND })).status, 201);
    const to = new Date(clock.wallMs()).toISOString();
    t.equal((await client.post('/api/v1/reviews/audit-trail', { from: '2020-01-01T00:00:00Z', to, ...FOUND })).status, 201);
  };
  await review();
  t.equal(overdue(), undefined);
  t.match((await admin.get('/api/v1/review-dates')).body.items, [
    { type: 'audit-trail', overdue: false, dueAt: '2026-03-02T09:00:00.000Z' },
    { type: 'user-access', overdue: false },
  ]);
  clock.jump(400 * DAY);
  t.equal(overdue(), undefined, 'a clock that was set forth makes none due');
  clock.jump(-800 * DAY);
  clock.advance(30 * DAY - 1);
  t.equal(overdue(), undefined);
  clock.advance(1);
  t.match(overdue(), { severity: 'Medium', message: /^the periodic review of the audit trail was due at .*POST/ });
  clock.advance(60 * DAY);
  t.match(overdue()?.message, /audit trail was due .*access of users was due/);
});

t.test('D-C-10: whatever of a stored review is changed, reading it and all evidence says so', async (t) => {
  const { test, queries, keys } = await start(t);
  const admin = await test.as('admin');
  await programs(test);
  const { digest } = (await admin.get('/api/v1/reviews/user-access/list')).body;
  const { id } = (await admin.post('/api/v1/reviews/user-access', { digest, ...FOUND })).body;
  const stored = test.store.get(PeriodicReview, '', id) as ReviewResource;
  let count = 0;
  for (const [what, spec] of edits(stored.spec)) {
    await test.store.write({ puts: [{ kind: PeriodicReview, site: '', name: id, spec } as Put] });
    t.match((await admin.get(`/api/v1/reviews/${id}`)).body, { valid: false }, what);
    t.ok((await reviewEvidence({ store: test.store, queries, keys })).problems.length > 0, `${what}: the verification of all evidence`);
    count += 1;
  }
  t.ok(count > 30, `${count} fields`);
  await test.store.write({ puts: [{ kind: PeriodicReview, site: '', name: id, spec: stored.spec } as Put] });
  t.match((await admin.get(`/api/v1/reviews/${id}`)).body, { valid: true });
  await test.store.write({ removes: [{ kind: PeriodicReview.kind, site: '', name: id }] });
  t.match((await reviewEvidence({ store: test.store, queries, keys })).problems, [{ part: 'reviews', name: id }]);
});

async function programs({ store }: Awaited<ReturnType<typeof startGatewayTest>>): Promise<void> {
  const key = { site: 'north', hash: '0'.repeat(64), keyPrefix: 'lsk_12345678', createdBy: 'anna', expiresAtMs: Date.UTC(2027, 0, 1) };
  const publicKey = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
  const panel = { accountId: 'p', displayName: 'Hall 1', site: 'north', keyID: 'k', publicKey, enrolledBy: 'anna', enrolledFrom: '::1' };
  await store.write({ puts: [{ kind: ApiKey, site: '', name: 'mes', spec: key } as Put, { kind: Panel, site: '', name: 'hall-1', spec: panel } as Put] });
}

function edits(spec: unknown, path = 'spec', put = (changed: unknown): unknown => changed): [string, unknown][] {
  if (typeof spec === 'object' && spec !== null) {
    const members: [string, unknown][] = Object.entries(spec);
    if (members.length > 0)
      return members.flatMap(([member, inner]) =>
        edits(inner, `${path}.${member}`, (changed) =>
          put(Array.isArray(spec) ? spec.map((each: unknown, at) => (String(at) === member ? changed : each)) : { ...spec, [member]: changed }),
        ),
      );
  }
  const other = Array.isArray(spec) ? ['more'] : typeof spec === 'number' ? spec + 1 : typeof spec === 'boolean' ? !spec : spec === null ? ['north'] : `${String(spec)}x`;
  const isWord = path.endsWith('.type') || path.endsWith('.outcome') || path.endsWith('.algorithm') || path.endsWith('.origin');
  return isWord ? [[path, put(wordBeside(String(spec)))]] : [[path, put(other)]];
}

/** Another word of the same list: what is no word of it would not be read at all. */
function wordBeside(word: string): string {
  const pairs: Readonly<Record<string, string>> = {
    'user-access': 'audit-trail',
    Accepted: 'Findings',
    Ed25519: 'HMAC-SHA256',
    local: 'oidc',
  };
  return pairs[word] ?? word;
}
