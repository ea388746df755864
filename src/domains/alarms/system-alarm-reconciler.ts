/**
 * Alarms of the product itself at work: each source of each topic is compared with its alarm, so a restart, a missed
 * message and a full disk mend themselves. They go through the same table as the alarms of definitions.
 */
import type { WallMs } from '../../platform/base/times.js';
import type { UnitOutbound } from '../../../runtime/port.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { on, type Wake, whenConfigured, whenPut } from '../../platform/reconcile/wakes.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';
import type { CommandRejection } from '../runs/command-rejection.js';
import { Batch } from '../batches/kind.js';
import { UNREADABLE_ORDER } from '../runs/pending-command.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { AS_STEPPED } from '../io-modules/outputs.js';
import { ControlProgram } from '../logic/kind.js';
import { Site, Unit } from '../plant/kind.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { Phase } from '../procedures/kind.js';
import { ROOT_KINDS } from '../procedures/roots.js';
import type { UnitLink } from '../placement/runtimes.js';
import type { AlarmRegister, SystemCondition } from './alarm-register.js';
import { alarmIndex, systemName } from './alarm-index.js';
import { isActive, type AlarmResource } from './kind.js';
import { Alarm } from './kind.js';
import { APPLIANCE, APPLIANCE_TOPICS, LEDGER, phaseStillTroubled, refusalOf, SYSTEM_TOPICS, type SystemFacts, type SystemTopic, TOPICS } from './system-conditions.js';
import { alarmTransition, moved } from './transitions.js';
import { type UnstoredAlarms, unstoredAlarms } from './unstored-alarms.js';
import type { Key } from '../../platform/reconcile/key.js';

export interface SystemAlarmReconcilerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly register: AlarmRegister;
  readonly facts: SystemFacts;
}

type PhaseAlarm = Extract<UnitOutbound, { readonly type: 'alarm' }>;

/** What no event tells of: free space, the memory of nonces, the end of a batch. */
const LOOK_MS = 5000;

export class SystemAlarmReconciler implements Reconciler {
  readonly name = 'system-alarm';
  readonly #parts: SystemAlarmReconcilerParts;
  /** What phases have told, until it is written. */
  readonly #told = new Map<string, PhaseAlarm>();
  /** Since when a condition is the other way than its alarm, in monotonic ms. */
  readonly #sinceMs = new Map<string, number>();
  /** By site: since when the ledger refuses changes, or has refused them, and the alarm that says so until it is stored. */
  readonly #refused = new Map<string, { readonly fromMs: WallMs; readonly alarm: AlarmResource }>();
  readonly #unstored: UnstoredAlarms;

  constructor(parts: SystemAlarmReconcilerParts) {
    this.#parts = parts;
    const { store } = parts;
    this.#unstored = unstoredAlarms(store);
    store.watchReload(() => {
      if (!store.accepting) for (const { metadata } of store.list(Site)) this.#refusing(metadata.name);
    });
  }

  *keys(): Iterable<Key> {
    const { store } = this.#parts;
    for (const { metadata } of store.list(Site)) yield keyOf(metadata.name, 'storage', LEDGER);
    for (const { metadata } of store.list(Site)) for (const topic of APPLIANCE_TOPICS) yield keyOf(metadata.name, topic, APPLIANCE);
    for (const { metadata } of store.list(IOModule))
      for (const topic of ['device', 'second-master', 'output-owners', 'outputs-as-stepped'] as const) yield keyOf(metadata.site, topic, metadata.name);
    for (const { metadata } of store.list(ControlProgram)) yield keyOf(metadata.site, 'program', metadata.name);
    for (const { metadata } of store.list(Unit)) yield keyOf(metadata.site, 'runtime', metadata.name);
    // one that is Held is at work; the alarm of one that is not any more brings its key itself
    for (const { metadata, status } of phasesAtWork(store).all()) if (status.checkpoint?.holdIncomplete) yield keyOf(metadata.site, 'phase', metadata.name);
    for (const { metadata, spec, status } of store.list(Alarm)) {
      const topic = status.origin === 'system' ? SYSTEM_TOPICS.find((each) => metadata.name.startsWith(`${systemName(each)}-`)) : undefined;
      if (topic) yield keyOf(metadata.site, topic, TOPICS[topic].sourceKind === '' ? spec.source : spec.source.slice(spec.source.indexOf('/') + 1));
    }
  }

  /** A phase tells of itself; the alarm is raised by the look that follows. */
  take({ site }: Pick<UnitLink, 'site'>, message: UnitOutbound, wake: (site: string, name: string) => void): void {
    if (message.type !== 'alarm') return;
    const key = keyOf(site, 'phase', message.phase);
    this.#told.set(`${key.site}/${key.name}`, message);
    wake(key.site, key.name);
  }

