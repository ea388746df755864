/** Secrets of devices: set and told without their content, kept sealed, and handed to the probe of the modules that name them alone (decisions 7.5). */
import { openssl } from '../../support/openssl.js';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Credentials } from '../../../src/domains/io-modules/credentials.js';
import { Secret } from '../../../src/domains/io-modules/secret-kind.js';
import { secretRoutes } from '../../../src/domains/io-modules/secret-routes.js';
import { DeviceSecrets } from '../../../src/domains/io-modules/secrets.js';
import { Sealing } from '../../../src/platform/base/sealing.js';
import { routeSet } from '../../../src/platform/http/route.js';
import type { Store } from '../../../src/platform/store/store.js';
import { at } from '../../support/at.js';
import { ownFolder } from '../../support/own-folder.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const deviceKey = () => generateKeyPairSync('ed25519').privateKey;
const ownKey = deviceKey();
const folder = ownFolder(t);
let secrets!: DeviceSecrets;
const secretsOf = (store: Store, key = ownKey): DeviceSecrets => new DeviceSecrets({ store, sealing: new Sealing(key, 'device secrets'), folder });
const plant = await startPlantGateway({
  more: ({ store }) => {
    secrets = secretsOf(store);
    return [routeSet(secretRoutes, { store, secrets })];
  },
});
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const AT = '/api/v1/sites/north';
await admin.post('/api/v1/sites', { name: 'north' });

/** A key with its certificate, and the key of nobody, as an engineer makes them. */
const pems = ownFolder(t);
openssl(['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key', '-out', 'cert', '-subj', '/CN=box', '-days', '2'], pems);
const [key, certificate] = [readFileSync(path.join(pems, 'key'), 'utf8'), readFileSync(path.join(pems, 'cert'), 'utf8')];
const foreignKey = String(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }));

t.test('decisions 7.5: what is sealed opens with the same key in the same place, and nowhere else', async (t) => {
  const sealing = new Sealing(ownKey, 'device secrets');
  const sealed = sealing.seal('geheim €', 'north/plc/password');
  t.match(sealed, /^lineside-sealed\/1:/);
  t.notOk(Buffer.from(sealed.slice(18), 'base64url').toString('latin1').includes('geheim'));
  t.equal(sealing.open(sealed, 'north/plc/password'), 'geheim €');
  t.not(sealing.seal('geheim €', 'north/plc/password'), sealed, 'the same text is another one each time');
  t.equal(sealing.open(sealed, 'north/other/password'), undefined, 'moved to another place');
  t.equal(new Sealing(deviceKey(), 'device secrets').open(sealed, 'north/plc/password'), undefined, 'of another box');
  t.equal(new Sealing(ownKey, 'something else').open(sealed, 'north/plc/password'), undefined, 'for another purpose');
  for (const damaged of [sealed.slice(0, -4), `${sealed.slice(0, -1)}${sealed.endsWith('A') ? 'B' : 'A'}x`, sealed.replace('/1:', '/2:'), 'lineside-sealed/1:', ''])
    t.equal(sealing.open(damaged, 'north/plc/password'), undefined, damaged);
});

t.test('IO-05, decisions 7.5: a secret is set by an administrator, and no answer, record, export or row holds its content', async (t) => {
  const set = await admin.put(`${AT}/secrets/plc-login`, { username: 'line', password: 'hunter-two' });
  t.match(set, { status: 200, body: { name: 'plc-login', members: ['username', 'password'], storedIn: 'box', isReadable: true, usedBy: [] } }, set.text);
  const told = [set, await admin.get(`${AT}/secrets`), await admin.get(`${AT}/secrets/plc-login`), await admin.get('/api/v1/export'), await admin.get('/api/v1/backup/crds')];
  for (const { text } of told) t.notOk(/hunter-two|"line"/.test(text), text.slice(0, 200));
  t.same((await admin.get(`${AT}/secrets`)).body, [set.body]);
  t.match(plant.audits.at(-1), {
    action: 'Create',
    category: 'secret',
    target: { kind: 'Secret', name: 'plc-login', site: 'north' },
    details: { set: ['username', 'password'] },
    result: 'Success',
  });
  t.notOk(JSON.stringify(plant.audits).includes('hunter-two'));
  t.notOk(JSON.stringify(plant.store.list(Secret)).includes('hunter-two'));
  for (const file of readdirSync(plant.dataDir))
    if (file.startsWith('state.db')) t.notOk(readFileSync(path.join(plant.dataDir, file)).includes('hunter-two'), `${file} holds it in clear`);
});

t.test('decisions 7.5: only an administrator who has just signed in sets one, and others do not even learn the names', async (t) => {
  const engineer = await plant.as('engineer');
  for (const answer of [
    await engineer.get(`${AT}/secrets`),
    await engineer.get(`${AT}/secrets/plc-login`),
    await engineer.put(`${AT}/secrets/plc-login`, { password: 'x' }),
    await engineer.delete(`${AT}/secrets/plc-login`),
  ])
    t.equal(answer.status, 403, answer.text);
  for (const row of secretRoutes) t.equal(row.freshToken, row.method === 'GET' ? undefined : true);
});

