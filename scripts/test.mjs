// `npm test`: installs, builds and runs the tap suites on the built output, then says `N passed, N failed`.
// Arguments are name filters: `npm test -- language chart` runs the suites whose path contains one of the words.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();

function suites(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return suites(name);
    return entry.name.endsWith('.test.js') ? [path.relative(root, name)] : [];
  });
}

const words = process.argv.slice(2);
const chosen = suites(path.join(root, DIST, 'tests')).filter((name) => words.length === 0 || words.some((word) => name.includes(word)));

/** Suites of a whole appliance, whose plant runs in real time: they get the machine to themselves. */
const WHOLE_APPLIANCE = /tests\/(console\/|contract\/|faults\/|plant\/|domains\/records\/|domains\/rehearsal\/rehearsal|domains\/units\/runtime|runtime\/replay\/recordings)/;

mkdirSync(path.join(root, '.tap'), { recursive: true });
const alone = chosen.filter((name) => WHOLE_APPLIANCE.test(name));
const totals = { pass: 0, fail: 0, skip: 0, todo: 0 };
run(
  'side-by-side',
  2,
  chosen.filter((name) => !alone.includes(name)),
);
run('alone', 1, alone);
console.log(`${totals.pass} passed, ${totals.fail} failed, ${totals.skip + totals.todo} skipped`);
process.exit(totals.fail > 0 || totals.pass === 0 ? 1 : 0);

function run(name, jobs, files) {
  if (files.length === 0) return;
  const output = path.join(root, '.tap', `${name}-${process.pid}.tap`);
  const tap = path.join(root, 'node_modules/.bin/tap');
  spawnSync(tap, ['run', '--disable-coverage', '-R', 'silent', `--jobs=${jobs}`, '-t', '180', `--output-file=${output}`, ...files], { cwd: root, stdio: 'inherit' });
  const text = existsSync(output) ? readFileSync(output, 'utf8') : '';
  const counts = [...text.matchAll(/^# \{ (total: .*?) \}$/gm)].at(-1);
  if (!counts) {
    console.log(text.split('\n').slice(-40).join('\n'));
    totals.fail += 1;
    return;
  }
  const count = Object.fromEntries(counts[1].split(', ').map((part) => part.split(': ')));
  for (const key of Object.keys(totals)) totals[key] += Number(count[key] ?? 0);
  if (Number(count.fail ?? 0) > 0) printFailures(text);
}

/** The failed tests with all that stands under them. */
function printFailures(text) {
  let depth = -1;
  for (const line of text.split('\n')) {
    const failing = line.match(/^(\s*)not ok /);
    if (failing) depth = failing[1].length;
    else if (depth >= 0 && /^\s*(ok |1\.\.|# )/.test(line) && line.search(/\S/) <= depth) depth = -1;
    if (depth >= 0) console.log(line);
  }
}
