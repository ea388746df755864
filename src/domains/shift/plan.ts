/**
 * The next hours of a site (ADR 0135): what has the units and when it will let go of them, and what waits, in the order in which it would get them.
 * Computed when it is asked for, from the queue, what each recipe needs, and expected durations; where nobody has experience, the end is open
 * and so is what waits behind it.
 */
import { timestamp } from '../../platform/base/clock.js';
import { capabilityOf } from '../batches/start/allocation-queue.js';
import { openBatches, unendedBatches } from '../batches/reading/open-batches.js';
import { asShown } from '../batches/recovery/unrecovered.js';
import type { BatchSpec, BatchStatus } from '../batches/kind.js';
import { elementIndex } from '../batches/tree/element-index.js';
import { Unit } from '../plant/kind.js';
import { UnitProcedure } from '../procedures/kind.js';
import { plannedUnits } from '../recipes/binding-matrix.js';
import { candidatesOf, neededFor } from '../recipes/candidates.js';
import { expandRecipe, templatesOf } from '../recipes/expand.js';
import { ControlRecipe, MasterRecipe } from '../recipes/kind.js';
import { siteUnits } from '../recipes/site-units.js';
import type { Store } from '../../platform/store/store.js';
import type { Resource } from '../../platform/store/resource.js';
import { asksOf } from './asks.js';
import { activeSeconds, type Expectation, expectationOf, reachedSeconds } from './experience.js';
import type { Plan, PlannedBatch, PlannedSpan } from './plan-bodies.js';

const HOURS = 4;
/** Of those that wait; the first in the queue. */
const WAITING_MAX = 40;
const STANDS: readonly string[] = ['Holding', 'Held', 'Pausing', 'Paused'];

/** Until when a unit is taken, and by whom; `atMs` undefined: nobody knows. */
interface Taken {
  readonly atMs: number | undefined;
  readonly batch: string;
  readonly batchID: string;
}

interface Needs {
  readonly version: string;
  /** By step of the chart: the units of which one will do. */
  readonly steps: readonly { readonly step: string; readonly units: readonly string[] }[];
}

type BatchResource = Resource<BatchSpec, BatchStatus>;

export function planOf(store: Store, site: string, nowMs: number): Plan {
  return new Planning(store, site, nowMs).plan();
}

class Planning {
  readonly #store: Store;
  readonly #site: string;
  readonly #now: number;
  readonly #taken = new Map<string, Taken>();
  readonly #spans = new Map<string, PlannedSpan[]>();
  readonly #needs = new Map<string, Needs | undefined>();

  constructor(store: Store, site: string, nowMs: number) {
    this.#store = store;
    this.#site = site;
    this.#now = nowMs;
  }

