/** Control programs and composite block types (contract 3, Control program and Logic transforms; decisions 1.6, 5.3). */
import * as v from 'valibot';
import type { Ending } from '../../platform/base/term.js';
import { Flag, Identifier, Required, Text } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';
import type { Metadata } from '../../platform/store/resource.js';
import { Block, BlockConnection, BlockVariableBinding, ControlDataType } from '../control-modules/kind.js';
import { admitBlockType, admitProgram, blockTypeDependents, decodeProgramLeniently, refuseProgramDelete } from './rules.js';

const Port = v.strictObject({ name: Identifier, dataType: ControlDataType, defaultValue: v.optional(v.string()), description: Text });
const Param = v.strictObject({ name: Identifier, dataType: ControlDataType, defaultValue: v.optional(v.string()), required: Flag, description: Text });
const PortBinding = v.strictObject({ port: Required, blockRef: Required, portRef: Required });

export const FunctionBlockTypeSpec = v.strictObject({
  description: Text,
  inputs: v.optional(v.array(Port), []),
  outputs: v.optional(v.array(Port), []),
  params: v.optional(v.array(Param), []),
  blocks: v.optional(v.array(Block), []),
  connections: v.optional(v.array(BlockConnection), []),
  inputBindings: v.optional(v.array(PortBinding), []),
  outputBindings: v.optional(v.array(PortBinding), []),
  paramBindings: v.optional(v.array(v.strictObject({ param: Required, blockRef: Required, blockParam: Required })), []),
  /** Compile input only, instead of blocks; never stored. */
  structuredText: v.optional(v.string()),
});
export type FunctionBlockTypeSpec = v.InferOutput<typeof FunctionBlockTypeSpec>;

export const FunctionBlockType: Kind<FunctionBlockTypeSpec, Readonly<Record<string, never>>> = {
  kind: 'FunctionBlockType',
  aliases: ['FBBlockType'],
  group: 'control',
  scope: 'cluster',
  action: 'functionblocktype',
  path: 'fbblocktypes',
  spec: FunctionBlockTypeSpec,
  body: 'flat',
  apply: { how: 'yes' },
  initialStatus: () => ({}),
  admit: admitBlockType,
  dependents: ({ metadata }, read) => blockTypeDependents(read, metadata.name),
};

/** `input`, `output` or `local` in any case, stored in lower case. */
const Direction = v.pipe(v.string(), v.toLowerCase(), v.picklist(['input', 'output', 'local']));

export const ProgramVariable = v.strictObject({
  name: Identifier,
  dataType: ControlDataType,
  direction: Direction,
  /** `<controlModule>.<tag>` of the same unit that feeds an input variable. */
  source: v.optional(v.string()),
});

export const ControlProgramSpec = v.strictObject({
  unitRef: Text,
  /** Duration text; a bare number is milliseconds. Empty only through apply, which leads to state Error. */
  scanInterval: v.optional(v.union([v.string(), v.number()]), ''),
  blocks: v.optional(v.array(Block), []),
  connections: v.optional(v.array(BlockConnection), []),
  variables: v.optional(v.array(ProgramVariable), []),
  variableBindings: v.optional(v.array(BlockVariableBinding), []),
});
type ProgramInput = v.InferOutput<typeof ControlProgramSpec>;
/** As stored: the interval is text. */
export type ControlProgramSpec = Omit<ProgramInput, 'scanInterval'> & { scanInterval: string | number };

export interface ControlProgramStatus {
  readonly state: 'Pending' | 'Running' | 'Degraded' | 'Error' | 'Stopped';
  readonly faultedBlocks: readonly string[];
  readonly message: string;
  readonly networkHash: string;
  readonly loadedAt: string;
  /** Armed one-shot bypass of the active-batch gate (decisions Q-PROG-03). */
  readonly hotSwapOverride?: HotSwapOverride;
}

export interface HotSwapOverride extends Ending {
  readonly by: string;
  readonly reason: string;
}

export const ControlProgram: Kind<ControlProgramSpec, ControlProgramStatus> = {
  kind: 'ControlProgram',
  aliases: ['FBNetwork'],
  group: 'control',
  scope: 'site',
  action: 'controlprogram',
  path: 'fbnetworks',
  spec: ControlProgramSpec,
  lenient: decodeProgramLeniently,
  body: 'document',
  apply: { how: 'yes' },
  required: ['unitRef', 'scanInterval', 'blocks'],
  initialStatus: () => ({ state: 'Pending', faultedBlocks: [], message: '', networkHash: '', loadedAt: '' }),
  admit: admitProgram,
  refuseDelete: refuseProgramDelete,
};

/** Label of what the gateway derives from a control module (decisions D-PROG-01). */
export const MANAGED_BY_LABEL = 'lineside.io/managed-by';

/** The control module whose logic a program is: its owner and not its label says so, for a label can be written by anyone who edits programs. */
export function ownerOfProgram({ ownerReferences }: Metadata): string | undefined {
  return ownerReferences.find(({ kind }) => kind === 'ControlModule')?.name;
}
