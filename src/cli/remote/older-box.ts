/** A box of an earlier release: what it does not know yet it says, and is asked as it was before. */
import { ApiError } from '../../client/api.js';

/** Whether the box refuses the request for a query parameter of this name. */
export function isUnknownParameter(fault: unknown, ...names: readonly string[]): boolean {
  return fault instanceof ApiError && fault.code === 'unknown_parameter' && names.some((name) => name === fault.body.field);
}

/** @param before how the box was asked before it had the parameters. @throws what `now` does of all else. */
export async function orAsBefore<T>(names: readonly string[], now: () => Promise<T>, before: () => Promise<T>): Promise<T> {
  try {
    return await now();
  } catch (fault) {
    if (isUnknownParameter(fault, ...names)) return before();
    throw fault;
  }
}
