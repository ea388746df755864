/** What lies over the curves: limits, the marks of what happened, and the two moments that somebody compares. */
import type uPlot from 'uplot';
import { colour, type TrendPlotProps } from './trend-props.js';
import { PEN_COLOURS } from './pen-line.js';

const KIND_COLOURS = { alarm: '--critical', phase: '--muted', batch: '--accent' } as const;
const LABEL_GAP_PX = 6;

export function drawOver(plot: uPlot, { pens, limits = [], marks = [], cursors }: TrendPlotProps): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const { pen, at, isTrip } of limits) {
    const of = pens[pen];
    if (!of) continue;
    const y = plot.valToPos(at, `y ${of.engUnits}`, true);
    ctx.strokeStyle = colour(PEN_COLOURS[pen % PEN_COLOURS.length] as string);
    ctx.globalAlpha = 0.7;
    ctx.lineWidth = (isTrip ? 2 : 1) * ratio;
    ctx.setLineDash([3 * ratio, 5 * ratio]);
    line(ctx, left, y, left + width, y);
  }
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
  ctx.font = `${12 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  const ends = { alarm: left, phase: left, batch: left };
  for (const { atMs, text, kind } of marks) {
    const x = plot.valToPos(atMs / 1000, 'x', true);
    if (x < left || x > left + width) continue;
    ctx.strokeStyle = ctx.fillStyle = colour(KIND_COLOURS[kind]);
    ctx.lineWidth = ratio;
    const isAlarm = kind === 'alarm';
    if (isAlarm) triangle(ctx, x, top, 6 * ratio);
    line(ctx, x, isAlarm ? top : top + height * (kind === 'batch' ? 0 : 0.86), x, isAlarm ? top + height * 0.3 : top + height);
    const wide = ctx.measureText(text).width;
    if (x < ends[kind] || x + LABEL_GAP_PX * ratio + wide > left + width) continue; // it has no room: the list tells it
    const y = { alarm: top + 12 * ratio, batch: top + 28 * ratio, phase: top + height - 6 * ratio }[kind];
    ctx.fillStyle = colour('--text');
    ctx.fillText(text, x + LABEL_GAP_PX * ratio, y);
    ends[kind] = x + 2 * LABEL_GAP_PX * ratio + wide;
  }
  for (const [name, atMs] of Object.entries(cursors ?? {})) {
    if (atMs === undefined) continue;
    const x = plot.valToPos(atMs / 1000, 'x', true);
    ctx.strokeStyle = ctx.fillStyle = colour('--text');
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash(name === 'a' ? [] : [6 * ratio, 3 * ratio]);
    line(ctx, x, top, x, top + height);
    ctx.setLineDash([]);
    ctx.fillText(name.toUpperCase(), x + 4 * ratio, top + height - 20 * ratio);
  }
  ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

function triangle(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.beginPath();
  ctx.moveTo(x - size, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + size * 1.4);
  ctx.fill();
}
