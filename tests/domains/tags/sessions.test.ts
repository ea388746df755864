import t from 'tap';
import { streamRoutes } from '../../../src/domains/streams/live-transports.js';
import { routesFor, routeSet } from '../../../src/platform/http/route.js';
import type { StreamConnections } from '../../../src/platform/http/stream-port.js';
import { CHANNEL_ROWS } from '../../../src/platform/stream/channel.js';
import { Hub } from '../../../src/platform/stream/hub.js';
import type { Settings } from '../../../src/settings.js';
import { EventClient, refusal, SocketClient } from '../../platform/stream/clients.js';
import { everywhere } from '../../platform/stream/scripted.js';
import { startGatewayTest } from '../../support/gateway.js';

/** What a role may follows from the route table: the REST equivalents of the channels bring their actions. */
const REST_TWINS = Object.values(CHANNEL_ROWS).map(({ action }, index) =>
  routesFor<object>()({ method: 'GET', path: `/api/v1/twin${index}`, action, tier: 'read', handle: () => [] }),
);

/** Both transports behind the real accounts, sessions and tokens. */
async function gateway(t: { teardown(call: () => unknown): void }, settings: Partial<Settings> = {}) {
  const made: { hub?: Hub } = {};
  const connections: StreamConnections = {
    streamCount: (ip) => made.hub?.streamCount(ip) ?? 0,
    get streamsOpen() {
      return made.hub?.streamsOpen ?? 0;
    },
    endAll: async () => made.hub?.endAll(),
  };
  const server = await startGatewayTest({
    connections,
    settings,
    routes: ({ clock, access }) => {
      const hub = new Hub({ clock, sessions: access.authenticator, places: everywhere });
      made.hub = hub;
      const frames = { write: async () => ({ ok: true, message: 'written' }), command: async () => ({ ok: true, message: 'recorded' }) };
      const webSocket = { hub, clock, sessions: access.authenticator, frames, onFault: (fault: unknown) => t.teardown(() => Promise.reject(fault)) };
      return [routeSet(REST_TWINS, {}), routeSet(streamRoutes, { webSocket, sse: { hub, clock, places: everywhere }, places: everywhere })];
    },
  });
  made.hub?.start();
  t.teardown(() => server.stop());
  return { server, hub: made.hub as Hub };
}

