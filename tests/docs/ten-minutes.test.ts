/**
 * docs/engineering/ten-minutes.md, typed from its first line to its last: `npm start` of this checkout, and the command by the alias that the page
 * makes. What is looked at in a browser answers, and what the page says of mistakes is what the box says.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { freePort } from '../support/appliance-process.js';
import { playPage, type Printed } from './console-page.js';
import { Shell } from './shell.js';

const PAGE = 'docs/engineering/ten-minutes.md';
const PASSWORD = 'ten minutes of resin';
const CHECKOUT = process.cwd();
const COMMISSIONED = /commissioning code\s+(\w{4}-\w{4}-\w{4})\s/;

const shell = new Shell(t);
const port = await freePort();
let code = 'XXXX-XXXX-XXXX';
/** By the alias. */
let command = '';
let told: Promise<Printed> | undefined;

/** The page tells a person to have port 8090; here it is a free one, by the variable that the page names. */
const instead = (text: string): string => text.replaceAll('8090', String(port)).replaceAll('XXXX-XXXX-XXXX', code);

async function npm(args: readonly string[]): Promise<Printed> {
  t.same(args, ['start']);
  const environment = { LINESIDE_GATEWAY__HTTPPORT: String(port), LINESIDE_GATEWAY__LISTEN: 'localhost' };
  const started = await shell.run(process.execPath, ['scripts/start.mjs', '--data-dir', path.join(shell.folder, 'data')], {
    folder: CHECKOUT,
    environment,
    ready: COMMISSIONED,
  });
  code = COMMISSIONED.exec(started.text)?.[1] ?? code;
  return started;
}

function alias(words: readonly string[]): Promise<Printed> {
  const [, file = ''] = /^lineside="node \$PWD\/(\S+)"$/.exec(words.join(' ')) ?? [];
  command = path.join(CHECKOUT, file);
  return Promise.resolve({ text: '', exitCode: 0 });
}

function lineside(args: readonly string[], ready?: RegExp): Promise<Printed> {
  const more = args[0] === 'login' ? ['--password-stdin'] : [];
  return shell.run(process.execPath, [command, ...args, ...more], { input: `${PASSWORD}\n`, ...(ready ? { ready } : {}) });
}

t.test('the page of ten minutes leads from npm start to the record of a batch', async (t) => {
  const page = readFileSync(PAGE, 'utf8');
  const given = await playPage(t, PAGE, {
    programs: { npm, alias, lineside: (args) => lineside(args) },
    instead,
    done: (text) => {
      // as the page says, in a terminal of its own
      if (text.startsWith('lineside get units')) told = lineside(['watch'], /B-1/);
    },
  });
  t.ok(given >= 14, `${given} commands`);
  t.match(readFileSync(path.join(shell.folder, 'B-1.xml'), 'utf8'), /<BatchID>B-1<\/BatchID>[^]*viscosity/i);
  t.match(await told, { exitCode: 0, text: /B-1/ }, '`lineside watch` has told of the batch');

  const addresses = new Set([...page.matchAll(/`(http:\/\/localhost:8090[^`…]*)`/g)].map(([, address = '']) => instead(address)));
  t.ok(addresses.size > 0);
  for (const address of addresses) t.equal((await fetch(address)).status, 200, address);

  const mistakes: Readonly<Record<string, readonly string[]>> = {
    'does not answer': ['login', `localhost:${await freePort()}`, '--user', 'anna'],
    'there is an administrator already': ['login', `localhost:${port}`, '--code', code, '--user', 'bert'],
    'reason must be at least 10 characters': ['batch', 'reset', 'B-1', '--reason', 'ok'],
  };
  for (const [words, args] of Object.entries(mistakes)) {
    const { text, exitCode } = await lineside(args);
    t.ok(page.includes(`\`${words}\``) && text.includes(words) && exitCode > 0, `${words}: ${text}`);
  }
});
