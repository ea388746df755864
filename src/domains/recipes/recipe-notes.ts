/**
 * What a recipe, and what it is made of, says that will hurt when it runs, though it is taken: told by validate, by apply and its dry run, where
 * a recipe is read, and where it is signed. Nothing of it is refused at a write (decisions Q-ERR-13, D-RECIPE-02; a value outside its limits is
 * refused where a batch is made, D-RECIPE-04).
 */
import { isDeepStrictEqual } from 'node:util';
import type { ProceduralChart } from '../../../runtime/vocabulary/chart.js';
import { firstTold, listed, Nearing } from '../../platform/base/name-words.js';
import { isNumberText } from '../../platform/store/fields.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { type OperationTemplateSpec, PhaseTemplate, type PhaseTemplateSpec, type ProcedureTemplateSpec } from '../procedures/kind.js';
import { otherTagUnits } from '../procedures/tag-units.js';
import { unknownAddresses } from '../procedures/unknown-addresses.js';
import { batchSizeNotes } from './batch-size-notes.js';
import { procedureOf, templatesOf } from './expand.js';
import { foreignModules } from './foreign-modules.js';
import type { Formula, MasterRecipeSpec, MasterRecipeStatus } from './kind.js';
import { type Flow, type FlowTemplates, type Given, outputUnits, parameterFlow, type Source } from './parameter-flow.js';
import { reachedTemplates } from './reached-templates.js';
import { releasedView } from './released.js';
import { unknownSignals, unnamedSignals } from './signal-notes.js';
import { absentUnits } from './unit-notes.js';
import { templateNamed } from './used-templates.js';

/** In the body of a recipe. */
const TOLD_MAX = 50;
/** Of templates: who has as many is not looked through to the end. */
const NOTES_MAX = 500;

function flowTemplatesOf(read: StoreReader, site: string): FlowTemplates {
  return (kind, name) => {
    const spec = templateNamed(read, site, kind, name)?.spec as Partial<OperationTemplateSpec & PhaseTemplateSpec> | undefined;
    return spec && { parameters: spec.parameters ?? [], outputs: spec.outputs ?? [], chart: kind === PhaseTemplate.kind ? undefined : (spec.chart ?? {}) };
  };
}

// ---------------------------------------------------------------- a recipe by itself

/** What the recipe says itself; its templates are told of by themselves. */
export function recipeNotes(read: StoreReader, site: string, spec: MasterRecipeSpec, tells: 'own' | 'all' = 'own', near = new Nearing()): readonly SpecNote[] {
  return distinct([
    ...sizeNotes(spec),
    ...batchSizeNotes(spec),
    ...absentUnits(read, site, spec, near),
    ...capabilityNotes(read, site, spec, near),
    ...spec.formulas.flatMap(limitNotes),
    ...flowNotes(spec, flowTemplatesOf(read, site), tells),
    ...unknownSignals(read, site, spec.procedure.chart, 'procedure.chart', near),
    ...unnamedSignals(read, site, spec),
    ...foreignModules(read, site, spec),
  ]);
}

/** A batch that names no quantity has the nominal one. */
function sizeNotes({ batchSize: { nominal, min, max, engineeringUnit } }: MasterRecipeSpec): readonly SpecNote[] {
  const isOutside = nominal !== '' && ((min !== '' && Number(nominal) < Number(min)) || (max !== '' && Number(nominal) > Number(max)));
  if (!isOutside) return [];
  return [{ path: 'batchSize.nominal', text: `the nominal batch size ${nominal} is outside ${min || 'any'} to ${max || 'any'} ${engineeringUnit}`.trimEnd() }];
}

function limitNotes({ name: formula, parameters }: Formula, at: number): readonly SpecNote[] {
  return parameters.flatMap(({ name, value, lowValueLimit: low, highValueLimit: high, engineeringUnit }, index): readonly SpecNote[] => {
    if (!isNumberText(value) || value === '') return [];
    const isOutside = (low !== '' && Number(value) < Number(low)) || (high !== '' && Number(value) > Number(high));
    if (!isOutside) return [];
    const limits = `${low || 'any'} to ${high || 'any'} ${engineeringUnit}`.trimEnd();
    return [
      {
        path: `formulas[${at}].parameters[${index}].value`,
        text: `${name} ${value} of formula ${formula} is outside its own limits, ${limits}: a batch can only be made with another value`,
      },
    ];
  });
}

