/** Coordination between elements of a batch (contract 3, Other kinds; decisions 1.6, 2.7): signals and barriers. */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { Count, Identifier, Required, Text } from '../../platform/store/fields.js';
import type { Kind, Reference, StatusMembers } from '../../platform/store/kind.js';
import { COORDINATION_BLOCK_WORDS, ENDPOINT_WORDS, SIGNAL_WORDS, SYNC_BARRIER_WORDS, WAITING_WORDS } from './field-words.js';

export const ENDPOINT_KINDS = ['Phase', 'Operation', 'UnitProcedure'] as const;

const ENDPOINT = {
  kind: v.picklist(ENDPOINT_KINDS),
  /** Element name; in a pattern (no batchRef) a step path such as `makeResin/charge/receive`. */
  name: Required,
  namespace: v.optional(v.string()),
  unitRef: Text,
};
const Producer = v.strictObject(ENDPOINT);
const Waiting = v.strictObject({ ...ENDPOINT, waitFor: v.optional(v.picklist(['Start', 'Chart']), 'Start') });
export type SignalEndpoint = v.InferOutput<typeof Producer>;
export type WaitingEndpoint = v.InferOutput<typeof Waiting>;

const Signal = v.strictObject({
  signalName: Identifier,
  producer: Producer,
  consumers: v.pipe(v.array(Waiting), v.minLength(1), v.maxLength(16)),
  /** Evaluated in the running chart of the producer; empty: raised when the producer is Complete. */
  condition: Text,
});

export const CoordinationBlockSpec = v.strictObject({
  mode: v.picklist(['Signal']), // decisions Q-CHANGE-15
  batchRef: Text,
  timeoutSeconds: Count,
  description: Text,
  signal: v.optional(Signal),
});
export type CoordinationBlockSpec = v.InferOutput<typeof CoordinationBlockSpec>;

export const COORDINATION_PHASES = ['Idle', 'Active', 'Satisfied', 'TimedOut', 'Failed'] as const;
export type CoordinationPhase = (typeof COORDINATION_PHASES)[number];

export interface CoordinationBlockStatus {
  readonly phase: CoordinationPhase;
  readonly signalRaised: boolean;
  readonly signalRaisedAt: string;
  readonly consumerStatuses: readonly { readonly kind: string; readonly name: string; readonly waiting: boolean; readonly consumed: boolean; readonly consumedAt: string }[];
  readonly activeAt: string;
  /** How long it has been Active, for a time-out that goes on after a restart; kept now and then. */
  readonly activeForMs?: number;
  readonly satisfiedAt: string;
  readonly message: string;
}

const BLOCK_STATUS: StatusMembers<CoordinationBlockStatus> = {
  phase: v.picklist(COORDINATION_PHASES),
  signalRaised: v.boolean(),
  signalRaisedAt: v.string(),
  consumerStatuses: v.array(v.object({ kind: v.string(), name: v.string(), waiting: v.boolean(), consumed: v.boolean(), consumedAt: v.string() })),
  activeAt: v.string(),
  activeForMs: v.number(),
  satisfiedAt: v.string(),
  message: v.string(),
};

/** The copies that a batch has of patterns become past with its elements, below whose name they are called. */
const PAST_WITH = { kind: 'Procedure', named: 'below' } as const;

export const CoordinationBlock: Kind<CoordinationBlockSpec, CoordinationBlockStatus> = {
  kind: 'CoordinationBlock',
  group: 'control',
  scope: 'site',
  action: 'coordinationblock',
  spec: CoordinationBlockSpec,
  body: 'spec',
  apply: { how: 'yes' },
  initialStatus: () => ({ phase: 'Idle', signalRaised: false, signalRaisedAt: '', consumerStatuses: [], activeAt: '', satisfiedAt: '', message: '' }),
  status: BLOCK_STATUS,
  pastWith: PAST_WITH,
  references: ({ batchRef, signal }, site) => [
    ...batchOf(batchRef, site),
    ...(signal
      ? [
          ...endpointAt('signal.producer', signal.producer, batchRef, site),
          ...signal.consumers.flatMap((consumer, at) => endpointAt(`signal.consumers[${at}]`, consumer, batchRef, site)),
        ]
      : []),
  ],
};

export const SyncBarrierSpec = v.strictObject({
  batchRef: Text,
  description: Text,
  timeoutSeconds: Count,
  participants: v.pipe(v.array(Waiting), v.minLength(2), v.maxLength(16)),
  /** 0: all participants. */
  count: Count,
});
export type SyncBarrierSpec = v.InferOutput<typeof SyncBarrierSpec>;

describeFields(Producer, ENDPOINT_WORDS);
describeFields(Waiting, WAITING_WORDS);
describeFields(Signal, SIGNAL_WORDS);
describeFields(CoordinationBlockSpec, COORDINATION_BLOCK_WORDS);
describeFields(SyncBarrierSpec, SYNC_BARRIER_WORDS);

export interface SyncBarrierStatus {
  readonly phase: CoordinationPhase;
  readonly arrivals: readonly { readonly kind: string; readonly name: string; readonly arrivedAt: string }[];
  readonly activeAt: string;
  /** How long it has been Active, for a time-out that goes on after a restart; kept now and then. */
  readonly activeForMs?: number;
  readonly satisfiedAt: string;
  readonly message: string;
}

const BARRIER_STATUS: StatusMembers<SyncBarrierStatus> = {
  phase: v.picklist(COORDINATION_PHASES),
  arrivals: v.array(v.object({ kind: v.string(), name: v.string(), arrivedAt: v.string() })),
  activeAt: v.string(),
  activeForMs: v.number(),
  satisfiedAt: v.string(),
  message: v.string(),
};

export const SyncBarrier: Kind<SyncBarrierSpec, SyncBarrierStatus> = {
  kind: 'SyncBarrier',
  group: 'control',
  scope: 'site',
  action: 'syncbarrier',
  spec: SyncBarrierSpec,
  body: 'spec',
  apply: { how: 'yes' },
  initialStatus: () => ({ phase: 'Idle', arrivals: [], activeAt: '', satisfiedAt: '', message: '' }),
  status: BARRIER_STATUS,
  pastWith: PAST_WITH,
  references: ({ batchRef, participants }, site) => [
    ...batchOf(batchRef, site),
    ...participants.flatMap((participant, at) => endpointAt(`participants[${at}]`, participant, batchRef, site)),
  ],
};

function batchOf(batchRef: string, site: string): Reference[] {
  return batchRef === '' ? [] : [{ path: 'batchRef', kind: 'Batch', site, name: batchRef, when: 'run' }];
}

/** In a pattern the name of an endpoint is a step path: it names no resource. */
function endpointAt(path: string, { kind, name, unitRef }: SignalEndpoint, batchRef: string, site: string): Reference[] {
  return [
    ...(batchRef === '' ? [] : [{ path: `${path}.name`, kind, site, name, when: 'run' } as const]),
    ...(unitRef === '' ? [] : [{ path: `${path}.unitRef`, kind: 'Unit', site, name: unitRef, when: 'run' } as const]),
  ];
}
