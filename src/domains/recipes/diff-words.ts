/**
 * What changed between two revisions, of one recipe or of two, in the words of the process: steps, parameters, transitions, formulas,
 * templates (decisions Q-RECIPE-08, `summary`). Pure. Whatever has no words of its own is told by its place in the document.
 */
import type { ChartTransition, ParameterBinding, ProceduralChart, ProceduralStep } from '../../../runtime/vocabulary/chart.js';
import { diff, summarise } from './revisions.js';
import { bindsDefaultUnit } from './candidates.js';
import type { EquipmentRequirement, Formula, FormulaParameter, MasterRecipeSpec, UsedTemplate } from './kind.js';

export interface RecipeContent {
  readonly spec: MasterRecipeSpec;
  /** Templates as they stood at that revision; absent when nobody wrote them down. */
  readonly templates?: readonly UsedTemplate[];
  /** Engineering unit of a parameter of the template that a step names; '' when it has none. */
  unitOf(step: ProceduralStep, parameter: string): string;
}

const TOLD_ELSEWHERE = new Set(['procedure', 'formulas', 'batchSize', 'equipmentRequirements', 'coordinationRefs', 'supersedes']);

export function recipeChanges(before: RecipeContent, after: RecipeContent): string[] {
  const from = before.spec;
  const to = after.spec;
  return [
    ...summarise(diff(rest(from), rest(to))),
    ...supersedesChanges(from, to),
    ...batchSizeChanges(from, to),
    ...listChanges(
      from.equipmentRequirements,
      to.equipmentRequirements,
      ({ capability }) => capability,
      (capability) => `capability ${capability}`,
      (capability, old, now) =>
        fieldChanges(`capability ${capability}`, inWords(old), inWords(now), {
          defaultUnit: 'default unit',
          bound: 'no other unit',
          candidates: 'candidates',
          candidatePolicy: 'candidate policy',
          volumeMin: 'least volume',
          properties: 'properties',
          description: 'description',
        }),
    ),
    ...listChanges(from.coordinationRefs, to.coordinationRefs, keyOfRef, (ref) => `coordination ${ref}`, none),
    ...listChanges(
      from.formulas,
      to.formulas,
      ({ name }) => name,
      (name) => `formula ${name}`,
      formulaChanges,
    ),
    ...new ChartWords(before, after).changes(from.procedure.chart, to.procedure.chart, ''),
    ...templateChanges(before.templates ?? [], after.templates ?? []),
  ];
}

/** Members of one requirement as texts; '' where it has none. */
function inWords(requirement: EquipmentRequirement) {
  const { defaultUnit, description, candidates = [], candidatePolicy = '', volumeMin = '', properties = [] } = requirement;
  const asked = properties.map(({ name, value = '', min = '', max = '', engineeringUnit = '' }) =>
    [name, value, min && `from ${min}`, max && `to ${max}`, engineeringUnit].filter((word) => word !== '').join(' '),
  );
  const bound = bindsDefaultUnit(requirement) ? 'yes' : '';
  return { defaultUnit, bound, candidates: candidates.join(', '), candidatePolicy, volumeMin, properties: asked.join(', '), description };
}

function rest(spec: MasterRecipeSpec): object {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !TOLD_ELSEWHERE.has(key)));
}

