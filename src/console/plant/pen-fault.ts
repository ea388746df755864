/** Which curves could not be read, and why; '' when all could. */
import type { PenFault } from '../data/trend.js';
import { faultText } from '../common/fault-text.js';

export function penFaultText(faults: readonly PenFault[]): string {
  return faults.map(({ pen, fault }) => `${pen.label}: ${faultText(fault)}`).join(' ');
}
