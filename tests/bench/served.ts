/** How others are served while something goes on. */

/** Of a request that asks for nothing, sent one after the other while `work` goes on. */
export async function servedDuring(base: string, work: () => Promise<unknown>): Promise<readonly number[]> {
  let isOver = false;
  const latencies: number[] = [];
  const done = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const fromMs = performance.now();
    await (await fetch(`${base}/healthz`)).text();
    latencies.push(performance.now() - fromMs);
  }
  await done;
  return latencies;
}
