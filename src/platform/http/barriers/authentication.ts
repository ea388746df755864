/**
 * Step 3: who is calling (contract 1, Authentication; D-AUTH-05). Public routes skip it, except that a presented API key is
 * looked at on every API route, so that the fence can refuse it there too.
 */
import { Refusal } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const authentication: Barrier = (exchange, { authenticator }) => {
  const { row, incoming } = exchange;
  const authorization = incoming.headers.get('authorization');
  if (row.public && !(row.api && authorization !== undefined && /^apikey /i.test(authorization))) {
    exchange.caller = authenticator.anonymous;
    return undefined;
  }
  if (incoming.headers.repeats('authorization')) {
    throw new Refusal('unauthenticated', 'exactly one Authorization header is accepted', { code: 'invalid_token' });
  }
  const token = authorization === undefined && row.bound.row.stream !== undefined ? exchange.query.get('token') : undefined;
  exchange.caller = token === undefined ? authenticator.authenticate(authorization) : authenticator.authenticateQuery(token);
  return undefined;
};
