/** Step 10: equipment mode, access level, operating-mode and query barriers of the row (contract 2, Tags; contract 3). */
import type { Barrier } from './barrier.js';

export const plantMode: Barrier = (exchange) => {
  const { row, deps } = exchange.row.bound;
  if (row.barrier) row.barrier(exchange.params, deps, exchange.caller, exchange.query);
  return undefined;
};
