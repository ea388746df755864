/** Sheets of loop checks and pages of cable acceptances against what the audit trail tells of their sealing (D-C-10; ADR 0078, 0079). */
import type { AuditRecord } from '../../platform/store/audit-record.js';
import { absence } from '../../platform/store/absent.js';
import type { Store } from '../../platform/store/store.js';
import { CableAcceptance, type CableResource } from '../loop-checks/cable-kind.js';
import { LoopCheck, type LoopCheckResource } from '../loop-checks/kind.js';
import { sheetProblems } from '../loop-checks/sheet.js';
import type { SigningKeys } from '../signatures/signature.js';

export interface SheetParts {
  readonly store: Store;
  readonly keys: SigningKeys;
  /** Records of a category, oldest first. */
  readonly trail: (category: string) => AsyncIterable<AuditRecord>;
  readonly report: (part: string, target: { readonly kind: string; readonly name: string; readonly site: string }, problems: readonly string[]) => void;
}

interface Sheets {
  readonly kind: string;
  readonly category: string;
  readonly part: string;
  list(store: Store): readonly (LoopCheckResource | CableResource)[];
  has(store: Store, site: string, name: string): boolean;
}

const SHEETS: readonly Sheets[] = [
  {
    kind: LoopCheck.kind,
    category: 'loop-check',
    part: 'loop-checks',
    list: (store) => store.list(LoopCheck),
    has: (store, site, name) => store.get(LoopCheck, site, name) !== undefined,
  },
  {
    kind: CableAcceptance.kind,
    category: 'cable-acceptance',
    part: 'cable-acceptances',
    list: (store) => store.list(CableAcceptance),
    has: (store, site, name) => store.get(CableAcceptance, site, name) !== undefined,
  },
];

/** @returns how many sealed ones were looked at. */
export async function verifySheets({ store, keys, trail, report }: SheetParts): Promise<number> {
  let checked = 0;
  for (const { kind, category, part, list, has } of SHEETS) {
    const signed = new Map<string, string>();
    const listed = list(store).filter(({ status }) => status.phase === 'Sealed'); // before the trail is read: what is sealed meanwhile is not looked for
    for await (const { action, result, site, target, signature } of trail(category)) {
      const id = (signature as { readonly id?: string } | undefined)?.id;
      if (action === 'Sign' && result === 'Success' && target.kind === kind && id !== undefined) signed.set(`${site}/${target.name}`, id);
    }
    for (const sheet of listed) {
      const { site, name } = sheet.metadata;
      const told = signed.get(`${site}/${name}`);
      const untold =
        told === undefined ? ['the audit trail does not tell of its sealing'] : told === sheet.status.signature?.id ? [] : ['it is not the one that the audit trail tells of'];
      report(part, { kind, name, site }, [...sheetProblems(sheet, keys), ...untold]);
      checked += 1;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    for (const key of signed.keys()) {
      const at = key.indexOf('/');
      const ref = { kind, site: key.slice(0, at), name: key.slice(at + 1) };
      if (!has(store, ref.site, ref.name)) report(part, ref, [`the audit trail tells of its sealing, and it ${absence(store, ref)}`]);
    }
  }
  return checked;
}
