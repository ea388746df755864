import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { at } from '../../support/at.js';
import type { GatewayTest } from '../../support/gateway.js';
import { startOidcTest } from '../../support/lying-issuer.js';
import { Browser, CLIENT_SECRET, OidcPeer, type Visited } from '../../support/oidc-peer.js';
import { ownFolder } from '../../support/own-folder.js';

const LOGIN = '/api/v1/auth/oidc/login';
const CALLBACK = '/api/v1/auth/oidc/callback';
const SESSION = 'lineside_session';

interface Pair {
  readonly peer: OidcPeer;
  readonly box: GatewayTest;
  readonly browser: Browser;
}

async function pair(t: Test): Promise<Pair> {
  const peer = await OidcPeer.start();
  const secret = path.join(ownFolder(t), 'client-secret');
  writeFileSync(secret, `${CLIENT_SECRET}\n`);
  const box = await startOidcTest(peer.url, { settings: { oidcClientSecretFile: secret } });
  t.teardown(() => Promise.all([box.stop(), peer.stop()]));
  await peer.register(`${box.url}${CALLBACK}`);
  return { peer, box, browser: new Browser() };
}

async function refresh({
  box,
  browser,
}: Pair): Promise<{ readonly status: number; readonly body: { accessToken: string; sessionId: string; code?: string; user: Record<string, unknown> } }> {
  const { status, text } = await browser.fetch(`${box.url}/api/v1/auth/refresh`, 'POST', '{}');
  return { status, body: JSON.parse(text) };
}

const last = (trail: readonly Visited[]): Visited => at(trail, trail.length - 1);
const signIn = ({ box, browser }: Pair, query = '?redirect=/hmi') => browser.go(`${box.url}${LOGIN}${query}`, (next) => next.startsWith(`${box.url}/hmi`));

t.test('AUTH-01, D-AUTH-04, D-AUTH-06: a browser signs in at the identity provider and comes back with a session, which is refreshed, signs, and is left', async (t) => {
  const both = await pair(t);
  const { box, browser, peer } = both;
  const trail = await signIn(both);
  const away = new URL(String(at(trail, 0).headers.location));
  t.equal(away.origin, peer.url);
  t.match(Object.fromEntries(away.searchParams), {
    response_type: 'code',
    client_id: 'lineside',
    redirect_uri: `${box.url}${CALLBACK}`,
    scope: 'openid profile email groups',
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
    max_age: '43200',
  });
  t.match(String(at(trail, 0).headers['set-cookie']), /^lineside_login=[\w-]{43}; Path=\/api\/v1\/auth\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/);
  t.match(last(trail), { status: 302, headers: { location: '/hmi' } });
  t.match(String(last(trail).headers['set-cookie']), /^lineside_session=[\w-]{43}; Path=\/api\/v1\/auth; HttpOnly; SameSite=Strict$/);
  const first = await refresh(both);
  t.match(first, {
    status: 200,
    body: { user: { accountId: 'sub-anna', username: 'anna', displayName: 'Anna Ek', email: 'anna@example.org', sites: ['north'], authMode: 'oidc', mustChangePassword: false } },
  });
  const own = (path_: string, token = first.body.accessToken) => box.request('GET', path_, { token });
  t.equal((await own('/api/v1/version')).status, 200);
  t.equal((await own('/api/v1/auth/sessions')).status, 403);

  peer.people.set('sub-anna', { ...peer.people.get('sub-anna'), name: 'Anna Berg', groups: ['lineside-viewer'] });
  const second = await refresh(both);
  t.match(second.body.user, { displayName: 'Anna Berg', groups: ['lineside-viewer'], sites: null }, 'groups and name are renewed');
  t.match((await own('/api/v1/auth/me')).body, { groups: ['lineside-viewer'] }, 'for tokens that were given out before as well');
  const both_ = await Promise.all([refresh(both), refresh(both)]);
  t.same(
    both_.map(({ status }) => status),
    [200, 200],
    'two tabs at once spend one refresh token',
  );
  t.match(
    box.audits.filter(({ action }) => action === 'Login'),
    [{ result: 'Success', accountId: 'sub-anna', details: { method: 'oidc' } }],
  );
  t.ok(
    box.audits.some(({ action, target }) => action === 'Update' && target.name === 'anna'),
    'what the provider has changed is on record',
  );

  for (const route of ['login', 'reauthenticate', 'password', 'first-admin']) {
    const body = {
      login: { username: 'a', password: 'b' },
      reauthenticate: { password: 'b' },
      password: { currentPassword: 'a', newPassword: 'b' },
      'first-admin': { code: 'a', username: 'a', password: 'b' },
    }[route];
    t.match(await box.request('POST', `/api/v1/auth/${route}`, { body, token: second.body.accessToken }), { status: 404, body: { code: 'not_in_auth_mode' } }, route);
  }
  t.match((await box.request('GET', '/api/v1/auth/config')).body, {
    authMode: 'oidc',
    firstAdminRequired: false,
    oidc: { issuer: peer.url, clientId: 'lineside', loginPath: LOGIN },
  });

  t.equal((await box.request('POST', '/api/v1/auth/logout', { token: second.body.accessToken })).status, 204);
  t.match(await refresh(both), { status: 401, body: { code: 'session_ended' } });
  const told = JSON.stringify(box.audits);
  for (const secret of [
    browser.cookie(box.url, SESSION),
    away.searchParams.get('state'),
    new URL(at(trail, trail.length - 1).address).searchParams.get('code'),
    first.body.accessToken.slice(-43),
    CLIENT_SECRET,
  ])
    t.notOk(told.includes(String(secret)), 'no code, token or secret is in the audit trail');
});

