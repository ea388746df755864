/** What of a batch may be past: its elements with its control recipe (ADR 0037), and later the batch itself (ADR 0033). */
import type { Ref } from '../../platform/store/resource.js';
import { Procedure } from '../procedures/kind.js';
import { Batch } from './kind.js';

/** The batch itself, a run of its own (ADR 0033). */
export function batchOf({ site = '', name = '' }: { readonly site?: string; readonly name?: string }): readonly Ref[] {
  return [{ kind: Batch.kind, site, name }];
}

/** The batch and what it left behind. */
export function wholeOf(named: { readonly site?: string; readonly name?: string }): readonly Ref[] {
  return [...batchOf(named), ...runOf(named)];
}

/** By which the run of a batch is known: its procedure, which is named as the batch is. */
export function runOf({ site = '', name = '' }: { readonly site?: string; readonly name?: string }): readonly Ref[] {
  return [{ kind: Procedure.kind, site, name }];
}
