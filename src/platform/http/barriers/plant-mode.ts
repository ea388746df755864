/** Step 10: equipment mode, access level and operating-mode barriers of the row (contract 2, Tags; contract 3). */
import type { Barrier } from './barrier.js';

export const plantMode: Barrier = ({ row, params, caller }) => {
  row.bound.row.barrier?.(params, row.bound.deps, caller);
  return undefined;
};
