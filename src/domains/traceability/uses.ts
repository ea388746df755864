/** What batches of a site have consumed and produced, as it was up to one moment: read from their events (decisions 8.4), which stay when they are past. */
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { MaterialFact, MaterialWay } from '../../platform/ledger/material-facts.js';
import { materialOf } from '../batches/phases/materials.js';
import { streamOf } from '../runs/execution-log.js';
import type { Quantity } from './balance.js';
import type { NodeType, Relation, Step, Use, Uses } from './walk.js';

export type MaterialReader = Pick<LedgerQueries, 'materialFacts' | 'materialSums' | 'lastFactRow'>;

/** Some 500 kB, which the gateway reads in a few milliseconds. */
const FACTS_PER_PAGE = 5000;
const NAMES_PER_PAGE = 2000;
const WAYS: Readonly<Record<Relation, MaterialWay>> = { consumed: 'Consume', produced: 'Produce' };

/** A quantity of one of the nodes that were asked for. */
export type OwnQuantity = readonly [id: string, quantity: Quantity];

export class SiteUses implements Uses {
  readonly #reader: MaterialReader;
  readonly #prefix: string;
  readonly #upTo: number;
  /** Few texts, each in thousands of entries. */
  readonly #materials = new Map<string, ReturnType<typeof materialOf>>();

  /** `upTo`: the last row of the moment (`lastFactRow`). */
  constructor(reader: MaterialReader, site: string, upTo: number) {
    this.#reader = reader;
    this.#prefix = streamOf('events', site, '');
    this.#upTo = upTo;
  }

  async *steps(type: NodeType, ids: readonly string[], relation: Relation): AsyncIterable<readonly Step[]> {
    for (let left = ids, after: readonly [string, number] | undefined; left.length > 0; ) {
      const asked = left.slice(0, NAMES_PER_PAGE);
      const facts = await this.#reader.materialFacts({ ...this.#asked(type, asked, relation), limit: FACTS_PER_PAGE, after });
      yield facts.flatMap((fact): Step[] => (fact[3] === null ? [] : [[asked[fact[0]] ?? '', this.#useOf(fact, fact[3], relation)]]));
      const last = facts.length === FACTS_PER_PAGE ? facts.at(-1) : undefined;
      left = left.slice(last ? last[0] : asked.length);
      after = last && [last[1], last[2]];
    }
  }

  /** By material and unit, of those that have any. */
  async quantities(type: NodeType, ids: readonly string[], relation: Relation): Promise<readonly OwnQuantity[]> {
    const found: OwnQuantity[] = [];
    for (let at = 0; at < ids.length; at += NAMES_PER_PAGE) {
      const asked = ids.slice(at, at + NAMES_PER_PAGE);
      for (const { n, material, count, sum, text } of await this.#reader.materialSums(this.#asked(type, asked, relation))) {
        found.push([asked[n] ?? '', { ...this.#materialOf(material), count, sum: sum ?? 0, text: text ?? '' }]);
      }
    }
    return found;
  }

  /** What a lot is, by the first entry that names it; undefined of one that none does. */
  async materialOfLot(lot: string): Promise<string | undefined> {
    for (const relation of ['produced', 'consumed'] as const) {
      const [first] = await this.#reader.materialSums({ ...this.#asked('lot', [lot], relation), limit: 1 });
      if (first) return this.#materialOf(first.material).material;
    }
    return undefined;
  }

  #asked(type: NodeType, ids: readonly string[], relation: Relation) {
    const names = type === 'lot' ? ids : ids.map((batch) => this.#prefix + batch);
    return { by: type === 'lot' ? ('lot' as const) : ('stream' as const), names, prefix: this.#prefix, way: WAYS[relation], upTo: this.#upTo };
  }

  #materialOf(text: string | null): ReturnType<typeof materialOf> {
    let material = this.#materials.get(text ?? '');
    if (!material) this.#materials.set(text ?? '', (material = materialOf(text ?? '')));
    return material;
  }

  #useOf([, stream, sequence, , quantity, material, element, at]: MaterialFact, lot: string, relation: Relation): Use {
    return {
      batch: stream.slice(this.#prefix.length),
      sequence,
      lot,
      relation,
      ...this.#materialOf(material),
      quantity: quantity ?? '',
      element: element ?? '',
      at: at ?? '',
    };
  }
}
