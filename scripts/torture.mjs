// `npm run torture [words] [-- --long --rounds N --seed N --within S]`: kills, power cuts and worse; see tests/torture/scenarios.ts.
// Peers of the scenarios are installed as for the tests (peers.mjs); what needs an absent one is skipped by name, in CI failed.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';
import { installPeers, sayAbsent } from './peers.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();
const parts = ['clock', 'two-boxes'].map((name) => path.join(root, DIST, 'tests/torture', `${name}.js`));
const absent = installPeers({ suites: [...parts, path.join(root, DIST, 'tests/smoke/modbus-device.js')] });
sayAbsent(absent, () => 'scenarios');
const without = absent.flatMap(({ name }) => ['--absent', name]);
const run = spawnSync(process.execPath, ['--enable-source-maps', path.join(root, DIST, 'tests/torture/torture.js'), ...process.argv.slice(2), ...without], {
  stdio: 'inherit',
  cwd: root,
});
if (run.signal) console.log(`ended by ${run.signal}: somebody, or the machine, killed it`);
process.exit(run.status ?? 1);
