/** A hand on a trend: it zooms with the wheel, two fingers, + and -, and moves it by dragging, two fingers, Page Up and Page Down. A touch marks a moment. */
import type uPlot from 'uplot';
import type { TrendPlotProps } from './trend-props.js';

const ZOOM = 1.3;
const COMMIT_MS = 250;
/** Less is a touch, no drag. */
const DRAG_PX = 5;
const SPAN_MS_MIN = 5000;
const SPAN_MS_MAX = 400 * 86_400_000; // what the historian keeps

export interface Scale {
  readonly min: number;
  readonly max: number;
}

/**
 * @param hold while a hand moves it the picture does not follow the present. @param pending what a hand has moved it to and nobody was told yet: curves that
 * come meanwhile draw the picture anew. @returns ends it.
 */
export function moveByHand(plot: uPlot, element: HTMLElement, props: () => TrendPlotProps, hold: (held: boolean) => void, pending: { current: Scale | null }): () => void {
  const fingers = new Map<number, number>();
  let start: { readonly scale: Scale; readonly fingers: ReadonlyMap<number, number> } | undefined;
  let moved = false;
  let timer = 0;
  const scaleNow = (): Scale => ({ min: plot.scales.x?.min ?? 0, max: plot.scales.x?.max ?? 1 });
  const leftOf = (event: MouseEvent): number => event.clientX - plot.over.getBoundingClientRect().left;
  const commit = (): void => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      hold(false);
      pending.current = null;
      const { min, max } = scaleNow();
      props().onSpan?.(Math.round(min * 1000), Math.round(max * 1000));
    }, COMMIT_MS);
  };
  const show = (min: number, max: number): void => {
    const middle = (min + max) / 2;
    const half = Math.min(SPAN_MS_MAX, Math.max(SPAN_MS_MIN, (max - min) * 1000)) / 2000;
    window.clearTimeout(timer);
    hold(true);
    pending.current = { min: middle - half, max: middle + half };
    plot.setScale('x', pending.current);
  };
  const zoom = (by: number, left: number): void => {
    const { min, max } = scaleNow();
    const at = plot.posToVal(left, 'x');
    show(at - (at - min) * by, at + (max - at) * by);
    commit();
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { min, max } = scaleNow();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = ((event.deltaX || event.deltaY) / plot.over.clientWidth) * (max - min);
      show(min + by, max + by);
      commit();
    } else zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, leftOf(event));
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, leftOf(event));
    start = { scale: scaleNow(), fingers: new Map(fingers) };
    moved = fingers.size > 1;
  };
  const move = (event: PointerEvent): void => {
    const from = start?.fingers.get(event.pointerId);
    if (!start || from === undefined) return;
    fingers.set(event.pointerId, leftOf(event));
    if (Math.abs(leftOf(event) - from) >= DRAG_PX) moved = true;
    if (!moved || (event.pointerType !== 'mouse' && fingers.size < 2)) return; // one finger reads
    if (!plot.over.hasPointerCapture(event.pointerId)) plot.over.setPointerCapture(event.pointerId);
    const { min, max } = start.scale;
    const perPx = (max - min) / plot.over.clientWidth;
    const [[first = 0, second = first], [firstWas = 0, secondWas = firstWas]] = [[...fingers.values()], [...start.fingers.values()]];
    if (fingers.size < 2) show(min - (first - firstWas) * perPx, max - (first - firstWas) * perPx);
    else {
      const by = Math.max(1, Math.abs(secondWas - firstWas)) / Math.max(1, Math.abs(second - first));
      const held = min + ((firstWas + secondWas) / 2) * perPx;
      const left = held - ((first + second) / 2) * perPx * by;
      show(left, left + (max - min) * by);
    }
  };
  const up = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId)) return;
    const isTouchOf = !moved && fingers.size === 0;
    if (fingers.size === 0) start = undefined;
    if (isTouchOf && event.type === 'pointerup') props().onPick?.(Math.round(plot.posToVal(leftOf(event), 'x') * 1000));
    else if (moved && fingers.size === 0 && (event.pointerType === 'mouse' || timer > 0 || event.type === 'pointerup')) commit();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { min, max } = scaleNow();
    const half = (max - min) / 2;
    const left = (plot.cursor.left ?? -1) >= 0 ? (plot.cursor.left as number) : plot.over.clientWidth / 2;
    if (event.key === '+' || event.key === '=') zoom(1 / ZOOM, left);
    else if (event.key === '-') zoom(ZOOM, left);
    else if (event.key === 'PageUp' || event.key === 'PageDown') {
      const by = event.key === 'PageUp' ? -half : half;
      show(min + by, max + by);
      commit();
    } else return;
    event.preventDefault();
  };
  if (pending.current) {
    show(pending.current.min, pending.current.max);
    commit();
  }
  const { over } = plot;
  over.addEventListener('wheel', wheel, { passive: false });
  over.addEventListener('pointerdown', down);
  over.addEventListener('pointermove', move);
  over.addEventListener('pointerup', up);
  over.addEventListener('pointercancel', up);
  element.addEventListener('keydown', press);
  return () => {
    window.clearTimeout(timer);
    element.removeEventListener('keydown', press);
  };
}
