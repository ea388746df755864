/** A bug in our own code: says why, and lets the thread die. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${why}`);
}

/** The element of a list at a place that `why` keeps inside it. Not for the samples of a hot loop: assert once before it. */
export function inside<T>(list: ArrayLike<T>, place: number, why: string): T {
  const found = list[place];
  if (found === undefined) throw new Error(`assertion failed: ${why} (${place} of ${list.length})`);
  return found;
}
