/** Panels by their protocol (D-C-18): who is let in, what a panel may, and what ends it. The page is tested in tests/console/panel. */
import t from 'tap';
import { Panel } from '../../../src/domains/access/kind.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { type Answer, clientOf, type GatewayTest, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { type PanelKey, panelKey } from '../../support/panel-key.js';

const MINUTE = 60_000;
const PANELS = '/api/v1/auth/panels';
const OWN = '/api/v1/auth/panel';

const showCode = (test: GatewayTest, key: PanelKey): Promise<Answer> => test.request('POST', `${OWN}/code`, { body: { publicKey: key.publicKey } });
const challengeOf = async (test: GatewayTest, { keyID }: PanelKey): Promise<string> => (await test.request('POST', `${OWN}/challenge`, { body: { keyID } })).body.challenge;
const prove = (test: GatewayTest, keyID: string, challenge: string, signature: string): Promise<Answer> =>
  test.request('POST', `${OWN}/token`, { body: { keyID, challenge, signature } });

async function renew(test: GatewayTest, key: PanelKey): Promise<Answer> {
  const challenge = await challengeOf(test, key);
  return prove(test, key.keyID, challenge, key.sign(challenge));
}

async function enrolled(test: GatewayTest, name: string, site = 'north'): Promise<PanelKey> {
  const key = panelKey();
  const { code } = (await showCode(test, key)).body;
  const made = await (await test.as('admin')).post(PANELS, { code, name, site });
  if (made.status !== 201) throw new Error(made.text);
  return key;
}

t.test('D-C-18: an administrator enrols the panel that shows the code, once; it reads its site and changes nothing', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const key = panelKey();
  t.match(await test.request('POST', `${OWN}/challenge`, { body: { keyID: key.keyID } }), { status: 401, body: { code: 'panel_not_enrolled' } });
  const { code } = (await showCode(test, key)).body;
  t.match(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
  const [one, other] = await Promise.all([
    admin.post(PANELS, { code: code.toLowerCase(), name: 'hall-1', site: 'north', displayName: 'Hall 1' }),
    admin.post(PANELS, { code, name: 'hall-2', site: 'north' }),
  ]);
  t.same([one.status, other.status].sort(), [201, 400], 'of two that enter it at once one enrols');
  const { body } = one.status === 201 ? one : other;
  t.match(body, { site: 'north', lastContactAt: null, keyID: key.keyID, enrolledFrom: '127.0.0.1', streams: 0 });
  t.match(await showCode(test, key), { status: 409, body: { code: 'panel_enrolled' } });

  const session = await renew(test, key);
  t.match(session, {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: { tokenType: 'Bearer', expiresIn: 900, user: { tiers: ['read'], sites: ['north'], groups: [] } },
  });
  t.equal(session.body.refreshToken, undefined);
  t.notMatch(session.body.user.actions, ['signature:create']);
  const panel = clientOf(test, body.name, session.body.accessToken, session.body.sessionId);
  t.equal((await panel.get('/api/v1/auth/me')).body.username, body.name);
  t.match((await admin.get(`${PANELS}/${body.name}`)).body, { lastContactAt: new Date(test.clock.wallMs()).toISOString(), lastContactFrom: '127.0.0.1' });
  t.match(await panel.get(PANELS), { status: 403, body: { code: 'action_missing' } });
  for (const path of ['/api/v1/auth/logout', '/api/v1/auth/password', '/api/v1/auth/reauthenticate', PANELS]) {
    t.match(await panel.post(path, {}), { status: 403, body: { code: 'panel_watches' } }, path);
  }
  const [record] = test.audits.filter(({ action, target, result }) => action === 'Create' && target.kind === 'Panel' && result === 'Success');
  t.match(record, { site: 'north', category: 'auth', after: { keyID: key.keyID } });
  t.ok(
    test.audits.some(({ actorType, component }) => actorType === 'component' && component === `panel/${body.name}`),
    'its renewal is on record under its name',
  );
  t.notMatch(JSON.stringify(test.audits), new RegExp(code), 'no code is in the audit trail');
});

t.test('ADR 0124: a renewal is on record after a start and after an absence, and otherwise not', async (t) => {
  const test = await startGatewayTest();
  const key = await enrolled(test, 'hall-1');
  const records = (): number => test.audits.filter(({ component, result }) => component === 'panel/hall-1' && result === 'Success').length;
  await renew(test, key);
  t.equal(records(), 1);
  for (let i = 0; i < 3; i += 1) {
    test.clock.advance(14 * MINUTE);
    t.equal((await renew(test, key)).status, 200);
  }
  t.equal(records(), 1, 'who goes on is no news');
  t.match(test.store.get(Panel, '', 'hall-1')?.status, { lastContactAt: new Date(test.clock.wallMs()).toISOString() }, 'and still told');
  test.clock.advance(15 * MINUTE + 1);
  await renew(test, key);
  t.equal(records(), 2, 'it was away for longer than its token was good');
  const again = await test.restart();
  t.teardown(() => again.stop());
  await renew(again, key);
  t.equal(again.audits.filter(({ component }) => component === 'panel/hall-1').length, 1, 'the first one after a start');
});

