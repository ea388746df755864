/** Read bodies of control programs and composite types (contract 3, Control program; decisions Q-PROG-02). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { MANIFEST_METADATA, manifestOf, withoutOwnKeys } from '../../platform/store/manifest.js';
import { CLUSTER_METADATA, clusterMetadataBody, metadataBody, SITE_METADATA } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { ControlProgram, ControlProgramSpec, type ControlProgramStatus, FunctionBlockTypeSpec, ownerOfProgram, PROGRAM_STATES } from './kind.js';

/** Where the number of scans is known: in the memory of the unit runtime. */
export interface ScanCounts {
  readonly runtimes?: { link(site: string, unit: string): { networkScans(network: string): number } | undefined };
}

const { blocks, connections, variables, variableBindings, unitRef } = ControlProgramSpec.entries;

export const ProgramBody = v.strictObject({
  name: v.string(),
  unitRef,
  scanInterval: v.union([v.string(), v.number()]),
  state: v.picklist(PROGRAM_STATES),
  scanCount: v.number(),
  blockCount: v.number(),
  blocks,
  dataConnections: connections,
  variables,
  variableBindings,
  faultedBlocks: v.array(v.string()),
  loadedAt: v.string(),
  message: v.string(),
  networkHash: v.string(),
  /** The control module whose logic it is; empty for a program that stands alone. */
  managedBy: v.string(),
  ...SITE_METADATA,
});
export type ProgramBody = ToldBy<typeof ProgramBody>;

/** As POST, PUT and apply take it: the wiring goes by the name under which it is written (D-C-05). */
export const ProgramManifest = v.strictObject({
  apiVersion: v.string(),
  kind: v.literal('ControlProgram'),
  metadata: v.strictObject(MANIFEST_METADATA),
  spec: v.strictObject({ unitRef, scanInterval: v.union([v.string(), v.number()]), blocks, connections, variables, variableBindings }),
});

/** Text is only compiled, never stored. */
const { structuredText: _compiled, ...typeMembers } = FunctionBlockTypeSpec.entries;

export const BlockTypeBody = v.strictObject({ name: v.string(), ...typeMembers, ...CLUSTER_METADATA });
export type BlockTypeBody = ToldBy<typeof BlockTypeBody>;

nameSchemas({ ControlProgramBody: ProgramBody, ControlProgramManifest: ProgramManifest, BlockTypeBody });

/** The wiring is read as `dataConnections` and written as `connections` (contract 3, Control program). */
export function programBody(resource: Resource<ControlProgramSpec, ControlProgramStatus>, _read: StoreReader, { runtimes }: ScanCounts): ProgramBody {
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

export function programManifest(program: Resource<ControlProgramSpec, ControlProgramStatus>): ToldBy<typeof ProgramManifest> {
  return { ...manifestOf(ControlProgram, withoutOwnKeys(ControlProgram, program)), kind: 'ControlProgram' };
}

export function blockTypeBody(resource: Resource<FunctionBlockTypeSpec>): BlockTypeBody {
  return { name: resource.metadata.name, ...resource.spec, ...clusterMetadataBody(resource) };
}
