/** Control programs and composite block types (contract 3, Control program and Logic transforms; decisions 1.6, 5.3). */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { Ending } from '../../platform/base/term.js';
import { Flag, Identifier, Required, ScalarMap, StoredTerm, Text } from '../../platform/store/fields.js';
import { blockType } from '../../../runtime/catalog.js';
import { type Kind, named, type Reference, type StatusMembers } from '../../platform/store/kind.js';
import type { Metadata } from '../../platform/store/resource.js';
import {
  BLOCK_CONNECTION_WORDS,
  BLOCK_PARAM_WORDS,
  BLOCK_PORT_WORDS,
  BLOCK_WORDS,
  CONTROL_PROGRAM_WORDS,
  FUNCTION_BLOCK_TYPE_WORDS,
  PARAM_BINDING_WORDS,
  PORT_BINDING_WORDS,
  PROGRAM_VARIABLE_WORDS,
  VARIABLE_BINDING_WORDS,
} from './field-words.js';

/** Both vocabularies of decisions 1.3, served as sent. */
export const CONTROL_DATA_TYPES = ['Boolean', 'Integer', 'Float', 'String', 'Time', 'BOOL', 'INT', 'REAL', 'STRING', 'TIME'] as const;

export const ControlDataType = v.picklist(CONTROL_DATA_TYPES);
/** Block names of modules keep the program's form: anything but control characters (decisions Q-ERR-12). */
export const BlockName = v.pipe(v.string(), v.minLength(1), v.maxLength(128), v.regex(/^[^\u0000-\u001f\u007f]+$/u, 'must not have control characters'));

export const Block = v.strictObject({ name: BlockName, type: Required, params: v.optional(ScalarMap, {}), comment: Text });
export const BlockConnection = v.strictObject({ sourceBlock: Required, sourcePort: Required, destBlock: Required, destPort: Required });
export const BlockVariableBinding = v.strictObject({ variable: Required, blockRef: Required, portRef: Required });

/** By which the text of a program and the wiring of a network may be sent as well, to templates, transforms and validation (D-C-05). */
export const TEXT_NAMES = { st: 'structuredText', source: 'structuredText' } as const;
export const WIRING_NAMES = { connections: 'dataConnections' } as const;

const Port = v.strictObject({ name: Identifier, dataType: ControlDataType, defaultValue: v.optional(v.string()), description: Text });
const Param = v.strictObject({ name: Identifier, dataType: ControlDataType, defaultValue: v.optional(v.string()), required: Flag, description: Text });
const PortBinding = v.strictObject({ port: Required, blockRef: Required, portRef: Required });

const ParamBinding = v.strictObject({ param: Required, blockRef: Required, blockParam: Required });

