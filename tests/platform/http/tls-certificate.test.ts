/** Certificates: what a file must hold, the one that the box makes for itself, and how a changed one is judged before it is taken. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { checkPair, fingerprintText, outOfDate, readPair, type TlsFiles } from '../../../src/platform/tls/certificate.js';
import { integer, oid, time } from '../../../src/platform/tls/der.js';
import { selfSigned } from '../../../src/platform/tls/self-signed.js';
import { SelfSignedSource } from '../../../src/platform/tls/self-signed-source.js';
import { type CertificateChange, type CertificateSource, ServedCertificate } from '../../../src/platform/tls/served-certificate.js';
import { Authority } from '../../support/authority.js';
import { writeCertificate } from '../../support/certificates.js';
import { openssl, opensslSays } from '../../support/openssl.js';
import { ownFolder } from '../../support/own-folder.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

const DAY_MS = 86_400_000;

t.test('RFC 5280: the certificate of the box is one for OpenSSL as for Node, with its names, its use and its dates', async (t) => {
  const names = ['line3.plant.example', 'localhost', '192.168.7.20', 'fd00::1:2'];
  const [notBeforeMs, notAfterMs] = [Date.UTC(2026, 0, 1), Date.UTC(2051, 5, 30, 12, 0, 1)];
  const pem = selfSigned({ names, notBeforeMs, notAfterMs });
  const certificate = new X509Certificate(pem);
  t.equal(certificate.subject, 'O=Lineside self-signed\nCN=line3.plant.example');
  t.ok(certificate.verify(certificate.publicKey));
  t.ok(certificate.checkPrivateKey(createPrivateKey(pem)));
  t.equal(certificate.ca, false);
  t.same(certificate.publicKey.asymmetricKeyDetails, { namedCurve: 'prime256v1' });
  t.same([certificate.validFrom, certificate.validTo], ['Jan  1 00:00:00 2026 GMT', 'Jun 30 12:00:01 2051 GMT'], 'also where years have four digits');
  t.equal(certificate.checkHost('line3.plant.example'), 'line3.plant.example');
  for (const address of ['192.168.7.20', 'fd00::1:2']) t.equal(certificate.checkIP(address), address);
  const file = path.join(ownFolder(t, { 'own.pem': pem }), 'own.pem');
  t.doesNotThrow(() => openssl(['verify', '-CAfile', file, '-purpose', 'sslserver', '-attime', String(Date.UTC(2030, 0, 1) / 1000), file]));
  const told = await opensslSays(['x509', '-in', file, '-noout', '-text']);
  t.match(told, /Version: 3[^]*Key Usage: critical\s+Digital Signature\n[^]*Extended Key Usage:\s*\n\s*TLS Web Server Authentication/);
  t.match(
    selfSigned({ names, notBeforeMs, notAfterMs, key: createPrivateKey(pem) }).split('-----BEGIN CERTIFICATE')[0],
    pem.split('-----BEGIN CERTIFICATE')[0],
    'a key that is there stays',
  );
});

t.test('X.690: lengths, numbers, arcs and dates as other programs write them', (t) => {
  t.equal(integer(Buffer.from([0, 0, 0x80])).toString('hex'), '02020080', 'no leading zeros, and not negative');
  t.equal(integer(Buffer.from([0])).toString('hex'), '020100');
  t.equal(oid('1.2.840.10045.4.3.2').toString('hex'), '06082a8648ce3d040302');
  t.equal(
    time(Date.UTC(2049, 11, 31, 23, 59, 59, 999))
      .subarray(2)
      .toString(),
    '491231235959Z',
  );
  t.equal(
    time(Date.UTC(2050, 0, 1))
      .subarray(2)
      .toString(),
    '20500101000000Z',
  );
  t.end();
});

t.test('D-CFG gateway.tls: a chain and its key are read from one file or two; what is no pair is told by its files', (t) => {
  const folder = ownFolder(t);
  const one = writeCertificate(folder, 'one');
  const two = writeCertificate(folder, 'two');
  t.match(checkPair(readPair(one), one), { sha256: /^[0-9a-f]{64}$/, names: ['one.example', 'localhost', '127.0.0.1'], isSelfSigned: true });
  t.match(fingerprintText(one.facts.sha256), /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  const refused = (files: TlsFiles): string => {
    try {
      checkPair(readPair(files), files);
      return 'accepted';
    } catch (fault) {
      return (fault as Error).message;
    }
  };
  t.match(refused({ certFile: one.certFile, keyFile: two.keyFile }), /one\.pem and .*two\.pem are no certificate with its key/);
  t.match(refused({ certFile: '/nowhere.pem', keyFile: two.keyFile }), 'gateway.tls.certFile: /nowhere.pem cannot be read (ENOENT)');
  const authority = new Authority(path.join(folder, 'authority'), 'plant');
  const signed = authority.sign('line3', 'urn:line3');
  const chained = { certFile: path.join(folder, 'chain.pem'), keyFile: signed.files.privateKeyFile };
  writeFileSync(chained.certFile, `${signed.certificatePem}${authority.pem}`);
  t.match(checkPair(readPair(chained), chained), { isSelfSigned: false, issuer: 'CN=plant' });
  writeFileSync(chained.certFile, `${signed.certificatePem}${authority.pem.replace(/\n[A-Za-z0-9+/]{64}\n/, '\nAAAA\n')}`);
  t.match(refused(chained), /no certificate with its key/, 'a damaged one further on in the chain');
  t.equal(outOfDate(one.facts, Date.now()), '');
  t.match(outOfDate(one.facts, one.facts.notAfterMs + 1), /^it has ended on /);
  t.match(outOfDate(one.facts, one.facts.notBeforeMs - 1), /^it begins on .* only/);
  t.end();
});

function source(t: Test, names: { publicName?: string | null; host?: string; addresses?: readonly string[] } = {}) {
  const clock = new TestClock();
  const dataDir = ownFolder(t);
  const given = { publicName: 'line3.example' as string | null, host: 'box3', addresses: ['192.168.7.20'] as readonly string[], ...names };
  const own = new SelfSignedSource({ dataDir, clock, publicName: given.publicName, host: () => given.host, addresses: () => given.addresses });
  const facts = () => checkPair(readPair(own.files), own.files);
  return { clock, dataDir, own, given, facts };
}

t.test('gateway.tls.selfSigned: made once, for the owner only, and anew before its end or for another name; the key stays', (t) => {
  const { clock, own, given, facts, dataDir } = source(t);
  own.prepare();
  const first = facts();
  const keyOf = (): string => new X509Certificate(readFileSync(own.files.certFile)).publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const firstKey = keyOf();
  t.same(first.names, ['line3.example', 'box3', 'localhost', '127.0.0.1', '::1', '192.168.7.20']);
  t.equal(statSync(own.files.keyFile).mode & 0o777, 0o600);
  t.equal(statSync(path.dirname(own.files.keyFile)).mode & 0o777, 0o700);
  own.prepare();
  t.equal(facts().sha256, first.sha256, 'it is kept');
  given.addresses = ['192.168.7.99'];
  own.prepare();
  t.equal(facts().sha256, first.sha256, 'an address that comes later makes no new one');
  clock.advance(first.notAfterMs - clock.wallMs() - 59 * DAY_MS);
  own.prepare();
  const second = facts();
  t.not(second.sha256, first.sha256);
  t.equal(keyOf(), firstKey, 'who has compared it once need not again');
  t.match(second.names, ['line3.example']);
  const renamed = new SelfSignedSource({ dataDir, clock, publicName: 'line4.example', host: () => 'box3', addresses: () => [] });
  renamed.prepare();
  t.match(facts().names, ['line4.example']);
  t.not(own.make({ withNewKey: true }).sha256, second.sha256);
  t.not(keyOf(), firstKey);
  writeFileSync(own.files.certFile, 'damaged');
  own.prepare();
  t.equal(facts().isSelfSigned, true, 'a damaged one is replaced');
  t.end();
});

interface Served {
  readonly served: ServedCertificate;
  readonly taken: string[];
  readonly changes: CertificateChange[];
  readonly warned: string[];
  readonly clock: TestClock;
  take: (files: TlsFiles) => Promise<void>;
}

function serving(t: Test, from: CertificateSource, clock = new TestClock()): Served {
  const warned: string[] = [];
  const log = testLog(({ level, msg = '' }) => level === 'warn' && warned.push(msg));
  const served = new ServedCertificate({ source: from, clock, log, everyMs: 60_000 });
  const taken: string[] = [];
  const changes: CertificateChange[] = [];
  const all: Served = {
    served,
    taken,
    changes,
    warned,
    clock,
    take: async () => undefined,
  };
  served.serveWith(
    async (files, { sha256 }) => {
      await all.take(files);
      taken.push(sha256);
    },
    async (change) => changes.push(change),
  );
  t.teardown(() => served.stop());
  return all;
}

const files = (file: string): CertificateSource => ({ kind: 'files', files: { certFile: file, keyFile: file } });

t.test('ADR 0113: a changed file is taken at the next look, with an audit record; one that is not fit is told once, and the old one goes on', async (t) => {
  const clock = new TestClock();
  const folder = ownFolder(t);
  const nowMs = clock.wallMs();
  const first = writeCertificate(folder, 'served', { nowMs });
  const { served, taken, changes, warned } = serving(t, files(first.certFile), clock);
  t.equal(await served.look(), 'unchanged');
  const second = writeCertificate(folder, 'served', { nowMs });
  t.equal(await served.look(), 'taken');
  t.same(taken, [second.facts.sha256]);
  t.match(changes, [{ result: 'Success', details: { source: 'files', sha256: second.facts.sha256, before: first.facts.sha256 } }]);
  const put = (text: string): void => writeFileSync(first.certFile, text);
  const bad: readonly [text: string, because: RegExp][] = [
    ['', /no certificate with its key/],
    [second.pem.replace(/-----BEGIN CERTIFICATE[^]*/, first.pem.slice(first.pem.indexOf('-----BEGIN CERTIFICATE'))), /no certificate with its key/],
    [writeCertificate(ownFolder(t), 'ended', { nowMs, days: -1 }).pem, /it has ended on/],
  ];
  for (const [text, because] of bad) {
    put(text);
    t.equal(await served.look(), 'refused');
    t.equal(await served.look(), 'refused', 'and looked at again');
    t.match(served.view(), { facts: { sha256: second.facts.sha256 }, notes: [because] });
  }
  t.equal(changes.filter(({ result }) => result === 'Failed').length, bad.length, 'each is told once');
  t.equal(taken.length, 1);
  put(second.pem);
  t.equal(await served.look(), 'unchanged');
  t.same(served.view().notes, [], 'who puts the old one back hears no more of it');
  rmSync(first.certFile);
  t.equal(await served.look(), 'refused');
  t.match(served.view().notes, [/gateway\.tls\.certFile: .*served\.pem cannot be read \(ENOENT\)/]);
  put(second.pem);
  await served.look();
  t.equal(warned.length, bad.length + 1);
});

