/**
 * Units that a recipe names and its site does not have. One that binds (`defaultUnitOnly`) keeps the batch from starting, which its bindings tell;
 * of any other the batch takes another unit without a word.
 */
import { listed, type Nearing } from '../../platform/base/name-words.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { Unit } from '../plant/kind.js';
import { bindsDefaultUnit } from './candidates.js';
import type { EquipmentRequirement, MasterRecipeSpec } from './kind.js';
import { siteUnits } from './site-units.js';

/** The usual unit of a capability that would be passed over because there is none of that name; '' where there is. */
export function absentDefaultUnit(read: StoreReader, site: string, requirement: EquipmentRequirement): string {
  const { defaultUnit } = requirement;
  return defaultUnit === '' || bindsDefaultUnit(requirement) || read.get(Unit, site, defaultUnit) ? '' : defaultUnit;
}

export function absentUnits(read: StoreReader, site: string, { equipmentRequirements }: Pick<MasterRecipeSpec, 'equipmentRequirements'>, nearing: Nearing): readonly SpecNote[] {
  const units = siteUnits(read, site);
  return equipmentRequirements.flatMap((requirement, at): readonly SpecNote[] => {
    const { capability, candidates = [] } = requirement;
    const able = units.withCapability(capability);
    const near = (name: string): string => nearing.words(name, able);
    const absent = absentDefaultUnit(read, site, requirement);
    const instead = (candidates.length > 0 ? candidates : able).filter((name) => read.get(Unit, site, name) !== undefined);
    const taken = instead.length === 0 ? 'and no other has the capability' : `so a batch takes ${instead.length === 1 ? '' : 'one of '}${listed(instead)} in its place`;
    return [
      ...(absent === ''
        ? []
        : [{ path: `equipmentRequirements[${at}].defaultUnit`, text: `unit ${absent}, the default unit of capability ${capability}, does not exist, ${taken}${near(absent)}` }]),
      ...candidates.flatMap((name, index): readonly SpecNote[] =>
        name === absent || read.get(Unit, site, name) !== undefined
          ? []
          : [{ path: `equipmentRequirements[${at}].candidates[${index}]`, text: `unit ${name}, a candidate for capability ${capability}, does not exist${near(name)}` }],
      ),
    ];
  });
}
