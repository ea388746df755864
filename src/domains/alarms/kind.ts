/** Alarm definitions and alarms (contract 2, Alarms; decisions ALARM). Tags are evaluated in the scan, states in definition-reconciler.ts. */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { STATES } from '../../../runtime/vocabulary/states.js';
import { NumberText, Required, StoredTerm, Text } from '../../platform/store/fields.js';
import type { Kind, StatusMembers } from '../../platform/store/kind.js';
import type { Term } from '../../platform/base/term.js';
import type { Resource } from '../../platform/store/resource.js';
import { ALARM_DEFINITION_WORDS, ALARM_WORDS, ARMING_GATE_WORDS } from './field-words.js';

export const ALARM_TYPES = ['Process', 'Equipment', 'Batch', 'System', 'Safety'] as const; // decisions Q-ALARM-01
export const ALARM_SEVERITIES = ['Low', 'Medium', 'High', 'Critical'] as const;
export const CONDITION_TYPES = ['StateEquals', 'TagHigh', 'TagLow', 'TagHighHigh', 'TagLowLow', 'TagDeviation', 'TagTrue', 'TagFalse'] as const;
export const SOURCE_KINDS = ['IOModule', 'Unit', 'ControlModule'] as const;
export const EXCEPTION_ACTIONS = ['Hold', 'Stop', 'Abort'] as const;
export const ALARM_STATES = ['ActiveUnacknowledged', 'ActiveAcknowledged', 'ClearedUnacknowledged', 'ClearedAcknowledged'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

export const ALARM_ORIGINS = ['definition', 'system', 'apply'] as const;
/**
 * What the gateway knows of why an alarm came: the definition names one that it follows from; the connection of its I/O module is lost; another
 * alarm commanded the unit; another one of the same source came first.
 */
export const CAUSE_REASONS = ['definition', 'device', 'command', 'source'] as const;
/** Why a definition does not watch; '' while it does. */
export const SUPPRESSIONS = ['', 'Disabled', 'NotArmed'] as const;

/** Not in the contract: more is no list that somebody has thought through. */
const FOLLOWS_MAX = 32;
/** Not in the contract: as long as a message, and as many steps as somebody reads while it is alarming. */
const Guidance = v.pipe(v.string(), v.maxLength(1024));
const STEPS_MAX = 12;
const DEBOUNCE_MAX_S = 86_400; // decisions Q-ALARM-10
const PRIORITY_MAX = 1000;

const ArmingGate = v.strictObject({
  phaseTemplateRef: Required,
  unitRef: Required,
  states: v.optional(v.array(v.picklist(STATES)), ['Running']),
});

/** An alarm as the record of a batch has it (batch-alarms.ts). */
export const BatchAlarm = v.strictObject({
  name: v.string(),
  definitionRef: v.string(),
  source: v.string(),
  severity: v.string(),
  message: v.string(),
  raisedAt: v.string(),
  acknowledgedAt: v.string(),
  acknowledgedBy: v.string(),
  clearedAt: v.string(),
  exceptionAction: v.string(),
  /** When the batch got the unit: the alarm stood before, and its other times may be older. Absent of one that was raised while the batch held the unit. */
  standingAt: v.optional(v.string()),
});
export type BatchAlarm = ToldBy<typeof BatchAlarm>;

/** Told of a batch when it gets a unit on which an alarm stands; the events of the alarm follow it in the same stream. */
export interface StandingAlarmFact extends Omit<BatchAlarm, 'name' | 'standingAt'> {
  readonly event: 'Standing';
  readonly timestamp: string;
  readonly alarm: string;
  readonly unit: string;
  readonly state: AlarmState;
}

nameSchemas({ ArmingGate, BatchAlarm });

export const AlarmDefinitionSpec = v.strictObject({
  sourceKind: v.picklist(SOURCE_KINDS),
  sourceName: Required,
  conditionType: v.picklist(CONDITION_TYPES),
  stateValue: Text,
  tagName: Text,
  threshold: NumberText,
  setpoint: NumberText,
  deadband: NumberText,
  debounceSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(DEBOUNCE_MAX_S)), 0),
  type: v.optional(v.picklist(ALARM_TYPES), 'Process'),
  severity: v.optional(v.picklist(ALARM_SEVERITIES), 'Medium'),
  message: Text,
  priority: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(PRIORITY_MAX)), 500),
  enabled: v.optional(v.boolean(), true),
  /** Empty: annunciation only. */
  exceptionAction: v.optional(v.picklist(['', ...EXCEPTION_ACTIONS]), ''),
  /** Set by apply only (contract 2, Alarm definition). */
  armingGate: v.optional(v.nullable(ArmingGate), null),
  /** What the operator is told to do (ISA-18.2, 6.2.4); apply writes them, as the gate (decisions D-UNIT-01). */
  cause: v.optional(Guidance),
  consequence: v.optional(Guidance),
  action: v.optional(v.pipe(v.array(Guidance), v.maxLength(STEPS_MAX))),
  /** Definitions whose alarm explains that of this one. */
  follows: v.optional(v.pipe(v.array(Required), v.maxLength(FOLLOWS_MAX))),
});
export type AlarmDefinitionSpec = v.InferOutput<typeof AlarmDefinitionSpec>;

