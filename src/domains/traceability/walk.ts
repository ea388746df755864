/**
 * Where a lot went and what went into it: a walk over what batches have consumed and produced, level by level, lots and batches in turn.
 * Each node is met once, so a lot that goes back into the batch that made it ends no walk and begins none.
 *
 * Every node has a place, in the order in which it is met; a page is a span of places. It has the edges whose second end lies in it, so
 * that every edge of a page ends at nodes of this page or of one before, and each edge is on one page.
 */
export type Direction = 'forward' | 'backward';
export type Relation = 'consumed' | 'produced';
export type NodeType = 'lot' | 'batch';

/** One entry of a batch (decisions 8.4). */
export interface Use {
  readonly batch: string;
  /** Among the events of the batch. */
  readonly sequence: number;
  readonly lot: string;
  readonly relation: Relation;
  readonly material: string;
  readonly quantity: string;
  readonly unit: string;
  readonly element: string;
  readonly at: string;
}

/** A node that is gone on from, and one of its uses. */
export type Step = readonly [from: string, use: Use];

export interface Uses {
  /** In an order that is the same each time. */
  steps(type: NodeType, ids: readonly string[], relation: Relation): AsyncIterable<readonly Step[]>;
}

export interface Node {
  readonly type: NodeType;
  readonly id: string;
}

export interface Bounds {
  /** How many edges from the lot a node may be. */
  readonly depth: number;
  /** Places of the page: the first, and behind the last. */
  readonly from: number;
  readonly to: number;
}

/** `met`: on the way into which direction; all of its uses into that one have been told. */
export interface MetNode extends Node {
  readonly met: Direction;
}

export interface Walked {
  readonly nodes: readonly MetNode[];
  readonly uses: readonly Use[];
  /** More nodes follow behind the page. */
  readonly isFull: boolean;
  /** Something lies beyond the depth. */
  readonly isDeeper: boolean;
}

/** Told of each use of a node of the page, in the direction in which it was met, also of those that lead off the page. */
export type Told = (node: Node, use: Use) => void;

export function relationFrom(type: NodeType, direction: Direction): Relation {
  return (type === 'lot') === (direction === 'forward') ? 'consumed' : 'produced';
}

/** From a lot into one direction after the other; what the first has met the second does not tell again. */
export async function walkFrom(lot: string, directions: readonly Direction[], reader: Uses, bounds: Bounds, told: Told = () => undefined): Promise<Walked> {
  const walk = new Walk(lot, reader, bounds, told);
  for (const direction of directions) if (!walk.isFull) await walk.into(direction);
  return walk;
}

class Walk implements Walked {
  readonly nodes: MetNode[] = [];
  readonly uses: Use[] = [];
  isFull = false;
  isDeeper = false;
  readonly #lot: string;
  readonly #reader: Uses;
  readonly #bounds: Bounds;
  readonly #told: Told;
  /** Of the next node that is met; the lot has the first. */
  #place = 1;
  /** Of what was met in this direction. */
  #places = nodeMaps<number>();
  /** Of what was met in the direction before. */
  #before = nodeMaps<number>();
  /** Direction by which a node stands on the page. */
  readonly #met = nodeMaps<Direction>();

  constructor(lot: string, reader: Uses, bounds: Bounds, told: Told) {
    this.#lot = lot;
    this.#reader = reader;
    this.#bounds = bounds;
    this.#told = told;
  }

  async into(direction: Direction): Promise<void> {
    this.#before = this.#places;
    this.#places = nodeMaps();
    this.#meet({ type: 'lot', id: this.#lot }, 0, direction);
    let level: readonly string[] = [this.#lot];
    let type: NodeType = 'lot';
    for (let distance = 0; level.length > 0; distance += 1) {
      const next: string[] = [];
      for await (const steps of this.#reader.steps(type, level, relationFrom(type, direction))) {
        for (const step of steps) this.#step(type, step, direction, distance < this.#bounds.depth ? next : undefined);
      }
      level = next;
      type = otherThan(type);
    }
  }

  /** `next`: the nodes of the next level; undefined beyond the depth. */
  #step(type: NodeType, [id, use]: Step, direction: Direction, next: string[] | undefined): void {
    const otherType = otherThan(type);
    const other = use[otherType];
    const places = this.#places[otherType];
    if (this.#met[type].get(id) === direction) this.#told({ type, id }, use);
    let place = places.get(other);
    if (place === undefined) {
      if (!next) this.isDeeper = true;
      else if (this.#place >= this.#bounds.to) this.isFull = true;
      else {
        place = this.#place;
        this.#place += 1;
        this.#meet({ type: otherType, id: other }, place, direction);
        next.push(other);
      }
    }
    if (place === undefined || (this.#before[type].has(id) && this.#before[otherType].has(other))) return;
    if (this.#isOfPage(Math.max(place, this.#places[type].get(id) ?? 0))) this.uses.push(use);
  }

  #meet({ type, id }: Node, place: number, met: Direction): void {
    this.#places[type].set(id, place);
    if (!this.#isOfPage(place) || this.#met[type].has(id) || this.#before[type].has(id)) return;
    this.#met[type].set(id, met);
    this.nodes.push({ type, id, met });
  }

  #isOfPage(place: number): boolean {
    return place >= this.#bounds.from && place < this.#bounds.to;
  }
}

/** By type and ID: a lot may be named as a batch is. */
export type NodeMaps<Value> = Readonly<Record<NodeType, Map<string, Value>>>;

export function nodeMaps<Value>(): NodeMaps<Value> {
  return { lot: new Map(), batch: new Map() };
}

function otherThan(type: NodeType): NodeType {
  return type === 'lot' ? 'batch' : 'lot';
}
