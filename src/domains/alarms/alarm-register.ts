/**
 * Writes alarms: every change of an alarm and the event that tells of it are one transaction, so that the history never
 * lags behind the state. Batches whose units are concerned get the event into their own history (decisions 8.3).
 */
import type { WallMs } from '../../platform/base/times.js';
import { createHash } from 'node:crypto';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { inside } from '../../platform/base/assert.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import type { Actor, AuditDraft } from '../../platform/store/audit-record.js';
import type { Applied, Put, Store } from '../../platform/store/store.js';
import { alarmExecutionEvent } from '../runs/alarm-event.js';
import type { PendingFact } from '../runs/execution-log.js';
import { Batch } from '../batches/kind.js';
import { Unit } from '../plant/kind.js';
import { type AlarmEvent, alarmEvent, type AlarmFact, alarmStream } from './alarm-event.js';
import { type BatchAlarmFact, batchAlarmStream } from './batch-alarms.js';
import { alarmIndex, systemName } from './alarm-index.js';
import { isShelved, shelfOf, unshelved } from './counts.js';
import { causeOf, explainedAnew } from './first-out.js';
import { Alarm, AlarmDefinition, type AlarmDefinitionSpec, type AlarmSpec, type AlarmStatus, SOURCE_KINDS, type AlarmResource, type DefinitionResource } from './kind.js';
import { countPut, countsOf, raisedBy } from './numbers.js';
import { unitsConcerned } from './sources.js';
import type { AlarmEventWord } from './transitions.js';

export interface AlarmRegisterParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The historian's copy of the events; absent without a historian. */
  readonly record?: ((event: AlarmEvent) => void) | undefined;
}

export interface AlarmChange {
  readonly site: string;
  readonly name: string;
  readonly spec: AlarmSpec;
  readonly status: AlarmStatus;
  /** Absent for a change that the history does not tell, such as an acknowledgement that waits for its verdict. */
  readonly event?: AlarmEventWord;
  readonly at?: string;
  readonly by?: Pick<Actor, 'accountId' | 'displayName'>;
  /** What the person said with it. */
  readonly comment?: string;
}

/** Why the product raises an alarm by itself. */
export interface SystemCondition {
  /** `<Kind>/<name>`. */
  readonly source: string;
  readonly type: 'Equipment' | 'Batch' | 'System';
  readonly severity: AlarmSpec['severity'];
  readonly message: string;
  /** `DeviceHealth` or empty (contract 2, Alarm). */
  readonly conditionType: 'DeviceHealth' | '';
  readonly value: string;
  /** Units concerned. */
  readonly units: readonly string[];
  /** How long it has to hold before it is an alarm, where that is longer than its topic says. */
  readonly holdsForMs?: number;
}

export interface Beside {
  readonly puts?: readonly Put[];
  readonly audits?: readonly AuditDraft[];
  /** The alarm itself goes. */
  readonly remove?: boolean;
}

const NAME_LENGTH_MAX = 63; // RFC 1123 label; decisions Q-ALARM-02
const HASH_LENGTH = 8;

export class AlarmRegister {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #record: AlarmRegisterParts['record'];

  constructor({ store, clock, record }: AlarmRegisterParts) {
    this.#store = store;
    this.#clock = clock;
    this.#record = record;
  }

