import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { checkPassword, HASH_COST, PasswordHasher } from '../../../src/domains/access/passwords.js';
import { readSettings } from '../../../src/settings.js';
import { clientOf, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { at, leading } from '../../support/at.js';

const MINUTE = 60_000;

t.test('D-AUTH-01: the first administrator is made with the commissioning code of the console, once', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const file = path.join(test.dataDir, 'commissioning-code');
  const code = test.code() as string;
  t.match(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
  t.equal(readFileSync(file, 'utf8').trim(), code);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal((await test.request('GET', '/api/v1/auth/config')).body.firstAdminRequired, true);

  const body = { username: 'Ada', password: PASSWORD, displayName: 'Ada L' };
  const wrong = await test.request('POST', '/api/v1/auth/first-admin', { body: { ...body, code: 'AAAA-AAAA-AAAA' } });
  t.match(wrong, { status: 401, body: { code: 'invalid_commissioning_code' } });
  t.match((await test.request('POST', '/api/v1/auth/first-admin', { body: { ...body, code, password: 'short' } })).body, { status: 400, field: 'password' });

  const made = await test.request('POST', '/api/v1/auth/first-admin', { body: { ...body, code: code.replaceAll('-', '').toLowerCase() } });
  t.match(made, { status: 201, body: { username: 'Ada', displayName: 'Ada L', groups: ['lineside-admin'], enabled: true, mustChangePassword: false } });
  t.equal(made.headers.location, '/api/v1/auth/users/Ada');
  t.notMatch(made.text, /scrypt|passwordHash/);
  t.notOk(existsSync(file));
  t.match(await test.request('POST', '/api/v1/auth/first-admin', { body: { ...body, code } }), { status: 409, body: { code: 'admin_exists' } });
  t.equal((await test.request('GET', '/api/v1/auth/config')).body.firstAdminRequired, false);
  t.ok(test.audits.some((record) => record.action === 'Create' && record.target.name === 'Ada' && record.component === 'commissioning'));
});

t.test('D-AUTH-01: five wrong codes close the route for five minutes', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const attempt = (code: string) => test.request('POST', '/api/v1/auth/first-admin', { body: { code, username: 'a', password: PASSWORD } });
  for (let i = 0; i < 5; i += 1) t.equal((await attempt('0000-0000-000I')).status, 401);
  t.match(await attempt(test.code() as string), { status: 429, headers: { 'retry-after': '300' } });
  test.clock.advance(5 * MINUTE);
  t.equal((await attempt(test.code() as string)).status, 201);
});

t.test('Q-AUTH-01: login gives a session token; wrong user and wrong password answer alike', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'Bob', ['operator', 'site-north']);
  const login = await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } });
  t.match(login, {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: {
      tokenType: 'Bearer',
      expiresIn: 900,
      user: { username: 'Bob', groups: ['lineside-operator', 'lineside-site-north'], tiers: ['read', 'operate'], sites: ['north'], authMode: 'local' },
    },
  });
  t.match(login.body.refreshToken, /^[\w-]{43}$/);
  const [header, claims] = login.body.accessToken
    .split('.')
    .slice(0, 2)
    .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  t.match(header, { alg: 'EdDSA', kid: /^[0-9a-f]{16}$/ });
  t.match(claims, { iss: /^lineside:[0-9a-f]{32}$/, aud: 'lineside', preferred_username: 'Bob', sid: login.body.sessionId, exp: claims.iat + 900, auth_time: claims.iat });

  const wrongPassword = await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: 'not the password' } });
  const wrongUser = await test.request('POST', '/api/v1/auth/login', { body: { username: 'nobody', password: 'not the password' } });
  t.match(wrongPassword, { status: 401, body: { code: 'invalid_credentials' } });
  t.same(wrongUser.body, wrongPassword.body);
  const failures = test.audits.filter((record) => record.action === 'Login' && record.result === 'Rejected');
  t.same(
    failures.map((record) => record.target.name),
    ['bob', 'nobody'],
  );
  t.notMatch(JSON.stringify(test.audits), /not the password|correct horse/);
  t.ok(test.audits.some((record) => record.action === 'Login' && record.result === 'Success' && record.displayName === 'Bob'));
});

