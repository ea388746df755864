/** TLS of the gateway on real sockets: what is spoken, what is refused, and the change of the certificate while connections and streams go on (ADR 0113). */
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { WebSocket } from 'ws';
import { routeSet, routesFor } from '../../../src/platform/http/route.js';
import { eventStream, type SseWire, type WebSocketWire, webSocket } from '../../../src/platform/http/stream-port.js';
import { at } from '../../support/at.js';
import { type Written, writeCertificate } from '../../support/certificates.js';
import { type GatewayTest, type GatewayTestOptions, startGatewayTest } from '../../support/gateway.js';
import { opensslSays } from '../../support/openssl.js';
import { ownFolder } from '../../support/own-folder.js';

class Held {
  readonly feeds: SseWire[] = [];
  readonly sockets: WebSocketWire[] = [];
  streamsOpen = 0;
  release: () => void = () => undefined;
  whenHeld: () => void = () => undefined;

  streamCount(): number {
    return 0;
  }

  async endAll(): Promise<void> {
    for (const wire of this.sockets) wire.close(1001, 'server shutdown');
    for (const wire of this.feeds) wire.end();
  }
}

const StatusBody = v.strictObject({ status: v.string() });
const route = routesFor<Held>();
const ROWS = [
  route({ method: 'GET', path: '/api/v1/quick', action: '-', tier: 'none', reply: StatusBody, handle: () => ({ status: 'ok' }) }),
  route({
    method: 'GET',
    path: '/api/v1/held',
    action: '-',
    tier: 'none',
    reply: StatusBody,
    handle: async (_, held) => {
      await new Promise<void>((resolve) => {
        held.release = resolve;
        held.whenHeld();
      });
      return { status: 'late' };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/ws',
    action: 'stream:connect',
    tier: 'read',
    stream: 'websocket',
    handle: (_, held) =>
      webSocket((wire) => {
        held.sockets.push(wire);
        return { onMessage: (bytes) => wire.send(Buffer.from(bytes).toString().toUpperCase()), onDrain: () => undefined, onPong: () => undefined, onClose: () => undefined };
      }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/events/sse',
    action: 'stream:connect',
    tier: 'read',
    stream: 'sse',
    handle: (_, held) =>
      eventStream((wire) => {
        held.feeds.push(wire);
        wire.write('data: 1\n\n');
        return { onWritable: () => undefined, onClose: () => undefined };
      }),
  }),
];

interface Started {
  readonly test: GatewayTest;
  readonly held: Held;
  /** Of the listener under TLS. */
  readonly port: number;
  readonly folder: string;
  readonly first: Written;
}

async function start(t: Test, options: GatewayTestOptions = {}, { strictTransport = false } = {}): Promise<Started> {
  const folder = ownFolder(t);
  const first = writeCertificate(folder, 'first');
  const held = new Held();
  const settings = { plainHttp: 'loopback', plainHttpPort: 0, ...options.settings } as const;
  const test = await startGatewayTest({ routes: [routeSet(ROWS, held)], connections: held, ...options, tls: { ...first, strictTransport }, settings });
  t.teardown(() => test.stop());
  return { test, held, port: test.gateway.server.port, folder, first };
}

interface Secured {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly sha256: string;
}

/** On a connection of its own. */
function ask(port: number, path: string, options: RequestOptions & { readonly body?: string } = {}): Promise<Secured> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false, ...options }, (answer) => {
      const sha256 = fingerprintOf(answer.socket as TLSSocket);
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, sha256 }));
    });
    sent.once('error', reject);
    sent.end(options.body);
  });
}

function fingerprintOf(socket: TLSSocket): string {
  return socket.getPeerCertificate().fingerprint256.replaceAll(':', '').toLowerCase();
}

/** What comes of a handshake alone: the version, or the code of its failure. */
function shaken(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
      resolve(String(socket.getProtocol()));
      socket.destroy();
    });
    socket.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message));
  });
}

/** Sockets of this process that listen on the port, by /proc. */
function listeners(port: number): number {
  const own = new Set(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const rows = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1));
  return rows.map((row) => row.trim().split(/\s+/)).filter(([, local = '', , state, , , , , , inode = '']) => local.endsWith(`:${hex}`) && state === '0A' && own.has(inode)).length;
}

const openFiles = (): number => readdirSync('/proc/self/fd').length;

t.test('D-CFG gateway.tls: everything is served under TLS 1.2 and 1.3, with cookies that are Secure', async (t) => {
  const { test, port, first } = await start(t);
  const answer = await ask(port, '/api/v1/quick');
  t.match(answer, { status: 200, text: '{"status":"ok"}', sha256: first.facts.sha256 });
  const { username, password } = await test.as('viewer');
  const body = JSON.stringify({ username, password, useCookie: true });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length), 'X-DCS-Nonce': 'a-nonce-of-this-test-1' };
  const session = await ask(port, '/api/v1/auth/login', { method: 'POST', headers, body });
  t.match(session, { status: 200, headers: { 'set-cookie': [/^lineside_session=.*; HttpOnly; SameSite=Strict; Secure/] } }, 'Q-AUTH-01');
  const plain = await test.request('POST', '/api/v1/auth/login', { body: { username, password, useCookie: true } });
  t.notMatch(String(plain.headers['set-cookie']), /Secure/, 'not beside it, where a browser would not send it back');
});

