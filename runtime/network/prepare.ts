/**
 * Everything of a download that does not need the networks it replaces, in steps: linking, generating, compiling, warming
 * up. The scan goes on in between (ADR 0008); what is left for the scan that swaps is start values and taking over.
 *
 * Invariant: nothing here depends on the moment or shows outside: no text gets an id, and all is written into the half of
 * the arena that nobody scans. So a replay, which prepares all at once, comes to the same.
 */
import type { UnitPlan } from '../port.js';
import { type Region, takeRegion } from './arena.js';
import type { Interner } from './constants.js';
import type { Instance, Run } from './instance.js';
import { IoLink } from './io-link.js';
import { ageBit, arrangeRuns, fillMemory, loadNetwork, place, wireRuns } from './load.js';
import type { Steps } from './steps.js';
import { bindTag, type TagSlot } from './tag-slots.js';
import type { TextTable } from './texts.js';
import { warmUp } from './warm-up.js';

/** Networks that wait for their swap. */
export interface PreparedNetworks {
  readonly plan: UnitPlan;
  /** What was scanned when it was prepared. */
  readonly previous: Region | undefined;
  readonly instances: readonly Instance[];
  readonly runs: readonly Run[];
  readonly region: Region;
  /** Slot of the first stored tag. */
  readonly stored: number;
  readonly tags: readonly TagSlot[];
  readonly io: IoLink;
}

/** Texts get their ids with the swap; until then all of them are the empty one. */
const NO_TEXTS: Interner = { intern: () => 0 };

export interface PrepareParts {
  readonly texts: TextTable;
  readonly clockMs: () => number;
  readonly previous: Region | undefined;
  /** Nothing waits for the first scans: they may run interpreted. */
  readonly cold: boolean;
}

export function* prepareNetworks(plan: UnitPlan, { texts, clockMs, previous, cold }: PrepareParts): Steps<PreparedNetworks> {
  const instances: Instance[] = [];
  for (const network of plan.networks) {
    yield;
    instances.push(yield* loadNetwork(network, plan));
  }
  const runs = arrangeRuns(instances, plan);
  const channels = plan.images.reduce((count, image) => count + image.channels.length, 1);
  const { room, stored } = place(runs, plan, channels);
  yield;
  const region = takeRegion(room, previous);
  for (const run of runs) run.compiled = yield* region.arena.functions(run.shape);
  yield;
  const io = new IoLink(plan.images, region.channels);
  fillMemory(region.memory, instances, plan, stored, NO_TEXTS);
  const byName = new Map(instances.map((instance) => [instance.plan.name, instance]));
  const tags = plan.tags.map((tag, index) => bindTag(tag, byName.get(tag.network), stored + index, plan.images.length));
  for (const tag of tags) ageBit(tag, io); // in the order of the plan, wherever they are declared
  wireRuns(runs, region, tags, io);
  if (!cold) yield* warmUp({ runs, region, io, texts, clockMs });
  return { plan, previous, instances, runs, region, stored, tags, io };
}
