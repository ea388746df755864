/** Channels of the I/O module that stands for a process module: one for each node that an element of the package stands on. */
import { checkChannelAddress, hasServices, PROTOCOLS } from '../../../runtime/catalog.js';
import { assert } from '../../platform/base/assert.js';
import type { Turns } from '../../platform/base/slices.js';
import type { ChannelType, IOModuleSpec } from '../io-modules/kind.js';
import { isCommandWord } from '../io-modules/service-words.js';
import type { Assembly, Item, ModulePackage, Variable } from './module-package.js';
import type { Report } from './report.js';
import { isPulse, typeOfVariable } from './variables.js';

/** Of process modules: the one whose devices have services. */
export const MODULE_PROTOCOL = assertedProtocol();

function assertedProtocol() {
  const found = PROTOCOLS.find((protocol) => hasServices(protocol));
  assert(found, 'one protocol has services');
  return found;
}

export type PlannedChannel = IOModuleSpec['channels'][number];

export interface PlannedVariable {
  readonly assembly: Assembly;
  readonly variable: Variable;
  readonly channel: PlannedChannel;
}

export interface ChannelPlan {
  /** Those that the module does not have yet. */
  readonly added: readonly PlannedChannel[];
  /** Variables of the package with the channel of each, in the order of the file. */
  readonly variables: readonly PlannedVariable[];
}

export interface ChannelWish {
  readonly protocol: string;
  /** Name of the server whose nodes are taken: an I/O module has one. */
  readonly server: string;
  /** Channels that there are. */
  readonly present: IOModuleSpec['channels'];
}

export async function planChannels({ assemblies }: ModulePackage, { protocol, server, present }: ChannelWish, report: Report, turns: Turns): Promise<ChannelPlan> {
  const wereThere = new Set<unknown>(present);
  const byAddress = new Map(present.map((channel) => [channel.address, channel]));
  const names = new Map(present.map((channel) => [channel.name || channel.address, channel]));
  const added: PlannedChannel[] = [];
  const variables: PlannedVariable[] = [];
  for (const assembly of assemblies) {
    if (turns.isOver) await turns.next();
    for (const variable of assembly.variables) {
      const { item, path } = variable;
      if (!item) continue;
      if (item.server !== server) {
        report.add('error', path, `it stands on server ${item.server}, and an I/O module has one server: it is left out`);
        continue;
      }
      const name = `${assembly.name}.${variable.name}`;
      const address = addressOf(protocol, item, name, path, report);
      if (address === undefined) continue;
      const there = byAddress.get(address);
      if (there) {
        variables.push({ assembly, variable, channel: there });
        if (wereThere.has(there)) report.add('info', path, `channel ${there.name || there.address} stands on this node: it is used as it is`);
        continue;
      }
      const namesake = names.get(name);
      if (namesake) {
        report.add('error', path, `a channel ${name} of another node exists: it is not overwritten, and this one is left out`);
        continue;
      }
      const channel = channelOf(assembly, variable, item, { name, address }, report);
      byAddress.set(address, channel);
      names.set(name, channel);
      added.push(channel);
      variables.push({ assembly, variable, channel });
    }
  }
  return { added, variables };
}

/** The node id; for a driver that has none, such as a simulation, the name. */
function addressOf(protocol: string, { nodeId }: Item, name: string, path: string, report: Report): string | undefined {
  const checked = checkChannelAddress(protocol, 'input', nodeId);
  if (!('error' in checked)) return nodeId;
  if (protocol === MODULE_PROTOCOL) {
    report.add('error', path, `${checked.error}: it is left out`);
    return undefined;
  }
  const byName = checkChannelAddress(protocol, 'input', name);
  if ('error' in byName) {
    report.add('error', path, `protocol ${protocol} has no channel for it: ${byName.error}`);
    return undefined;
  }
  report.add('warning', path, `protocol ${protocol} has no node ids: the address of the channel is ${name}`);
  return name;
}

function channelOf(
  { className, description }: Assembly,
  { name: variable, path }: Variable,
  item: Item,
  { name, address }: Pick<PlannedChannel, 'name' | 'address'>,
  report: Report,
): PlannedChannel {
  const dataType: ChannelType | undefined = typeOfVariable(className, variable);
  if (dataType === undefined)
    report.add('warning', path, `the type of ${variable} in class ${className} is not known: it is taken as float; set dataType of channel ${name} where it is not`);
  const isOutput = item.isWritable || isCommandWord(variable);
  if (isOutput && !item.isWritable) report.add('warning', `${item.path}@Access`, `the package says that ${variable} is only read; it is a command word, so it is written`);
  const isReadBack = isOutput && item.isReadable && !isPulse(variable);
  return {
    name,
    address,
    direction: isOutput ? 'output' : 'input',
    dataType: dataType ?? 'float',
    readbackAddress: isReadBack ? address : '',
    pollInterval: '',
    description,
  };
}
