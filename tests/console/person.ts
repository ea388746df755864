/** What the suites of the console share: accounts, pages as a person opens them, and what every view must keep. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Locator, Page, Request, Response } from 'playwright-core';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { launchBrowser, SLOWDOWN } from './browser.js';

/** Pictures of views with flaws, for a person to look at; `CONSOLE_PICTURES=1 npm test -- console` keeps one of every view. */
const EVERY_PICTURE = process.env.CONSOLE_PICTURES === '1';
const ARTIFACTS = fileURLToPath(new URL('../../../artifacts/console/', import.meta.url));
const LARGE_SIZE = { width: 1280, height: 800 };
const SMALL_SIZE = { width: 1024, height: 600 };
const PHONE_SIZE = { width: 390, height: 844 };
/** The narrowest phone that is still sold. */
const NARROW_SIZE = { width: 360, height: 740 };
const SIZES = [LARGE_SIZE, SMALL_SIZE];
const TOUCH_PX = 44;
export const SITE = '/api/v1/sites/demo';
export const PASSWORD = 'correct horse battery';
/** Of `route.fetch`: a connection that the box closes for its idleness while a request is on its way is opened anew. */
export const AGAIN = { maxRetries: 3 };
export interface Watched {
  readonly box: ApplianceProcess;
  readonly browser: Browser;
}

/** An appliance with the demonstration plant, and a browser; both end with the test. */
export async function startConsole(t: { teardown(call: () => Promise<void>): void }, more: Readonly<Record<string, string>> = {}, port?: number): Promise<Watched> {
  const box = await applianceProcess({ environment: { ...ENVIRONMENT, ...more }, ...(port === undefined ? {} : { port }) });
  const browser = await launchBrowser();
  t.teardown(async () => {
    await browser.close();
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
  return { box, browser };
}

/** Slow enough that the charts keep their time-outs (10 s of plant time) while a browser takes both cores. */
const TIME_SCALE = '4';
export const ENVIRONMENT = { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_RUNTIME__TIMESCALE: TIME_SCALE, LINESIDE_LOG_LEVEL: 'warn' };
const WAIT_MS = 120_000 * SLOWDOWN;

/** A panel of its own, before it has opened any page. */
export async function panelOf(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US', ...options });
  context.setDefaultTimeout(WAIT_MS);
  return context.newPage();
}

export async function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await panelOf(browser, options);
  await page.goto(address);
  return page;
}

export async function signIn(page: Page, username: string): Promise<void> {
  await page.getByTestId('username').fill(username);
  await page.getByTestId('password').fill(PASSWORD);
  await page.getByTestId('login-submit').click();
  await page.getByTestId('hmi').waitFor();
}

/** Waits until the element says so: a page draws a moment after the click, and after the answer. When it never does, the fault tells what stands there instead. */
export async function says(place: Locator, words: RegExp, why = 'words of the page'): Promise<void> {
  const said = place.filter({ hasText: words });
  await said.waitFor().catch(async (fault: Error) => {
    throw new Error(`${why}: not ${words} but ${JSON.stringify(await place.allTextContents())}; ${fault.message}`);
  });
}

/** A critical alarm that stands as soon as its definition does. */
export async function raiseAlarm(admin: ApiClient, name: string, message: string, severity = 'Critical'): Promise<void> {
  const condition = { sourceKind: 'ControlModule', sourceName: 'tic101', conditionType: 'TagHigh', tagName: 'pv', threshold: '-50' };
  const answer = await admin.post(`${SITE}/alarmdefinitions`, { ...condition, name, message, type: 'Process', severity, priority: 500, enabled: true });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** Waits until nobody can touch it any more, or not yet. */
export function isLocked(page: Page, testid: string): Promise<void> {
  return page.locator(`[data-testid="${testid}"]:disabled`).first().waitFor();
}

/** Waits until the field holds the text. */
export async function holds(field: Locator, text: string): Promise<void> {
  await eventually(`the field holds ${text}`, async () => (await field.inputValue()) === text);
}

/** Waits until keys act there: a view takes the focus a moment after it is drawn. */
export async function hasFocus(page: Page, name: string): Promise<void> {
  await eventually(`the focus is at ${name}`, async () => (await page.evaluate('document.activeElement?.dataset.testid ?? document.activeElement?.id')) === name);
}

/** Whether the values of this element may not be read as live ones. */
export function isHatched(place: Locator): Promise<boolean> {
  return place.evaluate((element) => element.ownerDocument.defaultView.getComputedStyle(element).backgroundImage.includes('repeating-linear-gradient'));
}

export async function untilHatched(place: Locator, why: string): Promise<void> {
  await eventually(why, () => isHatched(place));
}

export async function untilPlain(place: Locator, why: string): Promise<void> {
  await eventually(why, async () => !(await isHatched(place)));
}

/** Paths of the writes that the page sends. */
export function writesOf(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname);
  });
  return sent;
}

