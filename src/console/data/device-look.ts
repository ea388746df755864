/** What the state word of a device means for how it is drawn. */
import type { TagValue } from './types.js';

const ACTIVE = /^(open|opened|opening|closing|running|starting|stopping|on)$/i;
const FAULT = /fault|fail|trip|alarm|error/i;

export type DeviceLook = 'rest' | 'active' | 'fault' | 'unknown';

/**
 * The fault comes first: it is latched, somebody has to go there, and it stands whatever becomes of the signals. That its signals are
 * Bad as well is said beside it.
 */
export function deviceLook({ value, quality }: Pick<TagValue, 'value' | 'quality'>, isFaulted = false): DeviceLook {
  const state = typeof value === 'string' ? value : '';
  if (isFaulted || FAULT.test(state)) return 'fault';
  if (quality !== 'Good') return 'unknown';
  return ACTIVE.test(state) ? 'active' : 'rest';
}
