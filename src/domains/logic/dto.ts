/** Read bodies of control programs and composite types (contract 3, Control program; decisions Q-PROG-02). */
import type { StoreReader } from '../../platform/store/kind.js';
import { metadataBody } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { type ControlProgramSpec, type ControlProgramStatus, type FunctionBlockTypeSpec, ownerOfProgram } from './kind.js';

/** Where the number of scans is known: in the memory of the unit runtime. */
export interface ScanCounts {
  readonly runtimes?: { link(site: string, unit: string): { networkScans(network: string): number } | undefined };
}

/** The wiring is read as `dataConnections` and written as `connections` (contract 3, Control program). */
export function programBody(resource: Resource<ControlProgramSpec, ControlProgramStatus>, _read: StoreReader, { runtimes }: ScanCounts): unknown {
  const { metadata, spec, status } = resource;
  return {
    name: metadata.name,
    unitRef: spec.unitRef,
    scanInterval: spec.scanInterval,
    state: status.state,
    scanCount: runtimes?.link(metadata.site, spec.unitRef)?.networkScans(metadata.name) ?? 0,
    blockCount: spec.blocks.length,
    blocks: spec.blocks,
    dataConnections: spec.connections,
    variables: spec.variables,
    variableBindings: spec.variableBindings,
    faultedBlocks: status.faultedBlocks,
    loadedAt: status.loadedAt,
    message: status.message,
    networkHash: status.networkHash,
    managedBy: ownerOfProgram(metadata) ?? '',
    ...metadataBody(resource),
  };
}

export function blockTypeBody(resource: Resource<FunctionBlockTypeSpec>): unknown {
  return { name: resource.metadata.name, ...resource.spec, ...metadataBody(resource) };
}
