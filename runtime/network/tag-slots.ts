/** Where the value of each tag of a unit stands, and where a write to it goes (decisions 1.6, 5.1 rules 2 and 7). */
import { inside } from '../vocabulary/assert.js';
import type { TagPlan } from '../port.js';
import type { DataType } from '../vocabulary/data-types.js';
import { sameName } from '../vocabulary/same-name.js';
import type { Instance } from './instance.js';

export interface TagSlot {
  readonly plan: TagPlan;
  readonly network: Instance | undefined;
  /** Slot in `S`; -1 for a device channel or a network that is not loaded. */
  readonly slot: number;
  /** All slots a write goes to: several behind a composite's input port, none for what the network feeds. */
  readonly writes: readonly number[];
  /** Flag of the override of an output port, the value behind it; -1 for an input. */
  readonly override: number;
  /** Channel behind the tag: a device tag, or the channel of the AI, AO, DI or DO it is bound to. */
  readonly image: number;
  readonly channel: number;
  /** Read past its network, which does not run: what the driver delivers, unscaled (contract 2, Tag quality). */
  readonly raw: boolean;
  readonly type: DataType;
}

const PLACED = 'a loaded network has a slot for each block, port and variable that it has linked';

/** `stored` is the slot of the tag if it is a stored value. */
export function bindTag(plan: TagPlan, instance: Instance | undefined, stored: number, images: number): TagSlot {
  const none: TagSlot = { plan, network: instance, slot: -1, writes: [], override: -1, image: -1, channel: -1, raw: false, type: plan.type };
  const { binding } = plan;
  if (binding.kind === 'channel') return binding.image < images ? { ...none, image: binding.image, channel: binding.channel } : none;
  if (binding.kind === 'stored') return { ...none, slot: stored, writes: [stored] };
  if (!instance) return none;
  return binding.kind === 'variable' ? bindVariable(none, instance, binding.variable) : bindPort(none, instance, binding.block, binding.port);
}

function bindVariable(none: TagSlot, instance: Instance, name: string): TagSlot {
  const { loaded, plan } = instance;
  const index = loaded?.linked.variables.findIndex((entry) => sameName(entry.name, name)) ?? -1;
  const variable = loaded?.linked.variables[index];
  if (!loaded || !variable) return none;
  if (variable.drain) return bindOutput(none, instance, variable.drain);
  const slot = loaded.sb + inside(loaded.layout.variables, index, PLACED);
  const source = plan.inputs.find((entry) => sameName(entry.variable, name))?.tag;
  return { ...none, slot, writes: variable.direction === 'input' && source === undefined ? [slot] : [], type: variable.type };
}

function bindPort(none: TagSlot, instance: Instance, block: string, port: string): TagSlot {
  const { loaded, plan } = instance;
  if (!loaded) {
    const wire = plan.channels.find((entry) => sameName(entry.block, block));
    return wire ? { ...none, image: wire.image, channel: wire.channel, raw: true } : none;
  }
  const { linked, layout, sb } = loaded;
  const inputs = linked.flat.inputs(block, port).map((end) => {
    const { inputs: ports } = inside(linked.blocks, end.block, PLACED);
    const at = ports.findIndex((input) => input.port.name === end.port);
    return { slot: sb + inside(inside(layout.blocks, end.block, PLACED).inputs, at, PLACED), input: inside(ports, at, PLACED) };
  });
  const [first] = inputs;
  if (!first) {
    const end = linked.flat.output(block, port);
    return end ? bindOutput(none, instance, end) : none;
  }
  const own = inputs.every(({ input }) => input.feed.kind === 'own');
  return { ...none, slot: first.slot, writes: own ? inputs.map(({ slot }) => slot) : [], type: first.input.type };
}

function bindOutput(none: TagSlot, instance: Instance, end: { readonly block: number; readonly port: string }): TagSlot {
  const { loaded, plan } = instance;
  if (!loaded) return none;
  const { name, type, outputs } = inside(loaded.linked.blocks, end.block, PLACED);
  const output = type.outputs.findIndex((entry) => entry.name === end.port);
  const at = inside(loaded.layout.blocks, end.block, PLACED);
  const override = inside(at.overrides, output, PLACED);
  const wire = type.channel ? plan.channels.find((entry) => sameName(entry.block, name)) : undefined;
  return {
    ...none,
    slot: loaded.sb + inside(at.outputs, output, PLACED),
    override: override < 0 ? -1 : loaded.sb + override,
    image: wire?.image ?? -1,
    channel: wire?.channel ?? -1,
    type: inside(outputs, output, PLACED),
  };
}
