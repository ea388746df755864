/** Languages of the pages: the words of the box in German, and a further language that is one file. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from 'playwright-core';
import t from 'tap';
import { build } from 'vite';
import { REFUSAL_MEANINGS } from '../../src/cli/refusal-reference.js';
import { pageModule } from './page-module.js';
import { account, firstAdmin, panelOf, PASSWORD, says, signIn, startConsole } from './person.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const FRENCH = `
export const words = {
  'common/strings': { signIn: 'Se connecter', passwordRule: 'no function', alarmsTitle: 7 },
  'views/overview/overview-view': { Overview: 'Vue d’ensemble' },
};
export const refusals = { account_locked: 'Trop de mots de passe erronés' };
`;

/** The pages of this tree with one file more, in a folder of their own. */
async function pagesWith(language: string, text: string): Promise<{ readonly pages: string; readonly remove: () => void }> {
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  const tree = mkdtempSync(path.join(ROOT, 'dist/languages-'));
  cpSync(path.join(ROOT, 'tsconfig.json'), path.join(tree, 'tsconfig.json'));
  for (const folder of ['src/console', 'src/client']) cpSync(path.join(ROOT, folder), path.join(tree, folder), { recursive: true });
  writeFileSync(path.join(tree, 'src/console/languages', `${language}.ts`), text);
  const outDir = path.join(tree, 'pages');
  await build({ configFile: path.join(tree, 'src/console/vite.config.mjs'), mode: 'production', logLevel: 'silent', build: { outDir } });
  return { pages: outDir, remove: () => rmSync(tree, { recursive: true, force: true }) };
}

const PAGES: Readonly<Record<string, string>> = { '/login': 'login/index.html', '/hmi': 'hmi/index.html' };
const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.html': 'text/html' };

/** The box answers everything else. */
async function servePages(context: BrowserContext, pages: string): Promise<void> {
  await context.route(/^https?:\/\/[^/]+\/(login|hmi|assets\/.+?)(\?.*)?$/, (route) => {
    const { pathname } = new URL(route.request().url());
    const file = path.join(pages, PAGES[pathname] ?? pathname);
    return route.fulfill({ body: readFileSync(file), contentType: TYPES[path.extname(file)] ?? 'application/octet-stream' });
  });
}

t.test('every refusal of the box has its words in German, and none has words that is no refusal', async (t) => {
  const { refusals } = await pageModule<{ readonly refusals: Readonly<Record<string, string>> }>('languages/refusals-de.ts', 'de-DE');
  t.same(Object.keys(refusals).sort(), Object.keys(REFUSAL_MEANINGS).sort());
  t.same(
    Object.entries(refusals).filter(([, words]) => words.trim() === '' || words.endsWith('.')),
    [],
    'one sentence without its end: what exactly follows',
  );
});

t.test('a language that is one file is spoken by a browser of that language, chosen on the page, and English where it says nothing', async (t) => {
  const { pages, remove } = await pagesWith('fr', FRENCH);
  t.teardown(remove);
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');

  const page = await panelOf(browser, { locale: 'fr-FR' });
  await servePages(page.context(), pages);
  await page.goto(`${box.base}/hmi`);
  await says(page.getByTestId('login-submit'), /^Se connecter$/);
  t.equal(await page.evaluate('document.documentElement.lang'), 'fr');
  await says(page.getByTestId('login-card'), /User name.*Password.*français/s, 'what it does not say is English');
  await page.getByTestId('username').fill('olga');
  await page.getByTestId('password').fill(PASSWORD);
  await page.getByTestId('login-submit').click();
  await says(page.getByTestId('nav-overview'), /Vue d’ensemble/);
  await says(page.getByTestId('nav-alarms'), /Alarms/);

  const english = await panelOf(browser);
  const asked: string[] = [];
  english.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await servePages(english.context(), pages);
  await english.goto(`${box.base}/login`);
  await says(english.getByTestId('login-submit'), /^Sign in$/);
  t.same(
    asked.filter((each) => each.includes('/fr-')),
    [],
    'it is loaded by nobody else',
  );
  await english.getByTestId('language-fr').click();
  await says(english.getByTestId('login-submit'), /^Se connecter$/, 'whoever chooses it has it from then on');
  await english.getByTestId('language-en').click();
  await signIn(english, 'olga');
  await says(english.getByTestId('nav-overview'), /Overview/);
});
