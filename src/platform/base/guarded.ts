/**
 * Seams: where a part calls what it does not know (watchers, listeners, timers, microtasks, promises that nobody awaits).
 * A bug on the other side stays there: it is told and counted, and whoever called goes on with the next one.
 *
 * Invariant: `guarded`, `guardedPromise` and `contain` never throw. Per call of a seam that holds there is no allocation.
 *
 * The listeners are of the whole process, because the seams are: what a timer of one part does can end all of them.
 */

/** `seam` names the place, not the call: at most one per line of source. */
export type SeamListener = (seam: string, fault: unknown) => void;

const listeners = new Set<SeamListener>();

/** What `call` gives; undefined when it threw. */
export function guarded<T>(seam: string, call: () => T): T | undefined {
  try {
    return call();
  } catch (fault) {
    contain(seam, fault);
    return undefined;
  }
}

/** For a promise whose end nobody waits for, in place of a bare `void`. */
export function guardedPromise(seam: string, call: () => PromiseLike<unknown>): void {
  guarded(seam, call)?.then(undefined, (fault: unknown) => contain(seam, fault));
}

/** Tells of a fault that a seam has caught itself. */
export function contain(seam: string, fault: unknown): void {
  if (listeners.size === 0) console.error(`contained at ${seam}:`, fault);
  for (const listener of listeners) {
    try {
      listener(seam, fault);
    } catch (second) {
      console.error(`contained at ${seam}:`, fault, 'and the log refuses it:', second);
    }
  }
}

/** The result ends it. */
export function onContained(listener: SeamListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
