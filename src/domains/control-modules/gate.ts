/**
 * The active-batch gate of control modules and their templates: their logic runs on a unit as that of a control program does, so
 * an edit passes the same gate, and an engineer lifts it once with a reason (D-C-13; ADR 0020). A module that works is not deleted.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Terms } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Put } from '../../platform/store/store.js';
import { OVERRIDE_WINDOW_MS, refuseWhileActive } from '../logic/active-work.js';
import type { ControlModule, ControlModuleSpec, ControlModuleStatus, ControlModuleTemplateSpec } from './kind.js';
import { CONTROL_MODULE, unitOf } from './rules.js';

type Module = Resource<ControlModuleSpec, ControlModuleStatus>;

/**
 * @returns the status without the override when the edit has used it up; undefined when it stays.
 * @throws Refusal 409 `active_batch`.
 */
export function passModuleGate(module: Module, after: ControlModuleSpec, read: StoreReader, terms: Terms): ControlModuleStatus | undefined {
  if (isDeepStrictEqual(behaviourOf(module.spec), behaviourOf(after))) return undefined;
  const { site } = module.metadata;
  // an edit that moves it puts its logic on the other unit
  return pass(module, new Set([unitOf(read, site, module.spec), unitOf(read, site, after)]), read, terms);
}

/** As `passModuleGate`, for every module made from the template: what an edit uses up is written with it. */
export function passTemplateGate(template: Resource<ControlModuleTemplateSpec>, after: ControlModuleTemplateSpec, read: StoreReader, terms: Terms): Put[] {
  if (isDeepStrictEqual(shownApart(template.spec), shownApart(after))) return [];
  return read.list(CONTROL_MODULE).flatMap((module): Put[] => {
    if (module.spec.templateRef !== template.metadata.name) return [];
    return usedUp(module, read, terms);
  });
}

/** What a change of something under a module uses up: of its template, of a channel it is wired to. @throws Refusal 409 `active_batch`. */
export function usedUp(module: Module, read: StoreReader, terms: Terms): Put[] {
  const { site, name } = module.metadata;
  const status = pass(module, new Set([unitOf(read, site, module.spec)]), read, terms);
  return status ? [{ kind: CONTROL_MODULE as unknown as typeof ControlModule, site, name, status } as Put] : [];
}

/** Logic that comes new to a unit. @throws Refusal 409 `active_batch`. */
export function refuseNewModule(site: string, name: string, spec: ControlModuleSpec, read: StoreReader): void {
  const wayOut = `end that work, or create ${name} without a parent, arm override-hot-swap of it with a reason, and give it its place then`;
  refuseWhileActive(site, unitOf(read, site, spec), read, wayOut);
}

export function armModule({ status }: Module, by: string, reason: string, terms: Terms): ControlModuleStatus & Required<Pick<ControlModuleStatus, 'hotSwapOverride'>> {
  return { ...status, hotSwapOverride: { ...terms.begin(OVERRIDE_WINDOW_MS), by, reason } };
}

function pass(module: Module, units: ReadonlySet<string>, read: StoreReader, terms: Terms): ControlModuleStatus | undefined {
  const { hotSwapOverride, ...status } = module.status;
  try {
    for (const unit of units)
      refuseWhileActive(module.metadata.site, unit, read, `end that work, or arm override-hot-swap of control module ${module.metadata.name} with a reason`);
    return undefined;
  } catch (refusal) {
    if (!hotSwapOverride || terms.remainingMs(hotSwapOverride) === 0) throw refusal;
    return status;
  }
}

/** The mode is set by operators through its own route, which has its own rules. */
function behaviourOf({ description: _description, symbolId: _symbol, mode: _mode, ...spec }: ControlModuleSpec): unknown {
  return spec;
}

function shownApart({ description: _description, symbolId: _symbol, ...spec }: ControlModuleTemplateSpec): unknown {
  return spec;
}
