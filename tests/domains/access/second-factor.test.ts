/** Time-based codes and recovery codes as a second factor of local accounts (RFC 6238; D-C-21, D-AUTH-05, D-AUTH-06). */
import path from 'node:path';
import t from 'tap';
import { Sealing } from '../../../src/platform/base/sealing.js';
import Database from '../../../src/platform/base/sqlite.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { ApiError } from '../../../src/client/api.js';
import { KnownBoxes } from '../../../src/cli/remote/boxes.js';
import type { Given } from '../../../src/cli/remote/command.js';
import { COMMANDS } from '../../../src/cli/remote/commands.js';
import { PASSWORD as SIGNING_PASSWORD, signed } from '../../../src/cli/remote/given.js';
import { SECOND_FACTOR as SIGNING_CODE } from '../../../src/cli/remote/second-code.js';
import type { Terminal } from '../../../src/cli/remote/terminal.js';
import { Account, SecondFactor } from '../../../src/domains/access/kind.js';
import { PasswordHasher } from '../../../src/domains/access/passwords.js';
import type { Put } from '../../../src/platform/store/store.js';
import { codeOf, readCode, STEP_MS, stepOf, stepsOfCode } from '../../../src/domains/access/second-factor/time-codes.js';
import { boxContext, rowOf, silentTerminal } from '../../cli/support.js';
import { at } from '../../support/at.js';
import { ownFolder } from '../../support/own-folder.js';
import { type Answer, type Client, clientOf, type GatewayTest, makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';

const MINUTE = 60_000;
const FACTOR = '/api/v1/auth/second-factor';
/** `12345678901234567890` in base32, as in appendix B of RFC 6238. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

interface Enrolled {
  readonly client: Client;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

function code(test: GatewayTest, secret: string, stepsAway = 0): string {
  return codeOf(secret, stepOf(test.clock.wallMs()) + stepsAway);
}

function login(test: GatewayTest, username: string, given?: string, password = PASSWORD): Promise<Answer> {
  return test.request('POST', '/api/v1/auth/login', { body: { username, password, ...(given === undefined ? {} : { code: given }) } });
}

function signedIn(test: GatewayTest, username: string, answer: Answer): Client {
  if (answer.status !== 200) throw new Error(answer.text);
  return clientOf(test, username, answer.body.accessToken, answer.body.sessionId);
}

/** An account with a second factor, as its owner sets it up; the next step of time has begun when it is there. */
async function enrolled(test: GatewayTest, username: string, groups: readonly string[] = ['operator']): Promise<Enrolled> {
  await makeAccount(test, username, groups);
  const client = signedIn(test, username, await login(test, username));
  const begun = await client.post(FACTOR, { password: PASSWORD });
  if (begun.status !== 201) throw new Error(begun.text);
  const { secret } = begun.body;
  const confirmed = await client.post(`${FACTOR}/confirm`, { code: code(test, secret) });
  if (confirmed.status !== 200) throw new Error(confirmed.text);
  test.clock.advance(STEP_MS);
  return { client, secret, recoveryCodes: confirmed.body.recoveryCodes };
}

t.test('RFC 6238 appendix B: codes of SHA-1 at the times of its table', async (t) => {
  const table: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, eight] of table) t.equal(codeOf(RFC_SECRET, stepOf(seconds * 1000)), eight.slice(2), `${seconds} s`);
  t.same(stepsOfCode(RFC_SECRET, '287082', 1), [1]);
  t.same(stepsOfCode(RFC_SECRET, '287082', 2), [1], 'one step late');
  t.same(stepsOfCode(RFC_SECRET, '287082', 0), [1], 'one step early');
  t.same(stepsOfCode(RFC_SECRET, '287082', 3), [], 'two steps late');
  t.equal(readCode(' 287 082 '), '287082');
  t.equal(readCode('28708'), undefined);
  t.equal(readCode('２87082'), undefined);
});