/** What is asked of equipment that no step asks for, and the other way round where the recipe lists its equipment. */
function capabilityNotes(read: StoreReader, site: string, { equipmentRequirements, procedure }: MasterRecipeSpec, near: Nearing): readonly SpecNote[] {
  const { chart, note } = procedureOf(procedure.chart, templatesOf(read, site));
  const { steps = [] } = chart;
  if (note !== undefined || steps.length === 0 || equipmentRequirements.length === 0) return [];
  const asked = [...new Set(steps.map(({ name, targetCapability }) => targetCapability || name))];
  const required = equipmentRequirements.map(({ capability }) => capability);
  const isAsked = new Set(asked);
  const isRequired = new Set(required);
  const unused = equipmentRequirements.flatMap(({ capability }, at): readonly SpecNote[] =>
    isAsked.has(capability)
      ? []
      : [
          {
            path: `equipmentRequirements[${at}].capability`,
            text: `no step of the procedure asks for capability ${capability}, so what is said of it has no effect; steps ask for ${listed(asked)}${near.words(capability, asked)}`,
          },
        ],
  );
  const isOwnChart = chart === procedure.chart;
  const unlisted = steps.flatMap(({ name, targetCapability }): readonly SpecNote[] => {
    const capability = targetCapability || name;
    if (isRequired.has(capability)) return [];
    const path = isOwnChart ? `procedure.chart.steps[${name}]${targetCapability ? '.targetCapability' : ''}` : 'procedure.chart';
    return [
      {
        path,
        text: `step ${name} asks for capability ${capability}, which equipmentRequirements does not list: any unit of the site that has it is taken; listed are ${listed(required)}${near.words(capability, required)}`,
      },
    ];
  });
  return [...unused, ...unlisted];
}

/** A batch takes one of the formulas: what each gives is followed. */
function flowNotes({ formulas, procedure: { chart } }: MasterRecipeSpec, templates: FlowTemplates, tells: 'own' | 'all'): readonly SpecNote[] {
  const flow = parameterFlow(chart, givenBy(formulas), templates, 'procedure.chart', tells);
  return [...flow.notes, ...formulas.flatMap((formula, at) => untaken(formula, at, chart, flow))];
}

/** One source for what several formulas give alike. */
function givenBy(formulas: readonly Formula[]): readonly Given[] {
  const given = new Map<string, { readonly name: string; readonly sources: Map<string, Source> }>();
  for (const { name: formula, parameters } of formulas) {
    for (const { name, value, engineeringUnit: unit } of parameters) {
      const known = given.get(name.toLowerCase()) ?? { name, sources: new Map<string, Source>() };
      given.set(name.toLowerCase(), known);
      const key = JSON.stringify([value, unit]);
      if (!known.sources.has(key)) known.sources.set(key, { value, unit, what: `${name} of formula ${formula}`, isOwn: true });
    }
  }
  return [...given.values()].map(({ name, sources }) => ({ name, sources: [...sources.values()] }));
}

/** A name that is misspelt leaves the parameter that was meant at its default. */
function untaken({ name: formula, parameters }: Formula, at: number, { steps = [] }: ProceduralChart, flow: Flow): readonly SpecNote[] {
  if (!flow.isWhole || steps.length === 0) return [];
  return parameters.flatMap(({ name }, index): readonly SpecNote[] =>
    flow.taken.has(name.toLowerCase())
      ? []
      : [{ path: `formulas[${at}].parameters[${index}].name`, text: `no step takes parameter ${name} of formula ${formula}: bind a parameter of a step to it, or leave it out` }],
  );
}

// ---------------------------------------------------------------- the templates

