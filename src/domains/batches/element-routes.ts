/** Routes of phases, operations, unit procedures and procedures (contract 3, Procedural resources; decisions Q-TIER-01). */
import type * as v from 'valibot';
import { type CrudDeps, type CrudOptions, crudRoutes } from '../../platform/http/crud.js';
import { invalid } from '../../platform/base/refusal.js';
import { readChoice, readFlag } from '../../platform/http/log-query.js';
import { flag, text, word } from '../../platform/http/parameters.js';
import type { Route } from '../../platform/http/route.js';
import type { Kind, StoreReader, Ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { BlockedWorld } from './reading/blocked-by.js';
import { msOf } from './kind.js';
import { runOf } from './past-run.js';
import { elementIndex } from './tree/element-index.js';
import { phasesAtWork } from '../procedures/at-work.js';
import { type ElementStatus, Phase } from '../procedures/kind.js';
import { elementsBelow, removalOf } from '../procedures/removal.js';
import { isActive, isAdhoc } from '../procedures/roots.js';
import { procedureRules, unitProcedureRules, operationRules, phaseRules } from '../procedures/rules.js';
import { elementBody, ElementItem, elementItem, PhaseBody, phaseBody, ProcedureBody, SequenceBody } from './reading/element-dto.js';

const ORDERS = ['name', 'recent'] as const;
const TIERS = { read: 'read', write: 'engineer' } as const;

/** Deps of the rows of elements beside the store. */
export interface ElementDeps extends CrudDeps, BlockedWorld {
  /** Setting `gateway.operatingMode` is `production`. */
  readonly production: boolean;
}

interface OwnedSpec {
  readonly batchRef: string;
  readonly parentRef: { readonly kind: string; readonly name: string } | null;
}

/**
 * List filters: `?adhoc=true` (contract 3, Ad-hoc rules; `false` gives the others), `unit` and `batch` by name, and `atWork`:
 * those that are neither Idle nor ended. With `order=recent` runs by hand come newest first. A panel asks for those at work every second, and a site keeps the elements of all its
 * batches: both questions that a screen has are answered from an index.
 */
function filterOf<Spec extends OwnedSpec>(kind: Kind<Spec, ElementStatus>): CrudOptions<Spec, ElementStatus, ElementDeps>['filter'] {
  type Element = Resource<Spec, ElementStatus>;
  return {
    query: { adhoc: flag(), atWork: flag('neither Idle nor ended'), batch: text(), unit: text(), order: word(ORDERS, 'recent, newest first, goes with adhoc=true') },
    keyOf(query) {
      if (readChoice(query, 'order', ORDERS) === 'name') return undefined;
      // runs by hand stay in memory; the others are too many to be put in another order
      if (readFlag(query, 'adhoc') !== true) throw invalid('invalid_query', 'order', 'order recent is that of runs by hand; ask for adhoc=true with it');
      return ({ metadata: { createdAt, name } }) => [-msOf(createdAt), name];
    },
    reads(query) {
      const [adhoc, atWork] = [readFlag(query, 'adhoc'), readFlag(query, 'atWork')];
      const [batch, unit] = [query.get('batch') ?? '', query.get('unit') ?? ''];
      return (element) =>
        (adhoc === undefined || isAdhoc(element) === adhoc) &&
        (atWork === undefined || isActive(element.status) === atWork) &&
        (batch === '' || element.spec.batchRef === batch) &&
        (unit === '' || (element.spec as { readonly unitRef?: string }).unitRef === unit);
    },
    past: (query, site) => runOf({ site, name: query.get('batch') ?? '' }),
    // what is past belonged to a batch and has ended
    ofPast: (query) => (readFlag(query, 'adhoc') || readFlag(query, 'atWork') ? 'none' : (query.get('unit') ?? '') === '' ? 'all' : undefined),
    among(query, store, site) {
      const batch = query.get('batch') ?? '';
      const isOfPhasesAtWork = kind.kind === Phase.kind && readFlag(query, 'atWork') === true;
      if (!isOfPhasesAtWork && batch === '') return undefined;
      const found = isOfPhasesAtWork ? phasesAtWork(store).of(site) : elementIndex(store).elementsOf(site, batch);
      // the kind of these rows is known by its name alone
      return found.filter((element) => element.kind === kind.kind) as unknown as readonly Element[];
    },
  };
}

function rowsOf<Spec extends OwnedSpec, Body extends v.GenericSchema>(
  kind: Ruled<Spec, ElementStatus>,
  options: Pick<CrudOptions<Spec, ElementStatus, ElementDeps, Body>, 'dto' | 'reply'>,
): Route<ElementDeps>[] {
  return crudRoutes<Spec, ElementStatus, ElementDeps, Body, typeof ElementItem>(kind, {
    ...TIERS,
    ...options,
    item: (resource, _read, deps) => elementItem(resource, deps),
    itemReply: ElementItem,
    filter: filterOf(kind),
    derives: true,
    also: ({ verb, before, read, site }) => (verb === 'delete' && before ? removalOf(read, site, [before, ...elementsBelow(read, before)]) : {}),
  });
}

const element = <Spec extends object>(resource: Resource<Spec, ElementStatus>, _read: StoreReader, deps: ElementDeps) => elementBody(resource, deps);

export const elementRoutes = [
  ...rowsOf(procedureRules, { reply: ProcedureBody, dto: element }),
  ...rowsOf(unitProcedureRules, { reply: SequenceBody, dto: element }),
  ...rowsOf(operationRules, { reply: SequenceBody, dto: element }),
  ...rowsOf(phaseRules, { reply: PhaseBody, dto: (phase, _read, deps) => phaseBody(phase, deps) }),
];
