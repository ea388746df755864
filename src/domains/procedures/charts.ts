/**
 * Checks of structured text in charts, with what the site knows (decisions 2.8, Q-ST-03, Q-ST-08): templates by kind and
 * name, tags by module type. References may dangle; what is not there is not checked.
 */
import { blockType } from '../../../runtime/catalog.js';
import { type ChartDiagnostic, checkPhaseCharts, type PhaseEnvironment } from '../../../runtime/language/check-chart.js';
import { checkProceduralChart, type ChartLevel, type ProceduralEnvironment, type TemplateFacts } from '../../../runtime/language/check-procedural-chart.js';
import { type NameFacts, type TagTable, type TextScope, tagTable } from '../../../runtime/language/scope.js';
import type { ProceduralChart, TemplateKind } from '../../../runtime/vocabulary/chart.js';
import { Refusal } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { EffectiveTag } from '../control-modules/merge.js';
import { BARE_MODULE } from '../control-modules/rules.js';
import { modulesOf, paramDefault, resolvedModuleOf } from '../control-modules/modules.js';
import { readableTags, resolveModule } from '../control-modules/merge.js';
import { type OutputSpec, type ParameterSpec, type PhaseTemplateSpec, PhaseTemplate, OperationTemplate, UnitProcedureTemplate, ProcedureTemplate } from './kind.js';
import { Unit } from '../plant/kind.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';

export type { ChartDiagnostic } from '../../../runtime/language/check-chart.js';

/** 400 `st_invalid` with every diagnostic at once; warnings alone pass. */
export function refuseInvalid(diagnostics: readonly ChartDiagnostic[]): void {
  const first = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
  if (first) throw new Refusal('invalid', `${placeOf(first)}${first.message}`, { code: 'st_invalid', valid: false, diagnostics });
}

function placeOf({ chart, step, transition }: ChartDiagnostic): string {
  const words = [chart && chart !== 'running' ? `chart ${chart}` : '', step ? `step ${step}` : '', transition === undefined ? '' : `transition ${transition}`].filter(
    (word) => word !== '',
  );
  return words.length === 0 ? '' : `${words.join(', ')}: `;
}

export function phaseEnvironment(read: StoreReader, site: string, unit: string): PhaseEnvironment {
  const modules = unit === '' ? undefined : new Map(modulesOf(read, site, unit).map((module) => [module.metadata.name, module]));
  const bound = new Map(read.get(Unit, site, unit)?.spec.roleBindings.map(({ role, controlModule }) => [role.toLowerCase(), controlModule]));
  const ofType = new Map<string, TagTable | undefined>();
  const tagsOfModule = (name: string): TagTable | undefined => {
    const module = modules?.get(name);
    const resolved = module && resolvedModuleOf(read, module);
    return resolved && tableOf(readableTags(resolved), resolved.blocks);
  };
  return {
    tagsOfType(moduleType) {
      if (!ofType.has(moduleType)) ofType.set(moduleType, tagsOfType(read, site, moduleType));
      return ofType.get(moduleType);
    },
    tagsOfModule,
    tagsOfRole: (role) => tagsOfModule(bound.get(role.toLowerCase()) ?? ''),
  };
}

/** Tags of the one template with the module type. An instance may move its bounds, so a literal is outside only when no module of the site takes it. */
function tagsOfType(read: StoreReader, site: string, moduleType: string): TagTable | undefined {
  const templates = read.list(ControlModuleTemplate, '').filter((template) => template.spec.moduleType === moduleType);
  const [template, ...others] = templates;
  if (!template || others.length > 0) return undefined;
  const { metadata, spec } = template;
  const resolved = resolveModule({ ...BARE_MODULE, templateRef: metadata.name }, spec, paramDefault(read));
  const instances = read.list(ControlModule, site).flatMap((module) => (module.spec.templateRef === metadata.name ? (resolvedModuleOf(read, module) ?? []) : []));
  const widened = readableTags(resolved).map(({ min, max, ...tag }) => {
    const all = [{ min, max }, ...instances.map(({ tags }) => tags.find(({ name }) => name === tag.name) ?? { min, max })];
    const low = Math.min(...all.map((each) => each.min ?? -Infinity));
    const high = Math.max(...all.map((each) => each.max ?? Infinity));
    return { ...tag, ...(Number.isFinite(low) ? { min: low } : {}), ...(Number.isFinite(high) ? { max: high } : {}) };
  });
  return tableOf(widened, resolved.blocks);
}