/** What the page has sent so far is known: a request of ours comes behind it. Needed before `nothing was sent` says anything. */
export async function allSent(page: Page): Promise<void> {
  await page.evaluate(`fetch('/healthz').then((answer) => answer.text())`);
}

/** The page's next question of this path, asked from now on, and its answer. Whether a body was read to its end the browser does not always tell. */
export function answerTo(page: Page, pathname: string): Promise<Response> {
  const begun = new Set<Request>();
  return new Promise<Response>((resolve, reject) => {
    const note = (request: Request): void => {
      if (new URL(request.url()).pathname === pathname) begun.add(request);
    };
    // a question that the page has given up is followed by another one
    const take = (response: Response): void => {
      if (!begun.has(response.request())) return;
      end();
      allSent(page).then(() => resolve(response), reject); // the page has come past it
    };
    const late = setTimeout(() => {
      end();
      reject(new Error(`${pathname} was ${begun.size === 0 ? 'not asked' : 'asked and not answered'} within ${WAIT_MS} ms`));
    }, WAIT_MS);
    const end = (): void => {
      clearTimeout(late);
      page.off('request', note);
      page.off('response', take);
    };
    page.on('request', note);
    page.on('response', take);
  });
}

/** From here on the time of the page goes on only when the test says so; its clock is installed. What the page does until it stands still takes its time too. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt(((await page.evaluate('Date.now()')) as number) + STOPPED_AFTER_MS);
}

/** Lets the stopped clock of the page go on until it is so. In steps: what the page waits for may still be on its way to it. */
export function runUntil(page: Page, what: string, probe: () => Promise<boolean>): Promise<true> {
  return eventually(what, async () => {
    await page.clock.runFor(STEP_MS);
    await allSent(page);
    return probe();
  });
}

const STEP_MS = 100;

/** More than the slowest machine needs between the two calls above: a clock does not go back. */
const STOPPED_AFTER_MS = 60_000;

/** The first account of the box, signed in. */
export async function firstAdmin(api: ApiClient, dataDir: string): Promise<ApiClient> {
  const code = readFileSync(path.join(dataDir, 'commissioning-code'), 'utf8').trim();
  const made = await api.post('/api/v1/auth/first-admin', { code, username: 'anna', password: PASSWORD, displayName: 'Anna Admin' });
  if (made.status !== 201) throw new Error(made.text);
  const session = await api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
  return api.with(`Bearer ${session.body.accessToken}`);
}

export async function account(admin: ApiClient, username: string, group: string, mustChangePassword = false): Promise<void> {
  const answer = await admin.post('/api/v1/auth/users', {
    username,
    password: PASSWORD,
    displayName: `${username} of the shift`,
    groups: [`lineside-${group}`, 'lineside-site-demo'],
    mustChangePassword,
  });
  if (answer.status !== 201) throw new Error(answer.text);
}

export async function batch(client: ApiClient, batchID: string, parameters: readonly { readonly name: string; readonly value: string }[] = []): Promise<string> {
  const answer = await client.post(`${SITE}/batches`, { batchID, masterRecipeRef: 'resin-a', parameters });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.name as string;
}

/** The cells of what the trend view exports. */
export async function csvOf(page: Page): Promise<string[][]> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('csv').click()]);
  return readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
}

