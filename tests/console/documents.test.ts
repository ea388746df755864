/** The documents in a browser: they are read and searched before anybody signs in, in both looks, and the console leads to them. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { account, firstAdmin, open, says, seriousViolations, signIn, smallTargets, startConsole } from './person.js';

/** Addresses that the page asked for and that are not of the box, and what the browser complained of. */
function complaints(page: Page, base: string): string[] {
  const found: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(base)) found.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error') found.push(message.text());
  });
  page.on('pageerror', (fault) => found.push(String(fault)));
  return found;
}

t.test('GEN-04 D-ERR-05: the documents', async (t) => {
  const { box, browser } = await startConsole(t);

  await t.test('a page is found by its words, before anybody has signed in, and nothing is asked of anybody else', async (t) => {
    const page = await open(browser, `${box.base}/login`);
    const complained = complaints(page, box.base);
    await page.getByTestId('documents').click();
    await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('automatic_mode');
    await page.locator('#found a').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference/refusals.html#automatic_mode');
    await says(page.locator('#automatic_mode'), /automatic_mode/);
    t.equal(await page.locator('#found').isVisible(), false, 'the list goes away with the choice');
    await page.getByRole('searchbox').fill('no such words anywhere');
    await says(page.locator('#found'), /Nothing has all of these words/);
    t.same(complained, []);
    await page.context().close();
  });

  await t.test('they are readable in both looks, on a panel and on a phone', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 844 },
      ]) {
        const page = await open(browser, `${box.base}/docs/engineering/modbus.html`, { colorScheme, viewport });
        const where = `${colorScheme}, ${viewport.width}`;
        t.strictSame(await seriousViolations(page), [], where);
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, `${where}: nothing is wider than the page`);
        await page.context().close();
      }
    }
  });

  await t.test('the menu of the console leads to them, and a refusal to what to do about it', async (t) => {
    const admin = await firstAdmin(box.api, box.dataDir);
    await account(admin, 'olga', 'operator');
    const page = await open(browser, `${box.base}/hmi#/unit/rx101`);
    await signIn(page, 'olga');
    await page.getByTestId('user-menu').click();
    t.equal(await page.getByTestId('documents').getAttribute('href'), '/docs');
    await page.keyboard.press('Escape');
    const error = 'control module tic101 is in use by a batch';
    await page.route('**/sites/demo/mode', (route) => route.fulfill({ status: 409, json: { error, status: 409, code: 'active_batch' } }));
    await page.getByTestId('module-tic101').click();
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    const fault = page.getByRole('alert').filter({ hasText: error });
    await fault.waitFor();
    t.equal(await fault.getByRole('link').getAttribute('href'), '/docs/reference/refusals.html#active_batch');
    t.strictSame(await seriousViolations(page), []);
    t.strictSame(await smallTargets(page), []);
    await page.context().close();
  });
});
