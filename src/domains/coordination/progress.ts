/**
 * How the signals and barriers of a batch move on (decisions 2.7): Idle, Active while somebody is at work, Satisfied, or
 * TimedOut or Failed. Pure: it is told the state of each element and answers with the next status.
 *
 * Raised stays raised, and who has arrived has arrived: an element that is held and restarted does not have to do it again.
 */
import { type Told, told } from '../../../runtime/vocabulary/told.js';
import type { WallMs } from '../../platform/base/times.js';
import type { State } from '../../../runtime/vocabulary/states.js';
import { timestamp } from '../../platform/base/clock.js';
import type { Resource } from '../../platform/store/resource.js';
import { unanswered } from './condition.js';
import type { CoordinationBlockSpec, CoordinationBlockStatus, CoordinationPhase, SignalEndpoint, SyncBarrierSpec, SyncBarrierStatus, WaitingEndpoint } from './kind.js';

/** Label of the copy that a batch has of a pattern: the name that its charts know it by. */
export const PATTERN_LABEL = 'lineside.io/pattern';

/** What is known of the element an endpoint names. */
export interface EndpointFacts {
  readonly state: State;
  /** It is the element's turn, and nothing but coordination keeps it from starting. */
  readonly waitsToStart: boolean;
}

export interface CoordinationWorld {
  /** Wall time, for what is told. */
  readonly nowMs: WallMs;
  /** Elapsed since the block or barrier became Active. */
  readonly activeMs: number;
  /** Undefined when the batch has no such element. */
  facts(endpoint: SignalEndpoint): EndpointFacts | undefined;
}

export type CoordinationRule = 'coordination-timeout' | 'coordination-failed';

/** Elements that wait for something that has not come in time, or will not come; each is held with this failure. */
export interface CoordinationFailure {
  readonly rule: CoordinationRule;
  readonly message: string;
  readonly told: Told | undefined;
  readonly waiting: readonly WaitingEndpoint[];
}

export interface Progress<Status> {
  readonly status: Status;
  readonly failure?: CoordinationFailure;
}

const ENDED: readonly State[] = ['Stopped', 'Aborted'];

export function advanceBlock(spec: CoordinationBlockSpec, before: CoordinationBlockStatus, world: CoordinationWorld): Progress<CoordinationBlockStatus> {
  const { signal, timeoutSeconds } = spec;
  if (!signal) return { status: before };
  const producer = world.facts(signal.producer)?.state;
  const status = withConsumers(signal.consumers, raisedAtComplete(signal, before, producer, world), world);
  if (status.phase === 'Satisfied') return { status };
  const waiting = signal.consumers.filter((consumer) => !hasConsumed(status, consumer) && waits(consumer, world));
  const busy = producer === 'Running' || signal.consumers.some((consumer) => world.facts(consumer)?.state === 'Running') || waiting.length > 0;
  const lost = status.signalRaised ? undefined : neverRaised(signal, producer, waiting.length > 0);
  const late: Unmet = {
    message: `signal ${signal.signalName} was not ${status.signalRaised ? 'consumed' : 'raised'} within ${timeoutSeconds} s`,
    told: told('signal-late', { signal: signal.signalName, raised: String(status.signalRaised), seconds: String(timeoutSeconds) }),
  };
  return judge(status, { timeoutSeconds, busy, lost, late, waiting: status.signalRaised ? [] : waiting }, world);
}

/** Why a signal that somebody waits for will not come; undefined when it may. */
function neverRaised({ signalName, producer, condition }: NonNullable<CoordinationBlockSpec['signal']>, state: State | undefined, isWaitedFor: boolean): Unmet | undefined {
  if (state !== undefined && ENDED.includes(state))
    return { message: `${producer.name} is ${state} and has not raised signal ${signalName}`, told: told('signal-lost', { signal: signalName, producer: producer.name, state }) };
  const fault = isWaitedFor ? unanswered(condition) : '';
  return fault === '' ? undefined : { message: `signal ${signalName} is never raised: ${fault}`, told: undefined };
}

