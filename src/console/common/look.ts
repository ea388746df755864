/** Light, dark or as the panel says: chosen by a person and kept on this panel. The colours themselves stand in theme.css. */
import { signal } from '@preact/signals';
import { keepHere, keptHere } from './kept-here.js';

export const LOOKS = ['auto', 'light', 'dark'] as const;
export type Look = (typeof LOOKS)[number];

const KEY = 'lineside.look';

export const look = signal<Look>(stored());
mark(look.peek());

function stored(): Look {
  const kept = keptHere(KEY);
  return LOOKS.find((each) => each === kept) ?? 'auto';
}

function mark(chosen: Look): void {
  if (chosen === 'auto') delete document.documentElement.dataset.look;
  else document.documentElement.dataset.look = chosen;
}

export function choose(chosen: Look): void {
  look.value = chosen;
  keepHere(KEY, chosen);
  mark(chosen);
}
