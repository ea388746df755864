/** What the appliance and those who look after it load and know of themselves. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { productOf } from '../../src/cli/product.js';
import { ownFolder } from '../support/own-folder.js';
import { COMMAND } from '../support/command.js';

t.test('note-end loads no command to a box: it runs where memory has just run out', async (t) => {
  const folder = ownFolder(t);
  const loadedBy = (...args: readonly string[]): readonly string[] => {
    const told = path.join(folder, args[0] ?? '');
    mkdirSync(told);
    const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { env: { PATH: process.env.PATH ?? '', NODE_V8_COVERAGE: told }, encoding: 'utf8' });
    t.equal(status, 0, stderr);
    return readdirSync(told).flatMap((file) =>
      (JSON.parse(readFileSync(path.join(told, file), 'utf8')) as { readonly result: readonly { readonly url: string }[] }).result.map(({ url }) => url),
    );
  };
  const remote = /\/remote-commands/;
  t.same(
    loadedBy('note-end', '--data-dir', folder).filter((url) => remote.test(url)),
    [],
  );
  t.ok(
    loadedBy('--help').some((url) => remote.test(url)),
    'the help of all commands has them',
  );
});

t.test('the package knows the commit that it was made of, a checkout none', async (t) => {
  const of = (files: Readonly<Record<string, string>>): URL => pathToFileURL(`${ownFolder(t, files)}/`);
  const manifest = JSON.stringify({ version: '1.2.3' });
  t.same(productOf(of({ 'package.json': manifest })), { version: '1.2.3', commit: '' });
  t.same(productOf(of({ 'package.json': manifest, 'build.json': JSON.stringify({ version: '1.2.3', commit: 'abc', changed: false }) })), { version: '1.2.3', commit: 'abc' });
  t.same(productOf(of({ 'package.json': manifest, 'build.json': JSON.stringify({ commit: 'abc', changed: true }) })), { version: '1.2.3', commit: 'abc+changed' });
});