/** Rules that look at colours. The others find the same in light and in dark. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Rules that harm somebody; the others are taste. */
export async function seriousViolations(page: Page, { only, without = [] }: { readonly only?: string[]; readonly without?: string[] } = {}): Promise<string[]> {
  // half a megabyte that a page is given once
  const given = await page.evaluate("typeof axe === 'object'");
  const axe = new AxeBuilder({ page, ...(given ? { axeSource: ';' } : {}) }).setLegacyMode(); // the console has no frames, and needs no page of its own to gather them
  axe.options({ resultTypes: ['violations'], preload: false }); // of what is well it need not tell every element
  if (only) axe.withRules(only);
  axe.disableRules(without);
  const { violations } = await axe.analyze();
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

/** Says why the batch stands still when the page does not show what a running one brings. */
export async function orWhy(client: ApiClient, name: string, shown: Promise<unknown>): Promise<void> {
  await shown.catch(async (fault: Error) => {
    const { phase, blockedBecause } = (await client.get(`${SITE}/batches/${name}`)).body;
    throw new Error(`the batch is ${phase}: ${blockedBecause}; ${fault.message}`);
  });
}

/** Buttons, links and fields in sight that a glove would miss. */
export async function smallTargets(page: Page): Promise<string[]> {
  return page.locator('button, a[href], select, input:not([type=checkbox])').evaluateAll((elements, min) => {
    const found: string[] = [];
    for (const element of elements) {
      const { width, height } = element.getBoundingClientRect();
      if (width > 0 && height > 0 && (width < min - 0.5 || height < min - 0.5)) found.push(`${element.outerHTML.slice(0, 120)} ${Math.round(width)} x ${Math.round(height)}`);
    }
    return found;
  }, TOUCH_PX);
}

/** Whether something sticks out of the screen to the right: a panel has no mouse to scroll with. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth') as Promise<number>;
}

export async function keepPicture(page: Page, name: string, flaws: readonly string[] = []): Promise<void> {
  if (!EVERY_PICTURE && flaws.length === 0) return;
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: path.join(ARTIFACTS, `${name}.png`) });
}

/** Waits until what follows from a new size of the screen is drawn: curves take theirs between two pictures. The clock of the page goes on. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
}

/** What a glove or the edge of the screen would miss, at both sizes of panel. */
export function layoutFlaws(page: Page, name: string): Promise<string[]> {
  return flawsAtBothSizes(page, name, async () => []);
}

/** Rows whose last line is painted beyond their own edge, where nobody sees it. Those far out of sight are not laid out, and have the height of a guess. */
async function cutRows(page: Page): Promise<string[]> {
  return page
    .locator('.rows > li')
    .evaluateAll((rows) =>
      rows
        .filter(
          (row) =>
            row.firstElementChild?.checkVisibility({ contentVisibilityAuto: true }) === true &&
            (row.firstElementChild?.getBoundingClientRect().bottom ?? 0) > row.getBoundingClientRect().bottom + 1,
        )
        .map((row) => row.textContent),
    );
}

/** Places of the navigation that a person would have to look for: outside of their bar, or of the screen. */
export async function hiddenPlaces(page: Page, width: number): Promise<string[]> {
  return page.locator('.navigation').evaluateAll(
    (bars, screen) =>
      bars.flatMap((bar) => {
        const around = bar.getBoundingClientRect();
        const right = Math.min(around.right, screen);
        return [...bar.children].flatMap((place) => {
          const at = place.getBoundingClientRect();
          const isIn = at.left >= around.left - 0.5 && at.right <= right + 0.5 && at.top >= around.top - 0.5 && at.bottom <= around.bottom + 0.5;
          return isIn ? [] : [place.textContent];
        });
      }),
    width,
  );
}

/** What is wrong with the view on the phone of somebody on call: its layout, and what axe-core finds. */
export async function phoneFlaws(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const size of [NARROW_SIZE, PHONE_SIZE]) {
    await page.setViewportSize(size);
    await drawn(page);
    found.push(...(await hiddenPlaces(page, size.width)).map((place) => `${place} lies outside of its bar at ${size.width} px`));
    if ((await overflow(page)) > 0) found.push(`wider than the screen of ${size.width} px`);
  }
  found.push(...(await smallTargets(page)).map((flaw) => `too small to touch: ${flaw}`), ...(await seriousViolations(page)));
  await keepPicture(page, `${name}-phone`, found);
  await page.setViewportSize(LARGE_SIZE);
  await drawn(page);
  return found.map((flaw) => `${name}-phone: ${flaw}`);
}

async function flawsAtBothSizes(page: Page, name: string, more: (size: (typeof SIZES)[number]) => Promise<readonly string[]>): Promise<string[]> {
  const flaws: string[] = [];
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await drawn(page);
    const found = (await smallTargets(page)).map((flaw) => `too small to touch: ${flaw}`);
    if ((await overflow(page)) > 0) found.push('wider than the screen');
    found.push(...(await cutRows(page)).map((row) => `a row is cut: ${row}`), ...(await more(size)));
    const label = `${name}-${size.width}x${size.height}`;
    await keepPicture(page, label, found);
    flaws.push(...found.map((flaw) => `${label}: ${flaw}`));
  }
  return flaws;
}

/**
 * What is wrong with the view as it stands, at both sizes of panel: its layout, and what axe-core finds. Its rules of colours take most of
 * the time and judge each scheme once: what lies over what does not depend on the scheme, nor the colours on the size, so light is judged on
 * the small panel and dark on the large one.
 */
export async function flawsOf(page: Page, name: string): Promise<string[]> {
  const flaws = await flawsAtBothSizes(page, name, (size) => seriousViolations(page, size === SMALL_SIZE ? {} : { without: COLOUR_RULES }));
  await page.setViewportSize(LARGE_SIZE);
  await page.emulateMedia({ colorScheme: 'dark' });
  const inDark = await seriousViolations(page, { only: COLOUR_RULES });
  await keepPicture(page, `${name}-dark`, inDark);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...flaws, ...inDark.map((violation) => `${name} in dark: ${violation}`)];
}