t.test('gateway.plainHttp: the listener without TLS is there for this machine alone', async (t) => {
  const { test } = await start(t, { settings: { listen: '0.0.0.0' } });
  t.match(await test.request('GET', '/api/v1/quick'), { status: 200 });
  t.equal(test.port, test.gateway.server.plainPort);
  const row = readFileSync('/proc/net/tcp', 'utf8').match(new RegExp(`^\\s*\\d+: (\\w+):${test.port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`, 'm'));
  t.equal(row?.[1], '0100007F', '127.0.0.1 as the kernel writes it');
});

t.test('HSTS is told under TLS where it is wished, and never beside it', async (t) => {
  const { test, port } = await start(t, {}, { strictTransport: true });
  t.equal((await ask(port, '/api/v1/quick')).headers['strict-transport-security'], 'max-age=31536000');
  t.equal((await test.request('GET', '/api/v1/quick')).headers['strict-transport-security'], undefined);
  const without = await start(t);
  t.equal((await ask(without.port, '/api/v1/quick')).headers['strict-transport-security'], undefined);
});

t.test('a proxy that is believed says that its client came by TLS: the cookie is Secure', async (t) => {
  const test = await startGatewayTest({ settings: { trustedProxies: ['127.0.0.1'] } });
  t.teardown(() => test.stop());
  const { username, password } = await test.as('viewer');
  const cookie = async (scheme: string): Promise<string> => {
    const answer = await test.request('POST', '/api/v1/auth/login', { body: { username, password, useCookie: true }, headers: { 'X-Forwarded-Proto': scheme } });
    return String(answer.headers['set-cookie']);
  };
  t.match(await cookie('https'), /Secure/);
  t.notMatch(await cookie('http'), /Secure/);
  const direct = await startGatewayTest();
  t.teardown(() => direct.stop());
  const other = await direct.as('viewer');
  const told = await direct.request('POST', '/api/v1/auth/login', {
    body: { username: other.username, password: other.password, useCookie: true },
    headers: { 'X-Forwarded-Proto': 'https' },
  });
  t.notMatch(String(told.headers['set-cookie']), /Secure/, 'nobody else is believed');
});

t.test('ADR 0113: a new certificate is taken by new connections, by address and by name; a request and streams in flight go on with the old one', async (t) => {
  const { test, held, port, folder, first } = await start(t);
  const { token } = await test.as('viewer');
  const begun = new Promise<void>((resolve) => (held.whenHeld = resolve));
  const late = ask(port, '/api/v1/held');
  await begun;
  const socket = new WebSocket(`wss://127.0.0.1:${port}/api/v1/ws?token=${token}`, { rejectUnauthorized: false });
  await once(socket, 'open');
  const feed = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  let fed = '';
  let whenFed = (): void => undefined;
  feed.on('data', (chunk: Buffer) => {
    fed += chunk.toString();
    whenFed();
  });
  const hears = async (text: string): Promise<void> => {
    while (!fed.includes(text)) await new Promise<void>((resolve) => (whenFed = resolve));
  };
  feed.write(`GET /api/v1/sites/north/events/sse?token=${token} HTTP/1.1\r\nHost: box\r\n\r\n`);
  await hears('data: 1');
  const kept = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(kept, 'secureConnect');

  const second = writeCertificate(folder, 'second');
  await test.gateway.server.renew({ ...second, strictTransport: false });
  t.equal((await ask(port, '/api/v1/quick')).sha256, second.facts.sha256, 'by address');
  t.equal((await ask(port, '/api/v1/quick', { servername: 'localhost' })).sha256, second.facts.sha256, 'by name');

  kept.write('GET /api/v1/quick HTTP/1.1\r\nHost: box\r\n\r\n');
  t.match(String((await once(kept, 'data'))[0]), /200 OK[^]*"ok"/, 'a connection that was open serves its next request');
  t.equal(fingerprintOf(kept), first.facts.sha256);
  socket.send('still here');
  t.equal(String((await once(socket, 'message'))[0]), 'STILL HERE');
  at(held.feeds, 0).cork(() => at(held.feeds, 0).write('data: 2\n\n'));
  await hears('data: 2');
  held.release();
  t.match(await late, { status: 200, text: '{"status":"late"}', sha256: first.facts.sha256 });
  const after = new WebSocket(`wss://127.0.0.1:${port}/api/v1/ws?token=${token}`, { rejectUnauthorized: false });
  await once(after, 'open');
  after.send('new');
  t.equal(String((await once(after, 'message'))[0]), 'NEW', 'the new listener has every route, WebSockets too');
  for (const each of [kept, feed]) each.destroy();
  for (const each of [socket, after]) each.terminate();
});

