/** The templates that the steps of a recipe stand for, each with the digest of its content: what a revision rested on. */
import type { ProceduralChart, ProceduralStep } from '../../../runtime/vocabulary/chart.js';
import { canonicalDigest } from '../../platform/ledger/canonical-json.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { OperationTemplate, PhaseTemplate, ProcedureTemplate, UnitProcedureTemplate } from '../procedures/kind.js';
import { STEPS_MAX } from './expansion-limit.js';
import type { UsedTemplate } from './kind.js';

interface TemplateSpec {
  readonly chart?: ProceduralChart;
  readonly parameters?: readonly { readonly name: string; readonly unit: string }[];
}

const TEMPLATE_KINDS = { PhaseTemplate, OperationTemplate, UnitProcedureTemplate, ProcedureTemplate } as const;
/** Templates cannot contain themselves, as each stands one level below; this ends the walk of documents that say otherwise. */
const LEVELS_MAX = 4;

/** In the order of the steps; a template that does not exist is left out. Of a draft that is too large to be run, those of its first steps. */
export function usedTemplates(read: StoreReader, site: string, chart: ProceduralChart): UsedTemplate[] {
  const found: UsedTemplate[] = [];
  const digests = new Map<TemplateSpec, string>();
  let walked = 0;
  walk(chart, '', 0);
  return found;

  function walk({ steps = [] }: ProceduralChart, above: string, level: number): void {
    for (const step of steps) {
      const path = above === '' ? step.name : `${above}/${step.name}`;
      walked += 1;
      if (walked > STEPS_MAX) return;
      const spec = templateOf(read, site, step);
      if (spec) found.push({ path, kind: step.templateKind ?? '', name: step.templateRef ?? '', digest: digestOf(spec) });
      const inner = step.subChart ?? spec?.chart;
      // a procedure template is used in the place of the procedure: its steps have no step above them
      if (inner && level < LEVELS_MAX) walk(inner, step.templateKind === 'ProcedureTemplate' ? above : path, level + 1);
    }
  }

  /** Many steps may stand for one template. */
  function digestOf(spec: TemplateSpec): string {
    const digest = digests.get(spec) ?? canonicalDigest(spec);
    digests.set(spec, digest);
    return digest;
  }
}

/** Engineering unit of a parameter of the template that the step names. */
export function parameterUnit(read: StoreReader, site: string, step: ProceduralStep, parameter: string): string {
  return templateOf(read, site, step)?.parameters?.find(({ name }) => name.toLowerCase() === parameter.toLowerCase())?.unit ?? '';
}

function templateOf(read: StoreReader, site: string, { templateKind, templateRef }: ProceduralStep): TemplateSpec | undefined {
  return templateKind && templateRef ? (templateNamed(read, site, templateKind, templateRef)?.spec as TemplateSpec | undefined) : undefined;
}

/** The kind is a word that was stored: one that is no kind of template (D-C-02) has none. */
export function templateNamed(read: StoreReader, site: string, kind: string, name: string): Resource<Readonly<Record<string, unknown>>> | undefined {
  return Object.hasOwn(TEMPLATE_KINDS, kind) ? read.get(TEMPLATE_KINDS[kind as keyof typeof TEMPLATE_KINDS] as Kind<Readonly<Record<string, unknown>>>, site, name) : undefined;
}
