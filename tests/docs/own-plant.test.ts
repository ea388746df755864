/** docs/engineering/own-plant.md, typed from its first line to its last: the built command, an empty box of its own, the practice device on loopback. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { applianceProcess, freePort } from '../support/appliance-process.js';
import { playPage, type Printed } from './console-page.js';
import { COMMAND } from '../support/command.js';
import { Shell } from './shell.js';

const PAGE = 'docs/engineering/own-plant.md';
const FILES = 'examples/own-plant';
const PASSWORD = 'water for everybody';
const SIGNED = /^recipe (approve|release|activate) /;

const shell = new Shell(t);
const { folder } = shell;
const devicePort = await freePort();
const box = await applianceProcess({ dataDir: path.join(folder, 'plant-data') });
t.teardown(() => box.end());
let code = 'XXXX-XXXX-XXXX';

async function lineside(args: readonly string[]): Promise<Printed> {
  if (args[0] === 'start') {
    await box.start();
    code = await box.commissioningCode();
    return { text: box.output, exitCode: 0 };
  }
  const asksPassword = args[0] === 'login' || SIGNED.test(args.join(' '));
  return shell.run(process.execPath, [COMMAND, ...args, ...(asksPassword ? ['--password-stdin'] : [])], { input: `${PASSWORD}\n` });
}

const seconds = (begun: number): string => ((performance.now() - begun) / 1000).toFixed(1);

/** The page tells a person to have the ports that it names; here any free ones do. */
const instead = (text: string): string => text.replaceAll('8090', String(box.port)).replaceAll('1502', String(devicePort)).replaceAll('XXXX-XXXX-XXXX', code);

t.test('the page of an own plant leads from an empty box to the record of a batch and to the next version', async (t) => {
  cpSync(FILES, path.join(folder, 'own-plant'), { recursive: true });
  const io = path.join(folder, 'own-plant/20-io.yaml');
  writeFileSync(io, instead(readFileSync(io, 'utf8')));
  const begun = performance.now();
  const given = await playPage(t, PAGE, {
    programs: {
      lineside,
      node: (args) => shell.run(process.execPath, [...args, '--speed', '2'], { ready: /practice vessel on/ }),
      sed: (args) => shell.run('sed', args),
    },
    instead,
    done: (command) => {
      if (command.startsWith('lineside batch start W-1')) t.comment(`${seconds(begun)} s from the empty box to the running batch, with all that was tried by hand`);
    },
  });
  t.comment(`${given} commands in ${seconds(begun)} s of machine time`);
  t.ok(given >= 60, `${given} commands`);
  t.match(readFileSync(path.join(folder, 'W-1.xml'), 'utf8'), /<BatchID>W-1<\/BatchID>[^]*temperatureReached/);
  t.match(readFileSync(path.join(folder, 'W-2.xml'), 'utf8'), /<BatchID>W-2<\/BatchID>[^]*<ValueString>35<\/ValueString>/);
});
