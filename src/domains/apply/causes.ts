/**
 * Which manifest of a request, or which removal behind it, brings something about: the plant as it is and as it will be are compared first, and
 * what is new is told where it comes from, whatever else the request says.
 */
import { inside } from '../../platform/base/assert.js';
import { groupBy } from '../../platform/base/group-by.js';
import type { Clock } from '../../platform/base/clock.js';
import type { Turns } from '../../platform/base/slices.js';
import type { Put, StoreReader } from '../../platform/store/kind.js';
import { type Ref, refOf } from '../../platform/store/resource.js';
import { Site } from '../plant/kind.js';
import type { Outcome } from './judging.js';
import type { Removal } from './removals.js';
import { StagedStore } from './staging.js';

/** What the two plants are read with. */
export interface PlantLook {
  readonly store: StoreReader;
  /** The plant with all manifests in place, and the prune behind them. */
  readonly after: StoreReader;
  readonly clock: Clock;
}

/** One step from the plant as it is to the plant as it will be. */
export interface PlantChange extends Ref {
  readonly index: number;
  /** None of what goes. */
  readonly puts: readonly Put[];
}

/** Those of some kinds, in the order in which they happen. */
export function changesOf(outcomes: readonly Outcome[], gone: readonly Removal[], kinds: ReadonlySet<string>): readonly PlantChange[] {
  const written = outcomes.map(({ step: { index, site, manifest }, puts }) => ({ index, puts, kind: manifest.kind.kind, site, name: manifest.name }));
  return [
    ...written.filter(({ kind, puts }) => puts.length > 0 && kinds.has(kind)),
    ...gone.filter(({ kind }) => kinds.has(kind.kind)).map(({ index, resource }) => ({ index, puts: [], ...refOf(resource) })),
  ];
}

/** A template of modules is of every site. */
export function sitesOf(changed: readonly { readonly site: string }[], store: StoreReader): ReadonlySet<string> {
  return new Set(changed.flatMap(({ site }) => (site === '' ? store.list(Site).map(({ metadata }) => metadata.name) : [site])));
}

/** What is so of somebody once all changes have happened, and was not so before. */
export interface Effect<Of extends object> {
  readonly of: Of;
  /** By what it is known among all that is so of him. */
  readonly key: string;
}

export interface CauseLook<Of extends object> {
  readonly store: StoreReader;
  readonly turns: Turns;
  /** Keys of all that is so, of a plant at one time. */
  readonly keysAt: (read: StoreReader) => (of: Of) => ReadonlySet<string>;
}

/** An effect that comes about within a part of the changes: not with the first `from` of them, and with the first `to`. */
interface Within<E> {
  readonly effect: E;
  readonly from: number;
  readonly to: number;
}

/**
 * The change with which each comes about, when all happen one after the other: the plant is looked at half-way, a quarter of the way, and so on,
 * so that of a thousand changes ten are tried.
 */
export async function causesOf<Of extends object, E extends Effect<Of>>(
  effects: readonly E[],
  changes: readonly PlantChange[],
  look: CauseLook<Of>,
): Promise<readonly { readonly effect: E; readonly index: number }[]> {
  let open: readonly Within<E>[] = effects.map((effect) => ({ effect, from: 0, to: changes.length }));
  const isFound = ({ from, to }: Within<E>): boolean => to - from <= 1;
  while (!open.every(isFound)) open = await halved<Of, E>(open, changes, look);
  return open.map(({ effect, to }) => ({ effect, index: inside(changes, to - 1, 'what comes about comes about by a change').index }));
}

/** One way through the changes; at each half that somebody asks about he is looked at as he would be then. */
async function halved<Of extends object, E extends Effect<Of>>(
  open: readonly Within<E>[],
  changes: readonly PlantChange[],
  { store, turns, keysAt }: CauseLook<Of>,
): Promise<readonly Within<E>[]> {
  const halfOf = ({ from, to }: Within<E>): number => (to - from <= 1 ? -1 : (from + to) >> 1);
  const byHalf = groupBy(open, halfOf);
  const next: Within<E>[] = [...(byHalf.get(-1) ?? [])];
  const staged = new StagedStore(store);
  for (const [at, change] of changes.entries()) {
    for (const put of change.puts) staged.put(put);
    if (change.puts.length === 0) staged.remove(change);
    if (turns.isOver) await turns.next();
    const asked = byHalf.get(at + 1);
    if (!asked) continue;
    const keysOf = keysAt(staged);
    for (const [of, within] of groupBy(asked, ({ effect }) => effect.of)) {
      const keys = keysOf(of);
      next.push(...within.map((each) => (keys.has(each.effect.key) ? { ...each, to: at + 1 } : { ...each, from: at + 1 })));
      if (turns.isOver) await turns.next();
    }
  }
  return next;
}
