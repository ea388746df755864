/** Read body of a unit: its state and the commands of its work (contract 3, Unit read body; decisions Q-UNIT-01, Q-UNIT-03). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { COMMANDS, type State, STATES } from '../../../runtime/vocabulary/states.js';
import { progression, validCommands } from '../../../runtime/vocabulary/transitions.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { Condition as ConditionBody, type ToldBy } from '../../platform/http/replies.js';
import { metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource, Condition } from '../../platform/store/resource.js';
import { allocationQueue, QueueEntry } from '../batches/start/allocation-queue.js';
import { blockedBecause, type BlockedWorld, Blocker, unitBlockedBy } from '../batches/reading/blocked-by.js';
import { lookAtShown } from '../batches/recovery/unrecovered.js';
import { CommandRejection } from '../runs/command-rejection.js';
import { modulesOf, resolvedModuleOf } from '../control-modules/modules.js';
import { contestedOutputs, contestedWords } from '../control-modules/output-owners.js';
import { ActiveWork, FailoverRequest, UNIT_SCAN_INTERVAL_DEFAULT, UnitSpec, type UnitStatus, unitMode } from '../plant/kind.js';
import { IOModule } from '../io-modules/kind.js';

export const UnitBody = v.strictObject({
  name: v.string(),
  processCell: v.string(),
  description: v.string(),
  symbolId: v.string(),
  /** '' until the unit runtime was seen for the first time. */
  state: v.picklist(['', ...STATES]),
  mode: v.picklist(MODES),
  /** Name of the batch or of the ad-hoc root that has it; empty when free. */
  allocatedTo: v.string(),
  activeWork: v.optional(ActiveWork),
  controllerRef: v.string(),
  runtimeReady: v.boolean(),
  runtimeMessage: v.string(),
  validCommands: v.array(v.picklist(COMMANDS)),
  progression: v.picklist(['waiting', 'acting', 'final']),
  runtimeImage: v.string(),
  runtimeBuild: v.strictObject({
    podName: v.string(),
    verdict: v.picklist(['unread', 'current', 'superseded', 'blocked']),
    summary: v.string(),
    condition: v.omit(ConditionBody, ['type']),
  }),
  conditions: v.array(ConditionBody),
  failoverRequest: v.nullable(FailoverRequest),
  autoFailover: v.strictObject({ suspended: v.boolean(), triedNodes: v.array(v.string()), summary: v.string() }),
  writePosture: v.strictObject({ verdict: v.picklist(['undeclared', 'narrowed', 'declared']), summary: v.string() }),
  capabilities: UnitSpec.entries.capabilities,
  roleBindings: UnitSpec.entries.roleBindings,
  scanInterval: v.string(),
  availability: UnitSpec.entries.availability,
  permissives: UnitSpec.entries.permissives,
  properties: UnitSpec.entries.properties,
  connections: UnitSpec.entries.connections,
  layout: UnitSpec.entries.layout,
  commandRejection: v.optional(CommandRejection),
  /** How often it was given to work, and when it was last taken or given back; absent before its first use. */
  usage: v.optional(v.strictObject({ count: v.number(), lastUsedAt: v.string() })),
  /** Batches that wait for it, the one that gets it next first. */
  allocationQueue: v.array(QueueEntry),
  heldInside: v.boolean(),
  blockedBecause: v.string(),
  blockedBy: v.array(Blocker),
  ...SITE_METADATA,
});
export type UnitBody = ToldBy<typeof UnitBody>;

nameSchemas({ UnitBody });