t.test('D-C-18: a key has one id: another spelling of it is refused, and under a second code it is enrolled no second time', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const key = panelKey();
  const { x } = key.publicKey;
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const spelled = `${x.slice(0, -1)}${last[last.indexOf(x.slice(-1)) + 1]}`; // of the last character two bits are not read
  t.same(Buffer.from(spelled, 'base64url'), Buffer.from(x, 'base64url'));
  t.match(await test.request('POST', `${OWN}/code`, { body: { publicKey: { ...key.publicKey, x: spelled } } }), { status: 400, body: { field: 'publicKey' } });
  const { code } = (await showCode(test, key)).body;
  // the first write fails, and while it does the panel shows another code
  const { store } = test;
  const { write } = store;
  let other = '';
  store.write = async () => {
    other = (await showCode(test, key)).body.code;
    throw new Refusal('unavailable', 'the storage refuses', { code: 'storage_unavailable' });
  };
  t.match(await admin.post(PANELS, { code, name: 'hall-1', site: 'north' }), { status: 503 });
  store.write = write;
  t.equal((await admin.post(PANELS, { code, name: 'hall-1', site: 'north' })).status, 201);
  t.match(await admin.post(PANELS, { code: other, name: 'hall-2', site: 'north' }), { status: 409, body: { code: 'panel_enrolled' } });
});

t.test('AUTH-22: a panel of one site is refused at every other one', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const key = await enrolled(test, 'hall-1', 'south');
  const { accessToken, sessionId } = (await renew(test, key)).body;
  const panel = clientOf(test, 'hall-1', accessToken, sessionId);
  t.match((await panel.get('/api/v1/auth/me')).body.sites, ['south']);
  t.match(await panel.get('/api/v1/auth/me?site=north'), { status: 403, body: { code: 'site_scope' } });
  t.match(await (await test.as('admin')).post(PANELS, { code: 'AAAA-AAAA', name: 'x', site: 'west' }), { status: 400, body: { code: 'unknown_reference', field: 'site' } });
});

t.test('D-C-18: a challenge is good once, for a minute, for one panel and one start; every failure answers alike', async (t) => {
  const test = await startGatewayTest();
  const key = await enrolled(test, 'hall-1');
  const other = await enrolled(test, 'hall-2');
  const failures: Answer[] = [];
  const used = await challengeOf(test, key);
  t.equal((await prove(test, key.keyID, used, key.sign(used))).status, 200);
  failures.push(await prove(test, key.keyID, used, key.sign(used))); // replayed
  const fresh = await challengeOf(test, key);
  failures.push(await prove(test, key.keyID, fresh, other.sign(fresh))); // forged
  failures.push(await prove(test, other.keyID, fresh, other.sign(fresh))); // of another panel
  failures.push(await prove(test, key.keyID, `${fresh}=`, key.sign(`${fresh}=`))); // in another spelling
  const late = await challengeOf(test, key);
  test.clock.jump(-24 * 60 * MINUTE);
  test.clock.advance(MINUTE);
  failures.push(await prove(test, key.keyID, late, key.sign(late))); // over, whatever the wall clock says (D-C-07)
  t.same(
    failures.map(({ status, body }) => [status, body.code, body.error]),
    failures.map(() => [401, 'panel_refused', failures[0]?.body.error]),
  );
  t.match(await prove(test, key.keyID, late, key.sign(late)), { status: 401, body: { code: 'account_locked' } }, 'D-C-21: five failures of an address');
  t.equal((await renew(test, key)).status, 200, 'D-C-21: a panel is its own source, and a right proof is let in');
  t.equal(test.audits.filter(({ reason, target }) => reason === 'PanelRefused' && target.kind === 'Panel').length, 5);
  const kept = await challengeOf(test, key);
  const again = await test.restart();
  t.teardown(() => again.stop());
  t.equal((await prove(again, key.keyID, kept, key.sign(kept))).status, 401, 'no challenge outlives a start');
  t.equal((await renew(again, key)).status, 200);
});

t.test('a flood of questions for challenges and codes costs a panel nothing', async (t) => {
  const test = await startGatewayTest({ settings: { rateLimitEnabled: false } });
  t.teardown(() => test.stop());
  const key = await enrolled(test, 'hall-1');
  const held = await challengeOf(test, key);
  for (let i = 0; i < 300; i += 1) await challengeOf(test, key);
  t.equal((await prove(test, key.keyID, held, key.sign(held))).status, 200);
  const first = (await showCode(test, panelKey())).body.code;
  for (let i = 0; i < 20; i += 1) await showCode(test, panelKey());
  const admin = await test.as('admin');
  t.match(
    await admin.post(PANELS, { code: first, name: 'hall-2', site: 'north' }),
    { status: 400, body: { code: 'unknown_panel_code', field: 'code' } },
    'a source loses its own codes alone',
  );
  const late = (await showCode(test, panelKey())).body.code;
  test.clock.advance(10 * MINUTE);
  t.match(await (await test.as('admin', 'operator')).post(PANELS, { code: late, name: 'hall-2', site: 'north' }), { status: 400, body: { code: 'unknown_panel_code' } });
});

