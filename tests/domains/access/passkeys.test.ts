/** Passkeys as a second factor of local accounts (Web Authentication; ADR 0125; D-C-21, D-AUTH-06). */
import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { KnownBoxes } from '../../../src/cli/remote/boxes.js';
import { Passkey, SecondFactor } from '../../../src/domains/access/kind.js';
import { partyOf } from '../../../src/domains/access/passkeys/party.js';
import { boxContext, rowOf, silentTerminal } from '../../cli/support.js';
import { at } from '../../support/at.js';
import { makeAccount, PASSWORD, startGatewayTest } from '../../support/gateway.js';
import { ownFolder } from '../../support/own-folder.js';
import { FLAGS, type SoftPasskey, softPasskey, type Wrong } from '../../support/passkey.js';
import { asked, begin, FACTOR, KEYS, login, MINUTE, NAME, newKey, registered, signedIn, start } from './passkey-people.js';

t.test('a person registers passkeys: they are named, listed and in the trail, and the first brings recovery codes', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  await makeAccount(test, 'Bob', ['operator']);
  const bob = signedIn(test, 'Bob', await login(test, 'bob'));
  const elsewhere = signedIn(test, 'Bob', await login(test, 'bob'));
  const origins = [`https://${NAME}:${test.port}`];
  t.match((await test.request('GET', '/api/v1/auth/config')).body.passkeys, { offered: true, origins, why: null });
  t.match((await bob.get(FACTOR)).body, { enrolled: false, app: false, passkeys: [], passkeysOffered: { offered: true } });
  t.match(await bob.post(`${KEYS}/begin`, { password: 'wrong wrong wrong' }), { status: 401, body: { code: 'invalid_credentials' } });
  const begun = await bob.post(`${KEYS}/begin`, { password: PASSWORD });
  t.match(begun, {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: { rp: { id: NAME, name: /^Lineside / }, user: { name: 'Bob' }, attestation: 'none', authenticatorSelection: { userVerification: 'required' }, excludeCredentials: [] },
  });
  const key = newKey(test);
  const made = await bob.post(KEYS, { name: '  blue token ', credential: key.make(begun.body, { flags: FLAGS.synced }) });
  t.match(made, { status: 201, headers: { 'cache-control': 'no-store' }, body: { passkey: { name: 'blue token', lastUsedAt: null, rpID: NAME, usable: true, synced: true } } });
  t.equal(made.body.recoveryCodes.length, 10);
  t.match(await elsewhere.get('/api/v1/auth/me'), { status: 401 }, 'what was opened with less ends');
  t.match((await bob.get('/api/v1/auth/me')).body, { secondFactor: true });

  t.match(await bob.post(`${KEYS}/begin`, { password: PASSWORD }), { status: 401, body: { code: 'second_factor_required' } }, 'the next one is proven by the first');
  const ask = async (): Promise<object> => ({ passkey: key.answer((await bob.post(`${KEYS}/begin`, { password: PASSWORD })).body.passkey) });
  const second = newKey(test);
  test.clock.advance(1000);
  t.match(await bob.post(KEYS, { name: 'blue token', credential: second.make(await begin(bob, await ask())) }), { status: 409, body: { code: 'already_exists' } });
  t.match(await bob.post(KEYS, { name: 'phone', credential: second.make(await begin(bob, await ask())) }), { status: 201, body: { recoveryCodes: null } });
  t.match(await bob.post(KEYS, { name: 'again', credential: second.make(await begin(bob, await ask())) }), { status: 409, body: { code: 'passkey_registered' } });
  t.match((await bob.get(FACTOR)).body, {
    enrolled: true,
    app: false,
    recoveryCodesLeft: 10,
    passkeys: [
      { name: 'blue token', lastUsedAt: /Z$/ },
      { name: 'phone', lastUsedAt: null },
    ],
  });
  const changes = test.audits.filter(({ details }) => details?.changed === 'passkey').map(({ result, details }) => [result, details?.to, details?.passkey]);
  t.same(changes.slice(0, 2), [
    ['Success', 'begun', undefined],
    ['Success', 'registered', 'blue token'],
  ]);
  for (let i = 2; i < 10; i += 1) t.equal((await bob.post(KEYS, { name: `key ${i}`, credential: newKey(test).make(await begin(bob, await ask())) })).status, 201);
  t.match(await bob.post(`${KEYS}/begin`, { password: PASSWORD }), { status: 409, body: { code: 'passkey_limit' } });
});

