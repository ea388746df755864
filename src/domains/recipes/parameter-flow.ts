/**
 * What the parameters of a recipe or a template become on their way down to the phases (decisions 1.7, 2.2): a value that does not fit the
 * parameter that takes it, and a number that goes to a parameter in another engineering unit. Both are taken; the first keeps a batch from its
 * start (`formula-out-of-range`), the second is a wrong number that nobody sees.
 *
 * The walk follows `bindParameters` of the batches: a binding, else the parameter of the same name around the step, else the default. Pure.
 */
import type { ParameterBinding, ProceduralChart, ProceduralStep, TemplateKind } from '../../../runtime/vocabulary/chart.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import type { OutputSpec, ParameterSpec } from '../procedures/kind.js';
import { areOtherUnits } from '../procedures/units-of-measure.js';
import { valueFault } from '../procedures/value-fault.js';

export interface FlowTemplate {
  readonly parameters: readonly ParameterSpec[];
  readonly outputs: readonly OutputSpec[];
  /** Undefined of a phase. */
  readonly chart: ProceduralChart | undefined;
}

/** Undefined where there is no such template. */
export type FlowTemplates = (kind: TemplateKind, name: string) => FlowTemplate | undefined;

/** A parameter as it stands around a step: what it may be, one entry for each formula that gives it something else. */
export interface Given {
  readonly name: string;
  readonly sources: readonly Source[];
}

export interface Source {
  /** Undefined while it is not known, such as an output of a step; '' where nobody has given one. */
  readonly value: string | undefined;
  readonly unit: string;
  /** What it is, as the subject of a sentence: `parameter amount of formula standard`. */
  readonly what: string;
  /** It is said in the document that is looked at, and not in a template of it, which is looked at by itself. */
  readonly isOwn: boolean;
}

export interface Flow {
  readonly notes: readonly SpecNote[];
  /** Names of the parameters around the chart that something takes, in lower case. */
  readonly taken: ReadonlySet<string>;
  /** Templates that there are not: what they would take is not known. */
  readonly isWhole: boolean;
}

/** As deep as levels are; documents that say otherwise end here. */
const LEVELS_MAX = 8;
/** Steps, values and conditions of one document with all that its templates hold: what is larger is looked at so far. */
const LOOKS_MAX = 20_000;
/** Ten are told: who has as many looks no further. */
const NOTES_MAX = 500;
/** Letters of a condition that are one look. */
const LETTERS_PER_LOOK = 16;

interface Around {
  readonly given: ReadonlyMap<string, Given>;
  /** Path of the member that holds the steps; of a chart inside a template, of the step that stands for it. */
  readonly path: string;
  /** Step path for people; '' at the top. */
  readonly steps: string;
  readonly isTemplate: boolean;
  readonly level: number;
}

/**
 * @param path member that holds the chart, for example `procedure.chart`.
 * @param tells `own`: what the document with the chart says itself; `all`: also what its templates make of that.
 */
export function parameterFlow(chart: ProceduralChart, given: readonly Given[], templates: FlowTemplates, path: string, tells: 'own' | 'all' = 'own'): Flow {
  const walk = new FlowWalk(given, templates, tells === 'all');
  walk.chart(chart, { given: byName(given), path, steps: '', isTemplate: false, level: 0 });
  return { notes: walk.notes, taken: walk.taken, isWhole: walk.isWhole };
}

class FlowWalk {
  readonly notes: SpecNote[] = [];
  readonly taken = new Set<string>();
  isWhole = true;
  #looks = 0;
  readonly #templates: FlowTemplates;
  readonly #tellsAll: boolean;
  /** The parameter at the top that another one has its value from. */
  readonly #origins = new Map<Given, string>();
  readonly #stepsOf = new Map<ProceduralChart, StepsByName>();

  constructor(given: readonly Given[], templates: FlowTemplates, tellsAll: boolean) {
    this.#templates = templates;
    this.#tellsAll = tellsAll;
    for (const each of given) this.#origins.set(each, each.name.toLowerCase());
  }

