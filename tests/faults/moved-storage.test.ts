/**
 * The files of the data directory are taken away under a running appliance: a folder that is renamed or deleted, a volume that is
 * unmounted lazily, a WAL that somebody "cleans up". What is written from then on would be gone at the next start, so it is
 * refused like on a full disk and not acknowledged (D-C-09).
 */
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';

const PASSWORD = 'correct horse battery';
const credentials = { username: 'ada', password: PASSWORD };

async function commissioned(): Promise<{ readonly box: ApplianceProcess; readonly makes: (username: string) => Promise<{ readonly status: number; readonly body: unknown }> }> {
  const box = await applianceProcess({ environment: { LINESIDE_LOG_LEVEL: 'error' }, bare: true });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  t.equal((await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...credentials })).status, 201);
  const { accessToken } = (await box.api.post('/api/v1/auth/login', credentials)).body as { accessToken: string };
  const as = box.api.with(`Bearer ${accessToken}`);
  return { box, makes: (username) => as.post('/api/v1/auth/users', { username, password: PASSWORD, displayName: randomUUID() }) };
}

const ways: readonly (readonly [what: string, file: string])[] = [
  ['the data directory', ''],
  ['state.db', 'state.db'],
  ['its WAL', 'state.db-wal'],
];

for (const [what, file] of ways) {
  t.test(`D-C-09: nothing is acknowledged while ${what} is not where it was opened`, async (t) => {
    const { box, makes } = await commissioned();
    t.equal((await makes('eve')).status, 201);
    const place = path.join(box.dataDir, file);
    renameSync(place, `${place}.away`);
    const why = /state\.db(-wal)? is no longer .* where it was opened/;
    t.match(await makes('bob'), { status: 503, body: { error: why } }, 'whoever is refused is told why');
    t.match(await makes('bob'), { status: 503, body: { error: why } });
    t.match(await box.api.get('/readyz'), { status: 503, body: { status: 'storage_unavailable', message: why } });
    t.equal((await box.api.get('/healthz')).status, 200);
    if (file === '') t.equal(existsSync(place), false, 'nothing new stands in its place');
    renameSync(`${place}.away`, place);
    await eventually('writes are accepted again', async () => (await box.api.get('/readyz')).status === 200);
    t.equal((await makes('bob')).status, 201);
    await box.end('SIGKILL');
    await box.start();
    const { accessToken } = (await box.api.post('/api/v1/auth/login', credentials)).body as { accessToken: string };
    const users = (await box.api.with(`Bearer ${accessToken}`).get('/api/v1/auth/users')).body as { username: string }[];
    t.same(users.map(({ username }) => username).sort(), ['ada', 'bob', 'eve'], 'what was acknowledged is there');
  });
}
