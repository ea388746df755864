// Builds the operator console: two pages that need nothing but themselves, since the gateway sends CSP default-src 'self'
// and the panel has no way to the internet.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import preact from '@preact/preset-vite';
import { defineConfig } from 'vite';

const here = path.dirname(fileURLToPath(import.meta.url));
const dist = path.resolve(here, '../..', process.env.LINESIDE_DIST ?? 'dist');

export default defineConfig({
  root: here,
  base: '/',
  publicDir: false,
  cacheDir: path.join(dist, '.vite'),
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false })],
  build: {
    outDir: path.join(dist, 'console'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // a data: address is not 'self'
    modulePreload: { polyfill: false },
    rollupOptions: { input: { login: path.join(here, 'login/index.html'), hmi: path.join(here, 'hmi/index.html') } },
  },
});
