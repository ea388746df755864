/** What the pages read of a site: by its source, lists come page by page; at their start nothing comes twice, nor what nobody looks at. */
import { readFileSync } from 'node:fs';
import type { Page, Response } from 'playwright-core';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { allSent, answerTo, batch, firstAdmin, open, panelOf, says, signIn, SITE, startConsole } from './person.js';

/** Where what the panel knows of a site is read. */
const SOURCE = ['plant', 'alarm-list', 'at-work', 'silent-outputs'].map((name) => readFileSync(new URL(`../../../src/console/data/${name}.ts`, import.meta.url), 'utf8')).join('');

t.test('MES-46: what a panel reads again and again of a site is read by pages: a plant of any size is made in short turns', (t) => {
  const whole = [...SOURCE.matchAll(/\bget<([^(]*)>\(([^,)]*)/g)].map(([, type = '', path]) => [type, path]);
  t.same(whole, [['SiteOverview', "atSite('overview'"]], 'nothing but the overview is asked whole');
  const paged = [...SOURCE.matchAll(/\bgetAll<\w+>\(atSite\(`(\w+)\?/g)].map(([, list]) => list);
  for (const list of ['tags', 'controlmodules', 'units', 'prompts', 'alarms', 'phases']) t.ok(paged.includes(list), list);
  t.end();
});

/** What is asked for every second while the page stands: what runs, and the batch that is open. */
const EVERY_SECOND = /\/(prompts|phases)\?|\/batches\/[^/?]+(\/.*)?$/;

/** Addresses of the questions of a page with how often each was asked, from now on. */
function questionsOf(page: Page): Map<string, number> {
  const asked = new Map<string, number>();
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    asked.set(pathname + search, (asked.get(pathname + search) ?? 0) + 1);
  });
  return asked;
}

const countOf = (asked: ReadonlyMap<string, number>, start: string): number => [...asked].filter(([path]) => path.startsWith(start)).reduce((sum, [, count]) => sum + count, 0);

t.test('the start of the pages', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  const order = await batch(admin, 'WO-1');
  const first = await open(browser, `${box.base}/login`);
  await signIn(first, 'anna');
  const storageState = await first.context().storageState();
  await first.context().close();

  await t.test('a panel reads everything once, and what is long comes packed', async (t) => {
    const page = await panelOf(browser, { storageState });
    const asked = questionsOf(page);
    const packed = new Map<string, Promise<string | null>>();
    // one that arrives when the page is closed has no head to be read
    page.on('response', (response: Response) =>
      packed.set(
        new URL(response.url()).pathname,
        response.headerValue('content-encoding').catch(() => null),
      ),
    );
    await page.goto(`${box.base}/hmi`);
    await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
    // by then what the beginning of the stream, or its news, has the page read again would be asked too
    await eventually('the panel has asked for what it asks for every second', async () => countOf(asked, `${SITE}/prompts`) > 2);
    const again = [...asked].filter(([path, count]) => count > 1 && !EVERY_SECOND.test(path));
    t.strictSame(again, [], 'nothing is asked for twice');
    for (const list of ['overview', 'units', 'tags', 'controlmodules', 'batches?', 'alarms', 'iomodules']) t.equal(countOf(asked, `${SITE}/${list}`), 1, list);
    t.equal(await packed.get(`${SITE}/tags`), 'gzip');
    await page.context().close();
  });

  await t.test('the records and data console reads what is looked at, from the first look on', async (t) => {
    const page = await panelOf(browser, { storageState });
    const asked = questionsOf(page);
    await page.goto(`${box.base}/data`);
    await page.getByTestId('records-view').waitFor();
    await eventually('the page has begun all that it begins', async () => countOf(asked, '/api/v1/system/restore') > 0);
    await allSent(page);
    for (const list of ['tags', 'controlmodules', 'units', 'batches', 'prompts', 'phases', 'alarms', 'alarmdefinitions']) t.equal(countOf(asked, `${SITE}/${list}`), 0, list);
    const listed = answerTo(page, `${SITE}/batches`);
    await page.goto(`${box.base}/data#/audit`);
    await listed;
    await says(page.getByTestId('audit-view'), /WO-1/, `${order} by the number that people know`);
    const tags = answerTo(page, `${SITE}/tags`);
    await page.goto(`${box.base}/data#/trends`);
    await tags;
    await page.context().close();
  });
});
