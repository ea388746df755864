/** The audit trail of the site (contract 2, Tags and audit; decisions Q-TAG-16): read, never changed. */
import { instantOf } from '../common/text.js';
import { get } from './api.js';
import { site } from './plant.js';
import type { AuditRecord, LogPage } from './types.js';

const PAGE_MAX = 100;

export interface AuditFilter {
  readonly category: string;
  readonly result: string;
  /** Name of the resource; empty for all. */
  readonly name: string;
  /** Local time as the browser's field gives it; empty for no bound. */
  readonly from: string;
}

export function readAudit(filter: AuditFilter, cursor: string): Promise<LogPage<AuditRecord>> {
  const { category, result, name, from } = filter;
  const query = new URLSearchParams({ limit: String(PAGE_MAX) });
  const wanted = { category, result, name, from: instantOf(from), cursor };
  for (const [key, value] of Object.entries(wanted)) if (value !== '') query.set(key, value);
  return get<LogPage<AuditRecord>>(`/api/v1/sites/${encodeURIComponent(site.peek())}/audit?${query}`);
}

const WRITES_MAX = 10;

/** Newest first. */
export async function readWrites(address: string): Promise<readonly AuditRecord[]> {
  const query = new URLSearchParams({ limit: String(WRITES_MAX), category: 'tag-write', name: address });
  const { items } = await get<LogPage<AuditRecord>>(`/api/v1/sites/${encodeURIComponent(site.peek())}/audit?${query}`, { background: true });
  return items;
}

/** The newest records of a module and of its tags, newest first, each write once: that it was asked for and that it was done are two records. */
export async function readChangesOf(module: string, addresses: readonly string[]): Promise<LogPage<AuditRecord>> {
  const [first, ...rest] = await Promise.all([module, ...addresses].map((name) => readAudit({ category: '', result: '', name, from: '' }, '')));
  const written = rest.flatMap(({ items }) => items.filter(({ result }) => result !== 'Accepted'));
  const items = [...(first?.items ?? []), ...written].sort((a, b) => b.name.localeCompare(a.name));
  return { items, nextCursor: null };
}

/** One of them, by its name. */
export function readAuditRecord(name: string): Promise<AuditRecord> {
  return get<AuditRecord>(`/api/v1/sites/${encodeURIComponent(site.peek())}/audit/${encodeURIComponent(name)}`);
}

/** Everything that one request brought about, oldest first. */
export function readCorrelation(id: string): Promise<readonly AuditRecord[]> {
  return get<readonly AuditRecord[]>(`/api/v1/sites/${encodeURIComponent(site.peek())}/audit/correlation/${encodeURIComponent(id)}`);
}
