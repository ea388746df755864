/** Read bodies of the physical hierarchy (contract 3; decisions Q-UNIT-01, Q-UNIT-03). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { CLUSTER_METADATA, clusterMetadataBody, metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { Area, AreaSpec, EnterpriseSpec, ProcessCell, ProcessCellSpec, Site, SITE_PHASES, SiteSpec, type SiteStatus, Unit } from './kind.js';

function names(resources: readonly Resource[]): string[] {
  return resources.map((resource) => resource.metadata.name);
}

export const EnterpriseBody = v.strictObject({ name: v.string(), ...EnterpriseSpec.entries, sites: v.array(v.string()), siteCount: v.number(), ...CLUSTER_METADATA });
export const SiteBody = v.strictObject({
  name: v.string(),
  ...SiteSpec.entries,
  namespace: v.string(),
  phase: v.picklist(SITE_PHASES),
  areaCount: v.number(),
  unitCount: v.number(),
  ...CLUSTER_METADATA,
});
export const AreaBody = v.strictObject({ name: v.string(), ...AreaSpec.entries, processCells: v.array(v.string()), processCellCount: v.number(), ...SITE_METADATA });
export const ProcessCellBody = v.strictObject({ name: v.string(), ...ProcessCellSpec.entries, units: v.array(v.string()), unitCount: v.number(), ...SITE_METADATA });

nameSchemas({ EnterpriseBody, SiteBody, AreaBody, ProcessCellBody });

export function enterpriseBody(resource: Resource<EnterpriseSpec>, read: StoreReader): ToldBy<typeof EnterpriseBody> {
  const { name } = resource.metadata;
  const sites = names(read.list(Site, '').filter((site) => site.spec.enterpriseName === name));
  return { name, ...resource.spec, sites, siteCount: sites.length, ...clusterMetadataBody(resource) };
}

export function siteBody(resource: Resource<SiteSpec, SiteStatus>, read: StoreReader): ToldBy<typeof SiteBody> {
  const { name } = resource.metadata;
  return {
    name,
    ...resource.spec,
    namespace: `site-${name}`,
    phase: resource.status.phase,
    areaCount: read.list(Area, name).length,
    unitCount: read.list(Unit, name).length,
    ...clusterMetadataBody(resource),
  };
}

export function areaBody(resource: Resource<AreaSpec>, read: StoreReader): ToldBy<typeof AreaBody> {
  const { name, site } = resource.metadata;
  const processCells = names(read.list(ProcessCell, site).filter((cell) => cell.spec.areaName === name));
  return { name, ...resource.spec, processCells, processCellCount: processCells.length, ...metadataBody(resource) };
}

export function processCellBody(resource: Resource<ProcessCellSpec>, read: StoreReader): ToldBy<typeof ProcessCellBody> {
  const { name, site } = resource.metadata;
  const units = names(read.list(Unit, site).filter((unit) => unit.spec.processCellName === name));
  return { name, ...resource.spec, units, unitCount: units.length, ...metadataBody(resource) };
}
