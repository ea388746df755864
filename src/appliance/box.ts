/** The box that the appliance runs on: its hardware profile is chosen at the start, told, and its limits are held (ADR 0048). */
import { statfsSync } from 'node:fs';
import { type MachineFacts, factsOf } from '../box/facts.js';
import { Machine } from '../box/machine.js';
import { type Chosen, chooseProfile, UNKNOWN_BOX } from '../box/matching.js';
import { readProfiles } from '../box/profiles.js';
import type { Log } from '../platform/base/log.js';
import { type Settings, SettingsError } from '../settings.js';

export interface Box extends Chosen {
  readonly facts: MachineFacts;
}

/**
 * @param folder of the profiles
 * @throws SettingsError where box.profile names none; ProfileFault where a file of the folder is no profile.
 */
export function chooseBox(folder: string, wanted: string, machine = new Machine(), arch: string = process.arch): Box {
  const facts = factsOf(machine, arch);
  try {
    return { facts, ...withNotes(chooseProfile(readProfiles(folder), facts, wanted)) };
  } catch (fault) {
    if (fault instanceof RangeError) throw new SettingsError('box.profile', fault.message);
    throw fault;
  }
}

/** What holds of a profile however it came to be chosen. */
function withNotes({ profile, by, notes }: Chosen): Chosen {
  const { name, verified } = profile;
  const draft = `the hardware profile ${name} is a draft that nobody has tried on such a box: run lineside doctor before a line depends on it`;
  const unknown = `no hardware profile knows this machine, so ${name} holds, which promises least: run lineside doctor to see what the machine is fit for`;
  return { profile, by, notes: [...notes, ...(verified ? [] : [draft]), ...(name === UNKNOWN_BOX && by === 'machine' && notes.length === 0 ? [unknown] : [])] };
}

export function tellBox({ profile, by, notes, facts }: Box, log: Log): void {
  const { name, verified, limits } = profile;
  log.info({ profile: name, verified, by, limits, facts }, `hardware profile ${name}`);
  for (const note of notes) log.warn(note);
}

/** What the historian may take of the disk: the setting, or the share that the profile gives it where that is less. A disk that cannot be asked has no share. */
export function historianBytes({ profile }: Box, { historianBytesMax, dataDir }: Pick<Settings, 'historianBytesMax' | 'dataDir'>): number {
  try {
    const { blocks, bsize } = statfsSync(dataDir);
    const share = Math.floor(blocks * bsize * profile.limits.historianDiskShare);
    return share > 0 ? Math.min(historianBytesMax, share) : historianBytesMax;
  } catch {
    return historianBytesMax;
  }
}