t.test('Web Authentication 7.1: what is no passkey for this box, this session and this challenge is not registered', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const bob = signedIn(test, 'bob', await login(test, 'bob'));
  const other = signedIn(test, 'bob', await login(test, 'bob'));
  const key = newKey(test);
  const used = await begin(bob);
  const late = await begin(bob);
  const foreign = await begin(other);
  const post = (credential: object) => bob.post(KEYS, { name: 'token', credential });
  const table: [why: string, credential: object][] = [
    ['origin', key.make(await begin(bob), { origin: 'https://evil.example' })],
    ['origin', key.make(await begin(bob), { origin: `https://${NAME}:1` })],
    ['rp-id', key.make(await begin(bob), { rpID: 'evil.example' })],
    ['challenge', key.make(await begin(bob), { challenge: 'AAAA' })],
    ['challenge', key.make(await begin(bob), { crossOrigin: true })],
    ['challenge', key.make(foreign)],
    ['type', key.make(await begin(bob), { type: 'webauthn.get' })],
    ['user-verification', key.make(await begin(bob), { flags: FLAGS.present })],
    ['user-verification', key.make(await begin(bob), { flags: FLAGS.none })],
    ['algorithm', key.make(await begin(bob), { algorithm: -35 })],
    ['attestation', key.make(await begin(bob), { format: 'packed' })],
    ['attestation', key.make(await begin(bob), { format: 'tpm' })],
    ['credential', key.make(await begin(bob), { id: newKey(test).id })],
    ['malformed', { ...key.make(await begin(bob)), attestationObject: 'AA' }],
    ['rp-id', key.make(used, { rpID: 'evil.example' })],
    ['challenge', key.make(used)],
  ];
  for (const [why, credential] of table) t.match(await post(credential), { status: 400, body: { code: 'invalid_passkey', field: 'credential', why } });
  t.equal(test.audits.filter(({ result, reason, details }) => result === 'Rejected' && reason === 'InvalidPasskey' && details?.changed === 'passkey').length, table.length);
  t.match(await post({ ...key.make(late), attestationObject: 'A'.repeat(11_000) }), { status: 400, body: { code: 'invalid_field' } });
  t.match(await post({ ...key.make(late), clientDataJSON: '{}' }), { status: 400, body: { code: 'invalid_field' } });
  test.clock.advance(2 * MINUTE);
  t.match(await post(key.make(late)), { body: { code: 'invalid_passkey', why: 'challenge', error: /is over or was used before/ } });
  t.same(test.store.list(Passkey, ''), []);
  t.equal((await post(key.make(await begin(bob)))).status, 201);
});

