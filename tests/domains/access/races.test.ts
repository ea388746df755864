/** Two callers at once: what is judged before a wait is judged again after it, and an attempt is counted before it is judged. */
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import t from 'tap';
import { PasswordHasher } from '../../../src/domains/access/passwords.js';
import { type Client, clientOf, type GatewayTest, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { at } from '../../support/at.js';

const MINUTE = 60_000;
const WRONG = 'wrong wrong wrong';
const BEHIND_PROXY = { settings: { trustedProxies: ['127.0.0.1'] } };

function login(test: GatewayTest, username: string, password: string, from?: string) {
  return test.request('POST', '/api/v1/auth/login', { body: { username, password }, ...(from === undefined ? {} : { headers: { 'X-Forwarded-For': from } }) });
}

function shapes(answers: readonly { status: number; body: unknown }[]): string[] {
  return [...new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`))];
}

t.test('D-C-21: of 60 logins at once, the right password among them, five are judged and every later one is answered alike', async (t) => {
  for (const right of [7, 19, 33, 59]) {
    const test = await startGatewayTest();
    await makeAccount(test, 'bob', ['operator']);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => login(test, 'bob', i === right ? PASSWORD : `${WRONG} ${i}`)));
    const judged = answers.filter(({ body }) => body.code !== 'account_locked');
    t.equal(judged.length, 5);
    // requests arrive on connections of their own, so the right one may be among the first five: then it is simply right
    if (judged.every(({ status }) => status === 401)) {
      t.equal(shapes(answers.filter((answer) => !judged.includes(answer))).length, 1, 'nobody learns which one was right');
      t.match(await login(test, 'bob', PASSWORD), { status: 401, body: { code: 'account_locked', retryAfterSeconds: 900 } });
    }
    await test.stop();
  }
});

t.test('D-C-21: logins at once with the right password are none too many: whoever waits is judged when those before him were right', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const answers = await Promise.all(Array.from({ length: 12 }, () => login(test, 'bob', PASSWORD)));
  t.same(
    answers.map(({ status }) => status),
    Array(12).fill(200),
  );
});

t.test('D-C-21: five failures lock the name for their address only, fifty over all addresses lock it for everybody', async (t) => {
  const test = await startGatewayTest(BEHIND_PROXY);
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  await makeAccount(test, 'bob', ['operator']);
  for (let i = 0; i < 5; i += 1) await login(test, 'bob', WRONG, '10.0.0.1');
  t.match((await login(test, 'bob', PASSWORD, '10.0.0.1')).body, { code: 'account_locked', retryAfterSeconds: 900 });
  t.equal((await login(test, 'bob', PASSWORD, '10.0.0.2')).status, 200, 'who comes from elsewhere is not shut out');
  t.match((await login(test, 'bob', PASSWORD, '10.0.0.1')).body, { code: 'account_locked' }, 'a success elsewhere unlocks nothing');
  t.match((await admin.get('/api/v1/auth/lockouts')).body, [{ username: 'bob', failedAttempts: 5, sourceIPs: ['10.0.0.1'], everywhere: false }]);
  t.match((await admin.get('/api/v1/system/health')).body.warnings, [/1 user name is locked/]);

  const many = await Promise.all(Array.from({ length: 60 }, (_, i) => login(test, 'bob', WRONG, `10.0.1.${i}`)));
  t.equal(many.filter(({ body }) => body.code === 'invalid_credentials').length, 45, 'the fifty are counted before they are judged');
  t.match((await login(test, 'bob', PASSWORD, '10.0.0.2')).body, { code: 'account_locked' });
  t.match((await admin.get('/api/v1/auth/lockouts')).body, [{ username: 'bob', failedAttempts: 50, everywhere: true }]);
  const locked = test.audits.filter(({ target, component }) => target.kind === 'LockOut' && component === 'access');
  t.match(locked, [{ details: { everywhere: false, address: '10.0.0.1' } }, { details: { everywhere: true } }]);
  t.equal((await admin.delete('/api/v1/auth/lockouts/bob')).status, 204);
  t.equal((await login(test, 'bob', PASSWORD, '10.0.0.1')).status, 200);
  t.same((await admin.get('/api/v1/system/health')).body.warnings, []);
});

t.test('D-C-07: a lock-out runs by elapsed time, whatever the clock says, and anew after a restart', async (t) => {
  const first = await startGatewayTest();
  await makeAccount(first, 'bob', ['operator']);
  for (let i = 0; i < 5; i += 1) await login(first, 'bob', WRONG);
  first.clock.jump(60 * MINUTE);
  t.match((await login(first, 'bob', PASSWORD)).body, { code: 'account_locked', retryAfterSeconds: 900 });
  first.clock.jump(-120 * MINUTE);
  t.match((await login(first, 'bob', PASSWORD)).body, { code: 'account_locked', retryAfterSeconds: 900 });
  first.clock.jump(600 * MINUTE);
  const second = await first.restart();
  t.match((await login(second, 'bob', PASSWORD)).body, { code: 'account_locked', retryAfterSeconds: 900 }, 'the interruption counts as nothing');
  second.clock.advance(15 * MINUTE);
  t.equal((await login(second, 'bob', PASSWORD)).status, 200);
  second.clock.advance(MINUTE);
  const third = await second.restart();
  t.teardown(() => third.stop());
  t.equal((await login(third, 'bob', PASSWORD)).status, 200, 'a lock that has run out is not kept');
});

t.test('D-C-21: waiting places are shared out by address; a flood keeps nobody else waiting', async (t) => {
  const hasher = new PasswordHasher({ ln: 12, r: 8, p: 1 });
  const order: string[] = [];
  const refused: string[] = [];
  const from = (source: string, rank: 0 | 1 | 2) =>
    hasher.verify(WRONG, undefined, { source, rank }).then(
      () => order.push(source),
      () => refused.push(source),
    );
  const flood = Array.from({ length: 40 }, () => from('flood', 1));
  const others = [from('panel', 1), ...Array.from({ length: 80 }, (_, i) => from(`bot-${i}`, 2)), from('known', 0)];
  await Promise.all([...flood, ...others]);
  t.ok(refused.length >= 20 && refused.every((source) => source === 'flood'), 'only who fills his own places is sent away');
  // of those whose turn it is at the same time any may be done first
  t.ok(order.indexOf('known') <= 10, 'whoever signed in from there before comes first');
  t.ok(order.indexOf('panel') <= 12, 'an address takes turns with the others');
});

t.test('D-C-19: the commissioning code serves once: of 64 first administrators at once one is made', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const code = test.code() as string;
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, i) => test.request('POST', '/api/v1/auth/first-admin', { body: { code, username: `admin${i}`, password: PASSWORD } })),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 1);
  t.ok(answers.every(({ status }) => status === 201 || status === 409));
  t.equal(test.access.users().length, 1);
});

t.test('D-C-19: a code whose administrator could not be made serves again; wrong code and bad password are told together', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const attempt = (body: Record<string, string>) =>
    test.request('POST', '/api/v1/auth/first-admin', { body: { code: test.code() as string, username: 'ada', password: PASSWORD, ...body } });
  const both = await attempt({ code: 'AAAA-AAAA-AAAA', password: 'short' });
  t.match(both, { status: 401, body: { code: 'invalid_commissioning_code', errors: [{ field: 'code' }, { field: 'password' }] } });
  t.match(both.body.error, /commissioning code is wrong.*password must have 12 to 128 characters/);
  t.match(await attempt({ password: 'short' }), { status: 400, body: { field: 'password' } });
  t.match(await attempt({ username: 'a d a' }), { status: 400, body: { field: 'username' } });
  t.equal((await attempt({})).status, 201);
});

t.test('D-C-19: wrong codes shut out the address they came from, not who stands at the console', async (t) => {
  const test = await startGatewayTest(BEHIND_PROXY);
  t.teardown(() => test.stop());
  const attempt = (code: string, from: string) =>
    test.request('POST', '/api/v1/auth/first-admin', { body: { code, username: 'ada', password: PASSWORD }, headers: { 'X-Forwarded-For': from } });
  for (let i = 0; i < 5; i += 1) t.equal((await attempt('AAAA-AAAA-AAAA', '10.0.0.1')).status, 401);
  t.equal((await attempt(test.code() as string, '10.0.0.1')).status, 429);
  t.equal((await attempt(test.code() as string, '10.0.0.2')).status, 201);
});

t.test('Q-AUTH-01: a changed password ends every other session, that of a login which overlapped it too', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  for (let round = 0; round < 6; round += 1) {
    const name = `bob${round}`;
    await makeAccount(test, name, ['operator']);
    const first = (await login(test, name, PASSWORD)).body;
    const bob = clientOf(test, name, first.accessToken, first.sessionId);
    const [changed, ...overlapping] = await Promise.all([
      bob.post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: `${PASSWORD}!` }),
      login(test, name, PASSWORD),
      login(test, name, PASSWORD),
    ]);
    t.equal(changed.status, 204);
    t.equal((await bob.get('/api/v1/auth/me')).status, 200);
    for (const answer of overlapping) {
      if (answer.status === 200) t.equal((await test.request('GET', '/api/v1/auth/me', { token: answer.body.accessToken })).status, 401);
    }
    t.equal(test.access.sessions.idsOf(name).length, 1);
  }
});

t.test('Q-AUTH-01: of two password changes at once one wins and the other is refused', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const clients = await Promise.all([1, 2].map(() => login(test, 'bob', PASSWORD)));
  const pair = clients.map(({ body }) => clientOf(test, 'bob', body.accessToken, body.sessionId));
  const answers = await Promise.all(pair.map((bob, i) => bob.post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: `new password of ${i}` })));
  t.same(answers.map(({ status }) => status).sort(), [204, 401]);
  const winner = answers.findIndex(({ status }) => status === 204);
  t.equal((await at(pair, winner).get('/api/v1/auth/me')).status, 200);
  t.equal((await login(test, 'bob', `new password of ${winner}`)).status, 200);
  const same = await Promise.all(
    [1, 2].map((i) => at(pair, winner).post('/api/v1/auth/password', { currentPassword: `new password of ${winner}`, newPassword: `newer password ${i}` })),
  );
  t.same(same.map(({ status }) => status).sort(), [204, 409], 'from one session as well');
});

t.test('a request whose body comes after its caller was dismissed, demoted or locked out of the site does nothing', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const cases = [
    { title: 'session ended', name: 'eve', act: (victim: Client) => admin.delete(`/api/v1/auth/sessions/${victim.sessionId}`), code: 'session_ended' },
    { title: 'demoted', name: 'eva', act: (victim: Client) => admin.put(`/api/v1/auth/users/${victim.username}`, { groups: ['lineside-viewer'] }), code: 'action_missing' },
    { title: 'nothing happened to him', name: 'evi', act: () => admin.get('/api/v1/version'), code: undefined },
  ];
  for (const { title, name, act, code } of cases) {
    const victim = await test.as('admin', `site-${name}`);
    const payload = JSON.stringify({ name, site: 'north' });
    const request = httpRequest({
      host: '127.0.0.1',
      port: test.port,
      method: 'POST',
      path: '/api/v1/mes/apikeys',
      agent: false,
      headers: { Authorization: `Bearer ${victim.token}`, 'X-DCS-Nonce': randomUUID(), 'Content-Type': 'application/json', 'Content-Length': payload.length },
    });
    const answered = new Promise<string>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (incoming) => {
        let text = '';
        incoming.on('data', (part) => (text += part));
        incoming.on('end', () => resolve(text));
      });
    });
    const touched = victimActivity(test, victim);
    request.write(payload.slice(0, 10));
    while (!touched()) await new Promise((resolve) => setImmediate(resolve)); // its head has been judged
    t.ok((await act(victim)).status < 300, title);
    request.end(payload.slice(10));
    t.equal(JSON.parse(await answered).code, code, title);
    t.equal((await admin.get(`/api/v1/mes/apikeys/${name}`)).status, code === undefined ? 200 : 404, title);
  }
});

/** Whether a request of somebody has been admitted: its activity is noted at the permission step. */
function victimActivity(test: GatewayTest, { sessionId }: Client): () => boolean {
  test.clock.advance(1);
  const beforeMs = test.clock.wallMs();
  return () => (test.access.sessions.get(sessionId)?.lastActivityAtMs ?? 0) >= beforeMs;
}

t.test('an administrator who is dismissed while his request waits does nothing any more', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const other = await test.as('admin', 'engineer');
  const [made, ended] = await Promise.all([
    other.post('/api/v1/auth/users', { username: 'eve', password: PASSWORD, displayName: 'Eve' }),
    admin.delete(`/api/v1/auth/sessions/${other.sessionId}`),
  ]);
  t.equal(ended.status, 204);
  if (made.status === 201) t.ok(test.audits.findIndex(({ target }) => target.name === 'eve') < test.audits.findIndex(({ action }) => action === 'Delete'));
  else t.match(made, { status: 401, body: { code: 'session_ended' } });
});
