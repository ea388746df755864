/** The boxes that a person has signed in to, kept by several commands at once. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import t from 'tap';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { ownFolder } from '../support/own-folder.js';
import { LinesideCommand } from './lineside-command.js';
import { boxContext, silentTerminal } from './support.js';

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

  t.test('a file that is a link stays one: what it leads to is written, and what killed commands left beside it goes', (t) => {
    const folder = ownFolder(t, {});
    const dotfiles = path.join(folder, 'dotfiles');
    mkdirSync(dotfiles);
    mkdirSync(path.join(folder, 'lineside'));
    symlinkSync('../dotfiles/second', path.join(folder, 'lineside', 'boxes.json'));
    symlinkSync('of-lineside', path.join(dotfiles, 'second'));
    const boxes = new KnownBoxes(path.join(folder, 'lineside'));
    boxes.keep('press', BOX);
    boxes.keep('hall', BOX);
    t.ok(lstatSync(boxes.file).isSymbolicLink());
    t.strictSame(Object.keys((JSON.parse(readFileSync(path.join(dotfiles, 'of-lineside'), 'utf8')) as { boxes: object }).boxes), ['press', 'hall']);
    t.strictSame(readdirSync(dotfiles).sort(), ['of-lineside', 'second']);
    t.end();
  });

  t.test('a name under which a box would be lost is refused', async (t) => {
    const folder = ownFolder(t, {});
    const boxes = new KnownBoxes(folder);
    for (const name of ['__proto__', 'constructor', 'prototype']) t.throws(() => boxes.keep(name, BOX), new RegExp(`no box can be called ${name}`), name);
    boxes.keep('toString', BOX);
    t.match(boxes.find('toString'), { name: 'toString', box: BOX });
    const { code, err } = await new LinesideCommand(folder).run(['login', '127.0.0.1:9', '--name', '__proto__']);
    t.equal(code, 2);
    t.match(err, /no box can be called __proto__/, 'before anybody is asked');
  });

  t.test('what stands in the place of the lock is told once, and the box is kept', (t) => {
    const folder = ownFolder(t, {});
    const lock = path.join(folder, 'boxes.json.lock');
    for (const stand of [() => writeFileSync(lock, 'no database at all'.repeat(100)), () => mkdirSync(lock), () => symlinkSync('nowhere/at/all', lock)]) {
      const said: string[] = [];
      const boxes = new KnownBoxes(folder, (text) => void said.push(text));
      rmSync(lock, { force: true });
      stand();
      boxes.keep('a', BOX);
      boxes.keep('b', BOX);
      t.strictSame(Object.keys(boxes.all().boxes).sort(), ['a', 'b']);
      t.equal(said.length, 1, said.join());
      t.match(said[0], /written without a lock.*boxes\.json\.lock cannot be used \(.+\)/);
      rmSync(lock, { recursive: true, force: true });
      boxes.forget('a');
      t.equal(said.length, 1, 'a lock that works is no news');
    }
    t.end();
  });

  t.test('new tokens that cannot be kept are used, and told once', async (t) => {
    const heard: string[] = [];
    const server = createServer((request, response) => {
      const token = request.headers.authorization ?? '';
      heard.push(`${request.url} ${token}`);
      if (request.url?.endsWith('/auth/refresh')) response.end(JSON.stringify({ accessToken: `new-${heard.length}`, refreshToken: `r-${heard.length}` }));
      else if (token === 'Bearer a' || heard.length === 5) response.writeHead(401).end('{"error": "over", "code": "token_expired"}');
      else response.end('[]');
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    const folder = ownFolder(t, {});
    // there is no room for the file beside it: nobody, the administrator neither, can write it
    const full = path.join(folder, 'x'.repeat(250));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(full, JSON.stringify({ current: 'box', boxes: { box: { ...BOX, url } } }), { mode: 0o600 });
    symlinkSync(full, path.join(folder, 'boxes.json'));
    const said: string[] = [];
    const { box } = boxContext(new KnownBoxes(folder), [], {}, silentTerminal(said));
    t.strictSame(await box.typed.get('/api/v1/sites', {}), []);
    t.strictSame(await box.typed.get('/api/v1/sites', {}), []);
    t.strictSame(heard.slice(0, 3), ['/api/v1/sites Bearer a', '/api/v1/auth/refresh ', '/api/v1/sites Bearer new-2'], 'sent again');
    t.strictSame(heard.slice(3), ['/api/v1/sites Bearer new-2']);
    t.strictSame(await box.typed.get('/api/v1/sites', {}), [], 'once more, with the token that stands in no file');
    t.strictSame(heard.slice(4), ['/api/v1/sites Bearer new-2', '/api/v1/auth/refresh ', '/api/v1/sites Bearer new-6']);
    t.equal(said.length, 1, said.join());
    t.match(said[0], /tokens of box are new and cannot be kept in .*boxes\.json \(.+\); the next command may have to sign in again/);
  });
}
