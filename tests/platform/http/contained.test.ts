/** What one stream session or one answer throws ends its own connection, is told, and nobody beside it notices. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { WebSocket } from 'ws';
import { onContained } from '../../../src/platform/base/guarded.js';
import { BodyReader } from '../../../src/platform/http/body-reader.js';
import { parameters, text } from '../../../src/platform/http/parameters.js';
import { Peers } from '../../../src/platform/http/source-ip.js';
import { ok, routesFor, routeSet } from '../../../src/platform/http/route.js';
import { eventStream, type SseWire, type WebSocketWire, webSocket } from '../../../src/platform/http/stream-port.js';
import { eventually } from '../../support/api-client.js';
import { at } from '../../support/at.js';
import { startGatewayTest } from '../../support/gateway.js';

const sockets: WebSocketWire[] = [];
const feeds: SseWire[] = [];
/** Sessions that were told of their end. */
let ended = 0;
const ODD = { 'X-Odd': 7 as unknown as string };

function fails(where: string): never {
  throw new Error(`thrown at ${where}`);
}

const route = routesFor<object>();
const open = { action: 'stream:connect', tier: 'read', query: parameters({ at: text() }) } as const;
const rows = [
  route({
    ...open,
    method: 'GET',
    path: '/api/v1/ws',
    stream: 'websocket',
    handle: ({ query }) => {
      const where = query.get('at');
      return webSocket((wire) => {
        sockets.push(wire);
        if (where === 'open') fails(where);
        return {
          onMessage: (bytes) => {
            if (where === 'message') fails(where);
            if (where === 'cork') wire.cork(() => fails(where));
            wire.send(Buffer.from(bytes).toString().toUpperCase());
          },
          onDrain: () => where === 'drain' && fails(where),
          onPong: () => where === 'pong' && fails(where),
          onClose: () => {
            ended += 1;
            if (where === 'close') fails(where);
          },
        };
      });
    },
  }),
  route({
    ...open,
    method: 'GET',
    path: '/api/v1/sites/{site}/events/sse',
    stream: 'sse',
    handle: ({ query }) => {
      const where = query.get('at');
      return eventStream((wire) => {
        feeds.push(wire);
        if (where === 'open') fails(where);
        wire.write('data: 1\n\n');
        return {
          onWritable: () => where === 'writable' && fails(where),
          onClose: () => {
            ended += 1;
            if (where === 'close') fails(where);
          },
        };
      });
    },
  }),
  route({ method: 'GET', path: '/api/v1/odd', action: 'odd:read', tier: 'none', handle: () => ok({}, ODD) }),
  route({ method: 'GET', path: '/api/v1/odd-later', action: 'odd:read', tier: 'none', handle: () => Promise.resolve(ok({}, ODD)) }),
  route({ method: 'GET', path: '/api/v1/odd-packed', action: 'odd:read', tier: 'none', handle: () => ok({ text: 'x'.repeat(20_000) }, ODD) }),
  route({ method: 'POST', path: '/api/v1/taken', action: 'odd:write', tier: 'none', computes: true, handle: () => ({}) }),
];

const streams = { streamCount: () => 0, streamsOpen: 0, endAll: async () => undefined };
const gateway = await startGatewayTest({ routes: [routeSet(rows, {})], connections: streams });
t.teardown(() => gateway.stop());
const viewer = await gateway.as('viewer');

let told: string[] = [];
t.teardown(onContained((seam, fault) => told.push(`${seam}: ${(fault as Error).message}`)));
t.beforeEach(() => {
  told = [];
  ended = 0;
});

