import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { selfSigned } from '../../../src/platform/tls/self-signed.js';
import type { GatewayTest } from '../../support/gateway.js';
import { json, jwkOf, LyingIssuer, rsaKey, type SigningKey, startOidcTest, tokenOf } from '../../support/lying-issuer.js';
import { ownFolder } from '../../support/own-folder.js';

const HOUR = 3_600_000;
const old = rsaKey('old');

async function pair(t: Test, keys: readonly SigningKey[] = [old]): Promise<{ readonly issuer: LyingIssuer; readonly box: GatewayTest }> {
  const issuer = await new LyingIssuer(keys).start();
  const box = await startOidcTest(issuer.url, { settings: { rateLimitEnabled: false } });
  t.teardown(() => Promise.all([issuer.stop(), box.stop()]));
  return { issuer, box };
}

function tokenFor(issuer: LyingIssuer, box: GatewayTest, key: SigningKey, more: Record<string, unknown> = {}, header: Record<string, unknown> = {}): string {
  const now = Math.floor(box.clock.wallMs() / 1000);
  return tokenOf(key, { iss: issuer.url, aud: 'lineside', sub: 'sub-1', groups: ['lineside-viewer'], iat: now, exp: now + 36 * 3600, ...more }, header);
}

const me = (box: GatewayTest, token: string) => box.request('GET', '/api/v1/auth/me', { token });
const health = async (box: GatewayTest, token: string): Promise<string> => (await box.request('GET', '/api/v1/system/health', { token })).body.warnings.join('\n');

t.test('D-AUTH-04: a new key is fetched once, and a flood of unknown ones costs at most one fetch in 30 s', async (t) => {
  const { issuer, box } = await pair(t);
  t.equal((await me(box, tokenFor(issuer, box, old))).status, 200);
  t.equal(issuer.keysAsked(), 1);
  box.clock.advance(31_000);
  const fresh = rsaKey('fresh');
  issuer.keys = [jwkOf(fresh)];
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => me(box, tokenFor(issuer, box, fresh, { sub: `sub-${n}` }))));
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]), 'rotation is honoured');
  t.equal(issuer.keysAsked(), 2, 'by one fetch');
  t.equal((await me(box, tokenFor(issuer, box, old))).status, 401, 'what the old key has signed is over');
  for (let round = 0; round < 10; round += 1) {
    const flood = Array.from({ length: 200 }, (_, n) => me(box, tokenFor(issuer, box, old, {}, { kid: `kid-${round}-${n}` })));
    t.same(new Set((await Promise.all(flood)).map(({ status }) => status)), new Set([401]));
  }
  t.equal(issuer.keysAsked(), 2, '2,000 unknown keys within 30 s cost nothing more');
  box.clock.advance(31_000);
  await Promise.all(Array.from({ length: 200 }, (_, n) => me(box, tokenFor(issuer, box, old, {}, { kid: `kid-${n}` }))));
  t.equal(issuer.keysAsked(), 3);
});

t.test('D-AUTH-04: without the identity provider the box starts, known keys go on for 24 h, logins answer 503 in words, and it comes back by itself', async (t) => {
  const { issuer, box: first } = await pair(t);
  const viewer = tokenFor(issuer, first, old);
  t.equal((await me(first, viewer)).status, 200);
  await issuer.stop();

  const box = await first.restart();
  t.teardown(() => box.stop());
  box.access.start();
  const refused = await box.request('GET', '/api/v1/auth/oidc/login?redirect=/hmi');
  t.match(refused, {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { code: 'issuer_unavailable', error: /identity provider does not answer \(.*ECONNREFUSED\)\); try again/ },
  });
  t.equal((await me(box, viewer)).status, 200, 'a key that is known');
  t.match(await health(box, viewer), /the identity provider http:\/\/127\.0\.0\.1:\d+ is not there since .*nobody can sign in, who is signed in goes on/);
  t.equal((await me(box, tokenFor(issuer, box, rsaKey('unknown')))).status, 401);
  box.clock.advance(23 * HOUR);
  t.equal((await me(box, tokenFor(issuer, box, old, { sub: 'late' }))).status, 200);
  box.clock.advance(2 * HOUR);
  t.match(await me(box, tokenFor(issuer, box, old, { sub: 'too late' })), { status: 401, body: { code: 'invalid_token', error: /identity provider does not answer/ } });
  t.match(await me(box, viewer), { status: 401 }, 'one that was proven before is proven anew, and nobody can');

  await issuer.start();
  box.clock.advance(60_000);
  t.match(await box.request('GET', '/api/v1/auth/oidc/login?redirect=/hmi'), { status: 302 });
  const back = tokenFor(issuer, box, old, { sub: 'back' });
  t.equal((await me(box, back)).status, 200);
  t.notMatch(await health(box, back), /identity provider/);
});

