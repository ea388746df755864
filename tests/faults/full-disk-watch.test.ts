/** While nothing can be written everybody can watch: known accounts sign in and refresh, and the trail tells of it afterwards (D-C-09). */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';

const PASSWORD = 'correct horse battery';
const credentials = { username: 'ada', password: PASSWORD };

t.test('a disk that is full for longer than a token lives', async (t) => {
  if (!canLimitFiles(t)) return;
  const box = await applianceProcess({ environment: { LINESIDE_LOG_LEVEL: 'error' }, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  const writable = (is: boolean): void => limitFiles(box.pid, is ? undefined : 0);
  await box.start();
  t.equal((await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials })).status, 201);
  const before = (await box.api.post('/api/v1/auth/login', credentials)).body as { accessToken: string; refreshToken: string };
  const as = (token: string) => box.api.with(`Bearer ${token}`);

  writable(false);
  const why = /the disk refused a commit: /;
  const eve = () => as(before.accessToken).post('/api/v1/auth/users', { username: 'eve', password: PASSWORD, displayName: 'Eve' });
  t.match(await eve(), { status: 503, body: { error: why } }, 'whoever is refused is told why');
  t.match(await eve(), { status: 503, body: { error: why } });
  t.match(await box.api.get('/readyz'), { status: 503, body: { status: 'storage_unavailable', message: why } });
  await box.says(/"reason":"the disk refused a commit: /);
  const nonce = randomUUID();
  const refresh = () => box.api.post('/api/v1/auth/refresh', { refreshToken: before.refreshToken }, { 'x-dcs-nonce': nonce });
  const refreshed = await refresh();
  t.equal(refreshed.status, 200, 'a console goes on');
  t.equal((await refresh()).status, 409, 'its nonce is spent all the same');
  t.match(await as(refreshed.body.accessToken).get('/api/v1/system/health'), { status: 200, body: { status: 'degraded' } });
  const { warnings } = (await as(refreshed.body.accessToken).get('/api/v1/system/health')).body as { warnings: string[] };
  t.ok(
    warnings.some((warning) => why.test(warning)),
    JSON.stringify(warnings),
  );
  const during = await box.api.post('/api/v1/auth/login', credentials);
  t.equal(during.status, 200, 'somebody else can come and look');
  t.equal((await as(during.body.accessToken).get('/api/v1/audit')).status, 200);
  t.equal((await box.api.post('/api/v1/auth/refresh', { refreshToken: during.body.refreshToken })).status, 200);
  t.equal((await as(during.body.accessToken).post('/api/v1/auth/reauthenticate', { password: PASSWORD })).status, 200);
  t.match(await box.api.post('/api/v1/auth/login', { ...credentials, password: 'not the password' }), { status: 401, body: { code: 'invalid_credentials' } });

  const leaving = (await box.api.post('/api/v1/auth/login', credentials)).body as { accessToken: string; refreshToken: string };
  t.equal((await as(leaving.accessToken).post('/api/v1/auth/logout', {})).status, 204, 'who goes is signed out');
  t.equal((await as(leaving.accessToken).get('/api/v1/system/health')).status, 401);

  writable(true);
  await eventually('writes are accepted again', async () => (await box.api.get('/readyz')).status === 200);
  const { items } = (await as(during.body.accessToken).get('/api/v1/audit?category=auth&limit=100')).body as { items: { result: string; details: Record<string, unknown> }[] };
  const told = items.filter(({ details }) => details.happenedAt !== undefined);
  t.ok(
    told.some(({ result }) => result === 'Rejected'),
    'the wrong password is on record',
  );
  t.ok(told.filter(({ details }) => details.method === 'password').length === 2, 'the sign-in too, with its time');
  t.ok(told.some(({ details }) => details.method === 'reauthenticate'));
  t.equal((await as(during.body.accessToken).get('/api/v1/audit/verify')).body.ok, true);
  await box.end();
  await box.start();
  t.equal((await box.api.post('/api/v1/auth/refresh', { refreshToken: during.body.refreshToken })).status, 200, 'the session outlives a restart');
  t.equal((await refresh()).status, 409, 'and so does the nonce');
  t.equal((await box.api.post('/api/v1/auth/refresh', { refreshToken: leaving.refreshToken })).status, 401, 'who has gone stays out');
});
