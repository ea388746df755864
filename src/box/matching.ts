/** Which profile a machine has: of those whose conditions all hold the one that says most of what the box is, then of what it is as large as (ADR 0048). */
import { assert } from '../platform/base/assert.js';
import type { MachineFacts } from './facts.js';
import type { Match, Profile } from './profile.js';

/** The profile of a machine that nobody knows; it has no conditions. */
export const UNKNOWN_BOX = 'unknown-box';

export interface Chosen {
  readonly profile: Profile;
  readonly by: 'machine' | 'setting';
  /** What somebody should know of the choice, as sentences. */
  readonly notes: readonly string[];
}

/** Each condition of a match against the machine. */
const CONDITIONS: { readonly [Name in keyof Match]-?: (wanted: NonNullable<Match[Name]>, facts: MachineFacts) => boolean } = {
  arch: (wanted, { arch }) => arch === wanted,
  vendor: (wanted, { vendor }) => isLike(wanted, vendor),
  product: (wanted, { product }) => isLike(wanted, product),
  board: (wanted, { board }) => isLike(wanted, board),
  model: (wanted, { model }) => isLike(wanted, model),
  compatible: (wanted, { compatible }) => compatible.some((word) => isLike(wanted, word)),
  cpu: (wanted, { cpu }) => isLike(wanted, cpu),
  coresMin: (wanted, { cores }) => cores >= wanted,
  memoryMinMiB: (wanted, { memoryMiB }) => memoryMiB >= wanted,
};

type Condition = keyof typeof CONDITIONS;

function isLike(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'is').test(text);
}

function conditionsOf({ match }: Profile): readonly Condition[] {
  return (Object.keys(CONDITIONS) as Condition[]).filter((name) => match[name] !== undefined);
}

/** What says which box it is; the others say what many boxes have. */
const IDENTITY: readonly Condition[] = ['vendor', 'product', 'board', 'model', 'compatible', 'cpu'];

/** One condition of what it is outweighs all of how large it is. */
function weight(profile: Profile): number {
  return conditionsOf(profile).reduce((sum, name) => sum + (IDENTITY.includes(name) ? 100 : 1), 0);
}

/** Conditions of a profile that the machine does not meet. */
export function unmet(profile: Profile, facts: MachineFacts): readonly Condition[] {
  return conditionsOf(profile).filter((name) => !(CONDITIONS[name] as (wanted: unknown, facts: MachineFacts) => boolean)(profile.match[name], facts));
}

/**
 * `auto` takes the profile that fits best. Where two fit equally well nobody knows which is right: the unknown box is taken, which promises least,
 * and told. A name takes that profile.
 * @throws RangeError for a name that no profile has; it names those there are.
 */
export function chooseProfile(profiles: readonly Profile[], facts: MachineFacts, wanted = 'auto'): Chosen {
  if (wanted !== 'auto') return byName(profiles, facts, wanted);
  const fitting = profiles.filter((profile) => unmet(profile, facts).length === 0);
  const most = Math.max(...fitting.map(weight));
  const [best, ...others] = fitting.filter((profile) => weight(profile) === most);
  assert(best, 'the unknown box fits every machine');
  if (others.length === 0) return { profile: best, by: 'machine', notes: [] };
  const names = [best, ...others].map(({ name }) => name).join(' and ');
  const unknown = profiles.find(({ name }) => name === UNKNOWN_BOX) ?? best;
  return { profile: unknown, by: 'machine', notes: [`the hardware profiles ${names} fit this machine equally well, so ${unknown.name} holds: set box.profile to the right one`] };
}

function byName(profiles: readonly Profile[], facts: MachineFacts, wanted: string): Chosen {
  const profile = profiles.find(({ name }) => name === wanted);
  if (!profile) throw new RangeError(`box.profile ${wanted} names no hardware profile: use auto or one of ${profiles.map(({ name }) => name).join(', ')}`);
  const missed = unmet(profile, facts);
  const note = `box.profile names ${wanted}, but this machine is no such box (${missed.join(', ')} differ): its limits hold all the same`;
  return { profile, by: 'setting', notes: missed.length === 0 ? [] : [note] };
}