t.test('decisions 7.5: a change keeps what is left out, removes what is null, and says what it does not take without quoting it', async (t) => {
  t.match(await admin.put(`${AT}/secrets/plc-login`, { password: 'rotated-once' }), { status: 200, body: { members: ['username', 'password'] } });
  t.same(secrets.stored('north', 'plc-login'), { username: 'line', password: 'rotated-once' });
  t.match(await admin.put(`${AT}/secrets/plc-login`, { certificate, key }), { status: 200, body: { members: ['username', 'password', 'certificate', 'key'] } });
  t.match(await admin.put(`${AT}/secrets/plc-login`, { certificate: null, key: null, username: null }), { status: 200, body: { members: ['password'] } });
  const encrypted = String(createPrivateKey(foreignKey).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }));
  for (const [change, field] of [
    [{}, 'password'],
    [{ password: '' }, 'password'],
    [{ password: null }, 'password'],
    [{ passwort: 'typed-wrong' }, 'passwort'],
    [{ username: 'a\nb' }, 'username'],
    [{ certificate: 'typed-wrong' }, 'certificate'],
    [{ certificate: certificate.replace(/[A-Z]{9}/, 'AAAAAAAAA') }, 'certificate'],
    [{ key: 'typed-wrong' }, 'key'],
    [{ key: encrypted }, 'key'],
    [{ certificate, key: foreignKey }, 'key'],
  ] as const) {
    const refused = await admin.put(`${AT}/secrets/plc-login`, change);
    t.match(refused, { status: 400, body: { field } }, refused.text);
    t.notOk(refused.text.includes('typed-wrong'));
  }
  t.same(secrets.stored('north', 'plc-login'), { password: 'rotated-once' }, 'nothing was changed');
  t.match(await admin.put(`${AT}/secrets/Not%20a%20name`, { password: 'x' }), { status: 400, body: { code: 'invalid_name' } });
  t.match(await admin.get(`${AT}/secrets/none`), { status: 404 });
});

t.test('IO-06, Q-IO-05: the verdict on credentials, and what the probe of the module is handed', async (t) => {
  const module = { name: 'ua', protocol: 'opcua', address: 'opc.tcp://plc:4840', security: { authType: 'UserName', secretRef: { name: 'plc-login' } } };
  const credentials = new Credentials(secrets);
  const handed = (security: object, options = {}) => credentials.of('north', { security, options });
  t.match(await admin.post(`${AT}/iomodules`, module), { status: 201 });
  t.match((await admin.get(`${AT}/secrets/plc-login`)).body, { usedBy: ['ua'] });
  t.match(await admin.delete(`${AT}/secrets/plc-login`), { status: 409, body: { code: 'has_dependents', dependents: [{ kind: 'IOModule', name: 'ua' }] } });
  t.same(await handed({ secretRef: { name: 'plc-login' } }, { username: 'line' }), { username: 'line', password: 'rotated-once' });
  t.same(await handed({ secretRef: { name: 'none' } }), { missing: 'secret none is not on this box: an administrator sets it' });
  t.same(await handed({ clientCertificateRef: { name: 'plc-login' } }), { missing: 'secret plc-login has no certificate and no key' });
  t.same(
    await credentials.of('north', { security: undefined, options: { username: 'op', password: 'old way' } }),
    { username: 'op', password: 'old way' },
    'as an earlier release has stored it',
  );
  t.equal(await handed({ authType: 'Anonymous' }), undefined);
  await admin.put(`${AT}/secrets/identity`, { certificate, key });
  t.same(await handed({ secretRef: { name: 'plc-login' }, clientCertificateRef: { name: 'identity' } }), { password: 'rotated-once', certificatePem: certificate, keyPem: key });

  const other = secretsOf(plant.store, deviceKey());
  t.equal(other.exists('north', 'plc-login'), undefined, 'a copy of the rows without the key of the box');
  t.match(await new Credentials(other).of('north', { security: { secretRef: { name: 'plc-login' } }, options: {} }), { missing: /cannot be read on this box/ });
  t.match(await other.view('north', 'plc-login'), { isReadable: false, members: ['password'] });
});

t.test('decisions 7.5: files of secrets.dir are read as before, go behind a stored one, and lead out of no folder', async (t) => {
  const place = path.join(folder, 'site-north', 'from-files');
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(place, 'username'), 'filed\n');
  writeFileSync(path.join(place, 'password'), 'file-secret\r\n');
  t.same(await secrets.inFiles('north', 'from-files'), { username: 'filed', password: 'file-secret' });
  t.match(await admin.get(`${AT}/secrets/from-files`), { status: 200, body: { storedIn: 'files', members: ['username', 'password'], changedAt: '' } });
  t.same(
    (await admin.get(`${AT}/secrets`)).body.map(({ name }: { name: string }) => name),
    ['from-files', 'identity', 'plc-login'],
  );
  t.match(await admin.delete(`${AT}/secrets/from-files`), { status: 409, body: { code: 'secret_in_files' } });
  await admin.put(`${AT}/secrets/from-files`, { password: 'set-here' });
  const credentials = new Credentials(secrets);
  const named = { security: { secretRef: { name: 'from-files' } }, options: {} };
  t.same(await credentials.of('north', named), { password: 'set-here' }, 'the stored one alone: nobody would look for the rest of it in a folder');
  t.equal((await admin.delete(`${AT}/secrets/from-files`)).status, 204);
  t.same(await credentials.of('north', named), { username: 'filed', password: 'file-secret' });
  for (const name of ['..', '../site-north/from-files', '.', '/etc', 'a/../from-files', '']) {
    t.equal(await secrets.inFiles('north', name), undefined, name);
    t.equal(secrets.exists('north', name), false, name);
  }
  rmSync(place, { recursive: true });
  writeFileSync(place, 'a file where a folder has to stand');
  t.equal(await secrets.inFiles('north', 'from-files'), undefined);
  t.match(at(plant.audits, plant.audits.length - 1), { action: 'Delete', category: 'secret' });
});
