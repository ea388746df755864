/** An administrator who is made at the box when nobody who is one can sign in (D-AUTH-01, D-AUTH-06): by the command, through the running gateway. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID, type UUID } from 'node:crypto';
import { chmodSync, readdirSync, statSync, watch, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { AdminRecovery } from '../../../src/domains/access/kind.js';
import type { Caller } from '../../../src/platform/http/caller.js';
import { type AuditDraft, component } from '../../../src/platform/store/audit-record.js';
import type { Put } from '../../../src/platform/store/store.js';
import { putRequest, readAnswer } from '../../../src/domains/access/recovery/request-file.js';
import { recoveryTrouble } from '../../../src/domains/access/recovery/recoveries.js';
import { KnownBoxes } from '../../../src/cli/remote/boxes.js';
import type { Given } from '../../../src/cli/remote/command.js';
import { boxContext, rowOf } from '../../cli/support.js';
import { at } from '../../support/at.js';
import { ownFolder } from '../../support/own-folder.js';
import { clientOf, type GatewayTest, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';

const HASH = '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
const draft: AuditDraft = {
  site: '',
  actor: component('test'),
  action: 'Acknowledge',
  category: 'auth',
  target: { kind: 'AdminRecovery', name: '', site: '' },
  result: 'Success',
  correlationID: randomUUID(),
};
const RECOVERIES = '/api/v1/auth/recoveries';

async function asked(test: GatewayTest, { id = randomUUID(), ...more }: Record<string, unknown> & { readonly id?: UUID } = {}): Promise<string> {
  putRequest(test.dataDir, { id, username: 'rescue', passwordHash: HASH, systemUser: 'root', ...more });
  t.equal(statSync(path.join(test.dataDir, 'recover-admin.json')).mode & 0o777, 0o600);
  await test.access.recoveries.look();
  const answer = readAnswer(test.dataDir, id);
  return `${answer?.done}: ${answer?.message}`;
}

/** The command as somebody types it on the box, while the gateway runs. */
async function typed(test: GatewayTest, args: readonly string[], input: string): Promise<{ code: number; out: string }> {
  const child = spawn(process.execPath, ['bin/lineside.js', 'recover-admin', '--data-dir', test.dataDir, '--password-stdin', ...args], {
    env: { ...process.env, SUDO_USER: 'anna\n' },
  });
  const watcher = watch(test.dataDir, (_, name) => {
    if (name === 'recover-admin.json') void test.access.recoveries.look(); // as the gateway does every second
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  watcher.close();
  return { code, out };
}

t.test('the command makes a new administrator through the running box; it is in the trail and told until another one has seen it', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  t.equal(recoveryTrouble(test.store), undefined);
  const { code, out } = await typed(test, ['--user', 'Rescue'], `${PASSWORD}\n`);
  t.equal(code, 0, out);
  t.match(out, /Rescue is an administrator of this box; it is in the audit trail/);
  t.same(
    readdirSync(test.dataDir).filter((name) => name.startsWith('recover-admin')),
    [],
  );
  const login = await test.request('POST', '/api/v1/auth/login', { body: { username: 'rescue', password: PASSWORD } });
  t.match(login, { status: 200, body: { user: { username: 'Rescue', groups: ['lineside-admin'] } } });
  const rescue = clientOf(test, 'Rescue', login.body.accessToken, login.body.sessionId);
  const record = test.audits.find(({ reason }) => reason === 'RecoveredAtTheBox');
  t.match(record, {
    action: 'Create',
    category: 'auth',
    component: 'recovery',
    target: { kind: 'User', name: 'Rescue' },
    details: { systemUser: /^\S+ \(sudo of anna\?\)$/, administratorsBefore: [admin.username] },
  });
  t.notMatch(JSON.stringify(test.audits) + out, /scrypt|correct horse/);

  t.match(recoveryTrouble(test.store), { severity: 'High', message: /administrator Rescue was made at the box at .* by the system user/ });
  const reason = 'seen at the shift meeting';
  t.match(await rescue.post(`${RECOVERIES}/acknowledge`, { reason }), { status: 409, body: { code: 'own_recovery' } });
  t.match((await rescue.get(RECOVERIES)).body.items, [{ username: 'Rescue', acknowledged: null }]);
  const boxes = new KnownBoxes(path.join(ownFolder(t), 'config'));
  boxes.keep('box', { url: test.url, username: admin.username, accessToken: admin.token, refreshToken: '', site: '' });
  const line = (words: string, options: Given = {}) => rowOf(words).run(boxContext(boxes, [], { box: 'box', ...options }));
  t.match(await line('recovery show'), { text: /^administrator Rescue was made at the box at .*; waits: lineside recovery acknowledge$/ });
  t.match(await line('recovery acknowledge', { reason }), { data: { items: [{ username: 'Rescue', acknowledged: { by: admin.username, reason } }] } });
  t.match(await line('recovery show'), { text: new RegExp(`; acknowledged by ${admin.username} at .*: ${reason}$`) });
  t.equal(recoveryTrouble(test.store), undefined);
  t.match(await admin.post(`${RECOVERIES}/acknowledge`, { reason }), { status: 409, body: { code: 'no_recovery' } });
  t.match(test.audits.filter(({ action }) => action === 'Acknowledge').at(-1), { result: 'Rejected' });
  t.match(
    test.audits.find(({ action, result }) => action === 'Acknowledge' && result === 'Success'),
    { category: 'auth', operatorReason: reason },
  );
});

t.test('the command takes over nobody: a name that is or was there, a bad password and another mode are refused in words', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'Ada', ['admin']);
  await makeAccount(test, 'old', ['admin'], { retired: true, enabled: false });
  t.match(await typed(test, ['--user', 'ada'], `${PASSWORD}\n`), { code: 2, out: /user ada exists already/ });
  t.match(await asked(test, { username: 'OLD' }), /^false: .*belonged to a closed account/);
  t.match(await asked(test, { username: '../etc' }), /^false: username must have/);
  t.match(await asked(test, { passwordHash: PASSWORD }), /^false: the request has no hash/);
  const seen = randomUUID();
  const earlier = { username: 'first', accountId: 'a', at: '2026-01-31T09:00:00.000Z', systemUser: 'root', administrators: [] };
  const status = { acknowledged: { by: 'Ada', accountId: 'b', at: earlier.at, reason: 'seen' } };
  await test.store.write({ puts: [{ kind: AdminRecovery, site: '', name: seen, spec: earlier, status } as Put] });
  t.match(await asked(test, { id: seen }), /^false: a request with this id was taken before/, 'what was acknowledged acknowledges nobody else');
  t.match(await typed(test, ['--user', 'eve'], 'short\n'), { code: 2, out: /password must have 12 to 128 characters/ });
  t.equal(test.access.users().length, 1);
  for (const username of ['one', 'two']) t.match(await asked(test, { username }), /^true/);
  const { recoveries } = test.access;
  const acknowledged = ({ accountId, username }: { readonly accountId: string; readonly username: string }) =>
    recoveries.acknowledge({ accountId, username, displayName: username } as Caller, 'seen at the shift meeting', (entry) => ({ ...draft, ...entry }));
  const [two, one] = [at(recoveries.all(), 0).spec, at(recoveries.all(), 1).spec];
  for (const made of [one, two]) await t.rejects(acknowledged(made), /another administrator acknowledges .*: Ada$/, 'they do not acknowledge each other');
  const ada = test.access.user('ada').spec;
  t.match((await acknowledged(ada)).slice(0, 2), [{ status: { acknowledged: { by: 'Ada' } } }, { status: { acknowledged: { by: 'Ada' } } }]);
  const off = await startGatewayTest({ argv: ['--auth-mode', 'none'] });
  t.teardown(() => off.stop());
  t.match(await asked(off), /^false: .*auth\.mode is none/);
});

