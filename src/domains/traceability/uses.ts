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
  readonly #materials = new Materials();

  /** `upTo`: the last row of the moment (`lastFactRow`). */
  constructor(reader: MaterialReader, site: string, upTo: number) {
    this.#reader = reader;
    this.#prefix = streamOf('events', site, '');
    this.#upTo = upTo;
  }

  async *steps(type: NodeType, ids: readonly string[], relation: Relation): AsyncIterable<readonly Step[]> {
    let asked = this.#ask(type, ids, relation);
    for (let left = ids; left.length > 0; ) {
      const facts = await asked;
      const names = left;
      const last = facts.length === FACTS_PER_PAGE ? facts.at(-1) : undefined;
      left = left.slice(last ? last[0] : NAMES_PER_PAGE);
      if (left.length > 0) {
        asked = this.#ask(type, left, relation, last && [last[1], last[2]]); // while these are walked the next are read
        asked.catch(() => undefined); // seen where it is awaited
      }
      yield facts.flatMap((fact): Step[] => (fact[3] === null ? [] : [[names[fact[0]] ?? '', new FactUse(fact, relation, this.#prefix, this.#materials)]]));
    }
  }

  #ask(type: NodeType, ids: readonly string[], relation: Relation, after?: readonly [string, number]): Promise<readonly MaterialFact[]> {
    return this.#reader.materialFacts({ ...this.#asked(type, ids.slice(0, NAMES_PER_PAGE), relation), limit: FACTS_PER_PAGE, after });
  }

  /** By material and unit, of those that have any. */
  async quantities(type: NodeType, ids: readonly string[], relation: Relation): Promise<readonly OwnQuantity[]> {
    const found: OwnQuantity[] = [];
    for (let at = 0; at < ids.length; at += NAMES_PER_PAGE) {
      const asked = ids.slice(at, at + NAMES_PER_PAGE);
      for (const { n, material, count, sum, text } of await this.#reader.materialSums(this.#asked(type, asked, relation))) {
        found.push([asked[n] ?? '', { ...this.#materials.of(material), count, sum: sum ?? 0, text: text ?? '' }]);
      }
    }
    return found;
  }

  /** What a lot is, by the first entry that names it; undefined of one that none does. */
  async materialOfLot(lot: string): Promise<string | undefined> {
    for (const relation of ['produced', 'consumed'] as const) {
      const [first] = await this.#reader.materialSums({ ...this.#asked('lot', [lot], relation), limit: 1 });
      if (first) return this.#materials.of(first.material).material;
    }
    return undefined;
  }

  #asked(type: NodeType, ids: readonly string[], relation: Relation) {
    const names = type === 'lot' ? ids : ids.map((batch) => this.#prefix + batch);
    return { by: type === 'lot' ? ('lot' as const) : ('stream' as const), names, prefix: this.#prefix, way: WAYS[relation], upTo: this.#upTo };
  }
}

/** Few texts, each in thousands of entries. */
class Materials {
  readonly #known = new Map<string, ReturnType<typeof materialOf>>();

  of(text: string | null): ReturnType<typeof materialOf> {
    let material = this.#known.get(text ?? '');
    if (!material) this.#known.set(text ?? '', (material = materialOf(text ?? '')));
    return material;
  }
}

/** Made of what the ledger tells only as far as somebody asks: most entries lead where the walk has been, or off its page. */
class FactUse implements Use {
  readonly relation: Relation;
  readonly #fact: MaterialFact;
  readonly #prefix: string;
  readonly #materials: Materials;

  constructor(fact: MaterialFact, relation: Relation, prefix: string, materials: Materials) {
    this.relation = relation;
    this.#fact = fact;
    this.#prefix = prefix;
    this.#materials = materials;
  }

  get batch(): string {
    return this.#fact[1].slice(this.#prefix.length);
  }

  get sequence(): number {
    return this.#fact[2];
  }

  get lot(): string {
    return this.#fact[3] ?? '';
  }

  get quantity(): string {
    return this.#fact[4] ?? '';
  }

  get material(): string {
    return this.#materials.of(this.#fact[5]).material;
  }

  get unit(): string {
    return this.#materials.of(this.#fact[5]).unit;
  }

  get element(): string {
    return this.#fact[6] ?? '';
  }

  get at(): string {
    return this.#fact[7] ?? '';
  }
}
