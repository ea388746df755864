/** Lists of the gateway, page by page, in the form that a table reads. */
import { get, getList, type RequestOptions } from './api.js';
import type { LogPage } from './types.js';

export interface Page<Item> extends LogPage<Item> {
  /** Of all pages, where the gateway counts them. */
  readonly total?: number;
}

type Question = Readonly<Record<string, string>>;

const PAGE_ROWS = 100;

/** @param question parameters of the route; empty ones are left out. */
function addressWith(path: string, question: Question): string {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS) });
  for (const [name, value] of Object.entries(question)) if (value !== '') query.set(name, value);
  return `${path}?${query}`;
}

/** A page of a list of resources: its cursor is the address that the `Link` of the page before names. */
export async function listPage<Item>(path: string, question: Question, cursor: string, options?: RequestOptions): Promise<Page<Item>> {
  const { items, next, total } = await getList<Item>(cursor === '' ? addressWith(path, question) : cursor, options);
  return { items, nextCursor: next === '' ? null : next, total };
}

/** A page of a log. */
export function logPage<Item>(path: string, question: Question, cursor: string, options?: RequestOptions): Promise<Page<Item>> {
  return get<Page<Item>>(addressWith(path, { ...question, cursor }), options);
}
