import { isDeepStrictEqual } from 'node:util';
import type { Companions, Ruled, Written } from './kind.js';

const NONE: Companions<never> = {};

/** What a kind puts beside a write; nothing when the spec stays as it was (decisions Q-RECIPE-08). */
export function companionsOf<Spec, Status>(kind: Ruled<Spec, Status>, written: Written<Spec, Status>): Companions<Status> {
  if (!kind.companions || (written.before && isDeepStrictEqual(written.before.spec, written.spec))) return NONE;
  return kind.companions(written);
}
