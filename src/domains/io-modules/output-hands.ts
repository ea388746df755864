/**
 * Who has a hand on an output of an I/O module: tags that carry it and blocks that go on writing it, here or at another channel or module that is the
 * same place of the device (ADR 0085). What stands before a write and before a loop check is judged by it. Pure but for reading.
 */
import { isSimulated } from '../../../runtime/catalog.js';
import { isHeld } from '../../../runtime/vocabulary/held-by.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { ControlModule } from '../control-modules/kind.js';
import { modeOf } from '../control-modules/modules.js';
import { type OutputOwner, ownersOfOutputs } from '../control-modules/output-owners.js';
import { channelAt } from '../logic/channel-at.js';
import { ioModuleOf } from '../logic/kind.js';
import { isSamePlace, outputPlaces } from '../logic/output-places.js';
import { unitOf } from '../plant/unit-of.js';
import { carriesOutput, type ChannelName, channelUsers, type ChannelUser } from './channel-users.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus } from './kind.js';

export interface OutputHands {
  /** Tags that carry the output, or one that overlaps it. */
  readonly users: readonly ChannelUser[];
  /** Those of them whose value is the value of the output. */
  readonly alike: readonly ChannelUser[];
  readonly owners: readonly OutputOwner[];
  /** Control modules of both, by name. */
  readonly modules: readonly string[];
  /** Those of them in Automatic. */
  readonly automatic: readonly string[];
  /** Units of both. */
  readonly units: readonly string[];
  /** The I/O module whose fail-safe value is written there now; '' where there is none. */
  readonly failSafe: string;
  /** Another I/O module of the device whose outputs, this one among them, somebody holds, and its words for that. */
  readonly heldAt: { readonly ioModule: string; readonly reason: string } | undefined;
}

/** Of the outputs of a module. */
export function outputHands(read: StoreReader, site: string, ioModule: string): (channel: ChannelName) => OutputHands {
  const reached = outputPlaces(read, site);
  const ownersOf = ownersOfOutputs(read, site);
  const usersIn = new Map<string, (channel: ChannelName) => readonly ChannelUser[]>();
  const usersOf = (module: string): ((channel: ChannelName) => readonly ChannelUser[]) => {
    const users = usersIn.get(module) ?? channelUsers(read, site, module);
    usersIn.set(module, users);
    return users;
  };
  return ({ name, address }) => {
    const own = `${ioModule}:${name}`;
    const places = reached(own).map((output) => {
      const module = ioModuleOf(output);
      const channel = module === ioModule && output === own ? { name, address } : namedIn(read, site, output);
      return { module, channel, users: usersOf(module)(channel).filter(carriesOutput), isAlike: isSamePlace(read, site, own, output) };
    });
    const users = places.flatMap((place) => place.users);
    const owners = ownersOf(own);
    const blocks = owners.flatMap((owner) => (owner.kind === ControlModule.kind ? [owner.name] : []));
    const modules = [...new Set([...users.map(({ controlModule }) => controlModule), ...blocks])].sort();
    const found = modules.flatMap((each) => read.get(ControlModule, site, each) ?? []);
    const units = [...owners.map(({ unit }) => unit), ...found.map(({ spec }) => unitOf(read, site, spec))];
    return {
      users,
      alike: places.flatMap((place) => (place.isAlike ? place.users : [])),
      owners,
      modules,
      automatic: found.filter((module) => modeOf(module) === 'Automatic').map(({ metadata }) => metadata.name),
      units: [...new Set(units)].filter((unit) => unit !== ''),
      failSafe: places.find(({ module, channel }) => isFailSafeHeld(read.get(IOModule, site, module), channel))?.module ?? '',
      heldAt: places.flatMap(({ module }) => (module === ioModule ? [] : (heldAt(module, read.get(IOModule, site, module)) ?? [])))[0],
    };
  };
}

function namedIn(read: StoreReader, site: string, output: string): ChannelName {
  const name = output.slice(ioModuleOf(output).length + 1);
  return { name, address: channelAt(read, site, output)?.address ?? name };
}

function heldAt(ioModule: string, module: Module | undefined): OutputHands['heldAt'] {
  const reason = module?.status.outputs?.reason ?? '';
  return isHeld(reason) ? { ioModule, reason } : undefined;
}

type Module = { readonly spec: IOModuleSpec; readonly status: IOModuleStatus };

/** Whether fail-safe values are written now; a simulated output can be forced past them. */
export function isFailSafeTaken({ spec, status }: Module): boolean {
  return !isSimulated(spec.protocol) && status.conditions.some(({ type, reason }) => type === 'FailSafeArmed' && reason === 'Taken');
}

/** Whether one of them is written to the output. */
function isFailSafeHeld(module: Module | undefined, { name, address }: ChannelName): boolean {
  return module !== undefined && isFailSafeTaken(module) && (module.spec.failSafe?.outputs ?? []).some(({ channel }) => channel === name || channel === address);
}

/** What ends it, for whoever is refused. */
export function failSafeWords(ioModule: string): string {
  return `I/O module ${ioModule} writes its fail-safe values, because no logic has written it for longer than failSafe.timeout; they end when logic writes the module again, or when the value is taken out of failSafe.outputs`;
}
