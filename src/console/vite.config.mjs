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
    rollupOptions: { input: Object.fromEntries(Object.entries(PAGES[mode][1]).map(([name, page]) => [name, path.join(here, page)])) },
  },
}));
