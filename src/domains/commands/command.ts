/**
 * ISA-88 commands (contract 2, Tags; contract 3, Commands; decisions CMD): checks who may be commanded, records the
 * command on the resource with an audit record `Accepted`, and leaves the judging to the batch controller. The REST route,
 * the WebSocket frame and COMMAND() of a chart all come through here.
 */
import * as v from 'valibot';
import { ToldSchema } from '../runs/told-schema.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { COMMANDS, type Command } from '../../../runtime/vocabulary/states.js';
import { batchCommands, PRIORITY, validCommands } from '../../../runtime/vocabulary/transitions.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import type { Clock } from '../../platform/base/clock.js';
import { timestamp } from '../../platform/base/clock.js';
import { checkReason, REASON_LENGTH_MAX } from '../../platform/http/reason.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { absent } from '../../platform/store/absent.js';
import type { Actor, AuditDraft } from '../../platform/store/audit-record.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Change, Put, Store } from '../../platform/store/store.js';
import { Batch, type BatchSpec, type BatchStatus } from '../batches/kind.js';
import { BATCH_COMPONENT } from '../batches/tree/element-reconciliation.js';
import { refuseRequest } from '../batches/start/conditions.js';
import { RUNTIME_READY } from '../batches/start/equipment-conditions.js';
import { resolveEquipment } from '../batches/start/equipment.js';
import { ordered, orderOn, type PendingCommand } from '../runs/pending-command.js';
import { hasActiveFailure } from '../runs/holds.js';
import type { PhaseCommands } from '../batches/phases/phase-commands.js';
import { dryRun, DryRunEffect, type DryRunFacts, readByDryRun } from '../batches/reading/dry-run.js';
import { Unit } from '../plant/kind.js';
import { type ElementStatus, Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import { isAdhoc, rootOf } from '../procedures/roots.js';
import type { MtpServices } from '../mtp/services.js';
import { MasterRecipe } from '../recipes/kind.js';
import { releasedView } from '../recipes/released.js';
import type { LocalProbes } from '../placement/local-probes.js';
import type { UnitRuntimes } from '../placement/runtimes.js';
import { pastRows } from '../../platform/store/past-rows.js';
import { batchesOf } from '../batches/reading/list.js';

/** What brings the plant to rest is carried out while nothing can be written, and recorded afterwards (D-C-09). */
const PROTECTIVE: readonly Command[] = ['Hold', 'Stop', 'Abort'];
/** Contract 3, Command rules: mandatory for these, optional for the others. */
const REASON_COMMANDS: readonly Command[] = ['Abort', 'Stop', 'Hold', 'Reset'];
export const COMMAND_KINDS = ['Batch', 'Phase', 'Operation', 'UnitProcedure'] as const;

export const CommandBody = v.strictObject({
  kind: v.string(),
  name: v.string(),
  command: v.string(),
  reason: v.optional(v.string()),
  /** Says what would happen, and changes nothing. */
  dryRun: v.optional(v.boolean()),
});
export type CommandBody = v.InferOutput<typeof CommandBody>;

export interface CommandDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly clock: Clock;
  readonly reasonLengthMin: number;
  /** Give the command to the phases of a batch or ad-hoc run past its controller, which stands still while nothing can be written. */
  readonly phases?: Pick<PhaseCommands, 'protect'> | undefined;
  /** Of process modules; undefined in a rehearsal. */
  readonly services?: Pick<MtpServices, 'command' | 'state' | 'commandEnabled'> | undefined;
  /** Way to the devices whose services charts call; absent in a rehearsal, which calls nobody. */
  readonly probes?: Pick<LocalProbes, 'call'> | undefined;
}

const COMMANDED = { ok: v.literal(true), kind: v.string(), name: v.string(), command: v.picklist(COMMANDS) };

export const CommandAnswer = v.strictObject({
  ...COMMANDED,
  message: v.string(),
  /** It is carried out and will be on record when the storage accepts changes again. */
  recorded: v.optional(v.literal(false)),
});
export type CommandAnswer = ToldBy<typeof CommandAnswer>;

