/**
 * Several suites in one process, one after the other: `node suites.js <suite> ...`. A process, the test library and the modules under test
 * cost a suite more than half a second of the processor, which is more than most suites take for themselves. Each ends before the next
 * begins, with its own teardown; behind it stands a line with what it took: `# suite <suite> <cpu s> <wall s>`.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';

/** What `t.teardown` of a suite was given, the last first. */
const ends: (() => unknown)[] = [];
t.teardown = (end) => void ends.unshift(end);

/** All tests that were begun at the root have ended. */
async function rested(): Promise<void> {
  while (!t.idle) await new Promise<void>((resolve) => t.once('idle', () => setImmediate(resolve)));
}

/** Each of them, whatever becomes of those before it. */
async function endAll(): Promise<void> {
  for (const end of ends.splice(0)) {
    try {
      await end();
    } catch (fault) {
      t.threw(fault as Error);
    }
  }
}

for (const suite of process.argv.slice(2)) {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const { total } = t.counts;
  try {
    await import(pathToFileURL(path.resolve(suite)).href);
    await rested();
  } catch (fault) {
    t.threw(fault as Error);
  }
  await endAll();
  if (t.counts.total === total) t.fail(`${suite} has tests`);
  const { user, system } = process.cpuUsage(cpu);
  t.comment(`suite ${suite} ${((user + system) / 1e6).toFixed(2)} ${((performance.now() - begun) / 1000).toFixed(2)}`);
}
