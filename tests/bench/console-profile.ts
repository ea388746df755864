/** Where the main thread of a page spends its time. */
import type { CDPSession } from 'playwright-core';

const SHOWN = 25;
const SAMPLE_US = 200;

/** Begins a profile of the processor. @returns ends it: a line for each of the functions that cost most by themselves. */
export async function hottest(session: CDPSession): Promise<() => Promise<string[]>> {
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  await session.send('Profiler.start');
  return async () => {
    const { profile } = await session.send('Profiler.stop');
    const own = new Map<number, number>();
    (profile.samples ?? []).forEach((id, at) => own.set(id, (own.get(id) ?? 0) + (profile.timeDeltas?.[at] ?? 0)));
    const byName = new Map<string, number>();
    for (const { id, callFrame } of profile.nodes) {
      const name = `${callFrame.functionName || '(anonymous)'} ${callFrame.url.split('/').at(-1)}:${callFrame.lineNumber + 1}:${callFrame.columnNumber + 1}`;
      byName.set(name, (byName.get(name) ?? 0) + (own.get(id) ?? 0));
    }
    const seconds = (profile.endTime - profile.startTime) / 1e6;
    return [...byName]
      .sort(([, a], [, b]) => b - a)
      .slice(0, SHOWN)
      .map(([name, us]) => `  ${(us / 1000 / seconds).toFixed(2).padStart(8)} ms/s  ${name}`);
  };
}
