// `npm run check`: types of the appliance and of the console, lint, format, the rules of the tree (tests/tidy) and the rules of the contract (docs/assurance).
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeInterface } from './interface.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await makeInterface(); // the client of the interface is compiled against it

const bin = (tool) => path.join(root, 'node_modules/.bin', tool);
const node = (script, ...args) => [process.execPath, [path.join(root, 'scripts', script), ...args]];

const CHECKS = [
  ['types', bin('tsc'), ['-p', '.']], // and their declarations, for the console
  ['types of the console', bin('tsc'), ['-p', 'src/console']], // the browser's
  ['lint', bin('eslint'), ['src', 'runtime', 'tests', '--max-warnings', '0']],
  ['format', bin('biome'), ['format', '.']],
  ['tidy', ...node('test.mjs', 'tests/tidy')],
  ['assurance', ...node('assurance.mjs', '--check')],
  ['table of the benches', ...node('bench-gate.mjs', '--table', '--check')],
];

let failed = 0;
for (const [name, tool, args] of CHECKS) {
  const run = spawnSync(tool, args, { cwd: root, stdio: 'inherit' });
  console.log(`${run.status === 0 ? 'ok' : 'FAILED'}  ${name}`);
  if (run.status !== 0) failed += 1;
}
process.exit(failed > 0 ? 1 : 0);
