/**
 * Threads that wait in the kernel for a share that hangs. Node joins all of its threads before it ends, so that a process with one of them ends by
 * itself never: whoever ends it has to know.
 */
const stuck = new Map<symbol, string>();

/** `what` waits. @returns that it does not any more. */
export function noteStuck(what: string): () => void {
  const id = Symbol(what);
  stuck.set(id, what);
  return () => void stuck.delete(id);
}

export function stuckThreads(): readonly string[] {
  return [...stuck.values()];
}
