/**
 * An edit of running logic that went through an armed override belongs to the record of the batch whose unit runs it: what was
 * changed, from what to what, by whom, under whose override and for which reason (D-C-13; 21 CFR 11.10(e)).
 */
import { type Told, told } from '../../../runtime/vocabulary/told.js';
import { differences } from '../../platform/base/differences.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { PendingFact } from './execution-log.js';
import { equipmentFacts } from './interventions.js';

/** Places told one by one of one edit on one unit; the audit record holds the documents whole. */
const PLACES_MAX = 50;

interface Edited {
  readonly audit: AuditDraft;
  readonly at: string;
  /** Place of `audit` among the records of its change. */
  readonly auditOffset?: number;
}

export function editFacts(store: Store, edits: readonly OverriddenEdit[] | undefined, edited: Edited): PendingFact[] {
  return (edits ?? []).flatMap(({ site, unit, subject, users, before, after, reasons }) => {
    const all = differences(before, after);
    const ofUsers = users.length === 1 && subject.endsWith(` ${users[0]}`) ? '' : ` of ${users.join(', ')}`;
    const done = { ...edited, action: 'Edit', reason: edited.audit.operatorReason || reasons.join('; ') };
    const as = (place: string, more: string): Told => told('logic-edited', { subject, users: ofUsers === '' ? '' : users.join(', '), place, more });
    const places = all
      .slice(0, PLACES_MAX)
      .map(({ place, from, to }) => ({ ...done, value: to, previousValue: from, message: `edit of ${subject}${ofUsers}: ${place}`, told: as(place, '') }));
    const left = all.length - places.length;
    const message = `edit of ${subject}${ofUsers}: ${left} more places, see the audit record`;
    const rest = left > 0 ? [{ ...done, value: '', previousValue: '', message, told: as('', String(left)) }] : [];
    const [only = ''] = users;
    return [...places, ...rest].flatMap((each) => equipmentFacts(store, site, unit, users.length === 1 ? only : '', each));
  });
}

/** An override that is armed while the unit works, whether an edit follows or not. */
export function armingFacts(store: Store, { site, unit, name }: { readonly site: string; readonly unit: string; readonly name: string }, edited: Edited): PendingFact[] {
  return equipmentFacts(store, site, unit, name, {
    ...edited,
    action: 'OverrideHotSwap',
    value: 'armed',
    previousValue: '',
    message: `override-hot-swap of ${name}`,
    told: told('edit-override', { name }),
  });
}
/** An edit that an armed override let through, for the record of the work that the unit does. */

export interface OverriddenEdit {
  readonly site: string;
  readonly unit: string;
  /** `control module tic101`. */
  readonly subject: string;
  /** Modules and programs that run what was edited on that unit. */
  readonly users: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
  /** Why the overrides that it has used up were armed. */
  readonly reasons: readonly string[];
}
