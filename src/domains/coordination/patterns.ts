/** The patterns that a recipe refers to (decisions 2.7): whether they are there, and whether they name steps of the recipe. */
import type { StoreReader } from '../../platform/store/kind.js';
import { CoordinationBlock, SyncBarrier } from './kind.js';

interface PatternRef {
  readonly kind: 'CoordinationBlock' | 'SyncBarrier';
  readonly name: string;
}

export function missingPatterns(read: StoreReader, site: string, refs: readonly PatternRef[]): PatternRef[] {
  return refs.filter((ref) => endpointsOf(read, site, ref) === undefined);
}

/** Step paths that a pattern names and the recipe does not have: their element would never come. */
export function strayEndpoints(read: StoreReader, site: string, ref: PatternRef, steps: ReadonlySet<string>): string[] {
  return (endpointsOf(read, site, ref) ?? []).filter((path) => !steps.has(path));
}

function endpointsOf(read: StoreReader, site: string, { kind, name }: PatternRef): string[] | undefined {
  if (kind === 'SyncBarrier') return read.get(SyncBarrier, site, name)?.spec.participants.map((participant) => participant.name);
  const block = read.get(CoordinationBlock, site, name);
  const { signal } = block?.spec ?? {};
  return block && (signal ? [signal.producer, ...signal.consumers].map((endpoint) => endpoint.name) : []);
}
