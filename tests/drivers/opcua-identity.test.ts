/** The identity that this box shows to OPC UA servers: made once, whole or not at all, and told when it changes. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { onNotice } from '../../runtime/io/notices.js';
import { opcuaDriver } from '../../runtime/io/opcua/driver.js';
import { ownIdentity, passingIdentity } from '../../runtime/io/opcua/identity.js';
import type { BoxNotice } from '../../runtime/port.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { BytePeer } from '../support/opcua-bytes.js';
import { opcuaModule, opcuaSecurity } from '../support/opcua-module.js';
import { ownFolder } from '../support/own-folder.js';

const shared = ownFolder(t);
const DAY_MS = 86_400_000;

function folders(t: Test) {
  const folder = fs.mkdtempSync(path.join(shared, 'box-'));
  const told: BoxNotice[] = [];
  onNotice((notice) => told.push(notice));
  t.teardown(() => onNotice(() => undefined));
  const home = path.join(folder, 'identity');
  return { folder, told, key: path.join(home, 'key.pem'), certificate: path.join(home, 'certificate.pem') };
}

const dates = (der: Buffer) => {
  const { validFrom, validTo } = new X509Certificate(der);
  return { fromMs: Date.parse(validFrom), toMs: Date.parse(validTo) };
};

t.test('a box whose clock is not set makes a certificate that is valid when it is', async (t) => {
  const { folder, told, key } = folders(t);
  const made = await ownIdentity(folder, Date.UTC(1971, 0, 1));
  const { fromMs, toMs } = dates(made.certificate);
  t.ok(fromMs <= Date.UTC(2020, 0, 2) && toMs > Date.UTC(2035, 0, 1), `${fromMs} ${toMs}`);
  t.equal(fs.statSync(key).mode & 0o777, 0o600);
  t.match(told, [{ action: 'Create', message: /has made its OPC UA identity/ }]);
  const later = await ownIdentity(folder, Date.UTC(2027, 0, 1));
  t.ok(later.certificate.equals(made.certificate), 'it is the same one afterwards');
  t.equal(told.length, 1);
  t.same(fs.readdirSync(folder).sort(), ['identity', 'last-certificate.txt'], 'nothing else is left');
});

t.test('a certificate that has ended, or is not valid yet, is made anew from the same key, and told', async (t) => {
  const { folder, told, certificate } = folders(t);
  const first = await ownIdentity(folder, Date.UTC(2026, 0, 1));
  const { toMs } = dates(first.certificate);
  const second = await ownIdentity(folder, toMs + DAY_MS);
  t.notOk(second.certificate.equals(first.certificate));
  t.ok(new X509Certificate(second.certificate).checkPrivateKey(createPrivateKey(first.key.export({ type: 'pkcs8', format: 'pem' }))), 'of the same key');
  t.ok(dates(second.certificate).toMs > toMs + 3600 * DAY_MS);
  t.match(told[1], { action: 'Update', message: /made anew from the same key.*has ended/ });
  fs.rmSync(certificate);
  await ownIdentity(folder, toMs + DAY_MS);
  t.match(told[2], { action: 'Update', message: /was not there/ });
  t.equal((await ownIdentity(folder, Date.UTC(1971, 0, 1))).certificate.length > 0 && told.length, 3, 'a clock that is behind is no reason');
});

t.test('a lost identity is made anew and told', async (t) => {
  const { folder, told } = folders(t);
  await ownIdentity(folder);
  fs.rmSync(path.join(folder, 'identity'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'identity'));
  await ownIdentity(folder);
  t.match(told[1], { action: 'Create', message: /was lost and is made anew.* instead of [0-9a-f]{64}: every server/ });
});

t.test('two threads that make one have the same', async (t) => {
  const { folder } = folders(t);
  const [one, other] = await Promise.all([ownIdentity(folder), ownIdentity(folder)]);
  t.ok(one.certificate.equals(other.certificate));
});

t.test('modules that find the certificate ended or missing at once show the same new one, and it is told once', async (t) => {
  const { folder, told, certificate } = folders(t);
  const { toMs } = dates((await ownIdentity(folder, Date.UTC(2026, 0, 1))).certificate);
  const five = () => Promise.all(Array.from({ length: 5 }, () => ownIdentity(folder, toMs + DAY_MS)));
  for (const [before, reason] of [
    [() => undefined, /has ended/],
    [() => fs.rmSync(certificate), /was not there/],
  ] as const) {
    before();
    told.length = 0;
    const found = await five();
    t.equal(new Set(found.map((identity) => identity.certificatePem)).size, 1);
    t.equal(found[0]?.certificatePem, fs.readFileSync(certificate, 'utf8'));
    t.match(told, [{ action: 'Update', message: reason }]);
    t.equal(told.length, 1);
  }
});

t.test('threads that find it ended at once agree on the one that follows it, and so does a backup that is put back', async (t) => {
  const { folder, certificate } = folders(t);
  const first = await ownIdentity(folder, Date.UTC(2026, 0, 1));
  const afterMs = dates(first.certificate).toMs + DAY_MS;
  const program = `
    const { parentPort, workerData } = require('node:worker_threads');
    Promise.all([import(workerData.notices), import(workerData.identity)]).then(([{ onNotice }, { ownIdentity }]) => {
      const told = [];
      onNotice((notice) => told.push(notice.action));
      parentPort.once('message', () => ownIdentity(workerData.folder, workerData.afterMs).then(({ certificatePem }) => parentPort.postMessage({ certificatePem, told })));
      parentPort.postMessage('ready');
    });`;
  const module = (name: string): string => new URL(`../../runtime/io/${name}.js`, import.meta.url).href;
  const workerData = { folder, afterMs, notices: module('notices'), identity: module('opcua/identity') };
  const threads = Array.from({ length: 2 }, () => new Worker(program, { eval: true, workerData }));
  t.teardown(() => Promise.all(threads.map((thread) => thread.terminate())));
  await Promise.all(threads.map((thread) => once(thread, 'message')));
  const answers = threads.map((thread) => once(thread, 'message') as Promise<[{ certificatePem: string; told: string[] }]>);
  for (const thread of threads) thread.postMessage('go');
  const found = (await Promise.all(answers)).map(([answer]) => answer);
  const shown = fs.readFileSync(certificate, 'utf8');
  t.not(shown, first.certificatePem);
  t.same(
    found.map(({ certificatePem }) => certificatePem),
    [shown, shown],
  );
  t.same(
    found.flatMap(({ told }) => told),
    ['Update'],
  );
  fs.writeFileSync(certificate, first.certificatePem);
  t.equal((await ownIdentity(folder, afterMs)).certificatePem, shown, 'servers that trust it need not be told again');
});

t.test('a clock that is set forward takes nothing away that another one is making; what a dead process has left goes', async (t) => {
  const { folder, told } = folders(t);
  const isMaking = (): boolean => fs.readdirSync(folder).some((name) => name.startsWith('.new-'));
  const left = path.join(folder, '.new-01234567-12-abcdef');
  fs.mkdirSync(left);
  const making = ownIdentity(folder);
  while (fs.existsSync(left) || !isMaking()) await new Promise((resolve) => setImmediate(resolve));
  const now = Date.now.bind(Date);
  t.teardown(() => (Date.now = now));
  Date.now = () => now() + DAY_MS;
  t.ok((await passingIdentity(folder, Date.now())).certificatePem);
  Date.now = now;
  t.ok((await making).certificatePem);
  t.match(told, [{ action: 'Create' }]);
  t.notOk(isMaking());
});

t.test('a damaged file is named with the way out, a key that others can read is closed', async (t) => {
  const { folder, told, key, certificate } = folders(t);
  await ownIdentity(folder);
  fs.chmodSync(key, 0o644);
  await ownIdentity(folder);
  t.equal(fs.statSync(key).mode & 0o777, 0o600);
  t.match(told[1], { message: /others of this machine could read the key/ });
  const [keyText, certificateText] = [key, certificate].map((file) => fs.readFileSync(file, 'utf8'));
  for (const [file, text] of [
    [key, ''],
    [key, 'garbage'],
    [certificate, 'garbage'],
    [certificate, String(certificateText).slice(0, 300)],
  ] as const) {
    fs.writeFileSync(file, text);
    await t.rejects(ownIdentity(folder), new RegExp(`identity of this box is damaged: ${file}: .*backup, or remove ${path.dirname(file)}`));
    fs.writeFileSync(file, String(file === key ? keyText : certificateText));
  }
  fs.rmSync(key);
  await t.rejects(ownIdentity(folder), /key\.pem: ENOENT/);
});

t.test('a module without security goes on without an identity, one with it says which file is damaged', async (t) => {
  const { folder, key } = folders(t);
  const server = await BytePeer.start();
  t.teardown(() => server.stop());
  server.behaviour = 'serves';
  await ownIdentity(folder);
  fs.writeFileSync(key, '');
  const link = await opcuaDriver.connect(opcuaModule(server.url, folder), systemClock);
  await link.close();
  const security = opcuaSecurity(folder, { securityPolicy: 'Basic256Sha256', securityMode: 'SignAndEncrypt', serverCertificateSha256: 'ab'.repeat(32) });
  await t.rejects(opcuaDriver.connect(opcuaModule(server.url, folder, [], {}, { security }), systemClock), new RegExp(`damaged: ${key}`));
  await t.rejects(opcuaDriver.connect(opcuaModule(server.url, folder, [], {}, { security: opcuaSecurity(folder, { authType: 'Certificate' }) }), systemClock), /damaged/);
});
