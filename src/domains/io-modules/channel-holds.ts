/**
 * Who holds a channel at a value of his own: by a force of a simulated one, by the override of a tag, by a loop check, by its fail-safe value. A force lives in its probe and
 * ends with it, so who gave it is kept no longer: it is asked only of a channel that is forced now.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import { ControlModule } from '../control-modules/kind.js';
import { carriesOutput, type ChannelUser } from './channel-users.js';

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

/** Channels held at once, of all modules; the oldest names are forgotten beyond it, and their force shows nobody. */
const HOLDS_MAX = 10_000;
const UNKNOWN: ChannelHold = { how: 'Force', by: '', at: '', tag: '' };

export class ChannelHolds {
  readonly #holds = new Map<string, ChannelHold>();

  hold(site: string, module: string, address: string, hold: ChannelHold): void {
    const key = `${site}/${module}:${address}`;
    this.#holds.delete(key);
    this.#holds.set(key, hold);
    const [oldest] = this.#holds.keys();
    if (this.#holds.size > HOLDS_MAX && oldest !== undefined) this.#holds.delete(oldest);
  }

  release(site: string, module: string, address: string): void {
    this.#holds.delete(`${site}/${module}:${address}`);
  }

  /** Of a channel that is held now. */
  of(site: string, module: string, address: string): ChannelHold {
    return this.#holds.get(`${site}/${module}:${address}`) ?? UNKNOWN;
  }
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
