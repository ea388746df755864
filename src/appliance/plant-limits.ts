/**
 * The limits of the hardware profile, held where a plant grows: in the store, so that REST, apply, the demo and whatever else writes are
 * judged alike, in the turn in which the change is applied (ADR 0048). What a plant has already stays, whatever the profile says: a
 * change is refused only when it makes more of what there is too much of.
 */
import type { Log } from '../platform/base/log.js';
import { StagedStore } from '../domains/apply/staging.js';
import { ControlModule, ControlModuleTemplate } from '../domains/control-modules/kind.js';
import { readableTags } from '../domains/control-modules/merge.js';
import { resolvedModuleOf } from '../domains/control-modules/modules.js';
import { ControlProgram, FunctionBlockType, ownerOfProgram } from '../domains/logic/kind.js';
import { scanIntervalMs } from '../domains/logic/rules.js';
import { Unit } from '../domains/plant/kind.js';
import { conflict } from '../platform/base/refusal.js';
import type { Change } from '../platform/store/change.js';
import type { Kind, StoreReader } from '../platform/store/kind.js';
import type { Ref } from '../platform/store/resource.js';
import type { Store } from '../platform/store/store.js';
import type { Limits, Profile } from '../box/profile.js';

/** What is counted, and of which kinds a change may change it. */
interface Counted {
  readonly kinds: readonly string[];
  count(read: Counter): number;
  /** What somebody can do who needs room. */
  readonly way: string;
}

/** The plant as it will be. */
type Counter = StoreReader & { isRemoved(ref: Ref): boolean };

export const COUNTED: Readonly<Record<'units' | 'tags', Counted>> = {
  units: {
    kinds: [Unit.kind],
    count: (read) => present(read, Unit).length,
    way: 'delete a unit that is no longer needed, or run further units on another box',
  },
  tags: {
    kinds: [ControlModule.kind, ControlModuleTemplate.kind, ControlProgram.kind, FunctionBlockType.kind],
    count: countTags,
    way: 'take out tags that nobody reads, or run the units with the most tags on another box',
  },
};

const COUNTS = Object.keys(COUNTED) as (keyof typeof COUNTED)[];

function present<Spec, Status>(read: Counter, kind: Kind<Spec, Status>) {
  return read.list(kind).filter(({ metadata: { site, name } }) => !read.isRemoved({ kind: kind.kind, site, name }));
}

/** As the catalog of tags lists them (domains/tags/catalog.ts). */
function countTags(read: Counter): number {
  let count = 0;
  for (const module of present(read, ControlModule)) {
    const resolved = resolvedModuleOf(read, module);
    if (resolved) count += readableTags(resolved).length;
  }
  for (const { metadata, spec } of present(read, ControlProgram)) {
    if (ownerOfProgram(metadata) === undefined) count += spec.variables.filter(({ direction, source }) => direction !== 'input' || !source).length;
  }
  return count;
}

/** The plant of a store as it is. */
export function plantSize(store: StoreReader): Readonly<Record<keyof typeof COUNTED, number>> {
  const counter = counterOf(store);
  return { units: COUNTED.units.count(counter), tags: COUNTED.tags.count(counter) };
}

function counterOf(read: StoreReader, removes: readonly Ref[] = []): Counter {
  const removed = new Set(removes.map(({ kind, site, name }) => `${kind}/${site}/${name}`));
  return {
    get: (kind, site, name) => read.get(kind, site, name),
    list: (kind, site) => read.list(kind, site),
    pastIndex: (kind, site, saying) => read.pastIndex(kind, site, saying),
    isRemoved: ({ kind, site, name }) => removed.has(`${kind}/${site}/${name}`),
  };
}

/** What of the plant is beyond the profile, as sentences: a plant that was there before its box had a profile goes on. */
export function beyondLimits({ name, limits }: Profile, store: StoreReader): readonly string[] {
  const size = plantSize(store);
  return COUNTS.flatMap((what) =>
    size[what] > limits[what] ? [`the plant has ${size[what]} ${what}, and the hardware profile ${name} promises ${limits[what]}: it goes on, and takes no more of them`] : [],
  );
}

/** Kinds with a scan interval of their own, and how it is read. */
const SCANNED: readonly string[] = [Unit.kind, ControlModuleTemplate.kind, ControlProgram.kind];

/**
 * Judges a change before it is applied.
 * @throws Refusal 409 `profile_limit`.
 */
export function refuseBeyond({ name, limits }: Profile, change: Change, store: StoreReader): void {
  const puts = (change.puts ?? []).filter(({ spec }) => spec !== undefined);
  if (puts.length === 0) return;
  for (const put of puts) if (SCANNED.includes(put.kind.kind)) refuseFastScan(name, limits, put, store);
  let after: Counter | undefined;
  for (const what of COUNTS) {
    const { kinds, count, way } = COUNTED[what];
    if (!puts.some(({ kind }) => kinds.includes(kind.kind))) continue;
    const now = count((after ??= staged(store, puts, change.removes)));
    if (now <= limits[what] || now <= count(counterOf(store))) continue;
    throw conflict('profile_limit', `the plant would have ${now} ${what}, and this box takes ${limits[what]} (hardware profile ${name}): ${way}`, {
      profile: name,
      what,
      limit: limits[what],
      wanted: now,
    });
  }
}

type Puts = NonNullable<Change['puts']>;

function staged(store: StoreReader, puts: Puts, removes: Change['removes']): Counter {
  const stage = new StagedStore(store);
  for (const put of puts) stage.put(put);
  return counterOf(stage, removes);
}

function refuseFastScan(profile: string, { scanIntervalMinMs }: Limits, { kind, site, name, spec }: Puts[number], store: StoreReader): void {
  const intervalOf = (of: unknown): string | number => (of as { readonly scanInterval?: string | number } | undefined)?.scanInterval ?? '';
  const wanted = intervalOf(spec);
  const ms = scanIntervalMs(wanted);
  if (ms === null || ms >= scanIntervalMinMs || wanted === intervalOf(store.get(kind as Kind, site, name)?.spec)) return;
  const message = `scanInterval ${wanted} of ${kind.kind} ${name} is shorter than this box keeps (hardware profile ${profile}): name ${scanIntervalMinMs}ms or more`;
  throw conflict('profile_limit', message, { field: 'scanInterval', profile, what: 'scanIntervalMinMs', limit: scanIntervalMinMs, wanted: ms });
}

/** From here on the store takes no change that the profile refuses. */
export function limitPlant(profile: Profile, store: Store, log: Pick<Log, 'warn'>): void {
  for (const beyond of beyondLimits(profile, store)) log.warn(beyond);
  store.judgeBy((change) => refuseBeyond(profile, change, store));
}