t.test('STREAM-19 STREAM-22 WS-23 SSE-16: a logout closes the streams of its session at once, and the credential is spent', async (t) => {
  const { server } = await gateway(t);
  const operator = await server.as('operator');
  const other = await server.as('viewer');
  const socket = await SocketClient.open(server.url, operator.token);
  const stays = await SocketClient.open(server.url, other.token);
  const events = await EventClient.open(server.url, '/api/v1/sites/north/events/sse?channel=alarms', { Authorization: `Bearer ${operator.token}` });
  t.equal((await operator.post('/api/v1/auth/logout')).status, 204);
  t.same(await socket.closed, { code: 4001, reason: 'session ended: logout' });
  t.match(await events.next(), { event: 'session-ended', data: { reason: 'session ended: logout' } });
  await events.closed;
  t.match(await refusal(SocketClient.open(server.url, operator.token)), { status: 401 });
  t.match(await stays.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' });
  stays.close();
});

t.test('D-C-20: a WebSocket client that offers to authenticate first is nobody until its first frame says who it is', async (t) => {
  const { server, hub } = await gateway(t, { tokenInQuery: false });
  const operator = await server.as('operator');
  const socket = await SocketClient.openFirst(server.url, server.url);
  t.equal(socket.socket.protocol, 'lineside.authenticate');
  t.equal(hub.streamCount('127.0.0.1'), 1, 'who waits counts already');
  t.match(await socket.ask({ type: 'authenticate', token: operator.token }), { type: 'authenticated' });
  t.equal(hub.streamCount('127.0.0.1'), 1);
  t.match(await socket.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' });
  t.equal((await operator.post('/api/v1/auth/logout')).status, 204);
  t.same(await socket.closed, { code: 4001, reason: 'session ended: logout' });

  const engineer = await server.as('engineer');
  for (const [frame, reason] of [
    [{ type: 'subscribe', id: 'a', channel: 'tags' }, /first frame must be authenticate/],
    [{ type: 'authenticate', token: operator.token }, /session has ended/],
    [{ type: 'authenticate', token: 'lsk_unknown' }, /not valid/],
    [{ type: 'authenticate', token: engineer.token, more: ' '.repeat(16 * 1024) }, /first frame must be authenticate/],
  ] as const) {
    const stranger = await SocketClient.openFirst(server.url);
    stranger.send(frame);
    t.match(await stranger.closed, { code: 4001, reason });
  }
  const silent = await Promise.all(Array.from({ length: 10 }, () => SocketClient.openFirst(server.url)));
  t.match(await refusal(SocketClient.openFirst(server.url)), { status: 429, body: { code: 'too_many_streams' } });
  server.clock.advance(5000);
  for (const client of silent) t.match(await client.closed, { code: 4001 });

  t.match(await refusal(SocketClient.open(server.url, engineer.token, { query: true })), { status: 401, body: { code: 'token_in_query_off' } });
  t.match((await server.request('GET', `/api/v1/sites/north/events/sse?token=${engineer.token}`)).body, { code: 'token_in_query_off' });
  t.match(await refusal(SocketClient.openFirst(server.url, 'http://evil.example')), { status: 403, body: { code: 'foreign_origin' } });
});

t.test('D-C-20 STREAM-24: sockets that wait for their token and open streams share the places of their source', async (t) => {
  const { server, hub } = await gateway(t, { streamsPerSourceMax: 3 });
  const { token } = await server.as('viewer');
  const open = await SocketClient.open(server.url, token);
  const waiting = await Promise.all([SocketClient.openFirst(server.url), SocketClient.openFirst(server.url)]);
  t.match(await refusal(SocketClient.openFirst(server.url)), { status: 429, body: { code: 'too_many_streams', limit: 3 } });
  t.match(await refusal(SocketClient.open(server.url, token)), { status: 429 });
  for (const client of waiting) t.match(await client.ask({ type: 'authenticate', token }), { type: 'authenticated' });
  t.equal(hub.streamCount('127.0.0.1'), 3, 'whoever has said who he is has one place, not two');
  open.close();
  await open.closed;
  const last = await SocketClient.openFirst(server.url);
  await server.stop();
  t.match(await last.closed, { code: 1001 }, 'a stop does not wait for who says nothing');
  t.equal(hub.streamCount('127.0.0.1'), 0);
});

t.test('D-C-20 STREAM-24: one /64 has no more places to wait for its token than any other source', async (t) => {
  const { server } = await gateway(t, { trustedProxies: ['127.0.0.1'], streamsPerSourceMax: 2 });
  const from = (source: string) => SocketClient.openFirst(server.url, undefined, { 'X-Forwarded-For': source });
  await from('2001:db8:0:1::1');
  await from('2001:db8:0:1::2');
  t.match(await refusal(from('2001:db8:0:1::3')), { status: 429, body: { code: 'too_many_streams', limit: 2 } });
});

t.test('STREAM-13 STREAM-20 STREAM-21: the exp of the token ends the stream within 50 seconds', async (t) => {
  const { server } = await gateway(t);
  const operator = await server.as('viewer');
  const socket = await SocketClient.open(server.url, operator.token);
  // a living peer answers the pings of the server between the steps
  for (let second = 0; second < 880; second += 10) {
    server.clock.advance(10_000);
    await socket.ask({ type: 'unsubscribe', id: 'x' });
  }
  server.clock.advance(30_000);
  t.same(await socket.closed, { code: 4001, reason: 'access token expired' });
});

t.test('STREAM-13 STREAM-20 STREAM-21: open streams and subscribe frames are no activity, a write frame is; inactivity is noticed within 50 seconds', async (t) => {
  const { server } = await gateway(t, { inactivityTimeoutMs: 120_000 });
  const writes = await server.as('operator');
  const listens = await server.as('viewer');
  const writing = await SocketClient.open(server.url, writes.token);
  const listening = await SocketClient.open(server.url, listens.token);
  const events = await EventClient.open(server.url, '/api/v1/sites/north/events/sse?channel=alarms', { Authorization: `Bearer ${listens.token}` });
  let open = true;
  void listening.closed.then(() => (open = false));
  let seconds = 0;
  for (; seconds < 110; seconds += 10) {
    server.clock.advance(10_000);
    t.match(await listening.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' });
    t.match(await writing.ask({ type: 'write', requestId: 'r', site: 'north', unit: 'rx1', address: 'a', value: 1 }), { ok: true });
  }
  t.ok(open);
  server.clock.advance(30_000);
  await writing.ask({ type: 'write', requestId: 'r', site: 'north', unit: 'rx1', address: 'a', value: 1 });
  server.clock.advance(30_000);
  t.same(await listening.closed, { code: 4001, reason: 'session terminated after inactivity' }, 'within 50 s after two minutes');
  let last = await events.next();
  while (last.comment !== undefined) last = await events.next();
  t.match(last, { event: 'session-ended', data: { reason: 'session terminated after inactivity' } });
  t.match(await writing.ask({ type: 'unsubscribe', id: 'x' }), { code: 'not_found' }, 'who writes stays');
  writing.close();
});

t.test('STREAM-24 (decisions Q-STREAM-10): behind a trusted proxy every client counts for itself, and one /64 once', async (t) => {
  const { server, hub } = await gateway(t, { trustedProxies: ['127.0.0.1'], streamsPerSourceMax: 2 });
  const { token } = await server.as('viewer');
  const clients: EventClient[] = [];
  t.teardown(() => clients.forEach((client) => client.close()));
  const open = async (source: string) => {
    const client = await EventClient.open(server.url, '/api/v1/sites/north/events/sse?channel=alarms', { Authorization: `Bearer ${token}`, 'X-Forwarded-For': source });
    clients.push(client);
  };
  for (const source of ['10.1.1.1', '::ffff:10.1.1.1', '10.1.1.2', '2001:db8:0:1::1', '2001:DB8:0:1:9::9']) await open(source);
  for (const source of ['10.1.1.1', '6.6.6.6, 10.1.1.1', '2001:db8:0:1:ffff::1'])
    t.match(await refusal(open(source)), { status: 429, body: { code: 'too_many_streams', limit: 2 } }, source);
  await open('10.1.1.2');
  t.equal(hub.connectionCount, 6);
});

t.test('WS-16 SSE-11 STREAM-17: tiers and keys on the live transports', async (t) => {
  const { server } = await gateway(t);
  const reader = await server.as('viewer');
  const socket = await SocketClient.open(server.url, reader.token, { query: true });
  for (const channel of ['tags', 'alarms', 'states', 'cmhealth', 'model']) t.match(await socket.ask({ type: 'subscribe', id: channel, channel }), { type: 'subscribed' }, channel);
  socket.close();
  const confined = await server.as('viewer', 'site-south');
  const south = await SocketClient.open(server.url, confined.token);
  t.match(await south.ask({ type: 'subscribe', id: 'a', channel: 'alarms', filter: { site: 'north' } }), { code: 'site_scope' });
  south.close();
  t.match(await refusal(EventClient.open(server.url, '/api/v1/sites/north/events/sse', { Authorization: `Bearer ${confined.token}` })), {
    status: 403,
    body: { code: 'site_scope' },
  });
  t.match(await refusal(SocketClient.open(server.url, 'lsk_unknown', { query: true })), { status: 401 });
});
