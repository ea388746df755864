/** The member of a recipe that a sentence about one of its steps or capabilities is about. */
import type { ProceduralStep } from '../../../runtime/vocabulary/chart.js';
import type { MasterRecipeSpec } from './kind.js';

const CHART = 'procedure.chart';

/** @param path of steps, `make/warm/heat`: what a template holds stands at the step that stands for it. */
export function memberOfStep({ procedure }: MasterRecipeSpec, path: string): string {
  const [only, ...more] = procedure.chart.steps ?? [];
  // the steps of the path are those of the template
  if (only?.templateKind === 'ProcedureTemplate' && more.length === 0) return `${CHART}.steps[${only.name}]`;
  let steps: readonly ProceduralStep[] | undefined = procedure.chart.steps;
  let member = CHART;
  for (const name of path.split('/')) {
    const step: ProceduralStep | undefined = steps?.find((each) => each.name === name);
    if (!step) return member;
    member = `${member === CHART ? CHART : `${member}.subChart`}.steps[${name}]`;
    steps = step.subChart?.steps;
  }
  return member;
}

/** Of a sentence that names a capability, or a step by its path. */
export function memberOfNote(spec: MasterRecipeSpec, note: string): string {
  const [, path] = /^step (\S+) names /.exec(note) ?? [];
  if (path !== undefined) return memberOfStep(spec, path);
  const [, capability] = /\bcapability ([^\s:,]+)/.exec(note) ?? [];
  if (capability === undefined) return CHART;
  const at = spec.equipmentRequirements.findIndex((each) => each.capability === capability);
  if (at >= 0) return `equipmentRequirements[${at}]`;
  const step = spec.procedure.chart.steps?.find(({ name, targetCapability }) => (targetCapability || name) === capability);
  return step ? `${CHART}.steps[${step.name}]` : CHART;
}
