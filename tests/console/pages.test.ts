/** What the panel reads of a site, by its source: lists come page by page. */
import { readFileSync } from 'node:fs';
import t from 'tap';

const SOURCE = readFileSync(new URL('../../../src/console/data/plant.ts', import.meta.url), 'utf8');

t.test('MES-46: what a panel reads again and again of a site is read by pages: a plant of any size is made in short turns', (t) => {
  const whole = [...SOURCE.matchAll(/\bget<([^(]*)>\(([^,)]*)/g)].map(([, type = '', path]) => [type, path]);
  t.same(whole, [['SiteOverview', "at('overview'"]], 'nothing but the overview is asked whole');
  const paged = [...SOURCE.matchAll(/\bgetAll<\w+>\(at\(`(\w+)\?/g)].map(([, list]) => list);
  for (const list of ['tags', 'controlmodules', 'units', 'prompts', 'alarms', 'phases']) t.ok(paged.includes(list), list);
  t.end();
});