t.test('AUTH-04, D-C-21: a login asks for the passkey beside the right password; each challenge opens one session, and a wrong answer is told like a wrong password', async (t) => {
  const first = await start();
  const { key, recoveryCodes } = await registered(first, 'bob');
  const refused = await login(first, 'bob');
  t.match(refused, { status: 401, body: { code: 'second_factor_required', secondFactors: ['passkey', 'recovery-code'], passkey: { rpId: NAME, userVerification: 'required' } } });
  t.same(
    refused.body.passkey.allowCredentials.map(({ id }: { id: string }) => id),
    [key.id],
  );
  const passkey = key.answer(refused.body.passkey);
  const wrongPassword = await login(first, 'bob', { password: 'wrong wrong wrong', passkey });
  t.match(wrongPassword, { status: 401, body: { code: 'invalid_credentials', error: 'wrong user name, password or passkey' } });
  t.notOk('passkey' in (await login(first, 'bob', { password: 'wrong wrong wrong' })).body, 'who has not the password learns of no key');
  const both = await Promise.all([login(first, 'bob', { passkey }), login(first, 'bob', { passkey }), login(first, 'bob', { passkey })]);
  t.same(both.map(({ status }) => status).sort(), [200, 401, 401], 'the challenge beside the wrong password was not spent, and it opens one session');
  t.match(first.audits.filter(({ action, result }) => action === 'Login' && result === 'Success').at(-1), {
    details: { method: 'password', secondFactor: 'passkey', passkey: 'token' },
  });
  const wrong = await login(first, 'bob', { passkey });
  t.same(wrong.body, wrongPassword.body, 'which one was wrong is told to nobody');
  t.match(first.audits.at(-1), { result: 'Rejected', reason: 'InvalidPasskey', details: { secondFactor: 'passkey', why: 'challenge' } });

  const before = await asked(first, 'bob');
  const test = await first.restart();
  t.teardown(() => test.stop());
  const origin = `https://${NAME}:${test.port}`;
  t.match(await login(test, 'bob', { passkey: key.answer(before, { origin }) }), { status: 401 }, 'a challenge does not outlive the start that gave it');
  t.equal((await login(test, 'bob', { passkey: key.answer(await asked(test, 'bob'), { origin }) })).status, 200);
  const answers = await Promise.all(Array.from({ length: 8 }, () => login(test, 'bob', { passkey })));
  t.equal(answers.filter(({ body }) => body.code === 'account_locked').length, 3, 'five are judged');
  t.match((await login(test, 'bob', { code: at(recoveryCodes, 0) })).body, { code: 'account_locked' });
  test.clock.advance(15 * MINUTE);
  t.equal((await login(test, 'bob', { code: at(recoveryCodes, 0) })).status, 200, 'a recovery code, where passkeys are all there is');
  t.match(await login(test, 'bob', { code: '123456' }), { status: 401, body: { code: 'invalid_credentials' } }, 'there is no app');
});

t.test('Web Authentication 7.2: an answer opens nothing that is wrong in any part', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { key } = await registered(test, 'bob');
  const eve = await registered(test, 'eve');
  const ownerOf = (account: string) => ({ account, accountId: test.access.user(account).spec.accountId });
  const owner = ownerOf('bob');
  const { passkeys } = test.access;
  const ask = (purpose = 'login', of = owner) => passkeys.ask(of, purpose) as { challenge: string };
  const judged = async (answer: ReturnType<SoftPasskey['answer']>) => passkeys.judge(owner, await passkeys.prove(owner, 'login', answer));
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const wrongs: [why: string, wrong: Wrong][] = [
    ['origin', { origin: 'https://evil.example' }],
    ['origin', { origin: `http://${NAME}:${test.port}` }],
    ['rp-id', { rpID: 'evil.example' }],
    ['type', { type: 'webauthn.create' }],
    ['challenge', { challenge: 'AAAA' }],
    ['challenge', { crossOrigin: true }],
    ['user-verification', { flags: FLAGS.present }],
    ['user-verification', { flags: FLAGS.none }],
    ['credential', { id: eve.key.id }],
    ['credential', { id: newKey(test).id }],
    ['credential', { userHandle: Buffer.from(ownerOf('eve').accountId).toString('base64url') }],
    ['signature', { key: stranger }],
  ];
  for (const [why, wrong] of wrongs) t.match(await judged(key.answer(ask(), wrong)), { is: 'wrong', why }, why);
  t.match(await judged(key.answer(ask(), { key: rsa })), { is: 'wrong' }, 'a signature of another kind');
  t.match(await judged({ ...key.answer(ask()), authenticatorData: 'AAAA' }), { is: 'wrong', why: 'malformed' });
  t.match(await judged(key.answer(ask('reauthenticate/1'))), { is: 'wrong', why: 'challenge' }, 'of another purpose');
  t.match(await judged(key.answer(ask('login', ownerOf('eve')))), { is: 'wrong', why: 'challenge' }, 'of another account');
  const late = ask();
  test.clock.advance(2 * MINUTE);
  t.match(await judged(key.answer(late)), { is: 'wrong', why: 'challenge' }, 'over');
  const kept = ask();
  test.clock.jump(-60 * MINUTE);
  t.match(await judged(key.answer(kept, { userHandle: Buffer.from(owner.accountId).toString('base64url') })), { is: 'right', name: 'token' }, 'the wall clock ends none');
  t.match(await login(test, 'bob', { passkey: { ...key.answer(ask()), signature: 'A'.repeat(2000) } }), { status: 400, body: { code: 'invalid_field' } });

  const answer = key.answer(ask());
  const shown = await passkeys.prove(owner, 'login', answer);
  await test.store.write({ removes: passkeys.refsOf('bob'), audits: [] });
  t.match(passkeys.judge(owner, shown), { is: 'wrong', why: 'credential' }, 'removed while it was looked at');
});

