/** A hand on a trend: it zooms with the wheel, two fingers, + and -, and moves it by dragging, two fingers, Page Up and Page Down. A touch marks a moment. */
import type uPlot from 'uplot';
import type { Hand, Scale } from './trend-props.js';

const ZOOM = 1.3;
const COMMIT_MS = 250;
/** Less is a touch, no drag. */
const DRAG_PX = 5;
const SPAN_MS_MIN = 5000;
const SPAN_MS_MAX = 400 * 86_400_000; // what the historian keeps

/** Nobody can where the trend is not told of a new span. @returns ends it. */
export function moveByHand({ element, plot: plotNow, props, held }: Hand): () => void {
  const fingers = new Map<number, number>();
  let start: { readonly scale: Scale; readonly fingers: ReadonlyMap<number, number> } | undefined;
  let moved = false;
  let timer = 0;
  const canMove = (): boolean => props().onSpan !== undefined;
  const scaleOf = (plot: uPlot): Scale => held.current ?? { min: plot.scales.x?.min ?? 0, max: plot.scales.x?.max ?? 1 };
  const leftOf = (plot: uPlot, event: MouseEvent): number => event.clientX - plot.over.getBoundingClientRect().left;
  const onCurves = (event: Event): uPlot | undefined => {
    const plot = plotNow();
    return plot?.over.contains(event.target as Node) ? plot : undefined;
  };
  const commit = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (!held.current) return;
      const { min, max } = held.current;
      held.current = null;
      props().onSpan?.(Math.round(min * 1000), Math.round(max * 1000));
    }, COMMIT_MS);
  };
  const show = (plot: uPlot, min: number, max: number): void => {
    const middle = (min + max) / 2;
    const half = Math.min(SPAN_MS_MAX, Math.max(SPAN_MS_MIN, (max - min) * 1000)) / 2000;
    window.clearTimeout(timer);
    held.current = { min: middle - half, max: middle + half };
    plot.setScale('x', held.current);
  };
  const zoom = (plot: uPlot, by: number, left: number): void => {
    const { min, max } = scaleOf(plot);
    const at = min + ((max - min) * left) / plot.over.clientWidth;
    show(plot, at - (at - min) * by, at + (max - at) * by);
    commit();
  };
  const wheel = (event: WheelEvent): void => {
    const plot = onCurves(event);
    if (!plot || !canMove()) return;
    event.preventDefault();
    const { min, max } = scaleOf(plot);
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = ((event.deltaX || event.deltaY) / plot.over.clientWidth) * (max - min);
      show(plot, min + by, max + by);
      commit();
    } else zoom(plot, event.deltaY > 0 ? ZOOM : 1 / ZOOM, leftOf(plot, event));
  };
  const down = (event: PointerEvent): void => {
    const plot = onCurves(event);
    if (!plot || !canMove() || event.button !== 0) return;
    fingers.set(event.pointerId, leftOf(plot, event));
    start = { scale: scaleOf(plot), fingers: new Map(fingers) };
    moved = fingers.size > 1;
  };
  const move = (event: PointerEvent): void => {
    const plot = plotNow();
    const from = start?.fingers.get(event.pointerId);
    if (!plot || !start || from === undefined) return;
    const left = leftOf(plot, event);
    fingers.set(event.pointerId, left);
    if (Math.abs(left - from) >= DRAG_PX) moved = true;
    if (!moved || (event.pointerType !== 'mouse' && fingers.size < 2)) return; // one finger reads
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
    const { min, max } = start.scale;
    const perPx = (max - min) / plot.over.clientWidth;
    const [[first = 0, second = first], [firstWas = 0, secondWas = firstWas]] = [[...fingers.values()], [...start.fingers.values()]];
    if (fingers.size < 2) show(plot, min - (first - firstWas) * perPx, max - (first - firstWas) * perPx);
    else {
      const by = Math.max(1, Math.abs(secondWas - firstWas)) / Math.max(1, Math.abs(second - first));
      const between = min + ((firstWas + secondWas) / 2) * perPx;
      const from = between - ((first + second) / 2) * perPx * by;
      show(plot, from, from + (max - min) * by);
    }
  };
  const up = (event: PointerEvent): void => {
    const plot = plotNow();
    if (!fingers.delete(event.pointerId) || !plot) return;
    const isTouchOf = !moved && fingers.size === 0;
    if (fingers.size === 0) start = undefined;
    if (isTouchOf && event.type === 'pointerup') props().onPick?.(Math.round(plot.posToVal(leftOf(plot, event), 'x') * 1000));
    else if (moved && fingers.size === 0) commit();
  };
  const press = (event: KeyboardEvent): void => {
    const plot = plotNow();
    if (!plot || !canMove() || event.altKey || event.ctrlKey || event.metaKey) return;
    const { min, max } = scaleOf(plot);
    const half = (max - min) / 2;
    const left = (plot.cursor.left ?? -1) >= 0 ? (plot.cursor.left as number) : plot.over.clientWidth / 2;
    if (event.key === '+' || event.key === '=') zoom(plot, 1 / ZOOM, left);
    else if (event.key === '-') zoom(plot, ZOOM, left);
    else if (event.key === 'PageUp' || event.key === 'PageDown') {
      const by = event.key === 'PageUp' ? -half : half;
      show(plot, min + by, max + by);
      commit();
    } else return;
    event.preventDefault();
  };
  element.addEventListener('wheel', wheel, { passive: false });
  element.addEventListener('pointerdown', down);
  element.addEventListener('pointermove', move);
  element.addEventListener('pointerup', up);
  element.addEventListener('pointercancel', up);
  element.addEventListener('keydown', press);
  return () => {
    window.clearTimeout(timer);
    element.removeEventListener('wheel', wheel);
    element.removeEventListener('pointerdown', down);
    element.removeEventListener('pointermove', move);
    element.removeEventListener('pointerup', up);
    element.removeEventListener('pointercancel', up);
    element.removeEventListener('keydown', press);
  };
}
