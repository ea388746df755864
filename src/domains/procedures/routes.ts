/** Routes of procedural resources and templates (contract 3, Procedural resources and templates; decisions Q-TIER-01). */
import { conflict, Refusal } from '../../platform/base/refusal.js';
import { type CrudDeps, type CrudOptions, crudRoutes } from '../../platform/http/crud.js';
import { readFlag } from '../../platform/http/log-query.js';
import { flag, text } from '../../platform/http/parameters.js';
import type { Route } from '../../platform/http/route.js';
import type { Kind, StoreReader, Ruled } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { elementBody, elementItem, phaseBody, templateBody } from './dto.js';
import type { BlockedWorld } from '../batches/reading/blocked-by.js';
import { elementIndex } from '../batches/tree/element-index.js';
import { phasesAtWork } from './at-work.js';
import { type ElementStatus, Phase } from './kind.js';
import { elementsBelow, refuseAtWork, refuseHolder, removalOf } from './removal.js';
import { isAdhoc } from './roots.js';
import {
  isActive,
  phaseTemplateRules,
  operationTemplateRules,
  unitProcedureTemplateRules,
  procedureTemplateRules,
  procedureRules,
  unitProcedureRules,
  operationRules,
  phaseRules,
} from './rules.js';

const TIERS = { read: 'read', write: 'engineer' } as const;

/** Deps of the rows of this domain beside the store. */
export interface ProcedureDeps extends CrudDeps, BlockedWorld {
  /** Setting `gateway.operatingMode` is `production`. */
  readonly production: boolean;
}

/** 403 in production (contract 3, Procedural resources): what ran is evidence. */
function refuseInProduction({ production }: ProcedureDeps): void {
  if (!production) return;
  throw new Refusal('forbidden', 'procedural resources are production records and cannot be deleted in production mode', { code: 'production_mode' });
}

interface OwnedSpec {
  readonly batchRef: string;
  readonly parentRef: { readonly kind: string; readonly name: string } | null;
}

/**
 * List filters: `?adhoc=true` (contract 3, Ad-hoc rules; `false` gives the others), `unit` and `batch` by name, and `atWork`:
 * those that are neither Idle nor ended. A panel asks for those at work every second, and a site keeps the elements of all its
 * batches: both questions that a screen has are answered from an index.
 */
function filterOf<Spec extends OwnedSpec>(kind: Kind<Spec, ElementStatus>): CrudOptions<Spec, ElementStatus, ProcedureDeps>['filter'] {
  type Element = Resource<Spec, ElementStatus>;
  return {
    query: { adhoc: flag(), atWork: flag('neither Idle nor ended'), batch: text(), unit: text() },
    reads(query) {
      const [adhoc, atWork] = [readFlag(query, 'adhoc'), readFlag(query, 'atWork')];
      const [batch, unit] = [query.get('batch') ?? '', query.get('unit') ?? ''];
      return (element) =>
        (adhoc === undefined || isAdhoc(element) === adhoc) &&
        (atWork === undefined || isActive(element.status) === atWork) &&
        (batch === '' || element.spec.batchRef === batch) &&
        (unit === '' || (element.spec as { readonly unitRef?: string }).unitRef === unit);
    },
    among(query, store, site) {
      if (kind.kind === Phase.kind && readFlag(query, 'atWork') === true) return phasesAtWork(store).of(site) as unknown as readonly Element[];
      const batch = query.get('batch') ?? '';
      if (batch === '') return undefined;
      return elementIndex(store)
        .elementsOf(site, batch)
        .filter((element) => element.kind === kind.kind) as unknown as readonly Element[];
    },
  };
}

function elementRoutes<Spec extends OwnedSpec>(kind: Ruled<Spec, ElementStatus>, options: Pick<CrudOptions<Spec, ElementStatus, ProcedureDeps>, 'dto'>): Route<ProcedureDeps>[] {
  return crudRoutes<Spec, ElementStatus, ProcedureDeps>(kind, {
    ...TIERS,
    ...options,
    item: (resource, _read, deps) => elementItem(resource, deps),
    filter: filterOf(kind),
    derives: true,
    barrier: { delete: (_params, deps) => refuseInProduction(deps) },
    refuse({ verb, before, read }) {
      if (verb !== 'delete' || !before) return;
      const { parentRef } = before.spec;
      if (parentRef !== null && !isActive(before.status))
        throw conflict('element_owned', `${kind.kind} ${before.metadata.name} belongs to ${parentRef.kind} ${parentRef.name}; delete that one`);
      refuseAtWork([before, ...elementsBelow(read, before)]);
      refuseHolder(read, before);
    },
    also: ({ verb, before, read, site }) => (verb === 'delete' && before ? removalOf(read, site, [before, ...elementsBelow(read, before)]) : {}),
  });
}

const element = (resource: Resource<object, ElementStatus>, _read: StoreReader, deps: ProcedureDeps): unknown => elementBody(resource, deps);

export const procedureRoutes = [
  ...elementRoutes(procedureRules, { dto: element }),
  ...elementRoutes(unitProcedureRules, { dto: element }),
  ...elementRoutes(operationRules, { dto: element }),
  ...elementRoutes(phaseRules, { dto: (phase, _read, deps) => phaseBody(phase, deps) }),
  ...crudRoutes(phaseTemplateRules, { ...TIERS, dto: templateBody }),
  ...crudRoutes(operationTemplateRules, { ...TIERS, dto: templateBody }),
  ...crudRoutes(unitProcedureTemplateRules, { ...TIERS, dto: templateBody }),
  ...crudRoutes(procedureTemplateRules, { ...TIERS, dto: templateBody }),
];
