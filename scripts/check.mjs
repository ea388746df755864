// `npm run check`: types, lint, format. The import table and the tidy rules are a tap suite (tests/tidy).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();

const CHECKS = [
  ['types', 'tsc', ['-p', '.']],
  ['console types', 'tsc', ['-p', 'src/console'], () => existsSync(path.join(root, 'src/console/tsconfig.json'))],
  ['lint', 'eslint', ['src', 'runtime', 'tests', '--max-warnings', '0']],
  ['format', 'biome', ['format', '.']],
];

let failed = 0;
for (const [name, tool, args, applies] of CHECKS) {
  if (applies && !applies()) continue;
  const run = spawnSync(path.join(root, 'node_modules/.bin', tool), args, { cwd: root, stdio: 'inherit' });
  console.log(`${run.status === 0 ? 'ok' : 'FAILED'}  ${name}`);
  if (run.status !== 0) failed += 1;
}
process.exit(failed > 0 ? 1 : 0);