t.test('what the server cannot serve is told, and what changes while it loads is compared once more', async (t) => {
  const clock = new TestClock();
  const folder = ownFolder(t);
  const nowMs = clock.wallMs();
  const first = writeCertificate(folder, 'served', { nowMs });
  const all = serving(t, files(first.certFile), clock);
  const second = writeCertificate(folder, 'served', { nowMs });
  all.take = () => Promise.reject(new Error('no more descriptors'));
  t.equal(await all.served.look(), 'refused');
  t.match(all.served.view().notes, [/goes on: no more descriptors/]);
  let third = second;
  all.take = async () => {
    if (third === second) third = writeCertificate(folder, 'served', { nowMs });
  };
  const [one, other] = await Promise.all([all.served.look(), all.served.look()]);
  t.same([one, other], ['taken', 'taken'], 'who asks while one looks hears the same');
  t.same(all.taken, [second.facts.sha256, third.facts.sha256], 'the file changed between the judgement and the server');
  t.equal(all.served.view().facts.sha256, third.facts.sha256);
});

t.test('it is looked at by itself, and its end is told before it comes', async (t) => {
  const clock = new TestClock();
  const folder = ownFolder(t);
  const first = writeCertificate(folder, 'served', { nowMs: clock.wallMs(), days: 40 });
  const all = serving(t, files(first.certFile), clock);
  all.served.start();
  const second = writeCertificate(folder, 'served', { nowMs: clock.wallMs(), days: 50 });
  const taken = new Promise<void>((resolve) => (all.take = async () => resolve()));
  clock.advance(60_000);
  await taken;
  await all.served.look();
  t.equal(all.served.view().facts.sha256, second.facts.sha256);
  t.same(all.served.view().notes, []);
  clock.advance(21 * DAY_MS);
  t.match(all.served.view().notes, [/ends in 28 days; put a new one into gateway\.tls\.certFile/]);
  clock.advance(30 * DAY_MS);
  t.match(all.served.view().notes, [/is out of date: it has ended/]);
});

