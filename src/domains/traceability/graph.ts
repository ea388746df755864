/** A page of a trace as it is told: its nodes with what is known of them, its edges, and what does not add up. */
import type { Store } from '../../platform/store/store.js';
import { Batch, type PastBatch } from '../batches/kind.js';
import { excessOf, type Excess, Quantities } from './balance.js';
import type { TraceEdge, TraceNode } from './bodies.js';
import type { SiteUses } from './uses.js';
import { type Bounds, type Direction, type MetNode, type Node, nodeMaps, type NodeType, type Relation, type Use, walkFrom } from './walk.js';

export interface GraphRequest extends Bounds {
  readonly site: string;
  readonly lot: string;
  readonly material: string;
  readonly directions: readonly Direction[];
}

export interface Graph {
  readonly nodes: readonly TraceNode[];
  readonly edges: readonly TraceEdge[];
  readonly exceptions: readonly Excess[];
  readonly isFull: boolean;
  readonly isDeeper: boolean;
}

type Balance = Readonly<Record<Relation, Quantities>>;

export async function graphOf(store: Store, uses: SiteUses, { site, lot, material, directions, ...bounds }: GraphRequest): Promise<Graph> {
  const balances = nodeMaps<Balance>();
  const balanceOf = ({ type, id }: Node): Balance => {
    let balance = balances[type].get(id);
    if (!balance) balances[type].set(id, (balance = { consumed: new Quantities(), produced: new Quantities() }));
    return balance;
  };
  const walked = await walkFrom(lot, directions, uses, bounds, (node, use) => {
    const { relation } = use;
    if (node.type === 'batch' && relation === 'consumed') return; // nobody adds up what a batch took
    const { material, unit, quantity } = use;
    balanceOf(node)[relation].add({ material, unit, count: 1, sum: Number(quantity) || 0, text: quantity });
  });

  const { nodes } = walked;
  const idsOf = (type: NodeType, met: Direction): string[] => nodes.filter((node) => node.type === type && node.met === met).map(({ id }) => id);
  /** What the walk has not come by. */
  const complete = async (type: NodeType, ids: readonly string[], relation: Relation): Promise<void> => {
    for (const [id, quantity] of await uses.quantities(type, ids, relation)) balanceOf({ type, id })[relation].add(quantity);
  };
  await complete('lot', idsOf('lot', 'forward'), 'produced');
  await complete('batch', idsOf('batch', 'backward'), 'produced');
  const madeHere = idsOf('lot', 'backward').filter((id) => !balanceOf({ type: 'lot', id }).produced.isEmpty);
  await complete('lot', madeHere, 'consumed');

  const materials = new Map([...walked.uses.map((use) => [use.lot, use.material] as const), [lot, material]]);
  const told = ({ type, id }: MetNode): TraceNode => {
    const { produced } = balanceOf({ type, id });
    const called = produced.isEmpty && type === 'lot' ? (materials.get(id) ?? '') : produced.material;
    return { id, type, name: type === 'lot' ? id : batchIDOf(store, site, id), material: called, ...produced.total };
  };
  return {
    nodes: nodes.map(told),
    edges: walked.uses.map(edgeOf),
    exceptions: nodes.flatMap(({ type, id }) => (type === 'lot' ? excessOf(id, balanceOf({ type, id })) : [])),
    isFull: walked.isFull,
    isDeeper: walked.isDeeper,
  };
}

/** Its name, of an execution by hand and of a batch that was removed. */
export function batchIDOf(store: Store, site: string, name: string): string {
  return store.get(Batch, site, name)?.spec.batchID || store.pastEntry<PastBatch>(Batch, site, name)?.entry.batchID || name;
}

function edgeOf({ batch, lot, relation, quantity, unit, element, at }: Use): TraceEdge {
  const [from, to] = relation === 'consumed' ? [lot, batch] : [batch, lot];
  return { from, to, relation, quantity, unit, element, at };
}
