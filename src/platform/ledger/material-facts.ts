/**
 * What was consumed and produced, by lots or by the streams of those who did, over the indexes of these facts alone (schema.ts, ADR 0147).
 * Many names are asked for at a time and the answer comes in pages, so that a lot that went into a hundred thousand batches holds nobody up.
 */
import type Database from '../base/sqlite.js';
import { MATERIAL_FACTS } from './schema.js';

export type MaterialWay = 'Consume' | 'Produce';

interface Asked {
  /** What the names are. */
  readonly by: 'lot' | 'stream';
  readonly names: readonly string[];
  /** Only streams that begin so; it ends with a slash. */
  readonly prefix: string;
  readonly way: MaterialWay;
  /** Only what was written up to this row: `lastRow` of an earlier moment. */
  readonly upTo: number;
}

export interface MaterialRequest extends Asked {
  readonly limit: number;
  /** Of the first name only what follows this one. */
  readonly after?: readonly [stream: string, sequence: number] | undefined;
}

/** `n`: of the names. The others as they were recorded; null of what a fact does not say. */
export type MaterialFact = readonly [
  n: number,
  stream: string,
  sequence: number,
  lot: string | null,
  quantity: string | null,
  material: string | null,
  element: string | null,
  at: string | null,
];

/** `text`: the quantity as it was recorded, where there is one alone. */
export interface MaterialSum {
  /** Of the names. */
  readonly n: number;
  readonly material: string | null;
  readonly count: number;
  readonly sum: number | null;
  readonly text: string | null;
}

export interface MaterialSumsRequest extends Asked {
  /** How many facts are added up. */
  readonly limit?: number;
}

const { condition, lot, way, quantity, material, element, at } = MATERIAL_FACTS;
// name by name, each in the order of its index
const FACTS = 'json_each(?) names CROSS JOIN facts WHERE';
const ASKED = `= names.value AND ${way} = ? AND ${condition} AND stream >= ? AND stream < ? AND facts.rowid <= ?`;
const WHOSE = { lot, stream: 'stream' } as const;

export class MaterialFacts {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  lastRow(): number {
    return (this.#prepare('SELECT MAX(rowid) FROM facts').pluck().get() as number | null) ?? 0;
  }

  /** Name by name, of each in the order of streams and numbers: a JSON array of `MaterialFact`. */
  page({ limit, after: [stream, sequence] = ['', 0], ...asked }: MaterialRequest): string {
    const read = this.#prepare(
      `SELECT json_group_array(json_array(n, s, c, l, q, m, e, t)) FROM (
         SELECT names.key AS n, stream AS s, sequence AS c, ${lot} AS l, ${quantity} AS q, ${material} AS m, ${element} AS e, ${at} AS t
         FROM ${FACTS} ${WHOSE[asked.by]} ${ASKED} AND (names.key > 0 OR (stream, sequence) > (?, ?)) LIMIT ?)`,
    );
    return read.pluck().get(...valuesOf(asked), stream, sequence, limit) as string;
  }

  /** By what was recorded as material, each with its unit. */
  sums({ limit = -1, ...asked }: MaterialSumsRequest): readonly MaterialSum[] {
    // nearly all names have one material alone, and adding up is all there is to do then: sorting by it would take three times as long
    const one = this.#prepare(
      `SELECT names.key AS n, (SELECT json_array(COUNT(*), SUM(CAST(q AS REAL)), MIN(m), MAX(m), MAX(q)) FROM (
         SELECT ${quantity} AS q, ${material} AS m FROM facts WHERE ${WHOSE[asked.by]} ${ASKED} LIMIT ?)) AS told FROM json_each(?) names`,
    );
    const [names, ...values] = valuesOf(asked);
    return (one.all(...values, limit, names) as { readonly n: number; readonly told: string }[]).flatMap(({ n, told }): readonly MaterialSum[] => {
      const [count, sum, least, most, text] = JSON.parse(told) as [number, number | null, string | null, string | null, string | null];
      if (count === 0) return [];
      return least === most ? [{ n, material: least, count, sum, text }] : this.#sumsOf(n, asked, limit);
    });
  }

  #sumsOf(n: number, asked: Asked, limit: number): readonly MaterialSum[] {
    const read = this.#prepare(
      `SELECT m AS material, COUNT(*) AS count, SUM(CAST(q AS REAL)) AS sum, MAX(q) AS text FROM (
         SELECT ${quantity} AS q, ${material} AS m FROM ${FACTS} ${WHOSE[asked.by]} ${ASKED} LIMIT ?) GROUP BY m`,
    );
    const sums = read.all(...valuesOf({ ...asked, names: [asked.names[n] ?? ''] }), limit) as Omit<MaterialSum, 'n'>[];
    return sums.map((sum) => ({ n, ...sum }));
  }

  #prepare(text: string): Database.Statement {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#database.prepare(text)));
    return statement;
  }
}

/** `0` comes after `/`: what begins with the prefix lies between the two. */
function valuesOf({ names, way: asked, prefix, upTo }: Asked): readonly (string | number)[] {
  return [JSON.stringify(names), asked, prefix, `${prefix.slice(0, -1)}0`, upTo];
}
