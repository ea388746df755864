/** Lines of pipes: level or upright, never aslant. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The same way with corners: between two points that differ in both, down or up half-way. */
export function squared(points: readonly Point[]): Point[] {
  const found: Point[] = [];
  for (const { x, y } of points) {
    const before = found.at(-1);
    if (before && before.x !== x && before.y !== y) {
      const half = (before.x + x) / 2;
      found.push({ x: half, y: before.y }, { x: half, y });
    }
    if (before?.x !== x || before.y !== y) found.push({ x, y });
  }
  return found;
}

const HEAD_FROM = 44;

/** Where an arrow head shows which way it flows: the middle of each stretch that is long enough. `turn` in degrees, 0 to the right. */
export function heads(points: readonly Point[]): readonly (Point & { readonly turn: number })[] {
  return points.slice(1).flatMap((to, at) => {
    const from = points[at] as Point;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    if (Math.abs(dx) + Math.abs(dy) < HEAD_FROM) return [];
    return [{ x: from.x + dx / 2, y: from.y + dy / 2, turn: dx > 0 ? 0 : dx < 0 ? 180 : dy > 0 ? 90 : 270 }];
  });
}
