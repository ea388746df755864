/**
 * Phases that name a control module or program by itself and not by a role (decisions 2.3): it is found on its own unit alone. A recipe that may
 * run the phase on another unit fails there (`unbound-role`).
 */
import type { ProceduralChart, ProceduralStep, StepLevel } from '../../../runtime/vocabulary/chart.js';
import { groupBy } from '../../platform/base/group-by.js';
import { listed } from '../../platform/base/name-words.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { ControlModule } from '../control-modules/kind.js';
import { ControlProgram } from '../logic/kind.js';
import { unitOf } from '../plant/unit-of.js';
import { PhaseTemplate, type PhaseTemplateSpec } from '../procedures/kind.js';
import { ownersIn } from '../procedures/unknown-addresses.js';
import { candidatesOf, neededFor, plannedUnit } from './candidates.js';
import { LOWER, type PhaseLeaf, procedureOf, type Templates, templatesOf } from './expand.js';
import type { MasterRecipeSpec } from './kind.js';
import { reachedTemplates } from './reached-templates.js';
import { siteUnits } from './site-units.js';

/** One sentence for each phase template and capability: of hundreds of units and modules nobody reads more. */
export function foreignModules(read: StoreReader, site: string, spec: MasterRecipeSpec): readonly SpecNote[] {
  const homes = new Map<string, ReadonlyMap<string, string>>();
  for (const { kind, name, spec: template } of reachedTemplates(read, site, spec.procedure.chart)) {
    const own = kind === PhaseTemplate.kind ? homesOf(read, site, template as PhaseTemplateSpec) : undefined;
    if (own && own.size > 0) homes.set(name, own);
  }
  if (homes.size === 0) return [];
  const units = siteUnits(read, site);
  return [...groupBy(distinctLeaves(spec.procedure.chart, templatesOf(read, site)), ({ capability }) => capability)].flatMap(([capability, leaves]) => {
    const named = new Map(leaves.flatMap(({ phaseTemplate }) => [[phaseTemplate, homes.get(phaseTemplate)] as const]));
    if ([...named.values()].every((owners) => owners === undefined)) return [];
    const needed = neededFor(spec, capability, leaves);
    const candidates = candidatesOf(needed, units);
    const planned = plannedUnit(needed, units, candidates);
    const taken = planned === '' ? candidates.filter(({ unfit }) => unfit === '').map(({ unit }) => unit) : [planned];
    return [...named].flatMap(([phaseTemplate, owners]): readonly SpecNote[] => {
      const said = owners && foreignWords(owners, taken);
      return said ? [{ path: 'procedure.chart', text: `phase template ${phaseTemplate} names ${said} for capability ${capability}: declare a role and bind it there` }] : [];
    });
  });
}

/** Modules and programs with their units, and the units of others where the phase may run; undefined where there are none. */
function foreignWords(owners: ReadonlyMap<string, string>, taken: readonly string[]): string | undefined {
  const [home, ...otherHomes] = new Set(owners.values());
  const units = otherHomes.length > 0 ? taken : taken.filter((unit) => unit !== home);
  if (units.length === 0) return undefined;
  const foreign = [...owners].filter(([, own]) => taken.length > 1 || own !== taken[0]).map(([owner, own]) => `${owner} of unit ${own}`);
  return `${listed(foreign)}, and may run on ${units.length === 1 ? 'unit' : 'units'} ${listed(units)}`;
}

/** Steps that are looked at: what a larger recipe says beyond them is told of no phase. */
const STEPS_MAX = 20_000;

/**
 * Phases by capability, each once that asks the same of a unit: as the recipe is expanded, but a chart that many steps of one capability stand for
 * is looked at once.
 */
function distinctLeaves(chart: ProceduralChart, templates: Templates): readonly PhaseLeaf[] {
  const found = new Map<string, PhaseLeaf>();
  const looked = new Set<string>();
  let left = STEPS_MAX;
  const walk = (step: ProceduralStep, level: StepLevel, path: string, of: Pick<PhaseLeaf, 'unitProcedure' | 'capability'>): void => {
    left -= 1;
    const below = LOWER[level];
    const { templateKind, templateRef = '', subChart, roleMap = {} } = step;
    if (below === null) {
      const key = JSON.stringify([of.capability, templateRef, roleMap]);
      if (!found.has(key)) found.set(key, { path, ...of, phaseTemplate: templateRef, template: templates.phase(templateRef), roleMap });
      return;
    }
    const key = JSON.stringify([of.capability, level, templateKind, templateRef]);
    if (!subChart && looked.has(key)) return;
    if (!subChart) looked.add(key);
    const inner = subChart ?? (templateKind && templateKind !== 'PhaseTemplate' ? templates.chart(templateKind, templateRef) : undefined);
    for (const child of inner?.steps ?? []) if (left > 0) walk(child, below, `${path}/${child.name}`, of);
  };
  for (const step of procedureOf(chart, templates).chart.steps ?? [])
    if (left > 0) walk(step, 'UnitProcedure', step.name, { unitProcedure: step.name, capability: step.targetCapability || step.name });
  return [...found.values()];
}

/** Unit of each module and program that the texts name. */
function homesOf(read: StoreReader, site: string, template: PhaseTemplateSpec): ReadonlyMap<string, string> {
  const homes = ownersIn(template).flatMap((owner): readonly (readonly [string, string])[] => {
    const module = read.get(ControlModule, site, owner);
    const program = module ? undefined : read.get(ControlProgram, site, owner);
    const home = module ? unitOf(read, site, module.spec) : program?.spec.unitRef;
    return home ? [[owner, home]] : [];
  });
  return new Map(homes);
}
