/** Step 5: a confined caller gets 403 for every site outside its list, existing or not (decisions Q-AUTH-14, Q-AUTH-15). */
import { Refusal } from '../../base/refusal.js';
import { type Caller, mayVisit } from '../caller.js';
import type { Barrier } from './barrier.js';

export const siteScope: Barrier = (exchange) => {
  const { caller, row } = exchange;
  if (caller.sites === null || row.public) return undefined;
  if (row.scoped) refuseForeign(caller, row.siteOf(exchange.params));
  const queried = exchange.incoming.rawQuery.includes('site') ? exchange.query.get('site') : undefined;
  if (queried) refuseForeign(caller, queried);
  return undefined;
};

function refuseForeign(caller: Caller, site: string): void {
  if (!mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your scope`, { code: 'site_scope', site });
}
