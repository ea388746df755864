/** How an alarm commands the work of a unit (contract 2, Alarm definition, exceptionAction; decisions Q-CMD-04). */
import { randomUUID } from 'node:crypto';
import { isFinal } from '../../../runtime/vocabulary/transitions.js';
import { guarded } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { Refusal } from '../../platform/base/refusal.js';
import { type AuditDraft, component } from '../../platform/store/audit-record.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import type { CommandGiver } from '../alarms/exception-commands.js';
import type { CommandTarget } from '../alarms/kind.js';
import { Batch, isFinalBatch } from '../batches/kind.js';
import { awaitsVerdict, orderOn } from '../runs/pending-command.js';
import { Unit } from '../plant/kind.js';
import type { ElementStatus } from '../procedures/kind.js';
import { ROOT_KINDS } from '../procedures/roots.js';
import { type CommandDeps, type CommandSource, recordCommand, sendCommand } from './command.js';

const ALARM_COMPONENT = component('alarm-controller');

/**
 * A command of a person takes the place of one that an alarm has given before it was judged: that one is rejected
 * `superseded` (decisions CMD, commands pending together), and the alarm is told to give it again.
 */
export function watchSuperseded({ store, again }: { readonly store: Store; readonly again: (site: string, alarm: string, target: CommandTarget) => void }): void {
  for (const kind of [Batch, ...Object.values(ROOT_KINDS)] as readonly { readonly kind: string }[]) {
    store.watch(kind, ({ type, resource, before }) => {
      const loser = before && orderOn(before)?.pending;
      const winner = orderOn(resource)?.pending;
      if (type !== 'put' || loser?.alarm === undefined || winner === undefined || loser.correlationID === winner.correlationID) return;
      const { command, alarm, correlationID } = loser;
      const { site, name } = resource.metadata;
      const target = { kind: resource.kind, name };
      // a change is not made in the middle of another
      const told = (): void => {
        if (!store.accepting) return;
        const verdict: AuditDraft = {
          site,
          actor: ALARM_COMPONENT,
          action: 'Command',
          category: 'command',
          target: { ...target, site },
          result: 'Rejected',
          rule: 'superseded',
          details: { command, by: winner.correlationID },
          correlationID,
        };
        store.apply({ audits: [verdict] });
        again(site, alarm, target);
      };
      queueMicrotask(() => guarded('command of an alarm that was pushed aside', told));
    });
  }
}

function sourceOf(site: string, target: CommandTarget): CommandSource {
  const correlationID = randomUUID();
  const audit = (entry: Partial<AuditDraft>): AuditDraft => ({
    site,
    action: 'Command',
    category: 'command',
    target: { ...target, site },
    result: 'Accepted',
    ...entry,
    actor: ALARM_COMPONENT,
    correlationID,
  });
  return { actor: ALARM_COMPONENT, correlationID, audit };
}

export function alarmCommands(deps: CommandDeps & { readonly log: Log }): CommandGiver {
  const unmeasured = { ...deps, reasonLengthMin: 0 }; // the reason is ours, so the policy for what people write does not measure it
  return {
    /** A unit without work has nothing to command, a batch on several units is commanded once. */
    targets(site, units) {
      const roots = units.flatMap((unit) => rootOn(deps, site, unit));
      return [...new Map(roots.map((root) => [`${root.kind}/${root.name}`, root])).values()];
    },
    give(site, target, action, alarm, beside) {
      const found = targetOf(deps, site, target);
      if (!found || isOver(found)) return 'over';
      if (!deps.store.accepting) {
        deps.phases?.protect(site, target.name, action); // it is given, and recorded, when something can be written again
        return 'busy';
      }
      if (awaitsVerdict(found)) return 'busy';
      const body = { ...target, command: action, reason: `alarm ${alarm}` };
      try {
        // a disk that fails takes `beside` back too
        recordCommand(unmeasured, site, body, { ...sourceOf(site, target), alarm }, [beside]).durable.catch(() => undefined);
        return 'given';
      } catch (fault) {
        if (!(fault instanceof Refusal)) throw fault;
        deps.log.error({ site, alarm, command: action, ...target, fault: fault.message }, 'the command of an alarm was refused');
        return fault.kind === 'unavailable' ? 'busy' : 'over';
      }
    },
    giveUnrecorded(site, target, action, definition) {
      const body = { ...target, command: action, reason: `alarm definition ${definition}` };
      sendCommand(unmeasured, site, body, sourceOf(site, target)).catch((fault: unknown) => {
        deps.log.error({ site, definition, command: action, ...target, fault: String(fault) }, 'the command of an alarm was refused');
      });
    },
  };
}

function rootOn({ store }: CommandDeps, site: string, unit: string): CommandTarget[] {
  const status = store.get(Unit, site, unit)?.status;
  if (!status) return [];
  const batch = store.get(Batch, site, status.allocatedTo);
  if (batch) return isFinalBatch(batch.status.phase) ? [] : [{ kind: Batch.kind, name: batch.metadata.name }];
  const work = status.activeWork;
  return work && work.batchRef === '' ? [{ kind: work.kind, name: work.name }] : [];
}

function targetOf({ store }: CommandDeps, site: string, { kind, name }: CommandTarget): Resource | undefined {
  if (kind === Batch.kind) return store.get(Batch, site, name);
  const root = Object.values(ROOT_KINDS).find((each) => each.kind === kind);
  return root && (store.get(root as never, site, name) as Resource | undefined);
}

function isOver({ kind, status }: Resource): boolean {
  return kind === Batch.kind ? isFinalBatch((status as { readonly phase: Parameters<typeof isFinalBatch>[0] }).phase) : isFinal((status as ElementStatus).state);
}
