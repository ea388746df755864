/** Sets of curves that are kept on the box. */
import { post, put, remove } from './api.js';
import { listPage, type Page } from './listed.js';
import { atSite } from './plant.js';
import type { TrendSet } from './types.js';

export type { TrendSet };

export function readSets(cursor: string): Promise<Page<TrendSet>> {
  return listPage<TrendSet>(atSite('trendsets'), {}, cursor);
}

/** Small letters, digits and hyphens of the title, as names of resources are. */
function nameOf(title: string): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain.slice(0, 50).replace(/-+$/, '') || `set-${Date.now().toString(36)}`;
}

/** @param keys `unit address`. @param known the set of that title, which is replaced. */
export async function saveSet(title: string, keys: readonly string[], window: string, known: TrendSet | undefined): Promise<void> {
  const tags = keys.map((key) => {
    const at = key.indexOf(' ');
    return { unit: key.slice(0, at), address: key.slice(at + 1) };
  });
  const spec = { title, tags, window };
  if (known) await put(atSite(`trendsets/${encodeURIComponent(known.name)}`), spec);
  else await post(atSite('trendsets'), { name: nameOf(title), ...spec });
}

export async function removeSet({ name }: TrendSet): Promise<void> {
  await remove(atSite(`trendsets/${encodeURIComponent(name)}`));
}
