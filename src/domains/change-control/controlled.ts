/**
 * What changes through an approval alone (`changeControl.enforce`; decisions D-CHANGE-01, ADR 0110). It is judged where everything is written, in
 * the turn of the write: whichever way a change comes, it passes only together with the change request that asked for it.
 */
import { Refusal } from '../../platform/base/refusal.js';
import type { Change } from '../../platform/store/change.js';
import type { Kind, Put } from '../../platform/store/kind.js';
import type { Ref } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ControlProgram, ownerOfProgram } from '../logic/kind.js';
import { ChangeRequest, type ChangeRequestSpec, type ChangeRequestStatus } from './kind.js';

export function changeRequired({ kind }: Pick<Kind, 'kind'>, name: string): Refusal {
  const message = `${kind} ${name} is under change control (changeControl.enforce): nothing was changed; ask for it with lineside change request, with POST /api/v1/sites/{site}/changerequests, or by apply of a ChangeRequest, and it is applied when somebody else approves it`;
  return new Refusal('forbidden', message, { code: 'change_request_required', kind, name });
}

/**
 * Judges a change before it is applied.
 * @throws Refusal 403 `change_request_required` of the first resource that no approval of the same change names.
 */
export function refuseUncontrolled(change: Change, store: Store): void {
  const wanted = [...controlledPuts(change.puts ?? []), ...controlledRemoves(change.removes ?? [], store)];
  if (wanted.length === 0) return;
  const approved = new Set((change.puts ?? []).flatMap(targetOfApproval));
  for (const { kind, name, site } of wanted) if (!approved.has(`${kind}/${site}/${name}`)) throw changeRequired({ kind }, name);
}

/** A status alone is no change of what was configured: life cycles, overrides and reconcilers write those. */
function controlledPuts(puts: readonly Put[]): readonly Ref[] {
  return puts.flatMap((put) => {
    const { kind, site, name, spec, labels, annotations } = put;
    if (!kind.controlled || (spec === undefined && labels === undefined && annotations === undefined) || isDerived(put)) return [];
    return [{ kind: kind.kind, site, name }];
  });
}

/** A program that follows from its control module is written by the reconciler alone, with its owner. */
function isDerived({ kind, ownerReferences }: Put): boolean {
  return kind.kind === ControlProgram.kind && ownerReferences !== undefined && ownerOfProgram({ ownerReferences }) !== undefined;
}

/** A row that cannot be read is none that anybody could ask to change. */
function controlledRemoves(removes: readonly Ref[], store: Store): readonly Ref[] {
  return removes.filter(({ kind, site, name }) => {
    const named = store.kindNamed(kind);
    const stored = named?.controlled ? store.get(named, site, name) : undefined;
    return stored !== undefined && !(kind === ControlProgram.kind && ownerOfProgram(stored.metadata) !== undefined);
  });
}

/** What the change of a request to Applied speaks of. */
function targetOfApproval({ kind, site, spec, status }: Put): readonly string[] {
  if (kind.kind !== ChangeRequest.kind || (status as ChangeRequestStatus | undefined)?.phase !== 'Applied') return [];
  const { target } = spec as ChangeRequestSpec;
  return [site, ''].map((of) => `${target.kind}/${of}/${target.name}`);
}
