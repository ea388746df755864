/**
 * What happened to a batch, as append-only facts beside the audit trail (decisions 8.1, 8.3): execution events, messages,
 * state spans, operator actions and external results. A fact is committed in the transaction of the change it tells of;
 * the batch record is assembled from them.
 */

export type FactStream = 'events' | 'messages' | 'states' | 'actions' | 'results';

/** The alarms of a batch are written by the alarm register (batch-alarms.ts). */
export type BatchStream = FactStream | 'alarms';

/** Stream name of the ledger. */
export function streamOf(kind: BatchStream, site: string, batch: string): string {
  return `${kind}/${site}/${batch}`;
}

export function lastFacts(site: string, batch: string, lastFact: (stream: string) => number): Readonly<Record<BatchStream, number>> {
  const last = (kind: BatchStream): number => lastFact(streamOf(kind, site, batch));
  return { events: last('events'), messages: last('messages'), states: last('states'), actions: last('actions'), results: last('results'), alarms: last('alarms') };
}

export interface ElementRef {
  readonly kind: string;
  readonly name: string;
  readonly path: string;
}

export interface Person {
  readonly accountId: string;
  readonly displayName: string;
}

/** BatchML event enumerations (decisions 8.3), so that export is one to one. */
export interface ExecutionEvent {
  readonly id: number;
  readonly ts: string;
  readonly eventType: 'Procedural Execution' | 'Equipment' | 'Operator' | 'Material' | 'Message' | 'Alarm' | 'General' | 'Control Recipe';
  readonly eventSubType: string;
  readonly element: ElementRef;
  readonly unit: string;
  readonly equipment: string;
  readonly value: string;
  readonly previousValue: string;
  readonly message: string;
  readonly person: Person | null;
  readonly correlationID: string;
  readonly auditRecordRef: string;
}

export interface BatchMessage {
  readonly id: number;
  readonly ts: string;
  readonly severity: 'Info' | 'Warning' | 'Error';
  readonly type: 'Message' | 'Prompt' | 'PromptResponse' | 'System';
  readonly text: string;
  readonly element: ElementRef;
  readonly stepName: string;
}

/** One state an element entered; spans are the time to the next entry of the same element and run. */
export interface StateEntry {
  readonly id: number;
  readonly ts: string;
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly unit: string;
  readonly templateRef: string;
  readonly run: number;
  readonly state: string;
  readonly previousState: string;
  readonly cause: string;
}

/** Decisions 8.1, operatorActions. */
export interface OperatorAction {
  readonly id: number;
  readonly ts: string;
  readonly action: string;
  readonly element: ElementRef;
  readonly person: Person;
  readonly signed: boolean;
  readonly meaning: string;
  readonly reason: string;
  readonly value: string;
  readonly acknowledgedBy: string;
  readonly signatureRef: string;
  readonly auditRecordRef: string;
}

/** Decisions 8.1, externalResults. */
export interface ExternalResultFact {
  readonly id: number;
  readonly ts: string;
  readonly phase: string;
  readonly stepName: string;
  readonly resultKey: string;
  readonly value: string;
  readonly unit: string;
  readonly min: string;
  readonly max: string;
  readonly externalSystem: string;
  readonly sampleID: string;
  readonly credential: string;
  readonly auditRecordRef: string;
}

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
