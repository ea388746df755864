/** Signals and barriers of a running batch: what its elements are doing moves them on, and who waits in vain is held (decisions 2.7). */
import { toldFailure } from '../../../../runtime/vocabulary/told.js';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../platform/base/clock.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { CoordinationBlock, type CoordinationPhase, SyncBarrier } from '../../coordination/kind.js';
import { advanceBarrier, advanceBlock, barrierWord, type CoordinationFailure, type CoordinationWorld, type Progress, timeoutLeftMs } from '../../coordination/progress.js';
import type { BatchReconciliation } from './batch-reconciliation.js';
import { elementIndex } from './element-index.js';
import { isFinalBatch } from '../kind.js';
import { runClocks } from './run-clocks.js';
import { keyOf, type TreeNode, walk } from './procedure-tree.js';

/** A crash takes this much of a time-out with it. */
const KEPT_EVERY_MS = 10_000;

type World = Omit<CoordinationWorld, 'activeMs'>;

interface Coordinated {
  readonly kind: typeof CoordinationBlock | typeof SyncBarrier;
  readonly name: string;
  readonly before: object;
  readonly progress: Progress<object>;
}

/** What has changed, to be written with the reconciliation. A failure holds its elements in the same one. */
export function coordinate(reconciliation: BatchReconciliation, store: Store, clock: Clock): Put[] {
  const nodes = nodesOf(reconciliation);
  const world: World = { nowMs: Date.parse(reconciliation.at), facts: (endpoint) => factsOf(reconciliation, nodes.get(keyOf(endpoint))) };
  const changed = coordinated(reconciliation, store, world, clock).filter(({ before, progress }) => JSON.stringify(before) !== JSON.stringify(progress.status));
  const failures = changed.flatMap(({ progress }) => progress.failure ?? []);
  for (const failure of failures) hold(reconciliation, nodes, failure);
  if (failures.length > 0) reconciliation.settle();
  return changed.map(({ kind, name, progress }) => ({ kind, site: reconciliation.site, name, status: progress.status }) as Put);
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

/** In how many ms their time-outs are over, or what has passed of them is to be kept. */
export function coordinationLeftMs(reconciliation: BatchReconciliation, store: Store, clock: Clock): number[] {
  if (!reconciliation.tree) return [];
  const index = elementIndex(store);
  if (isFinalBatch(reconciliation.status.phase)) {
    // what was still Active at the end of its batch is looked at by nobody any more
    for (const { kind, metadata } of [...index.blocksOf(reconciliation.site, reconciliation.scope), ...index.barriersOf(reconciliation.site, reconciliation.scope)])
      runClocks(store).inactive(activeKey(kind, reconciliation.site, metadata.name));
    return [];
  }
  const own = [
    ...index
      .blocksOf(reconciliation.site, reconciliation.scope)
      .map(({ metadata, spec, status }) => timeoutLeftMs(spec, status, activeMsOf(reconciliation.site, store, clock, CoordinationBlock, metadata.name, status))),
    ...index
      .barriersOf(reconciliation.site, reconciliation.scope)
      .map(({ metadata, spec, status }) => timeoutLeftMs(spec, status, activeMsOf(reconciliation.site, store, clock, SyncBarrier, metadata.name, status))),
  ];
  return own.flatMap((leftMs) => (leftMs === undefined ? [] : [Math.min(leftMs, KEPT_EVERY_MS)]));
}

function activeKey(kind: string, site: string, name: string): string {
  return `${kind}/${site}/${name}`;
}

interface Active {
  readonly phase: CoordinationPhase;
  readonly activeAt: string;
  readonly activeForMs?: number;
}

/** Elapsed time: a wall clock that is set times nobody out, and a restart goes on from what was kept. */
function activeMsOf(site: string, store: Store, clock: Clock, { kind }: Coordinated['kind'], name: string, { phase, activeAt, activeForMs = 0 }: Active): number {
  return runClocks(store).activeMs(activeKey(kind, site, name), phase === 'Active' ? activeAt : '', activeForMs, clock);
}

function withKept<Status extends Active>(spec: { readonly timeoutSeconds: number }, { status, ...rest }: Progress<Status>, activeMs: number): Progress<Status> {
  if (timeoutLeftMs(spec, status, activeMs) === undefined) return { status, ...rest };
  const activeForMs = Math.floor(activeMs / KEPT_EVERY_MS) * KEPT_EVERY_MS;
  return { status: activeForMs === 0 ? status : { ...status, activeForMs }, ...rest };
}

function coordinated(reconciliation: BatchReconciliation, store: Store, world: World, clock: Clock): Coordinated[] {
  const index = elementIndex(store);
  return [
    ...index.blocksOf(reconciliation.site, reconciliation.scope).map(({ metadata: { name }, spec, status }) => {
      const activeMs = activeMsOf(reconciliation.site, store, clock, CoordinationBlock, name, status);
      return { kind: CoordinationBlock, name, before: status, progress: withKept(spec, advanceBlock(spec, status, { ...world, activeMs }), activeMs) };
    }),
    ...index.barriersOf(reconciliation.site, reconciliation.scope).map((barrier) => {
      const { spec, status, metadata } = barrier;
      const activeMs = activeMsOf(reconciliation.site, store, clock, SyncBarrier, metadata.name, status);
      const progress = withKept(spec, advanceBarrier(barrierWord(barrier), spec, status, { ...world, activeMs }), activeMs);
      return { kind: SyncBarrier, name: metadata.name, before: status, progress };
    }),
  ];
}

function hold(reconciliation: BatchReconciliation, nodes: ReadonlyMap<string, TreeNode>, { waiting, ...why }: CoordinationFailure): void {
  reconciliation.event({ eventType: 'General', eventSubType: 'System', value: why.rule, message: why.message, told: toldFailure(why) });
  for (const endpoint of waiting) {
    const node = nodes.get(keyOf(endpoint));
    if (node) reconciliation.tree?.fail(node, why);
  }
}

function nodesOf(reconciliation: BatchReconciliation): Map<string, TreeNode> {
  return new Map(reconciliation.tree ? [...walk(reconciliation.tree.root)].map((node) => [keyOf(node), node]) : []);
}

function factsOf(reconciliation: BatchReconciliation, node: TreeNode | undefined) {
  return node && { state: node.state, waitsToStart: reconciliation.waitsForCoordination(node) };
}