  now(): string {
    return timestamp(this.#clock.wallMs());
  }

  /** @throws Refusal while the ledger refuses commits. */
  write(change: AlarmChange, { puts = [], audits = [], remove = false }: Beside = {}): Applied {
    const { site, name, spec, event } = change;
    const status = event === 'Activated' ? { ...change.status, activation: this.#store.lastFact(alarmStream(site)) + 1 } : change.status;
    const fact = event && { ...change, status, event, at: change.at ?? this.now(), shelved: isShelved(status, this.#store.terms) };
    const own = fact ? [{ stream: alarmStream(site), body: (sequence: number) => alarmEvent(fact, sequence) }] : [];
    const applied = this.#store.apply({
      puts: remove ? puts : [{ kind: Alarm, site, name, spec, status } as Put, ...puts],
      ...(remove ? { removes: [{ kind: Alarm.kind, site, name }] } : {}),
      audits,
      facts: fact ? [...own, ...this.#batchFacts(fact)] : [],
    });
    if (fact) this.#keep(applied, alarmEvent(fact, inside(applied.factSequences, 0, 'a fact that was written has its number')));
    return applied;
  }

  /** A transition that the disk refused is none: the store has taken it back. */
  #keep({ durable }: Applied, event: AlarmEvent): void {
    guardedPromise('record of an alarm', () =>
      durable.then(
        () => this.#record?.(event),
        () => undefined,
      ),
    );
  }

  /** A new alarm of a definition. It takes over the shelf that its resolved predecessor still has (decisions Q-ALARM-02). */
  raise(definition: DefinitionResource, value: Value, atMs: WallMs, due: Pick<AlarmStatus, 'exceptionDue'> = {}): string {
    const { site } = definition.metadata;
    const { spec } = definition;
    const { name, count } = this.#nextName(definition);
    const shelf = this.#standingShelf(site, definition.metadata.name);
    const units = unitsConcerned(spec, this.#store, site);
    const at = timestamp(atMs);
    const alarm = raisedSpec(definition, value);
    const cause = causeOf(this.#store, site, alarm, onlyOf(units));
    const status: AlarmStatus = {
      ...Alarm.initialStatus(alarm),
      unit: onlyOf(units),
      priority: spec.priority,
      activatedAt: at,
      tagName: spec.tagName,
      ...shelfOf(shelf?.status),
      exceptionAction: spec.exceptionAction,
      ...due,
      ...(cause ? { cause } : {}),
      origin: 'definition',
    };
    const puts: Put[] = [{ kind: AlarmDefinition, site, name: definition.metadata.name, status: { ...definition.status, raised: count, activeAlarmRef: name } } as Put];
    if (shelf) puts.push({ kind: Alarm, site, name: shelf.metadata.name, status: unshelved(shelf.status) } as Put);
    this.write({ site, name, spec: alarm, status, event: 'Activated', at }, { puts });
    return name;
  }

  /** One that has cleared and was not acknowledged is active once more: a circumstance of now explains it, or none. */
  comesBack(site: string, name: string, spec: AlarmSpec, status: AlarmStatus, at: string): Applied {
    return this.write({ site, name, spec, status: explainedAnew(this.#store, site, name, spec, status), event: 'Activated', at });
  }

  /** An alarm of the product itself, which no definition created. Takes over a shelf as one of a definition does. */
  raiseSystem(site: string, topic: string, condition: SystemCondition, atMs: WallMs): string {
    const { name, count, counter } = this.#nextSystemName(site, topic);
    const shelf = alarmIndex(this.#store)
      .ofSource(site, topic, condition.source)
      .find(({ status }) => status.state === 'ClearedAcknowledged' && isShelved(status, this.#store.terms));
    const at = timestamp(atMs);
    const spec = systemSpec(condition);
    const own = systemStatus(spec, condition, at);
    const cause = causeOf(this.#store, site, spec, own.unit);
    const status: AlarmStatus = { ...own, ...shelfOf(shelf?.status), ...(cause ? { cause } : {}) };
    const puts: Put[] = [countPut(site, { ...counter, [topic]: count })];
    if (shelf) puts.push({ kind: Alarm, site, name: shelf.metadata.name, status: unshelved(shelf.status) } as Put);
    this.write({ site, name, spec, status, event: 'Activated', at }, { puts });
    return name;
  }

  /** The alarm that `raiseSystem` would write, for the time in which nothing can be written. */
  unstoredSystem(site: string, topic: string, condition: SystemCondition, atMs: WallMs): AlarmResource {
    const at = timestamp(atMs);
    const spec = systemSpec(condition);
    const metadata = {
      name: this.#nextSystemName(site, topic).name,
      site,
      uid: '',
      labels: {},
      annotations: {},
      ownerReferences: [],
      generation: 1,
      resourceVersion: 0,
      createdAt: at,
      updatedAt: at,
    };
    return { kind: Alarm.kind, metadata, spec, status: systemStatus(spec, condition, at) };
  }

  #nextSystemName(site: string, topic: string): { readonly name: string; readonly count: number; readonly counter: Readonly<Record<string, number>> } {
    const counter = countsOf(this.#store, site);
    const count = this.#nextNumber(site, systemName(topic), counter[topic] ?? 0);
    return { name: alarmName(systemName(topic), count), count, counter };
  }

  #standingShelf(site: string, definition: string): AlarmResource | undefined {
    return alarmIndex(this.#store)
      .ofDefinition(site, definition)
      .find(({ status }) => status.state === 'ClearedAcknowledged' && isShelved(status, this.#store.terms));
  }

  /** `<definition>-<n>`, never used before. */
  #nextName(definition: DefinitionResource): { readonly name: string; readonly count: number } {
    const { site, name: ofDefinition } = definition.metadata;
    const count = this.#nextNumber(site, ofDefinition, raisedBy(this.#store, definition));
    return { name: alarmName(ofDefinition, count), count };
  }

  /** A counter that was lost with its row goes on above the alarms there are. */
  #nextNumber(site: string, of: string, raised: number): number {
    let count = (raised || this.#highest(site, of)) + 1;
    while (this.#isTaken(site, alarmName(of, count))) count += 1;
    return count;
  }

  /** Also by a row that could not be used: what lies there is evidence until somebody discards it. */
  #isTaken(site: string, name: string): boolean {
    return this.#store.get(Alarm, site, name) !== undefined || this.#store.isQuarantined({ kind: Alarm.kind, site, name });
  }

  #highest(site: string, of: string): number {
    const left = this.#store.faults.filter((row) => row.kind === Alarm.kind && row.site === site && !row.kept);
    const names = [...this.#store.list(Alarm, site).map(({ metadata }) => metadata.name), ...left.map(({ name }) => name)];
    let highest = 0;
    for (const name of names) {
      const number = Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
      if (number > highest && Number.isSafeInteger(number) && alarmName(of, number) === name) highest = number;
    }
    return highest;
  }

  /** For the history and the record of every batch that holds a unit the alarm is about. */
  #batchFacts(fact: AlarmFact): PendingFact[] {
    const { site, name, spec, status, event, at, by } = fact;
    const concerned = status.unit === '' ? this.#unitsOf(site, spec) : [status.unit];
    const holders = new Map(concerned.map((unit) => [this.#store.get(Unit, site, unit)?.status.allocatedTo ?? '', unit]));
    return [...holders].flatMap(([batch, unit]) => {
      if (batch === '' || !this.#store.get(Batch, site, batch)) return [];
      return [
        { stream: batchAlarmStream(site, batch), body: (id) => ({ ...alarmEvent(fact, id), exceptionAction: status.exceptionAction ?? '' }) satisfies BatchAlarmFact },
        alarmExecutionEvent({ site, batch, unit, at, event, name, spec, status, ...(by ? { by } : {}) }),
      ];
    });
  }

  #unitsOf(site: string, spec: AlarmSpec): readonly string[] {
    const definition = this.#store.get(AlarmDefinition, site, spec.definitionRef);
    if (definition) return unitsConcerned(definition.spec, this.#store, site);
    const [kind, ...name] = spec.source.split('/');
    const sourceKind = SOURCE_KINDS.find((each) => each === kind);
    return sourceKind ? unitsConcerned({ sourceKind, sourceName: name.join('/') }, this.#store, site) : [];
  }
}

function systemSpec({ source, type, severity, message, conditionType, value }: SystemCondition): AlarmSpec {
  return { source, type, severity, message, definitionRef: '', conditionType, setpoint: '', value };
}

/** '' of none and of several. */
function onlyOf(units: readonly string[]): string {
  const [only = ''] = units;
  return units.length === 1 ? only : '';
}

function systemStatus(spec: AlarmSpec, { units }: SystemCondition, at: string): AlarmStatus {
  return { ...Alarm.initialStatus(spec), unit: onlyOf(units), activatedAt: at, origin: 'system' };
}

/** Cut to the length of a resource name; the hash keeps what was cut apart. */
export function alarmName(definition: string, count: number): string {
  const name = `${definition}-${count}`;
  if (name.length <= NAME_LENGTH_MAX) return name;
  const end = `-${createHash('sha256').update(definition).digest('hex').slice(0, HASH_LENGTH)}-${count}`;
  return definition.slice(0, NAME_LENGTH_MAX - end.length) + end;
}

/** What an alarm says that the definition raises now, whether it is new or comes back. */
export function raisedSpec({ metadata, spec }: DefinitionResource, value: Value): AlarmSpec {
  return {
    source: sourceOf(spec),
    type: spec.type,
    severity: spec.severity,
    message: spec.message,
    definitionRef: metadata.name,
    conditionType: spec.conditionType,
    setpoint: matchedOn(spec),
    value: valueText(value),
  };
}

/**
 * Whether the alarm stands for what the definition watches now. A limit may be moved under a standing alarm; another source,
 * condition, tag or state is another alarm, which nobody has seen yet.
 */
export function isAlarmOf({ spec, status }: AlarmResource, definition: AlarmDefinitionSpec): boolean {
  if (spec.source !== sourceOf(definition) || spec.conditionType !== definition.conditionType) return false;
  return definition.conditionType === 'StateEquals' ? spec.setpoint === definition.stateValue : (status.tagName ?? definition.tagName) === definition.tagName;
}

/** `<Kind>/<name>` (contract 2, Alarm). */
function sourceOf({ sourceKind, sourceName }: AlarmDefinitionSpec): string {
  return `${sourceKind}/${sourceName}`;
}

/** What the condition matches on (contract 2, Alarm). */
function matchedOn(spec: AlarmDefinitionSpec): string {
  switch (spec.conditionType) {
    case 'StateEquals':
      return spec.stateValue;
    case 'TagDeviation':
      return spec.setpoint;
    case 'TagTrue':
      return 'true';
    case 'TagFalse':
      return 'false';
    default:
      return spec.threshold;
  }
}

export function valueText(value: Value): string {
  return value === null ? '' : String(value);
}