/** What the template of an operation, unit procedure or procedure hands on to its steps. */
function sequenceSiteNotes(read: StoreReader, site: string, { parameters, ...spec }: SequenceSpec, near: Nearing): readonly SpecNote[] {
  const given = parameters.map(({ name, defaultValue, unit }): Given => ({ name, sources: [{ value: defaultValue, unit, what: `parameter ${name}`, isOwn: true }] }));
  return distinct([...parameterFlow(spec.chart, given, flowTemplatesOf(read, site), 'chart').notes, ...innerNotes(read, site, spec, near)]);
}

type SequenceSpec = OperationTemplateSpec | ProcedureTemplateSpec;
/** A procedure has no outputs. */
type SequenceInside = Pick<ProcedureTemplateSpec, 'chart'> & Partial<Pick<OperationTemplateSpec, 'outputs'>>;

/** What it says by itself, whatever values come to it. */
function innerNotes(read: StoreReader, site: string, { chart, outputs = [] }: SequenceInside, near: Nearing): readonly SpecNote[] {
  return [...outputUnits(outputs, chart, flowTemplatesOf(read, site)), ...unknownSignals(read, site, chart, 'chart', near)];
}

function phaseSiteNotes(read: StoreReader, site: string, spec: PhaseTemplateSpec, near: Nearing): readonly SpecNote[] {
  return [...unknownAddresses(read, site, spec, near), ...otherTagUnits(read, site, spec)];
}

/** What a template says that only its site can tell; nothing of other kinds. */
export function templateSiteNotes(read: StoreReader, site: string, kind: string, spec: unknown): readonly SpecNote[] {
  const near = new Nearing();
  return kind === PhaseTemplate.kind ? phaseSiteNotes(read, site, spec as PhaseTemplateSpec, near) : sequenceSiteNotes(read, site, spec as SequenceSpec, near);
}

/**
 * With all templates that it reaches, as they are or were released, a sentence each: for whoever signs the recipe, or reads it.
 * @param read the store with the templates that are meant.
 */
export function wholeRecipeNotes(store: StoreReader, recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>, read = releasedView(store, recipe)): readonly string[] {
  const { spec } = recipe;
  const { site } = recipe.metadata;
  const near = new Nearing();
  const ofTemplates: string[] = [];
  for (const { kind, name, spec: template } of reachedTemplates(read, site, spec.procedure.chart)) {
    if (ofTemplates.length >= NOTES_MAX) break;
    // what a sequence hands on was followed with the values of the recipe
    const notes = kind === PhaseTemplate.kind ? phaseSiteNotes(read, site, template as PhaseTemplateSpec, near) : innerNotes(read, site, template as SequenceSpec, near);
    for (const { text } of notes) ofTemplates.push(text.startsWith(`${kind} ${name} `) ? text : `${kind} ${name}: ${text}`);
  }
  return firstTold([...recipeNotes(read, site, spec, 'all', near).map(({ text }) => text), ...ofTemplates], TOLD_MAX);
}

/**
 * As its batches are made: of one that is released with the templates that were released with it. Those that are not any more what they were are
 * told of here, and every other where it is written.
 */
export function recipeNotesInUse(store: StoreReader, recipe: Resource<MasterRecipeSpec, MasterRecipeStatus>): readonly SpecNote[] {
  const read = releasedView(store, recipe);
  const { spec, metadata } = recipe;
  const { site } = metadata;
  const near = new Nearing();
  const own = recipeNotes(read, site, spec, 'own', near);
  if (read === store) return own;
  const ofTemplates = reachedTemplates(read, site, spec.procedure.chart).flatMap(({ kind, name, spec: template }) => {
    if (kind !== PhaseTemplate.kind || isDeepStrictEqual(template, templateNamed(store, site, kind, name)?.spec)) return [];
    return phaseSiteNotes(read, site, template as PhaseTemplateSpec, near).map(({ path, text }) => ({ path, text: `${kind} ${name}, as it was released: ${text}` }));
  });
  return [...own, ...ofTemplates];
}

function distinct(notes: readonly SpecNote[]): readonly SpecNote[] {
  return [...new Map(notes.map((note) => [`${note.path}: ${note.text}`, note])).values()];
}
