/**
 * What would keep a batch from starting, and who can lift it (contract 3, Recipes and records; decisions Q-RECIPE-28): one
 * row per blocker, or one row that says the check is passed. Nothing is changed.
 */
import { Refusal } from '../../../platform/base/refusal.js';
import type { Tier } from '../../../platform/http/caller.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import type { Resource } from '../../../platform/store/resource.js';
import { kindNamed } from '../../../platform/store/named-kind.js';
import type { AlarmDefinition } from '../../alarms/kind.js';
import { faultTagsOf, isInFault } from '../../control-modules/device-faults.js';
import { ControlModule } from '../../control-modules/kind.js';
import { missingPatterns, strayEndpoints } from '../../coordination/patterns.js';
import { Unit, unitMode } from '../../plant/kind.js';
import { NO_CELL } from '../../plant/rules.js';
import { isAvailable, unavailableText } from '../../plant/unit-owner.js';
import { type BindingRow, bindRecipe } from '../../recipes/bindings.js';
import { recipeMismatch } from '../../recipes/evidence.js';
import { expandRecipe, templatesOf } from '../../recipes/expand.js';
import { type Formula, MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus } from '../../recipes/kind.js';
import { changeWords, releasedView, templateChanges } from '../../recipes/released.js';
import { LIFECYCLE } from '../../recipes/rules.js';
import { siteUnits } from '../../recipes/site-units.js';
import { type BatchSpec } from '../kind.js';
import { unfitRecipeValues } from '../creation/unfit-values.js';
import { batchParameters, checkQuantity, checkUnitOfQuantity, chosenFormula, sameIdentifier } from '../creation/parameters.js';
import { takenBy } from '../creation/creation.js';
import { noUnitText, permissiveOf, resolveEquipment, type StartFacts } from './start.js';
import type { ParameterValue } from '../../procedures/kind.js';

const ALARM_DEFINITION = kindNamed<typeof AlarmDefinition>('AlarmDefinition');

/** Of a Restart (restart-check.ts). */
export const RESTART_CHECKS = ['command', 'modes', 'devices', 'runtime-ready'] as const;

/** Of a Start. */
export const PREFLIGHT_CHECKS = [
  'recipe-effective',
  'batch-id',
  'formula-limits',
  'batch-size',
  'equipment',
  'bindings',
  'devices',
  'charts',
  'runtime-ready',
  'storage',
  'coordination',
] as const;

/** The least tier that may do it, and what there is to do; `holder` has the unit and gives it back by ending. */
export interface LiftedBy {
  readonly tier: Tier;
  readonly action: string;
  readonly holder?: string;
}

export interface PreflightCheck {
  readonly check: (typeof PREFLIGHT_CHECKS | typeof RESTART_CHECKS)[number];
  readonly ok: boolean;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** Unit, step or parameter that it is about. */
  readonly element: string;
  /** Absent when the check is passed. */
  readonly liftedBy?: LiftedBy;
}

/** `severity` error where it is silent. */
export interface Blocker {
  readonly message: string;
  readonly element?: string;
  readonly liftedBy: LiftedBy;
  readonly severity?: 'warning';
}

export interface Preflight {
  readonly ok: boolean;
  readonly checks: readonly PreflightCheck[];
  readonly parameters: readonly ParameterValue[];
  readonly allocations: readonly { readonly capability: string; readonly unit: string; readonly available: boolean; readonly holder: string }[];
  readonly bindings: { readonly violations: number };
}

/** @param batch the one that exists, or the name that one would get */
export function preflight(facts: StartFacts, site: string, batch: Looked, spec: BatchSpec): Preflight {
  const recipe = facts.store.get(MasterRecipe, site, spec.masterRecipeRef);
  if (!recipe) {
    const liftedBy: LiftedBy = { tier: 'engineer', action: `create recipe ${spec.masterRecipeRef}, or name another one` };
    const checks = rows('recipe-effective', [{ message: `recipe ${spec.masterRecipeRef} does not exist`, liftedBy }]);
    return { ok: false, checks, parameters: [], allocations: [], bindings: { violations: 0 } };
  }
  return new Look(facts, site, batch, spec, recipe).result();
}

