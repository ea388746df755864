/** Ctrl-C of a command that goes on: its good end. */

/** @returns when the work has come to its end, or has been asked to and has. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    await work(ending.signal);
  } catch (fault) {
    if (!ending.signal.aborted) throw fault;
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
  }
}
