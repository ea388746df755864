/** Values of a module that a person has written and that stand: the tags that are not as their engineering begins them, with who wrote them last. */
import { readWrites } from './audit.js';
import { tagValue } from './plant.js';
import type { TagDescriptor } from './types.js';

export interface Departed {
  readonly tag: TagDescriptor;
  readonly initial: number | boolean;
}

export interface ByHand extends Departed {
  /** Empty where the trail may not be read. */
  readonly by: string;
  readonly at: string;
}

export function departedOf(tags: readonly TagDescriptor[]): readonly Departed[] {
  return tags.flatMap((tag) => {
    const { initialValue: initial, unit, address } = tag;
    const held = tagValue(unit, address).value;
    return initial === undefined || held.quality !== 'Good' || held.value === null || held.value === initial ? [] : [{ tag, initial }];
  });
}

/** Those that were last written by a person, as they are. */
export async function writersOf(departed: readonly Departed[]): Promise<readonly ByHand[]> {
  const found = await Promise.all(
    departed.map(async (each): Promise<readonly ByHand[]> => {
      const writes = await readWrites(each.tag.address);
      const now = String(tagValue(each.tag.unit, each.tag.address).value.value);
      // that it was asked for is on record before the value is so, that it was done after it
      const last = writes.find(({ result, after }) => (result === 'Accepted' || result === 'Success') && String(after) === now);
      return last?.actorType === 'human' ? [{ ...each, by: last.displayName, at: last.timestamp }] : [];
    }),
  );
  return found.flat();
}
