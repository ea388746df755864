/** Step 9: the site and the resource named by the path exist. */
import { missing } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

export const existence: Barrier = ({ row, params }, { siteExists }) => {
  if (params.site !== undefined && !siteExists(params.site)) throw missing('site', params.site);
  row.bound.exists?.(params);
  return undefined;
};
