/**
 * The cold first view of the operator console (performance goal: 1.5 s): from the navigation of a signed-in panel with an
 * empty cache until the overview stands with all its units, and until the first measured value is live. Chromium and the
 * box share the machine, as they do on a panel PC. The median of the loads is judged: a first view that needs luck is slow.
 * And how soon values are marked as old when the box falls silent without closing anything (goal: 1 s).
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../console/browser.js';
import { ENVIRONMENT, firstAdmin, open, signIn } from '../console/person.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { least, median, tell, verdict } from './judge.js';

const LOADS = 9;
const GOAL_MS = 1500;
const SILENCES = 5;
const MARKED_GOAL_MS = 1000;
const UNITS = ['mx101', 'rx101', 'tk201'];

interface Load {
  readonly viewMs: number;
  readonly liveMs: number;
}

const REACHED_MS_MAX = 30_000;

/** By the clock of the page itself: its zero is the navigation, and no answer to this process is counted. */
async function reached(page: Page, selectors: readonly string[]): Promise<number> {
  const look = `new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const look = () => {
      const nowMs = performance.now();
      if (${JSON.stringify(selectors)}.every((each) => document.querySelector(each))) resolve(nowMs);
      else if (nowMs - startedAt > ${REACHED_MS_MAX}) reject(new Error('the page did not get so far'));
      else requestAnimationFrame(look);
    };
    look();
  })`;
  return Number(await page.evaluate(look));
}

/** What a signed-in panel keeps when it is switched off: its cookie. */
type Panel = Awaited<ReturnType<BrowserContext['storageState']>>;

async function signedIn(browser: Browser, base: string): Promise<Panel> {
  const page = await open(browser, `${base}/login`);
  await signIn(page, 'anna');
  const kept = await page.context().storageState();
  await page.context().close();
  return kept;
}

/** A new context has neither cache nor compiled code of the page. */
async function load(browser: Browser, base: string, panel: Panel): Promise<Load> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: panel });
  const page = await context.newPage();
  await page.goto(`${base}/hmi`, { waitUntil: 'commit' });
  const viewMs = await reached(
    page,
    UNITS.map((unit) => `[data-testid="unit-${unit}"]`),
  );
  const liveMs = await reached(page, ['[data-testid="value-tic101.pv"][data-quality="Good"]']);
  await context.close();
  return { viewMs, liveMs };
}

/** From the last frame that arrived to the mark, by the clock of the page; the process is stopped as a pulled cable stops it. */
async function silences(browser: Browser, box: ApplianceProcess): Promise<number[]> {
  const page = await open(browser, `${box.base}/login`);
  await page.addInitScript(`{
    const receive = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
    Object.defineProperty(WebSocket.prototype, 'onmessage', { ...receive, set(listener) { receive.set.call(this, (event) => { globalThis.heardAt = performance.now(); listener(event); }); } });
  }`);
  await signIn(page, 'anna');
  const found: number[] = [];
  for (let round = 0; round < SILENCES; round += 1) {
    await reached(page, ['[data-testid="hmi"][data-live="true"]', '[data-testid="value-tic101.pv"][data-quality="Good"]']);
    process.kill(box.pid, 'SIGSTOP');
    const markedAt = await reached(page, ['[data-testid="hmi"][data-live="false"]']);
    found.push(markedAt - Number(await page.evaluate('globalThis.heardAt')));
    process.kill(box.pid, 'SIGCONT');
  }
  await page.context().close();
  return found;
}

const box = await applianceProcess({ environment: ENVIRONMENT });
const browser = await launchBrowser();
try {
  await box.start();
  await firstAdmin(box.api, box.dataDir);
  const panel = await signedIn(browser, box.base);
  await load(browser, box.base, panel); // the first one also waits for the demo plant and the start of the browser
  const loads: Load[] = [];
  for (let round = 0; round < LOADS; round += 1) loads.push(await load(browser, box.base, panel));
  const line = (name: string, values: readonly number[], word: string): string =>
    `${name.padEnd(24)} median ${Math.round(median(values))} ms   least ${Math.round(least(values))} ms   most ${Math.round(Math.max(...values))} ms   ${word}`;
  const views = loads.map(({ viewMs }) => viewMs);
  tell('cold first view, median, ms', median(views));
  console.log(line('cold first view', views, `goal ${GOAL_MS} ms   ${verdict(median(views) <= GOAL_MS)}`));
  console.log(
    line(
      'its first live value',
      loads.map(({ liveMs }) => liveMs),
      '',
    ),
  );
  const marks = await silences(browser, box);
  tell('silence to the mark, median, ms', median(marks));
  console.log(line('silence to the mark', marks, `goal ${MARKED_GOAL_MS} ms   ${verdict(median(marks) <= MARKED_GOAL_MS)}`));
} finally {
  await browser.close();
  await box.end('SIGKILL');
  box.remove();
}
