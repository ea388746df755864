/**
 * `npm run torture [words] [-- --long --rounds N --seed N]`: plays the scenarios whose name contains a word, one after the other, and
 * writes what happened to artifacts/torture/<scenario>.json. A round that failed is played again by its seed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Bench } from './bench.js';
import type { Report, Round, Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false }, rounds: { type: 'string' }, seed: { type: 'string', default: '20261122' } },
});
const FOLDER = path.join('artifacts', 'torture');
const seed = Number(values.seed);

async function play(scenario: Scenario, rounds: number): Promise<Report> {
  const begun = performance.now();
  const bench = Bench.open(seed);
  const failed: Round[] = [];
  const inside: Record<string, number> = {};
  let done = 0;
  try {
    for await (const round of scenario.run(bench, rounds)) {
      done += 1;
      if (round.inside !== undefined) inside[round.inside] = (inside[round.inside] ?? 0) + 1;
      if (round.problems.length > 0) failed.push(round);
      console.log(`  ${round.problems.length > 0 ? 'FAILED' : 'ok'} ${done}: ${round.what}`);
      for (const problem of round.problems) console.log(`      ${problem}`);
    }
  } catch (fault) {
    failed.push({ what: `round ${done + 1} did not end`, problems: [fault instanceof Error ? `${fault.message}\n${bench.box?.output.slice(-2000) ?? ''}` : String(fault)] });
    console.log(`  FAILED ${done + 1}: ${failed.at(-1)?.problems[0] ?? ''}`);
  } finally {
    await bench.close();
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
for (const scenario of SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)))) {
  const rounds = Number(values.rounds ?? scenario.count[values.long ? 'long' : 'short']);
  if (rounds === 0) continue; // by hand only
  console.log(`# ${scenario.name}: ${scenario.proves}`);
  const report = await play(scenario, rounds);
  const inside = Object.entries(report.inside).map(([where, count]) => `${count} in ${where}`);
  console.log(`  ${report.rounds} rounds in ${report.seconds} s, ${report.acknowledged} acknowledged writes${inside.length > 0 ? `; ${inside.join(', ')}` : ''}`);
  broken += report.failed.length;
  passed += report.rounds - report.failed.filter(({ what }) => !what.endsWith('did not end')).length;
}
console.log(`${passed} passed, ${broken} failed`);
process.exit(broken > 0 || passed === 0 ? 1 : 0);