t.test('Web Authentication 6.1.1: a counter that went back is a copy: refused and told; keys that do not count are as good', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { key } = await registered(test, 'bob');
  const enter = async (counter: number) => login(test, 'bob', { passkey: key.answer(await asked(test, 'bob'), { counter }) });
  t.equal((await enter(7)).status, 200);
  t.match(await enter(7), { status: 401, body: { code: 'invalid_credentials' } });
  t.match(test.audits.at(-1), { result: 'Rejected', reason: 'PasskeyCounterWentBack', details: { passkey: 'token', counter: 7, counterBefore: 7 } });
  t.match(await enter(0), { status: 401 });
  t.equal((await enter(8)).status, 200);
  const challenges = [await asked(test, 'bob'), await asked(test, 'bob')];
  const both = await Promise.all(challenges.map((challenge) => login(test, 'bob', { passkey: key.answer(challenge, { counter: 9 }) })));
  t.same(both.map(({ status }) => status).sort(), [200, 401], 'of two at once with one counter one passes');

  await makeAccount(test, 'zoe', ['operator']);
  const zoe = signedIn(test, 'zoe', await login(test, 'zoe'));
  const still = newKey(test);
  t.equal((await zoe.post(KEYS, { name: 'phone', credential: still.make(await begin(zoe), { counter: 0 }) })).status, 201);
  for (let i = 0; i < 2; i += 1) t.equal((await login(test, 'zoe', { passkey: still.answer(await asked(test, 'zoe'), { counter: 0 }) })).status, 200);
});

t.test('AUTH-24: what is signed takes a passkey as it takes a code', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { client, key } = await registered(test, 'bob');
  const again = (more: object = {}) => client.post('/api/v1/auth/reauthenticate', { password: PASSWORD, ...more });
  const refused = await again();
  t.match(refused, { status: 401, body: { code: 'second_factor_required', passkey: { rpId: NAME } } });
  t.match(await again({ passkey: key.answer(await asked(test, 'bob')) }), { status: 401 }, 'a challenge of a login signs nothing');
  const passkey = key.answer(refused.body.passkey);
  t.match(await login(test, 'bob', { passkey: key.answer((await again()).body.passkey) }), { status: 401 }, 'nor does one of a signature sign in');
  t.equal((await again({ passkey })).status, 200);
  t.equal((await again({ passkey })).status, 401, 'it signs once');
  t.match(test.audits.filter(({ action, result }) => action === 'Login' && result === 'Success').at(-1), { details: { method: 'reauthenticate', secondFactor: 'passkey' } });
});

