import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { WebSocket } from 'ws';
import { parameters, text } from '../../../src/platform/http/parameters.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { routesFor, routeSet } from '../../../src/platform/http/route.js';
import { eventStream, type SseWire, type WebSocketWire, webSocket } from '../../../src/platform/http/stream-port.js';
import { eventually } from '../../support/api-client.js';
import { type GatewayTest, startGatewayTest } from '../../support/gateway.js';
import { at } from '../../support/at.js';

class Streams {
  readonly sockets: WebSocketWire[] = [];
  readonly feeds: SseWire[] = [];
  readonly seen: string[] = [];
  count = 0;
  streamsOpen = 0;

  streamCount(): number {
    return this.count;
  }

  async endAll(): Promise<void> {
    for (const wire of this.sockets) wire.close(1001, 'server shutdown');
    for (const wire of this.feeds) wire.end();
  }
}

const route = routesFor<Streams>();
const rows = [
  route({
    method: 'GET',
    path: '/api/v1/ws',
    action: 'stream:connect',
    tier: 'read',
    stream: 'websocket',
    query: parameters({ refuse: text() }),
    handle: ({ caller, query }, streams) => {
      if (query.get('refuse')) throw new Refusal('missing', 'no such unit', { code: 'not_found' });
      return webSocket((wire) => {
        streams.sockets.push(wire);
        wire.send(`hello ${caller.username}`);
        return {
          onMessage: (bytes) => {
            const text = Buffer.from(bytes).toString();
            streams.seen.push(text);
            if (text === 'bye') wire.close(4001, 'session ended: logout');
            else wire.send(Buffer.from(text.toUpperCase()));
          },
          onDrain: () => undefined,
          onPong: () => streams.seen.push('pong'),
          onClose: (code, reason) => streams.seen.push(`closed ${code} ${reason}`),
        };
      });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/events/sse',
    action: 'stream:connect',
    tier: 'read',
    stream: 'sse',
    handle: (_, streams) =>
      eventStream((wire) => {
        streams.feeds.push(wire);
        wire.write('event: tag\ndata: 1\n\n');
        return { onWritable: () => streams.seen.push('writable'), onClose: () => streams.seen.push('sse closed') };
      }),
  }),
];

async function start(t: { teardown(call: () => unknown): void }): Promise<{ test: GatewayTest; streams: Streams }> {
  const streams = new Streams();
  const test = await startGatewayTest({ routes: [routeSet(rows, streams)], connections: streams });
  t.teardown(() => test.stop());
  return { test, streams };
}

/** As the product writes. @returns whether the socket takes more. */
function corked(wire: SseWire, bytes: Parameters<SseWire['write']>[0]): boolean {
  let takesMore = true;
  wire.cork(() => {
    takesMore = wire.write(bytes);
  });
  return takesMore;
}

async function refusal(socket: WebSocket): Promise<{ status: number; body: unknown }> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

async function until(done: () => boolean): Promise<void> {
  await eventually('the streams show it', async () => done(), 30_000, 2);
}

t.test('STREAM-15, STREAM-17, STREAM-24: a WebSocket passes the barriers before its upgrade', async (t) => {
  const { test, streams } = await start(t);
  const viewer = await test.as('viewer');
  const admin = await test.as('admin');
  const address = `ws://127.0.0.1:${test.port}/api/v1/ws`;
  t.match(await refusal(new WebSocket(address)), { status: 401, body: { code: 'unauthenticated' } });
  t.match(await refusal(new WebSocket(`${address}?token=nonsense`)), { status: 401, body: { code: 'invalid_token' } });
  const { key } = (await admin.post('/api/v1/mes/apikeys', { name: 'mes', site: 'north' })).body;
  t.match(await refusal(new WebSocket(`${address}?token=${key}`)), { status: 403, body: { code: 'api_key_fence' } });
  t.match(await refusal(new WebSocket(`${address}?token=lsk_unknown`)), { status: 401 });
  t.match(await refusal(new WebSocket(`${address}?refuse=1`, { headers: { Authorization: `Bearer ${viewer.token}` } })), { status: 404 });
  streams.count = 10;
  t.match(await refusal(new WebSocket(`${address}?token=${viewer.token}`)), { status: 429, body: { code: 'too_many_streams', limit: 10 } });
  streams.count = 0;
  t.match(await viewer.get('/api/v1/ws'), { status: 400, body: { code: 'upgrade_required' } });

  for (const options of [{ url: `${address}?token=${viewer.token}` }, { url: address, headers: { Authorization: `Bearer ${viewer.token}` } }]) {
    const socket = new WebSocket(options.url, options.headers ? { headers: options.headers } : {});
    t.equal(String((await once(socket, 'message'))[0]), `hello ${viewer.username}`);
    socket.send('frame');
    t.equal(String((await once(socket, 'message'))[0]), 'FRAME');
    streams.sockets.at(-1)?.ping();
    await until(() => streams.seen.includes('pong'));
    socket.send('bye');
    const [code, reason] = await once(socket, 'close');
    t.same([code, String(reason)], [4001, 'session ended: logout']);
    t.doesNotThrow(() => {
      const wire = streams.sockets.at(-1) as WebSocketWire;
      wire.send('after the end');
      wire.cork(() => wire.close(1000, ''));
    }, 'calls after the close are ignored');
  }
  t.match(streams.seen, ['frame', 'pong', 'bye', /^closed/]);
});

t.test('SSE-01, SSE-10: an event stream passes the barriers, writes, ends, and notices that its client left', async (t) => {
  const { test, streams } = await start(t);
  const viewer = await test.as('viewer', 'site-north');
  t.match(await viewer.get('/api/v1/sites/south/events/sse'), { status: 403, body: { code: 'site_scope' } });
  t.match(await test.request('GET', '/api/v1/sites/north/events/sse'), { status: 401 });
  t.match(await test.request('HEAD', '/api/v1/sites/north/events/sse', { token: viewer.token }), { status: 405, headers: { allow: 'GET, OPTIONS' } }, 'a stream has no HEAD');
  t.match(await test.request('OPTIONS', '/api/v1/sites/north/events/sse'), { status: 204, headers: { allow: 'GET, OPTIONS' } });
  const open = () => new Promise<IncomingMessage>((resolve) => get(`${test.url}/api/v1/sites/north/events/sse?token=${viewer.token}`, { agent: false }, resolve));
  const first = await open();
  t.match(first, { statusCode: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-correlation-id': /./ } });
  let text = '';
  first.on('data', (data: Buffer) => (text += data.toString()));
  await until(() => text.includes('data: 1'));
  const wire = at(streams.feeds, 0);
  wire.cork(() => wire.write('data: 2\n\n'));
  corked(wire, Buffer.from('data: 3\n\n'));
  wire.end();
  await once(first, 'end');
  t.match(text, /event: tag\ndata: 1\n\ndata: 2\n\ndata: 3\n\n$/);
  t.same(streams.seen, ['sse closed']);
  t.equal(wire.write('after the end'), true);
  const second = await open();
  second.destroy();
  await until(() => streams.seen.length === 2);
  t.same(streams.seen, ['sse closed', 'sse closed']);
});

t.test('a slow reader makes write say false, and onWritable follows', async (t) => {
  const { test, streams } = await start(t);
  const viewer = await test.as('viewer');
  const slow = await new Promise<IncomingMessage>((resolve) => get(`${test.url}/api/v1/sites/north/events/sse?token=${viewer.token}`, { agent: false }, resolve));
  slow.pause();
  const line = `: ${'x'.repeat(64 * 1024)}\n`;
  let writes = 0;
  while (corked(at(streams.feeds, 0), line) && writes < 1000) writes += 1;
  t.ok(writes < 1000, `back-pressure after ${writes} writes of 64 KiB`);
  slow.resume();
  await until(() => streams.seen.includes('writable'));
  t.ok(streams.seen.includes('writable'));
  at(streams.feeds, 0).end();
});

t.test('Q-STREAM-15: a stop ends streams with 1001 and serves nobody afterwards', async (t) => {
  const { test } = await start(t);
  const viewer = await test.as('viewer');
  const socket = new WebSocket(`ws://127.0.0.1:${test.port}/api/v1/ws?token=${viewer.token}`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  await test.gateway.server.stop();
  t.equal((await closed)[0], 1001);
  await t.rejects(viewer.get('/api/v1/version'));
});

t.test('streams of the whole box are bounded, but for those of the panel at the box itself', async (t) => {
  const streams = new Streams();
  const because = 'hardware profile tiny';
  const test = await startGatewayTest({
    routes: [routeSet(rows, streams)],
    connections: streams,
    streamsMax: { count: 5, because },
    settings: { trustedProxies: ['127.0.0.1'] },
  });
  t.teardown(() => test.stop());
  const viewer = await test.as('viewer');
  const open = (from: string) =>
    new WebSocket(`ws://127.0.0.1:${test.port}/api/v1/ws`, { headers: { Authorization: `Bearer ${viewer.token}`, ...(from === '' ? {} : { 'X-Forwarded-For': from }) } });
  streams.streamsOpen = 4;
  const fifth = open('192.0.2.7');
  await once(fifth, 'message');
  fifth.close();
  streams.streamsOpen = 5;
  t.match(await refusal(open('192.0.2.8')), { status: 429, body: { code: 'too_many_streams', limit: 5, error: /at most 5 live streams \(hardware profile tiny\)/ } });
  const panel = open('');
  await once(panel, 'message');
  panel.close();
});
