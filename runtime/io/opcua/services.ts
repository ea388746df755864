/** Services of a module type package as they stand in a server (VDI/VDE/NAMUR 2658-4): an object with a state word and a command-enable word. */
import type { NodeId } from 'node-opcua-client';
import { AttributeIds, NodeClass } from './library.js';
import { stableText } from './node-address.js';
import { readAttributes } from './node-types.js';
import { type Deadline, walk } from './walk.js';
import type { Wire } from './wire.js';

/** Coding of StateCur. */
const STATES: Readonly<Record<number, string>> = {
  4: 'Stopped',
  8: 'Starting',
  16: 'Idle',
  32: 'Paused',
  64: 'Execute',
  128: 'Stopping',
  256: 'Aborting',
  512: 'Aborted',
  1024: 'Holding',
  2048: 'Held',
  4096: 'Unholding',
  8192: 'Pausing',
  16_384: 'Resuming',
  32_768: 'Resetting',
  65_536: 'Completing',
  131_072: 'Completed',
};
/** Bits of CommandEn. */
const COMMANDS: readonly (readonly [bit: number, command: string])[] = [
  [2, 'Reset'],
  [4, 'Start'],
  [8, 'Stop'],
  [16, 'Hold'],
  [32, 'Unhold'],
  [64, 'Pause'],
  [128, 'Resume'],
  [256, 'Abort'],
  [512, 'Restart'],
  [1024, 'Complete'],
];

interface Candidate {
  readonly nodeId: NodeId;
  readonly name: string;
  readonly parent: string;
  readonly words: Map<string, NodeId>;
}

export interface FoundService {
  readonly name: string;
  readonly nodeId: string;
  readonly state: string;
  readonly commandEnable: readonly string[];
  readonly procedures: readonly { readonly id: number; readonly name: string }[];
}

const WORDS = new Set(['StateCur', 'CommandEn', 'ProcedureId']);

async function numberAt(wire: Wire, nodeId: NodeId | undefined): Promise<number> {
  if (!nodeId) return 0;
  const [read] = await readAttributes(wire, [{ nodeId, attributeId: AttributeIds.Value }]);
  return Number(read?.value?.value ?? 0);
}

export async function servicesBelow(
  wire: Wire,
  namespaces: readonly string[],
  root: NodeId,
  deadline: Deadline,
  max: number,
): Promise<{ readonly items: readonly FoundService[]; readonly truncated: boolean }> {
  const objects = new Map<string, Candidate>();
  const truncated = await walk(wire, root, deadline, ({ reference: { nodeId, nodeClass, browseName }, parent }) => {
    const name = browseName.name ?? '';
    if (nodeClass === NodeClass.Object) objects.set(nodeId.toString(), { nodeId, name, parent: parent.toString(), words: new Map() });
    else if (WORDS.has(name)) objects.get(parent.toString())?.words.set(name, nodeId);
    return true;
  });
  const services = [...objects.values()].filter(({ words }) => words.has('StateCur') && words.has('CommandEn')).slice(0, max);
  const items: FoundService[] = [];
  for (const { nodeId, name, words } of services) {
    const enabled = await numberAt(wire, words.get('CommandEn'));
    const procedures: { id: number; name: string }[] = [];
    for (const part of objects.values()) {
      if (!part.words.has('ProcedureId') || !isBelow(part, nodeId.toString(), objects)) continue;
      procedures.push({ id: await numberAt(wire, part.words.get('ProcedureId')), name: part.name });
    }
    items.push({
      name,
      nodeId: stableText(nodeId, namespaces),
      state: STATES[await numberAt(wire, words.get('StateCur'))] ?? 'Undefined',
      commandEnable: COMMANDS.flatMap(([bit, command]) => (enabled & bit ? [command] : [])),
      procedures,
    });
  }
  return { items, truncated };
}

/** Directly, or in a folder of procedures. */
function isBelow({ parent }: Candidate, service: string, objects: ReadonlyMap<string, Candidate>): boolean {
  return parent === service || objects.get(parent)?.parent === service;
}