t.test('D-C-18: a revoked panel is out at once, its token too; its name is free for the next screen', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const key = await enrolled(test, 'hall-1');
  const { accessToken, sessionId } = (await renew(test, key)).body;
  const panel = clientOf(test, 'hall-1', accessToken, sessionId);
  const ended: string[] = [];
  test.access.authenticator.onEnded((id) => ended.push(id));
  const caller = test.access.authenticator.authenticate(`Bearer ${accessToken}`);
  t.equal(test.access.authenticator.stateOf(caller), 'active');
  const held = await challengeOf(test, key);
  const admin = await test.as('admin');
  t.equal((await admin.delete(`${PANELS}/hall-1`)).status, 204);
  t.same(ended, [sessionId], 'STREAM-13: its streams are closed');
  t.equal(test.access.authenticator.stateOf(caller), 'ended');
  t.match(await panel.get('/api/v1/auth/me'), { status: 401, body: { code: 'session_ended' } });
  t.match(await prove(test, key.keyID, held, key.sign(held)), { status: 401, body: { code: 'panel_refused' } });
  t.match(await test.request('POST', `${OWN}/challenge`, { body: { keyID: key.keyID } }), { status: 401, body: { code: 'panel_not_enrolled' } });
  await enrolled(test, 'hall-1');
  t.match(await panel.get('/api/v1/auth/me'), { status: 401 }, 'the token of the screen before does not open its successor');
  t.match(await admin.post(PANELS, { code: 'AAAA-AAAA', name: 'hall-1', site: 'north' }), { status: 409, body: { code: 'already_exists' } });
});

t.test('STREAM-13: the token of a panel ends by itself', async (t) => {
  const test = await startGatewayTest({ settings: { inactivityTimeoutMs: 5 * MINUTE } });
  t.teardown(() => test.stop());
  const key = await enrolled(test, 'hall-1');
  const session = await renew(test, key);
  t.equal(session.body.expiresIn, 300, 'who does not renew within the inactivity window is out');
  const panel = clientOf(test, 'hall-1', session.body.accessToken, session.body.sessionId);
  test.clock.advance(5 * MINUTE);
  t.match(await panel.get('/api/v1/auth/me'), { status: 401, body: { code: 'token_expired' } });
});

t.test('D-C-21: who mistypes his password at a panel locks his name there, not for everybody behind the same address', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const { accessToken } = (await renew(test, await enrolled(test, 'hall-1'))).body;
  const login = (password: string, token?: string): Promise<Answer> => test.request('POST', '/api/v1/auth/login', { token, body: { username: 'bob', password } });
  for (let i = 0; i < 5; i += 1) t.equal((await login('a wrong password', accessToken)).status, 401);
  t.match((await login(PASSWORD, accessToken)).body, { code: 'account_locked' });
  t.equal((await login(PASSWORD)).status, 200);
  t.match((await (await test.as('admin')).get('/api/v1/auth/lockouts')).body, [{ username: 'bob', sourceIPs: ['panel-hall-1'], everywhere: false }]);
});

t.test('D-C-18: a page that is no secure context is told so, and a code is asked for by guessing five times at most', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { publicKey } = panelKey();
  const told = await test.request('POST', `${OWN}/code`, { body: { publicKey }, headers: { Host: 'box.plant.example:8090' } });
  t.match(told, { status: 403, body: { code: 'insecure_context', error: /over TLS, or at the box itself/ } });
  t.equal((await test.request('POST', `${OWN}/code`, { body: { publicKey }, headers: { Host: 'localhost:8090' } })).status, 200);
  t.match(await test.request('POST', `${OWN}/code`, { body: { publicKey: { ...publicKey, y: publicKey.x } } }), { status: 400, body: { field: 'publicKey' } });
  const admin = await test.as('admin');
  for (let i = 0; i < 5; i += 1) t.equal((await admin.post(PANELS, { code: 'AAAA-AAAA', name: 'x', site: 'north' })).status, 400);
  const { code } = (await showCode(test, panelKey())).body;
  t.match(await admin.post(PANELS, { code, name: 'x', site: 'north' }), { status: 401, body: { code: 'account_locked' } });
  t.equal((await admin.delete('/api/v1/auth/lockouts/panel:codes')).status, 204);
  t.equal((await admin.post(PANELS, { code, name: 'x', site: 'north' })).status, 201);
});
