/** Addresses of views inside the console lead to views that there are (src/console/hmi/views.ts): their names are text for the compiler. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const CONSOLE = path.join(process.cwd(), 'src/console');
const sources = readdirSync(CONSOLE, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));

t.test('each address names a view, and each view one address', async (t) => {
  const names = sources.flatMap((text) => [...text.matchAll(/: ViewDefinition = \{\s*name: '([^']+)'/g)].map(([, name]) => name));
  t.ok(names.length >= 7, names.join());
  t.equal(new Set(names).size, names.length, names.join());
  const called = sources.flatMap((text) => [...text.matchAll(/\b(?:addressOf|show)\('([^']+)'/g)].map(([, name]) => name));
  t.ok(called.length > 3);
  t.same(
    called.filter((name) => !names.includes(name)),
    [],
  );
});

t.test('each view stands in the table', async (t) => {
  const table = readFileSync(path.join(CONSOLE, 'hmi/views.ts'), 'utf8');
  const views = sources.flatMap((text) => [...text.matchAll(/export const (\w+): ViewDefinition =/g)].map(([, name]) => name ?? ''));
  const list = /VIEWS[^=]*= \[(.*?)\]/s.exec(table)?.[1] ?? '';
  t.same(
    list
      .split(',')
      .map((name) => name.trim())
      .sort(),
    views.sort(),
  );
});
