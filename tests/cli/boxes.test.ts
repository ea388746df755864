/** The boxes that a person has signed in to, kept by several commands at once. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import t from 'tap';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { ownFolder } from '../support/own-folder.js';
import { LinesideCommand } from './lineside-command.js';

const BOX = { url: 'http://box:8090', username: 'anna', accessToken: 'a', refreshToken: 'r', site: '' };
const EACH = 60;

if (process.argv[2] === 'keep') {
  const [, , , folder = '', own = ''] = process.argv;
  const boxes = new KnownBoxes(folder);
  process.send?.('ready');
  await once(process, 'message');
  for (let n = 0; n < EACH; n += 1) {
    boxes.keep(`${own}-${n}`, BOX);
    if (n % 2 === 1) boxes.forget(`${own}-${n}`);
  }
  process.disconnect();
} else {
  t.test('two processes that keep and forget boxes at once lose none of them', async (t) => {
    const folder = ownFolder(t, {});
    const children = ['p', 'q'].map((own) => fork(fileURLToPath(import.meta.url), ['keep', folder, own], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] }));
    await Promise.all(children.map((child) => once(child, 'message')));
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) child.send('go');
    t.strictSame(
      (await Promise.all(ended)).map(([code]) => code as unknown),
      [0, 0],
    );
    const { boxes } = new KnownBoxes(folder).all();
    t.equal(Object.keys(boxes).length, EACH);
    for (const own of ['p', 'q']) for (let n = 0; n < EACH; n += 2) t.ok(Object.hasOwn(boxes, `${own}-${n}`), `${own}-${n}`);
  });

  t.test('sign-ins at once to several boxes are all kept', async (t) => {
    const box = createServer((_, response) => void response.end(JSON.stringify({ authMode: 'none' })));
    await new Promise<void>((resolve) => void box.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      box.closeAllConnections();
      box.close();
    });
    const folder = ownFolder(t, {});
    const command = new LinesideCommand(folder);
    const names = ['a', 'b', 'c', 'd'];
    const logins = names.map((name) => command.run(['login', `127.0.0.1:${(box.address() as AddressInfo).port}`, '--name', name]));
    for (const { code, err } of await Promise.all(logins)) t.equal(code, 0, err);
    t.strictSame(Object.keys(new KnownBoxes(path.join(folder, 'lineside')).all().boxes).sort(), names);
  });

  t.test('a token that was renewed does not bring back a box that was left, nor that of another person', (t) => {
    const boxes = new KnownBoxes(ownFolder(t, {}));
    boxes.keep('box', BOX);
    boxes.renew('box', 'r', { accessToken: 'a2', refreshToken: 'r2' });
    t.match(boxes.find('box')?.box, { accessToken: 'a2', refreshToken: 'r2', username: 'anna' });
    boxes.keep('box', { ...BOX, username: 'bert', refreshToken: 'of bert' });
    boxes.renew('box', 'r2', { accessToken: 'a3', refreshToken: 'r2' });
    t.match(boxes.find('box')?.box, { accessToken: 'a', refreshToken: 'of bert', username: 'bert' });
    boxes.forget('box');
    boxes.renew('box', 'of bert', { accessToken: 'a3', refreshToken: 'r3' });
    t.equal(boxes.find('box'), undefined);
    t.end();
  });
}
