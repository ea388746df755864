/** When a value is told to be away from its setpoint: one judgement of the box (preflight) and of the tiles of its pages. Pure. */

/** Of the range of the instrument: further away is no ripple of a loop that holds its setpoint. */
const FAR = 0.1;

export function isFarOff(value: number, setpoint: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return Math.abs(value - setpoint) > (max - min) * FAR;
}
