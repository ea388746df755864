/** Certificates of an ACME server (RFC 8555), against a real one: both challenges, the account, and what is done when it fails (ADR 0115). */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { dnsHook, httpChallenges } from '../../../src/platform/tls/acme-challenges.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { freePort } from '../../../src/platform/http/listen.js';
import { AcmeKeeper, AcmeSource, RETRY } from '../../../src/platform/tls/acme-keeper.js';
import { type AcmeOrder, orderCertificate } from '../../../src/platform/tls/acme-order.js';
import { checkPair, readPair } from '../../../src/platform/tls/certificate.js';
import { selfSigned } from '../../../src/platform/tls/self-signed.js';
import { ServedCertificate } from '../../../src/platform/tls/served-certificate.js';
import { SelfSignedSource } from '../../../src/platform/tls/self-signed-source.js';
import { ownFolder } from '../../support/own-folder.js';
import { Pebble } from '../../support/pebble.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

const DAY_MS = 86_400_000;

interface Box {
  readonly dataDir: string;
  readonly clock: TestClock;
  readonly source: AcmeSource;
}

function box(t: Test): Box {
  const dataDir = ownFolder(t);
  const clock = new TestClock();
  const own = new SelfSignedSource({ dataDir, clock, publicName: 'line3.example', host: () => 'box3', addresses: () => [] });
  const source = new AcmeSource(dataDir, own);
  source.prepare();
  return { dataDir, clock, source };
}

