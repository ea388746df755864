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
mkdirSync(path.join(root, '.tap'), { recursive: true });
const output = path.join(root, '.tap', `run-${process.pid}.tap`);
const tap = path.join(root, 'node_modules/.bin/tap');
spawnSync(tap, ['run', '--disable-coverage', '-R', 'silent', '--jobs=2', '-t', '120', `--output-file=${output}`, ...chosen], { cwd: root, stdio: 'inherit' });

const text = existsSync(output) ? readFileSync(output, 'utf8') : '';
const totals = [...text.matchAll(/^# \{ (total: .*?) \}$/gm)].at(-1);
if (!totals) {
  console.log(text.split('\n').slice(-40).join('\n'));
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const count = Object.fromEntries(totals[1].split(', ').map((part) => part.split(': ')).map(([key, value]) => [key, Number(value)]));
if (count.fail > 0) {
  let depth = -1;
  for (const line of text.split('\n')) {
    const failing = line.match(/^(\s*)not ok /);
    if (failing) depth = failing[1].length;
    else if (depth >= 0 && /^\s*(ok |1\.\.|# )/.test(line) && line.search(/\S/) <= depth) depth = -1;
    if (depth >= 0) console.log(line);
  }
}
console.log(`${count.pass ?? 0} passed, ${count.fail ?? 0} failed, ${(count.skip ?? 0) + (count.todo ?? 0)} skipped`);
process.exit((count.fail ?? 0) > 0 || !(count.pass > 0) ? 1 : 0);
