/** What the phases of a batch have measured and made, by step path. */
import type { Store } from '../../../platform/store/store.js';
import { elementIndex } from '../tree/element-index.js';
import type { BatchOutput } from '../kind.js';

export function batchOutputs(store: Store, site: string, batch: string): BatchOutput[] {
  return elementIndex(store)
    .phasesOf(site, batch)
    .flatMap((phase) => phase.status.outputs.map((output) => ({ element: phase.spec.stepPath, ...output })));
}
