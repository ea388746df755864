/**
 * Orders that are found at start. One that would set something going was given to a plant of before the interruption, and nobody
 * knows how long that was: it is dropped and told (D-C-08). One that leads to rest stands and is judged.
 *
 * And what release 0.1.0 kept in metadata (ADR 0020). Pending commands stood as annotations that a request could write, so none of
 * them is believed: they are dropped, and the audit trail says which. The mark of an ad-hoc run was a label; it is taken over
 * where the labels are those of a run. A restart starts nothing by it: a root that has not begun waits for its unit.
 */
import { randomUUID } from 'node:crypto';
import { type AuditDraft, component } from '../../../platform/store/audit-record.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { ADHOC_LABEL, type ElementStatus } from '../../procedures/kind.js';
import { ROOT_KINDS } from '../../procedures/roots.js';
import { Batch, type BatchStatus } from '../kind.js';
import type { Command } from '../../../../runtime/vocabulary/states.js';
import { awaitsVerdict, COMMAND_ANNOTATION, orderOn, type PendingCommand, withoutCopy, withoutOrder } from '../../runs/pending-command.js';

const RECOVERY = component('system');
const SETS_GOING: readonly Command[] = ['Start', 'Restart', 'Resume', 'Reset'];
const MANAGED_BY = 'lineside.io/managed-by';

/** Once at start, before any controller looks; on a full disk as soon as there is space, before anything else is written. */
export async function migrateOrders(store: Store): Promise<void> {
  if (oldOrders(store).puts.length > 0) await store.writeOrKeep(() => oldOrders(store), { as: 'order', key: 'found at start' });
}

function oldOrders(store: Store): { readonly puts: Put[]; readonly audits: AuditDraft[] } {
  const puts: Put[] = [];
  const audits: AuditDraft[] = [];
  for (const kind of [Batch, ...Object.values(ROOT_KINDS)] as readonly Put['kind'][]) {
    for (const resource of store.list(kind) as readonly Resource<unknown, BatchStatus | ElementStatus>[]) {
      const { site, name } = resource.metadata;
      const marked = isMarked(resource as Resource<unknown, ElementStatus>);
      const late = orderOn(resource)?.pending;
      if (late && SETS_GOING.includes(late.command)) {
        puts.push({ kind, site, name, status: withoutOrder(resource.status), annotations: withoutCopy(resource) });
        audits.push(lateOrder(resource, late));
        continue;
      }
      const dropped = COMMAND_ANNOTATION in resource.metadata.annotations && !awaitsVerdict(resource);
      if (!marked && !dropped) continue;
      puts.push({
        kind,
        site,
        name,
        ...(marked ? { status: { ...resource.status, adhoc: true } } : {}),
        ...(dropped ? { annotations: withoutCopy(resource) } : {}),
      });
      if (dropped) audits.push(droppedOrder(resource));
    }
  }
  return { puts, audits };
}

function isMarked({ metadata: { labels }, status }: Resource<unknown, ElementStatus>): boolean {
  return labels[ADHOC_LABEL] === 'true' && labels[MANAGED_BY] === 'batch-controller' && status.adhoc === undefined;
}

function lateOrder(resource: Resource, { command, at, by, correlationID }: PendingCommand): AuditDraft {
  const message = 'it waited when the appliance ended, and is not carried out later; give it again';
  return rejected(resource, 'runtime-restart', { command, at, requestedBy: by.accountId, message }, correlationID);
}

function droppedOrder(resource: Resource): AuditDraft {
  const message = 'it waited as an annotation of release 0.1.0, which a request could write; give it again';
  return rejected(resource, 'order-of-old-release', { annotation: resource.metadata.annotations[COMMAND_ANNOTATION]?.slice(0, 1000), message }, randomUUID());
}

function rejected({ kind, metadata: { site, name } }: Resource, rule: string, details: AuditDraft['details'], correlationID: string): AuditDraft {
  return { site, actor: RECOVERY, action: 'Command', category: 'command', target: { kind, name, site }, result: 'Rejected', rule, details, correlationID };
}
