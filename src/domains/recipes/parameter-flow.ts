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
  /** False where there are templates missing, or it was not followed to its end: what takes the rest is not known. */
  readonly isWhole: boolean;
  /** What was looked at, in the measure of `WORK_MAX`. */
  readonly work: number;
}

/** As deep as levels are; documents that say otherwise end here. */
const LEVELS_MAX = 8;
/**
 * Steps, bindings, and values that are held against a parameter, of one document with all that its templates hold. A template is used by many
 * steps, and each formula gives each of them a value: a short document is followed for minutes. What is larger is looked at so far.
 */
export const WORK_MAX = 50_000;
/** Characters of conditions that cost as much as a step. */
const TEXT_OF_STEP = 100;
/** Nobody is told more; readers show fewer. */
const NOTES_MAX = 1000;
/** Of all notes: one names its choices, which may be long. */
const NOTES_CHARS_MAX = 500_000;

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
  return { notes: walk.told(path), taken: walk.taken, isWhole: walk.isWhole, work: walk.work };
}

class FlowWalk {
  readonly taken = new Set<string>();
  isWhole = true;
  work = 0;
  readonly #notes: SpecNote[] = [];
  #noteChars = 0;
  /** The step at which it was given up; '' before the first. */
  #endedAt: string | undefined;
  readonly #templates: FlowTemplates;
  readonly #tellsAll: boolean;
  /** The parameter at the top that another one has its value from. */
  readonly #origins = new Map<Given, string>();
  readonly #stepsOf = new Map<ProceduralChart, StepsByName>();
  /** Of the conditions of a chart, in lower case. */
  readonly #wordsOf = new Map<ProceduralChart, ReadonlySet<string>>();

  constructor(given: readonly Given[], templates: FlowTemplates, tellsAll: boolean) {
    this.#templates = templates;
    this.#tellsAll = tellsAll;
    for (const each of given) this.#origins.set(each, each.name.toLowerCase());
  }