t.test('Q-AUTH-01, Q-AUTH-09: refresh keeps auth_time, reauthenticate renews it, the cookie form leaves the token out', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const login = await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD, useCookie: true } });
  t.equal(login.body.refreshToken, undefined);
  const cookie = String(login.headers['set-cookie']);
  t.match(cookie, /^lineside_session=[\w-]{43}; Path=\/api\/v1\/auth; HttpOnly; SameSite=Strict$/);
  test.clock.advance(10 * MINUTE);
  const refreshed = await test.request('POST', '/api/v1/auth/refresh', { headers: { Cookie: at(cookie.split(';'), 0) } });
  t.equal(refreshed.status, 200);
  t.equal(refreshed.body.user.authTime, login.body.user.authTime);
  t.not(refreshed.body.accessToken, login.body.accessToken);
  t.match(await test.request('POST', '/api/v1/auth/refresh', { body: { refreshToken: 'x' } }), { status: 401, body: { code: 'session_ended' } });
  t.match(await test.request('POST', '/api/v1/auth/refresh', {}), { status: 401, body: { code: 'unauthenticated' } });

  const bob = clientOf(test, 'bob', refreshed.body.accessToken, refreshed.body.sessionId);
  t.match(await bob.post('/api/v1/auth/reauthenticate', { password: 'wrong wrong wrong' }), { status: 401, body: { code: 'invalid_credentials' } });
  const again = await bob.post('/api/v1/auth/reauthenticate', { password: PASSWORD });
  t.equal(again.body.sessionId, login.body.sessionId);
  t.equal(again.body.user.authTime, new Date(test.clock.wallMs()).toISOString());
});

t.test('AUTH-04, AUTH-26, D-AUTH-05: no, unknown, malformed, expired and foreign credentials answer 401', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const other = await startGatewayTest();
  t.teardown(() => other.stop());
  const viewer = await test.as('viewer');
  const stranger = await other.as('viewer');
  const me = (headers: Record<string, string | string[]>) => test.request('GET', '/api/v1/auth/me', { headers });
  const none = await me({});
  t.match(none, { status: 401, headers: { 'www-authenticate': 'Bearer realm="lineside"' }, body: { code: 'unauthenticated', status: 401 } });
  t.match((await me({ Authorization: 'Basic abc' })).body, { code: 'invalid_token' });
  t.match((await me({ Authorization: 'Bearer a.b.c' })).body, { code: 'invalid_token' });
  t.match((await me({ Authorization: `Bearer ${stranger.token}` })).body, { code: 'invalid_token' });
  const [header, payload, signature] = leading(viewer.token.split('.'), 3);
  const forged = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), groups: ['lineside-admin'] };
  t.match((await me({ Authorization: `Bearer ${header}.${Buffer.from(JSON.stringify(forged)).toString('base64url')}.${signature}` })).body, { code: 'invalid_token' });
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  t.match((await me({ Authorization: `Bearer ${unsigned}.${payload}.` })).body, { code: 'invalid_token' });
  t.match((await me({ Authorization: [`Bearer ${viewer.token}`, `Bearer ${viewer.token}`] })).body, { code: 'invalid_token' }, 'exactly one Authorization header');
  t.equal((await me({ Authorization: `Bearer ${viewer.token}` })).status, 200);
  test.clock.advance(15 * MINUTE);
  t.match((await me({ Authorization: `Bearer ${viewer.token}` })).body, { code: 'token_expired' });
  t.match((await test.request('GET', '/api/v1/auth/me?token=x', {})).body, { code: 'unauthenticated' }, 'the query form is for streams only');
});

