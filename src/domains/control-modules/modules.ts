/** Control modules as the store holds them: the unit of a module, the modules of a unit, and the merged view of each. */
import { blockType } from '../../../runtime/catalog.js';
import type { Mode } from '../../../runtime/vocabulary/modes.js';
import { groupBy } from '../../platform/base/group-by.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus, ControlModuleTemplate, type ControlModuleTemplateSpec } from './kind.js';
import { type ResolvedModule, resolveModule } from './merge.js';
import { FunctionBlockType } from '../logic/kind.js';
import type { StoreEvent } from '../../platform/store/store.js';
import { unitOf } from '../plant/unit-of.js';
import type { ParamDefaults } from './bounds.js';

export type ModuleResource = Resource<ControlModuleSpec, ControlModuleStatus>;

const byUnit = new WeakMap<readonly ModuleResource[], ReadonlyMap<string, readonly ModuleResource[]>>();

/** Modules of a unit, nested ones included, by name. Sorted out once per list: the store makes a new one when a module changes. */
export function modulesOf(read: StoreReader, site: string, unit: string): readonly ModuleResource[] {
  const all = read.list(ControlModule, site);
  let known = byUnit.get(all);
  if (!known) byUnit.set(all, (known = groupBy(all, (module) => unitOf(read, site, module.spec))));
  return known.get(unit) ?? [];
}

/** Default of a block parameter, so that a bound may name one that `params` leaves out. */
export function paramDefault(read: StoreReader): ParamDefaults {
  return (type, param) => {
    const builtin = blockType(type);
    if (builtin) return builtin.params.find((entry) => entry.name === param)?.default;
    return read.get(FunctionBlockType, '', type)?.spec.params.find((entry) => entry.name === param)?.defaultValue;
  };
}

interface Merged {
  readonly template: ControlModuleTemplateSpec;
  readonly types: readonly unknown[];
  readonly resolved: ResolvedModule;
  /** What of the instance no longer fits its template; '' when all does. Found when it is first asked for. */
  unfit?: string;
}

const merged = new WeakMap<ControlModuleSpec, Merged>();

/**
 * The merged view of a stored module; undefined while its template is missing. Kept with the spec it was made of for as long
 * as its template and the block types are the same: what a unit and its batch wait for asks for it with every read.
 */
export function resolvedModuleOf(read: StoreReader, { spec }: Pick<ModuleResource, 'spec'>): ResolvedModule | undefined {
  return mergedOf(read, spec)?.resolved;
}

export function mergedOf(read: StoreReader, spec: ControlModuleSpec): Merged | undefined {
  const template = read.get(ControlModuleTemplate, '', spec.templateRef)?.spec;
  if (!template) return undefined;
  const types = read.list(FunctionBlockType, '');
  const known = merged.get(spec);
  if (known?.template === template && known.types === types) return known;
  const made: Merged = { template, types, resolved: resolveModule(spec, template, paramDefault(read)) };
  merged.set(spec, made);
  return made;
}

/** An unset mode reads as Automatic; the status value takes precedence over the spec value (contract 2, Equipment mode). */
export function modeOf({ spec, status }: Resource<ControlModuleSpec, ControlModuleStatus>): Mode {
  return status.mode || spec.mode || 'Automatic';
}

/** Whether a change of a module may change the plan of its unit: its configuration, or its interlock bypass. */
export function touchesPlan({ configuration, resource, before }: StoreEvent): boolean {
  const bypass = (version: StoreEvent['before']): unknown => (version?.status as { readonly interlockBypass?: unknown } | undefined)?.interlockBypass;
  return configuration || bypass(resource) !== bypass(before);
}
