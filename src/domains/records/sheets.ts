/** Sheets of loop checks and pages of cable acceptances against what the audit trail tells of their sealing (D-C-10; ADR 0078, 0079). */
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { absence } from '../../platform/store/absent.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Store } from '../../platform/store/store.js';
import { CableAcceptance } from '../loop-checks/cable-kind.js';
import { LoopCheck } from '../loop-checks/kind.js';
import { type SealedSheet, sheetProblems } from '../loop-checks/sheet.js';
import type { SigningKeys } from '../signatures/signature.js';

export interface SheetParts {
  readonly store: Store;
  readonly keys: SigningKeys;
  /** Records of a category, oldest first. */
  readonly trail: (category: string) => AsyncIterable<AuditRecord>;
  readonly report: (part: string, target: { readonly kind: string; readonly name: string; readonly site: string }, problems: readonly string[]) => void;
}

/** @returns how many sealed ones were looked at. */
export async function verifySheets(parts: SheetParts): Promise<number> {
  return (await verifyKind(LoopCheck, 'loop-check', 'loop-checks', parts)) + (await verifyKind(CableAcceptance, 'cable-acceptance', 'cable-acceptances', parts));
}

async function verifyKind<Spec, Status extends SealedSheet['status']>(
  kind: Kind<Spec, Status>,
  category: string,
  part: string,
  { store, keys, trail, report }: SheetParts,
): Promise<number> {
  let checked = 0;
  const signed = new Map<string, string>();
  const listed = store.list(kind).filter(({ status }) => status.phase === 'Sealed'); // before the trail is read: what is sealed meanwhile is not looked for
  for await (const { action, result, site, target, signature } of trail(category)) {
    const id = (signature as { readonly id?: string } | undefined)?.id;
    if (action === 'Sign' && result === 'Success' && target.kind === kind.kind && id !== undefined) signed.set(`${site}/${target.name}`, id);
  }
  for (const sheet of listed) {
    const { site, name } = sheet.metadata;
    const told = signed.get(`${site}/${name}`);
    const untold =
      told === undefined ? ['the audit trail does not tell of its sealing'] : told === sheet.status.signature?.id ? [] : ['it is not the one that the audit trail tells of'];
    report(part, { kind: kind.kind, name, site }, [...sheetProblems(sheet, keys), ...untold]);
    checked += 1;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  for (const key of signed.keys()) {
    const at = key.indexOf('/');
    const ref = { kind: kind.kind, site: key.slice(0, at), name: key.slice(at + 1) };
    if (!store.get(kind, ref.site, ref.name)) report(part, ref, [`the audit trail tells of its sealing, and it ${absence(store, ref)}`]);
  }
  return checked;
}
