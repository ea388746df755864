/**
 * Elements of ended batches leave the snapshot of the `states` channel (contract 2, Events; decisions Q-STREAM-19): it is the
 * present state of units, of batches that have not ended, and of their elements. A site keeps the elements of all its batches,
 * so without this every subscribe would replay them all, more each day.
 *
 * Watches the store behind `publishStates`, so that the last change of an element is told before it is forgotten.
 */
import type { Hub } from '../../../platform/stream/hub.js';
import type { Resource } from '../../../platform/store/resource.js';
import type { Store } from '../../../platform/store/store.js';
import { Operation, Phase, Procedure, UnitProcedure } from '../../procedures/kind.js';
import { elementIndex } from '../tree/element-index.js';
import { Batch, type BatchStatus, isFinalBatch } from '../kind.js';

export function forgetEndedElements({ hub, store }: { readonly hub: Pick<Hub, 'publish'>; readonly store: Store }): void {
  const forget = ({ kind, metadata: { site, name }, spec }: Resource): void => {
    const { unitRef = '' } = spec as { readonly unitRef?: string };
    hub.publish({ channel: 'states', key: `${kind}/${site}/${name}`, site, unit: unitRef, frame: {}, forget: true });
  };
  const see = (element: Resource): void => {
    const { batchRef = '' } = element.spec as { readonly batchRef?: string };
    const batch = batchRef === '' ? undefined : store.get(Batch, element.metadata.site, batchRef);
    if (batch && isEnded(batch)) forget(element);
  };
  for (const kind of [Procedure, UnitProcedure, Operation, Phase]) {
    store.watch(kind, ({ type, resource, past }) => {
      if (type === 'put' && !past) see(resource);
    });
    for (const element of store.list(kind as typeof Phase)) see(element);
  }
  store.watch(Batch, ({ type, resource, before, past }) => {
    if (type !== 'put' || past || !isEnded(resource) || (before && isEnded(before))) return;
    const { site, name } = resource.metadata;
    for (const element of elementIndex(store).elementsOf(site, name)) forget(element);
  });
}

function isEnded({ status }: Pick<Resource, 'status'>): boolean {
  return isFinalBatch((status as BatchStatus).phase);
}
