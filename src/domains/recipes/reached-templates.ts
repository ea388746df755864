/** The templates that a recipe is made of, as they are; with their digests they are told by used-templates.ts. */
import type { ProceduralChart, TemplateKind } from '../../../runtime/vocabulary/chart.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { PhaseTemplate } from '../procedures/kind.js';
import { templateNamed } from './used-templates.js';

interface Reached {
  readonly kind: TemplateKind;
  readonly name: string;
  readonly spec: unknown;
}

/** Each once, in the order of the steps. */
export function reachedTemplates(read: StoreReader, site: string, chart: ProceduralChart): readonly Reached[] {
  const found = new Map<string, Reached>();
  const charts = [chart];
  // charts that are found on the way are looked at in their turn
  for (const { steps = [] } of charts) {
    for (const { templateKind, templateRef = '', subChart } of steps) {
      if (subChart) charts.push(subChart);
      if (!templateKind || templateRef === '' || found.has(`${templateKind}/${templateRef}`)) continue;
      const template = templateNamed(read, site, templateKind, templateRef) as { readonly spec: { readonly chart?: ProceduralChart } } | undefined;
      if (!template) continue;
      found.set(`${templateKind}/${templateRef}`, { kind: templateKind, name: templateRef, spec: template.spec });
      if (templateKind !== PhaseTemplate.kind && template.spec.chart) charts.push(template.spec.chart);
    }
  }
  return [...found.values()];
}