t.test('Q-AUTH-09: signing in again proves the same session anew; a sign-in that the provider remembers proves nothing', async (t) => {
  const both = await pair(t);
  const { box, peer } = both;
  await signIn(both);
  const first = await refresh(both);
  box.clock.advance(10 * 60_000);
  t.equal(peer.typed, 1);
  await signIn(both);
  t.equal(peer.typed, 1, 'the provider knows the browser');
  const remembered = await refresh(both);
  const isStale = Date.parse(String(remembered.body.user.authTime)) < box.clock.wallMs() - 9 * 60_000;
  t.ok(isStale, 'it was proven when the password was typed, not when the browser came by');
  const held = remembered.body.sessionId;
  t.not(held, first.body.sessionId);
  // the clocks of both are the same again for a proof
  box.clock.jump(Date.now() - box.clock.wallMs());
  const trail = await signIn(both, '?redirect=/hmi&reauthenticate=true');
  t.equal(new URL(String(at(trail, 0).headers.location)).searchParams.get('prompt'), 'login');
  t.equal(peer.typed, 2);
  const again = await refresh(both);
  t.equal(again.body.sessionId, held, 'the same session');
  t.ok(Date.parse(String(again.body.user.authTime)) > box.clock.wallMs() - 60_000);
});

t.test('D-AUTH-04: the refusal of the identity provider ends the session', async (t) => {
  const both = await pair(t);
  const { box, peer } = both;
  await signIn(both);
  const { accessToken, sessionId } = (await refresh(both)).body;
  const ended: string[] = [];
  box.access.authenticator.onEnded((id, reason) => ended.push(`${id} ${reason}`));
  await peer.register(`${box.url}${CALLBACK}`); // it has forgotten whom it granted what
  const refused = await refresh(both);
  t.match(refused, { status: 401, body: { code: 'session_ended', error: /says invalid_grant/ } });
  t.match(await box.request('GET', '/api/v1/auth/me', { token: accessToken }), { status: 401, body: { code: 'session_ended' } });
  t.same(ended, [`${sessionId} session ended: the identity provider refuses it`]);
  t.ok(box.audits.some(({ action, target, details }) => action === 'Delete' && target.name === sessionId && /invalid_grant/.test(String(details?.because))));
});