function keyOfRef({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind} ${name}`;
}

function none(): string[] {
  return [];
}

function supersedesChanges({ supersedes: from }: MasterRecipeSpec, { supersedes: to }: MasterRecipeSpec): string[] {
  const told = (superseded: MasterRecipeSpec['supersedes']): string => (superseded ? `version ${superseded.version} (recipe ${superseded.name})` : 'no version');
  return told(from) === told(to) ? [] : [`supersedes ${told(to)}, was ${told(from)}`];
}

function batchSizeChanges({ batchSize: from }: MasterRecipeSpec, { batchSize: to }: MasterRecipeSpec): string[] {
  const sizes = (['nominal', 'min', 'max'] as const).filter((size) => from[size] !== to[size]);
  const told = sizes.map((size) => `batch size: ${size} changes from ${from[size] || 'none'} to ${measured(to[size], to.engineeringUnit) || 'none'}`);
  return from.engineeringUnit === to.engineeringUnit ? told : [...told, `batch size: unit changes from ${from.engineeringUnit || 'none'} to ${to.engineeringUnit || 'none'}`];
}

/** `<what> <key> added`, `removed`, and what `changed` says of those that are in both. */
function listChanges<Item>(
  from: readonly Item[],
  to: readonly Item[],
  keyOf: (item: Item) => string,
  title: (key: string) => string,
  changed: (key: string, from: Item, to: Item) => string[],
): string[] {
  const old = new Map(from.map((item) => [keyOf(item), item]));
  const kept = new Set(to.map(keyOf));
  const gone = from.filter((item) => !kept.has(keyOf(item))).map((item) => `${title(keyOf(item))} removed`);
  const rest = to.flatMap((item) => {
    const before = old.get(keyOf(item));
    return before === undefined ? [`${title(keyOf(item))} added`] : changed(keyOf(item), before, item);
  });
  return [...gone, ...rest];
}

/** `<where>: <word> changes from a to b` for the named members. */
function fieldChanges<Item extends object>(where: string, from: Item, to: Item, words: Partial<Record<keyof Item & string, string>>): string[] {
  return (Object.entries(words) as [keyof Item & string, string][])
    .filter(([field]) => (from[field] ?? '') !== (to[field] ?? ''))
    .map(([field, word]) => `${where}: ${word} changes from ${shown(from[field])} to ${shown(to[field])}`);
}

function shown(value: unknown): string {
  return value === undefined || value === '' ? 'none' : String(value);
}

function measured(value: string, unit: string): string {
  return value === '' ? '' : `${value} ${unit}`.trimEnd();
}

// ------------------------------------------------------------ formulas

function formulaChanges(name: string, from: Formula, to: Formula): string[] {
  const where = `formula ${name}`;
  return [
    ...(to.default && !from.default ? [`${where} becomes the default`] : []),
    ...fieldChanges(where, from, to, { description: 'description' }),
    ...listChanges(
      from.parameters,
      to.parameters,
      (parameter) => parameter.name,
      (parameter) => `${where}: parameter ${parameter}`,
      (_name, old, now) => parameterChanges(where, old, now),
    ),
  ];
}

function parameterChanges(where: string, from: FormulaParameter, to: FormulaParameter): string[] {
  const { name, engineeringUnit: unit } = to;
  const told: string[] = [];
  const sameUnit = from.engineeringUnit === unit;
  if (from.value !== to.value || !sameUnit) told.push(`${where}: ${name} ${sameUnit ? from.value : measured(from.value, from.engineeringUnit)} → ${measured(to.value, unit)}`);
  for (const [word, low, high] of [
    ['limits', 'lowValueLimit', 'highValueLimit'],
    ['tolerance', 'lowTolerance', 'highTolerance'],
  ] as const) {
    if (from[low] !== to[low] || from[high] !== to[high]) told.push(`${where}: ${word} of ${name} ${range(from[low], from[high])} → ${measured(range(to[low], to[high]), unit)}`);
  }
  if (from.scaled !== to.scaled) told.push(`${where}: ${name} is ${to.scaled ? 'now' : 'no longer'} scaled with the quantity of the batch`);
  return [...told, ...fieldChanges(`${where}: ${name}`, from, to, { description: 'description' })];
}

function range(low: string, high: string): string {
  return `${low || 'any'} to ${high || 'any'}`;
}

// ------------------------------------------------------------ charts

class ChartWords {
  readonly #before: RecipeContent;
  readonly #after: RecipeContent;

  constructor(before: RecipeContent, after: RecipeContent) {
    this.#before = before;
    this.#after = after;
  }

  /** @param path of the element whose chart it is; '' for the procedure. */
  changes(from: ProceduralChart, to: ProceduralChart, path: string): string[] {
    const old = new Map((from.steps ?? []).map((step) => [step.name, step]));
    const steps = to.steps ?? [];
    const names = new Set(steps.map(({ name }) => name));
    const at = (name: string): string => (path === '' ? name : `${path}/${name}`);
    const removed = (from.steps ?? []).filter(({ name }) => !names.has(name)).map(({ name }) => `step ${at(name)} removed`);
    const rest = steps.flatMap((step) => {
      const before = old.get(step.name);
      return before ? this.#stepChanges(before, step, at(step.name)) : [`step ${at(step.name)} added${placeOf(step.name, to)}`];
    });
    return [...removed, ...rest, ...orderChanges(from, to, path), ...transitionChanges(from, to, path), ...divergenceChanges(from, to, path)];
  }

  #stepChanges(from: ProceduralStep, to: ProceduralStep, path: string): string[] {
    const where = `step ${path}`;
    const words = { templateRef: 'template', templateKind: 'template kind', stepLevel: 'level', targetCapability: 'capability', description: 'description' };
    const told = fieldChanges(where, from, to, words);
    if ((from.timeoutSeconds ?? 0) !== (to.timeoutSeconds ?? 0)) told.push(`${where}: time-out changes from ${from.timeoutSeconds ?? 0} to ${to.timeoutSeconds ?? 0} s`);
    if ((from.initial ?? false) !== (to.initial ?? false)) told.push(`${where} is ${to.initial ? 'now' : 'no longer'} the initial step`);
    for (const [role, mapped] of entriesOf(from.roleMap, to.roleMap)) told.push(`${where}: role ${role} is ${mapped.to || role} of the unit, was ${mapped.from || role}`);
    told.push(...this.#bindingChanges(from, to, where));
    if (from.subChart || to.subChart) {
      if (from.subChart && to.subChart) told.push(...this.changes(from.subChart, to.subChart, path));
      else told.push(`${where}: ${to.subChart ? 'has a chart of its own now' : 'has no chart of its own any more'}`);
    }
    return told;
  }

  #bindingChanges(from: ProceduralStep, to: ProceduralStep, where: string): string[] {
    const bindings = (step: ProceduralStep): Map<string, ParameterBinding> => new Map((step.parameterBindings ?? []).map((binding) => [binding.name, binding]));
    const old = bindings(from);
    const now = bindings(to);
    return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
      const a = old.get(name);
      const b = now.get(name);
      if (a && b && a.from === b.from && a.value === b.value) return [];
      const unit = this.#after.unitOf(to, name);
      if (!a) return [`${where}: parameter ${name} is set to ${source(b, unit)}`];
      if (!b) return [`${where}: parameter ${name} is not set any more, was ${source(a, this.#before.unitOf(from, name))}`];
      return [`${where}: parameter ${name} changes from ${source(a, b.value === undefined ? unit : '')} to ${source(b, unit)}`];
    });
  }
}

