/**
 * The limits of the hardware profile, held where a plant grows: in the store, so that REST, apply, the demo and whatever else writes are
 * judged alike, in the turn in which the change is applied (ADR 0048). What a plant has already stays, whatever the profile says: a
 * change is refused only when it makes more of what there is too much of.
 */
import type { Limits, Profile } from '../box/profile.js';
import { ControlModule, ControlModuleTemplate } from '../domains/control-modules/kind.js';
import { ControlProgram } from '../domains/logic/kind.js';
import { scanIntervalMs } from '../domains/logic/rules.js';
import { Unit } from '../domains/plant/kind.js';
import type { Log } from '../platform/base/log.js';
import { conflict } from '../platform/base/refusal.js';
import type { Change } from '../platform/store/change.js';
import type { Kind, StoreReader } from '../platform/store/kind.js';
import type { Store } from '../platform/store/store.js';
import { type PlantSize, plantSize, plantSizeAfter } from './plant-counts.js';

/** What is counted, and of which kinds a change may make more of it. */
interface Counted {
  readonly kinds: readonly string[];
  /** What somebody can do who needs room. */
  readonly way: string;
}

const COUNTED: Readonly<Record<keyof PlantSize, Counted>> = {
  units: { kinds: [Unit.kind], way: 'delete a unit that is no longer needed, or run further units on another box' },
  tags: {
    kinds: [ControlModule.kind, ControlModuleTemplate.kind, ControlProgram.kind],
    way: 'take out tags that nobody reads, or run the units with the most tags on another box',
  },
};

const COUNTS = Object.keys(COUNTED) as (keyof PlantSize)[];

/** What of the plant is beyond the profile, as sentences: a plant that was there before its box had a profile goes on. */
export function beyondLimits({ name, limits }: Profile, store: Store): readonly string[] {
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
export function refuseBeyond({ name, limits }: Profile, change: Change, store: Store): void {
  const puts = (change.puts ?? []).filter(({ spec }) => spec !== undefined);
  if (puts.length === 0) return;
  for (const put of puts) if (SCANNED.includes(put.kind.kind)) refuseFastScan(name, limits, put, store);
  let after: PlantSize | undefined;
  for (const what of COUNTS) {
    const { kinds, way } = COUNTED[what];
    if (!puts.some(({ kind }) => kinds.includes(kind.kind))) continue;
    const now = (after ??= plantSizeAfter(store, { puts, removes: change.removes ?? [] }))[what];
    if (now <= limits[what] || now <= plantSize(store)[what]) continue;
    throw conflict('profile_limit', `the plant would have ${now} ${what}, and this box takes ${limits[what]} (hardware profile ${name}): ${way}`, {
      profile: name,
      what,
      limit: limits[what],
      wanted: now,
    });
  }
}

type Puts = NonNullable<Change['puts']>;

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
