/** The documents lead somewhere: every link of a page is to a file, and to a heading in it, that there is; every page that is served is linked from the index. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import t from 'tap';

const ROOT = process.cwd();
const BUILT = fileURLToPath(new URL('../../docs/', import.meta.url));

function below(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .sort();
}

const unpacked = (name: string): string => gunzipSync(readFileSync(path.join(BUILT, `${name}.gz`))).toString();
const served = below(BUILT, '.gz').map((name) => name.replace(/\.gz$/, ''));
const pages = new Map(served.filter((name) => name.endsWith('.html')).map((name) => [name, unpacked(name)]));
const anchorsOf = (html: string): Set<string> => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
const SOURCES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...below(path.join(ROOT, 'docs'), '.md').map((name) => `docs/${name}`)];

/** Anchors of a source, as its page has them; those of a file that is not served are not known. */
function anchorsOfSource(file: string): Set<string> | undefined {
  const name = file
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.md')
    .replace(/\.\w+$/, '.html');
  const html = pages.get(name) ?? pages.get(name.toLowerCase());
  return html === undefined ? undefined : anchorsOf(html);
}

t.test('every link of a source is to a file, and to a heading, that there is', async (t) => {
  const dangling: string[] = [];
  let count = 0;
  for (const file of SOURCES) {
    const text = readFileSync(path.join(ROOT, file), 'utf8')
      .replace(/```.*?```/gs, '')
      .replace(/`[^`\n]*`/g, '');
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      count += 1;
      const [place = '', anchor] = link.split('#');
      const target = place === '' ? file : path.posix.join(path.posix.dirname(file), place);
      if (!existsSync(path.join(ROOT, target))) dangling.push(`${file}: ${link}`);
      else if (anchor !== undefined && !anchorsOfSource(target)?.has(anchor)) dangling.push(`${file}: ${link}: no such heading`);
    }
  }
  t.ok(count > 50, `${count} links`);
  t.same(dangling, []);
});

t.test('every address in a served page is served, and nothing of it lies outside', async (t) => {
  t.ok(pages.size > 60, `${pages.size} pages`);
  const dangling: string[] = [];
  const OTHER_PAGES = ['/hmi'];
  for (const [name, html] of pages) {
    for (const [, address = ''] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      const [place = '', anchor] = address.split('#');
      if (OTHER_PAGES.includes(place)) continue;
      const target = place === '' ? name : place === '/docs' ? 'index.html' : place.replace(/^\/docs\//, '');
      if (!served.includes(target)) dangling.push(`${name}: ${address}`);
      else if (anchor !== undefined && !anchorsOf(pages.get(target) ?? '').has(anchor)) dangling.push(`${name}: ${address}: no such heading`);
    }
    // the policy of the pages forbids both, so that they would not work
    if (/<script>|<script [^>]*>[^<]|<style| style="| on\w+="/.test(html)) dangling.push(`${name}: script or style inside the page`);
  }
  t.same(dangling, []);
});

t.test('the index names every page, and the search knows every part of it by an anchor that there is', async (t) => {
  const index = pages.get('index.html') ?? '';
  for (const name of pages.keys()) if (name !== 'index.html') t.ok(index.includes(`href="/docs/${name}"`), name);
  const indexed = JSON.parse(unpacked('search.json')) as [string, string, [string, string, string][]][];
  t.equal(indexed.length, pages.size);
  const lost = indexed.flatMap(([address, , parts]) => {
    const anchors = anchorsOf(pages.get(address === '/docs' ? 'index.html' : address.slice('/docs/'.length)) ?? '');
    return parts.filter(([id]) => id !== '' && !anchors.has(id)).map(([id]) => `${address}#${id}`);
  });
  t.same(lost, []);
  t.ok(
    indexed.some(([, , parts]) => parts.some(([, , text]) => text.includes('synchronous=FULL'))),
    'the text is there whole',
  );
});

t.test('every route that a page names is there', async (t) => {
  const routes = readFileSync(path.join(ROOT, 'docs/reference/routes.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t').slice(0, 2).join(' '));
  const shape = (route: string): string => route.replace(/\{[^}]*\}/g, '{}');
  const known = routes.map(shape);
  const lost: string[] = [];
  let count = 0;
  for (const file of SOURCES.filter((name) => /^docs\/(engineering|reference|operations)\//.test(name))) {
    const text = readFileSync(path.join(ROOT, file), 'utf8').replace(/```.*?```/gs, '');
    for (const [, method = '', address = ''] of text.matchAll(/`(GET|POST|PUT|DELETE) ([/…][^\s`?]*)/g)) {
      count += 1;
      const asked = shape(address);
      const isThere = asked.startsWith('…') ? known.some((route) => route.startsWith(`${method} `) && route.endsWith(asked.slice(1))) : known.includes(`${method} ${asked}`);
      if (!isThere) lost.push(`${file}: ${method} ${address}`);
    }
  }
  t.ok(count > 30, `${count} routes`);
  t.same(lost, []);
});
