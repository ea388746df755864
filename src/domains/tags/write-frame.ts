/**
 * The `write` frame of the WebSocket (contract 2, WebSocket 4 and 6; D-STREAM-03): the barriers of the REST route from the
 * site scope on, except the nonce, with the audit record on disk before the answering frame.
 */
import { randomUUID } from 'node:crypto';
import { auditReason, missing, Refusal } from '../../platform/base/refusal.js';
import { actorOf, type Caller, firstDuty, mayVisit } from '../../platform/http/caller.js';
import type { AuditEntry } from '../../platform/http/route.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { FrameResult, WriteFrame } from '../../platform/stream/websocket.js';
import { Site } from '../plant/kind.js';
import type { TagEntry } from './catalog.js';
import { auditable, findTag, TAG_WRITE_CATEGORY, type TagDeps, writeTag } from './write.js';

export async function writeFrame(deps: TagDeps, frame: WriteFrame, caller: Caller, sourceIP: string): Promise<FrameResult> {
  const audit = drafter(frame, caller, sourceIP);
  let tag: TagEntry;
  try {
    tag = admit(deps, frame, caller);
  } catch (fault) {
    if (fault instanceof Refusal)
      await deps.store.write({ audits: [audit({ result: 'Rejected', reason: auditReason(fault.context.code ?? fault.kind), after: auditable(frame.value) })] });
    throw fault;
  }
  const { ok, message, recorded } = await writeTag(deps, { tag, address: frame.address, value: frame.value, audit });
  return { ok, message, ...(recorded === false ? { details: { recorded } } : {}) };
}

/** Steps 5, 7 and 9 of decisions Q-ERR-06; the later ones are in `writeTag`. */
function admit(deps: TagDeps, { site, unit, address }: WriteFrame, caller: Caller): TagEntry {
  if (!mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your sites`, { code: 'site_scope', site });
  if (!caller.may('tag:write')) throw new Refusal('forbidden', 'you do not hold the action tag:write', { code: 'action_missing', action: 'tag:write' });
  const duty = firstDuty(caller);
  if (duty) throw duty;
  if (!deps.store.get(Site, '', site)) throw missing('site', site);
  return findTag(deps, site, unit, address);
}

function drafter({ site, unit, address }: WriteFrame, caller: Caller, sourceIP: string): (entry: AuditEntry) => AuditDraft {
  const correlationID = randomUUID();
  return (entry) => ({
    site,
    action: 'Update',
    category: TAG_WRITE_CATEGORY,
    target: { kind: 'Tag', name: address, site },
    result: 'Success',
    details: { unit },
    ...entry,
    actor: actorOf(caller, sourceIP),
    correlationID,
  });
}
