/** What wakes an alarm definition: itself, its alarms, the states it watches, and the phases of its arming gate. */
import type { Store, StoreEvent } from '../../platform/store/store.js';
import { ControlModule } from '../control-modules/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { ControlProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { Phase, type PhaseSpec } from '../procedures/kind.js';
import { Alarm, AlarmDefinition, type AlarmSpec } from './kind.js';

/** A program bears the state of the module that owns it. */
const SOURCES = [
  { kind: Unit, source: 'Unit' },
  { kind: IOModule, source: 'IOModule' },
  { kind: ControlModule, source: 'ControlModule' },
  { kind: ControlProgram, source: 'ControlModule' },
] as const;

interface Wake {
  readonly store: Store;
  readonly wakeDefinition: (site: string, name: string) => void;
  readonly wakeAlarm: (site: string, name: string) => void;
}

export function wakeAlarms({ store, wakeDefinition, wakeAlarm }: Wake): void {
  const watchers = new Watchers(store);
  const wakeAllOf = (site: string, what: string): void => {
    for (const name of watchers.of(site, what)) wakeDefinition(site, name);
  };
  store.watch(AlarmDefinition, ({ resource: { metadata }, configuration }) => {
    if (configuration) watchers.forget();
    wakeDefinition(metadata.site, metadata.name);
  });
  store.watchReload(() => watchers.forget());
  store.watch(Alarm, ({ resource: { metadata, spec } }) => {
    wakeAlarm(metadata.site, metadata.name);
    const { definitionRef } = spec as AlarmSpec;
    if (definitionRef !== '') wakeDefinition(metadata.site, definitionRef);
  });
  for (const { kind, source } of SOURCES) {
    store.watch(kind, (event) => {
      if (event.configuration || stateOf(event.resource) !== stateOf(event.before)) wakeAllOf(event.resource.metadata.site, `${source}/${event.resource.metadata.name}`);
    });
  }
  store.watch(Phase, ({ type, resource, before }) => {
    if (type === 'put' && stateOf(resource) === stateOf(before)) return;
    const { unitRef, templateRef } = resource.spec as PhaseSpec;
    wakeAllOf(resource.metadata.site, gateOf(unitRef, templateRef));
  });
}

function stateOf(resource: StoreEvent['before']): unknown {
  return (resource?.status as { readonly state?: unknown } | undefined)?.state;
}

function gateOf(unit: string, template: string): string {
  return `gate/${unit}/${template}`;
}

/** Names of the definitions that watch a source or a gate; made anew after a definition has changed. */
class Watchers {
  readonly #store: Store;
  #names: Map<string, string[]> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  forget(): void {
    this.#names = undefined;
  }

  of(site: string, what: string): readonly string[] {
    this.#names ??= this.#index();
    return this.#names.get(`${site}/${what}`) ?? [];
  }

  #index(): Map<string, string[]> {
    const names = new Map<string, string[]>();
    const add = (key: string, name: string): void => void names.set(key, [...(names.get(key) ?? []), name]);
    for (const { metadata, spec } of this.#store.list(AlarmDefinition)) {
      add(`${metadata.site}/${spec.sourceKind}/${spec.sourceName}`, metadata.name);
      if (spec.armingGate) add(`${metadata.site}/${gateOf(spec.armingGate.unitRef, spec.armingGate.phaseTemplateRef)}`, metadata.name);
    }
    return names;
  }
}
