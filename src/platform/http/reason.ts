/** Operator reasons (contract 3, Operator reason policy; decisions D-ERR-03): trimmed, counted in Unicode code points. */
import { invalid } from '../base/refusal.js';

export const REASON_LENGTH_MAX = 1024;

/** @returns the trimmed reason. @throws Refusal `reason_too_short` or `reason_too_long`. */
export function checkReason(reason: unknown, lengthMin: number): string {
  const text = typeof reason === 'string' ? reason.trim() : '';
  const length = [...text].length;
  if (length < lengthMin) throw invalid('reason_too_short', 'reason', `reason must be at least ${lengthMin} character${lengthMin === 1 ? '' : 's'}`, { minLength: lengthMin });
  if (length > REASON_LENGTH_MAX) throw invalid('reason_too_long', 'reason', `reason must be at most ${REASON_LENGTH_MAX} characters`, { maxLength: REASON_LENGTH_MAX });
  return text;
}
