/**
 * Batches that are gone from the store, or cannot be read, while their elements are at work (D-C-02): made anew at start from their control
 * recipe and their procedure. A person can stop or abort them then, their units come free, and what happened to them has a record; nothing
 * of them is gone on with. What only the batch itself knew (priority, lot, work order) is lost.
 */
import { isActive, isFinal } from '../../../../runtime/vocabulary/transitions.js';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import { guardedPromise } from '../../../platform/base/guarded.js';
import type { AuditDraft } from '../../../platform/store/audit-record.js';
import type { Condition, Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { Unit } from '../../plant/kind.js';
import { Procedure, UnitProcedure } from '../../procedures/kind.js';
import { ControlRecipe } from '../../recipes/kind.js';
import { lastFacts } from '../../runs/execution-log.js';
import { type Allocation, Batch, type BatchSpec, type BatchStatus } from '../kind.js';
import { ELEMENT_KINDS, elementIndex, type ElementResource } from '../tree/element-index.js';
import { BATCH_COMPONENT } from '../tree/element-reconciliation.js';

const MADE_ANEW = 'MadeAnew';

/** Why the batch is not what was written; undefined where it is. */
export function madeAnewBecause({ status }: Resource<BatchSpec, BatchStatus>): string | undefined {
  return status.conditions.find(({ type }) => type === MADE_ANEW)?.message;
}

/** At start, and again when the storage that refused them accepts changes. */
export function makeMissingAnew(store: Store, clock: Clock): void {
  const look = (): void => {
    for (const { site, name } of missing(store)) if (store.accepting) guardedPromise('batch made anew', () => store.write(madeAnew(store, clock, site, name)));
  };
  look();
  store.watchReload(look);
}

interface Missing {
  readonly site: string;
  readonly name: string;
}

function missing(store: Store): Iterable<Missing> {
  const found = new Map<string, Missing>();
  const elements = ELEMENT_KINDS.flatMap((kind) => store.list(kind)) as readonly Resource[] as readonly ElementResource[];
  for (const { metadata, spec, status } of elements) {
    const { site } = metadata;
    const name = spec.batchRef;
    if (name === '' || !isActive(status.state) || store.get(Batch, site, name) || store.pastEntry(Batch, site, name)) continue;
    found.set(`${site}/${name}`, { site, name });
  }
  return found.values();
}

function madeAnew(store: Store, clock: Clock, site: string, name: string): { readonly puts: Put[]; readonly audits: AuditDraft[] } {
  const control = store.get(ControlRecipe, site, name)?.spec;
  const procedure = store.get(Procedure, site, name);
  const at = timestamp(clock.wallMs());
  const why = store.isQuarantined({ kind: Batch.kind, site, name }) ? 'its row could not be read' : 'its row is gone';
  const message = `${why}: it was made anew from its control recipe and its procedure, and can be stopped and aborted`;
  const condition: Condition = { type: MADE_ANEW, status: 'True', reason: 'StoredData', message };
  const spec: BatchSpec = {
    batchID: control?.batchID ?? name,
    masterRecipeRef: control?.masterRecipe ?? '',
    formulaName: control?.formulaName ?? '',
    quantity: '',
    engineeringUnit: control?.recipe.batchSize.engineeringUnit ?? '',
    priority: 100,
    parameters: [],
    equipment: { ...control?.recipe.allocation },
    description: '',
    scheduledStartTime: '',
    workOrderID: '',
    lotID: '',
    mode: '',
  };
  const state = procedure?.status.state ?? 'Held';
  const status: BatchStatus = {
    ...Batch.initialStatus(spec),
    phase: state === 'Idle' || state === 'Resetting' || isFinal(state) ? 'Held' : state,
    stateAt: at,
    allocations: allocationsOf(store, site, name, control?.recipe.allocation ?? {}, at),
    parameterValues: control?.recipe.parameters ?? [],
    controlRecipe: control ? name : '',
    procedure: procedure ? name : '',
    startedAt: procedure?.status.startedAt || at,
    conditions: [condition],
    factsBefore: lastFacts(site, name, () => 0),
  };
  const audit: AuditDraft = {
    site,
    actor: BATCH_COMPONENT,
    action: 'Create',
    category: 'recovery',
    target: { kind: Batch.kind, name, site },
    result: 'Success',
    rule: 'stored-data',
    details: { cause: why, state: status.phase, batchID: spec.batchID },
    correlationID: `made-anew-${name}-${clock.wallMs()}`,
  };
  return { puts: [{ kind: Batch, site, name, spec, status }], audits: [audit] };
}

/** By the units that are its own, under the capabilities that its control recipe has them for. */
function allocationsOf(store: Store, site: string, name: string, planned: Readonly<Record<string, string>>, at: string): Allocation[] {
  const own = store.list(Unit, site).flatMap(({ metadata, status }) => (status.allocatedTo === name ? [metadata.name] : []));
  const worked = elementIndex(store)
    .elementsOf(site, name)
    .flatMap(({ kind, spec }) => (kind === UnitProcedure.kind && 'unitRef' in spec ? [spec.unitRef] : []));
  const capabilityOf = (unit: string): string => Object.entries(planned).find(([, of]) => of === unit)?.[0] ?? unit;
  return [...new Set([...own, ...worked])]
    .filter((unit) => unit !== '')
    .map((unit): Allocation => ({ capability: capabilityOf(unit), unit, state: own.includes(unit) ? 'Granted' : 'Released', since: at }));
}