export interface AlarmDefinitionStatus {
  readonly armed: boolean;
  readonly suppressedBy: (typeof SUPPRESSIONS)[number];
  readonly activeAlarmRef: string;
  /** How many alarms it has raised: their names count on and are never used again. */
  readonly raised?: number;
}

const DEFINITION_STATUS: StatusMembers<AlarmDefinitionStatus> = {
  armed: v.boolean(),
  suppressedBy: v.picklist(SUPPRESSIONS),
  activeAlarmRef: v.string(),
  raised: v.number(),
};

export const AlarmDefinition: Kind<AlarmDefinitionSpec, AlarmDefinitionStatus> = {
  kind: 'AlarmDefinition',
  group: 'control',
  scope: 'site',
  action: 'alarmdefinition',
  path: 'alarmdefinitions',
  spec: AlarmDefinitionSpec,
  body: 'flat',
  writtenElsewhere: ['armingGate', 'cause', 'consequence', 'action', 'follows'],
  apply: { how: 'yes' },
  controlled: true,
  required: ['sourceKind', 'sourceName', 'conditionType'],
  initialStatus: (spec) => ({
    armed: spec.enabled && spec.armingGate === null,
    suppressedBy: spec.enabled ? (spec.armingGate === null ? '' : 'NotArmed') : 'Disabled',
    activeAlarmRef: '',
  }),
  status: DEFINITION_STATUS,
  mendsStatus: true,
  references: ({ sourceKind, sourceName, armingGate, follows = [] }, site) => [
    { path: 'sourceName', kind: sourceKind, site, name: sourceName, when: 'write', ...(sourceKind === 'ControlModule' ? { holds: true as const } : {}) },
    ...follows.map((name, at) => ({ path: `follows[${at}]`, kind: 'AlarmDefinition', site, name, when: 'run' }) as const),
    ...(armingGate === null
      ? []
      : ([
          { path: 'armingGate.phaseTemplateRef', kind: 'PhaseTemplate', site, name: armingGate.phaseTemplateRef, when: 'run' },
          { path: 'armingGate.unitRef', kind: 'Unit', site, name: armingGate.unitRef, when: 'run' },
        ] as const)),
  ],
};

export const AlarmSpec = v.strictObject({
  /** `<Kind>/<name>` (contract 2, Alarm). */
  source: v.pipe(v.string(), v.regex(/^[A-Za-z]+\/.+$/, 'source must have the form <Kind>/<name>')),
  type: v.optional(v.picklist(ALARM_TYPES), 'Process'),
  severity: v.optional(v.picklist(ALARM_SEVERITIES), 'Medium'),
  message: Text,
  definitionRef: Text,
  conditionType: Text,
  setpoint: Text,
  value: Text,
});
export type AlarmSpec = v.InferOutput<typeof AlarmSpec>;

describeFields(ArmingGate, ARMING_GATE_WORDS);
describeFields(AlarmDefinitionSpec, ALARM_DEFINITION_WORDS);
describeFields(AlarmSpec, ALARM_WORDS);

/** An acknowledgement that waits for the verdict of the alarm controller (contract 2, Alarms). */
export interface PendingAcknowledgement {
  readonly accountId: string;
  readonly displayName: string;
  readonly correlationID: string;
  readonly comment: string;
}

/** The first of the alarms that came of one thing, and how the gateway knows. */
export interface AlarmCause {
  readonly alarm: string;
  readonly by: (typeof CAUSE_REASONS)[number];
}