t.test('ADR 0113: fifty changes leave no listener and no descriptor behind', async (t) => {
  const { test, port, folder } = await start(t);
  const both = [writeCertificate(folder, 'even'), writeCertificate(folder, 'odd')];
  await test.gateway.server.renew({ ...at(both, 0), strictTransport: false });
  await ask(port, '/api/v1/quick');
  const before = openFiles();
  for (let change = 1; change <= 50; change += 1) {
    const next = at(both, change % 2);
    await test.gateway.server.renew({ ...next, strictTransport: false });
    const { sha256 } = await ask(port, '/api/v1/quick');
    if (sha256 !== next.facts.sha256) t.fail(`change ${change} is not served`);
  }
  t.equal(listeners(port), 1);
  t.ok(openFiles() <= before, `${openFiles()} descriptors, ${before} before`);
});

t.test('a certificate that the library cannot load, or a port that is lost, leaves the one before in place', async (t) => {
  const { test, port, folder, first } = await start(t);
  const other = writeCertificate(folder, 'other');
  await t.rejects(test.gateway.server.renew({ certFile: first.certFile, keyFile: '/nowhere.pem', strictTransport: false }));
  t.equal((await ask(port, '/api/v1/quick')).sha256, first.facts.sha256);
  await test.gateway.server.renew({ ...other, strictTransport: false });
  t.equal((await ask(port, '/api/v1/quick')).sha256, other.facts.sha256);
});

t.test('a second gateway on the port of one under TLS fails instead of sharing it', async (t) => {
  const { port, first } = await start(t);
  await t.rejects(startGatewayTest({ settings: { httpPort: port }, tls: { ...first, strictTransport: false } }), { message: /another program uses the port/ });
  await t.rejects(startGatewayTest({ settings: { httpPort: port } }), { message: /another program uses the port/ });
});

t.test('TLS 1.0 and 1.1, and ciphers of 1.2 without forward secrecy, are refused', async (t) => {
  const { port } = await start(t);
  const weak = { ciphers: 'DEFAULT@SECLEVEL=0' };
  for (const version of ['TLSv1', 'TLSv1.1'] as const)
    t.equal(await shaken(port, { ...weak, minVersion: version, maxVersion: version }), 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', version);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) t.equal(await shaken(port, { minVersion: version, maxVersion: version }), version);
  for (const ciphers of ['AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA']) t.match(await shaken(port, { maxVersion: 'TLSv1.2', ciphers }), /HANDSHAKE_FAILURE/, ciphers);
});

t.test('nobody negotiates anew on a connection', async (t) => {
  const { port } = await start(t);
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  await once(socket, 'secureConnect');
  const refused = await new Promise((resolve) => {
    socket.on('error', () => resolve('refused'));
    socket.on('close', () => resolve('refused'));
    socket.renegotiate({ rejectUnauthorized: false }, (fault) => resolve(fault ? 'refused' : 'negotiated'));
  });
  t.equal(refused, 'refused');
  t.equal((await ask(port, '/api/v1/quick')).status, 200);
});

t.test('HTTP that is spoken to the port of TLS ends at once, and disturbs nobody', async (t) => {
  const { port } = await start(t);
  const socket = connectPlain(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const heard: Buffer[] = [];
  socket.on('data', (chunk) => heard.push(chunk));
  socket.write('GET / HTTP/1.1\r\nHost: box\r\n\r\n');
  await once(socket, 'close');
  t.notMatch(Buffer.concat(heard).toString('latin1'), /HTTP\/1\.1 200/);
  t.equal((await ask(port, '/api/v1/quick')).status, 200);
});

t.test('a thousand handshakes that were begun and left alone keep nobody else out', async (t) => {
  const { port } = await start(t);
  const half: Socket[] = [];
  t.teardown(() => {
    for (const socket of half) socket.destroy();
  });
  /** The first five bytes of a handshake: a record of 512 bytes is announced. */
  const begin = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]);
  for (let round = 0; round < 10; round += 1) {
    const some = Array.from({ length: 100 }, () => connectPlain(port, '127.0.0.1'));
    half.push(...some);
    await Promise.all(some.map((socket) => once(socket, 'connect')));
    for (const socket of some) {
      socket.on('error', () => undefined);
      socket.write(begin);
    }
  }
  t.equal((await ask(port, '/api/v1/quick')).status, 200);
});

t.test('openssl agrees: no TLS 1.1, and TLS 1.2 with a fresh key', async (t) => {
  const { port } = await start(t);
  const client = (...flags: string[]): Promise<string> => opensslSays(['s_client', '-connect', `127.0.0.1:${port}`, ...flags]);
  t.match(await client('-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0'), /alert protocol version|no protocols available|NONE/);
  t.match(await client('-tls1_2'), /ECDHE-ECDSA-(AES|CHACHA20)/);
});
