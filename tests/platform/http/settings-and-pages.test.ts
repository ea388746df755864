import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { openDocuments } from '../../../src/platform/http/documents.js';
import { describeSettings, environmentName, readSettings, SETTINGS, SettingsError, type SettingsOf, showSettings } from '../../../src/settings.js';
import { startGatewayTest } from '../../support/gateway.js';
import { at } from '../../support/at.js';

function folder(t: { teardown(call: () => unknown): void }, config?: string): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-settings-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  if (config !== undefined) writeFileSync(path.join(dir, 'config.yaml'), config);
  return dir;
}

t.test('who needs the settings of a part takes its type and is handed all of them', async (t) => {
  const streams: SettingsOf<'gateway.streams'> = readSettings([], {}, folder(t));
  t.equal(streams.streamsPerSourceMax, 10);
  // @ts-expect-error one of another part: a row under the wrong key does not compile where it is used
  t.equal(streams.httpPort, 8090);
});

t.test('GEN-07, AUTH-03, REASON-02, NONCE-04, NONCE-14, LIMIT-16: the defaults', async (t) => {
  const settings = readSettings([], {}, folder(t));
  t.match(settings, {
    httpPort: 8090,
    listen: '0.0.0.0',
    authMode: 'local',
    groupPrefix: 'lineside',
    reasonLengthMin: 10,
    antiReplayEnabled: true,
    antiReplayWindowMs: 600_000,
    antiReplayEntriesMax: 500_000,
    bodyBytesMax: 1048576,
    streamsPerSourceMax: 10,
    stLoopLimit: 10_000,
    operatingMode: 'production',
    storageReserveBytes: 512 * 1024 * 1024,
    demoEnabled: false,
  });
});

t.test('D-CFG: flag over environment over file over default; nested keys or dotted names', async (t) => {
  const dir = folder(
    t,
    'gateway:\n  policy:\n    reasonMinLength: 20\n  httpPort: 9000\nauth.session.maxLifetime: 8h\nruntime: {timeScale: 2}\nauth:\n  roles:\n    - {group: "{prefix}-operator", deny: ["tag:write"]}\n',
  );
  t.match(readSettings([], {}, dir), { reasonLengthMin: 20, httpPort: 9000, sessionLifetimeMs: 8 * 3_600_000, timeScale: 2, roles: [{ deny: ['tag:write'], grant: [] }] });
  t.equal(readSettings([], { REASON_MIN_LENGTH: '30' }, dir).reasonLengthMin, 30);
  const outputs = (environment: object) => readSettings([], { ...environment }, dir).outputs;
  const development = { LINESIDE_GATEWAY__OPERATINGMODE: 'development' };
  t.same([outputs({}), outputs(development), outputs({ ...development, LINESIDE_IO__OUTPUTS: 'live' })], ['live', 'withheld', 'live'], 'a box in development drives no device');
  t.equal(readSettings(['--reason-min-length', '40'], { REASON_MIN_LENGTH: '30' }, dir).reasonLengthMin, 40);
  t.equal(readSettings([], { LINESIDE_GATEWAY__HTTPPORT: '9001' }, dir).httpPort, 9001);
  t.equal(readSettings(['--config', path.join(dir, 'config.yaml'), '--data-dir', '/tmp/elsewhere'], {}, dir).dataDir, '/tmp/elsewhere');
  t.equal(environmentName('gateway.httpPort'), 'LINESIDE_GATEWAY__HTTPPORT');
});