t.test('D-AUTH-04: auth.oidc.caFile alone says which certificate of the identity provider is good', async (t) => {
  const wish = { notBeforeMs: Date.now() - HOUR, notAfterMs: Date.now() + HOUR };
  const pem = selfSigned({ names: ['127.0.0.1'], ...wish });
  const folder = ownFolder(t, { 'ca.pem': pem, 'other.pem': selfSigned({ names: ['127.0.0.1'], ...wish }), 'name.pem': selfSigned({ names: ['issuer.example'], ...wish }) });
  const boxWith = async (of: LyingIssuer, file: string | null): Promise<GatewayTest> => {
    const box = await startOidcTest(of.url, { settings: { oidcCaFile: file === null ? null : path.join(folder, file), rateLimitEnabled: false } });
    t.teardown(() => box.stop());
    return box;
  };
  const login = (box: GatewayTest) => box.request('GET', '/api/v1/auth/oidc/login?redirect=/hmi');
  const issuer = await new LyingIssuer([old], pem).start();
  const misnamed = await new LyingIssuer([old], readFileSync(path.join(folder, 'name.pem'), 'utf8')).start();
  t.teardown(() => Promise.all([issuer.stop(), misnamed.stop()]));
  const box = await boxWith(issuer, 'ca.pem');
  t.match(await login(box), { status: 302, headers: { location: new RegExp(`^${issuer.url}/auth\\?`) } });
  t.equal((await me(box, tokenFor(issuer, box, old))).status, 200, 'its keys are asked for in the same way');
  for (const [of, file, why] of [
    [issuer, 'other.pem', /DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY|CERT_SIGNATURE_FAILURE/],
    [issuer, null, /DEPTH_ZERO_SELF_SIGNED_CERT/],
    [misnamed, 'name.pem', /ERR_TLS_CERT_ALTNAME_INVALID/],
  ] as const)
    t.match(await login(await boxWith(of, file)), { status: 503, body: { code: 'issuer_unavailable', error: why } }, String(file));
  const page = await (await boxWith(misnamed, 'name.pem')).request('GET', '/api/v1/auth/oidc/login', { headers: { Accept: 'text/html' } });
  t.match(page, { status: 302, headers: { location: '/login?ended=issuer_unavailable' } }, 'a person gets a page');
});

t.test('D-AUTH-04: an identity provider that lies about itself or its keys is not there', async (t) => {
  const { issuer, box } = await pair(t);
  const lies: Record<string, unknown> = {
    'another name': { ...issuer.metadata(), issuer: 'http://127.0.0.1:1/other' },
    'no JSON object': [],
    'far too long': { ...issuer.metadata(), padding: 'x'.repeat(600_000) },
  };
  const discovery = '/.well-known/openid-configuration';
  const login = () => box.request('GET', '/api/v1/auth/oidc/login');
  for (const [title, answer] of Object.entries(lies)) {
    issuer.answers.set(discovery, (_, res) => json(res, 200, answer));
    t.match(await login(), { status: 503, body: { code: 'issuer_unavailable' } }, title);
    box.clock.advance(6000);
  }
  issuer.answers.set(discovery, (_, res) => res.writeHead(302, { Location: '/elsewhere' }).end());
  t.match(await login(), { status: 503, body: { error: /sends elsewhere/ } });
  t.notOk(issuer.asked.includes('/elsewhere'), 'no redirect is followed');
  box.clock.advance(6000);
  issuer.answers.set(discovery, (_, res) => res.writeHead(500).end());
  t.match(await login(), { status: 503, body: { error: /HTTP 500/ } });
  issuer.answers.delete(discovery);
  for (const keys of ['no list', [], [{ kty: 'oct', k: 'c2VjcmV0', kid: 'old', alg: 'HS256' }], [null, 1, 'x']]) {
    box.clock.advance(70_000);
    issuer.answers.set('/jwks', (_, res) => json(res, 200, { keys }));
    t.match(await me(box, tokenFor(issuer, box, old)), { status: 401 }, JSON.stringify(keys).slice(0, 30));
  }
});
