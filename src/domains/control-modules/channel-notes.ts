/**
 * What of the channels of a module or program is not as it should be, in a sentence each: a channel that leads nowhere or the other way, who drives an
 * output beside another, an input that is fed by nothing. Pure but for reading.
 */
import type { StoreReader } from '../../platform/store/kind.js';
import { nameOfOutput } from '../logic/channel-at.js';
import { contend, sayOwner } from '../logic/output-claims.js';
import { outputPlaces } from '../logic/output-places.js';
import { type ChannelNote, type PlacedUse, problems, usesOfModule } from './channel-uses.js';
import { moduleInputNotes } from './input-sources.js';
import { ControlModule, type ControlModuleSpec } from './kind.js';
import type { ResolvedModule } from './merge.js';
import { resolvedModuleOf } from './modules.js';
import { drivenBy, type Driver, driversOf, sayDriver } from './output-drivers.js';

interface Owner {
  readonly kind: string;
  readonly site: string;
  readonly name: string;
}

/** Of each output that somebody else drives too, or a second block of its own. @param isLater the others that came first alone. */
function sharedOutputs(read: StoreReader, { kind, site, name }: Owner, uses: readonly PlacedUse[], isLater = false): readonly ChannelNote[] {
  const own = drivenBy(read, site, uses);
  if (own.length === 0) return [];
  const drivers = driversOf(read, site);
  const reached = outputPlaces(read, site);
  return own.flatMap(({ output, use }, at) => {
    const place = nameOfOutput(use.channel, output);
    const names = reached(place);
    const all = drivers(names);
    const isOwn = (driver: Driver): boolean => driver.kind === kind && driver.owner === name;
    const mine = all.findIndex(isOwn);
    const foreign = all.filter((driver, index) => !isOwn(driver) && contend(driver, { output: place }) && (!isLater || index < mine));
    const twin = own.slice(0, at).find((other) => names.includes(nameOfOutput(other.use.channel, other.output)));
    const others = [...foreign, ...(twin ? [{ owner: name, name: twin.name, output: nameOfOutput(twin.use.channel, twin.output) }] : [])];
    if (others.length === 0) return [];
    const words = others.map((other) => sayOwner({ owner: sayDriver(other), output: other.output }, place)).join(' and ');
    return [{ path: use.path, text: `channel ${use.channel} is already driven by ${words}: each overwrites what the other writes` }];
  });
}

/** What of the channels of a module or program is not as it should be. */
export function channelNotes(read: StoreReader, owner: Owner, uses: readonly PlacedUse[]): readonly ChannelNote[] {
  return [...problems(read, owner.site, uses), ...sharedOutputs(read, owner, uses)];
}

/** Of a module as it is written, before or after it is stored, with its inputs. */
export function moduleChannelNotes(read: StoreReader, owner: { readonly site: string; readonly name: string }, spec: ControlModuleSpec): readonly ChannelNote[] {
  const resolved = resolvedModuleOf(read, { spec });
  if (!resolved) return [];
  return [...channelNotes(read, { ...owner, kind: ControlModule.kind }, usesOfModule(spec, resolved)), ...moduleInputNotes(read, owner.site, spec, resolved)];
}

/** Of a stored module and its inputs, in a sentence each; an output that two drive is a matter of the one that came later. */
export function channelsAmiss(read: StoreReader, owner: { readonly site: string; readonly name: string }, spec: ControlModuleSpec, resolved: ResolvedModule): readonly string[] {
  const uses = usesOfModule(spec, resolved);
  const ofChannels = [...problems(read, owner.site, uses), ...sharedOutputs(read, { ...owner, kind: ControlModule.kind }, uses, true)];
  return [...ofChannels, ...moduleInputNotes(read, owner.site, spec, resolved)].map(({ text }) => text);
}