function socketAt(where: string): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/api/v1/ws?token=${viewer.token}&at=${where}`);
  socket.on('error', () => undefined); // a cut connection
  return socket;
}

/** @returns the code with which the server has closed it. */
async function endOf(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number];
  return code;
}

function feedAt(where: string): Promise<IncomingMessage> {
  const address = `${gateway.url}/api/v1/sites/north/events/sse?token=${viewer.token}&at=${where}`;
  return new Promise((resolve, reject) => get(address, { agent: false }, resolve).once('error', reject));
}

/** Reads on to the end, however it comes. */
async function readOut(feed: IncomingMessage): Promise<void> {
  const over = new Promise<void>((resolve) => feed.once('close', () => resolve()));
  feed.on('error', () => undefined).resume();
  await over;
}

/** Two clients who have done nothing, before and after. */
const neighbour = socketAt('');
await once(neighbour, 'open');
const beside = await feedAt('');
let heard = '';
beside.on('data', (bytes: Buffer) => (heard += bytes.toString()));
const besides = at(feeds, 0);

async function othersGoOn(t: Tap): Promise<void> {
  neighbour.send('still there');
  t.equal(String((await once(neighbour, 'message'))[0]), 'STILL THERE');
  heard = '';
  besides.cork(() => besides.write('data: 2\n\n'));
  await eventually('the other feed goes on', async () => heard.includes('data: 2'));
  t.equal((await viewer.get('/api/v1/version')).status, 200);
}
type Tap = Pick<typeof t, 'equal'>;

t.test('a WebSocket whose session cannot be made is closed', async (t) => {
  const socket = socketAt('open');
  await once(socket, 'open');
  socket.send('to nobody');
  t.equal(await endOf(socket), 1011);
  t.same(told, ['open of a WebSocket: thrown at open']);
  await othersGoOn(t);
});

t.test('a session that throws at a message, at a pong or inside a cork is closed, and hears of its end', async (t) => {
  for (const where of ['message', 'cork', 'pong']) {
    const socket = socketAt(where);
    await once(socket, 'open');
    if (where === 'pong') socket.pong();
    else socket.send('hello');
    t.equal(await endOf(socket), 1011, where);
    await othersGoOn(t);
  }
  t.same(told, ['message of a WebSocket: thrown at message', 'message of a WebSocket: thrown at cork', 'pong of a WebSocket: thrown at pong']);
  t.equal(ended, 3);
});

t.test('a session that throws when its socket has room again is closed', async (t) => {
  const socket = socketAt('drain');
  await once(socket, 'open');
  socket.pause();
  const wire = at(sockets, sockets.length - 1);
  while (wire.send('x'.repeat(64 * 1024)) === 1);
  socket.resume();
  await endOf(socket);
  t.same(told, ['drain of a WebSocket: thrown at drain']);
  t.equal(ended, 1);
  await othersGoOn(t);
});

t.test('a session that throws when its client has gone keeps nobody', async (t) => {
  const socket = socketAt('close');
  await once(socket, 'open');
  socket.close();
  await endOf(socket);
  await eventually('it is told', async () => told.length === 1);
  const feed = await feedAt('close');
  feed.destroy();
  await eventually('it is told', async () => told.length === 2);
  t.same(told, ['close of a WebSocket: thrown at close', 'close of an event stream: thrown at close']);
  await othersGoOn(t);
});

t.test('an event stream that cannot be opened, or throws when its socket has room again, ends', async (t) => {
  await feedAt('open').then(readOut, () => undefined); // cut before or behind its head
  const slow = await feedAt('writable');
  slow.pause();
  const wire = at(feeds, feeds.length - 1);
  const line = `: ${'x'.repeat(64 * 1024)}\n`;
  let takesMore = true;
  while (takesMore) wire.cork(() => void (takesMore = wire.write(line)));
  await readOut(slow);
  t.same(told, ['request: thrown at open', 'room in an event stream: thrown at writable']);
  t.equal(ended, 1);
  await othersGoOn(t);
});

t.test('an answer that cannot be written ends its connection, in its turn, later, and packed', async (t) => {
  for (const [path, headers] of [['odd'], ['odd-later'], ['odd-packed', { 'Accept-Encoding': 'gzip' }]] as const) {
    await t.rejects(gateway.request('GET', `/api/v1/${path}`, headers ? { headers } : {}), path);
    await othersGoOn(t);
  }
  t.equal(told.length, 3);
  for (const line of told) t.match(line, /^answer to a request: /);
});

t.test('a fault before anything of an answer is written is answered with 500', async (t) => {
  const { addressOf } = Peers.prototype;
  Peers.prototype.addressOf = () => {
    Peers.prototype.addressOf = addressOf;
    return fails('the address');
  };
  t.match(await gateway.request('POST', '/api/v1/taken', { token: viewer.token, body: {} }), { status: 500, body: { code: 'internal' } });
  const { take } = BodyReader.prototype;
  BodyReader.prototype.take = () => {
    BodyReader.prototype.take = take;
    fails('the body');
  };
  t.match(await gateway.request('POST', '/api/v1/taken', { token: viewer.token, body: {} }), { status: 500, body: { code: 'internal' } });
  t.same(told, ['request: thrown at the address', 'body of a request: thrown at the body']);
  await othersGoOn(t);
});

t.test('a server whose client has failed stops as ever', async () => {
  for (const wire of sockets) wire.close(1001, 'server shutdown');
  for (const wire of feeds) wire.end();
});
