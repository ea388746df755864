/** What the appliance and those who look after it load and know of themselves. */
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { productOf } from '../../src/cli/product.js';

t.test('the package knows the commit that it was made of, a checkout none', async (t) => {
  const of = (files: Readonly<Record<string, string>>): URL => pathToFileURL(`${t.testdir(files)}/`);
  const manifest = JSON.stringify({ version: '1.2.3' });
  t.same(productOf(of({ 'package.json': manifest })), { version: '1.2.3', commit: '' });
  t.same(productOf(of({ 'package.json': manifest, 'build.json': JSON.stringify({ version: '1.2.3', commit: 'abc', changed: false }) })), { version: '1.2.3', commit: 'abc' });
  t.same(productOf(of({ 'package.json': manifest, 'build.json': JSON.stringify({ commit: 'abc', changed: true }) })), { version: '1.2.3', commit: 'abc+changed' });
});
