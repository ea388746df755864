/**
 * The bypass of a module's interlocks (contract 3, Additional routes; decisions Q-CHANGE-12, D-PROG-03): set by who holds
 * the permission, with a reason, for a limited time. It stands in the module's status; the plan of the unit carries it to
 * the worker, so a restart and a hot swap know it, and its end is a plan without it.
 */
import { blockType } from '../../../runtime/catalog.js';
import type { BlockSpec, CompositeType } from '../../../runtime/vocabulary/network.js';
import { conflict, invalid } from '../../platform/base/refusal.js';
import type { Terms } from '../../platform/base/term.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { compositesOf } from '../logic/composites.js';
import type { ControlModuleSpec, ControlModuleStatus, InterlockBypass } from './kind.js';
import { resolvedModuleOf } from './modules.js';

type Module = Resource<ControlModuleSpec, ControlModuleStatus>;

export const NO_BYPASS: InterlockBypass = { active: false, until: '', by: '', reason: '', interlocks: [] };

/** Whether a bypass is in force; one whose time is over is not, even before somebody has taken it back. */
export function inForce(bypass: InterlockBypass | undefined, terms: Terms): bypass is InterlockBypass {
  return bypass?.active === true && terms.remainingMs(bypass) > 0;
}

/** Names of the blocks a bypass acts on: INTERLOCK blocks and blocks with an ILOCK port, those inside composite blocks included. */
export function interlocksOf(module: Module, read: StoreReader): string[] {
  return bypassable(resolvedModuleOf(read, module)?.blocks ?? [], compositesOf(read), '');
}

function bypassable(blocks: readonly BlockSpec[], composites: readonly CompositeType[], inside: string): string[] {
  return blocks.flatMap(({ name, type }) => {
    const full = inside + name;
    if (type === 'INTERLOCK' || blockType(type)?.inputs.some((port) => port.name === 'ILOCK')) return [full];
    const composite = composites.find((candidate) => candidate.name === type);
    return composite ? bypassable(composite.blocks, composites, `${full}/`) : [];
  });
}

export interface BypassRequest {
  readonly by: string;
  readonly reason: string;
  readonly durationMs: number;
  /** All interlocks of the module when absent. */
  readonly interlocks: readonly string[] | undefined;
}

/** @throws Refusal 409 `bypass_active`, `no_interlock`; 400 for a block that is no interlock of the module. */
export function begin(module: Module, request: BypassRequest, read: StoreReader, terms: Terms): InterlockBypass {
  const { name } = module.metadata;
  const present = module.status.interlockBypass;
  if (inForce(present, terms))
    throw conflict('bypass_active', `the interlocks of ${name} are bypassed until ${present.until} by ${present.by}`, { until: present.until, by: present.by });
  const all = interlocksOf(module, read);
  if (all.length === 0) throw conflict('no_interlock', `control module ${name} has no interlock`, { controlModule: name });
  const { by, reason, durationMs, interlocks = all } = request;
  interlocks.forEach((block, index) => {
    if (!all.includes(block)) throw invalid('invalid_field', `interlocks[${index}]`, `${block} is no interlock of ${name}; it has ${all.join(', ')}`, { allowed: all });
  });
  return { active: true, ...terms.begin(durationMs), by, reason, interlocks };
}
