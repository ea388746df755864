/** The way of a pipe as a path of a drawing. */
import type { Point } from '../../data/picture-route.js';

export function lineOf(points: readonly Point[]): string {
  return points.map(({ x, y }, place) => `${place === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}