t.test('a person enrols: the secret is told once, holds from its first code on, and is in no other answer, record or row', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'Bob', ['operator']);
  const bob = signedIn(test, 'Bob', await login(test, 'bob'));
  const elsewhere = signedIn(test, 'Bob', await login(test, 'bob'));
  t.same((await bob.get(FACTOR)).body, {
    enrolled: false,
    required: false,
    app: false,
    enrolledAt: null,
    lastUsedAt: null,
    recoveryCodesLeft: 0,
    passkeys: [],
    passkeysOffered: { offered: false, origins: [], why: 'no_public_name' },
  });
  t.match(await bob.post(FACTOR, { password: 'wrong wrong wrong' }), { status: 401, body: { code: 'invalid_credentials' } });
  t.match(await bob.post(`${FACTOR}/confirm`, { code: '123456' }), { status: 409, body: { code: 'no_enrolment' } });

  const begun = await bob.post(FACTOR, { password: PASSWORD });
  t.match(begun, { status: 201, headers: { 'cache-control': 'no-store' }, body: { expiresInSeconds: 600 } });
  const { secret, uri } = begun.body;
  t.match(secret, /^[A-Z2-7]{32}$/);
  const parsed = new URL(uri);
  t.match(decodeURIComponent(parsed.pathname), /Lineside [0-9a-f]{6}:Bob$/);
  t.equal(parsed.searchParams.get('secret'), secret);
  t.equal((await login(test, 'bob')).status, 200, 'not yet');

  t.match(await bob.post(`${FACTOR}/confirm`, { code: '000' }), { status: 400, body: { code: 'invalid_code', field: 'code' } });
  const far = await bob.post(`${FACTOR}/confirm`, { code: code(test, secret, 10) });
  t.match(far.body, { code: 'invalid_code', error: /clock of the box .* about 5 min behind that of the app/ });
  for (let i = 0; i < 5; i += 1) t.equal((await bob.post(`${FACTOR}/confirm`, { code: code(test, secret, 10) })).status, 400);
  t.notMatch((await bob.post(`${FACTOR}/confirm`, { code: code(test, secret, 10) })).body.error, /clock of the box/, 'what takes so long is looked up a few times');
  const confirmed = await bob.post(`${FACTOR}/confirm`, { code: code(test, secret) });
  t.match(confirmed, { status: 200, headers: { 'cache-control': 'no-store' } });
  const { recoveryCodes } = confirmed.body;
  t.equal(new Set(recoveryCodes).size, 10);
  t.match(at(recoveryCodes, 0), /^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  t.match(await elsewhere.get('/api/v1/auth/me'), { status: 401 }, 'what was opened with less ends');
  t.match((await bob.get('/api/v1/auth/me')).body, { secondFactor: true, mustEnrolSecondFactor: false });
  t.match((await bob.get(FACTOR)).body, { enrolled: true, recoveryCodesLeft: 10 });

  const admin = await test.as('admin');
  const told = [await admin.get('/api/v1/auth/users/bob'), await bob.get(FACTOR), await bob.get('/api/v1/auth/me')].map(({ text }) => text).join();
  const kept = JSON.stringify(test.store.list(SecondFactor, '')) + JSON.stringify(test.audits) + told;
  for (const hidden of [secret, ...recoveryCodes, String(at(recoveryCodes, 0)).replaceAll('-', '')]) t.notOk(kept.includes(hidden));
  t.match((await admin.get('/api/v1/auth/users/bob')).body, { secondFactor: true });
  t.ok(test.audits.some(({ target, details }) => target.name === 'Bob' && details?.changed === 'second-factor' && details.to === 'on'));
});

