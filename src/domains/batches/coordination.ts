/** Signals and barriers of a running batch: what its elements are doing moves them on, and who waits in vain is held (decisions 2.7). */
import { isDeepStrictEqual } from 'node:util';
import type { Put, Store } from '../../platform/store/store.js';
import { CoordinationBlock, type SignalEndpoint, SyncBarrier } from '../coordination/kind.js';
import { advanceBarrier, advanceBlock, barrierWord, type CoordinationFailure, type CoordinationWorld, deadlineOf, type Progress } from '../coordination/progress.js';
import type { BatchPass } from './batch-pass.js';
import { elementIndex } from './element-index.js';
import { isFinalBatch } from './kind.js';
import { type TreeNode, walk } from './procedure-tree.js';

interface Coordinated {
  readonly kind: typeof CoordinationBlock | typeof SyncBarrier;
  readonly name: string;
  readonly before: object;
  readonly progress: Progress<object>;
}

/** What has changed, to be written with the pass. A failure holds its elements in the same pass. */
export function coordinate(pass: BatchPass, store: Store): Put[] {
  const nodes = nodesOf(pass);
  const world: CoordinationWorld = { nowMs: Date.parse(pass.at), facts: (endpoint) => factsOf(pass, nodes.get(keyOf(endpoint))) };
  const changed = coordinated(pass, store, world).filter(({ before, progress }) => JSON.stringify(before) !== JSON.stringify(progress.status));
  const failures = changed.flatMap(({ progress }) => progress.failure ?? []);
  for (const failure of failures) hold(pass, nodes, failure);
  if (failures.length > 0) pass.settle();
  return changed.map(({ kind, name, progress }) => ({ kind, site: pass.site, name, status: progress.status }) as Put);
}

/**
 * Blocks and barriers that were written for a batch of this name, as if nobody had come to them yet. They are nobody's copy and
 * stay when the batch goes (ADR 0009), but what has happened to them belongs to the batch that is gone.
 */
export function begunAnew(store: Store, site: string, batch: string): Put[] {
  const index = elementIndex(store);
  const written = [
    ...index.blocksOf(site, batch).map((block) => ({ block, kind: CoordinationBlock, fresh: CoordinationBlock.initialStatus?.(block.spec) })),
    ...index.barriersOf(site, batch).map((block) => ({ block, kind: SyncBarrier, fresh: SyncBarrier.initialStatus?.(block.spec) })),
  ];
  return written
    .filter(({ block, fresh }) => block.metadata.ownerReferences.length === 0 && !isDeepStrictEqual(block.status, fresh))
    .map(({ block, kind, fresh }) => ({ kind, site, name: block.metadata.name, status: fresh }) as Put);
}

/** In wall ms. */
export function coordinationDeadlines(pass: BatchPass, store: Store): number[] {
  if (!pass.tree || isFinalBatch(pass.status.phase)) return [];
  const index = elementIndex(store);
  const own = [...index.blocksOf(pass.site, pass.scope), ...index.barriersOf(pass.site, pass.scope)];
  return own.flatMap(({ spec, status }) => deadlineOf(spec, status) ?? []);
}

function coordinated(pass: BatchPass, store: Store, world: CoordinationWorld): Coordinated[] {
  const index = elementIndex(store);
  return [
    ...index
      .blocksOf(pass.site, pass.scope)
      .map(({ metadata, spec, status }) => ({ kind: CoordinationBlock, name: metadata.name, before: status, progress: advanceBlock(spec, status, world) })),
    ...index.barriersOf(pass.site, pass.scope).map((barrier) => ({
      kind: SyncBarrier,
      name: barrier.metadata.name,
      before: barrier.status,
      progress: advanceBarrier(barrierWord(barrier), barrier.spec, barrier.status, world),
    })),
  ];
}

function hold(pass: BatchPass, nodes: ReadonlyMap<string, TreeNode>, { rule, message, waiting }: CoordinationFailure): void {
  pass.event({ eventType: 'General', eventSubType: 'System', value: rule, message });
  for (const endpoint of waiting) {
    const node = nodes.get(keyOf(endpoint));
    if (node) pass.tree?.fail(node, rule, message);
  }
}

function nodesOf(pass: BatchPass): Map<string, TreeNode> {
  return new Map(pass.tree ? [...walk(pass.tree.root)].map((node) => [keyOf(node), node]) : []);
}

function factsOf(pass: BatchPass, node: TreeNode | undefined) {
  return node && { state: node.state, waitsToStart: pass.waitsForCoordination(node) };
}

function keyOf({ kind, name }: Pick<SignalEndpoint, 'kind' | 'name'> | TreeNode): string {
  return `${kind}/${name}`;
}
