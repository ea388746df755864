/** Limits that the logic of a module itself watches: the alarm tags hh, h, l, ll of an instrument, with the parameter that sets them. */
import type { ModuleInfo } from './types.js';

const WORDS: Readonly<Record<string, { readonly word: string; readonly isHigh: boolean }>> = {
  hh: { word: 'HH', isHigh: true },
  h: { word: 'H', isHigh: true },
  l: { word: 'L', isHigh: false },
  ll: { word: 'LL', isHigh: false },
};

export interface SwitchLimit {
  readonly tag: string;
  readonly word: string;
  readonly isHigh: boolean;
  /** As engineering wrote it for this module; empty where its template alone says it. */
  readonly text: string;
}

export function limitOf(module: ModuleInfo, tag: string): SwitchLimit | undefined {
  const found = Object.hasOwn(WORDS, tag) ? WORDS[tag] : undefined;
  const own = module.effectiveTags.find(({ name }) => name === tag);
  if (!found || own?.role !== 'alarm') return undefined;
  const override = module.paramOverrides.find(({ blockRef, param }) => blockRef === own.blockRef && param === tag);
  return { tag, ...found, text: override === undefined ? '' : String(override.value) };
}

export function limitsOfLogic(module: ModuleInfo): readonly SwitchLimit[] {
  return Object.keys(WORDS).flatMap((tag) => limitOf(module, tag) ?? []);
}
