/** The second hand of the screen, by the time of the box: ages and the clock redraw with it. */
import { signal } from '@preact/signals';
import { boxNowMs } from '../data/box-clock.js';

export const nowMs = signal(boxNowMs());

window.setInterval(() => {
  nowMs.value = boxNowMs();
}, 1000);
