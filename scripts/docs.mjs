// Makes the pages that the appliance serves at /docs out of docs/: markdown to HTML, one stylesheet, one small script, and the index that
// the script searches. All of it lies packed in dist/docs, as it is sent; nothing of it needs anything from outside.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/** In this order on the index; `first` stands before the others, which follow by their names. A page of no section is not served. */
export const SECTIONS = [
  { title: 'Begin', about: 'From nothing to a running batch.', folder: 'begin' },
  {
    title: 'Engineering',
    about: 'How to describe a plant, with examples that are tried against an appliance.',
    folder: 'engineering',
    first: ['names-and-tags', 'modbus', 'simulation', 'recipes', 'coordination', 'historian'],
  },
  { title: 'Operations', about: 'How to run the box, and what to do when something is wrong.', folder: 'operations' },
  { title: 'Security', about: 'What stands against whom, and what does not.', folder: 'security', first: ['README'] },
  { title: 'Reference', about: 'Tables made from the code: settings, refusals, blocks, simulation, routes.', folder: 'reference', first: ['refusals'] },
  { title: 'Contract', about: 'The interface page by page, and each single statement of it.', folder: 'contract', first: ['README'] },
  { title: 'Inside', about: 'Who runs where, and what changed.', files: ['docs/architecture.md', 'CHANGELOG.md'] },
  { title: 'Adding a thing', about: 'For who extends the product.', folder: 'add', first: ['README'], files: ['CONTRIBUTING.md'] },
  { title: 'Why', about: 'Half a page for each choice that someone may question.', folder: 'adr' },
];
const PAGES_ROOT = '/docs';
const INDEX = 'docs/README.md';

/** Sources of the pages, from the root of the tree. */
export function documentFiles(root) {
  return [INDEX, ...SECTIONS.flatMap((section) => filesOf(root, section))];
}

function filesOf(root, { folder, first = [], files = [] }) {
  const place = path.join(root, 'docs', folder ?? '-');
  const names = folder !== undefined && existsSync(place) ? readdirSync(place).filter((name) => /\.md$|^routes\.txt$/.test(name)) : [];
  const rank = (name) => (first.includes(bare(name)) ? first.indexOf(bare(name)) : first.length);
  names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return [...names.map((name) => `docs/${folder}/${name}`), ...files];
}

const bare = (name) => name.replace(/\.\w+$/, '');

/** Address of the page of a source file. */
export function addressOf(file) {
  if (file === INDEX) return PAGES_ROOT;
  const inside = file.startsWith('docs/') ? file.slice('docs/'.length) : file.toLowerCase();
  return `${PAGES_ROOT}/${bare(inside).replace(/README$/, 'index')}.html`;
}

/** Text in HTML. */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Anchors as GitHub makes them, so that a link works there and here. */
function slugger() {
  const used = new Map();
  return (text) => {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

/** What a person reads of the tokens. */
function plainText(tokens = []) {
  return tokens
    .map((token) => {
      if (token.type === 'table') return [token.header, ...token.rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' ')).join(' ');
      if (token.type === 'list') return token.items.map((item) => plainText(item.tokens)).join(' ');
      if (token.type === 'space') return ' ';
      return token.tokens ? `${plainText(token.tokens)}${token.type === 'paragraph' ? ' ' : ''}` : (token.text ?? '');
    })
    .join('');
}

/** The tab-separated lines of the routes as a page. */
function routesPage(text) {
  const rows = text
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  const lines = rows.map(([method, address, action, tier]) => `| ${method} | \`${address}\` | ${action === '-' ? '' : `\`${action}\``} | ${tier} |`);
  const about = 'Every route with the action that it needs and the tier that has it. Bodies, parameters and answers: `GET /api/v1/openapi.json`.';
  return `# Routes\n\n${about}\n\n| Method | Path | Action | Tier |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}

/** One page: its title, its body as HTML, its headings, and its sections as text for the search. */
function pageOf(file, text, served, { Marked }) {
  const slug = slugger();
  const headings = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const id = slug(plainText(tokens));
        headings.push({ id, depth, html: this.parser.parseInline(tokens), text: plainText(tokens) });
        if (depth === 1) return `<h1 id="${id}">${this.parser.parseInline(tokens)}</h1>\n`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Address of this heading">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(file, href, served);
        if (target.address !== undefined) return `<a href="${escaped(target.address)}">${inner}</a>`;
        // what the box does not serve is named, so that a person finds it elsewhere
        return plainText(tokens) === target.told ? `<code>${escaped(target.told)}</code>` : `${inner} (<code>${escaped(target.told)}</code>)`;
      },
      table(token) {
        const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        return `<div class="table" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`;
      },
      code({ text: code, lang = '' }) {
        const words = lang.split(' ').slice(1).join(' ');
        return `${words === '' ? '' : `<p class="told">${escaped(words)}</p>`}<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`;
      },
      // `<phase>` is a word for what the reader puts there
      html: ({ text: raw }) => (raw.startsWith('<!--') ? '' : escaped(raw)),
      image: ({ text: words }) => escaped(words),
    },
  });
  const tokens = marked.lexer(text);
  const html = marked.parser(tokens);
  return { file, address: addressOf(file), title: headings.find(({ depth }) => depth === 1)?.text ?? file, html, headings, parts: partsOf(tokens, headings) };
}

/** Where a link leads: the address of a page, or what to tell of a file that is not served. */
function targetOf(file, href, served) {
  if (href.startsWith('#')) return { address: href };
  if (/^[a-z]+:/.test(href)) return { told: href };
  const [place, anchor] = href.split('#');
  const target = path.posix.join(path.posix.dirname(file), place);
  if (!served.has(target)) return { told: target };
  return { address: addressOf(target) + (anchor === undefined ? '' : `#${anchor}`) };
}

