/**
 * Phases that name a control module or program by itself and not by a role (decisions 2.3): it is found on its own unit alone. A recipe that may
 * run the phase on another unit fails there (`unbound-role`).
 */
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { ControlModule } from '../control-modules/kind.js';
import { ControlProgram } from '../logic/kind.js';
import { unitOf } from '../plant/unit-of.js';
import type { PhaseTemplateSpec } from '../procedures/kind.js';
import { ownersIn } from '../procedures/unknown-addresses.js';
import { candidatesOf, neededFor, plannedUnit } from './candidates.js';
import { expandRecipe, templatesOf } from './expand.js';
import type { MasterRecipeSpec } from './kind.js';
import { siteUnits } from './site-units.js';

export function foreignModules(read: StoreReader, site: string, spec: MasterRecipeSpec): readonly SpecNote[] {
  const { phases } = expandRecipe(spec.procedure.chart, templatesOf(read, site));
  const homes = new Map<string, ReadonlyMap<string, string>>();
  const found = new Map<string, { readonly capability: string; readonly phaseTemplate: string; readonly owners: ReadonlyMap<string, string> }>();
  for (const { capability, phaseTemplate, template } of phases) {
    if (!template) continue;
    const owners = homes.get(phaseTemplate) ?? homesOf(read, site, template);
    homes.set(phaseTemplate, owners);
    if (owners.size > 0) found.set(`${capability}/${phaseTemplate}`, { capability, phaseTemplate, owners });
  }
  if (found.size === 0) return [];
  const units = siteUnits(read, site);
  return [...found.values()].flatMap(({ capability, phaseTemplate, owners }) => {
    const needed = neededFor(spec, capability, phases);
    const candidates = candidatesOf(needed, units);
    const planned = plannedUnit(needed, units, candidates);
    const taken = planned === '' ? candidates.filter(({ unfit }) => unfit === '').map(({ unit }) => unit) : [planned];
    return taken.flatMap((unit): readonly SpecNote[] =>
      [...owners].flatMap(([owner, home]) =>
        home === unit
          ? []
          : [
              {
                path: 'procedure.chart',
                text: `phase template ${phaseTemplate} names ${owner} of unit ${home}, and may run on unit ${unit} for capability ${capability}: declare a role and bind it there`,
              },
            ],
      ),
    );
  });
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
