/** Step 2: route and method known, before authentication and spending no nonce (decisions Q-ERR-03). */
import { Refusal } from '../../base/refusal.js';
import type { BoundRoute, Method } from '../route.js';
import { WireRefusal } from '../status.js';
import type { Barrier } from './barrier.js';

export const routeKnown: Barrier = (exchange, { rows, ready }) => {
  const { method, path } = exchange.incoming;
  const match = rows.match(path);
  if (match.found === 'malformed') throw new Refusal('invalid', 'the path holds a malformed percent-encoding', { code: 'invalid_path' });
  if (match.found === 'nothing') throw new Refusal('missing', 'not found', { code: 'no_such_route' });
  const bound = match.target.methods.get(method as Method) ?? (method === 'HEAD' ? headOf(match.target.methods.get('GET')) : undefined);
  if (!bound) {
    throw new WireRefusal(405, 'missing', `${method} is not allowed here`, { code: 'method_not_allowed' }, { Allow: allowOf(match.target.methods) });
  }
  exchange.row = rows.factsOf(bound);
  exchange.params = match.params;
  if (exchange.row.api && !ready()) throw new Refusal('unavailable', 'the gateway is starting', { code: 'starting' });
  return undefined;
};

/** HEAD answers like GET without body; a live stream has no HEAD. */
function headOf(bound: BoundRoute | undefined): BoundRoute | undefined {
  return bound?.row.stream === undefined ? bound : undefined;
}

export function allowOf(methods: ReadonlyMap<Method, BoundRoute>): string {
  return [...methods.keys(), ...(headOf(methods.get('GET')) ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
