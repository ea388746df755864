/** What somebody tries against passkeys: keys that prove nothing, keys that change, rows that were moved or lost, and what is decided while he waits (ADR 0125). */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import t from 'tap';
import { Account, Passkey, SecondFactor } from '../../../src/domains/access/kind.js';
import { PasswordHasher } from '../../../src/domains/access/passwords.js';
import type { Put } from '../../../src/platform/store/store.js';
import { type Client, makeAccount, PASSWORD } from '../../support/gateway.js';
import { type CoseKey, FLAGS, type SoftPasskey, type Wrong } from '../../support/passkey.js';
import { asked, begin, FACTOR, KEYS, login, NAME, newKey, registered, signedIn, start } from './passkey-people.js';

const [KTY, ALG, CRV_OR_N, X_OR_E, Y] = [1, 3, -1, -2, -3];
const [OKP, EC2, RSA] = [1, 2, 3];
const [EDDSA, ES256, RS256] = [-8, -7, -257];

function rsa(n: Buffer, e: Buffer): CoseKey {
  return [[KTY, RSA], [ALG, RS256], [CRV_OR_N, n], [X_OR_E, e]]; // biome-ignore format: a row
}

function ec(algorithm: number, curve: number, x: Buffer, y: Buffer): CoseKey {
  return [[KTY, EC2], [ALG, algorithm], [CRV_OR_N, curve], [X_OR_E, x], [Y, y]]; // biome-ignore format: a row
}

function ed(x: Buffer): CoseKey {
  return [[KTY, OKP], [ALG, EDDSA], [CRV_OR_N, 6], [X_OR_E, x]]; // biome-ignore format: a row
}

function member(key: KeyObject, name: 'n' | 'e' | 'x' | 'y'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[name] as string, 'base64url');
}

/** Little-endian, as a point of Ed25519 is written. */
function point(hex: string): Buffer {
  return Buffer.from(hex.padEnd(64, '0'), 'hex');
}

t.test('Web Authentication 5.8.5, FIPS 186-5: a key that anybody signs with, or that signs by another rule than it names, is not registered', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  await makeAccount(test, 'bob', ['operator']);
  const bob = signedIn(test, 'bob', await login(test, 'bob'));
  const good = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const [n, e, x, y] = [member(good.publicKey, 'n'), member(good.publicKey, 'e'), member(p256, 'x'), member(p256, 'y')];
  const table: [why: string, cose: CoseKey][] = [
    ['key', rsa(n, Buffer.from([1]))], // every text is its own signature
    ['key', rsa(n, Buffer.from([3]))],
    ['key', rsa(member(small.publicKey, 'n'), e)],
    ['key', rsa(Buffer.alloc(0), e)],
    ['key', ed(point('01'))], // a multiple of the neutral point: one signature fits every text
    ['key', ed(point(`01${'00'.repeat(30)}80`))],
    ['key', ed(point('00'))],
    ['key', ed(point(`ec${'ff'.repeat(30)}7f`))],
    ['key', ed(point(`ee${'ff'.repeat(30)}7f`))],
    ['key', ed(point('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'))],
    ['key', ed(point('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'))],
    ['key', ed(Buffer.alloc(31, 1))],
    ['key', ec(ES256, 1, x, x)], // not on the curve
    ['algorithm', ec(ES256, 2, member(p384, 'x'), member(p384, 'y'))],
    ['algorithm', ec(RS256, 1, x, y)],
    ['algorithm', ec(EDDSA, 1, x, y)],
    ['algorithm', [[KTY, RSA], [ALG, ES256], [CRV_OR_N, n], [X_OR_E, e]]], // biome-ignore format: a row
  ];
  for (const [i, [why, cose]] of table.entries())
    t.match(await bob.post(KEYS, { name: 'key', credential: newKey(test).make(await begin(bob), { cose }) }), { status: 400, body: { code: 'invalid_passkey', why } }, `row ${i}`);
  t.same(test.store.list(Passkey, ''), []);

  // of each kind a good one; nobody proves the next by the one before, since a recovery code does
  const ed25519 = generateKeyPairSync('ed25519');
  const kinds: [name: string, cose: CoseKey, key: KeyObject][] = [
    ['RSA', rsa(n, e), good.privateKey],
    ['Ed25519', ed(member(ed25519.publicKey, 'x')), ed25519.privateKey],
  ];
  let codes: readonly string[] = [];
  for (const [i, [name, cose, key]] of kinds.entries()) {
    const token = newKey(test);
    const made = await bob.post(KEYS, { name, credential: token.make(await begin(bob, i === 0 ? {} : { code: codes[i] }), { cose }) });
    t.equal(made.status, 201, name);
    codes = made.body.recoveryCodes ?? codes;
    t.equal((await login(test, 'bob', { passkey: token.answer(await asked(test, 'bob'), { key }) })).status, 200, name);
  }
});