  /** That it was not followed to its end comes first: of what comes after it nothing is told. */
  told(path: string): readonly SpecNote[] {
    if (this.#endedAt === undefined) return this.#notes;
    const until = this.#endedAt === '' ? 'its values are not followed' : `its values are followed as far as step ${this.#endedAt} and no further`;
    return [{ path, text: `${until}: it hands on too much to look at all of it, and faults behind that step are not told` }, ...this.#notes];
  }

  chart(chart: ProceduralChart, around: Around): void {
    this.#takeWords(chart, around);
    for (const step of chart.steps ?? []) {
      if (this.#endedAt !== undefined) return;
      if (around.level >= LEVELS_MAX) {
        this.isWhole = false;
        return;
      }
      this.#step(step, chart, around);
    }
  }

  /** Whether there is still room for it; without room the walk ends. */
  #spend(work: number, steps: string): boolean {
    if (this.#endedAt !== undefined) return false;
    if (this.work + work <= WORK_MAX) {
      this.work += work;
      return true;
    }
    this.#end(steps);
    return false;
  }

  #end(steps: string): void {
    this.#endedAt ??= steps;
    this.isWhole = false;
  }

  /** Parameters that conditions name. The text is read once, however many steps stand for the chart. */
  #takeWords(chart: ProceduralChart, { given, steps }: Around): void {
    const { transitions = [] } = chart;
    let words = this.#wordsOf.get(chart);
    if (!words) {
      const chars = transitions.reduce((sum, { conditionST = '' }) => sum + conditionST.length, 0);
      if (!this.#spend(Math.ceil(chars / TEXT_OF_STEP), steps)) return;
      words = wordsIn(transitions);
      this.#wordsOf.set(chart, words);
    }
    const isFewWords = words.size < given.size;
    if (!this.#spend(isFewWords ? words.size : given.size, steps)) return;
    if (isFewWords) for (const word of words) this.#take(given.get(word));
    else for (const [name, each] of given) if (words.has(name)) this.#take(each);
  }

  #step(step: ProceduralStep, chart: ProceduralChart, around: Around): void {
    const { name, templateKind, templateRef = '', subChart, parameterBindings = [] } = step;
    const at: Around = {
      ...around,
      path: around.isTemplate ? around.path : `${around.path}.steps[${name}]`,
      steps: around.steps === '' ? name : `${around.steps}/${name}`,
      level: around.level + 1,
    };
    if (!this.#spend(1 + parameterBindings.length, at.steps)) return;
    if (subChart) {
      // what is around a chart is written anew for a step that binds
      if (parameterBindings.length > 0 && !this.#spend(around.given.size, at.steps)) return;
      this.chart(subChart, { ...at, path: around.isTemplate ? around.path : `${at.path}.subChart`, given: this.#passedOn(parameterBindings, around) });
      return;
    }
    const template = templateKind && templateRef !== '' ? this.#templates(templateKind, templateRef) : undefined;
    if (!template) {
      this.isWhole = false;
      return;
    }
    const bindings = new Map(parameterBindings.map((binding, index): readonly [string, IndexedBinding] => [binding.name.toLowerCase(), { ...binding, index }]));
    if (!this.#spend(template.parameters.length, at.steps)) return;
    const given = template.parameters.map((formal) => this.#bound(formal, bindings.get(formal.name.toLowerCase()), chart, around, at));
    if (template.chart) this.chart(template.chart, { ...at, isTemplate: true, given: byName(given) });
  }

  /** An element without template has the parameters around it, and those that its step binds (decisions 2.2). */
  #passedOn(bindings: readonly ParameterBinding[], { given, isTemplate }: Around): ReadonlyMap<string, Given> {
    if (bindings.length === 0) return given;
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
    if (this.#endedAt !== undefined) return { name, sources: [] };
    const isOwn = !around.isTemplate;
    const what = `parameter ${name} of step ${at.steps}`;
    const only = (source: Omit<Source, 'unit' | 'what'>): Given => ({ name, sources: [{ unit, what, ...source }] });
    const place = bound === undefined || around.isTemplate ? at.path : `${at.path}.parameterBindings[${bound.index}]`;
    const from = bound?.from ?? '';
    if (from.includes('.')) {
      const output = outputOf(from, this.#namesOf(chart), this.#templates);
      if (output) this.#compareUnits({ what: `output ${from}`, unit: output.unit, isOwn: false }, formal, at.steps, place, isOwn);
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
      if (!this.#spend(1, at.steps)) return { name, sources: [] };
      this.#compareUnits(source, formal, at.steps, place, isOwn);
      if (source.value !== undefined && (isOwn || source.isOwn || this.#tellsAll)) this.#compareValue(formal, source.value, source.what, at.steps, place);
    }
    return this.#from(outer, { name, sources: outer.sources.map((source) => ({ ...source, unit: unit || source.unit })) });
  }

  #namesOf(chart: ProceduralChart): StepsByName {
    // paid for by the steps
    const known = this.#stepsOf.get(chart) ?? stepsByName(chart);
    this.#stepsOf.set(chart, known);
    return known;
  }

  #compareUnits(source: Omit<Source, 'value'>, formal: ParameterSpec, steps: string, path: string, isOwn: boolean): void {
    if (!(isOwn || source.isOwn || this.#tellsAll) || !areOtherUnits(source.unit, formal.unit)) return;
    const takes = `parameter ${formal.name} of step ${steps}`;
    this.#tell(steps, { path, text: `${source.what} is in ${source.unit} and goes to ${takes}, which is in ${formal.unit}: nothing converts it, the number is taken as it is` });
  }

  #compareValue(formal: ParameterSpec, value: string, what: string, steps: string, path: string): void {
    // each may be held against every choice
    if (value === '' || !this.#spend(formal.choices.length, steps)) return;
    const fault = valueFault(formal, value);
    if (fault) this.#tell(steps, { path, text: `${what} is ${value}, which step ${steps} does not take: ${fault.message}` });
  }

  #tell(steps: string, note: SpecNote): void {
    if (this.#endedAt !== undefined) return;
    this.#notes.push(note);
    this.#noteChars += note.text.length + note.path.length;
    if (this.#notes.length >= NOTES_MAX || this.#noteChars >= NOTES_CHARS_MAX) this.#end(steps);
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

function wordsIn(transitions: NonNullable<ProceduralChart['transitions']>): ReadonlySet<string> {
  return new Set(transitions.flatMap(({ conditionST = '' }) => (conditionST.match(/[A-Za-z_]\w*/g) ?? []).map((word) => word.toLowerCase())));
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

/** By list of a template: each step that stands for it asks for them by name. */
const outputsOf = new WeakMap<readonly OutputSpec[], ReadonlyMap<string, OutputSpec>>();

function outputsByName(outputs: readonly OutputSpec[]): ReadonlyMap<string, OutputSpec> {
  const known = outputsOf.get(outputs) ?? new Map(outputs.toReversed().map((each) => [each.name.toLowerCase(), each]));
  outputsOf.set(outputs, known);
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