function source(binding: ParameterBinding | undefined, unit: string): string {
  return binding?.from ? `the value of ${binding.from}` : measured(binding?.value ?? '', unit) || 'empty text';
}

function entriesOf(from: Readonly<Record<string, string>> = {}, to: Readonly<Record<string, string>> = {}): [string, { readonly from: string; readonly to: string }][] {
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return keys.filter((key) => from[key] !== to[key]).map((key) => [key, { from: from[key] ?? '', to: to[key] ?? '' }]);
}

/** ` after charge`, by the transitions, or by the order where there are none. */
function placeOf(step: string, { steps = [], transitions = [] }: ProceduralChart): string {
  const sources = [...new Set(transitions.filter(({ to }) => to === step).map(({ from }) => from))];
  if (sources.length > 0) return ` after ${sources.join(' and ')}`;
  const before = transitions.length === 0 ? steps[steps.findIndex(({ name }) => name === step) - 1] : undefined;
  return before ? ` after ${before.name}` : ' at the beginning';
}

/** Without transitions the order of the steps is the order of their execution. */
function orderChanges(from: ProceduralChart, to: ProceduralChart, path: string): string[] {
  if ((from.transitions ?? []).length > 0 || (to.transitions ?? []).length > 0) return [];
  const order = (chart: ProceduralChart, other: ProceduralChart): string[] =>
    (chart.steps ?? []).map(({ name }) => name).filter((name) => (other.steps ?? []).some((step) => step.name === name));
  const now = order(to, from);
  return order(from, to).join() === now.join() ? [] : [`${path === '' ? 'the procedure' : `step ${path}`}: order is now ${now.join(', ')}`];
}

/** Several transitions between the same two are told apart by their number. */
function transitionChanges(from: ProceduralChart, to: ProceduralChart, path: string): string[] {
  const old = keyed(from.transitions ?? []);
  const now = keyed(to.transitions ?? []);
  const title = (key: string): string => `transition ${path === '' ? '' : `${path}: `}${key}`;
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const a = old.get(key);
    const b = now.get(key);
    if (!a) return [`${title(key)} added: condition is ${condition(b)}`];
    if (!b) return [`${title(key)} removed: condition was ${condition(a)}`];
    return condition(a) === condition(b) ? [] : [`${title(key)}: condition was ${condition(a)}, is ${condition(b)}`];
  });
}

function keyed(transitions: readonly ChartTransition[]): Map<string, ChartTransition> {
  const found = new Map<string, ChartTransition>();
  for (const transition of transitions) {
    const pair = `${transition.from}->${transition.to}`;
    let key = pair;
    for (let count = 2; found.has(key); count += 1) key = `${pair} (${count})`;
    found.set(key, transition);
  }
  return found;
}

function condition(transition: ChartTransition | undefined): string {
  return transition?.conditionST?.trim() || 'always true';
}

function divergenceChanges(from: ProceduralChart, to: ProceduralChart, path: string): string[] {
  const at = path === '' ? '' : `${path}: `;
  return listChanges(
    from.divergences ?? [],
    to.divergences ?? [],
    ({ name, type }) => `${type} ${name}`,
    (key) => `${at}${key}`,
    (key, old, now) => {
      const [were, are] = [old, now].map(({ branches }) => (branches ?? []).join(', ') || 'all steps');
      return were === are ? [] : [`${at}${key}: branches were ${were}, are ${are}`];
    },
  );
}

// ------------------------------------------------------------ templates

/** The same template, edited between the revisions: the recipe document does not show it. */
function templateChanges(from: readonly UsedTemplate[], to: readonly UsedTemplate[]): string[] {
  const old = new Map(from.map((used) => [`${used.path} ${used.kind} ${used.name}`, used.digest]));
  return to.flatMap(({ path, kind, name, digest }) => {
    const before = old.get(`${path} ${kind} ${name}`);
    return before === undefined || before === digest ? [] : [`template ${name} of step ${path} changed (digest ${before.slice(0, 12)} → ${digest.slice(0, 12)})`];
  });
}
