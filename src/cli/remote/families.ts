/** The kinds by the words that a person types for them: `unit`, `units`, `Unit`, `recipe`. */
import { nearest } from '../../platform/base/nearest.js';
import type { Kind } from '../../platform/store/kind.js';
import { KINDS } from '../../domains/index.js';
import { usage } from './outcome.js';

export interface Family {
  readonly kind: string;
  /** As it is shown. */
  readonly word: string;
  readonly isOfSite: boolean;
  /** Of its routes, behind `/api/v1/` or `/api/v1/sites/{site}/`; undefined where it has none. */
  readonly path: string | undefined;
}

/** What people say beside the name of a kind and the segment of its routes. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  MasterRecipe: ['recipe', 'recipes'],
  ControlProgram: ['program', 'programs'],
  ControlModule: ['module', 'modules', 'cm'],
  IOModule: ['io'],
  AlarmDefinition: ['alarmdefinition', 'alarmdef'],
};

export const FAMILIES: readonly Family[] = (KINDS as readonly Kind[]).map(({ kind, path, scope }) => ({
  kind,
  word: kind.toLowerCase(),
  isOfSite: scope === 'site',
  path,
}));

const BY_WORD: ReadonlyMap<string, Family> = new Map(
  FAMILIES.flatMap((family) => {
    const segment = family.path?.split('/').at(-1);
    const words = [family.word, `${family.word}s`, ...(segment === undefined ? [] : [segment]), ...(OTHER_WORDS[family.kind] ?? [])];
    return words.map((word) => [word, family] as const);
  }),
);

/** @throws CommandError naming the nearest word. */
export function familyOf(word: string): Family {
  const family = BY_WORD.get(word.toLowerCase());
  if (family) return family;
  const near = nearest(word, [...BY_WORD.keys()]);
  throw usage(`there is no kind ${word}${near === undefined ? '.' : `; did you mean ${near}?`} Known are ${FAMILIES.map((each) => each.word).join(', ')}`);
}
