/** Variables below a node with what belongs to them: access, value, unit, range, and where an output is probably read back (decisions 7.7). */
import type { NodeId } from 'node-opcua-client';
import { AttributeIds, DataType, NodeClass } from './library.js';
import { stableText } from './node-address.js';
import { readAttributes, typeName } from './node-types.js';
import { shown } from './values.js';
import { childrenOf, type Deadline, walk } from './walk.js';
import type { Wire } from './wire.js';

const HAS_PROPERTY = 'i=46';
const READS_PER_CALL = 100;
const CURRENT_WRITE = 2; // AccessLevelType (OPC 10000-3, 8.57)
const CURRENT_READ = 1;
/** Names of what a device says of its output, beside the output or as its name with an ending. */
const READBACK_NAME = /^(?:feedback|fbk|fb|readback|rbk|actual|act|actualvalue|pv|processvalue|position|valueact|vfbk|vrbk)$/i;
const READBACK_ENDING = /(?:^|[._-]|(?<=[a-z]))(?:feedback|fbk|fb|readback|rbk|actual|act|pv)$/i;

export interface FoundVariable {
  readonly nodeId: string;
  readonly browsePath: string;
  readonly dataType: string;
  /** Data type of the value as the server delivers it; 0: none. */
  readonly valueType: number;
  readonly accessLevel: string;
  readonly isWritable: boolean;
  readonly value: unknown;
  readonly description: string;
  readonly engUnits: string;
  readonly engMin: number | null;
  readonly engMax: number | null;
  readonly readbackNodeId: string;
}

interface Place {
  readonly nodeId: NodeId;
  readonly name: string;
  readonly path: string;
  readonly parent: string;
}

function accessText(level: number): string {
  return [level & CURRENT_READ ? 'read' : '', level & CURRENT_WRITE ? 'write' : ''].filter((word) => word !== '').join(' ');
}

async function inBatches<T, R>(rows: readonly T[], size: number, work: (batch: readonly T[]) => Promise<readonly R[]>): Promise<R[]> {
  const all: R[] = [];
  for (let at = 0; at < rows.length; at += size) {
    const batch = rows.slice(at, at + size);
    const results = await work(batch);
    for (let place = 0; place < batch.length; place += 1) all.push(results[place] as R);
  }
  return all;
}

interface Range {
  readonly engUnits: string;
  readonly engMin: number | null;
  readonly engMax: number | null;
}

/** EURange and EngineeringUnits (OPC 10000-8, 5.6), by place. */
async function rangesOf(wire: Wire, places: readonly Place[]): Promise<readonly Range[]> {
  const { children } = await childrenOf(
    wire,
    places.map(({ nodeId }) => nodeId),
    { type: HAS_PROPERTY, max: 50 },
  );
  const wanted = children.flatMap((properties, place) =>
    properties.flatMap(({ nodeId, browseName }) => (browseName.name === 'EURange' || browseName.name === 'EngineeringUnits' ? [{ nodeId, place, name: browseName.name }] : [])),
  );
  const values = await inBatches(wanted, READS_PER_CALL, (batch) =>
    readAttributes(
      wire,
      batch.map(({ nodeId }) => ({ nodeId, attributeId: AttributeIds.Value })),
    ),
  );
  const ranges = places.map((): { engUnits: string; engMin: number | null; engMax: number | null } => ({ engUnits: '', engMin: null, engMax: null }));
  wanted.forEach(({ place, name }, index) => {
    const range = ranges[place];
    const value = values[index]?.value?.value as { low?: number; high?: number; displayName?: { text?: string | null } } | null | undefined;
    if (!range || !value) return;
    if (name === 'EngineeringUnits') range.engUnits = value.displayName?.text ?? '';
    else if (Number.isFinite(value.low) && Number.isFinite(value.high)) Object.assign(range, { engMin: value.low, engMax: value.high });
  });
  return ranges;
}

/** An output and what is beside it: the one that is only read, of the same type, and named as what a device says back. */
export function readbackOf(
  output: { readonly name: string; readonly parent: string; readonly dataType: string; readonly isWritable: boolean },
  beside: readonly { readonly name: string; readonly parent: string; readonly dataType: string; readonly isWritable: boolean; readonly nodeId: string }[],
): string {
  if (!output.isWritable) return '';
  const candidates = beside.filter((row) => row.parent === output.parent && !row.isWritable && row.dataType === output.dataType);
  const named = candidates.filter(({ name }) => name.toLowerCase().startsWith(output.name.toLowerCase()) && READBACK_ENDING.test(name.slice(output.name.length)));
  const plain = candidates.filter(({ name }) => READBACK_NAME.test(name));
  const [found, another] = named.length > 0 ? named : plain;
  return found && !another ? found.nodeId : '';
}

export async function variablesBelow(
  wire: Wire,
  namespaces: readonly string[],
  root: NodeId,
  deadline: Deadline,
  max: number,
): Promise<{ readonly items: readonly FoundVariable[]; readonly truncated: boolean }> {
  const places: Place[] = [];
  const truncated = await walk(wire, root, deadline, ({ reference: { nodeId, nodeClass, browseName, typeDefinition }, path, parent }) => {
    if (nodeClass !== NodeClass.Variable || isProperty(typeDefinition)) return true;
    if (places.length >= max) return false;
    places.push({ nodeId, name: browseName.name ?? '', path, parent: parent.toString() });
    return true;
  });
  return { items: await described(wire, namespaces, places), truncated };
}

/** A property belongs to its variable (PropertyType, i=68). */
function isProperty({ namespace, value }: NodeId): boolean {
  return namespace === 0 && value === 68;
}

const ATTRIBUTES = 4;

async function described(wire: Wire, namespaces: readonly string[], places: readonly Place[]): Promise<readonly FoundVariable[]> {
  const read = await inBatches(
    places.flatMap(({ nodeId }) =>
      [AttributeIds.Value, AttributeIds.DataType, AttributeIds.UserAccessLevel, AttributeIds.Description].map((attributeId) => ({ nodeId, attributeId })),
    ),
    READS_PER_CALL,
    (batch) => readAttributes(wire, batch),
  );
  const ranges = await rangesOf(wire, places);
  const rows = places.map(({ nodeId, name, path, parent }, place) => {
    const [value, type, access, description] = read.slice(ATTRIBUTES * place, ATTRIBUTES * (place + 1));
    const level = Number(access?.value?.value ?? 0);
    const named = type?.value?.value as NodeId | null | undefined;
    return {
      nodeId: stableText(nodeId, namespaces),
      name,
      parent,
      browsePath: path,
      dataType: named ? typeName(named, namespaces) : '',
      valueType: value?.value?.dataType ?? DataType.Null,
      accessLevel: accessText(level),
      isWritable: (level & CURRENT_WRITE) !== 0,
      value: shown(value?.value),
      description: String((description?.value?.value as { text?: string | null } | null | undefined)?.text ?? ''),
      ...(ranges[place] ?? { engUnits: '', engMin: null, engMax: null }),
    };
  });
  return rows.map(({ name, parent, ...row }) => ({ ...row, readbackNodeId: readbackOf({ name, parent, ...row }, rows) }));
}
