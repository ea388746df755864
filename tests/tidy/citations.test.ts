/** What the comments cite is there: a page of docs/contract with that heading, or the number of a decision. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { at } from '../support/at.js';

const PAGES = path.join(process.cwd(), 'docs/contract');

function headings(page: string): string[] {
  return [...readFileSync(path.join(PAGES, page), 'utf8').matchAll(/^#{1,3} (.+)$/gm)].map((match) => at(match, 1).toLowerCase());
}

/** All text of the sources, a comment that runs over several lines as one. */
function texts(folder: string): { readonly file: string; readonly text: string }[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => ({ file, text: readFileSync(file, 'utf8').replace(/\n\s*(?:\*|\/\/) ?/g, ' ') }));
}

const SOURCES = ['src', 'runtime', 'tests'].flatMap(texts).filter(({ file }) => !file.includes('citations.test'));

function citations(pattern: RegExp): { readonly file: string; readonly cited: RegExpMatchArray }[] {
  return SOURCES.flatMap(({ file, text }) => [...text.matchAll(pattern)].map((cited) => ({ file, cited })));
}

t.test('every section of the contract that is cited has its heading', async (t) => {
  const pages = readdirSync(PAGES).filter((name) => /^[123]-/.test(name));
  const known = new Map(pages.map((name) => [name[0], headings(name)]));
  const found = citations(/\bcontract ([123]), ([A-Z][\w/ -]*)/g);
  t.ok(found.length > 100, `${found.length} citations`);
  const lost = found.filter(
    ({ cited }) => !known.get(cited[1])?.some((heading) => heading.startsWith(at(cited, 2).toLowerCase()) || at(cited, 2).toLowerCase().startsWith(heading)),
  );
  t.strictSame([...new Set(lost.map(({ file, cited }) => `${file}: ${cited[0]}`))], []);
});

t.test('every numbered decision that is cited has its heading', async (t) => {
  const known = new Set(headings('decisions.md').map((heading) => heading.split(' ')[0]));
  const found = citations(/\bdecisions (\d\.\d+)/g);
  t.ok(found.length > 200, `${found.length} citations`);
  const lost = found.filter(({ cited }) => !known.has(cited[1]));
  t.strictSame([...new Set(lost.map(({ file, cited }) => `${file}: ${cited[0]}`))], []);
});

t.test('every decision with a statement of its own that is cited has it', async (t) => {
  const known = new Set([...readFileSync(path.join(PAGES, 'decisions-c.md'), 'utf8').matchAll(/^- (D-C-\d\d): /gm)].map((match) => at(match, 1)));
  const found = citations(/\b(D-C-\d+)/g);
  t.ok(found.length > 100, `${found.length} citations`);
  const lost = found.filter(({ file, cited }) => !known.has(at(cited, 1)) && !file.endsWith('assurance.test.ts'));
  t.strictSame([...new Set(lost.map(({ file, cited }) => `${file}: ${cited[0]}`))], []);
});