t.test('D-CFG: an unknown key, a bad value or an unreadable file is refused by name', async (t) => {
  const refused = (argv: string[], env: Record<string, string>, config?: string) => {
    try {
      readSettings(argv, env, folder(t, config));
      return 'accepted';
    } catch (fault) {
      return fault instanceof SettingsError ? fault.message : String(fault);
    }
  };
  t.match(refused([], {}, 'gateway:\n  httpPrt: 1\n'), 'unknown setting gateway.httpPrt');
  t.match(refused([], {}, 'gateway:\n  httpPort: eight\n'), 'gateway.httpPort must be a whole number from 0 to 65535, not "eight"');
  t.match(refused([], {}, 'auth.session.inactivityTimeout: 30s\n'), 'auth.session.inactivityTimeout must be a duration');
  t.match(refused([], {}, 'a: [\n'), 'cannot be read');
  t.match(refused([], { LINESIDE_GATEWAY__NOPE: '1' }), 'unknown environment variable LINESIDE_GATEWAY__NOPE');
  t.match(refused([], { REASON_MIN_LENGTH: '0' }), 'REASON_MIN_LENGTH (gateway.policy.reasonMinLength) must be a whole number from 1 to 1024');
  t.match(refused(['--auth-mode', 'open'], {}), '--auth-mode (auth.mode) must be local or oidc or none');
  t.equal(refused(['--nope'], {}), 'unknown flag --nope; lineside start --help lists flags and settings');
  t.equal(refused(['--data-dri', 'x'], {}), 'unknown flag --data-dri; the nearest known one is --data-dir; lineside start --help lists flags and settings');
  t.equal(refused(['--http-port', '1'], {}), 'unknown flag --http-port; the flag of gateway.httpPort is --port');
  t.equal(refused(['--listen', '1'], {}), 'unknown flag --listen: gateway.listen is set in the configuration file, or as LINESIDE_GATEWAY__LISTEN in the environment');
  t.match(refused(['--port', 'x'], {}), /--port|gateway\.httpPort/);
  t.match(refused(['--gateway-policy-reason-min-length', '1'], {}), 'the flag of gateway.policy.reasonMinLength is --reason-min-length');
  t.match(refused(['--config', '/no/such/file'], {}), 'does not exist');
  const pipe = path.join(folder(t), 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  t.match(refused(['--config', pipe], {}), /pipe\.yaml cannot be read; correct it or move it away: .*pipe\.yaml is a pipe, and a file has to stand there/, 'nobody writes to it');
  t.match(refused(['--config', '/dev/zero'], {}), '/dev/zero is a device, and a file has to stand there');
  t.match(refused([], {}, 'gateway.tls.certFile: /c.pem\n'), 'given together');
  const oidc = (more = '', issuer = 'https://id.example'): string => refused(['--auth-mode', 'oidc'], {}, `auth.oidc.issuer: ${issuer}\nauth.oidc.clientId: lineside\n${more}`);
  t.equal(oidc(), 'accepted');
  t.equal(oidc('', 'http://127.0.0.1:8080/realm'), 'accepted', 'an identity provider on this machine');
  t.match(refused(['--auth-mode', 'oidc'], {}), 'auth.oidc.issuer is missing');
  t.match(refused(['--auth-mode', 'oidc'], {}, 'auth.oidc.issuer: https://id.example\n'), 'auth.oidc.clientId is missing');
  for (const issuer of ['http://id.example', 'https://id.example/?a=b', 'https://user@id.example', 'id.example'])
    t.match(oidc('', issuer), 'auth.oidc.issuer must be an https address', issuer);
  t.match(oidc('auth.oidc.jwksURL: http://id.example/keys\n'), 'auth.oidc.jwksURL must be an https address');
  t.match(oidc('auth.oidc.redirectURI: https://box.example/elsewhere\n'), 'auth.oidc.redirectURI must be the address of this box');
  t.match(oidc('auth.oidc.scopes: profile\n'), 'auth.oidc.scopes must contain openid');
  t.match(refused([], { LINESIDE_AUTH__LOCAL__PASSWORDWORK: '14' }), 'auth.local.passwordWork 14 would keep passwords less well than 15 does', 'D-AUTH-03');
  t.equal(refused([], { LINESIDE_AUTH__LOCAL__PASSWORDWORK: '14', LINESIDE_GATEWAY__OPERATINGMODE: 'development' }), 'accepted');
  t.equal(refused([], { LINESIDE_AUTH__LOCAL__PASSWORDWORK: '16' }), 'accepted');
  const telemetry = (url: string, more: Record<string, string> = {}): string => refused([], { LINESIDE_MQTT__ENABLED: 'true', LINESIDE_MQTT__URL: url, ...more });
  t.match(refused([], { LINESIDE_MQTT__ENABLED: 'true' }), 'mqtt.url must be mqtt://host:port');
  const syslog = { LINESIDE_AUDIT__SYSLOG__ENABLED: 'true' };
  const receiver = { ...syslog, LINESIDE_AUDIT__SYSLOG__ADDRESS: 'logs.plant.example' };
  for (const ADDRESS of ['', 'tls://logs', 'a b'])
    t.match(refused([], { ...syslog, LINESIDE_AUDIT__SYSLOG__ADDRESS: ADDRESS }), 'audit.syslog.address must be the host name or address');
  t.match(refused([], { ...receiver, LINESIDE_AUDIT__SYSLOG__APPNAME: 'two words' }), 'audit.syslog.appName must be 1 to 48');
  t.match(refused([], { ...receiver, LINESIDE_AUDIT__SYSLOG__CERTFILE: '/etc/box.pem' }), 'audit.syslog.certFile and audit.syslog.keyFile are given together');
  for (const url of ['http://broker', 'mqtt://', 'mqtt://user:secret@broker', 'broker:1883']) t.match(telemetry(url), 'mqtt.url must be', url);
  t.match(telemetry('mqtt://broker', { LINESIDE_MQTT__TOPICPREFIX: 'a/#' }), 'mqtt.topicPrefix must not contain');
  t.match(telemetry('mqtt://broker', { LINESIDE_MQTT__SPARKPLUG__ENABLED: 'true' }), 'publishes JSON only');
  for (const url of ['mqtt://broker.plant:1883', 'mqtts://[fd00::1]:8883']) t.equal(telemetry(url), 'accepted', url);
});

t.test('D-CFG: a setting that does nothing in this version says so to whoever sets it; one that would protect less than it says is refused', async (t) => {
  t.same(readSettings([], {}, folder(t)).withoutEffect, [], 'nobody has set anything');
  const { withoutEffect } = readSettings([], {}, folder(t, 'power: {provider: ipmi, nodes: {edge-1: {address: 10.0.0.9, secret: hunter2}}}\n'));
  t.same(withoutEffect, ['power.provider ipmi has no effect: this version switches no power of nodes', 'power.nodes has no effect: this version switches no power of nodes']);
  const told = describeSettings().filter(({ meaning }) => meaning.includes('; without effect: '));
  t.same(told.map(({ key }) => key).sort(), ['power.nodes', 'power.provider']);
  const test = await startGatewayTest({ settings: { withoutEffect: [at(withoutEffect, 0)] } });
  t.teardown(() => test.stop());
  t.match((await (await test.as('viewer')).get('/api/v1/system/health')).body.warnings, [/^setting power.provider ipmi has no effect/]);
});

t.test('Q-AUTH-11: mode none listens on loopback, and on the network only when told twice', async (t) => {
  const dir = folder(t);
  t.equal(readSettings(['--auth-mode', 'none'], {}, dir).listen, '127.0.0.1');
  t.throws(() => readSettings(['--auth-mode', 'none'], { LINESIDE_GATEWAY__LISTEN: '0.0.0.0' }, dir), { message: /--insecure-allow-remote/ });
  for (const listen of ['127.example.org', '127.0.0.1.example.org', '1270.0.0.1', '::2'])
    t.throws(() => readSettings(['--auth-mode', 'none'], { LINESIDE_GATEWAY__LISTEN: listen }, dir), { message: /--insecure-allow-remote/ }, `${listen} is not this machine`);
  for (const listen of ['127.0.0.1', '127.0.1.7', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost'])
    t.equal(readSettings(['--auth-mode', 'none'], { LINESIDE_GATEWAY__LISTEN: listen }, dir).listen, listen);
  t.equal(readSettings(['--auth-mode', 'none', '--insecure-allow-remote'], { LINESIDE_GATEWAY__LISTEN: '0.0.0.0' }, dir).listen, '0.0.0.0');
});

t.test('every setting has a meaning, and a report shows them in the written form without secrets', async (t) => {
  for (const row of Object.values(SETTINGS)) t.ok(row.meaning.length > 5, row.key);
  const shown = showSettings(readSettings([], {}, folder(t, 'power.nodes: {edge-1: {address: 10.0.0.9, secret: hunter2}}\n')));
  t.match(shown, { 'gateway.antiReplay.window': '10m', 'auth.session.maxLifetime': '12h', 'gateway.httpPort': 8090, 'power.nodes': '***' });
  t.notMatch(JSON.stringify(shown), /hunter2/);
});

t.test('GEN-04, GEN-05, GEN-06, D-ERR-05: pages are static, guarded by CSP and need no credential; nothing outside is served', async (t) => {
  const consoles = folder(t);
  mkdirSync(path.join(consoles, 'hmi', 'assets'), { recursive: true });
  mkdirSync(path.join(consoles, 'login'));
  writeFileSync(path.join(consoles, 'hmi', 'index.html'), '<!doctype html><title>hmi</title>');
  writeFileSync(path.join(consoles, 'login', 'index.html'), '<!doctype html><title>login</title>');
  writeFileSync(path.join(consoles, 'hmi', 'assets', 'main-abc.js'), 'export {};');
  writeFileSync(path.join(consoles, 'hmi', 'assets', 'large-abc.js'), 'export const words = 1;\n'.repeat(500));
  writeFileSync(path.join(consoles, 'secret.pem'), 'no');
  const test = await startGatewayTest({ consoleFolder: consoles });
  t.teardown(() => test.stop());
  const hmi = await test.request('GET', '/hmi');
  t.match(hmi, {
    status: 200,
    text: /hmi/,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /default-src 'self'.*frame-ancestors 'none'/, 'x-content-type-options': 'nosniff' },
  });
  t.equal((await test.request('GET', '/hmi', { headers: { 'If-None-Match': String(hmi.headers.etag) } })).status, 304);
  t.match((await test.request('GET', '/login')).text, /login/);
  t.match(await test.request('GET', '/hmi/'), { status: 200, text: /hmi/ }, 'also with a slash behind it');
  t.match(await test.request('GET', '/login/?redirect=%2Fhmi'), { status: 200, text: /login/ });
  for (const nowhere of ['/hmi//', '/nowhere/', '/api/v1/version/']) t.equal((await test.request('GET', nowhere)).status, 404, nowhere);
  t.match(await test.request('GET', '/assets/main-abc.js'), { status: 200, headers: { 'content-type': /javascript/, 'cache-control': /immutable/ } });
  const large = (accepted: string) => test.request('GET', '/assets/large-abc.js', { headers: { 'Accept-Encoding': accepted } });
  t.match(await large('br, gzip;q=0.8'), { status: 200, headers: { 'content-encoding': 'gzip', vary: 'Accept-Encoding', etag: /-gzip"$/ } }, 'compressed for who takes it');
  for (const refusing of ['identity', 'gzip;q=0', 'gzipped']) t.equal((await large(refusing)).headers['content-encoding'], undefined, refusing);
  for (const hidden of ['/assets/secret.pem', '/assets/..%2f..%2fsecret.pem', '/assets/../secret.pem', '/data']) t.equal((await test.request('GET', hidden)).status, 404, hidden);
});

t.test('GEN-04, GEN-06: the documents are packed files that need no credential; what is not among them is 404', async (t) => {
  const documentsFolder = folder(t);
  const write = (name: string, text: string): void => writeFileSync(path.join(documentsFolder, `${name}.gz`), gzipSync(text));
  for (const inside of ['reference', 'assets']) mkdirSync(path.join(documentsFolder, inside));
  write('index.html', '<!doctype html><title>documents</title>');
  write('reference/refusals.html', '<!doctype html><title>refusals</title>');
  write('reference/index.html', '<!doctype html><title>reference</title>');
  write('search.json', '[]');
  write('assets/docs-1234.css', 'p { margin: 0 }');
  write('secret.pem', 'no');
  writeFileSync(path.join(documentsFolder, 'plain.html'), 'not packed');
  const test = await startGatewayTest({ documentsFolder });
  t.teardown(() => test.stop());
  const page = await test.request('GET', '/docs/reference/refusals.html');
  t.match(page, {
    status: 200,
    text: /refusals/,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', 'content-security-policy': /default-src 'self'/, vary: 'Accept-Encoding' },
  });
  t.equal((await test.request('GET', '/docs/reference/refusals.html', { headers: { 'If-None-Match': String(page.headers.etag) } })).status, 304);
  const packed = await test.request('GET', '/docs/reference/refusals.html', { headers: { 'Accept-Encoding': 'gzip' } });
  t.match(packed.headers, { 'content-encoding': 'gzip', etag: /-gzip"$/ });
  for (const index of ['/docs', '/docs/', '/docs/index.html']) t.match(await test.request('GET', index), { status: 200, text: /documents/ }, index);
  for (const typed of ['/docs/reference/refusals', '/docs/reference/refusals/']) t.match(await test.request('GET', typed), { status: 200, text: /refusals/ }, typed);
  t.match(await test.request('GET', '/docs/reference'), { status: 200, text: /reference/ });
  t.match(await test.request('GET', '/docs/search.json'), { status: 200, body: [] });
  t.match((await test.request('GET', '/docs/assets/docs-1234.css')).headers, { 'content-type': 'text/css; charset=utf-8', 'cache-control': /immutable/ });
  const hidden = ['/docs/secret.pem', '/docs/plain.html', '/docs/nowhere.html', '/docs/../secret.pem', '/docs/..%2fsecret.pem', '/docs/reference/refusals.html.gz'];
  for (const each of hidden) t.equal((await test.request('GET', each)).status, 404, each);
  t.equal((await test.request('POST', '/docs', { body: {} })).status, 405);
  const [first, again] = [1, 2].map(() => openDocuments(documentsFolder).file('reference/refusals'));
  t.equal(first?.bytes(), first?.bytes(), 'a page is unpacked once, however often it is asked for');
  t.not(first?.bytes(), again?.bytes());
});