/** What a command would do; `ok` says that it was computed. */
export const DryRunAnswer = v.union([
  v.strictObject({ ...COMMANDED, accepted: v.literal(true), effects: v.array(DryRunEffect) }),
  v.strictObject({ ...COMMANDED, accepted: v.literal(false), rule: v.string(), message: v.string(), told: v.optional(ToldSchema), effects: v.tuple([]) }),
]);
export type DryRunAnswer = ToldBy<typeof DryRunAnswer>;

nameSchemas({ CommandBody, CommandAnswer, DryRunAnswer });

export interface CommandSource {
  readonly actor: Actor;
  readonly correlationID: string;
  /** The alarm whose exceptionAction it is. */
  readonly alarm?: string;
  audit(entry: Pick<AuditDraft, 'target' | 'result' | 'operatorReason' | 'details'>): AuditDraft;
}

const KINDS = { Batch, Phase, Operation, UnitProcedure } as const;

type Element = Resource<{ readonly batchRef: string; readonly parentRef: { readonly kind: string; readonly name: string } | null }, ElementStatus>;

/** @throws Refusal in the order of Q-CMD-08: body, kind, target, ownership, Start pre-flight. */
export async function sendCommand(deps: CommandDeps, site: string, body: CommandBody, source: CommandSource): Promise<CommandAnswer> {
  const past = pastRows(deps.store);
  const named = { kind: body.kind, site, name: body.name };
  const lent = past.lend([named]);
  if (lent) await lent;
  const order = orderFor(deps, site, body, source);
  if (body.kind === Batch.kind && deps.store.pastEntry(Batch, site, body.name)) {
    order(); // what is refused brings nothing back
    (await past.bring([named]))?.(); // an order is written on its batch, in this turn; one that is past has nothing to protect where nothing can be written
  }
  const { change, answer } = order();
  const { kind, name, command } = answer;
  if (!PROTECTIVE.includes(command as Command) || !deps.phases) {
    await deps.store.write(change);
    return answer;
  }
  const key = `${site}/${kind}/${name}/${command}/${source.actor.accountId}`;
  const written = await deps.store
    .writeOrKeep(() => orderOrRefusal(order, site, body, source), { as: 'order', key })
    .then((isRecorded) => (isRecorded ? 'recorded' : 'kept'))
    .catch((fault: unknown) => {
      if (!(fault instanceof Refusal) || fault.kind !== 'unavailable') throw fault;
      return 'nowhere'; // without room for its record too the plant comes to rest
    });
  if (written === 'recorded') return answer;
  const { reached, away } = deps.phases.protect(site, name, command as Command);
  const missed = away === 0 ? '' : `, and not to ${phaseCount(away)} whose runtime is not ready`;
  const given = `${command} was given to ${phaseCount(reached)} of ${kind} ${name} at once${missed}; nothing can be written now`;
  const message =
    written === 'kept'
      ? `${given}, so what is shown of it and its record follow when the storage alarm has cleared`
      : `${given}, and there is no room left to keep its record: give it again when the storage alarm has cleared`;
  return { ...answer, message, recorded: false };
}

function phaseCount(count: number): string {
  return count === 1 ? '1 phase' : `${count} phases`;
}

/** What was there when a kept order was given may be gone when it is written: then the trail has the attempt. */
function orderOrRefusal(order: ReturnType<typeof orderFor>, site: string, { kind, name, command }: CommandBody, source: CommandSource): Change {
  try {
    return order().change;
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return { audits: [source.audit({ target: { kind, name, site }, result: 'Rejected', details: { command, message: fault.message } })] };
  }
}

/** As `sendCommand`, without waiting until it is on disk; `beside` is written in the same change. */
export function recordCommand(
  deps: CommandDeps,
  site: string,
  body: CommandBody,
  source: CommandSource,
  beside: readonly Put[] = [],
): { readonly answer: CommandAnswer; readonly durable: Promise<void> } {
  const { change, answer } = orderFor(deps, site, body, source, beside)();
  return { answer, durable: deps.store.apply(change).durable };
}

