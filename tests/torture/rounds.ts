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

/** A batch is over, and what ends the process has not come yet: the writers go on for so long. */
const GOES_ON_MS = 10_000;

/** Starts a process that ends itself and works until it does, which may be in its start; whether it did. */
export async function worked(bench: Bench, environment: Readonly<Record<string, string>>, { load = 4, begun, afterMs }: Work = {}): Promise<boolean> {
  try {
    await bench.start(environment);
    await bench.running();
    begun?.();
    if (load > 0) bench.load.start(load);
    await serveUntil(bench, 'Complete', () => bench.box.hasEnded);
    if (afterMs !== undefined) {
      await pause(afterMs);
      await bench.box.end('SIGKILL');
    }
  } catch (fault) {
    if (!(await bench.ended(GOES_ON_MS))) throw fault; // else it went in the middle of a request
  }
  const ended = await bench.ended(load > 0 ? GOES_ON_MS : 0);
  if (!ended) await bench.box.end('SIGKILL');
  await bench.load.stop();
  return ended;
}

/** A batch that is left in one of these waits for somebody. */
const LEFT = ['Held', 'Stopped', 'Aborted', 'Failed'];
const SERVED_WITHIN_MS = 90_000;

/** Serves the batch until it is in the state, or goes no further; undefined, or a sentence where it stands. */
export async function serveUntil(bench: Bench, state: string, over: () => boolean = () => false): Promise<string | undefined> {
  const begun = performance.now();
  while (!over() && performance.now() - begun < SERVED_WITHIN_MS) {
    await bench.story.serve(bench.batch, bench.told);
    const { phase } = await bench.story.batch(bench.batch);
    bench.told.events = await bench.story.events(bench.batch);
    bench.told.phase = phase;
    if (phase === state) return undefined;
    if (LEFT.includes(phase)) break;
    await pause(10);
  }
  return whereItStands(bench);
}

export async function whereItStands({ story, batch }: Bench): Promise<string> {
  const { phase, blockedBecause } = await story.batch(batch);
  const events = (await story.events(batch)).slice(-6).map(({ eventSubType, value, message }) => `${eventSubType} ${value} ${message}`);
  return `the batch is ${phase} (${blockedBecause}); at last: ${events.join('; ')}`;
}

/** The appliance is gone: the files are looked at, it is started again, and everything is examined before anybody acts. */
export async function afterwards(bench: Bench, what: string, environment: Readonly<Record<string, string>> = {}): Promise<Round> {
  const damaged = bench.filesWhole();
  await bench.start(environment);
  await bench.story.inState(bench.batch, 'Held', 'Pending', 'Complete', 'Aborted', 'Idle').catch(() => undefined); // examine says where it stands
  return { what, problems: [...damaged, ...(await bench.examine())] };
}
