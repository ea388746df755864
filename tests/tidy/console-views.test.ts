/** Addresses of views inside the console lead to views that there are (views.ts of each console): their names are text for the compiler. */
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

t.test('each view stands in a table, and an address of a view leads to a console that has it', async (t) => {
  const tablesOf = (folder: string): string[] => {
    const list = /VIEWS[^=]*= \[(.*?)\]/s.exec(readFileSync(path.join(CONSOLE, folder, 'views.ts'), 'utf8'))?.[1] ?? '';
    return list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  };
  const [panel, desk] = [tablesOf('hmi'), tablesOf('desk')];
  const views = sources.flatMap((text) =>
    [...text.matchAll(/export const (\w+): ViewDefinition = \{\s*name: '([^']+)'/g)].map(([, constant = '', name = '']) => ({ constant, name })),
  );
  t.same([...new Set([...panel, ...desk])].sort(), views.map(({ constant }) => constant).sort());
  const onlyIn = /ONLY_IN[^=]*= \{(.*?)\}/s.exec(readFileSync(path.join(CONSOLE, 'data/view.ts'), 'utf8'))?.[1] ?? '';
  const told = [...onlyIn.matchAll(/([\w-]+)'?: '([^']+)'/g)].map(([, name, console]) => `${name} ${console}`).sort();
  const alone = views.flatMap(({ constant, name }) => (panel.includes(constant) === desk.includes(constant) ? [] : [`${name} ${panel.includes(constant) ? '/hmi' : '/data'}`]));
  t.same(told, alone.sort());
});
