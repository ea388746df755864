/** What keeps a batch from starting: one table, in the order in which Start refuses (decisions 3.2). */
import { told, toldAt, withTold } from '../../../../runtime/vocabulary/told.js';
import { toldOf } from '../../runs/told-refusal.js';
import { sameName } from '../../../../runtime/vocabulary/same-name.js';
import { ownOf } from '../../../platform/base/own-of.js';
import { Refusal } from '../../../platform/base/refusal.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Ref, Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { AlarmDefinition } from '../../alarms/kind.js';
import { faultTagsOf, faultText } from '../../control-modules/device-faults.js';
import { ControlModule } from '../../control-modules/kind.js';
import { danglingOf } from '../../control-modules/rules.js';
import { missingPatterns, strayEndpoints } from '../../coordination/patterns.js';
import { Unit } from '../../plant/kind.js';
import { isAvailable } from '../../plant/unit-owner.js';
import type { UnitRuntimes } from '../../placement/runtimes.js';
import { type BindingMatrix, bindRecipe, isViolation, noneFits, plannedUnits } from '../../recipes/binding-matrix.js';
import { bindsDefaultUnit, neededFor } from '../../recipes/candidates.js';
import { recipeMismatch } from '../../recipes/evidence.js';
import { type Expansion, expandRecipe, templatesOf } from '../../recipes/expand.js';
import { type Formula, MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../../recipes/kind.js';
import { changeWords, releasedView, templateChanges } from '../../recipes/released.js';
import { LIFECYCLE } from '../../recipes/rules.js';
import { siteUnits } from '../../recipes/site-units.js';
import { absentDefaultUnit } from '../../recipes/unit-notes.js';
import { takenBy } from '../creation/creation.js';
import { batchParameters, checkQuantity, checkUnitOfQuantity, chosenFormula } from '../creation/parameters.js';
import { unfitRecipeValues } from '../creation/unfit-values.js';
import type { BatchSpec, UnitChoice } from '../kind.js';
import type { Blocker, LiftedBy, StartCondition } from './conditions.js';
import { holderText, unavailableBecause, unavailableTold } from './holder.js';
import { manualWrites } from './manual-writes.js';
import { type Made, madeByStart, type NamesLook, sharedNames, takenNames } from './names.js';
import { type EquipmentLook, PERMISSIVES, RUNTIME_READY, STORAGE, type StorageLook, UNDER_LOOP_CHECK, UNITS_AUTOMATIC } from './equipment-conditions.js';
import { type CandidateNow, candidatesNow, choiceOf, classOf, distributed, type UnitClass, waitingText } from './unit-class.js';

/** What was signed does not run changed (D-C-10). */
export const EVIDENCE_RULE = 'evidence-mismatch';

export interface StartFacts {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly production: boolean;
  /** See `BatchReconcilerSettings`. */
  readonly runsUnfitValues?: boolean;
  /** Less free space than `storage.reserveBytes`. */
  storageLow(): boolean;
}

/** The batch that exists, or the name that one would get: then whatever has its name or ID is in its way. */
export interface Looked {
  readonly name: string;
  readonly uid?: string;
}

type RecipeResource = Resource<MasterRecipeSpec, MasterRecipeStatus>;

/** One batch and its recipe as they stand at one moment; what several conditions ask is found out once. */
export class StartLook implements EquipmentLook, NamesLook, StorageLook {
  readonly facts: StartFacts;
  readonly site: string;
  readonly looked: Looked;
  readonly batch: BatchSpec;
  readonly recipe: RecipeResource;
  /** With the templates that were released with the recipe. */
  readonly view: StoreReader;
  readonly expansion: Expansion;
  /** Unit per capability; '' where no unit has it, and of a class none of whose units is taken with the start. */
  readonly allocation: Readonly<Record<string, string>>;
  /** Capabilities that several units might serve (D-C-12), with these in the order in which they are tried; `allocation` has one that alone fits. */
  readonly classes: ReadonlyMap<string, { readonly unitClass: UnitClass; readonly candidates: readonly CandidateNow[] }>;
  /** What a class would take now, '' where none of its units is free: with the start, or when it is needed. */
  readonly nextOf: ReadonlyMap<string, string>;
  #matrix: BindingMatrix | undefined;
  #formulaBlockers: readonly Blocker[] | undefined;
  #made: readonly Made[] | undefined;

  constructor(facts: StartFacts, site: string, looked: Looked, batch: BatchSpec, recipe: RecipeResource) {
    this.facts = facts;
    this.site = site;
    this.looked = looked;
    this.batch = batch;
    this.recipe = recipe;
    this.view = releasedView(facts.store, recipe);
    this.expansion = expandRecipe(recipe.spec.procedure.chart, templatesOf(this.view, site));
    const units = siteUnits(this.view, site);
    const planned = plannedUnits(recipe.spec, this.expansion, units, batch.equipment);
    this.classes = new Map(
      Object.entries(planned).flatMap(([capability, unit]) => {
        const own = Object.entries(planned).flatMap(([other, serves]) => (other === capability ? [] : [serves]));
        const needed = neededFor(recipe.spec, capability, this.expansion.phases);
        if (ownOf(batch.equipment, capability) || (needed.requirement && bindsDefaultUnit(needed.requirement))) return [];
        const unitClass = classOf(needed, units);
        return unitClass.candidates.length < (unit === '' ? 1 : 2) ? [] : [[capability, { unitClass, candidates: candidatesNow(facts, site, unitClass, own) }] as const];
      }),
    );
    const free = (candidates: readonly CandidateNow[]): string[] => candidates.flatMap(({ unit, available }) => (available ? [unit] : []));
    const open = [...this.classes].filter(([capability]) => planned[capability] === '');
    this.nextOf = distributed(open.map(([capability, { candidates }]) => ({ capability, units: free(candidates) })));
    this.allocation = this.isOnDemand ? planned : { ...planned, ...Object.fromEntries(this.nextOf) };
  }

  /** How the units of classes that the start takes were chosen. */
  get choices(): Readonly<Record<string, UnitChoice>> {
    if (this.isOnDemand) return {};
    return Object.fromEntries(
      [...this.classes].flatMap(([capability, { unitClass, candidates }]) => {
        const unit = this.nextOf.get(capability);
        return unit === undefined ? [] : [[capability, choiceOf(unitClass, unit, candidates)]];
      }),
    );
  }

  get store(): Store {
    return this.facts.store;
  }

  get runtimes(): UnitRuntimes {
    return this.facts.runtimes;
  }

  get units(): readonly string[] {
    return [...new Set(Object.values(this.allocation))].filter((name) => name !== '').sort();
  }

  get isOnDemand(): boolean {
    return this.recipe.spec.allocation === 'OnDemand';
  }

  get matrix(): BindingMatrix {
    return (this.#matrix ??= bindRecipe(this.recipe.spec, templatesOf(this.view, this.site), siteUnits(this.store, this.site), this.allocation));
  }

  get formulaBlockers(): readonly Blocker[] {
    return (this.#formulaBlockers ??= formulaBlockers(this));
  }

  get made(): readonly Made[] {
    return (this.#made ??= madeByStart(this));
  }

  storageLow(): boolean {
    return this.facts.storageLow();
  }
}

/** What a start would write, by name: what is past of it is lent before a start is judged. */
export function namedByStart(facts: StartFacts, site: string, looked: Looked, batch: BatchSpec): readonly Ref[] {
  const recipe = facts.store.get(MasterRecipe, site, batch.masterRecipeRef);
  return recipe ? new StartLook(facts, site, looked, batch, recipe).made : [];
}

export function noRecipe(name: string): Blocker {
  return {
    message: `recipe ${name} does not exist`,
    told: told('no-recipe', { recipe: name }),
    liftedBy: { tier: 'engineer', action: `create recipe ${name}, or name another one` },
  };
}

// ---------------------------------------------------------------- the table

/** Of the judge of Start. */
export const START_CONDITIONS: readonly StartCondition<StartLook>[] = [
  { rule: EVIDENCE_RULE, check: 'recipe-effective', find: evidence },
  {
    rule: 'allocation-unavailable',
    check: 'equipment',
    find: (look) => Object.entries(look.allocation).flatMap(([capability, unit]) => unavailable(look, capability, unit)),
    refuse: (blockers) => ({ message: blockers.map(({ message }) => message).join('; '), ...withTold(blockers[0].told), units: blockers.flatMap(({ units = [] }) => units) }),
  },
  RUNTIME_READY,
  { rule: 'recipe-withdrawn', check: 'recipe-effective', find: lifecycle },
  { rule: 'binding-violation', check: 'bindings', find: bindings },
  { rule: 'formula-out-of-range', check: 'batch-size', find: ({ recipe, batch }) => refused(() => checkQuantity(recipe.spec, batch.quantity), WITHIN_BATCH_SIZE) },
  { rule: 'formula-out-of-range', check: 'batch-size', find: ({ recipe, batch }) => refused(() => checkUnitOfQuantity(recipe.spec, batch.engineeringUnit), WITHIN_BATCH_SIZE) },
  {
    rule: 'formula-out-of-range',
    check: 'formula-limits',
    find: (look) => look.formulaBlockers,
    refuse: (blockers, { recipe, batch }) => refused(() => batchParameters(recipe.spec, batch), WITHIN_FORMULA)[0] ?? blockers[0],
  },
  { rule: 'formula-out-of-range', check: 'formula-limits', find: elementLimits },
  {
    rule: 'chart-invalid',
    check: 'charts',
    find: ({ expansion }) => expansion.notes.map((message) => ({ message, told: told('chart-note', { message }), liftedBy: EDIT_PROCEDURE })),
  },
  { rule: 'chart-invalid', check: 'charts', find: sharedNames },
  { rule: 'chart-invalid', check: 'coordination', find: missingCoordination },
  { rule: 'name-in-use', check: 'batch-id', find: takenNames },
  PERMISSIVES,
  UNITS_AUTOMATIC,
  { rule: 'mode-manual', check: 'equipment', find: batchInManual },
  UNDER_LOOP_CHECK,
  STORAGE,
];

/** And what Start does not judge: the ID was judged when the batch was made, the others warn. */
export const PREFLIGHT_CONDITIONS: readonly StartCondition<StartLook>[] = [
  ...START_CONDITIONS,
  { rule: '', check: 'batch-id', find: batchId },
  { rule: '', check: 'equipment', find: absentDefaults },
  { rule: '', check: 'devices', find: devices },
  { rule: '', check: 'configuration', find: amiss },
  { rule: 'write-mode-manual', check: 'modes', find: manualModules },
  { rule: '', check: 'charts', find: changedTemplates },
  { rule: '', check: 'coordination', find: strayCoordination },
];

const WITHIN_BATCH_SIZE: LiftedBy = { tier: 'operate', action: 'give a quantity within the batch size of the recipe' };
const WITHIN_FORMULA: LiftedBy = { tier: 'operate', action: 'give values that the formula allows' };
const EDIT_PROCEDURE: LiftedBy = { tier: 'engineer', action: 'create the template, or edit the procedure of the recipe' };

// ---------------------------------------------------------------- recipe and batch

/** A rehearsal tries what stands there now, signed or not. */
function evidence({ facts, recipe }: StartLook): Blocker[] {
  const mismatch = facts.runsUnfitValues ? undefined : recipeMismatch(facts.store, recipe);
  if (mismatch === undefined) return [];
  const action = `revert recipe ${recipe.metadata.name} to a revision that is whole, then approve, release and activate it`;
  return [{ message: mismatch, told: told('recipe-changed', { recipe: recipe.metadata.name, fault: mismatch }), liftedBy: { tier: 'supervise', action } }];
}

/** In development a recipe runs from any phase but Rejected and Withdrawn (D-RECIPE-03); production takes what is Effective. */
function lifecycle(look: StartLook): Blocker[] {
  const { facts, recipe } = look;
  const { name } = recipe.metadata;
  const { phase } = recipe.status;
  if (phase === 'Effective' || evidence(look).length > 0) return [];
  const ended = phase === 'Rejected' || phase === 'Withdrawn';
  const steps = LIFECYCLE.slice(LIFECYCLE.findIndex(({ from, by }) => from === phase && by !== 'reject'))
    .filter(({ by }) => by !== 'reject' && by !== 'withdraw')
    .map(({ by }) => by);
  const action = ended ? `revert recipe ${name} to a Draft, then approve, release and activate it` : `${steps.join(', ')} recipe ${name}`;
  const usable = !facts.production && !ended;
  const as = told('recipe-phase', { recipe: name, phase });
  return [{ message: `recipe is ${phase}`, told: as, refusal: `recipe ${name} is ${phase}`, liftedBy: { tier: 'supervise', action }, ...(usable ? { severity: 'warning' } : {}) }];
}

function batchId({ store, site, looked, batch }: StartLook): Blocker[] {
  const other = takenBy(store, site, { uid: looked.uid, name: looked.name, batchID: batch.batchID });
  if (!other) return [];
  const { message, batch: holder, batchRecord: record = '' } = other;
  const as = holder === undefined ? told('batch-id-recorded', { batchID: batch.batchID, record }) : told('batch-id-taken', { batchID: batch.batchID, holder });
  return [{ message, told: as, element: holder ?? record, liftedBy: { tier: 'operate', action: 'choose another batchID' } }];
}

/** Each parameter by itself, so that every one that is wrong is named. */
function formulaBlockers({ recipe, batch }: StartLook): Blocker[] {
  const formula = chosenFormula(recipe.spec, batch.formulaName);
  const judge = (parameters: Formula['parameters'], name: string): Blocker[] => {
    const formulas = formula ? [{ ...formula, parameters }] : [];
    const overrides = batch.parameters.filter((override) => sameName(override.name, name));
    return refused(() => batchParameters({ ...recipe.spec, formulas }, { ...batch, parameters: overrides }), WITHIN_FORMULA).map((blocker) => ({ ...blocker, element: name }));
  };
  if (!formula) return judge([], '');
  const unknown = batch.parameters.filter(({ name }) => !formula.parameters.some((parameter) => sameName(parameter.name, name)));
  return [...formula.parameters.flatMap((parameter) => judge([parameter], parameter.name)), ...unknown.flatMap(({ name }) => judge([], name))];
}

/** Of the elements: a value that the formula does not allow reaches none. */
function elementLimits({ facts, site, view, recipe, batch, formulaBlockers: ofFormula }: StartLook): Blocker[] {
  if (facts.runsUnfitValues || ofFormula.length > 0) return [];
  return unfitRecipeValues(view, site, recipe.spec, batchParameters(recipe.spec, batch)).map(({ at, message, told: as, value: { source } }) => {
    const liftedBy: LiftedBy =
      source === 'default' ? { tier: 'engineer', action: 'edit the formula or the bindings of the recipe' } : { tier: 'operate', action: 'give values that the phases allow' };
    return { message, ...withTold(toldAt(at, as)), refusal: `${at}: ${message}`, element: at, liftedBy };
  });
}

function batchInManual({ batch, looked }: StartLook): Blocker[] {
  if (batch.mode !== 'Manual') return [];
  return [{ message: 'the batch is in Manual', told: told('batch-in-manual', {}), element: looked.name, liftedBy: { tier: 'operate', action: 'give the batch another mode' } }];
}

function changedTemplates({ store, recipe }: StartLook): Blocker[] {
  return templateChanges(store, recipe).map((change) => {
    const action = `confirm the change with confirm-templates of recipe ${recipe.metadata.name}, or make a new version; until then the batch runs what was released`;
    const { kind, name, by, at, differences } = change;
    const as = told('template-changed', { kind, name, by, at, differences: differences.join('; ') });
    return { message: changeWords(change), told: as, element: name, liftedBy: { tier: 'supervise', action }, severity: 'warning' };
  });
}

// ---------------------------------------------------------------- equipment

/** On demand a batch starts without its units and waits for each in turn; a unit that is not there is not there then either. */
function unavailable(look: StartLook, capability: string, name: string): Blocker[] {
  const { store, site, isOnDemand } = look;
  if (name === '') return classUnavailable(look, capability);
  const unit = store.get(Unit, site, name);
  if (!unit) {
    const liftedBy: LiftedBy = { tier: 'engineer', action: `create unit ${name}` };
    return [{ message: `unit ${name} does not exist`, told: told('no-unit', { unit: name }), element: name, liftedBy, units: [name] }];
  }
  if (isAvailable(unit.status)) return [];
  const { allocatedTo: holder } = unit.status;
  const action = holder === '' ? `bring unit ${name} to rest` : `wait for ${holderText(store, site, holder)}, or end it with Stop or Abort`;
  const liftedBy: LiftedBy = { tier: 'operate', action, ...(holder === '' ? {} : { holder }) };
  const as = unavailableTold(store, site, name, unit.status);
  return [{ message: unavailableBecause(store, site, name, unit.status), told: as, element: name, liftedBy, units: [name], ...(isOnDemand ? { severity: 'warning' } : {}) }];
}

/** No unit of the class is there now: with the start it is refused, on demand it is waited for. */
function classUnavailable({ store, site, classes, nextOf, isOnDemand }: StartLook, capability: string): Blocker[] {
  const found = classes.get(capability);
  if (!found)
    return [
      {
        message: `no unit for capability ${capability}`,
        told: told('no-unit-for', { capability }),
        element: capability,
        liftedBy: { tier: 'operate', action: `name a unit for ${capability} in equipment` },
      },
    ];
  const { candidates, unitClass } = found;
  if (!candidates.some(({ fits }) => fits))
    return [
      {
        message: noneFits(capability, unitClass.candidates),
        told: told('none-fits', { capability, units: unitClass.candidates.map(({ unit }) => unit).join(', ') }),
        element: capability,
        liftedBy: { tier: 'engineer', action: `give a unit what ${capability} needs, or ask for less in the recipe` },
      },
    ];
  if (nextOf.has(capability)) return [];
  const holder = candidates.find((each) => each.fits && each.holder !== '')?.holder ?? '';
  const liftedBy: LiftedBy = { tier: 'operate', action: 'wait for one of them, or end what has it with Stop or Abort', ...(holder === '' ? {} : { holder }) };
  const fitting = candidates.filter(({ fits }) => fits);
  const units = fitting.map(({ unit }) => unit);
  const taken = fitting.map(({ unit, holder: by }) => (by === '' ? unit : `${unit} (${holderText(store, site, by)})`));
  const as = told('none-free', { capability, units: taken.join(', ') });
  return [{ message: `none is free: ${waitingText(capability, candidates)}`, told: as, element: capability, liftedBy, units, ...(isOnDemand ? { severity: 'warning' } : {}) }];
}

/** A default unit that does not bind is passed over where it does not exist, and the batch takes another. */
function absentDefaults({ store, site, recipe, batch, allocation, nextOf }: StartLook): Blocker[] {
  return recipe.spec.equipmentRequirements.flatMap((requirement): Blocker[] => {
    const { capability } = requirement;
    const absent = absentDefaultUnit(store, site, requirement);
    if (absent === '' || !(capability in allocation) || (batch.equipment[capability] ?? '') !== '') return [];
    const taken = allocation[capability] || (nextOf.get(capability) ?? '');
    const message = `unit ${absent}, which the recipe names as the default unit of ${capability}, does not exist${taken === '' ? '' : `; ${taken} would be taken`}`;
    const action = `correct the defaultUnit of ${capability} in the recipe, or create unit ${absent}`;
    const as = told('default-unit-absent', { unit: absent, capability, taken });
    return [{ message, told: as, element: absent, liftedBy: { tier: 'engineer', action }, severity: 'warning' }];
  });
}

function bindings({ matrix }: StartLook): Blocker[] {
  return matrix.rows.flatMap((row): Blocker[] => {
    const { step, role, unit, message = '' } = row;
    if (!isViolation(row)) return [];
    const action = unit ? `bind role ${role} in unit ${unit}` : `name a unit for step ${step}`;
    const as = told('not-bound', { step, role, unit, issue: row.issue ?? '', message });
    return [{ message, told: as, refusal: `step ${step}, role ${role}: ${message}`, element: `${step}.${role}`, liftedBy: { tier: 'engineer', action } }];
  });
}

/** Modules that the phases work with, each with its unit. */
function boundModules({ matrix }: StartLook): readonly (readonly [name: string, unit: string])[] {
  return [
    ...new Map(matrix.rows.filter(({ boundCM, issue, passedOver }) => boundCM !== '' && issue === undefined && !passedOver).map(({ boundCM, unit }) => [boundCM, unit])),
  ].sort();
}

/** What of them leads nowhere: a phase would wait for a value that never comes, or command what no device hears. */
function amiss(look: StartLook): Blocker[] {
  return boundModules(look).flatMap(([name]): Blocker[] => {
    const module = look.store.get(ControlModule, look.site, name);
    const dangling = module ? danglingOf(look.store, module) : '';
    const liftedBy: LiftedBy = { tier: 'engineer', action: `correct the channels of control module ${name}, or what else its condition ConfigurationValid tells` };
    return dangling === ''
      ? []
      : [{ message: `${name}: ${dangling}`, told: told('leads-nowhere', { module: name, fault: dangling }), element: name, liftedBy, severity: 'warning' }];
  });
}

/** Devices that the phases work with: one in latched fault stops them, one whose fault is no alarm does so unheard (ADR 0029). */
function devices(look: StartLook): Blocker[] {
  const { store, runtimes, site } = look;
  const watched = store.list(AlarmDefinition, site).filter(({ spec }) => spec.enabled && spec.sourceKind === 'ControlModule');
  return boundModules(look).flatMap(([name, unit]): Blocker[] => {
    const module = store.get(ControlModule, site, name);
    const tags = module ? faultTagsOf(store, module) : [];
    const reset: LiftedBy = { tier: 'operate', action: `reset the fault of ${name}` };
    const fault = faultText(runtimes.link(site, unit), name, tags);
    const unheard = tags.length > 0 && !watched.some(({ spec }) => spec.sourceName === name && tags.includes(spec.tagName));
    const alarm: LiftedBy = { tier: 'engineer', action: `define an alarm on ${name}.${tags[0]}, with the priority its consequence deserves` };
    return [
      ...(fault !== '' ? [{ message: fault, told: told('device-fault', { module: name }), element: name, liftedBy: reset, severity: 'warning' as const }] : []),
      ...(unheard
        ? [{ message: `a fault of ${name} raises no alarm`, told: told('fault-unheard', { module: name }), element: name, liftedBy: alarm, severity: 'warning' as const }]
        : []),
    ];
  });
}

/** Modules that people have taken, each with the phase that comes to it first: Start is judged without them, and the write holds the phase. */
function manualModules({ store, site, expansion, matrix }: StartLook): Blocker[] {
  const found = new Map<string, Blocker>();
  for (const { path, template } of expansion.phases) {
    const rows = matrix.rows.filter((row) => row.step === path && row.boundCM !== '' && !row.passedOver);
    const roles = Object.fromEntries(rows.map(({ role, boundCM }) => [role, boundCM]));
    for (const { module, address, step } of manualWrites(store, site, roles, template?.steps ?? [])) {
      if (found.has(module)) continue;
      const liftedBy: LiftedBy = { tier: 'operate', action: `set ${module} to Automatic or Semi-Automatic` };
      const message = `${module} is in Manual, and phase ${path} writes ${address}: it is held when it comes to step ${step} (write-mode-manual)`;
      found.set(module, { message, element: module, liftedBy, severity: 'warning', told: told('manual-at-start', { module, phase: path, address, step }) });
    }
  }
  return [...found.values()];
}

// ---------------------------------------------------------------- coordination

function missingCoordination({ store, site, recipe }: StartLook): Blocker[] {
  return missingPatterns(store, site, recipe.spec.coordinationRefs).map(({ kind, name }) => ({
    message: `${kind} ${name} does not exist`,
    told: told('coordination-missing', { kind, name }),
    element: name,
    liftedBy: { tier: 'engineer', action: `apply ${kind} ${name}` },
  }));
}

function strayCoordination({ store, site, recipe, expansion }: StartLook): Blocker[] {
  const steps = stepPaths(expansion.phases);
  return recipe.spec.coordinationRefs.flatMap((ref) =>
    strayEndpoints(store, site, ref, steps).map((path): Blocker => {
      const liftedBy: LiftedBy = { tier: 'engineer', action: `name a step of the recipe in ${ref.kind} ${ref.name}` };
      const as = told('coordination-strays', { kind: ref.kind, name: ref.name, step: path });
      return { message: `${ref.kind} ${ref.name} names step ${path}, which the recipe does not have`, told: as, element: path, liftedBy, severity: 'warning' };
    }),
  );
}

/** Phases and everything above them. */
function stepPaths(phases: readonly { readonly path: string }[]): Set<string> {
  return new Set(phases.flatMap(({ path }) => path.split('/').map((_, at, steps) => steps.slice(0, at + 1).join('/'))));
}

/** What a rule of batch creation says of it; empty when it says nothing. */
function refused(test: () => unknown, liftedBy: LiftedBy): Blocker[] {
  try {
    test();
    return [];
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return [{ message: fault.message, ...withTold(toldOf(fault)), liftedBy }];
  }
}
