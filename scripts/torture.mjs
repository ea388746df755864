// `npm run torture [words] [-- --long --rounds N --seed N]`: kills, power cuts and worse; see tests/torture/scenarios.ts.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();
const run = spawnSync(process.execPath, ['--enable-source-maps', path.join(root, DIST, 'tests/torture/torture.js'), ...process.argv.slice(2)], { stdio: 'inherit', cwd: root });
process.exit(run.status ?? 1);
