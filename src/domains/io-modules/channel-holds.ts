/**
 * Who holds a channel at a value of his own: by a force of a simulated one, by the override of a tag, by a loop check, by its fail-safe value. A force lasts until it is
 * released: the status of its module has it (ADR 0087), and its probe holds the channel.
 */
import { isSimulated } from '../../../runtime/catalog.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { ControlModule } from '../control-modules/kind.js';
import { carriesOutput, type ChannelUser } from './channel-users.js';
import type { Force, IOModuleSpec, IOModuleStatus } from './kind.js';

export const HELD_HOW = ['Force', 'Override', 'LoopCheck', 'FailSafe'] as const;

export interface ChannelHold {
  readonly how: (typeof HELD_HOW)[number];
  /** Display name; empty where it is not known any more. */
  readonly by: string;
  /** Timestamp. */
  readonly at: string;
  /** `<control module>.<tag>` of an override. */
  readonly tag: string;
}

/** Of a channel that is forced now; one that an earlier release has forced is known to nobody. */
export function forceOf({ forces = [] }: Pick<IOModuleStatus, 'forces'>, address: string): ChannelHold {
  const force = forces.find((each) => each.address === address);
  return { how: 'Force', by: force?.by ?? '', at: force?.at ?? '', tag: '' };
}

/** With the force, in the place of one of before. */
export function forced(status: IOModuleStatus, force: Force): IOModuleStatus {
  return { ...status, forces: [...(status.forces ?? []).filter(({ address }) => address !== force.address), force] };
}

/** Without those of the addresses, without all where none is named. */
export function released(status: IOModuleStatus, addresses: readonly string[]): IOModuleStatus {
  return { ...status, forces: addresses.length === 0 ? [] : (status.forces ?? []).filter(({ address }) => !addresses.includes(address)) };
}

/** Those of channels that are simulated still. */
export function forcesWithin({ protocol, channels }: IOModuleSpec, forces: readonly Force[]): readonly Force[] {
  return isSimulated(protocol) ? forces.filter(({ address }) => channels.some((channel) => channel.address === address)) : [];
}

/** The override that stands on an output, by one of the tags that carry it. */
export function overrideOf(read: StoreReader, site: string, users: readonly ChannelUser[]): ChannelHold | null {
  for (const user of users) {
    if (!carriesOutput(user)) continue;
    const found = read.get(ControlModule, site, user.controlModule)?.status.overrides.find(({ tag }) => tag === user.tag.name);
    if (found) return { how: 'Override', by: found.by, at: found.at, tag: `${user.controlModule}.${found.tag}` };
  }
  return null;
}
