/**
 * Writes of a phase to modules that are in Manual: each of them holds the phase with `write-mode-manual` when it comes to it (decisions 3.5).
 * What is computed when it runs (an address made of text, a branch) is not foreseen.
 */
import { writtenAddresses } from '../../../../runtime/language/chart-writes.js';
import type { StoreReader } from '../../../platform/store/kind.js';
import { ControlModule } from '../../control-modules/kind.js';
import { modeOf } from '../../control-modules/modules.js';

export interface ManualWrite {
  readonly module: string;
  readonly address: string;
  readonly step: string;
}

interface WritingStep {
  readonly name: string;
  readonly actionST?: string | undefined;
}

/** Of each module the first write, in the order of the steps. @param roles control modules by role. */
export function manualWrites(read: StoreReader, site: string, roles: Readonly<Record<string, string>>, steps: readonly WritingStep[]): ManualWrite[] {
  const byRole = new Map(Object.entries(roles).map(([role, module]) => [role.toLowerCase(), module]));
  const found = new Map<string, ManualWrite>();
  for (const step of steps) {
    for (const address of writtenAddresses(step)) {
      const word = address.slice(0, Math.max(0, address.indexOf('.'))).toLowerCase();
      const module = read.get(ControlModule, site, byRole.get(word) ?? word);
      if (!module || modeOf(module) !== 'Manual' || found.has(module.metadata.name)) continue;
      found.set(module.metadata.name, { module: module.metadata.name, address, step: step.name });
    }
  }
  return [...found.values()];
}