export function advanceBarrier(word: string, spec: SyncBarrierSpec, before: SyncBarrierStatus, world: CoordinationWorld): Progress<SyncBarrierStatus> {
  const { participants, timeoutSeconds } = spec;
  let status = before;
  for (const participant of participants) {
    if (participant.waitFor === 'Start' && world.facts(participant)?.waitsToStart) status = arrive(spec, status, participant.name, world.nowMs) ?? status;
  }
  if (status.phase === 'Satisfied') return { status };
  const hasArrived = ({ name }: WaitingEndpoint): boolean => status.arrivals.some((arrival) => arrival.name === name);
  const busy = status.arrivals.length > 0 || participants.some((participant) => world.facts(participant)?.state === 'Running');
  const gone = participants.filter((participant) => !hasArrived(participant) && ENDED.includes(world.facts(participant)?.state ?? 'Idle'));
  const left = gone.map(({ name }) => name).join(', ');
  const lost: Unmet | undefined =
    participants.length - gone.length < neededBy(spec)
      ? { message: `barrier ${word} cannot be reached: ${left} ended before`, told: told('barrier-lost', { barrier: word, gone: left }) }
      : undefined;
  const [arrived, needed] = [String(status.arrivals.length), String(neededBy(spec))];
  const late: Unmet = {
    message: `barrier ${word}: ${arrived} of ${needed} have arrived within ${timeoutSeconds} s`,
    told: told('barrier-late', { barrier: word, arrived, needed, seconds: String(timeoutSeconds) }),
  };
  const waiting = participants.filter((participant) => hasArrived(participant) && waits(participant, world));
  return judge(status, { timeoutSeconds, busy, lost, late, waiting }, world);
}

/** A participant has come to the barrier; undefined when that is known, or when it is none of its participants. */
export function arrive(spec: SyncBarrierSpec, status: SyncBarrierStatus, name: string, atMs: WallMs): SyncBarrierStatus | undefined {
  const participant = spec.participants.find((candidate) => candidate.name === name);
  if (!participant || status.arrivals.some((arrival) => arrival.name === name)) return undefined;
  const at = timestamp(atMs);
  const arrivals = [...status.arrivals, { kind: participant.kind, name, arrivedAt: at }];
  if (arrivals.length >= neededBy(spec)) return { ...status, arrivals, phase: 'Satisfied', activeAt: status.activeAt || at, satisfiedAt: at, message: '' };
  return { ...status, arrivals, ...activated(status, at) };
}

/** A consumer has read the signal TRUE; undefined when that is known, or when it is none of its consumers. */
export function consume(spec: CoordinationBlockSpec, status: CoordinationBlockStatus, name: string, atMs: WallMs): CoordinationBlockStatus | undefined {
  const consumers = spec.signal?.consumers ?? [];
  const consumer = consumers.find((candidate) => candidate.name === name);
  if (!consumer || hasConsumed(status, consumer)) return undefined;
  const at = timestamp(atMs);
  const entry = { kind: consumer.kind, name, waiting: false, consumed: true, consumedAt: at };
  const known = status.consumerStatuses.some((other) => other.name === name);
  const consumerStatuses = known ? status.consumerStatuses.map((other) => (other.name === name ? entry : other)) : [...status.consumerStatuses, entry];
  return satisfiedWhenAll(consumers, { ...status, consumerStatuses }, at);
}

/** After what time the controller has to look again although nobody reports anything; undefined without a time-out that runs. */
export function timeoutLeftMs({ timeoutSeconds }: { readonly timeoutSeconds: number }, { phase }: { readonly phase: CoordinationPhase }, activeMs: number): number | undefined {
  return timeoutSeconds > 0 && phase === 'Active' ? Math.max(0, timeoutSeconds * 1000 - activeMs) : undefined;
}

/** The name that charts read a barrier by: that of its pattern; a block that was made for the batch is used as it is. */
export function barrierWord({ metadata }: Pick<Resource, 'metadata'>): string {
  return metadata.labels[PATTERN_LABEL] ?? metadata.name;
}

/** Signals and barriers that READ answers TRUE for, of those of a batch. */
export function trueNames(
  blocks: readonly Resource<CoordinationBlockSpec, CoordinationBlockStatus>[],
  barriers: readonly Resource<SyncBarrierSpec, SyncBarrierStatus>[],
): string[] {
  const signals = blocks.filter(({ status }) => status.signalRaised);
  const passed = barriers.filter(({ status }) => status.satisfiedAt !== '');
  return [...signals.map(({ spec }) => spec.signal?.signalName ?? ''), ...passed.map(barrierWord)];
}

