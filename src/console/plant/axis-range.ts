import type { Pen } from '../data/trend.js';

/**
 * What an axis shows of the pens of its unit of measure: at least the range in which their values work, so that noise stays noise; a flat line of
 * what has none lies in the middle, not at an edge. @param min @param max of what is recorded; null where nothing is.
 */
export function axisRange(pens: readonly Pick<Pen, 'range'>[], min: number | null, max: number | null): [number, number] {
  const ranges = pens.flatMap(({ range }) => range ?? []);
  const least = ranges.length > 0 ? { min: Math.min(...ranges.map((each) => each.min)), max: Math.max(...ranges.map((each) => each.max)) } : undefined;
  if (min === null || max === null) return least ? [least.min, least.max] : [0, 1];
  if (least) {
    const margin = (least.max - least.min) * 0.02;
    return [min < least.min ? min - margin : least.min, max > least.max ? max + margin : least.max];
  }
  const margin = Math.max((max - min) * 0.08, Math.abs(max) * 0.01, 0.05);
  return [min - margin, max + margin];
}