/** A batch, or the root of an ad-hoc execution. */
export interface CommandTarget {
  readonly kind: string;
  readonly name: string;
}

export interface AlarmStatus {
  readonly state: AlarmState;
  readonly unit: string;
  readonly value: string;
  readonly priority: number;
  readonly occurrences: number;
  readonly activatedAt: string;
  /** Number of the event of its last activation among those of the site: what came first, whatever the clock said. Absent in what a release before has kept, and of an alarm that was applied. */
  readonly activation?: number;
  readonly clearedAt: string;
  readonly acknowledgedAt: string;
  readonly acknowledgedBy: string;
  readonly shelvedUntil: string;
  readonly shelvedBy: string;
  /** The shelf as it is judged. */
  readonly shelf?: Term | undefined;
  /** Why it was shelved, as the person said; absent where nobody asked. */
  readonly shelfReason?: string;
  /** Absent of one that stands alone. */
  readonly cause?: AlarmCause;
  readonly origin: (typeof ALARM_ORIGINS)[number];
  /** Of the definition when it raised the alarm; empty or absent when it watched no tag. */
  readonly tagName?: string;
  /** Of the definition when it raised the alarm; empty or absent: annunciation only. */
  readonly exceptionAction?: (typeof EXCEPTION_ACTIONS)[number] | '';
  /** Work that the exception action has still to be given to; absent when there is none. */
  readonly exceptionDue?: readonly CommandTarget[];
  /** It was cleared because its definition was disarmed. */
  readonly suppressed?: boolean;
  readonly acknowledging?: readonly PendingAcknowledgement[];
}

const ALARM_STATUS: StatusMembers<AlarmStatus> = {
  state: v.picklist(ALARM_STATES),
  unit: v.string(),
  value: v.string(),
  priority: v.number(),
  occurrences: v.number(),
  activatedAt: v.string(),
  activation: v.number(),
  clearedAt: v.string(),
  acknowledgedAt: v.string(),
  acknowledgedBy: v.string(),
  shelvedUntil: v.string(),
  shelvedBy: v.string(),
  shelf: StoredTerm,
  shelfReason: v.string(),
  cause: v.object({ alarm: v.string(), by: v.picklist(CAUSE_REASONS) }),
  origin: v.picklist(ALARM_ORIGINS),
  tagName: v.string(),
  exceptionAction: v.picklist(['', ...EXCEPTION_ACTIONS]),
  exceptionDue: v.array(v.object({ kind: v.string(), name: v.string() })),
  suppressed: v.boolean(),
  acknowledging: v.array(v.object({ accountId: v.string(), displayName: v.string(), correlationID: v.string(), comment: v.string() })),
};

export const Alarm: Kind<AlarmSpec, AlarmStatus> = {
  kind: 'Alarm',
  group: 'control',
  scope: 'site',
  action: 'alarm',
  path: 'alarms',
  spec: AlarmSpec,
  body: 'spec',
  apply: { how: 'create-only' },
  initialStatus: (spec) => ({
    state: 'ActiveUnacknowledged',
    unit: '',
    value: spec.value,
    priority: 500,
    occurrences: 1,
    activatedAt: '',
    clearedAt: '',
    acknowledgedAt: '',
    acknowledgedBy: '',
    shelvedUntil: '',
    shelvedBy: '',
    origin: 'apply',
  }),
  status: ALARM_STATUS,
  mendsStatus: true,
};

/** How many system alarms of each topic a site has had, and how many alarms each definition that was deleted: their names count on and are never used again (decisions Q-ALARM-02). Never served. */
export interface AlarmCounterSpec {
  readonly raised: Readonly<Record<string, number>>;
}

export const AlarmCounter: Kind<AlarmCounterSpec, Readonly<Record<string, never>>> = {
  kind: 'AlarmCounter',
  group: 'system',
  scope: 'site',
  action: 'alarm',
  spec: v.looseObject({ raised: v.record(v.string(), v.number()) }),
  body: 'document',
  besideSite: true,
  apply: { how: 'no', reason: 'the numbers of system alarms are counted by the alarm controller' },
  initialStatus: () => ({}),
};

export function isActive(state: AlarmStatus['state']): boolean {
  return state === 'ActiveUnacknowledged' || state === 'ActiveAcknowledged';
}

export type AlarmResource = Resource<AlarmSpec, AlarmStatus>;
export type DefinitionResource = Resource<AlarmDefinitionSpec, AlarmDefinitionStatus>;
