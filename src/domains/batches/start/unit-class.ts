/**
 * The units of a class as they stand now (D-C-12): which of them could be taken, in the order of the policy of the recipe, and why the
 * others could not. What a unit must be and have is judged by `recipes/candidates.ts`; here by who has it and by its runtime.
 */
import { type Told, told } from '../../../../runtime/vocabulary/told.js';
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import { onePerStore } from '../../../platform/store/one-per-store.js';
import type { Store, StoreEvent } from '../../../platform/store/store.js';
import { ControlModule, ControlModuleTemplate } from '../../control-modules/kind.js';
import { Unit, type UnitStatus, type UnitUsage, unitMode } from '../../plant/kind.js';
import { isAvailable } from '../../plant/unit-owner.js';
import type { PhaseTemplateSpec } from '../../procedures/kind.js';
import { type Candidate, candidatesOf, type Needed, neededFor, policyOf } from '../../recipes/candidates.js';
import { expandRecipe, type Templates } from '../../recipes/expand.js';
import { type CandidatePolicy, ControlRecipe, type ControlRecipeSpec } from '../../recipes/kind.js';
import { siteUnits } from '../../recipes/site-units.js';
import type { Allocation, UnitChoice } from '../kind.js';
import { withheldBy, type UnitFacts } from './equipment-conditions.js';
import { unavailableBecause } from './holder.js';

/** @property candidates in the order of the policy `listed`, with those that do not fit */
export interface UnitClass {
  readonly capability: string;
  readonly policy: CandidatePolicy;
  readonly candidates: readonly Candidate[];
}

export const CandidateNow = v.strictObject({
  unit: v.string(),
  /** It has what the recipe asks for. */
  fits: v.boolean(),
  /** It could be taken now. */
  available: v.boolean(),
  /** Batch or ad-hoc root that has it; '' when it is free. */
  holder: v.string(),
  /** Why it is not taken; '' when it could be. */
  reason: v.string(),
});
export type CandidateNow = ToldBy<typeof CandidateNow>;

nameSchemas({ UnitCandidate: CandidateNow });

export function classOf(needed: Needed, units: ReturnType<typeof siteUnits>): UnitClass {
  return { capability: needed.capability, policy: policyOf(needed.requirement), candidates: candidatesOf(needed, units) };
}

// ---------------------------------------------------------------- now

type StatusOf = (unit: string) => UnitStatus | undefined;

/**
 * In the order in which they are tried; those that do not fit come last. `own`: units that serve another capability of the batch, so that
 * two of its unit procedures do not drive one; `statusOf`: as the look that asks sees them.
 */
export function candidatesNow(
  facts: UnitFacts,
  site: string,
  { policy, candidates }: UnitClass,
  own: readonly string[] = [],
  statusOf: StatusOf = stored(facts, site),
): CandidateNow[] {
  const fitting = candidates.filter(({ unfit }) => unfit === '').map(({ unit }) => unit);
  return [
    ...inOrder(policy, fitting, (unit) => statusOf(unit)?.usage).map((unit) => {
      const reason = notNow(facts, site, unit, statusOf(unit)) || (own.includes(unit) ? `unit ${unit} serves another capability of the batch` : '');
      return { unit, fits: true, available: reason === '', holder: statusOf(unit)?.allocatedTo ?? '', reason };
    }),
    ...candidates.filter(({ unfit }) => unfit !== '').map(({ unit, unfit }) => ({ unit, fits: false, available: false, holder: statusOf(unit)?.allocatedTo ?? '', reason: unfit })),
  ];
}

function stored({ store }: UnitFacts, site: string): StatusOf {
  return (unit) => store.get(Unit, site, unit)?.status;
}

