// `npm run check`: types of the appliance and of the console, lint, format, the rules of the tree (tests/tidy) and the rules of the contract (docs/assurance).
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeInterface } from './interface.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await makeInterface(); // the client of the interface is compiled against it

const bin = (tool) => path.join(root, 'node_modules/.bin', tool);
const node = (script, ...args) => [process.execPath, [path.join(root, 'scripts', script), ...args]];

/** Two at a time: each takes one processor, and the longest begin first. What waits for another stands behind it in the same row. */
const LANES = [
  [
    ['types', bin('tsc'), ['-p', '.']], // and their declarations, for the console
    ['types of the console', bin('tsc'), ['-p', 'src/console']], // the browser's
    ['tidy', ...node('test.mjs', 'tests/tidy')],
    ['assurance', ...node('assurance.mjs', '--check')],
    ['table of the benches', ...node('bench-gate.mjs', '--table', '--check')],
  ],
  [
    ['lint', bin('eslint'), ['src', 'runtime', 'tests', '--max-warnings', '0']],
    ['format', bin('biome'), ['format', '.']],
  ],
];

/** What it prints stands under its name, and not among that of another. @returns whether it holds. */
function held([name, tool, args]) {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(tool, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
    child.on('error', (fault) => said.push(Buffer.from(`${fault.message}\n`)));
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(said));
      console.log(`${code === 0 ? 'ok' : 'FAILED'}  ${name} (${((performance.now() - started) / 1000).toFixed(0)} s)`);
      resolve(code === 0);
    });
  });
}

async function all(checks) {
  const holding = [];
  for (const check of checks) holding.push(await held(check));
  return holding;
}

const results = (await Promise.all(LANES.map(all))).flat();
process.exit(results.every(Boolean) ? 0 : 1);
