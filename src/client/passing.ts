import { ApiError } from './api.js';

/** No answer at all, too many requests, and what a box or what stands before it says while it starts. */
const PASSING: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

/** Another try may mend it. */
export function isPassing(fault: unknown): fault is ApiError {
  return fault instanceof ApiError && PASSING.has(fault.status) && fault.code !== 'redirected';
}
