/** What wakes an alarm definition: itself, its alarms, the states it watches, and the phases of its arming gate. */
import { on, type Wake, whenConfigured } from '../../platform/reconcile/wakes.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule } from '../control-modules/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { ControlProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { Phase } from '../procedures/kind.js';
import { Alarm, AlarmDefinition } from './kind.js';
import type { Key } from '../../platform/reconcile/key.js';

export function definitionWakes(store: Store): readonly Wake[] {
  const watchers = new Watchers(store);
  const source = <Spec, Status extends { readonly state?: unknown }>(kind: Kind<Spec, Status>, word: string): Wake =>
    on(
      kind,
      (event) => whenConfigured(event) || hasMoved(event),
      ({ resource: { metadata } }) => watchers.of(metadata.site, `${word}/${metadata.name}`),
    );
  return [
    on(AlarmDefinition),
    on(
      Alarm,
      ({ resource }) => resource.spec.definitionRef !== '',
      ({ resource: { metadata, spec } }) => [{ site: metadata.site, name: spec.definitionRef }],
    ),
    source(Unit, 'Unit'),
    source(IOModule, 'IOModule'),
    on(ControlModule, whenConfigured, ({ resource: { metadata } }) => watchers.of(metadata.site, `ControlModule/${metadata.name}`)),
    source(ControlProgram, 'ControlModule'), // a program bears the state of the module that owns it
    on(
      Phase,
      (event) => event.type !== 'put' || hasMoved(event),
      ({ resource: { metadata, spec } }) => watchers.of(metadata.site, gateOf(spec.unitRef, spec.templateRef)),
    ),
  ];
}

type Stated = Resource<unknown, { readonly state?: unknown }>;

function hasMoved({ resource, before }: { readonly resource: Stated; readonly before: Stated | undefined }): boolean {
  return resource.status.state !== before?.status.state;
}

function gateOf(unit: string, template: string): string {
  return `gate/${unit}/${template}`;
}

/** The definitions that watch a source or a gate; found anew after a definition has changed. */
class Watchers {
  readonly #store: Store;
  #keys: Map<string, Key[]> | undefined;

  constructor(store: Store) {
    this.#store = store;
    store.watch(AlarmDefinition, (event) => whenConfigured(event) && this.#forget());
    store.watchReload(() => this.#forget());
  }

  of(site: string, what: string): readonly Key[] {
    this.#keys ??= this.#index();
    return this.#keys.get(`${site}/${what}`) ?? [];
  }

  #forget(): void {
    this.#keys = undefined;
  }

  #index(): Map<string, Key[]> {
    const keys = new Map<string, Key[]>();
    const add = (what: string, { site, name }: Key): void => void keys.set(`${site}/${what}`, [...(keys.get(`${site}/${what}`) ?? []), { site, name }]);
    for (const { metadata, spec } of this.#store.list(AlarmDefinition)) {
      add(`${spec.sourceKind}/${spec.sourceName}`, metadata);
      if (spec.armingGate) add(gateOf(spec.armingGate.unitRef, spec.armingGate.phaseTemplateRef), metadata);
    }
    return keys;
  }
}
