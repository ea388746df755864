/** What a driver has done to the box itself, beside its devices: for whoever keeps the records of the box. One listener a thread. */
import type { BoxNotice } from '../port.js';

let listen: (notice: BoxNotice) => void = () => {};

export function onNotice(listener: (notice: BoxNotice) => void): void {
  listen = listener;
}

export function notice(told: BoxNotice): void {
  listen(told);
}
