/** The pages of docs/add show what stands in the tree: every path, link and line of an example that they cite is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const ROOT = process.cwd();
const FOLDER = 'docs/add';
const pages = readdirSync(path.join(ROOT, FOLDER)).map((name) => ({ name, text: readFileSync(path.join(ROOT, FOLDER, name), 'utf8') }));
/** A path of the tree between backticks; `<…>` stands for what the reader puts there, and `…` in an example for lines left out. */
const PATHS = /`((?:src|runtime|tests|scripts|docs|demo)\/[\w./-]*)`/g;
const TREE = ['src', 'runtime'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8')),
);
/** As lines of a page, whatever they are indented by. */
const plain = (text: string): string => text.replace(/^\s+/gm, '').trim();
const lines = new Set(TREE.flatMap((text) => plain(text).split('\n')));

for (const { name, text } of pages) {
  t.test(`${FOLDER}/${name}`, async (t) => {
    const cited = [...text.matchAll(PATHS)].map((match) => match[1] ?? '');
    if (name !== 'README.md') t.ok(cited.length > 2, 'it names the files that are touched');
    for (const file of cited) t.ok(existsSync(path.join(ROOT, file)), file);
    for (const [, link = ''] of text.matchAll(/\]\(([^)#]+)\)/g)) t.ok(existsSync(path.join(ROOT, FOLDER, link)), link);
    for (const [, example = ''] of text.matchAll(/```tsx?\n(.*?)```/gs)) for (const line of plain(example).split('\n')) t.ok(line === '…' || lines.has(line), line);
  });
}

t.test('every page is in the list', async (t) => {
  const list = pages.find(({ name }) => name === 'README.md')?.text ?? '';
  for (const { name } of pages) if (name !== 'README.md') t.ok(list.includes(`(${name})`), name);
});
