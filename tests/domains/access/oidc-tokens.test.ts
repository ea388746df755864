import t from 'tap';
import type { GatewayTest } from '../../support/gateway.js';
import { ecKey, edKey, encoded, hmacToken, jwkOf, LyingIssuer, rsaKey, signatureOf, startOidcTest, tokenOf } from '../../support/lying-issuer.js';
import { leading } from '../../support/at.js';

const HOUR = 3_600_000;
const rsa = rsaKey('rsa-1');
const ec = ecKey('ec-1');
const ed = edKey('ed-1');
const stranger = rsaKey('rsa-1');
const issuer = await new LyingIssuer([rsa, ec, ed]).start();
const test = await startOidcTest(issuer.url);
t.teardown(() => Promise.all([issuer.stop(), test.stop()]));
test.access.start();

const seconds = (of: GatewayTest): number => Math.floor(of.clock.wallMs() / 1000);
const claims = (more: Record<string, unknown> = {}, of = test): Record<string, unknown> => {
  const now = seconds(of);
  return { iss: issuer.url, aud: 'lineside', sub: 'sub-1', preferred_username: 'anna', name: 'Anna', groups: ['lineside-operator'], iat: now, exp: now + 600, ...more };
};
const without = (...names: string[]): Record<string, unknown> => Object.fromEntries(Object.entries(claims()).filter(([name]) => !names.includes(name)));
const me = (token: string, of = test) => of.request('GET', '/api/v1/auth/me', { headers: { Authorization: `Bearer ${token}` } });