t.test('Q-AUTH-21: inactivity and the absolute life end a session; background requests are no activity', async (t) => {
  const test = await startGatewayTest({ settings: { accessTokenLifetimeMs: 60 * MINUTE } });
  t.teardown(() => test.stop());
  const ended: string[] = [];
  test.access.authenticator.onEnded((_, reason) => ended.push(reason));
  const admin = await test.as('admin');
  test.clock.advance(20 * MINUTE);
  t.equal((await admin.get('/api/v1/version')).status, 200, 'activity');
  test.clock.advance(20 * MINUTE);
  t.equal((await admin.get('/api/v1/version', { headers: { 'X-Lineside-Background': 'true' } })).status, 200);
  t.equal((await admin.get('/api/v1/auth/me')).status, 200);
  test.clock.advance(11 * MINUTE);
  t.match(await admin.get('/api/v1/auth/me'), { status: 401, body: { code: 'session_inactive' } });
  t.same(ended, ['session terminated after inactivity']);

  const lead = await test.as('lead-operator');
  for (let hour = 0; hour < 48; hour += 1) {
    test.clock.advance(15 * MINUTE - 1);
    test.access.authenticator.touch({ sessionId: lead.sessionId } as never);
  }
  test.clock.advance(1000);
  t.match((await lead.get('/api/v1/auth/me')).status, 401);
});

t.test('AUTH-29, STREAM-19: an administrator sees and ends sessions; a logout ends its own', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const ended: string[] = [];
  test.access.authenticator.onEnded((id, reason) => ended.push(`${id} ${reason}`));
  const admin = await test.as('admin');
  const operator = await test.as('operator');
  t.equal((await operator.get('/api/v1/auth/sessions')).status, 403);
  const sessions = await admin.get('/api/v1/auth/sessions');
  t.match(
    sessions.body.find((session: { current: boolean }) => session.current),
    { id: admin.sessionId, username: admin.username, sourceIP: '127.0.0.1', streams: 0, authMode: 'local' },
  );
  t.equal((await admin.delete(`/api/v1/auth/sessions/${operator.sessionId}`)).status, 204);
  t.equal((await admin.delete(`/api/v1/auth/sessions/${operator.sessionId}`)).status, 404);
  t.match(await operator.get('/api/v1/auth/me'), { status: 401, body: { code: 'session_ended' } });
  t.equal((await admin.post('/api/v1/auth/logout')).status, 204);
  t.match(await admin.get('/api/v1/auth/me'), { status: 401, body: { code: 'session_ended' } });
  t.same(ended, [`${operator.sessionId} session ended: terminated by administrator`, `${admin.sessionId} session ended: logout`]);
  t.ok(test.audits.some((record) => record.action === 'Logout' && record.result === 'Success'));
});

t.test('AUTH-30, Q-AUTH-03: five failed passwords lock the name, known or not, and an administrator unlocks it', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  await makeAccount(test, 'bob', ['operator']);
  const attempt = (username: string, password: string) => test.request('POST', '/api/v1/auth/login', { body: { username, password } });
  for (const username of ['bob', 'ghost']) {
    for (let i = 0; i < 5; i += 1) t.match((await attempt(username, 'wrong wrong wrong')).body, { code: 'invalid_credentials' });
    t.match((await attempt(username, PASSWORD)).body, { code: 'account_locked', retryAfterSeconds: 900 });
  }
  const listed = await admin.get('/api/v1/auth/lockouts');
  t.match(listed.body, [{ username: 'bob', failedAttempts: 5, sourceIPs: ['127.0.0.1'] }, { username: 'ghost' }]);
  t.equal((await admin.delete('/api/v1/auth/lockouts/Bob')).status, 204);
  t.equal((await admin.delete('/api/v1/auth/lockouts/bob')).status, 404);
  t.equal((await attempt('bob', PASSWORD)).status, 200);
  test.clock.advance(15 * MINUTE);
  t.match((await attempt('ghost', PASSWORD)).body, { code: 'invalid_credentials' }, 'the lock has run out');
  t.ok(test.audits.some((record) => record.target.kind === 'LockOut' && record.component === 'access'));
});

