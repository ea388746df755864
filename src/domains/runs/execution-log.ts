/**
 * What happened to a batch, as append-only facts beside the audit trail (decisions 8.1, 8.3): execution events, messages,
 * state spans, operator actions and external results. A fact is committed in the transaction of the change it tells of;
 * the batch record is assembled from them.
 */
import * as v from 'valibot';
import { ToldSchema } from './told-schema.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';

export type FactStream = 'events' | 'messages' | 'states' | 'actions' | 'results';

/** The alarms of a batch are written by the alarm register (batch-alarms.ts). */
export type BatchStream = FactStream | 'alarms';

/** Stream name of the ledger. */
export function streamOf(kind: BatchStream, site: string, batch: string): string {
  return `${kind}/${site}/${batch}`;
}

export const BATCH_STREAMS = ['events', 'messages', 'states', 'actions', 'results', 'alarms'] as const satisfies readonly BatchStream[];

/** All that is told of a batch, or of an execution by hand. */
export function streamsOf(site: string, scope: string): readonly string[] {
  return BATCH_STREAMS.map((kind) => streamOf(kind, site, scope));
}

export function lastFacts(site: string, batch: string, lastFact: (stream: string) => number): Readonly<Record<BatchStream, number>> {
  const last = (kind: BatchStream): number => lastFact(streamOf(kind, site, batch));
  return { events: last('events'), messages: last('messages'), states: last('states'), actions: last('actions'), results: last('results'), alarms: last('alarms') };
}

export const ElementRef = v.strictObject({
  kind: v.string(),
  name: v.string(),
  path: v.string(),
});
export type ElementRef = ToldBy<typeof ElementRef>;

export const Person = v.strictObject({
  accountId: v.string(),
  displayName: v.string(),
});
export type Person = ToldBy<typeof Person>;

/** BatchML event enumerations (decisions 8.3), so that export is one to one. */
export const ExecutionEvent = v.strictObject({
  id: v.number(),
  ts: v.string(),
  eventType: v.picklist(['Procedural Execution', 'Equipment', 'Operator', 'Material', 'Message', 'Alarm', 'General', 'Control Recipe']),
  eventSubType: v.string(),
  element: ElementRef,
  unit: v.string(),
  equipment: v.string(),
  value: v.string(),
  previousValue: v.string(),
  message: v.string(),
  /** Absent where the message is a name or what a person has written, and in what a release before this one has kept. */
  told: v.optional(ToldSchema),
  person: v.nullable(Person),
  correlationID: v.string(),
  auditRecordRef: v.string(),
});
export type ExecutionEvent = ToldBy<typeof ExecutionEvent>;

export const BatchMessage = v.strictObject({
  id: v.number(),
  ts: v.string(),
  severity: v.picklist(['Info', 'Warning', 'Error']),
  type: v.picklist(['Message', 'Prompt', 'PromptResponse', 'System']),
  text: v.string(),
  /** Of what the box itself says; absent where a recipe or a person does, and in what a release before this one has kept. */
  told: v.optional(ToldSchema),
  element: ElementRef,
  stepName: v.string(),
});
export type BatchMessage = ToldBy<typeof BatchMessage>;

/** One state an element entered; spans are the time to the next entry of the same element and run. */
export const StateEntry = v.strictObject({
  id: v.number(),
  ts: v.string(),
  kind: v.string(),
  name: v.string(),
  path: v.string(),
  unit: v.string(),
  templateRef: v.string(),
  run: v.number(),
  state: v.string(),
  previousState: v.string(),
  cause: v.string(),
});
export type StateEntry = ToldBy<typeof StateEntry>;

/** Decisions 8.1, operatorActions. */
export const OperatorAction = v.strictObject({
  id: v.number(),
  ts: v.string(),
  action: v.string(),
  element: ElementRef,
  person: Person,
  signed: v.boolean(),
  meaning: v.string(),
  reason: v.string(),
  value: v.string(),
  acknowledgedBy: v.string(),
  signatureRef: v.string(),
  auditRecordRef: v.string(),
});
export type OperatorAction = ToldBy<typeof OperatorAction>;

/** Decisions 8.1, externalResults. */
export const ExternalResultFact = v.strictObject({
  id: v.number(),
  ts: v.string(),
  phase: v.string(),
  stepName: v.string(),
  resultKey: v.string(),
  value: v.string(),
  unit: v.string(),
  min: v.string(),
  max: v.string(),
  externalSystem: v.string(),
  sampleID: v.string(),
  credential: v.string(),
  auditRecordRef: v.string(),
});
export type ExternalResultFact = ToldBy<typeof ExternalResultFact>;

nameSchemas({ ElementRef, Person, ExecutionEvent, BatchMessage, OperatorAction, ExternalResultFact });

/** `previousValue` of an event Operator / Prompt: the prompt of that text has gone (decisions 2.2). */
export const PROMPT_CANCELLED = 'PromptCancelled';

export interface PendingFact {
  readonly stream: string;
  readonly body: (sequence: number) => unknown;
}

const NO_ELEMENT: ElementRef = { kind: 'Batch', name: '', path: '' };

export function executionEvent(site: string, batch: string, ts: string, event: Pick<ExecutionEvent, 'eventType' | 'eventSubType'> & Partial<ExecutionEvent>): PendingFact {
  const body = {
    ts,
    element: { ...NO_ELEMENT, name: batch },
    unit: '',
    equipment: '',
    value: '',
    previousValue: '',
    message: '',
    person: null,
    correlationID: '',
    auditRecordRef: '',
    ...event,
  };
  return { stream: streamOf('events', site, batch), body: (id): ExecutionEvent => ({ ...body, id }) };
}

export function batchMessage(site: string, batch: string, message: Omit<BatchMessage, 'id'>): PendingFact {
  return { stream: streamOf('messages', site, batch), body: (id): BatchMessage => ({ ...message, id }) };
}

export function stateEntry(site: string, batch: string, entry: Omit<StateEntry, 'id'>): PendingFact {
  return { stream: streamOf('states', site, batch), body: (id): StateEntry => ({ ...entry, id }) };
}

export function operatorAction(site: string, batch: string, action: Omit<OperatorAction, 'id'>): PendingFact {
  return { stream: streamOf('actions', site, batch), body: (id): OperatorAction => ({ ...action, id }) };
}

export function externalResult(site: string, batch: string, result: Omit<ExternalResultFact, 'id'>): PendingFact {
  return { stream: streamOf('results', site, batch), body: (id): ExternalResultFact => ({ ...result, id }) };
}
