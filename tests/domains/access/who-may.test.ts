/** Who may: groups fail closed, a confined caller hears of his sites only, and credentials come from where they should. */
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import t from 'tap';
import { createLog } from '../../../src/platform/base/log.js';
import { nearest } from '../../../src/platform/base/nearest.js';
import { makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { at } from '../../support/at.js';

t.test('D-C-17: a group that is neither a role nor of an existing site is refused with the nearest known one', async (t) => {
  const test = await startGatewayTest({ sites: ['north', 'site-probe'] });
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const user = { username: 'eve', password: PASSWORD, displayName: 'Eve' };
  const create = (...groups: string[]) => admin.post('/api/v1/auth/users', { ...user, groups });
  t.match(await create('lineside-operator', 'lineside-site-nroth'), { status: 400, body: { code: 'unknown_group', field: 'groups[1]', nearest: 'lineside-site-north' } });
  t.match(await create('lineside-oprator'), { status: 400, body: { field: 'groups[0]', error: /nearest known one is lineside-operator/ } });
  t.match(await create('operator'), { status: 400, body: { nearest: 'lineside-operator' } }, 'also without its prefix');
  t.match(await create('qa'), {
    status: 400,
    body: { code: 'unknown_group', error: /roles are .*lineside-supervisor.*, sites lineside-site-\{name\}/, known: ['lineside-admin'] },
  });
  t.match(await create('nonsense'), { status: 400, body: { code: 'unknown_group' } });
  t.match(await create('lineside-site-'), { status: 400 });
  t.equal(test.store.list({ kind: 'Account' } as never, '').length, 1, 'nothing was made');
  t.equal((await create('lineside-operator', 'lineside-site-north')).status, 201);
  t.match(await admin.put('/api/v1/auth/users/eve', { groups: ['lineside-siet-north'] }), { status: 400, body: { nearest: 'lineside-site-north' } });
  t.same((await admin.get('/api/v1/auth/users/eve')).body.groups, ['lineside-operator', 'lineside-site-north']);
  t.equal(nearest('lineside-siet-probe', ['lineside-viewer', 'lineside-site-probe']), 'lineside-site-probe');
});

t.test('D-C-17: who names only sites that do not exist sees none; what was granted before a site went can be kept', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const lost = await test.as('operator', 'site-nowhere');
  t.same((await lost.get('/api/v1/auth/me')).body.sites, []);
  t.match(await lost.get('/api/v1/version?site=north'), { status: 403 });
  t.equal((await admin.put(`/api/v1/auth/users/${lost.username}`, { displayName: 'Lost', groups: ['lineside-operator', 'lineside-site-nowhere'] })).status, 200);
  const free = await test.as('operator');
  t.equal((await free.get('/api/v1/auth/me')).body.sites, null);

  const strict = await startGatewayTest({ settings: { requireSiteGroup: true } });
  t.teardown(() => strict.stop());
  t.same((await (await strict.as('operator')).get('/api/v1/auth/me')).body.sites, []);
  t.same((await (await strict.as('operator', 'site-north')).get('/api/v1/auth/me')).body.sites, ['north']);
  t.equal((await (await strict.as('admin')).get('/api/v1/auth/me')).body.sites, null);
});

t.test('Q-ERR-16: an explicit null clears groups and e-mail of a user', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  await makeAccount(test, 'bob', ['operator'], { email: 'bob@plant.example' });
  const cleared = await admin.put('/api/v1/auth/users/bob', { groups: null, email: null });
  t.match(cleared, { status: 200, body: { groups: [], displayName: 'bob' } });
  t.notOk('email' in cleared.body);
  t.match(await admin.put('/api/v1/auth/users/bob', { displayName: null }), { status: 400, body: { field: 'displayName' } });
});

t.test('Q-NONCE-01: a nonce with a byte beyond ASCII within is refused', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  for (const odd of ['abc\xc3\xa9defgh', 'abcd\xe9efgh', 'abcd\x80\x81efgh']) {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(test.port, '127.0.0.1', () => {
        const head = `POST /api/v1/auth/logout HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${admin.token}\r\nX-DCS-Nonce: ${odd}\r\nContent-Length: 0\r\n\r\n`;
        socket.write(Buffer.from(head, 'latin1'));
      });
      socket.on('data', (bytes) => {
        resolve(at(bytes.toString('latin1').split('\r\n'), 0));
        socket.destroy();
      });
      socket.on('error', reject);
    });
    t.match(answer, /^HTTP\/1.1 400/);
  }
  t.equal((await admin.get('/api/v1/auth/me')).status, 200);
});

t.test('system/health of a confined caller names no other site', async (t) => {
  const test = await startGatewayTest({
    health: {
      runtimes: () => ['north', 'south'].map((site) => ({ site, unit: `tk-${site}`, ready: false, message: '' })),
      troubles: () => ['a row of south cannot be read'],
      contained: () => ({ total: 1, recent: 0, seams: [{ seam: 'unit south/tk', count: 1, lastAt: '', message: '' }] }),
    },
  });
  t.teardown(() => test.stop());
  const confined = await (await test.as('supervisor', 'site-north')).get('/api/v1/system/health');
  t.match(confined.body.runtimes, [{ site: 'north' }]);
  t.notMatch(confined.text, /south/);
  t.equal(confined.body.box.used, null, 'how large the other sites are is not told either');
  const everywhere = await (await test.as('viewer')).get('/api/v1/system/health');
  t.match(everywhere.text, /tk-south/);
  t.match(everywhere.body.box.used, { units: 0, tags: 0, streams: 0 });
});

t.test('a page of another origin opens no WebSocket and renews no session; our own, configured ones and programs do', async (t) => {
  const test = await startGatewayTest({ settings: { allowedOrigins: ['https://panel.example'], trustedProxies: ['127.0.0.1'] } });
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const { refreshToken } = (await test.request('POST', '/api/v1/auth/login', { body: { username: 'bob', password: PASSWORD } })).body;
  const refresh = (headers: Record<string, string>) => test.request('POST', '/api/v1/auth/refresh', { body: { refreshToken }, headers });
  for (const origin of ['http://evil.example', 'null', `http://127.0.0.1.evil.example:${test.port}`, 'file://', 'https://panel.example.evil.example']) {
    t.match(await refresh({ Origin: origin }), { status: 403, body: { code: 'foreign_origin' } }, origin);
  }
  for (const headers of [
    {},
    { Origin: `http://127.0.0.1:${test.port}` },
    { Origin: 'https://panel.example' },
    { Origin: 'https://plant.example', 'X-Forwarded-Host': 'plant.example', 'X-Forwarded-For': '10.0.0.1' },
  ]) {
    t.equal((await refresh(headers as Record<string, string>)).status, 200, JSON.stringify(headers));
  }
});

t.test('D-AUTH-05: no log line carries a token, a key or a password', async (t) => {
  const lines: string[] = [];
  const log = createLog(
    new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const key = `lsk_${'k'.repeat(43)}`;
  const jwt = `${Buffer.from('{"alg":"EdDSA"}').toString('base64url')}.e30.c2ln`;
  log.info({ url: `/api/v1/ws?unit=a&token=${jwt}`, accessToken: 'secret-1', request: { cookie: 'secret-2', newPassword: 'secret-3' } }, `refused ?token=secret-4&x=1 for ${key}`);
  log.error({ err: new Error(`cannot read ${jwt}`) }, 'a fault');
  t.notMatch(lines.join(''), /secret-\d|lsk_k|e30\.c2ln/);
  t.match(lines.join(''), /token=\[Redacted\]/);
});