/** The page cut at its headings: what the search finds and jumps to. */
function partsOf(tokens, headings) {
  const parts = [];
  let at = 0;
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { id, text, depth } = headings[at];
      parts.push({ id: depth === 1 ? '' : id, heading: text, text: '' });
      at += 1;
    } else if (parts.length > 0) parts.at(-1).text += ` ${plainText([token])}`;
  }
  return parts.map((part) => ({ ...part, text: part.text.replace(/\s+/g, ' ').trim() }));
}

/** First sentence below the title: what the index says of the page. */
function firstSentence({ parts }) {
  const text = parts[0]?.text ?? '';
  const end = text.search(/[.:](\s|$)/);
  return end > 0 && end < 160 ? text.slice(0, end + 1).replace(/:$/, '.') : '';
}

function navigation(sections, here) {
  return sections
    .map(({ title, pages }) => {
      const open = pages.some((page) => page === here) || here === undefined;
      const links = pages.map((page) => `<li><a href="${page.address}"${page === here ? ' aria-current="page"' : ''}>${escaped(page.title)}</a></li>`).join('');
      return `<details${open ? ' open' : ''}><summary>${escaped(title)}</summary><ul>${links}</ul></details>`;
    })
    .join('');
}

function contents({ headings }) {
  const listed = headings.filter(({ depth }) => depth === 2);
  if (listed.length < 3) return '';
  return `<nav class="contents" aria-label="On this page"><ul>${listed.map(({ id, html }) => `<li><a href="#${id}">${html.replace(/<\/?a\b[^>]*>/g, '')}</a></li>`).join('')}</ul></nav>`;
}

/** Contents before the first heading below the title, so that whoever comes from a search sees what else the page has. */
function withContents(page) {
  const at = page.html.indexOf('<h2 ');
  return at < 0 ? page.html : page.html.slice(0, at) + contents(page) + page.html.slice(at);
}

function frame({ title, body, nav, assets }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Lineside</title>
<link rel="icon" type="image/svg+xml" href="${assets['docs.svg']}">
<link rel="stylesheet" href="${assets['docs.css']}">
<script type="module" src="${assets['docs.js']}"></script>
</head>
<body>
<header class="bar">
<a class="brand" href="${PAGES_ROOT}">Lineside</a>
<form class="find" role="search"><input type="search" id="find" aria-label="Search the documents" placeholder="Search" autocomplete="off" spellcheck="false"></form>
<a class="to-pages" href="#pages">Pages</a>
<a class="to-console" href="/hmi">Console</a>
</header>
<section id="found" class="found" aria-label="Found" aria-live="polite" hidden></section>
<div class="frame">
<main><article>
${body}</article></main>
<nav id="pages" class="pages" aria-label="Pages">${nav}</nav>
</div>
</body>
</html>
`;
}

async function assetsOf(root) {
  const { build } = await import('esbuild');
  const own = path.join(root, 'src/console/docs');
  const { outputFiles } = await build({
    entryPoints: [path.join(own, 'docs.ts'), path.join(own, 'docs.css')],
    outdir: own,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  const icon = { path: 'docs.svg', contents: readFileSync(path.join(root, 'src/console/common/icon.svg')) };
  return [...outputFiles, icon].map(({ path: file, contents }) => ({ name: path.basename(file), bytes: Buffer.from(contents) }));
}

/** Writes all of it below `folder`, packed: `reference/refusals.html.gz`. */
export async function buildDocuments(root, folder) {
  const library = await import('marked');
  const served = new Set(documentFiles(root));
  const read = (file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return pageOf(file, file.endsWith('.txt') ? routesPage(text) : text, served, library);
  };
  const sections = SECTIONS.map((section) => ({ ...section, pages: filesOf(root, section).map(read) })).filter(({ pages }) => pages.length > 0);
  const index = read(INDEX);

  rmSync(folder, { recursive: true, force: true });
  const write = (name, bytes) => {
    const file = path.join(folder, `${name}.gz`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, gzipSync(bytes, { level: 9 }));
  };
  const assets = {};
  for (const { name, bytes } of await assetsOf(root)) {
    const print = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
    const { name: stem, ext } = path.parse(name);
    const file = `assets/${stem}-${print}${ext}`; // its name changes with its content, so that it may be kept
    assets[name] = `${PAGES_ROOT}/${file}`;
    write(file, bytes);
  }
  const nameOf = (page) => (page === index ? 'index.html' : page.address.slice(PAGES_ROOT.length + 1));
  const overview = sections
    .map(({ title, about, pages }) => {
      const items = pages.map((page) => `<li><a href="${page.address}">${escaped(page.title)}</a> ${escaped(firstSentence(page))}</li>`).join('');
      return `<section><h2 id="${title.toLowerCase().replaceAll(' ', '-')}">${escaped(title)}</h2><p>${escaped(about)}</p><ul>${items}</ul></section>`;
    })
    .join('');
  write('index.html', frame({ title: index.title, body: `${index.html}<div class="overview">${overview}</div>`, nav: navigation(sections, undefined), assets }));
  const pages = sections.flatMap((section) => section.pages.map((page) => ({ page, section })));
  for (const { page, section } of pages) {
    const trail = `<p class="trail"><a href="${PAGES_ROOT}">Documents</a> / ${escaped(section.title)}</p>`;
    write(nameOf(page), frame({ title: page.title, body: trail + withContents(page), nav: navigation(sections, page), assets }));
  }
  const all = [index, ...pages.map(({ page }) => page)];
  const found = all.map((page) => [page.address, page.title, page.parts.map(({ id, heading, text }) => [id, heading, text])]);
  write('search.json', JSON.stringify(found));
  return all.length;
}