t.test('AUTH-04, D-C-21: a login needs the code, tells its absence apart, and a wrong one like a wrong password', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { secret } = await enrolled(test, 'bob');
  t.match(await login(test, 'bob'), { status: 401, body: { code: 'second_factor_required' } });
  const wrongCode = await login(test, 'bob', '000000');
  const wrongPassword = await login(test, 'bob', code(test, secret), 'wrong wrong wrong');
  const nobody = await login(test, 'nobody', '000000');
  t.match(wrongCode, { status: 401, body: { code: 'invalid_credentials', error: 'wrong user name, password or code' } });
  t.same(wrongPassword.body, wrongCode.body, 'which one was wrong is told to nobody');
  t.same(nobody.body, wrongCode.body);
  t.match(await login(test, 'bob', undefined, 'wrong wrong wrong'), { body: { code: 'invalid_credentials', error: 'wrong user name or password' } });
  t.equal((await login(test, 'bob', code(test, secret))).status, 200, 'the code beside the wrong password was not spent');
  const rejected = test.audits.filter(({ action, result }) => action === 'Login' && result === 'Rejected').map(({ reason }) => reason);
  t.same(rejected, ['SecondFactorRequired', 'InvalidCode', 'InvalidCredentials', 'InvalidCredentials', 'InvalidCredentials'], 'the trail knows');
  t.match(test.audits.filter(({ action, result }) => action === 'Login' && result === 'Success').at(-1), { details: { method: 'password', secondFactor: 'code' } });
});

t.test('RFC 6238 5.2: a code is good once: not twice, not after a restart, and of two logins at once one passes', async (t) => {
  const first = await startGatewayTest();
  const { secret } = await enrolled(first, 'bob');
  const now = code(first, secret);
  const both = await Promise.all([login(first, 'bob', now), login(first, 'bob', now), login(first, 'bob', now)]);
  t.same(both.map(({ status }) => status).sort(), [200, 401, 401]);
  t.match(await login(first, 'bob', now), { status: 401, body: { code: 'invalid_credentials' } });
  const second = await first.restart();
  t.teardown(() => second.stop());
  t.match(await login(second, 'bob', now), { status: 401, body: { code: 'invalid_credentials' } });
  second.clock.advance(STEP_MS);
  t.equal((await login(second, 'bob', code(second, secret))).status, 200);
  t.equal((await login(second, 'bob', code(second, secret, 1))).status, 200, 'one step ahead');
  t.match(await login(second, 'bob', code(second, secret, 2)), { status: 401 });
});

t.test('D-C-07: codes follow the wall clock; one that was taken stays so when the clock is set back, and others pass', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { secret } = await enrolled(test, 'bob');
  const taken = code(test, secret);
  t.equal((await login(test, 'bob', taken)).status, 200);
  test.clock.jump(-20 * STEP_MS);
  t.equal((await login(test, 'bob', code(test, secret))).status, 200, 'nobody is shut out until the clock has caught up');
  t.match(await login(test, 'bob', code(test, secret, 20)), { status: 401 }, 'of another time');
  test.clock.jump(20 * STEP_MS);
  t.match(await login(test, 'bob', taken), { status: 401 }, 'the same time comes again, the code does not');
  for (let i = 0; i < 70; i += 1) {
    test.clock.advance(STEP_MS);
    t.equal(test.access.secondFactors.judge('bob', code(test, secret)).is, 'right');
  }
  test.clock.jump(-70 * STEP_MS);
  t.equal(test.access.secondFactors.judge('bob', taken).is, 'wrong', 'also when more were taken than are remembered one by one');
});

t.test('D-C-21: wrong codes beside the right password lock the name as wrong passwords do', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { secret } = await enrolled(test, 'bob');
  const flood = await Promise.all(Array.from({ length: 40 }, (_, i) => login(test, 'bob', String(100_000 + i))));
  t.equal(flood.filter(({ body }) => body.code === 'invalid_credentials').length, 5, 'five are judged');
  t.equal(flood.filter(({ body }) => body.code === 'account_locked').length, 35);
  const right = await login(test, 'bob', code(test, secret));
  t.match(right.body, { code: 'account_locked' }, 'right or wrong, the answer is one');
  t.match((await login(test, 'bob')).body, { code: 'account_locked' });
  test.clock.advance(15 * MINUTE);
  await login(test, 'bob', '111111');
  await login(test, 'bob');
  t.match((await login(test, 'bob', '222222')).body, { code: 'invalid_credentials' });
  await login(test, 'bob');
  for (const wrong of ['333333', '444444', '555555']) await login(test, 'bob', wrong);
  t.match((await login(test, 'bob', code(test, secret))).body, { code: 'account_locked' }, 'the password alone in between clears nothing');
});

