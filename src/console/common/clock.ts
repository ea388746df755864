/** The second hand of the screen: ages and the clock redraw with it. The wall clock of the panel, for show only. */
import { signal } from '@preact/signals';

export const nowMs = signal(Date.now());

window.setInterval(() => {
  nowMs.value = Date.now();
}, 1000);
