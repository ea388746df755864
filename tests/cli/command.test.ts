/** The command as its people run it, against boxes that are made up: what reaches the terminal, and how it ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { consoleAddress } from '../../src/cli/console-address.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { failureOf, table } from '../../src/cli/remote/outcome.js';
import { plainText } from '../../src/cli/remote/plain.js';
import { LinesideCommand } from './lineside-command.js';

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-command-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const lineside = new LinesideCommand(folder);

const TITLE = '\u001b]0;owned\u0007';
const NAME = `mixer${TITLE}\u009b2J`;
const box = createServer(({ url = '' }, response) => {
  if (url.includes('/units/')) response.writeHead(404).end(JSON.stringify({ error: `no unit ${NAME}`, code: 'not_found' }));
  else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify([{ name: NAME, description: 'two\nlines\u202e' }]));
});
await new Promise<void>((resolve) => void box.listen(0, '127.0.0.1', resolve));
t.teardown(() => void box.close());
const url = `http://127.0.0.1:${(box.address() as AddressInfo).port}`;
new KnownBoxes(path.join(folder, 'lineside')).keep('made-up', { url, username: '', accessToken: '', refreshToken: '', site: 'north' }, { current: true });

t.test('what a box tells gives no orders to a terminal, in texts, in errors and in JSON, which a program reads as it was', async (t) => {
  const [listed, refused, json] = await Promise.all([lineside.run(['get', 'units']), lineside.run(['get', 'unit', 'x']), lineside.run(['get', 'units', '-o', 'json'])]);
  t.equal(listed.code, 0, listed.err);
  t.match(listed.out, 'mixer\\x1b]0;owned\\x07\\x9b2J');
  t.equal(plainText(listed.out), listed.out);
  t.equal(refused.code, 4);
  t.match(refused.err, 'no unit mixer\\x1b]0;owned');
  t.equal(plainText(refused.err), refused.err);
  t.equal(JSON.parse(json.out).data[0].name, NAME);
  t.equal(plainText(json.out), json.out);
});

t.test('a name with a line end makes no line of its own in a list', async (t) => {
  t.equal(table(['name', 'state'], [['a\nb\u001b[1m', 'ok']]), 'name         state\na\\nb\\x1b[1m  ok');
  t.equal(plainText('a\tb\nc\r'), 'a\tb\nc\\x0d');
});

t.test('a file that cannot be used is told with its path, and a fault of the command by an exit code of its own', async (t) => {
  writeFileSync(path.join(folder, 'a-file'), '');
  const [schemas, json, replay] = await Promise.all([
    lineside.run(['schemas', path.join(folder, 'a-file/x')]),
    lineside.run(['schemas', path.join(folder, 'a-file/x'), '-o', 'json']),
    lineside.run(['replay', path.join(folder, 'no-such-recording')]),
  ]);
  t.equal(schemas.code, 2);
  t.match(schemas.err, /^lineside: \S+a-file\/x\S*: a part of it is a file, not a folder\n$/);
  t.match(JSON.parse(json.out), { ok: false, exitCode: 2, error: { code: 'file_unusable', cause: 'ENOTDIR', file: /a-file/ } });
  t.equal(json.code, 2);
  t.notMatch(replay.err, /\n {4}at /, 'no stack');
  t.match(replay.err, 'no-such-recording');
  t.match(failureOf(new TypeError('x is undefined'), url), { exitCode: 70, told: { code: 'fault', stack: /command\.test/ } });
});

t.test('settings may come from a pipe that the shell has opened', async (t) => {
  const ended = await lineside.shell(`lineside check-config --data-dir '${folder}' --config <(echo 'gateway.policy.reasonMinLength: 33')`);
  t.match(ended, { code: 0, out: /33/ }, ended.err);
});

t.test('settings are checked without a start as far as it would refuse them: a group that is none requires nothing of anybody', async (t) => {
  const [required, granted] = await Promise.all([
    lineside.shell(`lineside check-config --data-dir '${folder}' --config <(echo 'auth.secondFactor.requiredFor: [lineside-admins]')`),
    lineside.shell(`lineside check-config --data-dir '${folder}' --config <(echo 'auth.roles: [{group: lineside-qa, tier: reed}]')`),
  ]);
  t.match(required, { code: 2, out: '', err: /^lineside: auth\.secondFactor\.requiredFor: lineside-admins is no role group; they are lineside-admin, / });
  t.match(granted, { code: 2, out: '', err: /^lineside: auth\.roles: .*reed/ });
});

t.test('the console is told under the name of the box, where its certificate and passkeys are good', async (t) => {
  const served = { scheme: 'https', port: 8090 } as const;
  t.equal(consoleAddress({ publicName: 'line3.plant.example', listen: '0.0.0.0' }, served), 'https://line3.plant.example:8090/hmi');
  t.equal(consoleAddress({ publicName: null, listen: '0.0.0.0' }, served), 'https://localhost:8090/hmi');
  t.equal(consoleAddress({ publicName: null, listen: '::' }, served), 'https://localhost:8090/hmi');
  t.equal(consoleAddress({ publicName: null, listen: 'fd00::7' }, served), 'https://[fd00::7]:8090/hmi');
  t.equal(consoleAddress({ publicName: null, listen: '192.0.2.1' }, { scheme: 'http', port: 80 }), 'http://192.0.2.1:80/hmi');
});

t.test('a command whose reader has gone ends without a word', async (t) => {
  const routes = await lineside.shell('set -o pipefail; lineside routes | head -1');
  t.equal(routes.err, '');
  t.match(routes.out, /^GET|^POST|^DELETE|^PUT/);
  const disk = await lineside.shell(`set -o pipefail; lineside doctor disk --write --blocks 2000 --data-dir '${folder}' 2> >(grep -v 'lineside: writes' >&2) | head -1`);
  t.match(disk, { code: 141, err: '', out: /kept/ });
});
