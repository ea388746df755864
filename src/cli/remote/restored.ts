/** restored, recovery: what somebody has to sign or acknowledge before a box is as it was. */
import { type CommandContext, type CommandRow } from './command.js';
import { PROOF, REASON, signed, signedReason } from './given.js';
import { type Outcome, section } from './outcome.js';

async function show({ box }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get('/api/v1/system/restore', {});
  const { waits, restored } = found;
  if (!waits) return { data: found, text: 'no restore of this box waits for a confirmation' };
  const from = restored
    ? `this box was restored at ${restored.restoredAt} from the backup of ${restored.backup.createdAt} of box ${restored.backup.deviceId}, to audit record ${restored.backup.head.sequence}`
    : 'this box was restored, and nothing is known of the backup';
  const lines = [from, ...section('not verified:', restored?.unverified ?? []), 'it drives no output until somebody confirms that the other box is off: lineside restored confirm'];
  return { data: found, text: lines.join('\n') };
}

async function confirm(context: CommandContext): Promise<Outcome> {
  const reason = await signedReason(context, 'the other box is off');
  const done = await signed(context, () => context.box.typed.post('/api/v1/system/restore/confirm', { body: { reason } }));
  return { data: done, text: `confirmed with signature ${done.signature}: this box drives its outputs from now on` };
}

async function recoveries({ box }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get('/api/v1/auth/recoveries', {});
  const lines = found.items.map(({ username, madeAt, systemUser, acknowledged }) => {
    const seen = acknowledged === null ? 'waits: lineside recovery acknowledge' : `acknowledged by ${acknowledged.by} at ${acknowledged.at}: ${acknowledged.reason}`;
    return `administrator ${username} was made at the box at ${madeAt} by the system user ${systemUser}; ${seen}`;
  });
  return { data: found, text: lines.length === 0 ? 'no administrator was made at the box' : lines.join('\n') };
}

async function acknowledge(context: CommandContext): Promise<Outcome> {
  const reason = await signedReason(context, 'what is known of it');
  const done = await context.box.typed.post('/api/v1/auth/recoveries/acknowledge', { body: { reason } });
  return { data: done, text: 'acknowledged: the alarm goes, and the audit trail keeps it' };
}

export const RESTORED_COMMANDS: readonly CommandRow[] = [
  { typed: 'restored show', about: 'whether this box was restored from a backup and waits for somebody to confirm it', run: show },
  {
    typed: 'restored confirm',
    about: 'sign that the box this one was restored from is off: outputs are driven from then on',
    options: [REASON, ...PROOF],
    examples: ['lineside restored confirm --reason "the old box is off, its fuse is out"'],
    run: confirm,
  },
  { typed: 'recovery show', about: 'administrators that were made at the box (lineside recover-admin)', run: recoveries },
  { typed: 'recovery acknowledge', about: 'as another administrator: you have seen it, and the alarm goes', options: [REASON], run: acknowledge },
];
