/** What of a batch may be past while the batch itself is present: its elements and its control recipe (ADR 0037). */
import type { Ref } from '../../platform/store/resource.js';
import { Procedure } from '../procedures/kind.js';

/** By which the run of a batch is known: its procedure, which is named as the batch is. */
export function runOf({ site = '', name = '' }: { readonly site?: string; readonly name?: string }): readonly Ref[] {
  return [{ kind: Procedure.kind, site, name }];
}