export function rows(check: PreflightCheck['check'], blockers: readonly Blocker[]): PreflightCheck[] {
  if (blockers.length === 0) return [{ check, ok: true, severity: 'error', message: '', element: '' }];
  return blockers.map(({ message, element, liftedBy, severity }) => ({ check, ok: false, severity: severity ?? 'error', message, element: element ?? '', liftedBy }));
}

interface Looked {
  readonly name: string;
  readonly uid?: string;
}

class Look {
  readonly #facts: StartFacts;
  readonly #site: string;
  readonly #name: string;
  /** Undefined for a batch that does not exist yet: then whatever has its name or ID is in its way. */
  readonly #uid: string | undefined;
  readonly #batch: BatchSpec;
  readonly #recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>;
  readonly #allocation: Readonly<Record<string, string>>;
  /** With the templates that were released with the recipe. */
  readonly #view: StoreReader;

  constructor(facts: StartFacts, site: string, { name, uid }: Looked, batch: BatchSpec, recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>) {
    this.#facts = facts;
    this.#site = site;
    this.#name = name;
    this.#uid = uid;
    this.#batch = batch;
    this.#recipe = recipe;
    this.#view = releasedView(facts.store, recipe);
    this.#allocation = resolveEquipment(this.#view, site, recipe.spec, batch.equipment);
  }