t.test('D-AUTH-04: a sign-in is of the browser that began it, is good once and for ten minutes, and ends on this box', async (t) => {
  const both = await pair(t);
  const { box, browser } = both;
  for (const redirect of ['https://evil.example/', '//evil.example', '/\\evil.example', '/.//evil.example', 'hmi', 'javascript:alert(1)', '/a\nb', `/${'x'.repeat(3000)}`])
    t.match(
      await box.request('GET', `${LOGIN}?redirect=${encodeURIComponent(redirect)}`),
      { status: 400, body: { code: 'off_site_redirect', field: 'redirect' } },
      redirect.slice(0, 30),
    );
  t.match(await box.request('GET', `${LOGIN}?reauthenticate=maybe`), { status: 400, body: { field: 'reauthenticate' } });
  t.match(await box.request('GET', `${LOGIN}?redirect=/hmi`, { headers: { Host: 'a/b' } }), { status: 400 });

  const stopped = (b: Browser) => b.go(`${box.url}${LOGIN}?redirect=/data`, (next) => next.startsWith(`${box.url}${CALLBACK}`));
  const address = String(last(await stopped(browser)).headers.location);
  const strange = { status: 400, text: /unknown_login/ };
  t.match(await new Browser().fetch(address), strange, 'another browser');
  t.match(await browser.fetch(address.replace(/state=[^&]+/, 'state=x')), strange);
  t.match(await browser.fetch(address), { status: 302, headers: { location: '/data' } });
  t.match(await browser.fetch(address), strange, 'used already');
  t.match(await browser.fetch(`${box.url}${CALLBACK}`), strange);

  const slow = String(last(await stopped(browser)).headers.location);
  box.clock.advance(10 * 60_000);
  t.match(await browser.fetch(slow), strange, 'too slow, whatever the clock says');
  box.clock.jump(Date.now() - box.clock.wallMs());

  const denied = new URL(String(last(await stopped(browser)).headers.location));
  denied.searchParams.delete('code');
  denied.searchParams.set('error', 'access_denied');
  const refusal = await browser.fetch(denied.href);
  t.match(refusal, { status: 401, text: /login_refused.*|access_denied/ });
  t.match(JSON.parse(refusal.text), { code: 'login_refused', error: /it says access_denied/ });
  const page = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const deniedAgain = new URL(String(last(await stopped(browser)).headers.location));
  deniedAgain.searchParams.delete('code');
  deniedAgain.searchParams.set('error', 'access_denied');
  const shown = await browser.fetch(deniedAgain.href, 'GET', undefined, page);
  t.match(shown, { status: 302, headers: { location: '/login?ended=login_refused', 'cache-control': 'no-store' }, text: '' }, 'a person gets a page');
  t.notOk(shown.headers['set-cookie'], 'and nobody is signed in');
  t.match(await browser.fetch(`${box.url}${CALLBACK}?state=x`, 'GET', undefined, page), { status: 302, headers: { location: '/login?ended=unknown_login' } });
  t.match(await browser.fetch(`${box.url}${LOGIN}?redirect=//evil.example`, 'GET', undefined, page), { status: 400, text: /off_site_redirect/ }, 'no page links so');
  const forged = new URL(String(last(await stopped(browser)).headers.location));
  forged.searchParams.set('code', 'forged');
  t.match(await browser.fetch(forged.href), { status: 401, text: /login_refused/ });
  const mixed = new URL(String(last(await stopped(browser)).headers.location));
  mixed.searchParams.set('iss', 'http://other.example');
  t.match(await browser.fetch(mixed.href), { status: 401, text: /login_refused/ }, 'the answer of another provider');
  t.ok(box.audits.filter(({ action, result }) => action === 'Login' && result === 'Rejected').length >= 4);
});
