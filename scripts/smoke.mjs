// `npm run smoke`: the product as its users meet it, from first start to batch record, as one automated run.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';
import { installPeers, sayAbsent } from './peers.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();
const absent = installPeers();
if (absent.length > 0) {
  console.log('the smoke run tells the whole story or nothing');
  sayAbsent(absent, () => 'smoke');
  process.exit(1);
}
const run = spawnSync(process.execPath, [path.join(root, DIST, 'tests/smoke/smoke.js')], { stdio: 'inherit', cwd: root });
process.exit(run.status ?? 1);
