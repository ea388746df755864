/** Shapes that many answers share, as schemas. */
import * as v from 'valibot';

/** A page of a log that grows with time (log-query.ts). */
export function logPage<const Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ items: v.array(item), nextCursor: v.nullable(v.string()) });
}