  chart(chart: ProceduralChart, around: Around): void {
    const { steps = [], transitions = [] } = chart;
    for (const { conditionST = '' } of transitions) {
      if (!this.#mayLook(1 + conditionST.length / LETTERS_PER_LOOK)) return;
      for (const [word] of conditionST.matchAll(/[A-Za-z_]\w*/g)) this.#take(around.given.get(word.toLowerCase()));
    }
    for (const step of steps) {
      if (around.level >= LEVELS_MAX) this.isWhole = false;
      if (around.level >= LEVELS_MAX || !this.#mayLook(1 + (step.parameterBindings?.length ?? 0))) return;
      this.#step(step, chart, around);
    }
  }

  #mayLook(looks: number): boolean {
    this.#looks += looks;
    const isEnough = this.#looks > LOOKS_MAX || this.notes.length >= NOTES_MAX;
    if (isEnough) this.isWhole = false;
    return !isEnough;
  }

  #step(step: ProceduralStep, chart: ProceduralChart, around: Around): void {
    const { name, templateKind, templateRef = '', subChart, parameterBindings = [] } = step;
    const at: Around = {
      ...around,
      path: around.isTemplate ? around.path : `${around.path}.steps[${name}]`,
      steps: around.steps === '' ? name : `${around.steps}/${name}`,
      level: around.level + 1,
    };
    if (subChart) {
      this.chart(subChart, { ...at, path: around.isTemplate ? around.path : `${at.path}.subChart`, given: this.#passedOn(parameterBindings, around) });
      return;
    }
    const template = templateKind && templateRef !== '' ? this.#templates(templateKind, templateRef) : undefined;
    if (!template) {
      this.isWhole = false;
      return;
    }
    const bindings = new Map(parameterBindings.map((binding, index): readonly [string, IndexedBinding] => [binding.name.toLowerCase(), { ...binding, index }]));
    const given: Given[] = [];
    for (const formal of template.parameters) {
      if (!this.#mayLook(1)) return;
      given.push(this.#bound(formal, bindings.get(formal.name.toLowerCase()), chart, around, at));
    }
    if (template.chart) this.chart(template.chart, { ...at, isTemplate: true, given: byName(given) });
  }

  /** An element without template has the parameters around it, and those that its step binds (decisions 2.2). */
  #passedOn(bindings: readonly ParameterBinding[], { given, isTemplate }: Around): ReadonlyMap<string, Given> {
    if (bindings.length === 0 || !this.#mayLook(given.size / LETTERS_PER_LOOK)) return given;
    const own = bindings.map(({ name, from = '', value }): Given => {
      const outer = value === undefined && !from.includes('.') ? given.get(from.toLowerCase()) : undefined;
      if (outer) return this.#from(outer, { ...outer, name });
      return { name, sources: [{ value, unit: '', what: `parameter ${name}`, isOwn: !isTemplate }] };
    });
    return new Map([...given, ...byName(own)]);
  }

  /** The parameter of an element as its step gives it. */
  #bound(formal: ParameterSpec, bound: IndexedBinding | undefined, chart: ProceduralChart, around: Around, at: Around): Given {
    const { name, unit } = formal;
    const isOwn = !around.isTemplate;
    const what = `parameter ${name} of step ${at.steps}`;
    const only = (source: Omit<Source, 'unit' | 'what'>): Given => ({ name, sources: [{ unit, what, ...source }] });
    const place = bound === undefined || around.isTemplate ? at.path : `${at.path}.parameterBindings[${bound.index}]`;
    const from = bound?.from ?? '';
    if (from.includes('.')) {
      const output = outputOf(from, this.#namesOf(chart), this.#templates);
      if (output) this.#compareUnits({ what: `output ${from}`, unit: output.unit, isOwn: false }, formal, what, place, isOwn);
      return only({ value: undefined, isOwn: false });
    }
    if (bound?.value !== undefined) {
      if (isOwn || this.#tellsAll) this.#compareValue(formal, bound.value, `the value of parameter ${name}`, at.steps, `${place}.value`);
      return only({ value: bound.value, isOwn });
    }
    const outer = around.given.get((from || name).toLowerCase());
    if (!outer) {
      // else it is told of the template itself
      if (this.#tellsAll) this.#compareValue(formal, formal.defaultValue, `the default of parameter ${name}`, at.steps, place);
      return only({ value: formal.defaultValue, isOwn: false });
    }
    this.#take(outer);
    for (const source of outer.sources) {
      if (!this.#mayLook(1)) break;
      this.#compareUnits(source, formal, what, place, isOwn);
      if (source.value !== undefined && (isOwn || source.isOwn || this.#tellsAll)) this.#compareValue(formal, source.value, source.what, at.steps, place);
    }
    return this.#from(outer, { name, sources: outer.sources.map((source) => ({ ...source, unit: unit || source.unit })) });
  }

  #namesOf(chart: ProceduralChart): StepsByName {
    const known = this.#stepsOf.get(chart) ?? stepsByName(chart);
    this.#stepsOf.set(chart, known);
    return known;
  }

  #compareUnits(source: Omit<Source, 'value'>, formal: ParameterSpec, what: string, path: string, isOwn: boolean): void {
    if (!(isOwn || source.isOwn || this.#tellsAll) || !areOtherUnits(source.unit, formal.unit)) return;
    this.notes.push({ path, text: `${source.what} is in ${source.unit} and goes to ${what}, which is in ${formal.unit}: nothing converts it, the number is taken as it is` });
  }

  #compareValue(formal: ParameterSpec, value: string, what: string, steps: string, path: string): void {
    const fault = value === '' ? undefined : valueFault(formal, value);
    if (fault) this.notes.push({ path, text: `${what} is ${value}, which step ${steps} does not take: ${fault.message}` });
  }

  #take(given: Given | undefined): void {
    const origin = given && this.#origins.get(given);
    if (origin !== undefined) this.taken.add(origin);
  }

  #from(outer: Given, made: Given): Given {
    const origin = this.#origins.get(outer);
    if (origin !== undefined) this.#origins.set(made, origin);
    return made;
  }
}

interface IndexedBinding extends ParameterBinding {
  /** In the bindings of its step. */
  readonly index: number;
}

type StepsByName = ReadonlyMap<string, ProceduralStep>;

function stepsByName({ steps = [] }: ProceduralChart): StepsByName {
  return new Map(steps.map((step) => [step.name.toLowerCase(), step]));
}

function byName(given: readonly Given[]): ReadonlyMap<string, Given> {
  return new Map(given.map((each) => [each.name.toLowerCase(), each]));
}

/** The output that `<step>.<output>` names, as far as it is known. */
function outputOf(from: string, steps: StepsByName, templates: FlowTemplates): OutputSpec | undefined {
  const point = from.indexOf('.');
  const [name, output] = [from.slice(0, point).toLowerCase(), from.slice(point + 1).toLowerCase()];
  const step = steps.get(name);
  const template = step?.templateKind && step.templateRef ? templates(step.templateKind, step.templateRef) : undefined;
  return template && outputsByName(template.outputs).get(output);
}

const outputsIn = new WeakMap<readonly OutputSpec[], ReadonlyMap<string, OutputSpec>>();

/** In lower case; kept with the outputs, because each binding asks. */
function outputsByName(outputs: readonly OutputSpec[]): ReadonlyMap<string, OutputSpec> {
  const known = outputsIn.get(outputs) ?? new Map(outputs.map((output) => [output.name.toLowerCase(), output]));
  outputsIn.set(outputs, known);
  return known;
}

/** Of an operation or unit procedure: outputs that are those of a step in another unit. */
export function outputUnits(outputs: readonly OutputSpec[], chart: ProceduralChart, templates: FlowTemplates): readonly SpecNote[] {
  const steps = stepsByName(chart);
  return outputs.flatMap(({ name, unit, from = '' }, at): readonly SpecNote[] => {
    const source = from === '' ? undefined : outputOf(from, steps, templates);
    if (!source || !areOtherUnits(source.unit, unit)) return [];
    return [
      {
        path: `outputs[${at}].from`,
        text: `output ${from} is in ${source.unit} and becomes output ${name}, which is in ${unit}: nothing converts it, the number is taken as it is`,
      },
    ];
  });
}