/** Of two that are alike the first by name; `listed` as they stand. */
export function inOrder(policy: CandidatePolicy, units: readonly string[], usageOf: (unit: string) => UnitUsage | undefined): string[] {
  if (policy === 'listed') return [...units];
  const rank = (unit: string): number => (policy === 'least-used' ? usageOf(unit)?.count : usageOf(unit)?.lastUsedVersion) ?? 0;
  return [...units].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Why work of a batch cannot begin on the unit at this moment; '' when it can. */
export function notNow(facts: UnitFacts, site: string, name: string, status: UnitStatus | undefined): string {
  const unit = facts.store.get(Unit, site, name);
  if (!unit || !status) return `unit ${name} does not exist`;
  if (!isAvailable(status)) return unavailableBecause(facts.store, site, name, status);
  if (!facts.runtimes.link(site, name)?.ready) return `the runtime of ${name} is not ready`;
  if (unitMode(unit.spec) === 'Manual') return `unit ${name} is in Manual`;
  return withheldBy(facts, site, name)?.message ?? '';
}

/** As it is kept with the allocation, for the record. */
export function choiceOf({ policy }: UnitClass, unit: string, candidates: readonly CandidateNow[]): UnitChoice {
  const passedOver = candidates.filter(({ available }) => !available).map(({ unit: other, reason }) => ({ unit: other, reason }));
  return { policy, candidates: candidates.filter(({ fits, unit: other }) => fits || other === unit).map(({ unit: other }) => other), passedOver };
}

export function choiceText(capability: string, { policy, candidates, passedOver }: UnitChoice): string {
  const others = passedOver.length === 0 ? '' : `; not taken: ${passedOver.map(({ unit, reason }) => `${unit} (${reason})`).join(', ')}`;
  return `capability ${capability}: of ${candidates.join(', ')} by ${policy}${others}`;
}

export function choiceTold(capability: string, { policy, candidates }: UnitChoice): Told {
  return told('unit-chosen', { capability, units: candidates.join(', '), policy });
}

export function waitingText(capability: string, candidates: readonly Pick<CandidateNow, 'reason'>[]): string {
  if (candidates.length === 0) return `no unit has capability ${capability}`;
  const reasons = candidates.flatMap(({ reason }) => (reason === '' ? [] : [reason]));
  return `a unit of class ${capability}${reasons.length === 0 ? '' : `: ${reasons.join('; ')}`}`;
}

/**
 * A unit for each of the needs, no unit twice, so that as many as possible are served (augmenting paths); each gets the first of its units
 * where that is possible. `units` of a need are in the order in which they are tried.
 */
export function distributed(needs: readonly { readonly capability: string; readonly units: readonly string[] }[]): ReadonlyMap<string, string> {
  const servedBy = new Map<string, number>();
  const serve = (at: number, tried: Set<string>): boolean => {
    for (const unit of needs[at]?.units ?? []) {
      if (tried.has(unit)) continue;
      tried.add(unit);
      const other = servedBy.get(unit);
      if (other !== undefined && !serve(other, tried)) continue;
      servedBy.set(unit, at);
      return true;
    }
    return false;
  };
  needs.forEach((_need, at) => serve(at, new Set()));
  return new Map([...servedBy].map(([unit, at]) => [needs[at]?.capability ?? '', unit]));
}

// ---------------------------------------------------------------- of a batch that has started

/** Units that a batch has or will have; of a class it takes none of them. */
export function ownUnits(allocations: readonly Allocation[]): string[] {
  return allocations.flatMap(({ unit, state }) => (unit === '' || state === 'Released' ? [] : [unit]));
}

interface Known {
  readonly recipe: ControlRecipeSpec['recipe'];
  readonly unitClass: UnitClass;
}

/** Which units fit changes with the plant only, and is asked for with every look at whoever waits. */
const KNOWN_MAX = 1000;

class StartedClasses {
  readonly #store: Store;
  readonly #known = new Map<string, Known>();

  constructor(store: Store) {
    this.#store = store;
    const forget = (): void => this.#known.clear();
    const forgetOfSpec = ({ type, resource, before }: StoreEvent): void => {
      if (type === 'remove' || before?.spec !== resource.spec) forget();
    };
    for (const kind of [Unit, ControlModule, ControlModuleTemplate]) store.watch(kind, forgetOfSpec);
    store.watchReload(forget);
  }

  of(site: string, controlRecipe: string, capability: string): UnitClass | undefined {
    const recipe = this.#store.get(ControlRecipe, site, controlRecipe)?.spec.recipe;
    if (!recipe) return undefined;
    const key = `${site}/${controlRecipe}/${capability}`;
    const known = this.#known.get(key);
    if (known?.recipe === recipe) return known.unitClass;
    const unitClass = classOf(neededBy(recipe, capability), siteUnits(this.#store, site));
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(key, { recipe, unitClass });
    return unitClass;
  }
}

const startedClasses = onePerStore((store) => new StartedClasses(store));

/** As its control recipe froze what is asked for, of the units that there are now; undefined where the control recipe is lost. */
export function startedClass(store: Store, site: string, controlRecipe: string, capability: string): UnitClass | undefined {
  return startedClasses(store).of(site, controlRecipe, capability);
}

export function neededBy(recipe: ControlRecipeSpec['recipe'], capability: string): Needed {
  return neededFor(recipe, capability, expandRecipe(recipe.chart, frozenTemplates(recipe)).phases);
}

function frozenTemplates({ templates }: ControlRecipeSpec['recipe']): Templates {
  const spec = (kind: string, name: string): unknown => templates.find((template) => template.kind === kind && template.name === name)?.spec;
  return {
    phase: (name) => spec('PhaseTemplate', name) as PhaseTemplateSpec | undefined,
    chart: (kind, name) => (spec(kind, name) as { readonly chart?: ReturnType<Templates['chart']> } | undefined)?.chart,
  };
}
