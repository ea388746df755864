/** A Node or a system that cannot load the binary of the web server is told which ones can, in one sentence, before anything is touched. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { COMMAND } from '../support/command.js';

const LOADER_SAID = "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by uws_linux_x64_137.node)";
/** As the loader of an older system answers for this binary. */
const PRELOAD = `
const load = process.dlopen;
process.dlopen = (module, file, ...more) => {
  if (file.includes('uws_')) throw new Error(${JSON.stringify(LOADER_SAID)});
  return load(module, file, ...more);
};
`;

t.test('a start that cannot load the web server ends with exit code 2 and one sentence that names what works', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-unloadable-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const preload = path.join(folder, 'preload.mjs');
  writeFileSync(preload, PRELOAD);
  const dataDir = path.join(folder, 'data');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', preload, COMMAND, 'start', '--data-dir', dataDir], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  t.equal(status, 2);
  t.equal(stdout, '');
  const lines = stderr.trim().split('\n');
  t.equal(lines.length, 1, stderr);
  t.match(lines[0], `uWebSockets.js) cannot be loaded by Node ${process.versions.node} on linux`);
  t.match(lines[0], 'Node 20 on Debian 12 or later (glibc 2.27), Node 22 and Node 24 on Debian 13 or later (glibc 2.38)');
  t.match(lines[0], LOADER_SAID, 'and what the loader said');
  t.notOk(existsSync(dataDir), 'no data directory was made');
});
