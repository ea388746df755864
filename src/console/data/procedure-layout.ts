/** Places a whole procedure as one picture: each element holds the chart of those below it, parallel branches stand beside each other. Pure. */
import { layoutOf, parallelOf } from './chart-layout.js';
import type { ProceduralChart } from './types.js';

export interface Inside {
  readonly chart: ProceduralChart;
  readonly isPhase: boolean;
}

export interface PictureBox {
  readonly path: string;
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** What is below it is drawn in it; undefined where nothing is. */
  readonly isOpen: boolean | undefined;
}

export interface PictureLink {
  readonly key: string;
  /** Of an SVG path. */
  readonly way: string;
  /** Middle of the bar of the transition. */
  readonly barX: number;
  readonly barY: number;
  readonly number: number;
  readonly condition: string;
}

/** Double line: all branches between two of them run at once. */
export interface PictureBar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly PictureBox[];
  readonly links: readonly PictureLink[];
  readonly bars: readonly PictureBar[];
}

export const BOX = { width: 150, height: 48 } as const;
export const HEAD_PX = 48;
const GAP = { x: 22, y: 34 } as const;
const PAD = 14;
const LANE = 18;
const BAR_GAP = 12;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

/** @param insideOf what is below an element, by its path. @param isOpen whether that is drawn. */
export function pictureOf(chart: ProceduralChart, insideOf: (path: string) => Inside | undefined, isOpen: (path: string) => boolean, above = ''): Picture {
  const { steps, links, rows, columns } = layoutOf(chart);
  const cells = steps.map((step) => {
    const path = above === '' ? step.name : `${above}/${step.name}`;
    const inside = insideOf(path);
    const has = inside !== undefined && !inside.isPhase && (inside.chart.steps ?? []).length > 0;
    const within = has && isOpen(path) ? pictureOf(inside.chart, insideOf, isOpen, path) : undefined;
    const size = within ? { width: Math.max(BOX.width, within.width), height: HEAD_PX + within.height } : BOX;
    return { step, path, within, has, ...size };
  });
  const widths = Array.from({ length: columns }, (_, column) => Math.max(0, ...cells.filter(({ step }) => step.column === column).map(({ width }) => width)));
  const heights = Array.from({ length: rows }, (_, row) => Math.max(0, ...cells.filter(({ step }) => step.row === row).map(({ height }) => height)));
  const branches = parallelOf(chart);
  const top = PAD + (branches.length > 0 ? BAR_GAP : 0);
  const placed = new Map(
    cells.map((cell) => {
      const { column, row } = cell.step;
      const left = PAD + sum(widths.slice(0, column)) + column * GAP.x;
      return [cell.step.name, { ...cell, x: left + ((widths[column] ?? 0) - cell.width) / 2, y: top + sum(heights.slice(0, row)) + row * GAP.y }] as const;
    }),
  );
  const breadth = PAD + sum(widths) + Math.max(0, columns - 1) * GAP.x;
  const asides = links.filter(({ isAside }) => isAside).length;
  let lane = 0;
  const drawn = links.flatMap(({ from, to, index, condition, isAside }) => {
    const [a, b] = [placed.get(from.name), placed.get(to.name)];
    if (!a || !b) return [];
    const key = `${above} ${index} ${from.name} ${to.name}`;
    if (isAside) {
      const x = breadth + LANE * ++lane - 4;
      const [y1, y2] = [a.y + a.height - 10, b.y + 10];
      return [{ key, way: `M${a.x + a.width} ${y1} H${x} V${y2} H${b.x + b.width}`, barX: x, barY: (y1 + y2) / 2, number: index + 1, condition }];
    }
    const [x1, y1, x2, y2] = [a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y];
    return [{ key, way: x1 === x2 ? `M${x1} ${y1} V${y2}` : `M${x1} ${y1} V${y2 - GAP.y + 8} H${x2} V${y2}`, barX: x2, barY: y2 - GAP.y / 2 + 4, number: index + 1, condition }];
  });
  const bars = branches.flatMap((names) => {
    const of = names.flatMap((name) => placed.get(name) ?? []);
    const [left, right] = [Math.min(...of.map(({ x }) => x)), Math.max(...of.map(({ x, width }) => x + width))];
    return [Math.min(...of.map(({ y }) => y)) - BAR_GAP, Math.max(...of.map(({ y, height }) => y + height)) + BAR_GAP - 4].map((y) => ({ x: left, y, width: right - left }));
  });
  const inner = [...placed.values()].flatMap(({ within, x, y }) => (within ? [moved(within, x, y + HEAD_PX)] : []));
  return {
    width: breadth + PAD + asides * LANE,
    height: top + sum(heights) + Math.max(0, rows - 1) * GAP.y + PAD + (branches.length > 0 ? BAR_GAP : 0),
    boxes: [
      ...[...placed.values()].map(({ path, step, x, y, width, height, has, within }) => ({
        path,
        name: step.name,
        x,
        y,
        width,
        height,
        isOpen: has ? within !== undefined : undefined,
      })),
      ...inner.flatMap(({ boxes }) => boxes),
    ],
    links: [...drawn, ...inner.flatMap((each) => each.links)],
    bars: [...bars, ...inner.flatMap((each) => each.bars)],
  };
}

function moved({ boxes, links, bars, ...size }: Picture, dx: number, dy: number): Picture {
  return {
    ...size,
    boxes: boxes.map((box) => ({ ...box, x: box.x + dx, y: box.y + dy })),
    links: links.map((link) => ({ ...link, way: movedWay(link.way, dx, dy), barX: link.barX + dx, barY: link.barY + dy })),
    bars: bars.map((bar) => ({ ...bar, x: bar.x + dx, y: bar.y + dy })),
  };
}

/** M, H and V with absolute places. */
function movedWay(way: string, dx: number, dy: number): string {
  return way.replace(/([MHV])(-?[\d.]+)(?: (-?[\d.]+))?/g, (_all, letter: string, first: string, second: string | undefined) =>
    letter === 'H' ? `H${Number(first) + dx}` : letter === 'V' ? `V${Number(first) + dy}` : `M${Number(first) + dx} ${Number(second) + dy}`,
  );
}
