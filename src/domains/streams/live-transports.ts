/**
 * The two live transports as rows of the route table (contract 2, WebSocket and Server-sent events). Who
 * may read may connect (decisions Q-AUTH-18); the actions of the channels and frames asked for are checked in addition.
 */
import { missing, Refusal } from '../../platform/base/refusal.js';
import type { Proven } from '../../platform/http/authenticator.js';
import { type Caller, firstDuty } from '../../platform/http/caller.js';
import { parameters, text, texts } from '../../platform/http/parameters.js';
import { routesFor } from '../../platform/http/route.js';
import { wordsOf } from '../../platform/http/log-query.js';
import { eventStream, type StreamReply, webSocket } from '../../platform/http/stream-port.js';
import { AwaitingToken } from '../../platform/stream/awaiting-token.js';
import { openEventStream, refuseApiKey, type SseParts } from '../../platform/stream/sse.js';
import { openWebSocket, type WebSocketParts } from '../../platform/stream/websocket.js';
import type { Places } from '../../platform/stream/filter.js';

export interface StreamDeps {
  readonly webSocket: WebSocketParts;
  readonly sse: SseParts;
  readonly places: Places;
}

const route = routesFor<StreamDeps>();

export const streamRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/ws',
    action: 'stream:connect',
    tier: 'read',
    stream: 'websocket',
    background: true, // an open stream is not activity (contract 2, Authentication 4)
    summary: 'Live tags, alarms, states and health; writes and commands',
    reply: 'WebSocket',
    handle: ({ caller, awaitsToken }, deps) => {
      if (awaitsToken) return webSocketOfSomebody(deps.webSocket);
      refuseStranger(caller);
      return webSocket(openWebSocket(deps.webSocket, caller));
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/events/sse',
    action: 'stream:connect',
    tier: 'read',
    stream: 'sse',
    query: parameters({ unit: text(), channel: texts(), lastEventId: text() }),
    background: true,
    summary: 'Live tags, alarms, states and health of one site; query unit, channel, token, lastEventId',
    reply: 'text/event-stream',
    exists: ({ site }, { places }) => {
      if (!places.hasSite(site)) throw missing('site', site);
    },
    handle: (context, deps) => {
      const { caller, params, query } = context;
      refuseStranger(caller);
      const lastEventId = context.header('last-event-id') ?? query.get('lastEventId'); // an EventSource without headers
      const request = { site: params.site, unit: query.get('unit'), channel: wordsOf(query, 'channel'), lastEventId };
      return eventStream(openEventStream(deps.sse, request, caller));
    },
  }),
];

/** Opened for a client that says in its first frame who it is (D-C-20). */
function webSocketOfSomebody(parts: WebSocketParts): StreamReply {
  const prove = (token: string) => parts.sessions.proveToken?.(token);
  const admit = (token: string, proven?: Proven): Caller => {
    const caller = parts.sessions.authenticateToken(token, proven);
    refuseStranger(caller);
    if (!caller.may('stream:connect')) throw new Refusal('forbidden', 'you do not hold the action stream:connect', { code: 'action_missing', action: 'stream:connect' });
    return caller;
  };
  const { hub, clock, onFault } = parts;
  return webSocket((wire) => new AwaitingToken({ hub, clock, prove, admit, onFault }, wire, (caller) => openWebSocket(parts, caller)(wire)));
}

function refuseStranger(caller: Caller): void {
  refuseApiKey(caller);
  const duty = firstDuty(caller);
  if (duty) throw duty;
}