t.test('Web Authentication 7.2: a key that was bound to its device and is copied now is another one than was registered', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { key } = await registered(test, 'bob');
  const enter = async (wrong: Wrong) => login(test, 'bob', { passkey: key.answer(await asked(test, 'bob'), wrong) });
  t.match(await enter({ flags: FLAGS.synced }), { status: 401, body: { code: 'invalid_credentials' } });
  t.match(test.audits.at(-1), { result: 'Rejected', reason: 'InvalidPasskey', details: { why: 'synced' } });
  t.match(await enter({ flags: FLAGS.verified | 0x10 }), { status: 401 }, 'copied, and none that may be');
  t.equal((await enter({})).status, 200);
});

t.test('rows of state.db that were moved to another account or taken away open nothing', async (t) => {
  const test = await start();
  t.teardown(() => test.stop());
  const { key } = await registered(test, 'bob');
  const eve = await registered(test, 'eve');
  const [own, hers] = ['bob', 'eve'].map((account) => test.store.list(Passkey, '').find(({ spec }) => spec.account === account));
  if (!own || !hers) throw new Error('no passkeys');
  const { account, accountId } = own.spec;
  await test.store.write({ puts: [{ kind: Passkey, site: '', name: hers.metadata.name, spec: { ...hers.spec, account, accountId } }] });
  const { passkey } = (await login(test, 'bob')).body;
  t.same(passkey.allowCredentials.map(({ id }: { id: string }) => id), [key.id], 'the row of another account is none of his'); // biome-ignore format: a row
  t.match(await login(test, 'bob', { passkey: eve.key.answer(passkey) }), { status: 401, body: { code: 'invalid_credentials' } });

  await test.store.write({ removes: [{ kind: SecondFactor.kind, site: '', name: 'bob' }] });
  t.match(await login(test, 'bob'), { status: 401, body: { code: 'second_factor_required', passkey: { rpId: NAME } } }, 'the password alone does not do');
  t.match(await login(test, 'bob', { code: '123456' }), { status: 401, body: { code: 'second_factor_unreadable' } });
  t.equal((await login(test, 'bob', { passkey: key.answer(await asked(test, 'bob')) })).status, 200);
});

/** Removes the passkey with it as the proof. */
async function remove(client: Client, key: SoftPasskey, index = 0) {
  const { id } = (await client.get(FACTOR)).body.passkeys[index];
  const { passkey } = (await client.post(`${KEYS}/${id}/remove`, { password: PASSWORD })).body;
  return client.post(`${KEYS}/${id}/remove`, { password: PASSWORD, ...(passkey ? { passkey: key.answer(passkey) } : {}) });
}

t.test('AUTH-24: the last passkey stays where the role requires one, also when the role is given meanwhile and where the codes open no more', async (t) => {
  const test = await start({ secondFactorRequiredFor: ['{prefix}-admin'] });
  t.teardown(() => test.stop());
  const { client, key } = await registered(test, 'bob');
  const required = { status: 409, body: { code: 'second_factor_required_by_role' } };
  const { verify } = PasswordHasher.prototype;
  t.teardown(() => (PasswordHasher.prototype.verify = verify));
  const promote = () => {
    const account = test.store.get(Account, '', 'bob');
    return test.store.write({ puts: [{ kind: Account, site: '', name: 'bob', spec: { ...account?.spec, groups: ['lineside-admin'] } } as Put] });
  };
  const [{ id }] = (await client.get(FACTOR)).body.passkeys;
  const { passkey } = (await client.post(`${KEYS}/${id}/remove`, { password: PASSWORD })).body;
  PasswordHasher.prototype.verify = async function (...given) {
    PasswordHasher.prototype.verify = verify;
    const right = await verify.apply(this, given);
    await promote();
    return right;
  };
  t.match(await client.post(`${KEYS}/${id}/remove`, { password: PASSWORD, passkey: key.answer(passkey) }), required, 'while his password is looked at');
  t.equal(test.store.list(Passkey, '').length, 1);

  const eve = await registered(test, 'eve', ['admin']);
  const stolen = test.store.get(SecondFactor, '', 'bob')?.spec;
  await test.store.write({ puts: [{ kind: SecondFactor, site: '', name: 'eve', ...(stolen ? { spec: stolen } : {}) }] }); // as by other keys
  t.match(await remove(eve.client, eve.key), required, 'nobody knows of an app');
  const zoe = await registered(test, 'zoe');
  await test.store.write({ puts: [{ kind: SecondFactor, site: '', name: 'zoe', ...(stolen ? { spec: stolen } : {}) }] });
  t.equal((await remove(zoe.client, zoe.key)).status, 204);
  t.equal((await login(test, 'zoe')).status, 200, 'he is not locked out by codes that open no more');
});
