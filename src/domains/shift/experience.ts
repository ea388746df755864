/** Expected durations (ADR 0135): the median of what completed batches of the same version of a recipe took, or none. */
import type { Resource } from '../../platform/store/resource.js';
import type { Put, Store } from '../../platform/store/store.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { Key } from '../../platform/reconcile/key.js';
import { Batch, type BatchSpec, type BatchStatus } from '../batches/kind.js';
import { elementIndex, type ElementResource } from '../batches/tree/element-index.js';
import { Phase, type PhaseSpec, UnitProcedure } from '../procedures/kind.js';
import { ControlRecipe } from '../recipes/kind.js';
import { type Run, RunExperience, type RunExperienceSpec, type StepTime } from './kind.js';

type BatchResource = Resource<BatchSpec, BatchStatus>;

/** An odd number: the median is one of them. */
export const RUNS_MAX = 15;
const VERSIONS_MAX = 3;
/** Of a run; of the others the time at work is all that is known. */
const PHASES_MAX = 200;

export interface Expectation {
  readonly seconds: number;
  readonly steps: ReadonlyMap<string, StepTime>;
  /** By path: active seconds of the batch at the end of the phase. */
  readonly phases: ReadonlyMap<string, number>;
  /** How many batches it was learnt from. */
  readonly runs: number;
}

/** Seconds that a batch had been at work at an instant; what it was held is left out. */
export function activeSeconds({ status: { startedAt, holds = [] } }: Pick<BatchResource, 'status'>, atMs: number): number {
  const startMs = Date.parse(startedAt);
  const held = holds.reduce((sum, { since, until }) => {
    const from = Math.max(startMs, Date.parse(since));
    const to = Math.min(atMs, until === '' ? atMs : Date.parse(until));
    return sum + Math.max(0, to - from);
  }, 0);
  return Math.max(0, atMs - startMs - held) / 1000;
}

/**
 * Where a batch stands in the run that is expected of it: no further than the end of whatever of it is still at work. What people let it wait
 * takes nothing off what is still to come.
 */
export function reachedSeconds(elapsed: number, { steps, phases }: Pick<Expectation, 'steps' | 'phases'>, elements: readonly ElementResource[]): number {
  const atWork = elements.filter(({ status: { startedAt, endedAt } }) => startedAt !== '' && endedAt === '');
  const ends = atWork.flatMap(
    ({ kind, spec }) => (kind === Phase.kind ? phases.get((spec as PhaseSpec).stepPath) : kind === UnitProcedure.kind ? steps.get(spec.stepName)?.toS : undefined) ?? [],
  );
  return Math.min(elapsed, ...ends);
}

/** What a completed batch teaches; undefined of one whose unit procedures are not there any more. */
export function runOf(batch: BatchResource, elements: readonly ElementResource[]): Run | undefined {
  const { status, metadata } = batch;
  const at = (time: string): number => Math.round(activeSeconds(batch, Date.parse(time)) * 10) / 10;
  const steps = elements.flatMap(({ kind, spec, status: { startedAt, endedAt } }): StepTime[] =>
    kind === UnitProcedure.kind && startedAt !== '' && endedAt !== '' ? [{ step: spec.stepName, fromS: at(startedAt), toS: at(endedAt) }] : [],
  );
  if (status.startedAt === '' || status.endedAt === '' || steps.length === 0) return undefined;
  const phases = elements.flatMap(({ kind, spec, status: { endedAt } }) => (kind === Phase.kind && endedAt !== '' ? [{ path: spec.stepPath, toS: at(endedAt) }] : []));
  return { uid: metadata.uid, endedAt: status.endedAt, seconds: at(status.endedAt), steps, phases: phases.slice(0, PHASES_MAX) };
}

/** With one run more, the newest `RUNS_MAX` of each of the newest versions; undefined where it teaches nothing new. */
export function withRun(known: RunExperienceSpec | undefined, version: string, run: Run): RunExperienceSpec | undefined {
  const versions = known?.versions ?? [];
  const runs = versions.find((each) => each.version === version)?.runs ?? [];
  const oldest = runs[0];
  if (runs.some(({ uid }) => uid === run.uid)) return undefined;
  if (oldest && runs.length >= RUNS_MAX && run.endedAt <= oldest.endedAt) return undefined;
  const next = [...runs, run].sort((a, b) => (a.endedAt < b.endedAt ? -1 : 1)).slice(-RUNS_MAX);
  const last = (of: { readonly runs: readonly Run[] }): string => of.runs.at(-1)?.endedAt ?? '';
  const all = [{ version, runs: next }, ...versions.filter((each) => each.version !== version)].sort((a, b) => (last(a) > last(b) ? -1 : 1)).slice(0, VERSIONS_MAX);
  return all.some((each) => each.version === version) ? { versions: all } : undefined;
}

/** Undefined where no batch of that version has been completed. */
export function expectationOf(store: Pick<Store, 'get'>, site: string, recipe: string, version: string): Expectation | undefined {
  const runs = store.get(RunExperience, site, recipe)?.spec.versions.find((each) => each.version === version)?.runs ?? [];
  if (runs.length === 0) return undefined;
  const names = new Set(runs.flatMap(({ steps }) => steps.map(({ step }) => step)));
  const steps = new Map(
    [...names].map((name) => {
      const found = runs.flatMap((run) => run.steps.filter(({ step }) => step === name));
      return [name, { step: name, fromS: median(found.map(({ fromS }) => fromS)), toS: median(found.map(({ toS }) => toS)) }] as const;
    }),
  );
  const ends = new Map<string, number[]>();
  for (const { path, toS } of runs.flatMap(({ phases = [] }) => phases)) ends.set(path, [...(ends.get(path) ?? []), toS]);
  const phases = new Map([...ends].map(([path, found]) => [path, median(found)] as const));
  return { seconds: median(runs.map(({ seconds }) => seconds)), steps, phases, runs: runs.length };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** Learns from each batch once; of those that were completed before it was there as well, as far as they are present. */
export class ExperienceReconciler implements Reconciler {
  readonly name = 'experience';
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  keys(): Iterable<Key> {
    return this.#store
      .list(Batch)
      .filter(({ status }) => status.phase === 'Complete')
      .map(({ metadata: { site, name } }) => ({ site, name }));
  }

  async reconcile({ site, name }: Key): Promise<Outcome> {
    const batch = this.#store.get(Batch, site, name);
    if (batch?.status.phase !== 'Complete') return 'settled';
    const version = this.#store.get(ControlRecipe, site, batch.status.controlRecipe)?.spec.version;
    const run = version === undefined ? undefined : runOf(batch, elementIndex(this.#store).elementsOf(site, name));
    if (version === undefined || !run) return 'settled';
    const recipe = batch.spec.masterRecipeRef;
    const spec = withRun(this.#store.get(RunExperience, site, recipe)?.spec, version, run);
    if (spec) await this.#store.write({ puts: [{ kind: RunExperience, site, name: recipe, spec } as Put] });
    return 'settled';
  }
}