t.test('a recovery code signs in once, also in small letters and after a restart; new ones end those before', async (t) => {
  const first = await startGatewayTest();
  const { recoveryCodes } = await enrolled(first, 'bob');
  const [one, two, three] = recoveryCodes as [string, string, string];
  const both = await Promise.all([login(first, 'bob', one.toLowerCase().replaceAll('-', ' ')), login(first, 'bob', one)]);
  t.same(both.map(({ status }) => status).sort(), [200, 401]);
  t.match(first.audits.filter(({ action, result }) => action === 'Login' && result === 'Success').at(-1), { details: { secondFactor: 'recovery-code', recoveryCodesLeft: 9 } });
  const test = await first.restart();
  t.teardown(() => test.stop());
  t.match(await login(test, 'bob', one), { status: 401 });
  const bob = signedIn(test, 'bob', await login(test, 'bob', two));
  t.match(await bob.post(`${FACTOR}/recovery-codes`, { password: PASSWORD }), { status: 401, body: { code: 'second_factor_required' } });
  const renewed = await bob.post(`${FACTOR}/recovery-codes`, { password: PASSWORD, code: three });
  t.equal(renewed.status, 200);
  t.match(await login(test, 'bob', at(recoveryCodes, 4)), { status: 401 });
  t.equal((await login(test, 'bob', renewed.body.recoveryCodes[0])).status, 200);
  t.match((await bob.get(FACTOR)).body, { recoveryCodesLeft: 9 });
});

t.test('AUTH-24: what is signed wants the code too, unless the deployment says that the password is enough', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { client, secret } = await enrolled(test, 'bob');
  const again = (body: object) => client.post('/api/v1/auth/reauthenticate', body);
  t.match(await again({ password: PASSWORD }), { status: 401, body: { code: 'second_factor_required' } });
  t.match(await again({ password: PASSWORD, code: '000000' }), { status: 401, body: { code: 'invalid_credentials' } });
  const now = code(test, secret);
  t.equal((await again({ password: PASSWORD, code: now })).status, 200);
  t.match(await again({ password: PASSWORD, code: now }), { status: 401 }, 'nor does it sign in or sign twice');
  t.match(await login(test, 'bob', now), { status: 401 });

  const lenient = await startGatewayTest({ settings: { secondFactorToSign: false } });
  t.teardown(() => lenient.stop());
  const eve = await enrolled(lenient, 'eve');
  t.equal((await eve.client.post('/api/v1/auth/reauthenticate', { password: PASSWORD })).status, 200);
});

t.test('a new phone: the old factor holds until the first code of the new one; removing it needs both as well', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { client, secret } = await enrolled(test, 'bob');
  t.match(await client.post(FACTOR, { password: PASSWORD }), { status: 401, body: { code: 'second_factor_required' } });
  const begun = await client.post(FACTOR, { password: PASSWORD, code: code(test, secret) });
  t.equal(begun.status, 201);
  test.clock.advance(STEP_MS);
  t.equal((await login(test, 'bob', code(test, secret))).status, 200);
  t.equal((await client.post(`${FACTOR}/confirm`, { code: code(test, begun.body.secret) })).status, 200);
  test.clock.advance(STEP_MS);
  t.match(await login(test, 'bob', code(test, secret)), { status: 401 });
  t.equal((await login(test, 'bob', code(test, begun.body.secret))).status, 200);
  test.clock.advance(STEP_MS);
  t.equal((await client.post(`${FACTOR}/remove`, { password: PASSWORD, code: code(test, begun.body.secret) })).status, 204);
  t.equal((await login(test, 'bob')).status, 200);
  t.match(await client.post(`${FACTOR}/remove`, { password: PASSWORD }), { status: 409, body: { code: 'no_second_factor' } });
  const late = await client.post(FACTOR, { password: PASSWORD });
  test.clock.advance(10 * MINUTE);
  t.match(await client.post(`${FACTOR}/confirm`, { code: code(test, late.body.secret) }), { status: 409, body: { code: 'no_enrolment' } });
});