interface Unmet {
  readonly message: string;
  readonly told: Told | undefined;
}

interface Judgement {
  readonly timeoutSeconds: number;
  readonly busy: boolean;
  /** Why it will never be satisfied; undefined when it may be. */
  readonly lost: Unmet | undefined;
  readonly late: Unmet;
  readonly waiting: readonly WaitingEndpoint[];
}

/** The same order for signals and barriers: a failure is told once, at the change of the phase. */
function judge<Status extends { readonly phase: CoordinationPhase; readonly activeAt: string; readonly message: string }>(
  before: Status,
  { timeoutSeconds, busy, lost, late, waiting }: Judgement,
  { nowMs, activeMs }: CoordinationWorld,
): Progress<Status> {
  if (before.phase === 'TimedOut' || before.phase === 'Failed') return { status: before };
  const status = busy ? { ...before, ...activated(before, timestamp(nowMs)) } : before;
  if (lost) return { status: { ...status, phase: 'Failed', message: lost.message }, failure: { rule: 'coordination-failed', ...lost, waiting } };
  if ((timeoutLeftMs({ timeoutSeconds }, status, activeMs) ?? 1) > 0) return { status };
  return { status: { ...status, phase: 'TimedOut', message: late.message }, failure: { rule: 'coordination-timeout', ...late, waiting } };
}

function activated<Status extends { readonly phase: CoordinationPhase; readonly activeAt: string }>(
  status: Status,
  at: string,
): { readonly phase: CoordinationPhase; readonly activeAt: string } {
  return status.phase === 'Idle' || status.activeAt === ''
    ? { phase: status.phase === 'Idle' ? 'Active' : status.phase, activeAt: at }
    : { phase: status.phase, activeAt: status.activeAt };
}

/** Without a condition the signal is raised when its producer becomes Complete. */
function raisedAtComplete(
  { condition }: { readonly condition: string },
  status: CoordinationBlockStatus,
  producer: State | undefined,
  { nowMs }: CoordinationWorld,
): CoordinationBlockStatus {
  if (status.signalRaised || condition.trim() !== '' || producer !== 'Complete') return status;
  const at = timestamp(nowMs);
  return { ...status, ...activated(status, at), signalRaised: true, signalRaisedAt: at };
}

/** A consumer that waits to start has consumed the signal once it has started with the signal raised. */
function withConsumers(consumers: readonly WaitingEndpoint[], status: CoordinationBlockStatus, world: CoordinationWorld): CoordinationBlockStatus {
  const at = timestamp(world.nowMs);
  const consumerStatuses = consumers.map((consumer) => {
    const { kind, name, waitFor } = consumer;
    const known = status.consumerStatuses.find((entry) => entry.name === name);
    if (known?.consumed) return known;
    const facts = world.facts(consumer);
    const consumed = status.signalRaised && waitFor === 'Start' && facts !== undefined && facts.state !== 'Idle';
    return { kind, name, waiting: !consumed && waits(consumer, world), consumed, consumedAt: consumed ? at : '' };
  });
  return satisfiedWhenAll(consumers, { ...status, consumerStatuses }, at);
}

function satisfiedWhenAll(consumers: readonly WaitingEndpoint[], status: CoordinationBlockStatus, at: string): CoordinationBlockStatus {
  if (status.phase === 'Satisfied' || !status.signalRaised || !consumers.every((consumer) => hasConsumed(status, consumer))) return status;
  return { ...status, phase: 'Satisfied', activeAt: status.activeAt || at, satisfiedAt: at, message: '' };
}

function hasConsumed({ consumerStatuses }: CoordinationBlockStatus, { name }: WaitingEndpoint): boolean {
  return consumerStatuses.some((entry) => entry.name === name && entry.consumed);
}

/** Either kept from starting, or at work in a chart that reads the signal. */
function waits(endpoint: WaitingEndpoint, world: CoordinationWorld): boolean {
  const facts = world.facts(endpoint);
  return endpoint.waitFor === 'Start' ? facts?.waitsToStart === true : facts?.state === 'Running';
}

function neededBy({ count, participants }: SyncBarrierSpec): number {
  return count || participants.length;
}
