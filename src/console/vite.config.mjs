// Builds the operator console: three pages that need nothing but themselves, since the gateway sends CSP default-src 'self'
// and the panel has no way to the internet. With the mode `sheet` it builds the page that shows every part in every state, for developers and tests: beside
// the consoles, since no plant serves it.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import preact from '@preact/preset-vite';
import { defineConfig } from 'vite';

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.resolve(here, '../..', process.env.LINESIDE_DIST ?? 'dist');

/** Output folder and pages, by the mode. */
const PAGES = {
  production: ['console', { login: 'login/index.html', hmi: 'hmi/index.html', data: 'desk/index.html' }],
  sheet: ['parts-sheet', { sheet: 'sheet/index.html' }],
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
 * Few files, since each takes a panel time to ask for and to begin: what the login page needs too, what both consoles begin with, what the panel begins with
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
  if (entries.has('login/index.html')) return 'base';
  if (!entries.has('hmi/index.html')) return undefined;
  if (entries.has('desk/index.html')) return 'frame';
  return /^(common|data|parts|plant)\//.test(path.relative(here, id)) ? 'plant' : undefined; // views that come later have them too
}

export default defineConfig(({ mode }) => ({
  root: here,
  base: '/',
  publicDir: false,
  cacheDir: path.join(dist, '.vite'),
  plugins: [namedWords, preact({ devToolsEnabled: false, prefreshEnabled: false })],
  build: {
    outDir: path.join(dist, PAGES[mode][0]),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // a data: address is not 'self'
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: Object.fromEntries(Object.entries(PAGES[mode][1]).map(([name, page]) => [name, path.join(here, page)])),
      output: { manualChunks: chunkOf },
    },
  },
}));