export const FunctionBlockTypeSpec = v.strictObject({
  description: Text,
  inputs: v.optional(v.array(Port), []),
  outputs: v.optional(v.array(Port), []),
  params: v.optional(v.array(Param), []),
  blocks: v.optional(v.array(Block), []),
  connections: v.optional(v.array(BlockConnection), []),
  inputBindings: v.optional(v.array(PortBinding), []),
  outputBindings: v.optional(v.array(PortBinding), []),
  paramBindings: v.optional(v.array(ParamBinding), []),
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
  controlled: true,
  initialStatus: () => ({}),
  references: (spec) => neededBlockTypes(spec.blocks),
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

nameSchemas({ Block, BlockConnection, BlockVariableBinding, BlockTypePort: Port, BlockTypeParam: Param, PortBinding, ProgramVariable });

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

describeFields(Block, BLOCK_WORDS);
describeFields(BlockConnection, BLOCK_CONNECTION_WORDS);
describeFields(BlockVariableBinding, VARIABLE_BINDING_WORDS);
describeFields(Port, BLOCK_PORT_WORDS);
describeFields(Param, BLOCK_PARAM_WORDS);
describeFields(PortBinding, PORT_BINDING_WORDS);
describeFields(ParamBinding, PARAM_BINDING_WORDS);
describeFields(FunctionBlockTypeSpec, FUNCTION_BLOCK_TYPE_WORDS);
describeFields(ProgramVariable, PROGRAM_VARIABLE_WORDS);
describeFields(ControlProgramSpec, CONTROL_PROGRAM_WORDS);

/** As stored: the interval is text. */
export type ControlProgramSpec = Omit<ProgramInput, 'scanInterval'> & { scanInterval: string | number };

export const PROGRAM_STATES = ['Pending', 'Running', 'Degraded', 'Error', 'Stopped'] as const;

export interface ControlProgramStatus {
  readonly state: (typeof PROGRAM_STATES)[number];
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

/** As it is stored. */
export const HOT_SWAP_OVERRIDE = v.object({ until: v.string(), term: v.optional(StoredTerm), by: v.string(), reason: v.string() });

const PROGRAM_STATUS: StatusMembers<ControlProgramStatus> = {
  state: v.picklist(PROGRAM_STATES),
  faultedBlocks: v.array(v.string()),
  message: v.string(),
  networkHash: v.string(),
  loadedAt: v.string(),
  hotSwapOverride: HOT_SWAP_OVERRIDE,
};

export const ControlProgram: Kind<ControlProgramSpec, ControlProgramStatus> = {
  kind: 'ControlProgram',
  aliases: ['FBNetwork'],
  group: 'control',
  scope: 'site',
  action: 'controlprogram',
  path: 'fbnetworks',
  spec: ControlProgramSpec,
  body: 'document',
  apply: { how: 'yes' },
  controlled: true,
  required: ['unitRef', 'scanInterval', 'blocks'],
  initialStatus: () => ({ state: 'Pending', faultedBlocks: [], message: '', networkHash: '', loadedAt: '' }),
  status: PROGRAM_STATUS,
  mendsStatus: true,
  references: (spec, site) =>
    named(
      { path: 'unitRef', kind: 'Unit', site, name: spec.unitRef, when: 'write', holds: true },
      ...blockTypesOf(spec.blocks),
      ...spec.variables.map(({ source }, index): Reference => ({ path: `variables[${index}].source`, kind: 'ControlModule', site, name: moduleOf(source ?? ''), when: 'run' })),
      ...spec.blocks.map(
        ({ type, params }, index): Reference => ({
          path: `blocks[${index}].params.addr`,
          kind: 'IOModule',
          site,
          name: CHANNEL_BLOCKS.includes(type) ? ioModuleOf(String(params.addr ?? '')) : '',
          when: 'run',
        }),
      ),
    ),
};

/** Block types that stand for one channel; a tag's `channel` sets their `addr`. */
export const CHANNEL_BLOCKS: readonly string[] = ['AI', 'AO', 'DI', 'DO'];

/** I/O module of `<ioModule>:<channel address>`; '' when it is not in that form. */
export function ioModuleOf(channel: string): string {
  const at = channel.indexOf(':');
  return at > 0 ? channel.slice(0, at) : '';
}

/** Control module of a source `<controlModule>.<tag>`. */
export function moduleOf(source: string): string {
  return source.split('.')[0] ?? '';
}

/** Composite types among the types of the blocks; what is built in, by its exact name as the compiler looks for it, is nobody's resource. */
export function blockTypesOf(blocks: readonly { readonly type: string }[]): readonly Reference[] {
  return blocks.flatMap(({ type }, index) =>
    blockType(type) ? [] : named({ path: `blocks[${index}].type`, kind: 'FunctionBlockType', site: '', name: type, when: 'run', holds: true }),
  );
}

/** Those of a network that is judged whole when it is written (`invalid_network`). */
export function neededBlockTypes(blocks: readonly { readonly type: string }[]): readonly Reference[] {
  return blockTypesOf(blocks).map((reference) => ({ ...reference, when: 'write', ownWords: true }));
}

/** Label of what the gateway derives from a control module (decisions D-PROG-01). */
export const MANAGED_BY_LABEL = 'lineside.io/managed-by';

/** The control module whose logic a program is: its owner and not its label says so, for a label can be written by anyone who edits programs. */
export function ownerOfProgram({ ownerReferences }: Pick<Metadata, 'ownerReferences'>): string | undefined {
  return ownerReferences.find(({ kind }) => kind === 'ControlModule')?.name;
}