t.test('a role that requires a second factor: who has none signs in to enrol and for nothing else', async (t) => {
  const test = await startGatewayTest({ settings: { secondFactorRequiredFor: ['{prefix}-admin', 'lineside-operator'] } });
  t.teardown(() => test.stop());
  await makeAccount(test, 'ada', ['admin']);
  const entered = await login(test, 'ada');
  t.match(entered.body, { user: { secondFactor: false, mustEnrolSecondFactor: true } }, 'the last administrator is not locked out');
  const ada = signedIn(test, 'ada', entered);
  t.match(await ada.get('/api/v1/auth/users'), { status: 403, body: { code: 'second_factor_enrolment_required' } });
  t.match(await ada.get('/api/v1/auth/me/sessions'), { status: 403, body: { code: 'second_factor_enrolment_required' } });
  t.equal((await ada.get('/api/v1/auth/me')).status, 200);
  t.match((await ada.get(FACTOR)).body, { enrolled: false, required: true });
  const begun = await ada.post(FACTOR, { password: PASSWORD });
  t.equal((await ada.post(`${FACTOR}/confirm`, { code: code(test, begun.body.secret) })).status, 200);
  t.equal((await ada.get('/api/v1/auth/users')).status, 200, 'the same token, at once');
  t.match((await ada.get('/api/v1/auth/policy')).body, { secondFactorRequiredFor: ['lineside-admin', 'lineside-operator'] });
  test.clock.advance(STEP_MS);
  t.match(await ada.post(`${FACTOR}/remove`, { password: PASSWORD, code: code(test, begun.body.secret) }), { status: 409, body: { code: 'second_factor_required_by_role' } });

  // who is given such a role while his password is looked at
  const { client: max, secret } = await enrolled(test, 'max', ['engineer']);
  const { verify } = PasswordHasher.prototype;
  t.teardown(() => (PasswordHasher.prototype.verify = verify));
  PasswordHasher.prototype.verify = async function (...given) {
    PasswordHasher.prototype.verify = verify;
    const right = await verify.apply(this, given);
    const account = test.store.get(Account, '', 'max');
    await test.store.write({ puts: [{ kind: Account, site: '', name: 'max', spec: { ...account?.spec, groups: ['lineside-admin'] } } as Put] });
    return right;
  };
  t.match(await max.post(`${FACTOR}/remove`, { password: PASSWORD, code: code(test, secret) }), { status: 409, body: { code: 'second_factor_required_by_role' } });
  t.ok(test.access.secondFactors.has('max'));

  await makeAccount(test, 'vic', ['viewer']);
  t.match((await login(test, 'vic')).body, { user: { mustEnrolSecondFactor: false } });
  await makeAccount(test, 'new', ['operator'], { mustChangePassword: true });
  const fresh = signedIn(test, 'new', await login(test, 'new'));
  t.match(await fresh.post(FACTOR, { password: PASSWORD }), { status: 403, body: { code: 'password_change_required' } }, 'the password first');
  t.equal((await fresh.post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: `${PASSWORD} mine` })).status, 204);
  t.equal((await fresh.post(FACTOR, { password: `${PASSWORD} mine` })).status, 201);
  await t.rejects(startGatewayTest({ settings: { secondFactorRequiredFor: ['lineside-admins'] } }), /auth\.secondFactor\.requiredFor: lineside-admins is no role group/);
});