/** The unit as the contract serves it: state and commands of its work, never its I/O configuration (contract 3, Unit read body). */
export function unitBody(stored: Resource<UnitSpec, UnitStatus>, read: StoreReader, world: BlockedWorld): UnitBody {
  const { shown: resource, blockedBy: standing } = lookAtShown(world.store, stored);
  const { metadata, spec, status } = resource;
  const { site, name } = metadata;
  const { activeWork, commandRejection } = status;
  const state: State = status.state === '' ? 'Idle' : status.state;
  const blockedBy = standing ?? unitBlockedBy(world, site, name, status.allocatedTo);
  return {
    name: metadata.name,
    processCell: spec.processCellName,
    description: spec.description,
    symbolId: spec.symbolId,
    state: status.state,
    mode: activeWork ? status.mode : unitMode(spec),
    allocatedTo: status.allocatedTo,
    ...(activeWork ? { activeWork } : {}),
    controllerRef: spec.controllerRef,
    runtimeReady: status.runtime.ready,
    runtimeMessage: status.runtime.message,
    // what the root of its work accepts; without a root nothing can be commanded (decisions 3.6)
    validCommands: activeWork === null && state === 'Idle' ? [] : validCommands(state, { heldInside: status.heldInside }),
    progression: progression(state),
    runtimeImage: spec.runtimeImage,
    runtimeBuild: runtimeBuild(status),
    conditions: [...status.conditions, outputOwnersOf(read, metadata)],
    failoverRequest: status.failoverRequest,
    autoFailover: status.autoFailover,
    writePosture: unitWritePosture(resource, read),
    capabilities: spec.capabilities,
    roleBindings: spec.roleBindings,
    scanInterval: spec.scanInterval || UNIT_SCAN_INTERVAL_DEFAULT,
    availability: spec.availability,
    permissives: spec.permissives,
    ...(spec.properties ? { properties: spec.properties } : {}),
    ...(spec.connections ? { connections: spec.connections } : {}),
    ...(spec.layout ? { layout: spec.layout } : {}),
    ...(commandRejection ? { commandRejection } : {}),
    ...(status.usage ? { usage: { count: status.usage.count, lastUsedAt: status.usage.lastUsedAt } } : {}),
    allocationQueue: allocationQueue(world.store, metadata.site, metadata.name),
    heldInside: status.heldInside,
    blockedBecause: blockedBecause(blockedBy),
    blockedBy,
    ...metadataBody(resource),
  };
}

/** Verdict `blocked` means that a running batch holds the runtime, so that a restart is refused (contract 3, Unit read body). */
function runtimeBuild({ runtime, allocatedTo, conditions }: UnitStatus): UnitBody['runtimeBuild'] {
  const seen = conditions.find((condition) => condition.type === 'RuntimeBuild');
  const verdict = runtime.podName === '' ? 'unread' : seen?.status === 'False' ? (allocatedTo === '' ? 'superseded' : 'blocked') : 'current';
  const summary = {
    unread: 'no unit runtime was seen yet',
    current: 'the unit runtime runs the present build',
    superseded: 'the unit runtime runs an older build; restart it when the unit is free',
    blocked: `the unit runtime runs an older build and is held by ${allocatedTo}`,
  }[verdict];
  const condition = pick(seen) ?? { status: verdict === 'unread' ? 'Unknown' : 'True', reason: verdict === 'unread' ? 'NotSeen' : 'SameBuild', message: summary };
  return { podName: runtime.podName, verdict, summary, condition };
}

function pick(condition: Condition | undefined): UnitBody['runtimeBuild']['condition'] | undefined {
  return condition && { status: condition.status, reason: condition.reason, message: condition.message };
}

/** Decisions D-UNIT-03: undeclared beats narrowed beats declared. */
export function unitWritePosture({ metadata }: Resource<UnitSpec, UnitStatus>, read: StoreReader): UnitBody['writePosture'] {
  const modules = modulesOf(read, metadata.site, metadata.name);
  const used = new Map<string, boolean>();
  for (const module of modules) {
    const resolved = resolvedModuleOf(read, module);
    for (const name of resolved?.ioModules ?? []) used.set(name, used.get(name) === true || writesTo(resolved?.blocks ?? [], name));
  }
  const postures = [...used].map(([name, writes]) => ({ name, writes, posture: read.get(IOModule, metadata.site, name)?.spec.failSafe?.posture ?? '' }));
  const silent = postures.find(({ posture }) => posture === '');
  if (silent) return { verdict: 'undeclared', summary: `I/O module ${silent.name} declares no posture` };
  const narrowed = postures.find(({ posture, writes }) => posture === 'observed' && writes);
  if (narrowed) return { verdict: 'narrowed', summary: `outputs on I/O module ${narrowed.name} are not written: its posture is observed` };
  return { verdict: 'declared', summary: postures.length === 0 ? 'the unit has no I/O' : 'every I/O module of the unit declares its posture' };
}

function writesTo(blocks: readonly { readonly type: string; readonly params?: Readonly<Record<string, unknown>> }[], module: string): boolean {
  return blocks.some((block) => (block.type === 'AO' || block.type === 'DO') && String(block.params?.addr ?? '').startsWith(`${module}:`));
}

/** Whether each output that its logic writes has one owner (ADR 0071); read of the plant as it is, so that no edit of a template is missed. */
function outputOwnersOf(read: StoreReader, { site, name }: Resource['metadata']): Condition {
  const contested = contestedOutputs(read, site, name);
  return contested.length === 0
    ? { type: 'OutputsSingleWriter', status: 'True', reason: 'OneOwner', message: '' }
    : { type: 'OutputsSingleWriter', status: 'False', reason: 'SeveralOwners', message: contested.map(contestedWords).join('; ') };
}