  result(): Preflight {
    const { store } = this.#facts;
    const matrix = bindRecipe(this.#recipe.spec, templatesOf(this.#view, this.#site), siteUnits(store, this.#site), this.#allocation);
    const limits = this.#limits();
    const checks = [
      ...rows('recipe-effective', this.#recipeEffective()),
      ...rows('batch-id', this.#batchId()),
      ...rows('formula-limits', limits),
      ...rows(
        'batch-size',
        [() => checkQuantity(this.#recipe.spec, this.#batch.quantity), () => checkUnitOfQuantity(this.#recipe.spec, this.#batch.engineeringUnit)].flatMap((check) =>
          refused(check, { tier: 'operate', action: 'give a quantity within the batch size of the recipe' }),
        ),
      ),
      ...rows('equipment', this.#equipment()),
      ...rows(
        'bindings',
        matrix.rows.flatMap(({ issue, step, role, unit, message = '' }) =>
          issue
            ? [
                {
                  message,
                  element: `${step}.${role}`,
                  liftedBy: { tier: 'engineer' as const, action: unit ? `bind role ${role} in unit ${unit}` : `name a unit for step ${step}` },
                },
              ]
            : [],
        ),
      ),
      ...rows('devices', this.#devices(matrix.rows)),
      ...rows('charts', this.#charts()),
      ...rows('runtime-ready', this.#runtimes()),
      ...rows(
        'storage',
        this.#facts.storageLow() ? [{ message: 'the storage of the appliance is nearly full', liftedBy: { tier: 'admin', action: 'free space on the appliance' } }] : [],
      ),
      ...rows('coordination', this.#coordination()),
    ];
    return {
      ok: checks.every(({ ok, severity }) => ok || severity === 'warning'),
      checks,
      parameters: limits.length === 0 ? batchParameters(this.#recipe.spec, this.#batch) : [],
      allocations: Object.entries(this.#allocation).map(([capability, unit]) => {
        const status = store.get(Unit, this.#site, unit)?.status;
        return { capability, unit, available: isAvailable(status), holder: status?.allocatedTo ?? '' };
      }),
      bindings: { violations: matrix.violations },
    };
  }

  /** In development a recipe runs from any phase but Rejected and Withdrawn (D-RECIPE-03); production will not take it. */
  #recipeEffective(): Blocker[] {
    const { name } = this.#recipe.metadata;
    const { phase } = this.#recipe.status;
    const mismatch = recipeMismatch(this.#facts.store, this.#recipe);
    if (mismatch !== undefined)
      return [{ message: mismatch, liftedBy: { tier: 'supervise', action: `revert recipe ${name} to a revision that is whole, then approve, release and activate it` } }];
    if (phase === 'Effective') return [];
    const ended = phase === 'Rejected' || phase === 'Withdrawn';
    const steps = LIFECYCLE.slice(LIFECYCLE.findIndex(({ from, by }) => from === phase && by !== 'reject'))
      .filter(({ by }) => by !== 'reject' && by !== 'withdraw')
      .map(({ by }) => by);
    const action = ended ? `revert recipe ${name} to a Draft, then approve, release and activate it` : `${steps.join(', ')} recipe ${name}`;
    const usable = !this.#facts.production && !ended;
    return [{ message: `recipe is ${phase}`, liftedBy: { tier: 'supervise', action }, ...(usable ? { severity: 'warning' } : {}) }];
  }

  #batchId(): Blocker[] {
    const other = takenBy(this.#facts.store, this.#site, { uid: this.#uid, name: this.#name, batchID: this.#batch.batchID });
    return other ? [{ message: other.message, element: other.batch ?? other.batchRecord ?? '', liftedBy: { tier: 'operate', action: 'choose another batchID' } }] : [];
  }

  /** Of the formula, then of the elements: a value that the formula does not allow reaches none. */
  #limits(): Blocker[] {
    const ofFormula = this.#formulaLimits();
    return ofFormula.length > 0 ? ofFormula : this.#elementLimits();
  }

  #elementLimits(): Blocker[] {
    return unfitRecipeValues(this.#view, this.#site, this.#recipe.spec, batchParameters(this.#recipe.spec, this.#batch)).map(({ at, message, value: { source } }) => {
      const liftedBy: LiftedBy =
        source === 'default' ? { tier: 'engineer', action: 'edit the formula or the bindings of the recipe' } : { tier: 'operate', action: 'give values that the phases allow' };
      return { message, element: at, liftedBy };
    });
  }

  /** Each parameter by itself, so that every one that is wrong is named. */
  #formulaLimits(): Blocker[] {
    const liftedBy: LiftedBy = { tier: 'operate', action: 'give values that the formula allows' };
    const formula = chosenFormula(this.#recipe.spec, this.#batch.formulaName);
    const judge = (parameters: Formula['parameters'], name: string): Blocker[] => {
      const formulas = formula ? [{ ...formula, parameters }] : [];
      const overrides = this.#batch.parameters.filter((override) => sameIdentifier(override.name, name));
      return refused(() => batchParameters({ ...this.#recipe.spec, formulas }, { ...this.#batch, parameters: overrides }), liftedBy).map((blocker) => ({
        ...blocker,
        element: name,
      }));
    };
    if (!formula) return judge([], '');
    const unknown = this.#batch.parameters.filter(({ name }) => !formula.parameters.some((parameter) => sameIdentifier(parameter.name, name)));
    return [...formula.parameters.flatMap((parameter) => judge([parameter], parameter.name)), ...unknown.flatMap(({ name }) => judge([], name))];
  }

  #equipment(): Blocker[] {
    const blockers: Blocker[] = Object.entries(this.#allocation).flatMap(([capability, unit]) => this.#unitBlockers(capability, unit));
    if (this.#batch.mode === 'Manual')
      blockers.push({ message: 'the batch is in Manual', element: this.#name, liftedBy: { tier: 'operate', action: 'give the batch another mode' } });
    return blockers;
  }

  #unitBlockers(capability: string, name: string): Blocker[] {
    if (name === '') {
      return [
        {
          message: noUnitText(this.#facts.store, this.#site, capability),
          element: capability,
          liftedBy: { tier: 'operate', action: `name a unit for ${capability} in equipment` },
        },
      ];
    }
    const unit = this.#facts.store.get(Unit, this.#site, name);
    if (!unit) return [{ message: `unit ${name} does not exist`, element: name, liftedBy: { tier: 'engineer', action: `create unit ${name}` } }];
    // on demand a batch starts without its units and waits for each in turn
    const later = this.#recipe.spec.allocation === 'OnDemand' ? { severity: 'warning' as const } : {};
    const found: Blocker[] = [];
    if (!isAvailable(unit.status)) {
      const { allocatedTo: holder } = unit.status;
      const action = holder === '' ? `bring unit ${name} to rest` : `wait for ${holder}, or end it with Stop or Abort`;
      found.push({ message: unavailableText(name, unit.status), element: name, liftedBy: { tier: 'operate', action, ...(holder === '' ? {} : { holder }) }, ...later });
    }
    const missing = permissiveOf(this.#facts, this.#site, name);
    if (missing) found.push({ message: missing.message, element: name, liftedBy: { tier: 'operate', action: `make ${missing.rule} of unit ${name} TRUE` }, ...later });
    if (unitMode(unit.spec) === 'Manual')
      found.push({ message: `unit ${name} is in Manual`, element: name, liftedBy: { tier: 'operate', action: `set unit ${name} to Automatic` } });
    return found;
  }

  #charts(): Blocker[] {
    const { notes } = expandRecipe(this.#recipe.spec.procedure.chart, templatesOf(this.#view, this.#site));
    const changed = templateChanges(this.#facts.store, this.#recipe).map((change): Blocker => {
      const action = `confirm the change with confirm-templates of recipe ${this.#recipe.metadata.name}, or make a new version; until then the batch runs what was released`;
      return { message: changeWords(change), element: change.name, liftedBy: { tier: 'supervise', action }, severity: 'warning' };
    });
    return [...notes.map((message): Blocker => ({ message, liftedBy: { tier: 'engineer', action: 'create the template, or edit the procedure of the recipe' } })), ...changed];
  }

  /** Devices that the phases work with: one in latched fault stops them, one whose fault is no alarm does so unheard (ADR 0029). */
  #devices(bindings: readonly BindingRow[]): Blocker[] {
    const { store, runtimes } = this.#facts;
    const watched = store.list(ALARM_DEFINITION, this.#site).filter(({ spec }) => spec.enabled && spec.sourceKind === 'ControlModule');
    const units = new Map(bindings.filter(({ boundCM, issue }) => boundCM !== '' && issue === undefined).map(({ boundCM, unit }) => [boundCM, unit]));
    return [...units].sort().flatMap(([name, unit]): Blocker[] => {
      const module = store.get(ControlModule, this.#site, name);
      const tags = module ? faultTagsOf(store, module) : [];
      const reset: LiftedBy = { tier: 'operate', action: `reset the fault of ${name}` };
      const unheard = tags.length > 0 && !watched.some(({ spec }) => spec.sourceName === name && tags.includes(spec.tagName));
      const alarm: LiftedBy = { tier: 'engineer', action: `define an alarm on ${name}.${tags[0]}, with the priority its consequence deserves` };
      return [
        ...(isInFault(runtimes.link(this.#site, unit), name, tags) ? [{ message: `${name} is in Fault`, element: name, liftedBy: reset, severity: 'warning' as const }] : []),
        ...(unheard ? [{ message: `a fault of ${name} raises no alarm`, element: name, liftedBy: alarm, severity: 'warning' as const }] : []),
      ];
    });
  }

  #runtimes(): Blocker[] {
    const units = [...new Set(Object.values(this.#allocation))].filter((name) => name !== '').sort();
    const down = units.filter((name) => !this.#facts.runtimes.link(this.#site, name)?.ready);
    return down.map((name): Blocker => {
      const isStoredOnly = this.#facts.store.get(Unit, this.#site, name)?.spec.processCellName === '';
      return isStoredOnly
        ? { message: `${name}: ${NO_CELL}`, element: name, liftedBy: { tier: 'engineer', action: `give unit ${name} a process cell` } }
        : { message: `the runtime of ${name} is not ready`, element: name, liftedBy: { tier: 'engineer', action: `restart the runtime of unit ${name}` } };
    });
  }

  #coordination(): Blocker[] {
    const { coordinationRefs, procedure } = this.#recipe.spec;
    const { store } = this.#facts;
    const gone = missingPatterns(store, this.#site, coordinationRefs).map(
      ({ kind, name }): Blocker => ({ message: `${kind} ${name} does not exist`, element: name, liftedBy: { tier: 'engineer', action: `apply ${kind} ${name}` } }),
    );
    const steps = stepPaths(expandRecipe(procedure.chart, templatesOf(this.#view, this.#site)).phases);
    const stray = coordinationRefs.flatMap((ref) =>
      strayEndpoints(store, this.#site, ref, steps).map((path): Blocker => {
        const liftedBy: LiftedBy = { tier: 'engineer', action: `name a step of the recipe in ${ref.kind} ${ref.name}` };
        return { message: `${ref.kind} ${ref.name} names step ${path}, which the recipe does not have`, element: path, liftedBy, severity: 'warning' };
      }),
    );
    return [...gone, ...stray];
  }
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
    return [{ message: fault.message, liftedBy }];
  }
}