t.test('D-AUTH-06: another administrator resets a lost second factor; sessions end, his own he does not reset', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const { client } = await enrolled(test, 'bob', ['admin']);
  t.match(await client.delete('/api/v1/auth/users/bob/second-factor'), { status: 409, body: { code: 'own_second_factor' } });
  t.match(await (await test.as('supervisor')).delete('/api/v1/auth/users/bob/second-factor'), { status: 403 });
  t.equal((await admin.delete('/api/v1/auth/users/Bob/second-factor')).status, 204);
  t.match(await client.get('/api/v1/auth/me'), { status: 401 });
  t.equal((await login(test, 'bob')).status, 200);
  t.match(await admin.delete('/api/v1/auth/users/bob/second-factor'), { status: 409, body: { code: 'no_second_factor' } });
  t.match(await admin.delete('/api/v1/auth/users/nobody/second-factor'), { status: 404 });
  t.match(
    test.audits.find(({ details }) => details?.to === 'reset'),
    { action: 'Update', category: 'auth', target: { kind: 'User', name: 'bob' }, displayName: admin.username },
  );
  const gone = await enrolled(test, 'cleo');
  t.equal((await admin.delete('/api/v1/auth/users/cleo')).status, 204);
  t.equal(test.store.get(SecondFactor, '', 'cleo'), undefined, 'nothing of a closed account is kept');
  t.match(await gone.client.get('/api/v1/auth/me'), { status: 401 });
});

t.test('a factor that was sealed by other keys opens nothing, and says what to do', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await enrolled(test, 'bob');
  const { spec } = at(test.store.list(SecondFactor, ''), 0);
  await makeAccount(test, 'eve', ['operator']);
  await test.store.write({ puts: [{ kind: SecondFactor, site: '', name: 'eve', spec }], audits: [] }); // moved from another account
  t.match(await login(test, 'eve', '123456'), { status: 401, body: { code: 'second_factor_unreadable', error: /recover-admin/ } });
  t.match(await login(test, 'eve', '123456', 'wrong wrong wrong'), { status: 401, body: { code: 'invalid_credentials' } });
  t.match((await (await test.as('viewer')).get('/api/v1/system/health')).body.warnings, [/1 of the second factors .* sealed by other keys/]);
  const sealed = new Sealing(openDeviceKeys(test.dataDir).privateKey, 'second factors').seal('{"secret":1}', 'second factor of eve');
  await test.store.write({ puts: [{ kind: SecondFactor, site: '', name: 'eve', spec: { ...spec, sealed } }], audits: [] });
  t.match(await login(test, 'eve', '123456'), { status: 401, body: { code: 'second_factor_unreadable' } }, 'nor does one that holds something else');
});

t.test('D-C-02: a row that cannot be read takes no second factor away; an administrator resets it', async (t) => {
  const first = await startGatewayTest();
  await enrolled(first, 'bob');
  const database = new Database(path.join(first.dataDir, 'state.db'));
  const { changes } = database.prepare(`UPDATE resources SET body = '{' WHERE kind = 'SecondFactor'`).run();
  database.close();
  t.equal(changes, 1);
  const test = await first.restart();
  t.teardown(() => test.stop());
  t.match(await login(test, 'bob'), { status: 401, body: { code: 'second_factor_unreadable' } });
  const admin = await test.as('admin');
  t.equal((await admin.delete('/api/v1/auth/users/bob/second-factor')).status, 204);
  t.equal((await login(test, 'bob')).status, 200);
});

t.test('D-C-09: a code is good once also while nothing can be stored', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  const { secret } = await enrolled(test, 'bob');
  const verdicts = [code(test, secret), code(test, secret)].map((given) => test.access.secondFactors.judge('bob', given).is);
  t.same(verdicts, ['right', 'wrong'], 'whether or not what came of the first one has reached the disk');
});

t.test('own sessions are seen and ended by their owner; those of others are not there', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const panel = await test.request('POST', '/api/v1/auth/login', {
    body: { username: 'bob', password: PASSWORD, useCookie: true },
    headers: { 'User-Agent': 'Mozilla/5.0 panel' },
  });
  test.clock.advance(MINUTE);
  const bob = signedIn(test, 'bob', await login(test, 'bob'));
  const eve = await test.as('operator');
  const mine = (await bob.get('/api/v1/auth/me/sessions')).body;
  t.match(mine, [
    { id: bob.sessionId, current: true, client: 'program', sourceIP: '127.0.0.1' },
    { id: panel.body.sessionId, current: false, client: 'browser', userAgent: 'Mozilla/5.0 panel', lastActivityAt: /Z$/ },
  ]);
  t.equal(mine.length, 2);
  t.match(await eve.delete(`/api/v1/auth/me/sessions/${bob.sessionId}`), { status: 404 });
  t.equal((await bob.delete(`/api/v1/auth/me/sessions/${panel.body.sessionId}`)).status, 204);
  t.match(await test.request('GET', '/api/v1/auth/me', { token: panel.body.accessToken }), { status: 401, body: { code: 'session_ended' } });
  t.match(
    test.audits.find(({ action, target, result }) => action === 'Delete' && target.kind === 'Session' && result === 'Success'),
    { target: { name: panel.body.sessionId }, displayName: 'bob' },
  );
  t.equal((await bob.delete(`/api/v1/auth/me/sessions/${bob.sessionId}`)).status, 204);
  t.match(await bob.get('/api/v1/auth/me'), { status: 401 });
});