t.test('D-AUDIT-01, Q-AUTH-03: a name that is cut where it is too long is cut between characters: the chain of the trail holds, and its lock-out is read', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const username = `${'a'.repeat(63)}\u{1F600}`;
  for (let i = 0; i < 5; i += 1) t.equal((await test.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD } })).status, 401);
  const queries = openQueries(test.dataDir, () => test.store.recorded);
  t.teardown(() => queries.close());
  t.same((await queries.verify({})).problems, []);
  const again = await test.restart();
  t.teardown(() => again.stop());
  t.same(again.store.faults, []);
  t.match(again.access.lockOuts.locked(), [{ username: 'a'.repeat(63) }]);
});

t.test('Q-ERR-05: twenty failed logins of one address within five minutes answer 429', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  for (let i = 0; i < 20; i += 1) await test.request('POST', '/api/v1/auth/login', { body: { username: `u${i}`, password: 'wrong wrong wrong' } });
  await makeAccount(test, 'bob', ['operator']);
  t.match(await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } }), {
    status: 429,
    body: { code: 'rate_limited', retryAfterSeconds: 300 },
  });
  test.clock.advance(5 * MINUTE);
  t.equal((await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } })).status, 200);
});

t.test('D-AUTH-02: users are made, changed, demoted at once and closed for good', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const made = await admin.post('/api/v1/auth/users', { username: 'Eve.M', password: PASSWORD, displayName: 'Eve', groups: ['lineside-engineer'] });
  t.match(made, { status: 201, body: { username: 'Eve.M', enabled: true, mustChangePassword: true, lastLoginAt: null }, headers: { location: '/api/v1/auth/users/Eve.M' } });
  t.match(await admin.post('/api/v1/auth/users', { username: 'eve.m', password: PASSWORD, displayName: 'Eve' }), { status: 409, body: { code: 'already_exists' } });
  for (const username of ['.', '..'])
    t.match(
      await admin.post('/api/v1/auth/users', { username, password: PASSWORD, displayName: 'E' }),
      { status: 400, body: { code: 'invalid_name', field: 'username' } },
      username,
    );
  t.match(await admin.post('/api/v1/auth/users', { username: 'e m', password: PASSWORD, displayName: 'E' }), { status: 400, body: { code: 'invalid_name', field: 'username' } });
  t.match(await admin.post('/api/v1/auth/users', { username: 'longenoughname', password: 'LongEnoughName', displayName: 'E' }), { status: 400, body: { field: 'password' } });

  const login = await test.request('POST', '/api/v1/auth/login', { body: { username: 'eve.m', password: PASSWORD } });
  const eve = clientOf(test, 'Eve.M', login.body.accessToken, login.body.sessionId);
  t.equal(login.body.user.mustChangePassword, true);
  t.match(await eve.get('/api/v1/version'), { status: 403, body: { code: 'password_change_required' } });
  t.equal((await eve.get('/api/v1/auth/me')).status, 200);
  t.match(await eve.post('/api/v1/auth/password', { currentPassword: 'wrong wrong wrong', newPassword: 'another good password' }), { status: 401 });
  t.match(
    await eve.post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: PASSWORD }),
    { status: 400, body: { code: 'invalid_field', field: 'newPassword' } },
    'the one that somebody else knows does not stay',
  );
  t.equal((await eve.post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: 'another good password' })).status, 204);
  t.equal((await eve.get('/api/v1/version')).status, 200);

  t.equal((await eve.get('/api/v1/auth/users')).status, 403);
  t.equal((await admin.put('/api/v1/auth/users/eve.m', { groups: ['lineside-admin'] })).status, 200);
  t.equal((await eve.get('/api/v1/auth/users')).status, 200, 'groups are read from the account at each request');
  t.equal((await admin.put('/api/v1/auth/users/eve.m', { groups: ['lineside-viewer'] })).status, 200);
  t.equal((await eve.get('/api/v1/auth/users')).status, 403);

  t.match(await admin.put(`/api/v1/auth/users/${admin.username}`, { groups: [] }), { status: 409, body: { code: 'last_admin' } });
  t.match(await admin.put(`/api/v1/auth/users/${admin.username}`, { enabled: false }), { status: 409, body: { code: 'last_admin' } });
  t.match(await admin.delete(`/api/v1/auth/users/${admin.username}`), { status: 409, body: { code: 'last_admin' } });
  t.equal((await admin.put('/api/v1/auth/users/eve.m', { enabled: false })).status, 200);
  t.match((await eve.get('/api/v1/auth/me')).body, { code: 'session_ended' });
  t.equal((await admin.delete('/api/v1/auth/users/eve.m')).status, 204);
  t.equal((await admin.get('/api/v1/auth/users/eve.m')).status, 404);
  t.match(await admin.post('/api/v1/auth/users', { username: 'EVE.M', password: PASSWORD, displayName: 'E' }), { status: 409, body: { code: 'username_retired' } });
  t.notMatch(JSON.stringify(test.audits), /scrypt/, 'no hash in the audit trail');
});

