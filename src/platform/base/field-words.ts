/**
 * What the fields of a shape mean, in words. They are told once, beside the shape, and stand in openapi.json, in the schemas of manifests, in the
 * reference and so in the editor of an engineer.
 */

/** A sentence or two; examples of values may follow it. */
export type FieldWords = string | readonly [words: string, ...examples: readonly unknown[]];
export type ShapeWords = Readonly<Record<string, FieldWords>>;

const told = new WeakMap<object, ShapeWords>();

/** Of all fields: one without words does not compile. */
export function describeFields<Entries extends object>(shape: { readonly entries: Entries }, words: { readonly [Field in keyof Entries]: FieldWords }): void {
  told.set(shape, words as ShapeWords);
}

/** Of a shape that has fields of another one, with further ones: fields of one name mean the same. */
export function describeAs(shape: object, words: ShapeWords): void {
  if (!told.has(shape)) told.set(shape, words);
}

export function wordsOfFields(shape: object): ShapeWords | undefined {
  return told.get(shape);
}

export interface FieldSaying {
  readonly description: string;
  readonly examples?: readonly unknown[];
}

/** As JSON Schema says it. */
export function sayingOf(words: FieldWords): FieldSaying {
  if (typeof words === 'string') return { description: words };
  const [description, ...examples] = words;
  return { description, examples };
}
