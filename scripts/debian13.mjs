// `node scripts/debian13.mjs WORDS`: the suites whose path contains one of the words, on the Debian and the Node that the package is for. This checkout
// stands in that Debian as it is, with SQLite as the package has it in place of what was compiled here; the build goes into a folder of its own.
// Says `N passed, N failed`, as `npm test` does.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { install } from './build.mjs';
import { debianOf, debianWith, entered } from './package/debian.mjs';
import { installPrograms, PINS, root } from './package/facts.mjs';
import { fetched } from './package/fetched.mjs';
import { sqlite } from './package/native.mjs';
import { production as installProduction } from './package/production.mjs';

/** What the suites of these folders talk to is installed by themselves (scripts/peers.mjs); these are what every suite may call. */
const PACKAGES = ['ca-certificates', 'git', 'procps', 'python3', 'libatomic1', 'libstdc++6'];
const HERE = '/lineside';
const MODULE = 'node_modules/better-sqlite3/build/Release';

installPrograms();
await install();
const log = console.log;
const builder = debianOf('builder', { log });
const node = fetched(PINS.node, { log });
const compiled = sqlite({ builder, production: installProduction({ log }), node, headers: fetched(PINS.headers, { log }), nodeGyp: fetched(PINS.nodeGyp, { log }), log });
const module = path.join(path.dirname(compiled.entry.from), 'debian13-sqlite');
mkdirSync(module, { recursive: true });
spawnSync('cp', [compiled.entry.from, path.join(module, 'better_sqlite3.node')]);

const [program, args] = entered(debianWith(PACKAGES, { log }), ['/usr/local/lib/node/bin/node', 'scripts/test.mjs', ...process.argv.slice(2)], {
  cwd: HERE,
  binds: { [HERE]: root, [`${HERE}/${MODULE}`]: module, '/usr/local/lib/node': node },
  readOnly: ['/usr/local/lib/node'],
  env: { PATH: '/usr/local/lib/node/bin:/usr/sbin:/usr/bin:/sbin:/bin', LINESIDE_DIST: 'dist-debian13' },
});
const { status } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { PATH: process.env.PATH } });
process.exit(status ?? 1);
