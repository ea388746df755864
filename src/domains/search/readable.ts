/** Whether a caller may read the resources of a kind: he may call the row that serves one of them. */
import type { Caller } from '../../platform/http/caller.js';
import type { RouteColumns } from '../../platform/http/route.js';
import type { Kind } from '../../platform/store/kind.js';

/** A kind without a page of its own is told of to everybody who reads at all. */
export function mayRead(caller: Caller, { path, scope }: Kind, rows: readonly RouteColumns[]): boolean {
  if (path === undefined) return true;
  const prefix = `${scope === 'site' ? '/api/v1/sites/{site}' : '/api/v1'}/${path}/{`;
  const row = rows.find((each) => each.method === 'GET' && each.path.startsWith(prefix) && !each.path.slice(prefix.length).includes('/'));
  return row !== undefined && caller.may(row.action);
}