t.test('a box whose certificate has ended starts all the same, because its plant goes on; one without any does not', (t) => {
  const clock = new TestClock();
  const folder = ownFolder(t);
  const ended = writeCertificate(folder, 'ended', { nowMs: clock.wallMs(), days: -1 });
  t.match(serving(t, files(ended.certFile), clock).served.view().notes, [/is out of date/]);
  t.throws(() => serving(t, files(path.join(folder, 'nowhere.pem')), clock), { name: 'UnfitCertificate' });
  t.end();
});

t.test('G22: keys are written into the data directory alone: a link in the place of their folder is not followed', (t) => {
  const place = ownFolder(t, { 'data/.keep': '', 'other/notes.txt': 'mine' });
  symlinkSync(path.join(place, 'other'), path.join(place, 'data', 'tls'));
  const source = new SelfSignedSource({ dataDir: path.join(place, 'data'), publicName: 'line3.example', clock: new TestClock() });
  t.throws(() => source.make(), { message: /data\/tls is a link: keys are written into the data directory alone; remove it/ });
  t.same(readdirSync(path.join(place, 'other')), ['notes.txt']);
  t.end();
});

t.test('a disk that takes nothing keeps no certificate of its own from being served that is there', (t) => {
  const { clock, own, dataDir, facts } = source(t);
  own.prepare();
  const { sha256, notAfterMs } = facts();
  clock.advance(notAfterMs - clock.wallMs() - DAY_MS);
  const folder = path.join(dataDir, 'tls');
  const inTheWay = { ...own, kind: 'self-signed' as const, files: own.files, prepare: () => mkdirSync(path.join(folder, 'self-signed.pem')) };
  t.equal(serving(t, inTheWay, clock).served.view().facts.sha256, sha256);
  chmodSync(folder, 0o700);
  t.end();
});
