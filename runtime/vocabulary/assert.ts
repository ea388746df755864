/**
 * Invariants of the control side. A broken one is a bug of ours: the sentence names what must hold. Who calls a unit, a
 * module or a driver contains the throw there: the unit ends with its outputs at their fail-safe values, the module is Bad.
 */
export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${invariant}`);
}

/** The element of a list at a place that `invariant` keeps inside it. A loop of the scan asserts once at its head instead. */
export function inside<T>(list: ArrayLike<T>, place: number, invariant: string): T {
  const found = list[place];
  if (found === undefined) throw new Error(`assertion failed: ${invariant} (${place} of ${list.length})`);
  return found;
}