/** Judges the body; what it gives makes the change that records the command on the target as it stands then. */
function orderFor(
  deps: CommandDeps,
  site: string,
  body: CommandBody,
  source: CommandSource,
  beside: readonly Put[] = [],
): () => { readonly answer: CommandAnswer; readonly change: Change } {
  const command = readCommand(body.command);
  const reason = readReason(command, body.reason, deps.reasonLengthMin);
  const at = timestamp(deps.clock.wallMs());
  return () => {
    const target = findTarget(deps.store, site, body.kind, body.name);
    if (command === 'Start' && target.kind === 'Batch') refuseUnready(deps, site, target as Resource<BatchSpec, BatchStatus>);
    const pending: PendingCommand = {
      command,
      reason,
      by: source.actor,
      at,
      correlationID: source.correlationID,
      ...(source.alarm === undefined ? {} : { alarm: source.alarm }),
    };
    const put: Put = { kind: KINDS[target.kind as (typeof COMMAND_KINDS)[number]], site, name: body.name, ...ordered(target, pending) };
    const audit = source.audit({ target: { kind: target.kind, name: body.name, site }, result: 'Accepted', ...(reason ? { operatorReason: reason } : {}), details: { command } });
    const waiting = orderOn(target)?.pending;
    const isContested = waiting !== undefined && waiting.alarm === undefined; // what an alarm has given makes room, and is given again
    const stays = isContested && rankOf(target, waiting.command) >= Math.max(1, rankOf(target, command));
    const verdicts = isContested ? [stays ? superseded(target, pending, waiting) : superseded(target, waiting, pending)] : [];
    return {
      change: { puts: stays ? beside : [put, ...beside], audits: [audit, ...verdicts] },
      answer: { ok: true, kind: target.kind, name: body.name, command, message: `${command} recorded for ${target.kind} ${body.name}` },
    };
  };
}

/** 0 for a command that will be refused as the target stands: any other goes before it. */
function rankOf({ kind, status }: Resource, command: Command): number {
  const { phase, state, heldInside, pausedInside } = status as BatchStatus & ElementStatus;
  const judged = { heldInside, pausedInside: pausedInside === true, failureActive: hasActiveFailure(status as BatchStatus) };
  const possible = kind === Batch.kind ? batchCommands(phase, judged) : validCommands(state, judged);
  return possible.includes(command) ? PRIORITY[command] : 0;
}

/** Of two commands that wait to be judged the higher one stands, else the first; none is lost without a verdict (decisions 3.2). */
function superseded({ kind, metadata }: Resource, loser: PendingCommand, winner: PendingCommand): AuditDraft {
  return {
    site: metadata.site,
    actor: BATCH_COMPONENT,
    action: 'Command',
    category: 'command',
    target: { kind, name: metadata.name, site: metadata.site },
    result: 'Rejected',
    rule: 'superseded',
    details: { command: loser.command, by: winner.correlationID, requestedBy: loser.by.accountId },
    correlationID: loser.correlationID,
  };
}

/**
 * A computation: nothing is recorded and no reason is asked for. A refusal of the state machine is an answer; a body or a
 * target that cannot be commanded is refused as the command is.
 */
export async function dryRunCommand(facts: DryRunFacts, site: string, { kind, name, command: word }: CommandBody): Promise<DryRunAnswer> {
  const command = readCommand(word);
  const lent = pastRows(facts.store).lend(readByDryRun(facts, { kind, site, name }, command));
  if (lent) await lent;
  return { ok: true, kind, name, command, ...dryRun(facts, findTarget(facts.store, site, kind, name), command) };
}

function readCommand(word: string): Command {
  const command = COMMANDS.find((candidate) => candidate === word);
  if (!command) throw invalid('invalid_field', 'command', `command must be one of ${COMMANDS.join(', ')}`, { allowed: COMMANDS });
  return command;
}

/** Q-CMD-03: an optional reason is kept as given, a blank one counts as absent; the maximum applies to all. */
function readReason(command: Command, reason: string | undefined, lengthMin: number): string {
  if (REASON_COMMANDS.includes(command)) return checkReason(reason, lengthMin);
  const text = reason?.trim() ?? '';
  if ([...text].length > REASON_LENGTH_MAX) throw invalid('reason_too_long', 'reason', `reason must be at most ${REASON_LENGTH_MAX} characters`, { maxLength: REASON_LENGTH_MAX });
  return text;
}

