/** What is permitted for a time is so by elapsed time; across a start it ends when nobody knows how long it was away (D-C-07). */
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { clientOf, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { leading } from '../../support/at.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;

t.test('D-C-07: setting the clock signs nobody out, makes no token old or young, and ends no stream', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const ended: string[] = [];
  test.access.authenticator.onEnded((_, reason) => ended.push(reason));
  await makeAccount(test, 'bob', ['supervisor']);
  const login = await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } });
  t.equal(login.body.expiresIn, 900);
  const bob = clientOf(test, 'bob', login.body.accessToken, login.body.sessionId);
  const caller = test.access.authenticator.authenticate(`Bearer ${bob.token}`);
  for (const step of [HOUR, -2 * HOUR, 10 * YEAR, -20 * YEAR]) {
    test.clock.jump(step);
    test.clock.advance(MINUTE); // the sweep has looked
    t.equal((await bob.get('/api/v1/auth/me')).status, 200);
    t.equal(test.access.authenticator.stateOf(caller), 'active');
    const refreshed = await test.request('POST', '/api/v1/auth/refresh', { body: { refreshToken: login.body.refreshToken } });
    t.match(refreshed, { status: 200, body: { expiresIn: 900 } });
    t.equal((await bob.get('/api/v1/auth/me', { token: refreshed.body.accessToken })).status, 200);
  }
  t.same(ended, []);
  test.clock.advance(11 * MINUTE);
  t.match((await bob.get('/api/v1/auth/me')).body, { code: 'token_expired' }, 'it has lived its fifteen minutes');
  test.clock.jump(-HOUR);
  t.match((await bob.get('/api/v1/auth/me')).body, { code: 'token_expired' }, 'and stays expired');
  test.clock.advance(16 * MINUTE);
  t.equal((await test.request('POST', '/api/v1/auth/refresh', { body: { refreshToken: login.body.refreshToken } })).status, 401, 'half an hour has passed since its last activity');
});

t.test('D-C-07: a session outlives a restart when the interruption is known and shorter than its rest', async (t) => {
  const cases = [
    { title: 'the same boot says how long it was', boot: 'a', wall: 10 * YEAR, passedMs: 10 * MINUTE, synchronised: false, status: 200 },
    { title: 'longer than the rest', boot: 'a', wall: 0, passedMs: 31 * MINUTE, synchronised: true, status: 401 },
    { title: 'another boot, the clock follows a server', boot: 'b', wall: 0, passedMs: 10 * MINUTE, synchronised: true, status: 200 },
    { title: 'another boot, the clock follows nobody', boot: 'b', wall: 0, passedMs: 10 * MINUTE, synchronised: false, status: 401 },
    { title: 'another boot, the clock went back', boot: 'b', wall: -HOUR, passedMs: 10 * MINUTE, synchronised: true, status: 401 },
  ];
  for (const { title, boot, wall, passedMs, synchronised, status } of cases) {
    const first = await startGatewayTest();
    const { clock } = first;
    let bootID = 'a';
    const time = { now: () => ({ wallMs: clock.wallMs(), bootID, bootMs: clock.monoMs() }), synchronised: () => synchronised };
    const before = await startGatewayTest({ clock, access: { time } });
    await makeAccount(before, 'bob', ['operator']);
    const { refreshToken } = (await before.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } })).body;
    clock.advance(passedMs);
    clock.jump(wall);
    bootID = boot;
    const after = await before.restart();
    t.equal((await after.request('POST', '/api/v1/auth/refresh', { body: { refreshToken } })).status, status, title);
    await after.stop();
    await first.stop();
  }
});

t.test('Q-AUTH-09, RFC 7515 4.1.11: nbf ahead and critical extensions are refused; one token has one spelling', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const key = createPrivateKey(readFileSync(path.join(test.dataDir, 'keys', 'device-ed25519.pem'), 'utf8'));
  const [head, body, signature] = leading(viewer.token.split('.'), 3);
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const forge = (header: object, claims: object): string => {
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
  };
  const { mono: _, ...claims } = read(body);
  const me = (authorization: string) => test.request('GET', '/api/v1/auth/me', { headers: { Authorization: authorization } });
  const nowS = Math.floor(test.clock.wallMs() / 1000);
  t.equal((await me(`Bearer ${forge(read(head), claims)}`)).status, 200);
  t.equal((await me(`Bearer ${forge(read(head), { ...claims, nbf: nowS + 60 })}`)).status, 200);
  t.match((await me(`Bearer ${forge(read(head), { ...claims, nbf: nowS + 120 })}`)).body, { code: 'invalid_token' });
  t.match((await me(`Bearer ${forge(read(head), { ...claims, nbf: 'now' })}`)).body, { code: 'invalid_token' });
  t.match((await me(`Bearer ${forge({ ...read(head), crit: ['b64'] }, claims)}`)).body, { code: 'invalid_token' });
  const respelled = signature.slice(0, -1) + String.fromCharCode(signature.charCodeAt(signature.length - 1) + 1);
  for (const odd of [`${viewer.token}=`, `${viewer.token}==`, `${viewer.token}!!`, ` ${viewer.token}`, `${head}.${body}.${respelled}`]) {
    t.match((await me(`Bearer ${odd}`)).body, { code: 'invalid_token' }, odd.slice(-6));
  }
  t.equal((await me(`Bearer ${viewer.token}`)).status, 200);
});
