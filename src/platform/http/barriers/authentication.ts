/**
 * Step 3: who is calling (contract 1, Authentication; D-AUTH-05). Public routes skip it, except that a presented API key is
 * looked at on every API route, so that the fence can refuse it there too. It waits for the signature of a token that is new here, and is
 * passed again after that (pipeline.ts).
 */
import { Refusal } from '../../base/refusal.js';
import type { Proven } from '../authenticator.js';
import type { Exchange } from '../exchange.js';
import { AUTHENTICATE_FIRST } from '../stream-port.js';
import type { Barrier } from './barrier.js';

export const authentication: Barrier = (exchange, { authenticator, streams }) => {
  const { row, incoming } = exchange;
  exchange.judgedAt = authenticator.changes;
  const authorization = incoming.headers.get('authorization');
  if (row.public && !(row.api && authorization !== undefined && /^apikey /i.test(authorization))) {
    exchange.caller = authenticator.anonymous;
    return undefined;
  }
  if (incoming.headers.repeats('authorization')) {
    throw new Refusal('unauthenticated', 'exactly one Authorization header is accepted', { code: 'invalid_token' });
  }
  const { stream } = row.bound.row;
  const token = authorization === undefined && stream !== undefined ? exchange.query.get('token') : undefined;
  if (token !== undefined && !streams.tokenInQuery) {
    throw new Refusal('unauthenticated', 'a token in the query is switched off here (gateway.streams.tokenInQuery): send it in the header or in an authenticate frame', {
      code: 'token_in_query_off',
    });
  }
  if (stream === 'websocket' && authorization === undefined && token === undefined && offers(exchange, AUTHENTICATE_FIRST)) {
    exchange.caller = authenticator.anonymous;
    exchange.awaitsToken = true;
    return undefined;
  }
  const proving = exchange.proven ? undefined : authenticator.prove?.(token === undefined ? authorization : `Bearer ${token}`);
  if (proving) return proven(exchange, proving);
  exchange.caller = token === undefined ? authenticator.authenticate(authorization, exchange.proven) : authenticator.authenticateQuery(token, exchange.proven);
  return undefined;
};

/** Only the signature: who calls is judged in the turn in which the request goes on. */
async function proven(exchange: Exchange, proving: Promise<Proven>): Promise<void> {
  exchange.proven = await proving;
}

function offers({ incoming }: Exchange, protocol: string): boolean {
  return (incoming.headers.get('sec-websocket-protocol') ?? '').split(',').some((offered) => offered.trim() === protocol);
}
