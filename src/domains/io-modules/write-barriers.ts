/** What stands before a write to a channel of an I/O module, whichever way it comes (decisions Q-IO-02, Q-UNIT-08). Pure but for reading. */
import { channelValue, isSimulated } from '../../../runtime/catalog.js';
import type { ProbeChannel } from '../../../runtime/port.js';
import { conflict, invalid, Refusal } from '../../platform/base/refusal.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { type ChannelUser, engineeringValue } from './channel-users.js';
import { HEARTBEAT } from '../logic/output-claims.js';
import { channelsOf } from './channels.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';
import { failSafeWords, type OutputHands, outputHands } from './output-hands.js';
import { isEnabled } from './outputs.js';
import { offeredAddresses } from './simulation-notes.js';

type Module = Resource<IOModuleSpec, IOModuleStatus>;
export type Write = { readonly channel: string; readonly value: string | number | boolean };

export interface WriteBarriers {
  readonly store: Store;
  /** Setting gateway.tagWrite.modeCheckDeviceTags (decisions Q-TAG-09). */
  readonly modeCheckDeviceTags: boolean;
}

/** A declared channel by its name or address. */
export function declaredChannel(module: Module, channel: string): ProbeChannel | undefined {
  return channelsOf(module.spec).find(({ name, address }) => name === channel || address === channel);
}

/** A simulated module has the addresses of its behaviours too (decisions 6.1). */
export function hasChannel(module: Module, channel: string, store: Store): boolean {
  return declaredChannel(module, channel) !== undefined || (isSimulated(module.spec.protocol) && offeredAddresses(store, module.metadata.site, module.spec).has(channel));
}

export const noChannel = (module: Module, channel: string): string => `I/O module ${module.metadata.name} has no channel ${channel}`;
export const channelMissing = (module: Module, channel: string): Refusal => new Refusal('missing', noChannel(module, channel), { code: 'unknown_channel' });

export function unknownChannel(module: Module, channel: string): Refusal {
  return invalid('unknown_channel', 'channel', noChannel(module, channel));
}

/** Barriers of a write, in the order of a tag write (decisions Q-UNIT-08). */
export function checkWrite(module: Module, { channel, value }: Write, deps: WriteBarriers): void {
  if (!hasChannel(module, channel, deps.store)) throw unknownChannel(module, channel);
  if (!isEnabled(module.spec)) throw new Refusal('conflict', `I/O module ${module.metadata.name} is disabled: no connection is made`, { code: 'outputs_withheld' });
  const found = declaredChannel(module, channel);
  if (!found) return; // an address of a behaviour only: no tag can stand on it
  const isForce = isSimulated(module.spec.protocol);
  const { site, name } = module.metadata;
  const hands = found.direction === 'output' ? outputHands(deps.store, site, name)(found) : undefined;
  if (!isForce) {
    if (!hands) throw invalid('invalid_field', 'channel', `channel ${found.name} is an input; only outputs are written`);
    refuseBarred(hands, found.name, deps.modeCheckDeviceTags);
  }
  const exact = channelValue(module.spec.protocol, value, found.dataType);
  if (exact === undefined) throw invalid('invalid_value', 'value', `${JSON.stringify(value)} is no ${found.dataType}`, { dataType: found.dataType });
  if (found.dataType !== 'string') for (const user of hands?.alike ?? []) checkRange(user, Number(exact));
}

/** @throws Refusal `output_held`, `output_claimed`, `automatic_mode`, `read_only_tag`. */
function refuseBarred({ users, owners, automatic, failSafe, heldAt }: OutputHands, channel: string, modeCheck: boolean): void {
  const [busy] = modeCheck ? automatic : [];
  if (busy !== undefined)
    throw new Refusal('forbidden', `control module ${busy} is in Automatic; set it to Manual or Semi-Automatic before writing ${channel}`, {
      code: 'automatic_mode',
      controlModule: busy,
    });
  const [first] = users;
  if (first && users.every(({ tag }) => tag.accessLevel === 'read'))
    throw new Refusal('forbidden', `channel ${channel} is tag ${first.controlModule}.${first.tag.name}, which can only be read`, {
      code: 'read_only_tag',
      tag: `${first.controlModule}.${first.tag.name}`,
    });
  const heart = owners.find(({ kind, block }) => kind === IOModule.kind && block === HEARTBEAT);
  if (heart) {
    const message = `channel ${channel} is the heartbeat of I/O module ${heart.name}, which writes it every second: nobody else does`;
    throw conflict('output_claimed', message, { field: 'channel', output: `${heart.name}:${channel}`, owner: `${heart.name}.${heart.block}` });
  }
  if (failSafe !== '')
    throw conflict('output_held', `channel ${channel} is held: ${failSafeWords(failSafe)}`, { field: 'channel', heldBy: { how: 'FailSafe', ioModule: failSafe } });
  if (heldAt)
    throw conflict('output_held', `channel ${channel} is a place of the device that I/O module ${heldAt.ioModule} has too, where ${heldAt.reason}`, {
      field: 'channel',
      heldBy: { how: 'LoopCheck', ioModule: heldAt.ioModule },
    });
}

/** A numeric write outside a declared range is refused on every write path (contract 3, Control-module template). */
function checkRange(user: ChannelUser, value: number): void {
  const { min, max } = user.tag;
  if (min === undefined && max === undefined) return;
  const number = engineeringValue(value, user);
  if (number >= (min ?? -Infinity) && number <= (max ?? Infinity)) return;
  const tag = `${user.controlModule}.${user.tag.name}`;
  throw invalid('out_of_range', 'value', `value ${value} is ${number} at tag ${tag}, outside ${min ?? '-'} to ${max ?? '-'}`, { tag, engMin: min ?? null, engMax: max ?? null });
}
