// `npm run long firefox`: an operator's walk in the other browser that the pages are made for, Firefox ESR of Debian, driven over WebDriver BiDi against a
// whole appliance: first administrator, sign-in, a batch started, held, restarted and answered, alarms, curves, the unit, the record, both languages.
// What drives it is installed into scripts/firefox, which nothing else needs. Pictures of what was walked through lie in artifacts/firefox.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, DIST, install } from './build.mjs';
import { check, endProof, ran, until } from './proof.mjs';
import { installPeers, sayAbsent } from './peers.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const FIREFOX = process.env.CONSOLE_FIREFOX ?? '/usr/bin/firefox-esr';
const PICTURES = path.join(root, 'artifacts/firefox');
const PASSWORD = 'correct horse battery';
const SITE = '/api/v1/sites/demo';
const PATIENCE_MS = 90_000;
const SIZE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

await install();
await build();
const absent = installPeers({ names: ['the browser Firefox'] });
sayAbsent(absent, () => 'this walk');
if (absent.length > 0) process.exit(1);
const driver = path.join(root, 'scripts/firefox');
ran('npm', 'ci', '--prefix', driver, '--ignore-scripts', '--no-audit', '--no-fund');
const { default: puppeteer } = await import(pathToFileURL(path.join(driver, 'node_modules/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js')).href);
const { applianceProcess } = await import(pathToFileURL(path.join(root, DIST, 'tests/support/appliance-process.js')).href);

mkdirSync(PICTURES, { recursive: true });
const profile = mkdtempSync(path.join(tmpdir(), 'lineside-firefox-'));
const box = await applianceProcess({
  environment: { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_RUNTIME__TIMESCALE: '4', LINESIDE_LOG_LEVEL: 'warn' },
});
await box.start();
const code = readFileSync(path.join(box.dataDir, 'commissioning-code'), 'utf8').trim();
const browser = await puppeteer.launch({
  browser: 'firefox',
  executablePath: FIREFOX,
  userDataDir: profile,
  headless: true,
  defaultViewport: SIZE,
  extraPrefsFirefox: { 'intl.accept_languages': 'en-GB' },
});
const faults = [];
try {
  await walk(await newPage());
} catch (fault) {
  check(`walked to the end: ${fault instanceof Error ? fault.message : fault}`, false);
} finally {
  await browser.close();
  await box.end('SIGKILL');
  box.remove();
  rmSync(profile, { recursive: true, force: true });
}
check(`the pages threw nothing${faults.length > 0 ? `: ${faults.join('; ')}` : ''}`, faults.length === 0);
endProof();

async function newPage() {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('pageerror', (fault) => faults.push(String(fault)));
  return page;
}

async function walk(page) {
  const at = (name) => page.waitForSelector(`[data-testid="${name}"]`);
  const touch = async (name) => (await at(name)).click();
  const type = async (name, text) => {
    const field = await at(name);
    await field.evaluate((element) => element.select?.());
    await field.type(text);
  };
  const says = async (name, words) => {
    const text = await until(
      `${name} says ${words}`,
      async () => {
        const said = await page.$$eval(`[data-testid="${name}"]`, (places) => places.map((place) => place.textContent ?? ''));
        return said.find((each) => words.test(each));
      },
      PATIENCE_MS,
    );
    check(`${name} says ${words}`, words.test(text));
  };
  const state = (testid, value) => page.waitForSelector(`[data-testid="${testid}"][data-state="${value}"]`);
  const picture = async (name) => {
    await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    check(`nothing sticks out of ${name}`, !wide);
  };

  await page.goto(`${box.base}/login`);
  await at('first-admin');
  await type('code', code);
  await type('username', 'anna');
  await type('display-name', 'Anna Admin');
  await type('password', PASSWORD);
  await type('password-again', PASSWORD);
  await picture('first-administrator');
  await touch('first-admin-submit');
  await page.waitForSelector('[data-testid="hmi"][data-live="true"]');
  await page.waitForSelector('[data-testid="value-tic101.pv"][data-quality="Good"]');
  check('values are live', true);
  await picture('overview');

  const made = await page.evaluate(async (address) => {
    const refreshed = await fetch('/api/v1/auth/refresh', { method: 'POST', headers: { 'X-DCS-Nonce': crypto.randomUUID() } });
    const { accessToken } = await refreshed.json();
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', 'X-DCS-Nonce': crypto.randomUUID() };
    const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ batchID: 'FOX-1', masterRecipeRef: 'resin-a', parameters: [] }) });
    return { status: answer.status, body: await answer.json() };
  }, `${SITE}/batches`);
  check('a batch is ordered', made.status === 201);
  await page.goto(`${box.base}/hmi#/batch/${made.body.name}`);
  await page.reload();
  await touch('command-Start');
  await touch('command-send');
  await state('batch-view-state', 'Running');
  await touch('command-Hold');
  await type('reason', 'a look into the vessel');
  await touch('command-send');
  await state('batch-view-state', 'Held');
  await picture('batch-held');
  await touch('command-Restart');
  await touch('command-send');
  await state('batch-view-state', 'Running');
  await picture('batch-running');

  await page.goto(`${box.base}/hmi#/prompts?unit=rx101`);
  await touch('prompt-answer');
  await type('answer-value', '7.2');
  await type('reason', 'measured at the bench');
  await picture('prompt');
  await touch('prompt-send');
  await says('prompt-recorded', /Recorded and signed.*7\.2/);

  await page.goto(`${box.base}/hmi#/unit/rx101`);
  await at('unit-view');
  await picture('unit');
  await page.goto(`${box.base}/hmi#/alarms`);
  await at('alarms-view');
  await picture('alarms');
  await page.goto(`${box.base}/hmi#/trends`);
  await at('trends-view');
  await picture('trends');
  await page.goto(`${box.base}/hmi#/audit`);
  await says('audit-table', /Hold/);
  await picture('audit');

  await touch('user-menu');
  await touch('language-de');
  await page.waitForSelector('html[lang="de"]');
  await page.waitForSelector('[data-testid="hmi"][data-live="true"]');
  await picture('german');
  await page.setViewport(PHONE);
  for (const view of ['overview', 'alarms', 'prompts', `batch/${made.body.name}`, 'unit/rx101']) {
    await page.goto(`${box.base}/hmi#/${view}`);
    await page.waitForSelector('[data-testid="hmi"][data-live="true"]');
    await picture(`phone-${view.replace(/\W/g, '-')}`);
  }
  await page.setViewport({ width: 1440, height: 900 });
  await page.goto(`${box.base}/data`);
  await page.waitForSelector('[data-testid="hmi"]');
  await picture('records');
}