t.test('AUTH-01, AUTH-04, D-AUTH-04: a bearer token of the identity provider gives its person, by each accepted algorithm', async (t) => {
  const answer = await me(tokenOf(rsa, claims({ auth_time: seconds(test) - 10, sid: 's-1', email: 'anna@example.org' })));
  t.match(answer, {
    status: 200,
    body: {
      accountId: 'sub-1',
      username: 'anna',
      displayName: 'Anna',
      groups: ['lineside-operator'],
      tiers: ['read', 'operate'],
      sites: null,
      authMode: 'oidc',
      sessionId: `${issuer.url}#s-1`,
    },
  });
  for (const key of [ec, ed, ...['RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg) => ({ ...rsa, alg, kid: alg }))]) {
    if (key.kid === key.alg) issuer.keys.push(jwkOf(key));
  }
  test.clock.advance(5 * 60_000 + 1000); // the keys are looked at again
  for (const alg of ['RS256', 'ES256', 'EdDSA', 'RS384', 'PS256', 'PS384', 'PS512', 'RS512']) {
    const key = [rsa, ec, ed].find((known) => known.alg === alg) ?? { ...rsa, alg, kid: alg };
    t.equal((await me(tokenOf(key, claims()))).status, 200, alg);
  }
  t.equal((await me(tokenOf(rsa, claims({ aud: ['other', 'lineside'] }), { typ: 'JWT' }))).status, 200, 'one audience of several');
  t.match((await me(tokenOf(rsa, without('name', 'preferred_username')))).body, { username: 'sub-1', displayName: 'sub-1' });
});

t.test('D-AUTH-04, D-AUTH-05: what is no token of the identity provider for this box is refused, and nothing that it names is fetched', async (t) => {
  const trap = await new LyingIssuer([stranger]).start();
  t.teardown(() => trap.stop());
  const good = tokenOf(rsa, claims());
  t.equal((await me(good)).status, 200);
  const [head, payload, signature] = leading(good.split('.'), 3);
  const now = seconds(test);
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
  const der = rsa.publicKey.export({ type: 'spki', format: 'der' });
  const body = JSON.stringify(claims());
  const nested = JSON.stringify({ ...claims(), deep: JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) });
  const cases: Record<string, string> = {
    'alg none, no signature': `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'alg None': `${encoded({ alg: 'None', typ: 'JWT', kid: rsa.kid })}.${payload}.${signature}`,
    'alg nOnE and a signature': `${encoded({ alg: 'nOnE', typ: 'JWT', kid: rsa.kid })}.${payload}.${signature}`,
    'alg is missing': tokenOf(rsa, body, '{"typ":"JWT","kid":"rsa-1"}'),
    'alg is no text': tokenOf(rsa, claims(), { alg: 256 }),
    'alg in a list': tokenOf(rsa, claims(), { alg: ['RS256'] }),
    'HS256 keyed with the public key as PEM': hmacToken(claims(), { alg: 'HS256', typ: 'JWT', kid: rsa.kid }, pem),
    'HS256 keyed with the public key as DER': hmacToken(claims(), { alg: 'HS256', typ: 'JWT', kid: rsa.kid }, der),
    'HS256 keyed with the modulus': hmacToken(claims(), { alg: 'HS256', typ: 'JWT', kid: rsa.kid }, String(rsa.publicKey.export({ format: 'jwk' }).n)),
    'HS256 with the empty key': hmacToken(claims(), { alg: 'HS256', typ: 'JWT', kid: rsa.kid }, ''),
    'HS256 keyed with the client id': hmacToken(claims(), { alg: 'HS256', typ: 'JWT' }, 'lineside'),
    'RS256 with the key of somebody else': tokenOf(stranger, claims()),
    'ES256 on the RSA key': tokenOf({ ...ec, kid: rsa.kid }, claims()),
    'RS256 on the EC key': tokenOf({ ...rsa, kid: ec.kid }, claims()),
    'PS256 on a key for RS256': tokenOf({ ...rsa, alg: 'PS256' }, claims()),
    'EdDSA on the EC key': tokenOf({ ...ed, kid: ec.kid }, claims()),
    'ES256 of all-zero signature': `${encoded({ alg: 'ES256', typ: 'JWT', kid: ec.kid })}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'ES256 of r = s = order': `${encoded({ alg: 'ES256', typ: 'JWT', kid: ec.kid })}.${payload}.${Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'.repeat(2), 'hex').toString('base64url')}`,
    'ES256 with a DER signature': `${encoded({ alg: 'ES256', typ: 'JWT', kid: ec.kid })}.${payload}.${Buffer.from('30060201010201010000', 'hex').toString('base64url')}`,
    'EdDSA of all-zero signature': `${encoded({ alg: 'EdDSA', typ: 'JWT', kid: ed.kid })}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    'RS256 of all-zero signature': `${head}.${payload}.${Buffer.alloc(256).toString('base64url')}`,
    'no signature': `${head}.${payload}.`,
    'signature cut short': `${head}.${payload}.${signature.slice(0, -8)}`,
    'signature with a byte more': `${head}.${payload}.${Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(1)]).toString('base64url')}`,
    'signature respelled': `${head}.${payload}.${respelled(signature)}`,
    'signature padded': `${good}==`,
    'payload respelled': (() => {
      const other = tokenOf(rsa, `${body} `).split('.');
      return `${other[0]}.${respelled(other[1] as string)}.${other[2]}`;
    })(),
    'payload of another token': `${head}.${encoded(claims({ groups: ['lineside-admin'] }))}.${signature}`,
    'header of another token': `${encoded({ alg: 'RS256', kid: rsa.kid, typ: 'JWT', x: 1 })}.${payload}.${signature}`,
    'one part': 'abc',
    'two parts': `${head}.${payload}`,
    'four parts': `${good}.x`,
    'five parts, as an encrypted token has': `${head}..${payload}.${signature}.x`,
    'empty parts': '..',
    'standard base64 in a part': `${head}.${payload}.${Buffer.from(signature, 'base64url').toString('base64')}`,
    'header is a list': tokenOf(rsa, body, '[]'),
    'header is a text': tokenOf(rsa, body, '"RS256"'),
    'header is null': tokenOf(rsa, body, 'null'),
    'header is no JSON': tokenOf(rsa, body, '{alg:RS256}'),
    'payload is a list': tokenOf(rsa, '[]'),
    'payload is no JSON': tokenOf(rsa, 'sub=1'),
    'payload is no UTF-8': (() => {
      const signed = `${head}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}`;
      return `${signed}.${signatureOf(signed, rsa)}`;
    })(),
    'payload nested deeper than any': tokenOf(rsa, nested),
    'alg stands twice': tokenOf(rsa, body, '{"alg":"none","alg":"RS256","kid":"rsa-1","typ":"JWT"}'),
    'kid stands twice, once escaped': tokenOf(rsa, body, '{"alg":"RS256","kid":"x","\\u006bid":"rsa-1","typ":"JWT"}'),
    'sub stands twice': tokenOf(rsa, `${body.slice(0, -1)},"sub":"sub-2"}`),
    'groups stand twice': tokenOf(rsa, `${body.slice(0, -1)},"groups":["lineside-admin"]}`),
    'a member of an inner object stands twice': tokenOf(rsa, `${body.slice(0, -1)},"realm_access":{"roles":[],"roles":["x"]}}`),
    'jwk in the header': tokenOf(stranger, claims(), { jwk: jwkOf(stranger) }),
    'jku in the header': tokenOf(stranger, claims(), { jku: `${trap.url}/jwks` }),
    'x5u in the header': tokenOf(stranger, claims(), { x5u: `${trap.url}/x5u` }),
    'x5c in the header': tokenOf(stranger, claims(), { x5c: ['AAAA'] }),
    'jku beside a good signature': tokenOf(rsa, claims(), { jku: `${trap.url}/jwks` }),
    'crit of nothing': tokenOf(rsa, claims(), { crit: [] }),
    'crit of an extension': tokenOf(rsa, claims(), { crit: ['exp'], exp: 1 }),
    'b64 false': tokenOf(rsa, claims(), { b64: false, crit: ['b64'] }),
    'zip in the header': tokenOf(rsa, claims(), { zip: 'DEF' }),
    'nested token': tokenOf(rsa, claims(), { cty: 'JWT' }),
    'kid is a path': tokenOf(stranger, claims(), { kid: '../../../dev/null' }),
    'kid is an address': tokenOf(stranger, claims(), { kid: `${trap.url}/jwks` }),
    'kid is no text': tokenOf(rsa, claims(), { kid: 1 }),
    'kid is the empty text': tokenOf(rsa, claims(), { kid: '' }),
    'no kid, and several keys fit': tokenOf(ed, claims(), { kid: undefined, alg: 'RS256' }),
    'typ is missing': tokenOf(rsa, claims(), { typ: undefined }),
    'typ of a logout token': tokenOf(rsa, claims(), { typ: 'logout+jwt' }),
    'typ of a proof of possession': tokenOf(rsa, claims(), { typ: 'dpop+jwt' }),
    'typ of a client assertion': tokenOf(rsa, claims(), { typ: 'client-authentication+jwt' }),
    'iss of somebody else': tokenOf(rsa, claims({ iss: trap.url })),
    'iss with a slash more': tokenOf(rsa, claims({ iss: `${issuer.url}/` })),
    'iss in a list': tokenOf(rsa, claims({ iss: [issuer.url] })),
    'iss is missing': tokenOf(rsa, without('iss')),
    'iss is this box': tokenOf(rsa, claims({ iss: `lineside:${test.access.authenticator.anonymous.accountId}` })),
    'aud of somebody else': tokenOf(rsa, claims({ aud: 'other' })),
    'aud is a prefix': tokenOf(rsa, claims({ aud: 'lineside2' })),
    'aud is an empty list': tokenOf(rsa, claims({ aud: [] })),
    'aud is an object': tokenOf(rsa, claims({ aud: { lineside: true } })),
    'aud is missing': tokenOf(rsa, without('aud')),
    'sub is missing': tokenOf(rsa, without('sub')),
    'sub is empty': tokenOf(rsa, claims({ sub: '' })),
    'sub is a number': tokenOf(rsa, claims({ sub: 1 })),
    'sub has a line end': tokenOf(rsa, claims({ sub: 'a\nb' })),
    'exp is missing': tokenOf(rsa, without('exp')),
    'exp is a text': tokenOf(rsa, claims({ exp: String(now + 600) })),
    'exp beyond every calendar': tokenOf(rsa, body.replace(/"exp":\d+/, '"exp":1e300')),
    'iat is missing': tokenOf(rsa, without('iat')),
    'iat is negative': tokenOf(rsa, claims({ iat: -1 })),
    'iat in 61 s': tokenOf(rsa, claims({ iat: now + 62 })),
    'nbf in 61 s': tokenOf(rsa, claims({ nbf: now + 62 })),
    'nbf is a text': tokenOf(rsa, claims({ nbf: 'now' })),
    'auth_time in 61 s': tokenOf(rsa, claims({ auth_time: now + 62 })),
    'auth_time is a text': tokenOf(rsa, claims({ auth_time: 'now' })),
    'sid is an object': tokenOf(rsa, claims({ sid: {} })),
    'bound to a key of its client': tokenOf(rsa, claims({ cnf: { jkt: 'x' } })),
    'a logout token by its events': tokenOf(rsa, claims({ events: {} })),
    'longer than any token': tokenOf(rsa, claims({ padding: 'x'.repeat(13_000) })),
    'an ID token by its claim': tokenOf(rsa, claims({ typ: 'ID' })),
    'an ID token by the nonce of its sign-in': tokenOf(rsa, claims({ nonce: 'n-1' }), { typ: 'JWT' }),
    'an ID token by the digest of the access token beside it': tokenOf(rsa, claims({ at_hash: 'x' }), { typ: 'JWT' }),
    'a refresh token by its claim': tokenOf(rsa, claims({ typ: 'Refresh' })),
  };
  for (const [title, token] of Object.entries(cases)) t.match(await me(token), { status: 401, body: { code: 'invalid_token' } }, title);
  t.ok(Object.keys(cases).length >= 60, `${Object.keys(cases).length} cases`);
  t.match(await me(tokenOf(rsa, claims({ exp: now - 61 }))), { status: 401, body: { code: 'token_expired' } });
  t.same(trap.asked, [], 'nothing was asked of an address that a token names');

  const twice = await test.request('GET', '/api/v1/auth/me', { headers: { Authorization: [`Bearer ${good}`, `Bearer ${good}`] } });
  t.match(twice, { status: 401, body: { code: 'invalid_token' } }, 'two Authorization headers');
  t.match((await test.request('GET', '/api/v1/auth/me', { headers: { Authorization: `Bearer ${good}, Bearer ${good}` } })).body, { code: 'invalid_token' });
  t.match((await test.request('GET', '/api/v1/auth/me', { headers: { Authorization: `DPoP ${good}` } })).body, { code: 'invalid_token' });
  t.equal((await me(good)).status, 200);
  t.notMatch(JSON.stringify(test.audits), new RegExp(signature.slice(0, 40)), 'no token is in the audit trail');
});

t.test('Q-AUTH-09, D-C-07: claims of the identity provider are judged by the wall clock, 60 s late; the fresh-token rule by iat and auth_time', async (t) => {
  const now = seconds(test);
  const late = tokenOf(rsa, claims({ exp: now - 58, iat: now - 600 }));
  t.equal((await me(late)).status, 200, 'within the leeway');
  test.clock.jump(3000);
  t.match((await me(late)).body, { code: 'token_expired' }, 'a token that was proven before is judged each time');
  test.clock.jump(-3000);
  t.equal((await me(tokenOf(rsa, claims({ iat: now + 59, nbf: now + 59 })))).status, 200);
  const sign = async (more: Record<string, unknown>) => (await test.request('GET', '/api/v1/auth/me', { token: tokenOf(rsa, claims(more)) })).body as { authTime: string | null };
  t.equal((await sign({ auth_time: now - 300 })).authTime, new Date((now - 300) * 1000).toISOString());
  const { isFresh } = await import('../../../src/platform/http/barriers/fresh-token.js');
  const fresh = async (more: Record<string, unknown>) => {
    const token = `Bearer ${tokenOf(rsa, claims(more))}`;
    const proven = await test.access.authenticator.prove(token);
    return isFresh(test.access.authenticator.authenticate(token, proven), now * 1000);
  };
  t.same(
    await Promise.all([
      fresh({ iat: now - 300 }),
      fresh({ iat: now - 301 }),
      fresh({ auth_time: now - 300 }),
      fresh({ auth_time: now - 301 }),
      fresh({ iat: now - 301, auth_time: now }),
    ]),
    [true, false, true, false, false],
  );
});

t.test('D-C-17: groups that are not a list of plain texts are none; groups confine to sites', async (t) => {
  const groups = async (value: unknown) => (await me(tokenOf(rsa, claims({ groups: value })))).body;
  const odd: readonly unknown[] = [
    undefined,
    null,
    'lineside-admin',
    { 0: 'lineside-admin' },
    ['lineside-admin', 1],
    ['lineside-admin', null],
    [['lineside-admin']],
    ['lineside-viewer\nlineside-admin'],
    ['lineside-admin', ''],
    ['lineside-admin', 'x'.repeat(300)],
    Array.from({ length: 1001 }, (_, n) => `g${n}`).concat('lineside-admin'),
    true,
  ];
  for (const value of odd.slice(0, -2)) t.match(await groups(value), { groups: [], tiers: [], actions: [] }, JSON.stringify(value)?.slice(0, 60));
  t.match(await groups(['lineside-admin']), { sites: null, tiers: ['read', 'operate', 'operate-lead', 'engineer', 'supervise', 'admin'] });
  t.match(await groups(['lineside-operator', 'lineside-site-north']), { sites: ['north'] });
  t.match(await groups(['lineside-operator', 'lineside-site-nrth']), { sites: [] }, 'a site that is none: no site at all');
  t.match(await groups(['lineside-admin', 'lineside-site-north']), { sites: null });

  const dotted = await startOidcTest(issuer.url, { settings: { oidcGroupsClaim: 'realm_access.roles', oidcUsernameClaim: 'login' } });
  t.teardown(() => dotted.stop());
  dotted.access.start();
  const asked = (more: Record<string, unknown>) => me(tokenOf(rsa, claims({ login: 'bert', ...more }, dotted)), dotted);
  t.match((await asked({ realm_access: { roles: ['lineside-engineer'] } })).body, { username: 'bert', groups: ['lineside-engineer'] });
  t.match((await asked({ 'realm_access.roles': ['lineside-viewer'] })).body, { groups: ['lineside-viewer'] }, 'a claim whose name has the dot');
  for (const realm_access of [undefined, null, 'x', [], { roles: 'lineside-admin' }]) t.match((await asked({ realm_access })).body, { groups: [] });
});

t.test('D-AUTH-04: a session of the identity provider is listed and revoked by its id; every token with it is refused, also after a restart', async (t) => {
  const first = await startOidcTest(issuer.url);
  first.access.start();
  const now = seconds(first);
  const of = (more: Record<string, unknown>) => tokenOf(rsa, claims(more, first));
  const admin = of({ sub: 'boss', sid: 'boss', groups: ['lineside-admin'] });
  const [one, two] = [of({ sid: 's-9' }), of({ sid: 's-9', exp: now + 900 })];
  const other = of({ auth_time: now - 5 });
  for (const token of [one, two, other]) t.equal((await me(token, first)).status, 200);
  const listed = (await first.request('GET', '/api/v1/auth/sessions', { token: admin })).body as { id: string; username: string; current: boolean }[];
  t.same(new Set(listed.map(({ id }) => id)), new Set([`${issuer.url}#boss`, `${issuer.url}#s-9`, `${issuer.url}#sub-1@${now - 5}`]));
  const ended: string[] = [];
  first.access.authenticator.onEnded((id, reason) => ended.push(`${id} ${reason}`));
  const path = `/api/v1/auth/sessions/${encodeURIComponent(`${issuer.url}#s-9`)}`;
  t.equal((await first.request('DELETE', path, { token: admin })).status, 204);
  t.equal((await first.request('DELETE', path, { token: admin })).status, 404);
  t.same(ended, [`${issuer.url}#s-9 session ended: terminated by administrator`]);
  for (const token of [one, two, of({ sid: 's-9', iat: now + 1 })]) t.match((await me(token, first)).body, { code: 'session_ended' });
  t.equal((await me(other, first)).status, 200);
  t.equal((await first.request('POST', '/api/v1/auth/logout', { token: other })).status, 204);
  t.match((await me(other, first)).body, { code: 'session_ended' });
  t.ok(first.audits.some(({ action, target }) => action === 'Delete' && target.name === `${issuer.url}#s-9`));

  const second = await first.restart();
  t.teardown(() => second.stop());
  second.access.start();
  t.match((await me(two, second)).body, { code: 'session_ended' });
  second.clock.advance(23 * HOUR);
  const later = seconds(second);
  t.match((await me(tokenOf(rsa, claims({ sid: 's-9', iat: later, exp: later + 600 }, second)), second)).body, { code: 'session_ended' });
  second.clock.advance(23 * HOUR);
  const latest = seconds(second);
  t.match(
    (await me(tokenOf(rsa, claims({ sid: 's-9', iat: latest, exp: latest + 600 }, second)), second)).body,
    { code: 'session_ended' },
    'a later expiry that was seen keeps it so',
  );
  second.clock.advance(26 * HOUR);
  const over = seconds(second);
  t.equal((await me(tokenOf(rsa, claims({ sid: 's-9', iat: over, exp: over + 600 }, second)), second)).status, 200);
});

function respelled(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(part.at(-1) as string);
  return part.slice(0, -1) + alphabet[last % 2 === 0 ? last + 1 : last - 1];
}
