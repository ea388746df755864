/**
 * Walks the address space of a server (OPC 10000-4, 5.8): each node once, so that a circle ends; so many nodes and so long, so that a
 * server that never ends does. What was left out is told.
 */
import type { NodeId } from 'node-opcua-client';
import type { Clock } from '../../vocabulary/clock.js';
import { BrowseDirection, BrowseNextRequest, BrowseRequest, NodeClass, resolveNodeId } from './library.js';
import type { Reference } from './node-types.js';
import { OpcUaFault, severityOf, statusText } from './status.js';
import type { Wire } from './wire.js';
import type { StatusCode } from 'node-opcua-client';

const HIERARCHICAL = 'i=33';
const ALL_RESULTS = 63;
const NODES_PER_CALL = 50;
const REFERENCES_PER_NODE = 1000;
/** Nodes of one walk. */
const VISITED_MAX = 20_000;
/** Continuations of one node: a server may say for ever that there is more. */
const CONTINUED_MAX = 100;
const DEPTH_MAX = 32;

interface Browsed {
  readonly statusCode: StatusCode;
  readonly continuationPoint: Buffer | null;
  readonly references: readonly Reference[] | null;
}

export interface Deadline {
  readonly isOver: boolean;
}

export function deadlineIn(timeoutMs: number, clock: Clock): Deadline {
  const endMs = clock.monoMs() + timeoutMs;
  return {
    get isOver() {
      return clock.monoMs() >= endMs;
    },
  };
}

/** References of some nodes, by their places; `isCut`: there were more. */
export async function childrenOf(
  wire: Wire,
  nodes: readonly NodeId[],
  { type = HIERARCHICAL, max = REFERENCES_PER_NODE }: { readonly type?: string; readonly max?: number } = {},
): Promise<{ readonly children: readonly (readonly Reference[])[]; readonly problems: readonly string[]; readonly isCut: boolean }> {
  const children: Reference[][] = [];
  const problems: string[] = [];
  let isCut = false;
  for (let at = 0; at < nodes.length; at += NODES_PER_CALL) {
    const batch = nodes.slice(at, at + NODES_PER_CALL);
    const { results } = await wire.request<{ results: readonly Browsed[] | null }>(
      new BrowseRequest({
        requestedMaxReferencesPerNode: max,
        nodesToBrowse: batch.map((nodeId) => ({
          nodeId,
          referenceTypeId: resolveNodeId(type),
          browseDirection: BrowseDirection.Forward,
          includeSubtypes: true,
          nodeClassMask: 0,
          resultMask: ALL_RESULTS,
        })),
      }),
    );
    for (let place = 0; place < batch.length; place += 1) {
      const result = results?.[place];
      const found = [...(result?.references ?? [])];
      problems.push(result && severityOf(result.statusCode) === 'Bad' ? statusText(result.statusCode) : '');
      if (result) isCut = (await continued(wire, result, found, max)) || isCut;
      children.push(found.slice(0, max));
    }
  }
  return { children, problems, isCut };
}

/** Adds what comes behind a continuation point. @returns whether something is left. */
async function continued(wire: Wire, { continuationPoint }: Browsed, found: Reference[], max: number): Promise<boolean> {
  let point = continuationPoint;
  for (let count = 0; point && point.length > 0; count += 1) {
    const isEnough = found.length >= max || count >= CONTINUED_MAX;
    const { results } = await wire.request<{ results: readonly Browsed[] | null }>(new BrowseNextRequest({ releaseContinuationPoints: isEnough, continuationPoints: [point] }));
    if (isEnough) return true;
    const more: Browsed | undefined = results?.[0];
    found.push(...(more?.references ?? []));
    point = more?.continuationPoint ?? null;
  }
  return found.length > max;
}

export interface Visited {
  readonly reference: Reference;
  /** Names from the root on, with a slash before each. */
  readonly path: string;
  readonly parent: NodeId;
}

/** All below a root, level by level, until `take` says that it is enough. @returns whether something was left out. */
export async function walk(wire: Wire, root: NodeId, deadline: Deadline, take: (visited: Visited) => boolean): Promise<boolean> {
  const seen = new Set([root.toString()]);
  let level: { readonly nodeId: NodeId; readonly path: string }[] = [{ nodeId: root, path: '' }];
  let isFirst = true;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= DEPTH_MAX) return true;
    const next: { readonly nodeId: NodeId; readonly path: string }[] = [];
    for (let at = 0; at < level.length; at += NODES_PER_CALL) {
      if (deadline.isOver) return true;
      const batch = level.slice(at, at + NODES_PER_CALL);
      const { children, problems, isCut } = await childrenOf(
        wire,
        batch.map(({ nodeId }) => nodeId),
      );
      if (isFirst && problems[0]) throw new OpcUaFault('refused', `${root.toString()}: ${problems[0]}`, problems[0].split(':')[0] ?? '');
      isFirst = false;
      for (const [place, references] of children.entries()) {
        const above = batch[place];
        if (!above) continue;
        for (const reference of references) {
          const key = reference.nodeId.toString();
          if (seen.has(key) || isElsewhere(reference)) continue;
          if (seen.size >= VISITED_MAX) return true;
          seen.add(key);
          const path = `${above.path}/${reference.browseName.name ?? ''}`;
          if (!take({ reference, path, parent: above.nodeId })) return true;
          if (reference.nodeClass !== NodeClass.Method) next.push({ nodeId: reference.nodeId, path });
        }
      }
      if (isCut) return true;
    }
    level = next;
  }
  return false;
}

/** A node of another server. */
function isElsewhere({ nodeId }: Reference): boolean {
  return ((nodeId as { serverIndex?: number }).serverIndex ?? 0) > 0;
}