  reconcile(key: Key): Outcome {
    const { store, clock, facts } = this.#parts;
    const { topic, name } = topicOf(key);
    if (!store.accepting) return { lookAgainMs: LOOK_MS };
    if (topic === 'storage' && name === LEDGER) return this.#refusedUntilNow(key.site);
    const row = TOPICS[topic];
    const source = sourceOf(topic, name);
    const alarm = this.#unresolved(key.site, topic, source).at(-1);
    const standing = alarm && isActive(alarm.status.state) ? alarm : undefined;
    const condition = row.condition(key.site, name, store, facts) ?? (topic === 'phase' ? this.#ofPhase(key, name, standing) : undefined);
    const waitMs = this.#waitMs(key, condition !== undefined, standing !== undefined, condition ? (condition.holdsForMs ?? row.raiseAfterMs) : row.clearAfterMs);
    if (waitMs > 0) return { lookAgainMs: waitMs };
    if (condition && standing) this.#show(standing, condition);
    else if (condition) this.#raise(key.site, topic, condition, alarm, this.#told.get(idOf(key))?.atMs ?? clock.wallMs());
    else if (standing) this.#end(standing, row.ended?.(facts));
    this.#told.delete(idOf(key));
    return row.sourceKind === 'System' || condition !== undefined ? { lookAgainMs: LOOK_MS } : 'settled';
  }

  /** How long the condition has to go on before the alarm follows it. */
  #waitMs(key: Key, holds: boolean, stands: boolean, delayMs: number): number {
    const id = idOf(key);
    if (holds === stands) {
      this.#sinceMs.delete(id);
      return 0;
    }
    const nowMs = this.#parts.clock.monoMs();
    const sinceMs = this.#sinceMs.get(id) ?? nowMs;
    this.#sinceMs.set(id, sinceMs);
    const leftMs = delayMs - (nowMs - sinceMs);
    if (leftMs <= 0) this.#sinceMs.delete(id);
    return leftMs;
  }

  #ofPhase(key: Key, name: string, standing: AlarmResource | undefined): SystemCondition | undefined {
    const { store } = this.#parts;
    const told = this.#told.get(idOf(key));
    const before = standing && { severity: standing.spec.severity, message: standing.spec.message };
    const last = told ?? before;
    // what is told counts once, whatever has become of the phase since; then it stands as long as the trouble
    if (!last || (!told && !phaseStillTroubled(key.site, name, last.severity, store))) return undefined;
    const phase = store.get(Phase, key.site, name);
    return {
      source: sourceOf('phase', name),
      type: 'Batch',
      severity: last.severity,
      message: last.message,
      conditionType: '',
      value: phase?.status.state ?? '',
      units: phase ? [phase.spec.unitRef] : [],
    };
  }

  /** Nothing can be written: the alarm stands in memory from the first refusal on, so that it is listed and announced at once. */
  #refusing(site: string): void {
    if (this.#refused.has(site)) return;
    const { register, clock } = this.#parts;
    const fromMs = clock.wallMs();
    const condition = refusalOf(fromMs);
    const [waiting] = this.#unresolved(site, 'storage', condition.source);
    const transition = waiting && alarmTransition(waiting.status.state, 'true');
    const alarm = waiting
      ? { ...waiting, spec: { ...waiting.spec, ...told(condition) }, status: transition ? moved(waiting.status, transition, timestamp(fromMs)) : waiting.status }
      : register.unstoredSystem(site, 'storage', condition, fromMs);
    this.#refused.set(site, { fromMs, alarm });
    this.#unstored.present(alarm);
  }

  /** It accepts changes again: what stood in memory is stored and ends, and waits for somebody to acknowledge it. */
  #refusedUntilNow(site: string): Outcome {
    const { register, clock } = this.#parts;
    const refused = this.#refused.get(site);
    const source = sourceOf('storage', LEDGER);
    const unresolved = (): AlarmResource | undefined => this.#unresolved(site, 'storage', source).at(-1);
    if (refused) {
      const condition = refusalOf(refused.fromMs, clock.wallMs());
      const waiting = unresolved();
      if (waiting) this.#move(waiting, 'true', condition, timestamp(refused.fromMs));
      else register.raiseSystem(site, 'storage', condition, refused.fromMs);
      this.#refused.delete(site);
      this.#unstored.withdraw(refused.alarm);
    }
    const standing = unresolved();
    if (standing) this.#move(standing, 'false');
    return 'settled';
  }

  #unresolved(site: string, topic: SystemTopic, source: string): AlarmResource[] {
    return alarmIndex(this.#parts.store)
      .ofSource(site, topic, source)
      .filter(({ status }) => status.state !== 'ClearedAcknowledged');
  }

  #raise(site: string, topic: SystemTopic, condition: SystemCondition, waiting: AlarmResource | undefined, atMs: WallMs): void {
    if (waiting) this.#move(waiting, 'true', condition);
    else this.#parts.register.raiseSystem(site, topic, condition, atMs);
  }

  /** Whoever acknowledges it afterwards is not told to do what somebody has done. */
  #end(standing: AlarmResource, message = standing.spec.message): void {
    this.#move({ ...standing, spec: { ...standing.spec, message } }, 'false');
  }

  #move({ metadata, spec, status }: AlarmResource, trigger: 'true' | 'false', condition?: SystemCondition, at = this.#parts.register.now()): void {
    const { register } = this.#parts;
    const transition = alarmTransition(status.state, trigger);
    if (!transition) return;
    const next = moved(status, transition, at);
    const seen = condition ? { spec: { ...spec, ...told(condition) }, status: { ...next, value: condition.value } } : { spec, status: next };
    const { site, name } = metadata;
    if (transition.event === 'Activated') register.comesBack(site, name, seen.spec, seen.status, at);
    else register.write({ site, name, ...seen, event: transition.event, at });
  }

  /** What an alarm says follows its condition; the history tells of its transitions only. */
  #show({ metadata, spec, status }: AlarmResource, condition: SystemCondition): void {
    if (spec.message === condition.message && spec.severity === condition.severity && status.value === condition.value) return;
    this.#parts.register.write({ site: metadata.site, name: metadata.name, spec: { ...spec, ...told(condition) }, status: { ...status, value: condition.value } });
  }
}

