/** Where things stand on the picture of a unit, as somebody has put them: kept in the unit, read by every panel. */
import { ApiError, put, read } from './api.js';
import { atSite, readEngineeringSoon } from './plant.js';
import type { UnitInfo } from './types.js';

export type Layout = NonNullable<UnitInfo['layout']>;

/** A unit at work changes with each of its steps: between the look and the write it may have, and its layout may not. */
const LOOKS_MAX = 5;

/**
 * The whole layout; an empty one gives every place back to the console.
 * @param opened as it was when somebody began to move things.
 * @throws ApiError naming what is wrong with it; 412 where somebody else has changed it since.
 */
export async function saveLayout(unit: string, opened: Layout, layout: Layout): Promise<void> {
  const path = atSite(`units/${encodeURIComponent(unit)}`);
  for (let looks = 1; ; looks += 1) {
    const found = await read<UnitInfo>(path);
    if (JSON.stringify(found?.value.layout ?? []) !== JSON.stringify(opened))
      throw new ApiError(412, { error: 'the layout was changed since it was opened here: leave it, and open it again', code: 'precondition_failed' });
    try {
      await put(path, { layout }, { ifMatch: found?.etag });
      return readEngineeringSoon();
    } catch (refused) {
      if (!(refused instanceof ApiError && refused.status === 412) || looks === LOOKS_MAX) throw refused;
    }
  }
}

/** Without the place of the thing, and with it. */
export function placed(layout: Layout, item: string, column: number, row: number): Layout {
  return [...layout.filter((place) => place.item !== item), { item, column, row }];
}

/** What stands elsewhere than before, with both places; undefined is the place that the console reckons. */
export function movedItems(
  before: Layout,
  after: Layout,
): readonly { readonly item: string; readonly from: Layout[number] | undefined; readonly to: Layout[number] | undefined }[] {
  const items = [...new Set([...before, ...after].map(({ item }) => item))].sort();
  return items
    .map((item) => ({ item, from: before.find((place) => place.item === item), to: after.find((place) => place.item === item) }))
    .filter(({ from, to }) => from?.column !== to?.column || from?.row !== to?.row);
}
