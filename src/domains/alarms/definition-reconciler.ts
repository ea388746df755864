/**
 * Alarm definitions at work (contract 2, Alarm definition; decisions ALARM). Tags are judged by the scan of their unit,
 * which is told which definitions are armed and answers with edges; states are judged here, woken by whatever changes
 * them. Both end in the same table. Level-triggered: what the store holds is compared with what is so, hence a restart of
 * the gateway or of a unit runtime, a missed edge and a full disk all mend themselves.
 */
import type { WallMs } from '../../platform/base/times.js';
import { isDeepStrictEqual } from 'node:util';
import type { AlarmGate, AlarmPlan, UnitOutbound } from '../../../runtime/port.js';
import type { Value } from '../../../runtime/vocabulary/data-types.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { SlicedWork } from '../../platform/base/slices.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import type { Put, Store } from '../../platform/store/store.js';
import { phaseStates } from '../procedures/phase-states.js';
import type { UnitLink, UnitRuntimes } from '../placement/runtimes.js';
import { type AlarmRegister, isAlarmOf, raisedSpec } from './alarm-register.js';
import { alarmIndex } from './alarm-index.js';
import { isActive, type AlarmResource, type DefinitionResource } from './kind.js';
import type { ExceptionCommands } from './exception-commands.js';
import { AlarmDefinition, type AlarmDefinitionSpec, type AlarmDefinitionStatus, type AlarmStatus } from './kind.js';
import { addressOf, alarmPlan, isKnownCondition, isOnTag } from './plan.js';
import { isArmed, sourceState, suppressionOf, unitsConcerned } from './sources.js';
import { type AlarmTrigger, alarmTransition, moved } from './transitions.js';
import type { Key } from '../../platform/reconcile/key.js';

export interface DefinitionReconcilerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtimes: Pick<UnitRuntimes, 'link' | 'links'>;
  readonly register: AlarmRegister;
  readonly timeScale: () => number;
  readonly exceptions: ExceptionCommands;
  /** A control module whose tags cannot be judged any more, or can again. */
  readonly lostChanged?: (site: string, module: string) => void;
  /** State of an I/O module as its probe has told it last; while nothing can be written the store has an older one. */
  readonly toldState?: (site: string, ioModule: string) => string | undefined;
}

interface Edge extends Extract<UnitOutbound, { readonly type: 'alarm-edge' }> {
  readonly site: string;
  /** What the scan judged when it told. */
  readonly plan: AlarmPlan | undefined;
}

const MS_PER_S = 1000;

export class DefinitionReconciler implements Reconciler {
  readonly name = 'alarm-definition';
  readonly #parts: DefinitionReconcilerParts;
  /** What the scan of each definition was told last, corrected by its edges. */
  readonly #told = new Map<string, AlarmGate>();
  /** Links whose worker has loaded a plan, and so can be told. */
  readonly #loaded = new Set<UnitLink>();
  /** Definitions on tags whose value is not Good now. */
  readonly #lost = new Set<string>();
  /** Since when the state of a source has matched, in monotonic ms. */
  readonly #matchedSinceMs = new Map<string, number>();
  /** Definitions on states that have commanded without a record for the match that goes on. */
  readonly #unrecorded = new Set<string>();
  readonly #edges: SlicedWork<Edge>;

  constructor(parts: DefinitionReconcilerParts) {
    this.#parts = parts;
    phaseStates(parts.store); // before whoever wakes this watch at a change of a phase
    this.#edges = new SlicedWork(parts.clock, (edge) => this.#takeEdge(edge));
  }

  keys(): Iterable<Key> {
    return this.#parts.store.list(AlarmDefinition).map(({ metadata }) => metadata);
  }

