/** Step 10: equipment mode, access level, operating-mode and query barriers of the row (contract 2, Tags; contract 3). */
import type { Barrier } from './barrier.js';

export const plantMode: Barrier = (exchange) => {
  const { barrier } = exchange.row.bound;
  if (barrier) barrier(exchange.params, exchange.caller, exchange.query);
  return undefined;
};