type Refusable = { readonly commandRejection?: CommandRejection | undefined };

/** What a condition reads has changed: its source is looked at. */
export const SYSTEM_ALARM_WAKES: readonly Wake[] = [
  follow(IOModule, 'device', ({ state, message }) => [state, message]),
  follow(IOModule, 'second-master', ({ outputs }) => outputs),
  follow(IOModule, 'outputs-as-stepped', ({ conditions }) => conditions.find(({ type }) => type === AS_STEPPED)?.message),
  on(ControlModule, whenConfigured, ownerKeys),
  on(ControlModuleTemplate, whenConfigured, ownerKeys),
  on(ControlProgram, whenConfigured, ownerKeys),
  on(IOModule, whenConfigured, ownerKeys),
  follow(ControlProgram, 'program', ({ state, message, faultedBlocks }) => [state, message, faultedBlocks]),
  follow(Unit, 'runtime', ({ runtime }) => [runtime.ready, runtime.message]),
  follow(Phase, 'phase', ({ state, checkpoint }) => [state, checkpoint?.holdIncomplete]),
  unreadable(Batch),
  ...Object.values(ROOT_KINDS).map((kind) => unreadable(kind)),
  on(Site, whenPut, ({ resource }) => APPLIANCE_TOPICS.map((topic) => keyOf(resource.metadata.name, topic, APPLIANCE))),
];

/** Who writes which output may be another with each edit of logic or channels; of a template it concerns every site. */
function ownerKeys({ resource: { metadata } }: StoreEvent, store: Store): Iterable<Key> {
  const modules = metadata.site === '' ? store.list(IOModule) : store.list(IOModule, metadata.site);
  return modules.map((module) => keyOf(module.metadata.site, 'output-owners', module.metadata.name));
}

function follow<Spec, Status>(kind: Kind<Spec, Status>, topic: SystemTopic, read: (status: Status) => unknown): Wake {
  return on(
    kind,
    ({ type, resource, before }) => type !== 'put' || !before || JSON.stringify(read(before.status)) !== JSON.stringify(read(resource.status)),
    ({ resource: { metadata } }) => [keyOf(metadata.site, topic, metadata.name)],
  );
}

/** An order that could not be read came, or went. */
function unreadable<Spec, Status extends Refusable>(kind: Kind<Spec, Status>): Wake {
  const isSo = (version: Resource<Spec, Status> | undefined): boolean => version?.status.commandRejection?.rule === UNREADABLE_ORDER;
  return on(
    kind,
    ({ resource, before }) => isSo(resource) || isSo(before),
    ({ resource: { metadata } }) => [keyOf(metadata.site, 'controller', `${kind.kind}/${metadata.name}`)],
  );
}

/** Under which name it is looked at whether a resource, `<kind>/<name>`, is controlled. */
export function controllerKey(source: string): string {
  return keyOf('', 'controller', source).name;
}

/** Under which name the signals of a control module are looked at. */
export function signalKey(module: string): string {
  return keyOf('', 'signal', module).name;
}

function told({ severity, message, value }: SystemCondition): Pick<SystemCondition, 'severity' | 'message' | 'value'> {
  return { severity, message, value };
}

function keyOf(site: string, topic: SystemTopic, name: string): Key {
  return { site, name: `${topic}/${name}` };
}

function idOf({ site, name }: Key): string {
  return `${site}/${name}`;
}

function topicOf({ name }: Key): { readonly topic: SystemTopic; readonly name: string } {
  const slash = name.indexOf('/');
  return { topic: name.slice(0, slash) as SystemTopic, name: name.slice(slash + 1) };
}

function sourceOf(topic: SystemTopic, name: string): string {
  const { sourceKind } = TOPICS[topic];
  return sourceKind === '' ? name : `${sourceKind}/${name}`;
}