  /** Whether the alarms of the definition can come and go now. */
  isEvaluable(site: string, definition: string): boolean {
    const found = this.#parts.store.get(AlarmDefinition, site, definition);
    if (!found || !isKnownCondition(found.spec)) return false;
    if (!isOnTag(found.spec)) return sourceState(found.spec, this.#parts.store, site) !== '';
    const link = this.#linkOf(found);
    const tag = link?.tags[link.tagIndex(addressOf(found.spec))];
    // a tag that was taken away, or made a text, after the definition was written is not in the plan of the scan
    return tag !== undefined && tag.type !== 'STRING' && !this.#lost.has(`${site}/${definition}`);
  }

  /** Tags of a control module that an armed definition watches and that are not Good now. */
  lostTags(site: string, module: string): string[] {
    const { store } = this.#parts;
    const lost = [...this.#lost].flatMap((key) => {
      const definition = key.startsWith(`${site}/`) ? store.get(AlarmDefinition, site, key.slice(site.length + 1)) : undefined;
      return definition?.spec.sourceName === module && isOnTag(definition.spec) && isArmed(definition.spec, store, site) ? [definition.spec.tagName] : [];
    });
    return [...new Set(lost)].sort();
  }

  sourceOf({ name }: Key): string {
    return `${AlarmDefinition.kind}/${name}`;
  }

  reconcile({ site, name }: Key): Outcome {
    const { store } = this.#parts;
    const definition = store.get(AlarmDefinition, site, name);
    if (!definition) {
      for (const known of [this.#told, this.#lost, this.#matchedSinceMs, this.#unrecorded]) known.delete(`${site}/${name}`);
      return 'settled';
    }
    const armed = isArmed(definition.spec, store, site);
    if (store.accepting) {
      this.#clearOthers(definition);
      if (armed) this.#unsuppress(definition);
      else this.#apply(definition, 'disarmed', null, this.#parts.clock.wallMs());
    }
    const outcome = isOnTag(definition.spec) ? 'settled' : this.#judgeState(definition, armed);
    this.#showStatus(definition, armed);
    if (isOnTag(definition.spec)) this.#tell(definition, armed);
    return outcome;
  }

  // ---------------------------------------------------------------- states

  #judgeState(definition: DefinitionResource, armed: boolean): Outcome {
    const { store, clock, timeScale } = this.#parts;
    const { metadata, spec } = definition;
    const key = `${metadata.site}/${metadata.name}`;
    const state = this.#stateNow(spec, metadata.site);
    if (!armed || state !== spec.stateValue) {
      this.#matchedSinceMs.delete(key);
      this.#unrecorded.delete(key);
    }
    if (!armed || state === '') return 'settled';
    if (state !== spec.stateValue) {
      if (store.accepting) this.#apply(definition, 'false', state, clock.wallMs());
      return 'settled';
    }
    const nowMs = clock.monoMs();
    const sinceMs = this.#matchedSinceMs.get(key) ?? nowMs;
    this.#matchedSinceMs.set(key, sinceMs);
    const leftMs = (spec.debounceSeconds * MS_PER_S) / timeScale() - (nowMs - sinceMs);
    if (leftMs > 0) return { lookAgainMs: leftMs };
    if (store.accepting) {
      this.#unrecorded.delete(key);
      this.#apply(definition, 'true', state, clock.wallMs());
    } else if (!this.#unrecorded.has(key) && !this.#standing(definition).some(({ status }) => isActive(status.state))) {
      this.#unrecorded.add(key);
      this.#commandUnrecorded(definition);
    }
    return 'settled';
  }

  #stateNow(spec: AlarmDefinitionSpec, site: string): string {
    const { store, toldState } = this.#parts;
    const told = store.accepting || spec.sourceKind !== 'IOModule' ? undefined : toldState?.(site, spec.sourceName);
    return told ?? sourceState(spec, store, site);
  }

