/** What was made: the finished batches of a span, and what follows from them (contract 1, Equipment and production). */
import { get, getList } from './api.js';
import { site } from './plant.js';
import type { PlantOverview, ProductionSummary } from './types.js';

const PAGE = 500;
/** More are not added up in a page: of a longer span the historian and the MES tell. */
const FINISHED_MAX = 2000;

export interface Finished {
  /** The latest first. */
  readonly items: readonly ProductionSummary[];
  /** There are more than are read. */
  readonly isCut: boolean;
}

/** @param from ISO 8601; '' for no bound, as `to`. */
export async function readFinished(from: string, to: string): Promise<Finished> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(from === '' ? {} : { from }), ...(to === '' ? {} : { to }) });
  const items: ProductionSummary[] = [];
  for (let next = `/api/v1/mes/sites/${encodeURIComponent(site.peek())}/production-performance?${query}`; next !== ''; ) {
    const page = await getList<ProductionSummary>(next, { background: true });
    items.push(...page.items);
    next = page.next;
    if (next !== '' && items.length >= FINISHED_MAX) return { items, isCut: true };
  }
  return { items, isCut: false };
}

export interface MadeOfProduct {
  readonly product: string;
  readonly version: string;
  readonly batches: number;
  /** Ended as Complete; what was stopped, aborted or failed is the rest. */
  readonly complete: number;
  /** Ordered quantity of those that are Complete, by unit of measure: `kg`. */
  readonly ordered: ReadonlyMap<string, number>;
  /** Of those that are Complete, from start to end; undefined where there are none. */
  readonly minutes: { readonly least: number; readonly mean: number; readonly most: number } | undefined;
}

/** By product and version, what was made most often first. */
export function madeOf(items: readonly ProductionSummary[]): readonly MadeOfProduct[] {
  const found = new Map<string, ProductionSummary[]>();
  for (const item of items) {
    const key = `${item.productID || item.productDefinition}\n${item.version}`;
    found.set(key, [...(found.get(key) ?? []), item]);
  }
  return [...found].map(([key, all]) => summaryOf(key, all)).toSorted((a, b) => b.batches - a.batches || a.product.localeCompare(b.product));
}

function summaryOf(key: string, all: readonly ProductionSummary[]): MadeOfProduct {
  const [product = '', version = ''] = key.split('\n');
  const complete = all.filter(({ state }) => state === 'Complete');
  const ordered = new Map<string, number>();
  for (const { quantity, engineeringUnit } of complete)
    if (quantity !== '' && Number.isFinite(Number(quantity))) ordered.set(engineeringUnit, (ordered.get(engineeringUnit) ?? 0) + Number(quantity));
  const minutes = complete.map(({ startedAt, finishedAt }) => (Date.parse(finishedAt) - Date.parse(startedAt)) / 60_000).filter((each) => each >= 0); // a clock that was put back tells no length
  const sum = minutes.reduce((a, b) => a + b, 0);
  return {
    product,
    version,
    batches: all.length,
    complete: complete.length,
    ordered,
    minutes: minutes.length === 0 ? undefined : { least: Math.min(...minutes), mean: sum / minutes.length, most: Math.max(...minutes) },
  };
}

/** All sites that the person may see, as each of them stands now. */
export function readPlant(): Promise<PlantOverview> {
  return get<PlantOverview>('/api/v1/overview', { background: true });
}
