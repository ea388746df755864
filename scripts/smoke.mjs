// `npm run smoke`: the product as its users meet it, from first start to batch record, as one automated run.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();
const run = spawnSync(process.execPath, [path.join(root, DIST, 'tests/smoke/smoke.js')], { stdio: 'inherit', cwd: root });
process.exit(run.status ?? 1);
