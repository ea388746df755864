/** Read bodies of the physical hierarchy (contract 3; decisions Q-UNIT-01, Q-UNIT-03). */
import type { StoreReader } from '../../platform/store/kind.js';
import { clusterMetadataBody, metadataBody } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { Area, type AreaSpec, type EnterpriseSpec, ProcessCell, type ProcessCellSpec, Site, type SiteSpec, type SiteStatus, Unit } from './kind.js';

function names(resources: readonly Resource[]): string[] {
  return resources.map((resource) => resource.metadata.name);
}

export function enterpriseBody(resource: Resource<EnterpriseSpec>, read: StoreReader): unknown {
  const { name } = resource.metadata;
  const sites = names(read.list(Site, '').filter((site) => site.spec.enterpriseName === name));
  return { name, ...resource.spec, sites, siteCount: sites.length, ...clusterMetadataBody(resource) };
}

export function siteBody(resource: Resource<SiteSpec, SiteStatus>, read: StoreReader): unknown {
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

export function areaBody(resource: Resource<AreaSpec>, read: StoreReader): unknown {
  const { name, site } = resource.metadata;
  const processCells = names(read.list(ProcessCell, site).filter((cell) => cell.spec.areaName === name));
  return { name, ...resource.spec, processCells, processCellCount: processCells.length, ...metadataBody(resource) };
}

export function processCellBody(resource: Resource<ProcessCellSpec>, read: StoreReader): unknown {
  const { name, site } = resource.metadata;
  const units = names(read.list(Unit, site).filter((unit) => unit.spec.processCellName === name));
  return { name, ...resource.spec, units, unitCount: units.length, ...metadataBody(resource) };
}
