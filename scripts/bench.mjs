// `npm run bench [words]`: runs the benches whose name contains one of the words; each compares the product with its
// named limit or peer, interleaved in one run, and prints a table.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();
const folder = path.join(root, DIST, 'tests/bench');
const words = process.argv.slice(2);
const benches = readdirSync(folder).filter((name) => name.endsWith('.bench.js') && (words.length === 0 || words.some((word) => name.includes(word))));
let failed = 0;
for (const name of benches) {
  console.log(`\n# ${name.replace('.bench.js', '')}`);
  const run = spawnSync(process.execPath, ['--expose-gc', path.join(folder, name)], { stdio: 'inherit', cwd: root });
  if (run.status !== 0) failed += 1;
}
process.exit(failed > 0 || benches.length === 0 ? 1 : 0);
