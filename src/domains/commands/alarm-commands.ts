/** The command that an alarm gives to the work of a unit (contract 2, Alarm definition, exceptionAction; decisions Q-CMD-04). */
import { randomUUID } from 'node:crypto';
import type { Log } from '../../platform/base/log.js';
import { Refusal } from '../../platform/base/refusal.js';
import { component, type AuditDraft } from '../../platform/store/audit-record.js';
import type { ExceptionCommand } from '../alarms/definition-watch.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import { Unit } from '../plant/kind.js';
import { type CommandDeps, sendCommand } from './command.js';

const CONTROLLER = component('alarm-controller');

/** Addressed to the root of the work; a unit without work has nothing to command, a batch on several units is commanded once. */
export function alarmCommands(deps: CommandDeps & { readonly log: Log }): ExceptionCommand {
  return (site, units, action, alarm) => {
    const roots = new Map(units.flatMap((unit) => rootOn(deps, site, unit)).map((root) => [`${root.kind}/${root.name}`, root]));
    for (const root of roots.values()) {
      const correlationID = randomUUID();
      const audit = (entry: Partial<AuditDraft>): AuditDraft => ({
        site,
        action: 'Command',
        category: 'command',
        target: { ...root, site },
        result: 'Accepted',
        ...entry,
        actor: CONTROLLER,
        correlationID,
      });
      // the reason is ours, so the policy for what people write does not measure it
      sendCommand({ ...deps, reasonLengthMin: 0 }, site, { ...root, command: action, reason: `alarm ${alarm}` }, { actor: CONTROLLER, correlationID, alarm, audit }).catch(
        (fault: unknown) => {
          const why = fault instanceof Refusal ? fault.message : String(fault);
          deps.log.error({ site, alarm, command: action, ...root, fault: why }, 'the command of an alarm was not recorded');
        },
      );
    }
  };
}

interface Root {
  readonly kind: string;
  readonly name: string;
}

function rootOn({ store }: CommandDeps, site: string, unit: string): Root[] {
  const status = store.get(Unit, site, unit)?.status;
  if (!status) return [];
  const batch = store.get(Batch, site, status.allocatedTo);
  if (batch) return isFinalBatch(batch.status.phase) ? [] : [{ kind: Batch.kind, name: batch.metadata.name }];
  const work = status.activeWork;
  return work && work.batchRef === '' ? [{ kind: work.kind, name: work.name }] : [];
}
