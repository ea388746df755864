/**
 * The `states` channel (contract 2, Events; decisions Q-STREAM-01): one frame per change of state or mode of a unit, batch
 * or procedural element. Watches the store, so that whoever changes a state is announced without knowing of streams.
 */
import type { BatchState } from '../../../runtime/vocabulary/states.js';
import type { Hub } from '../../platform/stream/hub.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { Operation, Phase, Procedure, UnitProcedure } from '../procedures/kind.js';
import { Batch, isFinalBatch } from './kind.js';

interface Stated {
  readonly state: string;
  readonly mode: string;
  readonly unit?: string;
  readonly batchRef?: string;
}

/** What the change tells other listeners, for example the historian. */
export type StateListener = (change: Stated & { readonly site: string; readonly kind: string; readonly name: string; readonly previousState: string; readonly ts: string }) => void;

export function publishStates(deps: { readonly hub: Pick<Hub, 'publish'>; readonly store: Store; readonly listener?: StateListener }): void {
  const { store } = deps;
  for (const kind of [Unit, Batch, Procedure, UnitProcedure, Operation, Phase]) {
    store.watch(kind, (event) => announce(deps, event));
    for (const resource of store.list(kind as typeof Unit)) announce(deps, { type: 'put', resource, before: undefined, configuration: false });
  }
}

function announce({ hub, listener }: { readonly hub: Pick<Hub, 'publish'>; readonly listener?: StateListener }, event: StoreEvent): void {
  const { resource, before } = event;
  const { site, name, updatedAt } = resource.metadata;
  const { kind } = resource;
  const key = `${kind}/${site}/${name}`;
  const now = statedOf(resource);
  if (event.type === 'remove') {
    hub.publish({ channel: 'states', key, site, unit: now.unit ?? '', frame: {}, forget: true });
    return;
  }
  const previous = before && statedOf(before);
  if (previous && previous.state === now.state && previous.mode === now.mode) return;
  const previousState = previous?.state ?? '';
  hub.publish({
    channel: 'states',
    key,
    site,
    unit: now.unit ?? '',
    frame: {
      type: 'state',
      site,
      kind,
      name,
      state: now.state,
      previousState,
      mode: now.mode,
      ...(now.unit ? { unit: now.unit } : {}),
      ...(now.batchRef ? { batchRef: now.batchRef } : {}),
      ts: updatedAt,
    },
    ...(kind === 'Batch' && isFinalBatch(now.state as BatchState) ? { forget: true } : {}),
  });
  if (previous?.state !== now.state) listener?.({ ...now, site, kind, name, previousState, ts: updatedAt });
}

function statedOf(resource: Resource): Stated {
  const spec = resource.spec as { readonly unitRef?: string; readonly batchRef?: string; readonly mode?: string };
  const status = resource.status as { readonly state?: string; readonly phase?: string; readonly mode?: string; readonly allocatedTo?: string };
  if (resource.kind === 'Batch') return { state: status.phase ?? '', mode: spec.mode || 'Automatic', batchRef: resource.metadata.name };
  if (resource.kind === 'Unit')
    return { state: status.state ?? '', mode: status.mode ?? 'Automatic', unit: resource.metadata.name, ...(status.allocatedTo ? { batchRef: status.allocatedTo } : {}) };
  return { state: status.state ?? '', mode: status.mode ?? 'Automatic', ...(spec.unitRef ? { unit: spec.unitRef } : {}), ...(spec.batchRef ? { batchRef: spec.batchRef } : {}) };
}
