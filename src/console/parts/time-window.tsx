/**
 * The whole of a time as a strip, with a window on it: what the time bar below shows. A finger or the mouse moves it, the arrow keys do, + and - make it
 * narrower and wider, and Home and End take it to the first and the last moment.
 */
import { useRef } from 'preact/hooks';
import { words } from '../common/strings.js';
import { HEAD_PX, Plot, ROW_PX, type TimeRow } from './time-bar.js';
import './time-bar.css';

export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

interface TimeWindowProps {
  readonly label: string;
  readonly row: TimeRow;
  readonly whole: Window;
  readonly window: Window;
  readonly timeText: (atMs: number) => string;
  readonly onMove: (window: Window) => void;
  readonly testid: string;
}

const said = words({
  en: { hint: 'Drag the window; arrow keys move it, + and - zoom', from: (from: string, to: string) => `${from} to ${to}` },
  de: { hint: 'Fenster ziehen; Pfeiltasten verschieben, + und - zoomen', from: (from: string, to: string) => `${from} bis ${to}` },
});

/** Of the window, at a touch of a key. */
const STEP = 1 / 10;
/** At one step of the zoom. */
const ZOOM = 1.5;
const LEAST_MS = 5000;

/** The same width elsewhere, within the whole. */
export function movedTo(whole: Window, { fromMs, toMs }: Window, newFromMs: number): Window {
  const width = toMs - fromMs;
  const from = Math.max(whole.fromMs, Math.min(newFromMs, whole.toMs - width));
  return { fromMs: from, toMs: from + width };
}

/** About its middle, within the whole. @param factor below 1 for a closer look. */
export function zoomed(whole: Window, { fromMs, toMs }: Window, factor: number): Window {
  const width = Math.min(whole.toMs - whole.fromMs, Math.max(LEAST_MS, (toMs - fromMs) * factor));
  const from = (fromMs + toMs - width) / 2;
  return movedTo(whole, { fromMs: from, toMs: from + width }, from);
}

export const zoomIn = (whole: Window, window: Window): Window => zoomed(whole, window, 1 / ZOOM);
export const zoomOut = (whole: Window, window: Window): Window => zoomed(whole, window, ZOOM);

export function TimeWindow({ label, row, whole, window, timeText, onMove, testid }: TimeWindowProps) {
  /** Between the finger and the left edge of the window. */
  const held = useRef(0);
  const width = window.toMs - window.fromMs;
  const part = (atMs: number): number => ((atMs - whole.fromMs) / (whole.toMs - whole.fromMs)) * 100;
  const press = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey) return;
    const step = width * (event.shiftKey ? 1 : STEP);
    const to = {
      ArrowLeft: window.fromMs - step,
      ArrowRight: window.fromMs + step,
      PageDown: window.fromMs - width,
      PageUp: window.fromMs + width,
      Home: whole.fromMs,
      End: whole.toMs,
    }[event.key];
    const next = to !== undefined ? movedTo(whole, window, to) : event.key === '+' ? zoomIn(whole, window) : event.key === '-' ? zoomOut(whole, window) : undefined;
    if (!next) return;
    event.preventDefault();
    onMove(next);
  };
  const timeAt = (event: PointerEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return whole.fromMs + ((event.clientX - box.left) / box.width) * (whole.toMs - whole.fromMs);
  };
  const take = (event: PointerEvent): void => {
    const at = timeAt(event);
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const isInside = at >= window.fromMs && at <= window.toMs;
    held.current = isInside ? at - window.fromMs : width / 2;
    if (!isInside) onMove(movedTo(whole, window, at - held.current));
  };
  const drag = (event: PointerEvent): void => {
    if (event.buttons !== 0) onMove(movedTo(whole, window, timeAt(event) - held.current));
  };
  return (
    <div class="time-bar time-window" data-testid={testid}>
      <ul class="time-names" aria-hidden="true">
        <li style={{ height: `${ROW_PX}px` }}>{row.name}</li>
      </ul>
      <div
        class="time-plot"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-description={said.hint}
        aria-valuemin={Math.round(whole.fromMs)}
        aria-valuemax={Math.round(whole.toMs)}
        aria-valuenow={Math.round(window.fromMs)}
        aria-valuetext={said.from(timeText(window.fromMs), timeText(window.toMs))}
        onKeyDown={press}
        onPointerDown={take}
        onPointerMove={drag}
        data-testid={`${testid}-plot`}
      >
        <Plot rows={[row]} fromMs={whole.fromMs} toMs={whole.toMs} timeText={timeText} />
        <svg class="time-window-over" aria-hidden="true" height={HEAD_PX + ROW_PX}>
          <rect
            class="time-window-at"
            x={`${part(window.fromMs)}%`}
            width={`${Math.max(0.8, part(window.toMs) - part(window.fromMs))}%`}
            y={HEAD_PX - 3}
            height={ROW_PX + 4}
            rx="4"
          />
        </svg>
      </div>
    </div>
  );
}
