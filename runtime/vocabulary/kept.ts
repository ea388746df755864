/**
 * State that cannot be forgotten. An owner of state names its fields in one type and says of each, in one table with
 * `satisfies Record<keyof State, Fate>`, what a restart makes of it, and in another how a replay gets it: a field that
 * nobody has thought of does not compile.
 */

/**
 * `kept`: in the durable record, or handed over at a download. `derived`: begins as it follows from what is kept.
 * `lost`: has ended with the process, and nothing that anybody was told depends on it.
 */
export type Fate = 'kept' | 'derived' | 'lost';

/** Fields that a record must write and read. */
export type KeptOf<Table> = { [K in keyof Table]: Table[K] extends 'kept' ? K : never }[keyof Table];

/** How the kept fields stand in a record, in the order in which it is written. */
export function keptRows<Row>(table: Readonly<Record<string, Fate>>, rows: Readonly<Record<string, Row>>): readonly Row[] {
  return Object.entries(rows).flatMap(([field, row]) => (table[field] === 'kept' ? [row] : []));
}

/** A field as plain data, for a replay, and back. */
export interface Copy<Live, Plain, Context = undefined> {
  readonly save: (live: Live) => Plain;
  readonly load: (plain: Plain, context: Context) => Live;
}

/** One for every field, in the order in which a recording has them. */
export type Copies<Live, Plain extends Record<keyof Live, unknown>, Context = undefined> = { readonly [K in keyof Live]: Copy<Live[K], Plain[K], Context> };

/** What is no object, or is never changed once it is made. */
export const asIs = <T>(): Copy<T, T, unknown> => ({ save: (value) => value, load: (value) => value });
export const asList = <T>(): Copy<T[], readonly T[], unknown> => ({ save: (values) => [...values], load: (values) => [...values] });
export const asWords: Copy<Set<string>, readonly string[], unknown> = { save: (values) => [...values], load: (values) => new Set(values) };

export function copyOut<Live extends object, Plain extends Record<keyof Live, unknown>, Context>(copies: Copies<Live, Plain, Context>, live: Live): Pick<Plain, keyof Live> {
  const plain = {} as Pick<Plain, keyof Live>;
  const save = <K extends keyof Live>(field: K): void => {
    plain[field] = copies[field].save(live[field]);
  };
  for (const field of Object.keys(copies)) save(field as keyof Live);
  return plain;
}

export function copyIn<Live extends object, Plain extends Record<keyof Live, unknown>, Context>(
  copies: Copies<Live, Plain, Context>,
  live: Live,
  plain: Plain,
  context: Context,
): void {
  const load = <K extends keyof Live>(field: K): void => {
    live[field] = copies[field].load(plain[field], context);
  };
  for (const field of Object.keys(copies)) load(field as keyof Live);
}
