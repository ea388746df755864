/** Members of a change (decisions Q-ERR-16): one that is left out keeps its value, an explicit `null` clears it. */
import * as v from 'valibot';
import { Annotations, Labels } from '../store/envelope.js';

/** Null as the value that stands for nothing. */
export function cleared<Schema extends v.GenericSchema>(schema: Schema, empty: v.InferOutput<Schema>) {
  return v.optional(
    v.pipe(
      v.nullable(schema),
      v.transform((value) => value ?? empty),
    ),
  );
}

/** Null as it is, for `merge`: the member goes back to its default. No default is filled in for one that is left out. */
export function clearable(schema: v.GenericSchema): v.GenericSchema {
  return v.optional(v.nullable(withoutDefault(schema)));
}

export function withoutDefault(schema: v.GenericSchema): v.GenericSchema {
  const optional = schema as { readonly type: string; readonly wrapped?: v.GenericSchema };
  return optional.wrapped && (optional.type === 'optional' || optional.type === 'nullish' || optional.type === 'exact_optional') ? optional.wrapped : schema;
}

/** No keys once they are cleared, but for those of the product itself. */
export const LabelChange = cleared(Labels, {});
export const AnnotationChange = cleared(Annotations, {});

export function merge(before: Readonly<Record<string, unknown>>, change: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...before };
  for (const [member, value] of Object.entries(change)) {
    if (value === undefined) continue;
    if (value === null) delete merged[member];
    else merged[member] = value;
  }
  return merged;
}
