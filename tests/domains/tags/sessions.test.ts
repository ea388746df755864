import t from 'tap';
import { streamRoutes } from '../../../src/domains/tags/stream-routes.js';
import { routesFor } from '../../../src/platform/http/route.js';
import type { StreamCensus } from '../../../src/platform/http/stream-port.js';
import { CHANNEL_ACTION } from '../../../src/platform/stream/channel.js';
import { Hub } from '../../../src/platform/stream/hub.js';
import { EventClient, refusal, SocketClient } from '../../platform/stream/clients.js';
import { everywhere } from '../../platform/stream/scripted.js';
import { startGatewayTest } from '../../support/gateway.js';

/** What a role may follows from the route table: the REST equivalents of the channels bring their actions. */
const REST_TWINS = Object.values(CHANNEL_ACTION).map((action, index) =>
  routesFor<object>()({ method: 'GET', path: `/api/v1/twin${index}`, action, tier: 'read', handle: () => [] }),
);

/** Both transports behind the real accounts, sessions and tokens. */
async function gateway(t: { teardown(call: () => unknown): void }) {
  const made: { hub?: Hub } = {};
  const census: StreamCensus = { streamCount: (ip) => made.hub?.streamCount(ip) ?? 0, endAll: async () => made.hub?.endAll() };
  const server = await startGatewayTest({
    census,
    routes: ({ clock, access }) => {
      const hub = new Hub({ clock, sessions: access.authenticator, places: everywhere });
      made.hub = hub;
      const frames = { write: async () => ({ ok: true, message: 'written' }), command: async () => ({ ok: true, message: 'recorded' }) };
      const webSocket = { hub, clock, sessions: access.authenticator, frames, onFault: (fault: unknown) => t.teardown(() => Promise.reject(fault)) };
      return [
        { rows: REST_TWINS, deps: {} },
        { rows: streamRoutes, deps: { webSocket, sse: { hub, clock, places: everywhere }, places: everywhere } },
      ];
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

t.test('WS-16 SSE-11 STREAM-17: tiers and keys on the live transports', async (t) => {
  const { server } = await gateway(t);
  const reader = await server.as('viewer');
  const socket = await SocketClient.open(server.url, reader.token, { query: true });
  for (const channel of ['tags', 'alarms', 'states', 'cmhealth']) t.match(await socket.ask({ type: 'subscribe', id: channel, channel }), { type: 'subscribed' }, channel);
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
