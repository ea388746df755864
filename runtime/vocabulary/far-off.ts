/** When a value is told to be away from its setpoint. Pure. */

/** Of the range of the instrument: further away is no ripple of a loop that holds its setpoint. The pages are held to it by its type. */
export const FAR_OFF = 0.1;

export function isFarOff(value: number, setpoint: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return Math.abs(value - setpoint) > (max - min) * FAR_OFF;
}
