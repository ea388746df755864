/**
 * A recipe walked down to its phases (decisions 2.2): one leaf per phase step, with the capability it runs on. Pure.
 *
 * Used for bindings, preflight and validation; the batch engine builds its elements from the same walk.
 */
import type { ProceduralChart, ProceduralStep, StepLevel, TemplateKind } from '../../../runtime/vocabulary/chart.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { type PhaseTemplateSpec, PhaseTemplate } from '../procedures/kind.js';
import { STEPS_MAX, TOO_LARGE } from './expansion-limit.js';
import { templateNamed } from './used-templates.js';

/** Templates by kind and name, as the store has them or as a control recipe froze them. */
export interface Templates {
  phase(name: string): PhaseTemplateSpec | undefined;
  chart(kind: Exclude<TemplateKind, 'PhaseTemplate'>, name: string): ProceduralChart | undefined;
}

export function templatesOf(read: StoreReader, site: string): Templates {
  return {
    phase: (name) => read.get(PhaseTemplate, site, name)?.spec,
    chart: (kind, name) => (templateNamed(read, site, kind, name) as Resource<{ chart?: ProceduralChart }> | undefined)?.spec.chart,
  };
}

export interface PhaseLeaf {
  /** Step path, for example `makeResin/charge/monomer`. */
  readonly path: string;
  /** The unit-procedure step it belongs to; its capability chooses the unit. */
  readonly unitProcedure: string;
  readonly capability: string;
  readonly phaseTemplate: string;
  /** Undefined when the template is missing. */
  readonly template: PhaseTemplateSpec | undefined;
  readonly roleMap: Readonly<Record<string, string>>;
}

export interface Expansion {
  readonly phases: readonly PhaseLeaf[];
  /** Capabilities that the chart names, in order of first appearance. */
  readonly capabilities: readonly string[];
  /** What does not resolve, one sentence each. */
  readonly notes: readonly string[];
  /** False of a recipe with more steps than a batch is made of (`STEPS_MAX`): the rest is not there. */
  readonly isWhole: boolean;
}

/** The level of the steps inside a step. */
export const LOWER: Readonly<Record<StepLevel, StepLevel | null>> = { UnitProcedure: 'Operation', Operation: 'Phase', Phase: null };

/** Walks `chart`, whose steps are of the level UnitProcedure (or one step naming a ProcedureTemplate). */
export function expandRecipe(chart: ProceduralChart, templates: Templates): Expansion {
  const phases: PhaseLeaf[] = [];
  const capabilities: string[] = [];
  const notes: string[] = [];
  const known = new Set<string>();
  let walked = 0;
  const { chart: root, note } = procedureOf(chart, templates);
  if (note) notes.push(note);
  for (const step of root.steps ?? []) {
    if (walked > STEPS_MAX) break;
    const capability = step.targetCapability || step.name;
    if (!known.has(capability)) capabilities.push(capability);
    known.add(capability);
    walk(step, 'UnitProcedure', step.name, { unitProcedure: step.name, capability });
  }
  if ((root.steps ?? []).length === 0) notes.push('the procedure has no steps');
  const isWhole = walked <= STEPS_MAX;
  if (!isWhole) notes.unshift(TOO_LARGE);
  return { phases, capabilities, notes, isWhole };

  function walk(step: ProceduralStep, level: StepLevel, path: string, of: { readonly unitProcedure: string; readonly capability: string }): void {
    walked += 1;
    if (walked > STEPS_MAX) return;
    if (level === 'Phase') {
      const name = step.templateRef ?? '';
      const template = templates.phase(name);
      if (!template) notes.push(`step ${path} names phase template ${name || '(none)'}, which does not exist`);
      phases.push({ path, ...of, phaseTemplate: name, template, roleMap: step.roleMap ?? {} });
      return;
    }
    const below = LOWER[level];
    const inner = step.subChart ?? chartOf(step, path);
    if (below === null) return;
    for (const child of inner?.steps ?? []) {
      if (walked > STEPS_MAX) return;
      walk(child, below, `${path}/${child.name}`, of);
    }
  }

  function chartOf(step: ProceduralStep, path: string): ProceduralChart | undefined {
    const kind = step.templateKind;
    if (kind === undefined || kind === 'PhaseTemplate' || !step.templateRef) {
      notes.push(`step ${path} names no template and has no chart of its own`);
      return undefined;
    }
    const found = templates.chart(kind, step.templateRef);
    if (!found) notes.push(`step ${path} names ${kind} ${step.templateRef}, which does not exist`);
    return found;
  }
}

/** A recipe that is one step with a ProcedureTemplate uses the chart of that template in its place (decisions 2.2). */
export function procedureOf(chart: ProceduralChart, templates: Templates): { readonly chart: ProceduralChart; readonly step?: ProceduralStep; readonly note?: string } {
  const [only, ...more] = chart.steps ?? [];
  if (only?.templateKind !== 'ProcedureTemplate' || more.length > 0) return { chart };
  const inner = templates.chart('ProcedureTemplate', only.templateRef ?? '');
  return inner ? { chart: inner, step: only } : { chart: {}, step: only, note: `step ${only.name} names ProcedureTemplate ${only.templateRef ?? ''}, which does not exist` };
}