function findTarget(store: Store, site: string, kind: string, name: string): Resource {
  switch (kind) {
    case 'Batch':
      return store.get(Batch, site, name) ?? noBatch(store, site, name);
    case 'Phase':
      return owned(store, kind, (store.get(Phase, site, name) as Element | undefined) ?? gone(store, kind, site, name));
    case 'Operation':
      return owned(store, kind, (store.get(Operation, site, name) as Element | undefined) ?? gone(store, kind, site, name));
    case 'UnitProcedure':
      return owned(store, kind, (store.get(UnitProcedure, site, name) as Element | undefined) ?? gone(store, kind, site, name));
    case 'Unit': {
      const unit = store.get(Unit, site, name) ?? gone(store, kind, site, name);
      const work = unit.status.activeWork;
      throw notCommandable(kind, work ? (work.batchRef ? { kind: 'Batch', name: work.batchRef } : { kind: work.kind, name: work.name }) : null);
    }
    case 'Procedure': {
      const procedure = store.get(Procedure, site, name) ?? gone(store, kind, site, name);
      throw notCommandable(kind, procedure.spec.batchRef ? { kind: 'Batch', name: procedure.spec.batchRef } : null);
    }
    default:
      throw invalid('invalid_field', 'kind', `kind ${kind} cannot be commanded; command the Batch or the root of the ad-hoc execution instead`, { allowed: COMMAND_KINDS });
  }
}

/** Only the root of an ad-hoc execution takes commands itself (contract 2, Command rules). */
function owned(store: Store, kind: string, element: Element): Resource {
  const { name } = element.metadata;
  const { batchRef } = element.spec;
  if (batchRef) {
    throw new Refusal('invalid', `${kind} ${name} belongs to batch ${batchRef}; command Batch ${batchRef} instead`, {
      code: 'wrong_command_target',
      commandInstead: { kind: 'Batch', name: batchRef },
    });
  }
  if (element.spec.parentRef) {
    const root = rootOf(store, element);
    throw new Refusal('invalid', `${kind} ${name} is part of an ad-hoc run; command ${root.kind} ${root.name} instead`, { code: 'wrong_command_target', commandInstead: root });
  }
  if (!isAdhoc(element)) throw notCommandable(kind, null);
  return element;
}

function notCommandable(kind: string, instead: { readonly kind: string; readonly name: string } | null): Refusal {
  const what = instead ? `${instead.kind} ${instead.name}` : 'the Batch or the root of the ad-hoc execution';
  return new Refusal('invalid', `kind ${kind} cannot be commanded; command ${what} instead`, { code: 'wrong_command_target', commandInstead: instead });
}

/** People know a batch by its batchID; its name is made by the gateway (contract 2, Command rules). */
function noBatch(store: Store, site: string, name: string): never {
  const meant = batchesOf(store, name, site)[0]?.metadata.name;
  if (meant === undefined) return gone(store, 'Batch', site, name);
  throw new Refusal('missing', `Batch ${name} does not exist; ${name} is the batchID of Batch ${meant}: command that name`, { code: 'not_found', field: 'name', batch: meant });
}

function gone(store: Store, kind: string, site: string, name: string): never {
  throw absent(store, { kind }, site, name);
}

/** Contract 2, Errors: Start while an allocated unit's runtime is not ready is refused before anything is recorded. */
function refuseUnready({ store, runtimes }: CommandDeps, site: string, batch: Resource<BatchSpec, BatchStatus>): void {
  if (batch.status.phase !== 'Pending') return;
  const recipe = store.get(MasterRecipe, site, batch.spec.masterRecipeRef);
  if (!recipe) return;
  const wanted = Object.values(resolveEquipment(releasedView(store, recipe), site, recipe.spec, batch.spec.equipment));
  const units = wanted.filter((unit) => unit !== '' && store.get(Unit, site, unit)); // of one that is not there the judge tells
  refuseRequest([RUNTIME_READY], { store, runtimes, site, units, isOnDemand: false });
}