function tableOf(tags: readonly EffectiveTag[], blocks: readonly { readonly name: string; readonly type: string }[]): TagTable {
  return tagTable(
    tags.map((tag) => {
      const isState = tag.role === 'state';
      const words = tag.stateWords.length > 0 ? tag.stateWords : blockType(blocks.find((block) => block.name === tag.blockRef)?.type ?? '')?.stateWords;
      return {
        name: tag.name,
        type: tag.type,
        writable: tag.accessLevel === 'readwrite',
        ...(tag.min === undefined ? {} : { engMin: tag.min }),
        ...(tag.max === undefined ? {} : { engMax: tag.max }),
        ...(isState ? { isState } : {}),
        ...(isState && words ? { stateWords: words } : {}),
      };
    }),
  );
}

export function checkPhase(spec: PhaseTemplateSpec, read: StoreReader, site: string, unit: string): ChartDiagnostic[] {
  return checkPhaseCharts(spec, phaseEnvironment(read, site, unit));
}

/** What a step may bind to, by template. */
function templateFacts(read: StoreReader, site: string): ProceduralEnvironment['template'] {
  return (kind: TemplateKind, name: string): TemplateFacts | undefined => {
    if (kind === 'PhaseTemplate') {
      const phase = read.get(PhaseTemplate, site, name)?.spec;
      return phase && { parameters: phase.parameters, outputs: phase.outputs, roles: phase.roles.map((role) => role.name) };
    }
    if (kind === 'ProcedureTemplate') {
      const procedure = read.get(ProcedureTemplate, site, name)?.spec;
      return procedure && { parameters: procedure.parameters, outputs: [] };
    }
    const sequence = read.get(kind === 'OperationTemplate' ? OperationTemplate : UnitProcedureTemplate, site, name)?.spec;
    return sequence && { parameters: sequence.parameters, outputs: sequence.outputs };
  };
}

export function checkSequence(
  chart: ProceduralChart,
  level: ChartLevel,
  formals: { readonly parameters: readonly Pick<ParameterSpec, 'name' | 'type'>[]; readonly outputs?: readonly OutputSpec[] },
  read: StoreReader,
  site: string,
): ChartDiagnostic[] {
  return checkProceduralChart(chart, level, { parameters: formals.parameters, outputs: formals.outputs ?? [], template: templateFacts(read, site) });
}

/** A recipe's parameters are the names of its formulas; they are texts, so their type is open. */
export function checkRecipeChart(
  chart: ProceduralChart,
  formulas: readonly { readonly parameters: readonly { readonly name: string }[] }[],
  read: StoreReader,
  site: string,
): ChartDiagnostic[] {
  const names = new Map(formulas.flatMap((formula) => formula.parameters.map((parameter) => [parameter.name.toLowerCase(), parameter.name])));
  return checkProceduralChart(chart, 'Recipe', { parameters: [...names.values()].map((name) => ({ name, type: 'ANY' })), template: templateFacts(read, site) });
}

/** Knows every name, of open type. */
class EveryName extends Map<string, NameFacts> {
  override get(key: string): NameFacts {
    return { name: key, type: 'ANY', kind: 'variable' };
  }

  override has(_key: string): boolean {
    return true;
  }
}

/** Scope of a text that stands alone: its names may be declared elsewhere, its addresses may exist. */
export function looseScope(): TextScope {
  return { names: new EveryName(), member: () => 'ANY', tag: () => ({ found: 'unresolved' }), timeout: true };
}
