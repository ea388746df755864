/** Where the value of each tag of a unit stands, and where a write to it goes (decisions 1.6, 5.1 rules 2 and 7). */
import type { TagPlan } from '../port.js';
import type { DataType } from '../vocabulary/data-types.js';
import { sameName } from './expand.js';
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
  const index = loaded?.linked.variables.findIndex((variable) => sameName(variable.name, name)) ?? -1;
  if (!loaded || index < 0) return none;
  const variable = loaded.linked.variables[index];
  if (variable.drain) return bindOutput(none, instance, variable.drain);
  const slot = loaded.sb + loaded.layout.variables[index];
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
  const ends = linked.flat.inputs(block, port);
  if (ends.length === 0) {
    const end = linked.flat.output(block, port);
    return end ? bindOutput(none, instance, end) : none;
  }
  const inputs = ends.map((end) => {
    const at = linked.blocks[end.block].inputs.findIndex((input) => input.port.name === end.port);
    return { slot: sb + layout.blocks[end.block].inputs[at], input: linked.blocks[end.block].inputs[at] };
  });
  const own = inputs.every(({ input }) => input.feed.kind === 'own');
  return { ...none, slot: inputs[0].slot, writes: own ? inputs.map(({ slot }) => slot) : [], type: inputs[0].input.type };
}

function bindOutput(none: TagSlot, instance: Instance, end: { readonly block: number; readonly port: string }): TagSlot {
  const { loaded, plan } = instance;
  if (!loaded) return none;
  const { name, type, outputs } = loaded.linked.blocks[end.block];
  const output = type.outputs.findIndex((entry) => entry.name === end.port);
  const at = loaded.layout.blocks[end.block];
  const override = at.overrides[output];
  const wire = type.channel ? plan.channels.find((entry) => sameName(entry.block, name)) : undefined;
  return {
    ...none,
    slot: loaded.sb + at.outputs[output],
    override: override < 0 ? -1 : loaded.sb + override,
    image: wire?.image ?? -1,
    channel: wire?.channel ?? -1,
    type: outputs[output],
  };
}
