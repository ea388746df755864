/** Read bodies of control programs and composite types (contract 3, Control program; decisions Q-PROG-02). */
import { metadataBody } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import type { ControlProgramSpec, ControlProgramStatus, FunctionBlockTypeSpec } from './kind.js';

/** The wiring is read as `dataConnections` and written as `connections` (contract 3, Control program). */
export function programBody(resource: Resource<ControlProgramSpec, ControlProgramStatus>): unknown {
  const { metadata, spec, status } = resource;
  return {
    name: metadata.name,
    unitRef: spec.unitRef,
    scanInterval: spec.scanInterval,
    state: status.state,
    scanCount: status.scanCount,
    blockCount: spec.blocks.length,
    blocks: spec.blocks,
    dataConnections: spec.connections,
    variables: spec.variables,
    variableBindings: spec.variableBindings,
    faultedBlocks: status.faultedBlocks,
    message: status.message,
    networkHash: status.networkHash,
    managedBy: metadata.ownerReferences.find((owner) => owner.kind === 'ControlModule')?.name ?? '',
    ...metadataBody(resource),
  };
}

export function blockTypeBody(resource: Resource<FunctionBlockTypeSpec>): unknown {
  return { name: resource.metadata.name, ...resource.spec, ...metadataBody(resource) };
}
