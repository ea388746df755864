/** What rounds of every kind do: work until something ends it, and look at what is left. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';

export interface Work {
  /** Writers beside the batch. */
  readonly load?: number;
  /** Called when a batch is under way. */
  readonly begun?: () => unknown;
  /** It is killed so long after the end of the batch, if it has not ended itself. */
  readonly afterMs?: number | undefined;
}

/** Starts a process that ends itself and works until it does, which may be in its start; whether it did. */
export async function worked(bench: Bench, environment: Readonly<Record<string, string>>, { load = 4, begun, afterMs }: Work = {}): Promise<boolean> {
  let gone = false;
  const work = (async () => {
    await bench.start(environment);
    await bench.running();
    begun?.();
    if (load > 0) bench.load.start(load);
    await serveUntil(bench, 'Complete', () => gone);
    if (afterMs === undefined) return;
    await pause(afterMs);
    await bench.box.end('SIGKILL');
  })().catch(() => undefined); // the appliance is gone in the middle of a request
  const ended = await bench.ended(20_000);
  gone = true;
  if (!ended) await bench.box.end('SIGKILL');
  await work;
  await bench.load.stop();
  return ended;
}

export async function serveUntil(bench: Bench, state: string, over: () => boolean = () => false): Promise<void> {
  while (!over()) {
    await bench.story.serve(bench.batch, bench.told);
    const { phase } = await bench.story.batch(bench.batch);
    bench.told.events = await bench.story.events(bench.batch);
    bench.told.phase = phase;
    if (phase === state) return;
    await pause(10);
  }
}

/** The appliance is gone: the files are looked at, it is started again, and everything is examined before anybody acts. */
export async function afterwards(bench: Bench, what: string, environment: Readonly<Record<string, string>> = {}): Promise<Round> {
  const damaged = bench.filesWhole();
  await bench.start(environment);
  await bench.story.inState(bench.batch, 'Held', 'Pending', 'Complete', 'Aborted', 'Idle').catch(() => undefined); // examine says where it stands
  return { what, problems: [...damaged, ...(await bench.examine())] };
}