  #commandUnrecorded({ metadata: { site, name }, spec }: DefinitionResource): void {
    this.#parts.exceptions.giveUnrecorded(site, unitsConcerned(spec, this.#parts.store, site), spec.exceptionAction, name);
  }

  // ---------------------------------------------------------------- tags

  take(link: Pick<UnitLink, 'site' | 'alarmPlan'>, message: UnitOutbound): void {
    if (message.type === 'alarm-edge') this.#edges.give({ ...message, site: link.site, plan: link.alarmPlan(message.definition) });
  }

  #takeEdge({ site, plan, definition: name, edge, value, atMs }: Edge): void {
    const { store } = this.#parts;
    const key = `${site}/${name}`;
    const told = this.#told.get(key);
    if (edge === 'lost') this.#lost.add(key);
    if (edge === 'evaluable') this.#lost.delete(key);
    const watched = edge === 'lost' || edge === 'evaluable' ? store.get(AlarmDefinition, site, name)?.spec : undefined;
    if (watched) this.#parts.lostChanged?.(site, watched.sourceName);
    if (told) this.#told.set(key, edge === 'raised' || edge === 'cleared' ? { ...told, active: edge === 'raised' } : { ...told, evaluable: edge === 'evaluable' });
    const definition = store.get(AlarmDefinition, site, name);
    if (!definition || !this.#linkOf(definition) || !isPlanOf(definition, plan)) return;
    const { spec } = definition;
    const armed = isArmed(spec, store, site);
    if (!store.accepting) {
      if (edge === 'raised' && armed) this.#commandUnrecorded(definition);
      return;
    }
    if (edge === 'cleared') this.#apply(definition, 'false', value, atMs);
    if (edge === 'raised' && armed) this.#apply(definition, 'true', value, atMs);
    this.#showStatus(definition, armed);
    this.#tell(definition, armed);
  }

  /** A worker that has loaded a plan knows nothing, or only what its plan before was told. */
  linkChanged(link: UnitLink, what: 'ready' | 'down' | 'plan'): void {
    if (what === 'ready') return;
    this.#edges.flush(); // those of the plan before, or of the worker that is gone
    if (what === 'plan') this.#loaded.add(link);
    else this.#loaded.delete(link);
    for (const definition of this.#definitionsOn(link)) {
      const key = keyOf(definition);
      this.#told.delete(key);
      this.#lost.delete(key);
      if (what === 'plan') this.#tell(definition, isArmed(definition.spec, this.#parts.store, link.site));
    }
  }

  #definitionsOn({ site, unit }: UnitLink): DefinitionResource[] {
    const { store } = this.#parts;
    return store.list(AlarmDefinition, site).filter(({ spec }) => isOnTag(spec) && unitsConcerned(spec, store, site)[0] === unit);
  }

  #linkOf({ metadata, spec }: Pick<DefinitionResource, 'metadata' | 'spec'>): UnitLink | undefined {
    const { store, runtimes } = this.#parts;
    const [unit] = unitsConcerned(spec, store, metadata.site);
    const link = unit === undefined ? undefined : runtimes.link(metadata.site, unit);
    return link && this.#loaded.has(link) ? link : undefined;
  }

  /** Not before the plan with its present condition is loaded: until then the edges are those of the condition before. */
  #isScanned(definition: DefinitionResource): boolean {
    return isPlanOf(definition, this.#linkOf(definition)?.alarmPlan(definition.metadata.name));
  }

  /** Tells the scan what it does not know yet. */
  #tell(definition: DefinitionResource, armed: boolean): void {
    const link = this.#linkOf(definition);
    if (!link || !this.#isScanned(definition)) return;
    const key = keyOf(definition);
    const active = this.#standing(definition).some(({ status }) => isActive(status.state));
    const gate: AlarmGate = { definition: definition.metadata.name, armed, active, evaluable: !this.#lost.has(key) };
    if (isDeepStrictEqual(this.#told.get(key), gate)) return;
    this.#told.set(key, gate);
    link.send({ type: 'alarm-gates', gates: [gate] });
  }

  // ---------------------------------------------------------------- the table

  #unresolved({ metadata }: DefinitionResource): AlarmResource[] {
    return alarmIndex(this.#parts.store)
      .ofDefinition(metadata.site, metadata.name)
      .filter(({ status }) => status.state !== 'ClearedAcknowledged');
  }

  /** Those of the condition it has now. */
  #standing(definition: DefinitionResource): AlarmResource[] {
    return this.#unresolved(definition).filter((alarm) => isAlarmOf(alarm, definition.spec));
  }

  /** A definition that was set on something else judges its old condition no more: what stands for it is over. */
  #clearOthers(definition: DefinitionResource): void {
    const others = this.#unresolved(definition).filter((alarm) => !isAlarmOf(alarm, definition.spec));
    if (others.length > 0) this.#move(definition, others, 'false', null, this.#parts.clock.wallMs(), {});
  }

  /** Moves what stands; `true` with nothing unresolved raises a new alarm. */
  #apply(definition: DefinitionResource, trigger: AlarmTrigger, value: Value, atMs: WallMs): void {
    const { register, exceptions, store } = this.#parts;
    const { site } = definition.metadata;
    const standing = this.#standing(definition);
    if (trigger === 'true' && standing.some(({ status }) => isActive(status.state))) return;
    const moving = trigger === 'true' ? standing.slice(-1) : standing;
    // once per activation; acknowledging and unshelving never command equipment (decisions Q-ALARM-02)
    const { exceptionAction } = definition.spec;
    const due = trigger === 'true' ? exceptions.due(site, unitsConcerned(definition.spec, store, site), exceptionAction) : {};
    if (trigger === 'true' && moving.length === 0) {
      exceptions.attempt(site, register.raise(definition, value, atMs, due));
      return;
    }
    this.#move(definition, moving, trigger, value, atMs, due);
  }

  /** An alarm that comes back says what its definition says now. */
  #move(definition: DefinitionResource, alarms: readonly AlarmResource[], trigger: AlarmTrigger, value: Value, atMs: WallMs, due: Pick<AlarmStatus, 'exceptionDue'>): void {
    const { register, exceptions } = this.#parts;
    const { exceptionAction, priority } = definition.spec;
    for (const { metadata, spec, status } of alarms) {
      const transition = alarmTransition(status.state, trigger);
      if (!transition) continue;
      const { site, name } = metadata;
      const at = timestamp(atMs);
      const next = moved(status, transition, at);
      if (transition.event !== 'Activated') {
        register.write({ site, name, spec, status: next, event: transition.event, at });
        continue;
      }
      const again = raisedSpec(definition, value);
      register.comesBack(site, name, again, { ...next, value: again.value, priority, exceptionAction, ...due }, at);
      exceptions.attempt(site, name);
    }
  }

  #unsuppress(definition: DefinitionResource): void {
    for (const { metadata, spec, status } of this.#unresolved(definition)) {
      if (!status.suppressed) continue;
      const { suppressed: _ended, ...rest } = status;
      this.#parts.register.write({ site: metadata.site, name: metadata.name, spec, status: rest, event: 'Unsuppressed' });
    }
  }

  #showStatus({ metadata, spec }: DefinitionResource, armed: boolean): void {
    const { store } = this.#parts;
    if (!store.accepting) return; // everything is looked at again when it accepts changes
    const definition = store.get(AlarmDefinition, metadata.site, metadata.name);
    if (!definition) return;
    const status: AlarmDefinitionStatus = {
      ...definition.status,
      armed,
      suppressedBy: armed ? '' : suppressionOf(spec),
      activeAlarmRef: (this.#standing(definition).at(-1) ?? this.#unresolved(definition).at(-1))?.metadata.name ?? '',
    };
    if (isDeepStrictEqual(status, definition.status)) return;
    store.apply({ puts: [{ kind: AlarmDefinition, site: metadata.site, name: metadata.name, status } as Put] });
  }
}

function isPlanOf({ metadata, spec }: DefinitionResource, scanned: AlarmPlan | undefined): boolean {
  return scanned !== undefined && isOnTag(spec) && isDeepStrictEqual(scanned, alarmPlan(metadata.name, spec, scanned.tag));
}

function keyOf({ metadata }: DefinitionResource): string {
  return `${metadata.site}/${metadata.name}`;
}
