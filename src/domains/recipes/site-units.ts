/** The units of a site as binding sees them, read from the store; one is made for one look. */
import type { StoreReader } from '../../platform/store/kind.js';
import { modulesOf, resolvedModuleOf } from '../control-modules/modules.js';
import type { BoundModule, SiteUnits } from './bindings.js';
import { Unit } from '../plant/kind.js';

export function siteUnits(read: StoreReader, site: string): SiteUnits {
  const modules = new Map<string, readonly BoundModule[]>();
  const able = new Map<string, readonly string[]>();
  return {
    unit: (name) => read.get(Unit, site, name)?.spec,
    withCapability(capability) {
      const found = able.get(capability) ?? read.list(Unit, site).flatMap(({ metadata, spec }) => (spec.capabilities.includes(capability) ? [metadata.name] : []));
      able.set(capability, found);
      return found;
    },
    modules(unit) {
      let found = modules.get(unit);
      if (!found) {
        found = modulesOf(read, site, unit).map((module) => ({ name: module.metadata.name, moduleType: resolvedModuleOf(read, module)?.moduleType ?? '' }));
        modules.set(unit, found);
      }
      return found;
    },
  };
}
