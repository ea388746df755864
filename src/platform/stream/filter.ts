/**
 * What one subscription sees (contract 2, WebSocket 2; decisions Q-STREAM-07, Q-STREAM-08): the caller's sites or the
 * one named, then `unit` on every channel, then `addressPattern` on tags.
 */
import { type Glob, parseGlob } from './glob.js';

export interface FilterRequest {
  readonly site?: string;
  readonly unit?: string;
  readonly addressPattern?: string;
}

export interface Filter {
  /** Equal keys see equal frames; consoles with the same filter share one list of tags. */
  readonly key: string;
  /** null: every site. */
  readonly sites: readonly string[] | null;
  readonly unit: string | null;
  readonly matchesAddress: Glob | null;
}

/**
 * `visible` are the caller's sites, null when unrestricted; a named site has been checked against it by the caller.
 * @throws Refusal when the pattern does not parse.
 */
export function makeFilter(request: FilterRequest, visible: readonly string[] | null): Filter {
  const sites = request.site !== undefined ? [request.site] : visible === null ? null : [...visible].sort();
  const unit = request.unit ?? null;
  const pattern = request.addressPattern ?? null;
  return {
    key: JSON.stringify([sites, unit, pattern]),
    sites,
    unit,
    matchesAddress: pattern === null ? null : parseGlob(pattern),
  };
}

export function seesPlace(filter: Filter, site: string, unit: string): boolean {
  if (filter.sites !== null && !filter.sites.includes(site)) return false;
  return filter.unit === null || filter.unit === unit;
}

/** Whether a filter names something that exists. */
export interface Places {
  hasSite(site: string): boolean;
  hasUnit(site: string | undefined, unit: string): boolean;
}
