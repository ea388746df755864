/** Which probe serves a module: one per controller, one for the network modules without, and of each a further one for a protocol that has its own thread. */
import { hasOwnThread } from '../../../runtime/catalog.js';
import { SHARED_PROBE } from '../placement/local-probes.js';
import type { IOModuleSpec } from './kind.js';

export function probeOf({ controllerRef, protocol }: Pick<IOModuleSpec, 'controllerRef' | 'protocol'>): string {
  const probe = controllerRef || SHARED_PROBE;
  return hasOwnThread(protocol) ? `${probe}-${protocol}` : probe;
}
