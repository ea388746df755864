/** Shares that hang: whoever reads from one has an answer, and whoever ends the process an end. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { ownFolder } from '../support/own-folder.js';

const module = (name: string): string => new URL(`../../src/${name}.js`, import.meta.url).href;

/** A zombie has ended: strace, which holds it, has not looked yet. */
function hasEnded(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return true;
  }
}

t.test('a read of a file on a share that hangs ends with words, everybody else goes on, and the process ends', async (t) => {
  const folder = ownFolder(t);
  const file = path.join(folder, 'ca.pem');
  const beside = path.join(folder, 'cert.pem');
  for (const each of [file, beside]) writeFileSync(each, 'PEM');
  const program = path.join(folder, 'program.mjs');
  writeFileSync(
    program,
    `import { readOutsideFile } from '${module('platform/base/outside-file')}';
    import { systemClock as clock } from '${module('platform/base/clock')}';
    import { endProcess } from '${module('cli/end-process')}';
    const read = (name, answerMs = 300) => readOutsideFile(name, 100, { clock, answerMs }).then(String, ({ message }) => message);
    const told = await Promise.all([read('${file}'), read('${file}'), read('${beside}', 30_000)]);
    const again = await read('${file}');
    console.log(process.pid + '\\n' + JSON.stringify([...told, again]));
    endProcess(0, (text) => console.log(text));`,
  );
  const hangs = ['-f', '-qq', '-o', '/dev/null', '-P', file, '-e', 'trace=openat', '-e', 'inject=openat:delay_enter=60000000'];
  const held = spawn('strace', [...hangs, process.execPath, program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => held.kill('SIGKILL'));
  let out = '';
  held.stdout.on('data', (text: Buffer) => (out += text.toString()));
  await eventually('it ends', async () => out.split('\n').length > 3 || held.exitCode !== null);
  const [pid = '', told = '', why] = out.split('\n');
  const away = `${file} does not answer: the share that it lies on may be away`;
  t.same(JSON.parse(told), [away, away, 'PEM', away]);
  t.equal(why, `lineside ends by SIGKILL: a read of ${file} hangs in the kernel`);
  await eventually('it has ended', async () => hasEnded(pid));
});
