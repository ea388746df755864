/** The `command` frame of the WebSocket (contract 2, WebSocket 5 and 6; D-STREAM-03): the REST route's rules without nonce. */
import { randomUUID } from 'node:crypto';
import { auditReason, missing, Refusal } from '../../platform/base/refusal.js';
import { actorOf, type Caller, firstDuty, mayVisit } from '../../platform/http/caller.js';
import type { AuditDraft } from '../../platform/store/audit-record.js';
import type { CommandFrame, FrameResult } from '../../platform/stream/websocket.js';
import { Site } from '../plant/kind.js';
import type { DryRunFacts } from '../batches/reading/dry-run.js';
import { type CommandDeps, dryRunCommand, sendCommand } from './command.js';

export async function commandFrame(deps: CommandDeps & DryRunFacts, frame: CommandFrame, caller: Caller, sourceIP: string): Promise<FrameResult> {
  const { site, kind, name, command } = frame;
  const actor = actorOf(caller, sourceIP);
  const correlationID = randomUUID();
  const audit = (entry: Partial<AuditDraft>): AuditDraft => ({
    site,
    action: 'Command',
    category: 'command',
    target: { kind, name, site },
    result: 'Rejected',
    details: { command },
    ...entry,
    actor,
    correlationID,
  });
  try {
    if (!mayVisit(caller, site)) throw new Refusal('forbidden', `site ${site} is outside your sites`, { code: 'site_scope', site });
    if (!caller.may('command:send')) throw new Refusal('forbidden', 'you do not hold the action command:send', { code: 'action_missing', action: 'command:send' });
    const duty = firstDuty(caller);
    if (duty) throw duty;
    if (!deps.store.get(Site, '', site)) throw missing('site', site);
    if (frame.dryRun) {
      const details = { ...(await dryRunCommand(deps, site, { kind, name, command })) };
      return { ok: true, message: details.accepted ? `${command} would be accepted` : details.message, details };
    }
    const reason = typeof frame.reason === 'string' ? frame.reason : undefined;
    const answer = await sendCommand(deps, site, { kind, name, command, ...(reason === undefined ? {} : { reason }) }, { actor, correlationID, audit });
    return { ok: true, message: answer.message };
  } catch (fault) {
    if (fault instanceof Refusal && !frame.dryRun && fault.context.code !== 'storage_unavailable') {
      await deps.store.write({ audits: [audit({ reason: auditReason(fault.context.code ?? fault.kind.replaceAll('-', '_')) })] });
    }
    throw fault;
  }
}