t.test('D-AUTH-02: a set password ends all sessions of the account, a changed one the others', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  await makeAccount(test, 'bob', ['operator']);
  const login = () => test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } });
  const [first, second] = leading(
    [await login(), await login()].map(({ body }) => clientOf(test, 'bob', body.accessToken, body.sessionId)),
    2,
  );
  t.equal((await first.post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` })).status, 204);
  t.equal((await first.get('/api/v1/auth/me')).status, 200);
  t.equal((await second.get('/api/v1/auth/me')).status, 401);
  t.equal((await admin.post('/api/v1/auth/users/bob/password', { newPassword: PASSWORD, mustChangePassword: false })).status, 204);
  t.equal((await first.get('/api/v1/auth/me')).status, 401);
  t.equal((await login()).status, 200);
});

t.test('AUTH-02, Q-AUTH-10, Q-AUTH-08: in mode none every request is an administrator, keys keep their fence', async (t) => {
  const test = await startGatewayTest({ argv: ['--auth-mode', 'none'] });
  t.teardown(() => test.stop());
  t.match((await test.request('GET', '/api/v1/auth/me', { token: 'nonsense' })).body, {
    accountId: 'none:developer',
    displayName: 'Developer (authentication off)',
    groups: ['lineside-admin'],
    sites: null,
    authMode: 'none',
    sessionId: null,
  });
  for (const route of ['login', 'refresh', 'logout', 'reauthenticate', 'password', 'first-admin']) {
    const body = {
      login: { username: 'a', password: 'b' },
      reauthenticate: { password: 'b' },
      password: { currentPassword: 'a', newPassword: 'b' },
      'first-admin': { code: 'a', username: 'a', password: 'b' },
    }[route];
    t.match(await test.request('POST', `/api/v1/auth/${route}`, { body }), { status: 404, body: { code: 'not_in_auth_mode' } }, route);
  }
  const made = await test.request('POST', '/api/v1/mes/apikeys', { body: { name: 'mes', site: 'north' } });
  t.equal(made.status, 201);
  t.match(await test.request('GET', '/api/v1/auth/me', { key: made.body.key }), { status: 403, body: { code: 'api_key_fence' } });
  t.match((await test.request('GET', '/api/v1/auth/me', { key: 'lsk_no' })).status, 401);
  t.match((await test.request('GET', '/api/v1/system/health')).body.warnings, [/authentication is off/]);
});

t.test('AUTH-05, KEY-01 to KEY-07, Q-KEY-01 to Q-KEY-04: a key is shown once, listed without itself, revoked at once', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const made = await admin.post('/api/v1/mes/apikeys', { name: 'mes-1', site: 'north' });
  t.match(made, { status: 201, body: { name: 'mes-1', site: 'north', key: /^lsk_[\w-]{43}$/, createdBy: admin.username, expiresAt: null } });
  t.equal(made.body.keyPrefix, made.body.key.slice(0, 12));
  t.match(await admin.post('/api/v1/mes/apikeys', { name: 'mes-1', site: 'north' }), { status: 409, body: { code: 'already_exists' } });
  t.match(await admin.post('/api/v1/mes/apikeys', { name: 'mes-2', site: 'nowhere' }), { status: 400, body: { code: 'unknown_reference', field: 'site' } });
  t.match(await admin.get('/api/v1/auth/me', { token: undefined, key: made.body.key }), { status: 403, body: { code: 'api_key_fence' } });
  const listed = await admin.get('/api/v1/mes/apikeys');
  t.match(listed.body, [{ name: 'mes-1', site: 'north', lastUsedAt: new Date(test.clock.wallMs()).toISOString() }]);
  t.notMatch(listed.text, new RegExp(made.body.key.slice(12)));
  t.same((await admin.get('/api/v1/mes/apikeys/mes-1')).body, listed.body[0]);
  const short = await admin.post('/api/v1/mes/apikeys', { name: 'short', site: 'north', expiresAt: new Date(test.clock.wallMs() + MINUTE).toISOString() });
  test.clock.advance(MINUTE);
  t.match((await test.request('GET', '/api/v1/auth/me', { key: short.body.key })).body, { code: 'token_expired' });
  t.equal((await admin.delete('/api/v1/mes/apikeys/mes-1')).status, 204);
  t.equal((await admin.delete('/api/v1/mes/apikeys/mes-1')).status, 404);
  t.equal((await test.request('GET', '/api/v1/auth/me', { key: made.body.key })).status, 401);
  t.notMatch(JSON.stringify(test.audits), new RegExp(made.body.key), 'the key is in no audit record');
});

t.test('a restart keeps accounts, sessions, keys and lock-outs', async (t) => {
  const first = await startGatewayTest();
  const admin = await first.as('admin');
  const key = (await admin.post('/api/v1/mes/apikeys', { name: 'mes-1', site: 'north' })).body.key;
  for (let i = 0; i < 5; i += 1) await first.request('POST', '/api/v1/auth/login', { body: { username: 'ghost', password: 'wrong wrong wrong' } });
  const second = await first.restart();
  t.teardown(() => second.stop());
  t.equal((await second.request('GET', '/api/v1/auth/me', { token: admin.token })).body.username, admin.username);
  t.match((await second.request('GET', '/api/v1/auth/me', { key })).body, { code: 'api_key_fence' });
  t.match((await second.request('POST', '/api/v1/auth/login', { body: { username: 'ghost', password: PASSWORD } })).body, { code: 'account_locked' });
});

t.test('D-AUTH-03: passwords have 12 to 128 characters and are kept as scrypt PHC strings', async (t) => {
  t.throws(() => checkPassword('x'.repeat(11), 'u', 12), { message: /^password / });
  t.throws(() => checkPassword('x'.repeat(129), 'u', 12), { message: /^password / });
  t.throws(() => checkPassword('someusername12', 'SomeUserName12', 12), { message: /^password / });
  const hasher = new PasswordHasher();
  const stored = await hasher.hash(PASSWORD);
  t.match(stored, /^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
  t.equal(await hasher.verify(PASSWORD, stored), true);
  t.equal(await hasher.verify(`${PASSWORD} `, stored), false);
  t.equal(await hasher.verify(PASSWORD, undefined), false);
  t.equal(hasher.isOutdated(stored), false);
  t.equal(new PasswordHasher({ ln: 16, r: 8, p: 3 }).isOutdated(stored), true);
  t.equal(readSettings([], {}, '/nowhere').passwordWork, HASH_COST.ln);
});

t.test('every work of a password hash that the setting takes is one that passwords are hashed with', async (t) => {
  for (const ln of [1, 2, 3, 4]) {
    const hasher = new PasswordHasher({ ...HASH_COST, ln });
    t.equal(await hasher.verify(PASSWORD, await hasher.hash(PASSWORD)), true, `2 to the power of ${ln}`);
  }
});
