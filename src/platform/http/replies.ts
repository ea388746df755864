/** Shapes that many answers share, as schemas. */
import * as v from 'valibot';
import { nameSchemas } from '../base/schema-names.js';

type Told<Value> = Value extends readonly (infer Item)[] ? readonly Told<Item>[] : Value extends object ? { readonly [Member in keyof Value]: Told<Value[Member]> } : Value;

/** What a schema says of an answer: it is made once and changed by nobody, so lists of the store can stand in it as they are. */
export type ToldBy<Schema extends v.GenericSchema> = Told<v.InferOutput<Schema>>;

/** A page of a log that grows with time (log-query.ts). */
export function logPage<const Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ items: v.array(item), nextCursor: v.nullable(v.string()) });
}

/** A page of a stream of facts. Entries that are damaged on the disk are told by their numbers, and the others stand on the page. */
export function factPage<const Item extends v.GenericSchema>(item: Item) {
  return v.strictObject({ ...logPage(item).entries, damaged: v.optional(v.array(v.number())) });
}

/** One thing that is known of a resource (resource.ts). */
export const Condition = v.strictObject({ type: v.string(), status: v.picklist(['True', 'False', 'Unknown']), reason: v.string(), message: v.string() });

nameSchemas({ Condition });
