/** What the server says of the types of its variables and of the arguments of its methods. */
import type { DataValue, NodeId } from 'node-opcua-client';
import { AttributeIds, BrowseDirection, BrowseRequest, DataType, ReadRequest, resolveNodeId, TimestampsToReturn } from './library.js';
import type { NodeAddress } from './node-address.js';
import { stableText } from './node-address.js';
import { OpcUaFault, severityOf, statusText } from './status.js';
import type { OpcDataType } from './values.js';
import type { Wire } from './wire.js';

const LAST_BUILT_IN = 25; // OPC 10000-6, table 1
const ENUMERATION = 29;
/** Supertypes that are looked at: no server's types are deeper. */
const DEPTH_MAX = 16;
const HAS_SUBTYPE = 'i=45';
const HAS_PROPERTY = 'i=46';
const BOTH_CLASSES = 0;
const ALL_RESULTS = 63;

export interface Reference {
  readonly nodeId: NodeId;
  readonly browseName: { readonly name: string | null; readonly namespaceIndex: number };
  readonly displayName: { readonly text: string | null };
  readonly nodeClass: number;
  readonly typeDefinition: NodeId;
}

export async function readAttributes(
  wire: Wire,
  wanted: readonly { readonly nodeId: NodeId; readonly attributeId: number; readonly indexRange?: string }[],
): Promise<readonly DataValue[]> {
  const { results } = await wire.request<{ results: readonly DataValue[] | null }>(
    new ReadRequest({
      maxAge: 0,
      timestampsToReturn: TimestampsToReturn.Source,
      nodesToRead: wanted.map(({ nodeId, attributeId, indexRange = '' }) => ({ nodeId, attributeId, ...(indexRange === '' ? {} : { indexRange: indexRange as never }) })),
    }),
  );
  return results ?? [];
}

async function references(wire: Wire, nodeId: NodeId, type: string, direction: number): Promise<readonly Reference[]> {
  const { results } = await wire.request<{ results: readonly { references: readonly Reference[] | null }[] | null }>(
    new BrowseRequest({
      requestedMaxReferencesPerNode: 100,
      nodesToBrowse: [{ nodeId, referenceTypeId: resolveNodeId(type), browseDirection: direction, includeSubtypes: true, nodeClassMask: BOTH_CLASSES, resultMask: ALL_RESULTS }],
    }),
  );
  return results?.[0]?.references ?? [];
}

/** The built-in type below a data type; undefined when it is none of those a value is written in. */
async function builtInBelow(wire: Wire, dataType: NodeId): Promise<OpcDataType | undefined> {
  let type = dataType;
  for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
    if (type.namespace === 0 && typeof type.value === 'number') {
      if (type.value === ENUMERATION) return DataType.Int32;
      if (type.value >= 1 && type.value <= LAST_BUILT_IN) return type.value as OpcDataType;
    }
    const [above] = await references(wire, type, HAS_SUBTYPE, BrowseDirection.Inverse);
    if (!above) return undefined;
    type = above.nodeId;
  }
  return undefined;
}

/** In which type a variable is written: that of its value, and where it has none that of its node. @throws OpcUaFault */
export async function builtInTypeOf(wire: Wire, { nodeId, indexRange }: NodeAddress): Promise<OpcDataType> {
  const [value, dataType] = await readAttributes(wire, [
    { nodeId, attributeId: AttributeIds.Value, indexRange },
    { nodeId, attributeId: AttributeIds.DataType },
  ]);
  if (value?.value && value.value.dataType !== DataType.Null) return value.value.dataType;
  if (dataType && severityOf(dataType.statusCode) === 'Bad') throw new OpcUaFault('refused', statusText(dataType.statusCode), dataType.statusCode.name);
  const named = dataType?.value?.value as NodeId | undefined;
  const type = named && (await builtInBelow(wire, named));
  if (type === undefined) throw new OpcUaFault('refused', `the server does not tell a type that can be written${named ? `: ${named.toString()}` : ''}`);
  return type;
}

export interface MethodArgument {
  readonly name: string;
  /** As people name it. */
  readonly dataType: string;
  readonly valueRank: number;
  readonly description: string;
  /** Undefined: no built-in type. */
  readonly type: OpcDataType | undefined;
}

interface WrittenArgument {
  readonly name: string | null;
  readonly dataType: NodeId;
  readonly valueRank: number;
  readonly description: { readonly text: string | null } | null;
}

/** What a method takes and gives; undefined where it does not say. @throws OpcUaFault */
export async function argumentsOf(
  wire: Wire,
  methodId: NodeId,
  namespaces: readonly string[],
): Promise<{ readonly inputs: readonly MethodArgument[] | undefined; readonly outputs: readonly MethodArgument[] | undefined }> {
  const properties = await references(wire, methodId, HAS_PROPERTY, BrowseDirection.Forward);
  const of = async (name: string): Promise<readonly MethodArgument[] | undefined> => {
    const property = properties.find(({ browseName }) => browseName.name === name);
    if (!property) return undefined;
    const [read] = await readAttributes(wire, [{ nodeId: property.nodeId, attributeId: AttributeIds.Value }]);
    const written = (read?.value?.value ?? []) as readonly WrittenArgument[];
    return Promise.all(
      Array.from(written, async ({ name: argument, dataType, valueRank, description }) => {
        const type = await builtInBelow(wire, dataType);
        return { name: argument ?? '', dataType: typeName(dataType, namespaces), valueRank, description: description?.text ?? '', type };
      }),
    );
  };
  return { inputs: await of('InputArguments'), outputs: await of('OutputArguments') };
}

/** `Double`, or the node id of a type that is not built in. */
export function typeName(dataType: NodeId, namespaces: readonly string[]): string {
  const { namespace, value } = dataType;
  const isBuiltIn = namespace === 0 && typeof value === 'number' && value >= 1 && value <= LAST_BUILT_IN;
  return isBuiltIn ? (DataType[value] ?? `i=${value}`) : stableText(dataType, namespaces);
}