t.test('a role that requires a second factor is content with a passkey, and keeps the last one', async (t) => {
  const test = await start({ secondFactorRequiredFor: ['{prefix}-operator'] });
  t.teardown(() => test.stop());
  const { client, key } = await registered(test, 'bob');
  t.equal((await client.get('/api/v1/auth/me/sessions')).status, 200, 'the same token, at once');
  const [{ id }] = (await client.get(FACTOR)).body.passkeys;
  const remove = async (of: string) => {
    const { passkey } = (await client.post(`${KEYS}/${of}/remove`, { password: PASSWORD })).body;
    return client.post(`${KEYS}/${of}/remove`, { password: PASSWORD, ...(passkey ? { passkey: key.answer(passkey) } : {}) });
  };
  t.match(await remove(id), { status: 409, body: { code: 'second_factor_required_by_role' } });
  t.match(await remove('0000000000000000'), { status: 404 });
});

t.test('passkeys go when their owner removes them, with his account, and when another administrator resets him', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const { client, key, recoveryCodes } = await registered(test, 'bob');
  const other = signedIn(test, 'bob', await login(test, 'bob', { passkey: key.answer(await asked(test, 'bob')) }));
  const renewed = await client.post(`${FACTOR}/recovery-codes`, { password: PASSWORD, code: at(recoveryCodes, 0) });
  t.equal(renewed.status, 200);
  const [{ id }] = (await client.get(FACTOR)).body.passkeys;
  t.match(await client.post(`${KEYS}/${id}/remove`, { password: PASSWORD }), { status: 401, body: { code: 'second_factor_required' } });
  const proof = key.answer((await client.post(`${KEYS}/${id}/remove`, { password: PASSWORD })).body.passkey);
  t.equal((await client.post(`${KEYS}/${id}/remove`, { password: PASSWORD, passkey: proof })).status, 204);
  t.match((await client.get(FACTOR)).body, { enrolled: false, passkeys: [] });
  t.match(await other.get('/api/v1/auth/me'), { status: 401 }, 'what was opened with it ends');
  t.match(test.audits.at(-1), { details: { changed: 'passkey', to: 'removed', passkey: 'token', last: true } });
  t.equal((await login(test, 'bob')).status, 200);
  t.match(await login(test, 'bob', { code: renewed.body.recoveryCodes[0] }), { status: 200 }, 'there is nothing to prove');

  const eve = await registered(test, 'eve');
  t.equal((await admin.delete('/api/v1/auth/users/eve/second-factor')).status, 204);
  t.match(await eve.client.get('/api/v1/auth/me'), { status: 401 });
  t.equal((await login(test, 'eve')).status, 200);
  const joe = await registered(test, 'joe');
  const both = joe.key.answer((await joe.client.post(`${FACTOR}/remove`, { password: PASSWORD })).body.passkey);
  t.equal((await joe.client.post(`${FACTOR}/remove`, { password: PASSWORD, passkey: both })).status, 204);
  await registered(test, 'cleo');
  t.equal((await admin.delete('/api/v1/auth/users/cleo')).status, 204);
  t.same([test.store.list(Passkey, ''), test.store.list(SecondFactor, '')], [[], []], 'nothing of any of them is kept');
});

