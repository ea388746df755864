/** Reads are asked for often and done once: at most one under way, and one more after it. @param firstMs what the first one waits after a time in which none was asked for. */
export function coalesced(delayMs: number, run: () => Promise<void>, firstMs = delayMs): () => void {
  let endedAtMs = -delayMs;
  let planned = false;
  let busy = false;
  let again = false;
  const start = async (): Promise<void> => {
    planned = false;
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      await run();
    } finally {
      busy = false;
      endedAtMs = performance.now();
      if (again) {
        again = false;
        plan();
      }
    }
  };
  const plan = (): void => {
    if (planned) return;
    planned = true;
    window.setTimeout(() => void start(), performance.now() - endedAtMs > delayMs ? firstMs : delayMs);
  };
  return plan;
}

/** Never two at a time: a slow gateway is asked less often. */
export function everySecond(run: () => Promise<void>): () => void {
  let busy = false;
  const timer = window.setInterval(() => {
    if (busy) return;
    busy = true;
    void run().finally(() => {
      busy = false;
    });
  }, 1000);
  return () => clearInterval(timer);
}
