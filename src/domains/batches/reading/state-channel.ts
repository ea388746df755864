/**
 * The `states` channel (contract 2, Events; decisions Q-STREAM-01): one frame per change of state or mode of a unit, batch
 * or procedural element. Watches the store, so that whoever changes a state is announced without knowing of streams.
 */
import type { Mode } from '../../../../runtime/vocabulary/modes.js';
import type { BatchState, State } from '../../../../runtime/vocabulary/states.js';
import { keyOf, refOf, type Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import type { ChannelEvent } from '../../../platform/stream/channel.js';
import type { Hub } from '../../../platform/stream/hub.js';
import { Untold } from '../../../platform/stream/untold.js';
import { Unit } from '../../plant/kind.js';
import { Operation, Phase, Procedure, UnitProcedure } from '../../procedures/kind.js';
import { adhocRoot } from '../../procedures/roots.js';
import { elementIndex } from '../tree/element-index.js';
import { Batch, HELD_FROM, isFinalBatch } from '../kind.js';
import { asShown, unrecovered } from '../recovery/unrecovered.js';

type Stated = {
  readonly state: State | BatchState | '';
  readonly mode: Mode;
  readonly unit?: string;
  readonly batchRef?: string;
};

/** A frame of the channel without what every frame has. */
export type StateFrame = Stated & {
  readonly type: 'state';
  readonly site: string;
  readonly kind: string;
  readonly name: string;
  readonly previousState: Stated['state'];
  readonly ts: string;
};

/** What the change tells other listeners, for example the historian; `durable` settles with it. */
export type StateListener = (
  change: Stated & { readonly site: string; readonly kind: string; readonly name: string; readonly previousState: string; readonly ts: string; readonly found: boolean },
  durable: Promise<void>,
) => void;

const KINDS = new Map([Unit, Batch, Procedure, UnitProcedure, Operation, Phase].map((kind) => [kind.kind, kind as typeof Unit]));

export interface StatePublishing {
  readonly hub: Pick<Hub, 'publish'>;
  readonly store: Store;
  readonly listener?: StateListener;
}

export function publishStates({ hub, store, listener }: StatePublishing): void {
  const states = new States(hub, store);
  unrecovered(store).watch((site, scope) => states.tellScope(site, scope));
  for (const kind of KINDS.values()) {
    store.watch(kind, ({ type, resource, before, past }, durable) => {
      if (past) return; // it has no other state than before
      if (type === 'remove') return states.forget(resource, before && statedOf(before));
      states.tell(resource, before && states.shown(before));
      listen(resource, before && statedOf(before), durable, listener, false);
    });
    for (const resource of store.list(kind)) {
      states.tell(resource, undefined);
      listen(resource, undefined, store.recorded, listener, true);
    }
  }
}

function listen(resource: Resource, previous: Stated | undefined, durable: Promise<void>, listener: StateListener | undefined, found: boolean): void {
  const { kind, metadata } = resource;
  const now = statedOf(resource);
  if (previous?.state === now.state) return;
  listener?.({ ...now, site: metadata.site, kind, name: metadata.name, previousState: previous?.state ?? '', ts: enteredAt(resource), found }, durable);
}

class States {
  readonly #hub: Pick<Hub, 'publish'>;
  readonly #store: Store;
  readonly #untold: Untold;
  /** What was told again while the storage refuses: what the dropped frames of an object say was the state before is older. */
  readonly #retold = new Map<string, Stated | undefined>();

  constructor(hub: Pick<Hub, 'publish'>, store: Store) {
    this.#hub = hub;
    this.#store = store;
    this.#untold = new Untold(store);
    store.watchReload(() => {
      if (store.accepting) this.#retold.clear();
    });
  }

  shown(resource: Resource): Stated {
    return statedOf(asShown(this.#store, resource as Resource<object, unknown>));
  }

  /** What is shown of a batch or run is another than what is stored, or no longer another. */
  tellScope(site: string, scope: string): void {
    for (const resource of this.#inScope(site, scope)) {
      const [now, stored] = [this.shown(resource), statedOf(resource)];
      if (now.state !== stored.state) this.tell(resource, stored);
      else if (HELD_FROM.includes(now.state as State)) this.tell(resource, { ...now, state: 'Held' });
    }
  }

  *#inScope(site: string, scope: string): Iterable<Resource> {
    const batch = this.#store.get(Batch, site, scope);
    const root = batch ?? adhocRoot(this.#store, site, scope);
    if (!root) return;
    yield root;
    yield* batch ? elementIndex(this.#store).elementsOf(site, scope) : elementIndex(this.#store).below(root);
    for (const unit of this.#store.list(Unit, site)) if (unit.status.allocatedTo === scope) yield unit;
  }

  /** `previous`: what was told last. */
  tell(resource: Resource, previous: Stated | undefined): void {
    const now = this.shown(resource);
    if (isSame(previous, now)) return;
    const { kind, metadata } = resource;
    const { site, name } = metadata;
    const frame: StateFrame = {
      type: 'state',
      site,
      kind,
      name,
      state: now.state,
      previousState: previous?.state ?? '',
      mode: now.mode,
      ...(now.unit ? { unit: now.unit } : {}),
      ...(now.batchRef ? { batchRef: now.batchRef } : {}),
      // a change of the mode alone is of now
      ts: previous?.state === now.state ? metadata.updatedAt : enteredAt(resource),
    };
    this.#publish(resource, previous, {
      frame,
      ...(kind === 'Batch' && isFinalBatch(now.state as BatchState) ? { forget: true } : {}),
    });
  }

  forget(resource: Resource, previous: Stated | undefined): void {
    this.#publish(resource, previous, { frame: {}, forget: true });
  }

  #publish(resource: Resource, previous: Stated | undefined, event: Pick<ChannelEvent, 'frame' | 'forget'>): void {
    const key = keyOf(refOf(resource));
    this.#hub.publish({
      channel: 'states',
      key,
      site: resource.metadata.site,
      unit: statedOf(resource).unit ?? '',
      ...event,
      // while the storage refuses, what is told is told again: it is on disk
      ...(this.#store.accepting ? {} : { unrecorded: true }),
      dropped: () => this.#untold.retell(key, () => this.#tellAgain(resource, previous)),
    });
  }

  /**
   * A frame with `previous` as the state before was dropped: how the object stands now. A state that was taken back is told
   * too: who read the object while its change was on the way to the disk has seen it, and hears here that it is over.
   */
  #tellAgain(dropped: Resource, previous: Stated | undefined): void {
    const key = keyOf(refOf(dropped));
    const isFirst = !this.#retold.has(key);
    const told = isFirst ? previous : this.#retold.get(key);
    const present = this.#store.get(KINDS.get(dropped.kind) ?? Unit, dropped.metadata.site, dropped.metadata.name);
    if (!this.#store.accepting) this.#retold.set(key, present && this.shown(present));
    if (present) this.tell(present, isFirst && isSame(told, this.shown(present)) ? statedOf(dropped) : told);
    else if (told) this.forget(dropped, told);
  }
}

function isSame(a: Stated | undefined, b: Stated): boolean {
  return a !== undefined && a.state === b.state && a.mode === b.mode;
}

/** One time for one transition: that of the events and the record, which is a moment before the store has written it (decisions 8.9). */
function enteredAt({ metadata, status }: Resource): string {
  return (status as { readonly stateAt?: string }).stateAt ?? metadata.updatedAt;
}

function statedOf(resource: Resource): Stated {
  const spec = resource.spec as { readonly unitRef?: string; readonly batchRef?: string; readonly mode?: Mode | '' };
  const status = resource.status as { readonly state?: State | ''; readonly phase?: BatchState; readonly mode?: Mode; readonly allocatedTo?: string };
  if (resource.kind === 'Batch') return { state: status.phase ?? '', mode: spec.mode || 'Automatic', batchRef: resource.metadata.name };
  if (resource.kind === 'Unit')
    return { state: status.state ?? '', mode: status.mode ?? 'Automatic', unit: resource.metadata.name, ...(status.allocatedTo ? { batchRef: status.allocatedTo } : {}) };
  return { state: status.state ?? '', mode: status.mode ?? 'Automatic', ...(spec.unitRef ? { unit: spec.unitRef } : {}), ...(spec.batchRef ? { batchRef: spec.batchRef } : {}) };
}
