// `npm run routes`: method, path, action and tier of every route, tab-separated.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const quiet = { log: () => undefined };
await install(quiet);
await build(quiet);
const run = spawnSync(process.execPath, [path.join(root, DIST, 'src/cli/lineside.js'), 'routes'], { stdio: 'inherit' });
process.exit(run.status ?? 1);
