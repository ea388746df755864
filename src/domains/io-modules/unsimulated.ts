/**
 * Inputs of a simulation that no behaviour moves (decisions 6.1): such a channel holds the value it starts with, and whatever waits for it waits
 * for ever. One that says with which value it starts is meant to stand still. A network module that a rehearsal simulates by a preset is looked at
 * in the same way (ADR 0006).
 */
import { isSimulated, mergeBehaviors } from '../../../runtime/catalog.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import { ioModuleOf } from '../logic/kind.js';
import { type Channel, IOModule, type IOModuleSpec, REHEARSAL_PRESET_LABEL, SimulationPreset } from './kind.js';

interface Simulated {
  /** By name and by address. */
  readonly channels: ReadonlyMap<string, Channel>;
  readonly moved: ReadonlySet<string>;
  why(channel: Channel): string;
}

type Module = Pick<Resource<IOModuleSpec>, 'metadata' | 'spec'>;

/** @returns why a channel `<io module>:<channel>` that is read stands still; '' for every other. Made for one look: what a module simulates is found once. */
export function unsimulatedIn(read: StoreReader, site: string): (channel: string) => string {
  const known = new Map<string, Simulated | undefined>();
  return (channel) => {
    const name = ioModuleOf(channel);
    if (name === '') return '';
    if (!known.has(name)) known.set(name, simulatedOf(read, site, name));
    const simulated = known.get(name);
    const found = simulated?.channels.get(channel.slice(name.length + 1));
    return simulated && found && isStill(found, simulated) ? simulated.why(found) : '';
  };
}

function isStill(channel: Channel, { moved }: Simulated): boolean {
  return channel.direction === 'input' && channel.initial === undefined && !moved.has(channel.address) && !moved.has(channel.name || channel.address);
}

/** Undefined of a module without simulation, and where it is not known what its preset moves. */
function simulatedOf(read: StoreReader, site: string, name: string): Simulated | undefined {
  const module = read.get(IOModule, site, name);
  if (!module) return undefined;
  return isSimulated(module.spec.protocol) ? byItself(read, site, module) : inRehearsal(read, site, module);
}

function byItself(read: StoreReader, site: string, { metadata: { name }, spec }: Module): Simulated | undefined {
  const { preset = '', addressMap = {}, behaviors = [] } = spec.simulation ?? {};
  const shared = preset === '' ? [] : read.get(SimulationPreset, site, preset)?.spec.behaviors;
  if (!shared) return undefined;
  return {
    channels: channelsOf(spec),
    moved: addressesOf(mergeBehaviors(shared, addressMap, behaviors)),
    why: ({ address }) =>
      `nothing moves channel ${address} of the simulated I/O module ${name}, so that it stays as it starts: add a behaviour with the address ${address} to its simulation.behaviors${preset === '' ? '' : ` or to its addressMap`}, or give the channel an initial value if it shall stand still`,
  };
}

function inRehearsal(read: StoreReader, site: string, { metadata: { name, labels }, spec }: Module): Simulated | undefined {
  const preset = labels[REHEARSAL_PRESET_LABEL];
  const behaviors = preset === undefined ? undefined : read.get(SimulationPreset, site, preset)?.spec.behaviors;
  if (!behaviors) return undefined;
  return {
    channels: channelsOf(spec),
    moved: addressesOf(mergeBehaviors(behaviors, {}, [])),
    why: (channel) =>
      `in a rehearsal nothing moves channel ${channel.name || channel.address} of I/O module ${name}: add a behaviour with that address to the simulation preset ${preset}, which its label ${REHEARSAL_PRESET_LABEL} names`,
  };
}

function channelsOf({ channels }: IOModuleSpec): ReadonlyMap<string, Channel> {
  return new Map(channels.flatMap((channel) => [[channel.address, channel] as const, ...(channel.name === '' ? [] : [[channel.name, channel] as const])]));
}

function addressesOf(behaviors: readonly { readonly address: string }[]): ReadonlySet<string> {
  return new Set(behaviors.map(({ address }) => address));
}