t.test('a box that is no place for passkeys says why; those of a former name are told and open nothing', async (t) => {
  const box = { speaksTls: true, port: () => 443 };
  t.same(partyOf({ publicName: 'Box.example', trustedProxies: [] }, box), { rpID: 'box.example', origins: ['https://box.example'] });
  t.equal(partyOf({ publicName: null, trustedProxies: [] }, box), 'no_public_name');
  t.equal(partyOf({ publicName: '10.0.0.7', trustedProxies: [] }, box), 'address_is_no_name');
  const plain = { speaksTls: false, port: () => 8090 };
  t.equal(partyOf({ publicName: 'box.example', trustedProxies: [] }, plain), 'no_tls');
  t.match(partyOf({ publicName: 'box.example', trustedProxies: ['10.0.0.0/8'] }, plain), { origins: ['https://box.example'] });
  t.match(partyOf({ publicName: 'localhost', trustedProxies: [] }, plain), { origins: ['http://localhost:8090'] });

  const first = await start();
  const { key, recoveryCodes } = await registered(first, 'bob');
  const before = await asked(first, 'bob');
  const test = await first.restart({ settings: { publicName: 'hall-2.example' } });
  t.teardown(() => test.stop());
  const refused = await login(test, 'bob');
  t.match(refused.body, { code: 'second_factor_required', secondFactors: ['recovery-code'], error: /passkeys of the host name hall-1\.example serve no more/ });
  t.notOk('passkey' in refused.body);
  t.match(await login(test, 'bob', { passkey: key.answer(before) }), { status: 401 });
  const bob = signedIn(test, 'bob', await login(test, 'bob', { code: at(recoveryCodes, 0) }));
  t.match((await bob.get(FACTOR)).body, { passkeys: [{ name: 'token', rpID: NAME, usable: false }] });
  t.match((await (await test.as('viewer')).get('/api/v1/system/health')).body.warnings, [/1 of the passkeys open nothing, they were made for the host name hall-1\.example/]);
  const key2 = softPasskey('hall-2.example', `https://hall-2.example:${test.port}`);
  t.equal((await bob.post(KEYS, { name: 'token 2', credential: key2.make(await begin(bob, { code: at(recoveryCodes, 1) })) })).status, 201);

  const none = await startGatewayTest();
  t.teardown(() => none.stop());
  t.match((await none.request('GET', '/api/v1/auth/config')).body.passkeys, { offered: false, origins: [], why: 'no_public_name' });
  const admin = await none.as('admin');
  t.match(await admin.post(`${KEYS}/begin`, { password: PASSWORD }), { status: 409, body: { code: 'passkeys_unavailable', why: 'no_public_name', error: /gateway\.publicName/ } });
});

t.test('passkeys are sealed by no key: they serve where the codes of the account open no more', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { key } = await registered(test, 'bob');
  await registered(test, 'eve');
  const spec = test.store.get(SecondFactor, '', 'eve')?.spec;
  await test.store.write({ puts: [{ kind: SecondFactor, site: '', name: 'bob', ...(spec ? { spec } : {}) }], audits: [] }); // as by other keys
  t.match(await login(test, 'bob', { code: '123456' }), { status: 401, body: { code: 'second_factor_unreadable' } });
  t.equal((await login(test, 'bob', { passkey: key.answer(await asked(test, 'bob')) })).status, 200);
});

t.test('an account answers a bounded number of challenges within their time', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { key } = await registered(test, 'bob');
  const owner = { account: 'bob', accountId: test.access.user('bob').spec.accountId };
  const use = async () => test.access.passkeys.prove(owner, 'login', key.answer(test.access.passkeys.ask(owner, 'login') as { challenge: string }, { id: 'AAAA' }));
  for (let i = 0; i < 29; i += 1) t.match(await use(), { why: 'credential' });
  t.match(await login(test, 'bob', { passkey: key.answer(await asked(test, 'bob')) }), { status: 429, body: { code: 'rate_limited' } });
  test.clock.advance(2 * MINUTE);
  t.equal((await login(test, 'bob', { passkey: key.answer(await asked(test, 'bob')) })).status, 200);
});

t.test('lineside says that it can use no passkey, and takes a recovery code', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { recoveryCodes } = await registered(test, 'bob', ['admin']);
  const boxes = new KnownBoxes(ownFolder(t));
  boxes.keep('box', { url: test.url, username: 'bob', accessToken: '', refreshToken: '', site: '' }, { current: true });
  const asked: string[] = [];
  const answer = async (question: string): Promise<string> => {
    asked.push(question);
    return question.startsWith('password') ? PASSWORD : at(recoveryCodes, 0);
  };
  const terminal = { ...silentTerminal([]), ask: answer, askSecret: answer };
  await rowOf('login').run({ ...boxContext(boxes, ['box'], {}, terminal), args: ['box'] });
  t.same(asked, ['password of bob: ', 'this account has passkeys, which only a browser can use; a recovery code: ']);
  t.match(await rowOf('second-factor show').run(boxContext(boxes, [], {}, terminal)), { text: /passkey token/ });
});
