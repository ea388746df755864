import { inside } from './assert.js';

/**
 * Quality of a value (contract 2, Tag quality). Codes are ordered: a larger code is worse, so the quality of a
 * result is the largest code of its inputs.
 */
export const QUALITY = { Good: 0, Uncertain: 1, Raw: 2, Bad: 3 } as const;

export type Quality = keyof typeof QUALITY;
export type QualityCode = (typeof QUALITY)[Quality];

/** Quality word by code, for everything that leaves the scan. */
export const QUALITY_WORDS: readonly Quality[] = ['Good', 'Uncertain', 'Raw', 'Bad'];

export function qualityWord(code: number): Quality {
  return inside(QUALITY_WORDS, code, 'a quality has one of the four codes');
}