/** Everything it is waited for that a look has done. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

t.test('against pebble', async (t) => {
  const folder = ownFolder(t);
  const pebble = await Pebble.start(folder);
  t.teardown(() => pebble.stop());
  const orderOf = (dataDir: string, challenge: AcmeOrder['challenge'], domains: readonly string[]): AcmeOrder => ({
    dataDir,
    directory: pebble.directory,
    domains,
    email: 'plant@line3.example',
    caFile: pebble.caFile,
    challenge,
    clock: systemClock,
    log: testLog(),
  });

  t.test('http-01: the box answers on the port while it is asked and no longer, the account is kept for its owner only', async (t) => {
    const { dataDir, source } = box(t);
    t.equal(source.kind, 'self-signed', 'until the first one has come');
    const challenge = httpChallenges({ host: '127.0.0.1', port: pebble.httpPort });
    const order = orderOf(dataDir, challenge, ['line3.example', 'hall.example']);
    const facts = source.keep(await orderCertificate(order));
    t.match(facts, { names: ['line3.example', 'hall.example'], issuer: /Pebble Intermediate CA/, isSelfSigned: false });
    t.equal(source.kind, 'acme');
    t.same(checkPair(readPair(source.files), source.files), facts);
    await t.rejects(fetch(`http://127.0.0.1:${pebble.httpPort}/`), 'nobody listens there any more');
    const account = path.join(dataDir, 'tls', 'acme-account.pem');
    for (const file of [account, source.files.keyFile]) t.equal(statSync(file).mode & 0o777, 0o600, file);
    const key = readFileSync(account, 'utf8');
    t.not(source.keep(await orderCertificate(order)).sha256, facts.sha256, 'a renewal');
    t.equal(readFileSync(account, 'utf8'), key, 'by the same account');
  });

  t.test('dns-01: the hook is called with add and remove, name and value', async (t) => {
    const { dataDir, source } = box(t);
    const { program, calls } = pebble.hook(dataDir);
    const facts = source.keep(await orderCertificate(orderOf(dataDir, dnsHook(program), ['dns.example'])));
    t.match(facts.names, ['dns.example']);
    const called = readFileSync(calls, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as string[]);
    t.match(called, [
      ['add', '_acme-challenge.dns.example', /^[\w-]{43}$/],
      ['remove', '_acme-challenge.dns.example', /^[\w-]{43}$/],
    ]);
    t.equal(called[0]?.length, 3);
  });

  t.test('a server that nobody vouches for is not asked, and one that cannot reach the box says why', async (t) => {
    const { dataDir } = box(t);
    const challenge = httpChallenges({ host: '127.0.0.1', port: pebble.httpPort });
    await t.rejects(orderCertificate({ ...orderOf(dataDir, challenge, ['line3.example']), caFile: writeCa(dataDir) }), {
      message: /^the ACME server https:.* does not answer \(.*(certificate|issuer)/,
    });
    const silent = { type: 'http-01' as const, add: () => Promise.resolve(), remove: () => Promise.resolve() };
    await t.rejects(orderCertificate(orderOf(dataDir, silent, ['line3.example'])), { message: /refused|connection|invalid/i });
  });
});

function writeCa(folder: string): string {
  const file = path.join(folder, 'other-ca.pem');
  const pem = selfSigned({ names: ['other'], notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS });
  writeFileSync(file, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')));
  return file;
}

t.test('G22: whatever is sent to the port of a challenge is answered, and keeps nobody from it', async (t) => {
  const port = await freePort('127.0.0.1');
  const challenge = httpChallenges({ host: '127.0.0.1', port });
  const wish = { domain: 'line3.example', token: 'token-1', value: 'token-1.thumb' };
  await challenge.add(wish);
  t.teardown(() => challenge.remove(wish));
  const answerTo = (target: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.end(`GET ${target} HTTP/1.1\r\nHost: line3.example\r\nConnection: close\r\n\r\n`));
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
  for (const odd of [
    '//',
    'http://[',
    'http://a b',
    '*',
    '/.well-known/acme-challenge/',
    '/.well-known/acme-challenge/__proto__',
    '/.well-known/acme-challenge/%zz',
    '/x'.repeat(4000),
  ])
    t.match(await answerTo(odd), /^HTTP\/1\.1 (400|404) /, odd.slice(0, 60));
  for (const asked of [`/.well-known/acme-challenge/token-1`, `http://line3.example/.well-known/acme-challenge/token-1?by=proxy`])
    t.match(await answerTo(asked), /^HTTP\/1\.1 200 [^]*token-1\.thumb/, asked);
});

t.test('G27: a certificate of an ACME server that is damaged keeps no box from its start: that of the box stands in, and the next one takes its place', async (t) => {
  const { dataDir, clock, source } = box(t);
  const started = (): AcmeSource => new AcmeSource(dataDir, new SelfSignedSource({ dataDir, clock, publicName: 'line3.example', host: () => 'box3', addresses: () => [] }));
  source.keep(selfSigned({ names: ['line3.example'], notBeforeMs: clock.wallMs() - DAY_MS, notAfterMs: clock.wallMs() + 90 * DAY_MS }));
  t.equal(source.kind, 'acme');
  const file = path.join(dataDir, 'tls', 'acme.pem');
  const whole = readFileSync(file);
  for (const left of [0, 40, whole.length >> 1]) {
    writeFileSync(file, whole.subarray(0, left));
    const served = new ServedCertificate({ source: started(), clock, log: testLog(), everyMs: 60_000 });
    t.match(served.view(), { kind: 'self-signed', facts: { names: ['line3.example', 'box3', 'localhost'] } }, `${left} bytes of it`);
  }
  const again = started();
  again.prepare();
  t.equal(again.facts, undefined, 'one is asked for');
  again.keep(String(whole));
  again.prepare();
  t.equal(again.kind, 'acme');
  const served = new ServedCertificate({ source: again, clock, log: testLog(), everyMs: 60_000 });
  writeFileSync(file, '');
  t.equal(await served.look(), 'refused', 'while it is served, that of memory goes on');
  t.match(served.view(), { kind: 'acme', facts: { names: ['line3.example'] }, notes: [/the one before goes on/] });
});

t.test('the hook gets its words without a shell, and what it says when it fails is told', async (t) => {
  const folder = ownFolder(t);
  const program = path.join(folder, 'hook');
  const heard = path.join(folder, 'heard');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > '${heard}'\necho 'the name server is away' >&2\nexit 3\n`);
  chmodSync(program, 0o700);
  const wish = { domain: 'line3.example', token: 'x', value: '$(touch /tmp/nobody); `id`' };
  await t.rejects(dnsHook(program).add(wish), { message: `gateway.tls.acme.dnsHook ${program} add: ended with 3 the name server is away` });
  t.equal(readFileSync(heard, 'utf8'), 'add\n_acme-challenge.line3.example\n$(touch /tmp/nobody); `id`\n');
  await t.rejects(dnsHook(path.join(folder, 'nowhere')).remove(wish), { message: /nowhere remove: ENOENT/ });
});

t.test('a certificate is renewed at two thirds of its life', async (t) => {
  const { clock, source } = box(t);
  const issued: string[] = [];
  let taken = 0;
  const order = async (): Promise<string> => {
    const pem = selfSigned({ names: ['line3.example'], notBeforeMs: clock.wallMs(), notAfterMs: clock.wallMs() + 90 * DAY_MS });
    issued.push(pem);
    return pem;
  };
  const keeper = new AcmeKeeper({ source, clock, log: testLog(), order, random: () => 0.5 });
  t.teardown(() => keeper.stop());
  keeper.start(async () => (taken += 1));
  clock.advance(0);
  await turns();
  t.same([issued.length, taken, source.kind], [1, 1, 'acme']);
  const days = async (count: number): Promise<void> => {
    for (let half = 0; half < count * 2; half += 1) {
      clock.advance(DAY_MS / 2);
      await turns();
    }
  };
  await days(59);
  t.equal(issued.length, 1);
  await days(2);
  t.same([issued.length, taken], [2, 2]);
  t.same(keeper.troubles, []);
});

t.test('what fails is told and tried again ever more rarely, and the certificate that is there goes on', async (t) => {
  const { clock, source, dataDir } = box(t);
  const atMs: number[] = [];
  let fails = true;
  const order = async (): Promise<string> => {
    atMs.push(clock.monoMs());
    if (fails) throw new Error('the name cannot be reached');
    return 'no certificate at all';
  };
  const keeper = new AcmeKeeper({ source, clock, log: testLog(), order, random: () => 0.5 });
  t.teardown(() => keeper.stop());
  keeper.start(() => Promise.resolve());
  clock.advance(0);
  for (await turns(); atMs.length < 10; await turns()) clock.advance(RETRY.firstMs);
  const quarters = atMs.slice(1).map((each, at) => (each - (atMs[at] ?? 0)) / RETRY.firstMs);
  t.same(quarters, [1, 2, 4, 8, 16, 32, 64, 96, 96]);
  t.match(keeper.troubles, [/^no certificate from the ACME server: the name cannot be reached; tried 10 times, the one that is there goes on$/]);
  t.equal(source.kind, 'self-signed');
  fails = false;
  clock.advance(RETRY.longestMs);
  await turns();
  t.match(keeper.troubles, [/what the ACME server has issued and the key it was asked for are no certificate with its key/]);
  t.equal(existsSync(path.join(dataDir, 'tls', 'acme.pem')), false, 'nothing that nobody could serve is kept');
});