  plan(): Plan {
    const started = openBatches(this.#store, this.#site)
      .map((batch) => asShown(this.#store, batch))
      .sort(byUrgency);
    const untilMs = this.#now + HOURS * 3_600_000;
    const pending = unendedBatches(this.#store, this.#site)
      .filter(({ status }) => status.phase === 'Pending')
      .sort(byUrgency);
    // nobody waits for one that is to start behind the hours that are planned, however urgent it is then
    const isLater = ({ spec }: BatchResource): boolean => Date.parse(spec.scheduledStartTime) > untilMs;
    const waiting = [...pending.filter((batch) => !isLater(batch)), ...pending.filter(isLater)];
    // what is at work has its units before what is still to come gets them
    const ofStarted = started.map((batch) => ({ batch, ...this.#atWork(batch) }));
    const batches = [...ofStarted.map(({ batch, ...work }) => this.#started(batch, work)), ...waiting.slice(0, WAITING_MAX).map((batch) => this.#waiting(batch))];
    const units = this.#store.list(Unit, this.#site).map(({ metadata: { name } }) => ({ unit: name, spans: this.#spans.get(name) ?? [] }));
    return {
      asOf: timestamp(this.#now),
      until: timestamp(untilMs),
      batches,
      units,
      notPlanned: Math.max(0, waiting.length - WAITING_MAX),
    };
  }

  #atWork(batch: BatchResource): Work {
    const { metadata, spec, status } = batch;
    const version = this.#store.get(ControlRecipe, this.#site, status.controlRecipe)?.spec.version ?? '';
    const expected = expectationOf(this.#store, this.#site, spec.masterRecipeRef, version);
    const elements = elementIndex(this.#store).elementsOf(this.#site, metadata.name);
    const elapsed = activeSeconds(batch, this.#now);
    const reached = expected ? reachedSeconds(elapsed, expected, elements) : elapsed;
    const stands = STANDS.includes(status.phase);
    const later: { readonly step: string; readonly unit: string }[] = [];
    for (const element of elements) {
      if (element.kind !== UnitProcedure.kind || !('unitRef' in element.spec)) continue;
      const { stepName: step, unitRef: unit } = element.spec as { readonly stepName: string; readonly unitRef: string };
      const { startedAt, endedAt } = element.status;
      if (startedAt === '') {
        if (unit !== '') later.push({ step, unit });
        continue;
      }
      const known = expected?.steps.get(step);
      const fromMs = Date.parse(startedAt);
      if (endedAt !== '') {
        this.#span(unit, batch, { step, fromMs, toMs: Date.parse(endedAt), state: 'Ended' });
        continue;
      }
      const leftMs = known ? Math.max(0, known.toS - reached) * 1000 : undefined;
      this.#span(unit, batch, { step, fromMs, toMs: this.#now, state: stands ? 'Held' : 'Running' });
      this.#span(unit, batch, {
        step,
        fromMs: this.#now,
        toMs: leftMs === undefined ? undefined : this.#now + leftMs,
        state: stands || leftMs === undefined ? 'Open' : 'Expected',
      });
      this.#take(unit, batch, leftMs === undefined ? undefined : this.#now + leftMs);
    }
    return { expected, later, elapsed, reached, asks: asksOf(elements) };
  }

  #started(batch: BatchResource, { expected, later, elapsed, reached, asks }: Work): PlannedBatch {
    const stands = STANDS.includes(batch.status.phase);
    const waitsFor: PlannedBatch['waitsFor'][number][] = [];
    let endMs = expected && this.#now + Math.max(0, expected.seconds - reached) * 1000;
    for (const { step, unit } of later) {
      const known = expected?.steps.get(step);
      const taken = this.#takenByAnother(unit, batch);
      const wantedMs = known && this.#now + Math.max(0, known.fromS - reached) * 1000;
      if (taken && (taken.atMs === undefined || wantedMs === undefined || taken.atMs > wantedMs)) waitsFor.push(waitOf(unit, taken));
      const fromMs = wantedMs === undefined || (taken && taken.atMs === undefined) ? undefined : Math.max(wantedMs, taken?.atMs ?? 0);
      const toMs = known && fromMs !== undefined ? fromMs + (known.toS - known.fromS) * 1000 : undefined;
      if (fromMs !== undefined) this.#span(unit, batch, { step, fromMs, toMs, state: stands ? 'Open' : 'Planned', waits: waitsFor.some((each) => each.unit === unit) });
      this.#take(unit, batch, toMs);
      endMs = endMs === undefined || toMs === undefined ? undefined : Math.max(endMs, toMs);
    }
    return {
      ...named(batch),
      startsAt: batch.status.startedAt,
      // while it stands nobody knows when it goes on
      endsAt: stands || endMs === undefined ? '' : timestamp(endMs),
      remainingSeconds: endMs === undefined ? null : Math.round((endMs - this.#now) / 1000),
      asks,
      elapsedSeconds: Math.round(elapsed),
      expectedSeconds: expected ? Math.round(expected.seconds) : null,
      runs: expected?.runs ?? 0,
      waitsFor,
    };
  }

  #waiting(batch: BatchResource): PlannedBatch {
    const { spec } = batch;
    const needs = this.#needsOf(batch);
    const expected = needs && expectationOf(this.#store, this.#site, spec.masterRecipeRef, needs.version);
    const chosen: { readonly step: string; readonly unit: string }[] = [];
    const waitsFor: PlannedBatch['waitsFor'][number][] = [];
    let startMs: number | undefined = needs ? Math.max(this.#now, Date.parse(spec.scheduledStartTime) || 0) : undefined;
    for (const { step, units } of needs?.steps ?? []) {
      const own = new Set(chosen.map((each) => each.unit));
      const unit = [...units].sort((a, b) => Number(own.has(a)) - Number(own.has(b)) || this.#freeMs(a) - this.#freeMs(b))[0];
      if (unit === undefined) continue;
      chosen.push({ step, unit });
      const taken = this.#taken.get(unit);
      if (!taken || (taken.atMs !== undefined && taken.atMs <= this.#now)) continue;
      const wantedMs = startMs === undefined ? undefined : startMs + (expected?.steps.get(step)?.fromS ?? 0) * 1000;
      if (taken.atMs === undefined || wantedMs === undefined) startMs = undefined;
      else if (taken.atMs > wantedMs) startMs = (startMs ?? 0) + (taken.atMs - wantedMs);
      else continue;
      if (!waitsFor.some((each) => each.unit === unit)) waitsFor.push(waitOf(unit, taken));
    }
    for (const { step, unit } of chosen) {
      const known = expected?.steps.get(step);
      const fromMs = startMs === undefined || !known ? undefined : startMs + known.fromS * 1000;
      const toMs = startMs === undefined || !known ? undefined : startMs + known.toS * 1000;
      if (fromMs !== undefined) this.#span(unit, batch, { step, fromMs, toMs, state: 'Planned', waits: waitsFor.some((each) => each.unit === unit) });
      this.#take(unit, batch, toMs);
    }
    const endMs = startMs === undefined || !expected ? undefined : startMs + expected.seconds * 1000;
    return {
      ...named(batch),
      startsAt: startMs === undefined ? '' : timestamp(startMs),
      endsAt: endMs === undefined ? '' : timestamp(endMs),
      remainingSeconds: null,
      asks: false,
      elapsedSeconds: 0,
      expectedSeconds: expected ? Math.round(expected.seconds) : null,
      runs: expected?.runs ?? 0,
      waitsFor,
    };
  }

  /** Of what a pending batch asks for; undefined where its recipe is gone. */
  #needsOf({ spec }: BatchResource): Needs | undefined {
    const key = JSON.stringify([spec.masterRecipeRef, spec.equipment]);
    if (this.#needs.has(key)) return this.#needs.get(key);
    const needs = this.#readNeeds(spec.masterRecipeRef, spec.equipment);
    this.#needs.set(key, needs);
    return needs;
  }

  #readNeeds(recipeRef: string, equipment: Readonly<Record<string, string>>): Needs | undefined {
    const recipe = this.#store.get(MasterRecipe, this.#site, recipeRef)?.spec;
    if (!recipe) return undefined;
    const units = siteUnits(this.#store, this.#site);
    const expansion = expandRecipe(recipe.procedure.chart, templatesOf(this.#store, this.#site));
    const planned = plannedUnits(recipe, expansion, units, equipment);
    const steps = (recipe.procedure.chart.steps ?? []).flatMap(({ name: step }) => {
      const capability = capabilityOf(recipe.procedure, step);
      if (!(capability in planned)) return [];
      const unit = planned[capability] ?? '';
      const candidates = candidatesOf(neededFor(recipe, capability, expansion.phases), units).filter(({ unfit }) => unfit === '');
      return [{ step, units: unit === '' ? candidates.map((each) => each.unit) : [unit] }];
    });
    return { version: recipe.version, steps };
  }

  #freeMs(unit: string): number {
    const taken = this.#taken.get(unit);
    return taken ? (taken.atMs ?? Number.MAX_SAFE_INTEGER) : this.#now;
  }

  #takenByAnother(unit: string, { metadata }: BatchResource): Taken | undefined {
    const taken = this.#taken.get(unit);
    return taken && taken.batch !== metadata.name ? taken : undefined;
  }

  #take(unit: string, { metadata, spec }: BatchResource, atMs: number | undefined): void {
    const before = this.#taken.get(unit);
    if (before && before.atMs === undefined) return;
    this.#taken.set(unit, { batch: metadata.name, batchID: spec.batchID, atMs: atMs === undefined ? undefined : Math.max(atMs, before?.atMs ?? 0) });
  }

  #span(unit: string, batch: BatchResource, { step, fromMs, toMs, state, waits = false }: Span): void {
    if (toMs !== undefined && toMs <= fromMs) return;
    const spans = this.#spans.get(unit) ?? [];
    spans.push({ batch: batch.metadata.name, batchID: batch.spec.batchID, step, from: timestamp(fromMs), to: toMs === undefined ? '' : timestamp(toMs), state, waits });
    this.#spans.set(unit, spans);
  }
}

/** Of a batch that is at work. */
interface Work {
  readonly expected: Expectation | undefined;
  readonly later: readonly { readonly step: string; readonly unit: string }[];
  readonly elapsed: number;
  /** Where that is in the run that is expected. */
  readonly reached: number;
  /** People are still to be asked. */
  readonly asks: boolean;
}

interface Span {
  readonly step: string;
  readonly fromMs: number;
  readonly toMs: number | undefined;
  readonly state: PlannedSpan['state'];
  readonly waits?: boolean;
}

function named({ metadata, spec, status }: BatchResource) {
  return { batch: metadata.name, batchID: spec.batchID, recipe: spec.masterRecipeRef, state: status.phase, priority: spec.priority };
}

function waitOf(unit: string, { batch, batchID, atMs }: Taken) {
  return { unit, batch, batchID, until: atMs === undefined ? '' : timestamp(atMs) };
}

/** As the allocation queue does: larger priority first, then the older one, of those of one moment by name. */
function byUrgency(a: BatchResource, b: BatchResource): number {
  const place = ({ metadata: { createdAt, name } }: BatchResource): string => `${createdAt} ${name}`;
  return b.spec.priority - a.spec.priority || (place(a) < place(b) ? -1 : 1);
}
