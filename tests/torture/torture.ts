/**
 * `npm run torture [words] [-- --long --rounds N --seed N --lanes N --within S]`: plays the scenarios whose name contains a word and writes
 * what happened to artifacts/torture/<scenario>.json. A round that failed is played again by its seed. A round that does not end is
 * a failure by name, and so is a scenario that nobody came to within the given seconds.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import type { Report, Round, Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '20261122' },
    lanes: { type: 'string', default: '1' },
    within: { type: 'string', default: '86400' },
    absent: { type: 'string', multiple: true, default: [] },
  },
});
const FOLDER = path.join('artifacts', 'torture');
/** A round takes some seconds, the first one of a scenario up to a minute on a busy machine. */
const ROUND_MAX_S = 240;
const seed = Number(values.seed);
const begunAt = performance.now();

/** The next round, or a failure after its time. */
async function within<T>(next: Promise<T>, seconds: number): Promise<T> {
  let overdue: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    overdue = setTimeout(() => reject(new Error(`it hangs: ${seconds} s are over`)), seconds * 1000);
  });
  next.catch(() => undefined); // what comes of it later is nobody's
  return Promise.race([next, late]).finally(() => clearTimeout(overdue));
}

async function play(scenario: Scenario, count: number): Promise<Report> {
  const begun = performance.now();
  const bench = Bench.open(seed);
  const failed: Round[] = [];
  const inside: Record<string, number> = {};
  let done = 0;
  const say = (text: string): void => console.log(text.replaceAll(/^/gm, `${scenario.name}: `));
  try {
    const rounds = scenario.run(bench, count)[Symbol.asyncIterator]();
    for (let next = await within(rounds.next(), ROUND_MAX_S); !next.done; next = await within(rounds.next(), ROUND_MAX_S)) {
      const round: Round = next.value;
      done += 1;
      if (round.inside !== undefined) inside[round.inside] = (inside[round.inside] ?? 0) + 1;
      if (round.problems.length > 0) failed.push(round);
      say([`${round.problems.length > 0 ? 'FAILED' : 'ok'} ${done}: ${round.what}`, ...round.problems.map((problem) => `    ${problem}`)].join('\n'));
    }
  } catch (fault) {
    failed.push({ what: `round ${done + 1} did not end`, problems: [fault instanceof Error ? `${fault.message}\n${bench.box?.output.slice(-2000) ?? ''}` : String(fault)] });
    say(`FAILED ${done + 1}: ${failed.at(-1)?.problems[0] ?? ''}`);
  } finally {
    await within(bench.close(), ROUND_MAX_S).catch((fault: Error) => say(`it cannot be cleared away: ${fault.message}`));
  }
  const report = {
    scenario: scenario.name,
    proves: scenario.proves,
    seed,
    rounds: done,
    inside,
    acknowledged: bench.load?.total ?? 0,
    failed,
    seconds: Math.round((performance.now() - begun) / 1000),
  };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, `${scenario.name}.json`), `${JSON.stringify(report, null, 2)}\n`);
  return report;
}

let passed = 0;
let broken = 0;
let skipped = 0;

/** Plays one after the other, the next one as soon as there is a free lane. */
async function lane(waiting: Scenario[]): Promise<void> {
  for (let scenario = waiting.shift(); scenario; scenario = waiting.shift()) {
    const { name, peer, count, proves } = scenario;
    const rounds = Number(values.rounds ?? count[values.long ? 'long' : 'short']);
    if (rounds === 0) continue; // by hand only
    if (peer !== undefined && values.absent.includes(peer)) {
      console.log(`${name}: ${process.env.CI ? 'FAILED' : 'skipped'}: it needs ${peer}`);
      if (process.env.CI) broken += 1;
      else skipped += 1;
      continue;
    }
    if (performance.now() - begunAt > Number(values.within) * 1000) {
      console.log(`${name}: FAILED: nobody came to it within ${values.within} s`);
      broken += 1;
      continue;
    }
    console.log(`# ${name}: ${proves}`);
    const report = await play(scenario, rounds);
    const inside = Object.entries(report.inside).map(([where, times]) => `${times} in ${where}`);
    console.log(`${name}: ${report.rounds} rounds in ${report.seconds} s, ${report.acknowledged} acknowledged writes${inside.length > 0 ? `; ${inside.join(', ')}` : ''}`);
    broken += report.failed.length;
    passed += report.rounds - report.failed.filter(({ what }) => !what.endsWith('did not end')).length;
  }
}

const chosen = SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)));
const beside = chosen.filter(({ alone }) => !alone);
await Promise.all(Array.from({ length: Number(values.lanes) }, () => lane(beside)));
await lane(chosen.filter(({ alone }) => alone));
console.log(`${passed} passed, ${broken} failed, ${skipped} skipped`);
process.exit(broken > 0 || passed === 0 ? 1 : 0);