t.test('lineside sets one up, asks for the code where the box wants one, and ends sessions', async (t) => {
  const test = await startGatewayTest();
  t.teardown(() => test.stop());
  await makeAccount(test, 'ada', ['admin']);
  await makeAccount(test, 'bob', ['operator']);
  const boxes = new KnownBoxes(ownFolder(t));
  boxes.keep('box', { url: test.url, username: 'bob', accessToken: '', refreshToken: '', site: '' }, { current: true });
  const said: string[] = [];
  const asked: string[] = [];
  let secret = '';
  let away = 0;
  const answer = async (question: string): Promise<string> => {
    asked.push(question);
    if (question.startsWith('password')) return PASSWORD;
    secret = secret || (said.join('').match(/secret=([A-Z2-7]+)/)?.[1] ?? '');
    return code(test, secret, away);
  };
  const terminal = { ...silentTerminal(said), ask: answer, askSecret: answer };
  const run = (words: string, args: readonly string[] = [], options: Given = {}) => rowOf(words).run(boxContext(boxes, args, options, terminal));
  const enter = () => rowOf('login').run({ ...boxContext(boxes, ['box'], {}, terminal), args: ['box'] });
  await enter();
  t.match(await run('second-factor show'), { text: /you have no second factor/ });
  const made = (await run('second-factor set-up')) as { data: { recoveryCodes: string[] } };
  t.equal(made.data.recoveryCodes.length, 10);
  t.match(said.join(), /otpauth:\/\/totp\//);
  asked.length = 0;
  away = 1;
  await enter();
  t.same(asked, ['password of bob: ', 'code of your authenticator app, or a recovery code: ']);
  t.match(await run('second-factor show'), { data: { enrolled: true, recoveryCodesLeft: 10 } });
  const sessions = (await run('session list')) as { data: { id: string; current: boolean }[]; text: string };
  t.equal(sessions.data.length, 2);
  const other = sessions.data.find(({ current }) => !current);
  t.match(await run('session end', [other?.id ?? '']), { text: /has ended/ });
  test.clock.advance(2 * STEP_MS);
  away = 0;
  const sign = (options: Given, from: Terminal): Promise<void> => {
    let refusals = 1;
    return signed(boxContext(boxes, [], options, from), async () => {
      if (refusals-- > 0) throw new ApiError(401, { error: 'enter your password again', code: 'reauthentication_required', status: 401 });
    });
  };
  await sign({}, terminal);
  const piped = { ...silentTerminal(), read: () => Promise.resolve(`${PASSWORD}\n`) };
  await sign({ passwordStdin: true, secondFactor: made.data.recoveryCodes[1] as string }, piped);
  t.equal(
    (await rowOf('second-factor remove').run(boxContext(boxes, [], { secondFactor: made.data.recoveryCodes[0] as string }, terminal))).text,
    'you sign in with your password alone from now on',
  );
});

t.test('every command that takes the password of a signature from standard input takes the code of a second factor too', async (t) => {
  const signing = COMMANDS.filter(({ options = [] }) => options.some(([flag, about]) => flag === SIGNING_PASSWORD[0] && about.startsWith(SIGNING_PASSWORD[1])));
  t.ok(signing.length > 15);
  for (const { typed, options = [] } of signing)
    t.ok(
      options.some(([flag]) => flag === SIGNING_CODE[0]),
      typed,
    );
});
