// Builds the operator console: three pages that need nothing but themselves, since the gateway sends CSP default-src 'self'
// and the panel has no way to the internet. With the mode `sheet` it builds the page that shows every part in every state, for developers and tests: beside
// the consoles, since no plant serves it.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import preact from '@preact/preset-vite';
import { defineConfig } from 'vite';

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.resolve(here, '../..', process.env.LINESIDE_DIST ?? 'dist');

/** Output folder and pages, by the mode: the name of a page, its folder, its title until it has drawn one, and what else its root says. */
const PAGES = {
  production: [
    'console',
    [
      { name: 'login', folder: 'login', title: 'Lineside: sign in' },
      { name: 'hmi', folder: 'hmi', title: 'Lineside' },
      { name: 'data', folder: 'desk', title: 'Lineside', root: ' data-density="desk"' },
    ],
  ],
  sheet: ['parts-sheet', [{ name: 'sheet', folder: 'sheet', title: 'Lineside parts' }]],
};

const fileOf = ({ folder }) => path.join(here, folder, 'index.html');

/** All pages begin alike: what differs stands in the table. */
const page = ({ title, root = '' }) => `<!doctype html>
<html lang="en"${root}>
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title}</title>
    <link rel="icon" type="image/svg+xml" href="../common/icon.svg" />
  </head>
  <body>
    <div id="app"></div>
    <script type="module" src="./main.tsx"></script>
  </body>
</html>
`;

const pagesOf = (pages) => {
  const texts = new Map(pages.map((each) => [fileOf(each), page(each)]));
  return { name: 'pages', enforce: 'pre', resolveId: (id) => (texts.has(id) ? id : null), load: (id) => texts.get(id) ?? null };
};

/**
 * Cascade layers, the later ones count for more: in whatever order a page loads style sheets, a view changes a part of it, and the phone changes
 * all of them. A style sheet is of the layer of its folder; a page's own is of the views.
 */
const LAYERS = ['vendor', 'common', 'frame', 'parts', 'plant', 'views', 'phone'];

function layerOf(file) {
  const at = path.relative(here, file).split(path.sep);
  if (at[0] === '..' || file.includes('node_modules')) return 'vendor';
  const named = [path.basename(file, '.css'), at[0]].find((name) => LAYERS.includes(name));
  return named ?? 'views';
}

const layers = {
  name: 'layers',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('.css') ? { code: `@layer ${LAYERS.join(', ')};\n@layer ${layerOf(id)} {\n${code}\n}\n`, map: null } : null),
};

/** Tells `words` in which file its words stand, by which a language that is one file names them (docs/add/language.md). */
const namedWords = {
  name: 'named-words',
  enforce: 'pre',
  transform(code, id) {
    const [file] = id.split('?');
    if (!file.startsWith(here) || !/\.tsx?$/.test(file)) return null;
    const at = path.relative(here, file).replace(/\.tsx?$/, '');
    return { code: code.replace(/\bwords(<\w+>)?\(\{/g, `words$1({ at: '${at}',`), map: null };
  },
};

/**
 * Few files, since each takes a panel time to ask for and to begin: what the login page and another need, what both consoles begin with, what the panel begins with
 * and shares, and what each has for itself. What comes later (common/later.tsx) is left to Rollup.
 */
function chunkOf(id, { getModuleInfo }) {
  const reached = new Set([id]);
  const entries = new Set();
  for (const each of reached) {
    const { isEntry, importers } = getModuleInfo(each);
    if (isEntry) entries.add(path.relative(here, each));
    for (const importer of importers) reached.add(importer);
  }
  if (entries.has('login/index.html')) return entries.size === 1 ? undefined : 'base'; // its own would run, and lead away, on the other pages too
  if (!entries.has('hmi/index.html')) return undefined;
  if (entries.has('desk/index.html')) return 'frame';
  return /^(common|data|parts|plant)\//.test(path.relative(here, id)) ? 'plant' : undefined; // views that come later have them too
}

export default defineConfig(({ mode }) => ({
  root: here,
  base: '/',
  publicDir: false,
  cacheDir: path.join(dist, '.vite'),
  plugins: [pagesOf(PAGES[mode][1]), layers, namedWords, preact({ devToolsEnabled: false, prefreshEnabled: false })],
  build: {
    outDir: path.join(dist, PAGES[mode][0]),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // a data: address is not 'self'
    modulePreload: { polyfill: false },
    rollupOptions: { input: Object.fromEntries(PAGES[mode][1].map((each) => [each.name, fileOf(each)])), output: { manualChunks: chunkOf } },
  },
}));