t.test('what was asked of an earlier run makes nobody an administrator; a running box looks every second', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const [before, now] = [randomUUID(), randomUUID()];
  putRequest(test.dataDir, { id: before, username: 'rescue', passwordHash: HASH, systemUser: 'root' });
  test.access.start();
  t.match(readAnswer(test.dataDir, before), { done: false, message: /only just started/ });
  putRequest(test.dataDir, { id: now, username: 'rescue', passwordHash: HASH, systemUser: 'root' });
  test.clock.advance(1000);
  await test.store.recorded;
  t.equal(test.access.users().length, 1);
});

t.test('what others could have written, or does not read, makes nobody an administrator', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const file = path.join(test.dataDir, 'recover-admin.json');
  for (const content of ['', '{', '[]', '{"id":1}', 'x'.repeat(5000)]) {
    writeFileSync(file, content, { mode: 0o600 });
    await test.access.recoveries.look();
  }
  const open = JSON.stringify({ id: randomUUID(), username: 'eve', passwordHash: HASH, systemUser: 'eve' });
  writeFileSync(file, open);
  chmodSync(file, 0o666);
  await test.access.recoveries.look();
  t.equal(test.access.users().length, 0);
  t.same(
    readdirSync(test.dataDir).filter((name) => name.startsWith('recover-admin')),
    [],
  );
  t.match(await asked(test), /^true: rescue is an administrator/);
  t.equal(test.code(), test.access.commissioningCode || undefined);
  t.equal((await test.request('GET', '/api/v1/auth/config')).body.firstAdminRequired, false, 'the commissioning code is spent');
  const second = await test.restart();
  t.teardown(() => second.stop());
  t.match(at(second.access.recoveries.all(), 0), { spec: { username: 'rescue' }, status: { acknowledged: null } }, 'it is told after a restart, too');
});
