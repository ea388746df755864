// `npm run bench:gate [words]`: runs the benches whose name contains one of the words and fails when a figure is worse than its row of
// docs/benchmarks.json by more than its noise, when a bench misses its own limit, or when figure and row do not know each other.
//   --write   takes what was measured into the rows, and the table of docs/benchmarks.md with it
//   --table   runs nothing: writes the table from the rows; with --check only says whether it is out of date (exit code 1)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const ROWS = path.join(root, 'docs/benchmarks.json');
const PAGE = path.join(root, 'docs/benchmarks.md');
const [BEGIN, END] = ['<!-- the rows of benchmarks.json, written by npm run bench:gate -- --table -->\n', '<!-- end of the rows -->'];

/**
 * One sentence for each figure, and whether it lets the gate pass. `noise` is how far two quiet runs of the same product
 * lie apart; a row without a value is not measured yet and fails nothing; an `optional` one is of what not every machine grants.
 */
export function judge(rows, told, benches) {
  const verdicts = [];
  const of = ({ bench, figure }) => `${bench}: ${figure}`;
  for (const each of told) {
    const row = rows.find(({ bench, figure }) => bench === each.bench && figure === each.figure);
    if (row === undefined) verdicts.push({ good: false, text: `${of(each)} has no row in docs/benchmarks.json; measured ${shown(each.value)}` });
    else if (row.value === null) verdicts.push({ good: true, text: `${of(each)}: ${shown(each.value)}; its row is not measured yet, --write takes it` });
    else {
      const worse = row.better === 'more' ? row.value - each.value : each.value - row.value;
      // a value that is no number is worse than any
      const good = worse <= row.noise;
      verdicts.push({ good, text: `${of(each)}: ${shown(each.value)}, row ${shown(row.value)} and noise ${shown(row.noise)}${good ? '' : ': WORSE'}` });
    }
  }
  for (const row of rows) {
    if (!benches.includes(row.bench) || told.some(({ bench, figure }) => bench === row.bench && figure === row.figure)) continue;
    verdicts.push({ good: row.optional === true, text: `${of(row)} stands in docs/benchmarks.json, and the bench did not tell it` });
  }
  return verdicts;
}

/** What was measured, in the rows; the least disturbed of several runs stays with who reads them. */
export function taken(rows, told) {
  return rows.map((row) => {
    const found = told.find(({ bench, figure }) => bench === row.bench && figure === row.figure);
    return found === undefined ? row : { ...row, value: Number(found.value.toPrecision(3)) };
  });
}

export function table(rows) {
  const line = ({ bench, figure, value, noise, better, goal, note = '' }) => {
    const measured = value === null ? 'not measured yet' : `${shown(value)}${noise === 0 ? '' : ` ± ${shown(noise)}`}`;
    const missed = value !== null && (better === 'more' ? value < goal : value > goal);
    return `| ${bench} | ${figure} | ${measured} | ${better === 'more' ? 'at least' : 'at most'} ${shown(goal)}${missed ? ', missed' : ''} | ${note} |`;
  };
  return ['| bench | figure | measured | goal | |', '|---|---|---|---|---|', ...rows.map(line)].join('\n');
}

export function withTable(page, rows) {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has lost the lines between which its table stands: ${BEGIN.trim()} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n${table(rows)}\n\n${page.slice(to)}`;
}

/** Three figures that matter, without an exponent, thousands apart. */
function shown(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(value >= 1000 ? 4 : 3)).toLocaleString('en') : String(value);
}

async function measure(words) {
  const { build, DIST, install } = await import('./build.mjs');
  await install();
  await build();
  const folder = path.join(root, DIST, 'tests/bench');
  const names = readdirSync(folder).filter((name) => name.endsWith('.bench.js') && (words.length === 0 || words.some((word) => name.includes(word))));
  const out = mkdtempSync(path.join(tmpdir(), 'lineside-bench-'));
  const file = path.join(out, 'figures');
  const missed = [];
  for (const name of names) {
    console.log(`\n# ${name.replace('.bench.js', '')}`);
    const env = { ...process.env, BENCH_FIGURES: file };
    if (spawnSync(process.execPath, ['--expose-gc', path.join(folder, name)], { stdio: 'inherit', cwd: root, env }).status !== 0) missed.push(name);
  }
  const told = existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
  rmSync(out, { recursive: true });
  return { benches: names.map((name) => name.replace('.bench.js', '')), told, missed };
}

async function main() {
  const has = (flag) => process.argv.includes(flag);
  let rows = JSON.parse(readFileSync(ROWS, 'utf8'));
  let good = true;
  if (!has('--table')) {
    const { benches, told, missed } = await measure(process.argv.slice(2).filter((word) => !word.startsWith('--')));
    const verdicts = judge(rows, told, benches);
    console.log('\n# gate');
    for (const { good, text } of verdicts) console.log(`${good ? 'ok    ' : 'FAILED'}  ${text}`);
    for (const name of missed) console.log(`FAILED  ${name} missed a limit of its own`);
    good = benches.length > 0 && missed.length === 0 && verdicts.every((each) => each.good);
    if (has('--write')) {
      rows = taken(rows, told);
      writeFileSync(ROWS, `${JSON.stringify(rows, null, 2)}\n`);
      spawnSync(path.join(root, 'node_modules/.bin/biome'), ['format', '--write', ROWS], { stdio: 'ignore' });
    } else process.exit(good ? 0 : 1);
  }
  const page = readFileSync(PAGE, 'utf8');
  const next = withTable(page, rows);
  if (next !== page && has('--check')) console.log('the table of docs/benchmarks.md is not that of benchmarks.json: npm run bench:gate -- --table');
  if (next !== page && !has('--check')) writeFileSync(PAGE, next);
  process.exit(good && (next === page || !has('--check')) ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
