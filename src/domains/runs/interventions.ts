/**
 * What is done by hand, or by a chart, to equipment that a batch holds belongs to the record of that batch (decisions 8.1,
 * 8.3): writes to tags, modes, bypasses. A fact is committed with the audit record of the deed, and names it, so that the
 * consolidated record shows that too.
 */
import type { Told } from '../../../runtime/vocabulary/told.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import type { ElementRef, ExecutionEvent, PendingFact } from './execution-log.js';
import { executionEvent, operatorAction } from './execution-log.js';

export interface Intervention {
  /** The audit record that is committed with it. */
  readonly audit: AuditDraft;
  /** Its place among the records of the change; 0 when absent. */
  readonly auditOffset?: number;
  /** Where the record names none. */
  readonly reason?: string;
  readonly at: string;
  /** What was done, for the list of operator actions: `Write`, `Mode`, `Bypass`, `Tuning`, `Edit`. */
  readonly action: string;
  readonly value: string;
  readonly previousValue: string;
  readonly message: string;
  /** The same as the message. */
  readonly told: Told;
}

interface Place {
  readonly site: string;
  /** Batch or ad-hoc root. */
  readonly scope: string;
  readonly element: ElementRef;
  readonly unit: string;
  readonly equipment: string;
}

/** Whose unit it is, and the work that what is done to its equipment is told of. */
export type Holding = Pick<Place, 'site' | 'scope' | 'element' | 'unit'>;

/** Undefined while nobody holds the unit. */
export function holdingOf(store: Store, site: string, unit: string): Holding | undefined {
  const status = store.get(Unit, site, unit)?.status;
  if (!status || status.allocatedTo === '') return undefined;
  const scope = status.allocatedTo;
  const work = status.activeWork;
  const element = work && work.batchRef === '' ? { kind: work.kind, name: work.name, path: '' } : { kind: 'Batch', name: scope, path: '' };
  return { site, scope, element, unit };
}

/** Of a module or tag of the unit; nothing while nobody holds it. What is answered after a wait goes through `asked`. */
export function equipmentFacts(store: Store, site: string, unit: string, equipment: string, done: Intervention): PendingFact[] {
  const holding = holdingOf(store, site, unit);
  return holding ? factsFor(store, holding, equipment, done) : [];
}

export function factsFor(store: Store, holding: Holding, equipment: string, done: Intervention): PendingFact[] {
  return facts(store, { ...holding, equipment }, { eventType: 'Equipment', eventSubType: 'Modification' }, done);
}

interface ModeChange {
  readonly element: ElementRef;
  readonly unit: string;
  readonly previousMode: string;
}

/** Of the mode of a procedural element: who asked for it, and each element that has changed. */
export function modeFacts(
  store: Store,
  { site, scope }: { readonly site: string; readonly scope: string },
  changed: readonly [ModeChange, ...ModeChange[]],
  done: Intervention,
): PendingFact[] {
  const [{ element, unit }] = changed;
  return [
    ...facts(store, { site, scope, element, unit, equipment: '' }, { eventType: 'Procedural Execution', eventSubType: 'Mode Command' }, done),
    ...changed
      .filter(({ previousMode }) => previousMode !== done.value)
      .map(({ element: moved, unit: on, previousMode }) =>
        executionEvent(site, scope, done.at, {
          eventType: 'Procedural Execution',
          eventSubType: 'Mode Change',
          element: moved,
          unit: on,
          value: done.value,
          previousValue: previousMode,
          correlationID: done.audit.correlationID,
        }),
      ),
  ];
}

function facts(store: Store, { site, scope, element, unit, equipment }: Place, type: Pick<ExecutionEvent, 'eventType' | 'eventSubType'>, done: Intervention): PendingFact[] {
  const { audit, at, action, value, previousValue, message, told } = done;
  const { accountId, displayName, actorType } = audit.actor;
  const person = actorType === 'human' ? { accountId, displayName } : null;
  const auditRecordRef = store.nextAuditName(done.auditOffset);
  const { correlationID } = audit;
  const event = executionEvent(site, scope, at, { ...type, element, unit, equipment, value, previousValue, message, told, person, correlationID, auditRecordRef });
  if (!person) return [event];
  const reason = done.reason ?? audit.operatorReason ?? '';
  const entry = { ts: at, action, element, person, signed: false, meaning: '', reason, value: `${message} ${value}`.trim(), acknowledgedBy: '', signatureRef: '', auditRecordRef };
  return [event, operatorAction(site, scope, entry)];
}
