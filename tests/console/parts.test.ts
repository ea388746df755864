/** The parts of the consoles on a page of their own (src/console/sheet), which is built beside the consoles and served here for the test alone. */
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { launchBrowser } from './browser.js';
import { drawn, hasFocus, keepPicture, open, says, seriousViolations, smallTargets } from './person.js';

const SHEET = fileURLToPath(new URL('../../parts-sheet/', import.meta.url));
const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
/** As the gateway sends it: parts need nothing from elsewhere. */
const POLICY = "default-src 'self'";
const PARTS = ['tokens', 'badge', 'mark', 'bar', 'value-tile', 'live', 'spark', 'progress', 'button', 'qr-code', 'segments', 'table', 'time-bar', 'chart', 'dialog', 'symbols'];

async function startSheet(t: { teardown(call: () => Promise<void>): void }): Promise<{ readonly browser: Browser; readonly base: string }> {
  const files = new Set(readdirSync(SHEET, { recursive: true, encoding: 'utf8' }));
  const server = createServer(({ url = '/' }, response) => {
    const name = url === '/' ? 'sheet/index.html' : url.slice(1);
    if (!files.has(name)) return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': TYPES[path.extname(name).slice(1)] ?? '', 'content-security-policy': POLICY }).end(readFileSync(path.join(SHEET, name)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await launchBrowser();
  t.teardown(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
  return { browser, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function openSheet(browser: Browser, base: string, part = '', colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const page = await open(browser, `${base}#${part}`, { colorScheme });
  await page.getByTestId('sheet').waitFor();
  return page;
}

t.test('the parts of the consoles', async (t) => {
  const { browser, base } = await startSheet(t);

  for (const look of ['light', 'dark'] as const)
    for (const density of ['panel', 'desk'])
      await t.test(`every part is there in every state and harms nobody: ${look}, ${density}`, async (t) => {
        const page = await openSheet(browser, base, '', look);
        const faults: string[] = [];
        page.on('console', (message) => faults.push(message.text()));
        await page.getByTestId(`density-${density}`).click();
        await page.getByTestId('trend-plot').locator('canvas').waitFor();
        t.same(await page.locator('[data-part]').evaluateAll((sections) => sections.map((section) => section.dataset.part)), PARTS);
        const flaws = [...(await smallTargets(page)), ...(await seriousViolations(page))];
        await drawn(page);
        await keepPicture(page, `parts-${look}-${density}`, flaws);
        t.same(flaws, []);
        await page.getByTestId('ask').click();
        await page.getByTestId('question').waitFor();
        t.same(await seriousViolations(page), [], 'and a dialog over them');
        t.same(faults, [], 'nothing is refused by the policy of the gateway');
        await page.close();
      });

  await t.test('names and states are told to who cannot see them', async (t) => {
    const page = await openSheet(browser, base);
    for (const name of ['Critical', 'High', 'Medium', 'Low']) t.equal(await page.locator('[data-part="badge"]').getByRole('img', { name, exact: true }).count(), 1, name);
    const tile = (name: string) => page.getByTestId(`value-${name}`);
    t.equal(await tile('normal').getAttribute('aria-label'), 'Temperature TIC101');
    const told = { high: 'High', critical: 'Critical', manual: 'Manual', stale: 'Stale', bad: 'Bad', forced: 'Forced', simulated: 'Simulated', bypassed: 'Bypassed' };
    for (const [name, state] of Object.entries(told)) t.equal(await tile(name).getByRole('img', { name: state, exact: true }).count(), 1, state);
    const pointers = async (name: string) => tile(name).locator('.bar-pointer').count();
    for (const name of ['normal', 'off', 'high', 'critical', 'manual', 'forced', 'simulated', 'bypassed']) t.equal(await pointers(name), 1, name);
    for (const name of ['stale', 'bad']) t.equal(await pointers(name), 0, `${name}: it cannot be trusted`);
    t.equal(await page.getByRole('progressbar', { name: 'Step 3 of 5' }).getAttribute('aria-valuenow'), '64');
    for (const name of ['stands', 'flows']) await page.getByRole('img', { name, exact: true }).waitFor();
    await page.close();
  });

  await t.test('a value that changes redraws its own number and pointer, and no other node', async (t) => {
    const page = await openSheet(browser, base, 'live');
    await page.getByTestId('number-live').getByText('80.1').waitFor();
    await page.evaluate(`
      changes = [];
      new MutationObserver((records) => {
        for (const { type, target, attributeName } of records) changes.push(type === 'attributes' ? target.getAttribute('class') + ' ' + attributeName : type);
      }).observe(document.body, { attributes: true, characterData: true, childList: true, subtree: true });
    `);
    await page.getByTestId('move').click();
    await page.getByTestId('number-live').getByText('80.2').waitFor();
    await drawn(page);
    t.same(((await page.evaluate('changes')) as string[]).toSorted(), ['bar-pointer bar-pointer-normal x', 'characterData']);
    await page.close();
  });

  await t.test('a grey button stays in the order of the keys and says what is missing, by touch and by key, with the way to each', async (t) => {
    const page = await openSheet(browser, base, 'button');
    const why = page.getByTestId('grey-why');
    const grey = page.getByRole('button', { name: 'Restart, 2 missing' });
    t.equal(await grey.getAttribute('aria-disabled'), 'true');
    await grey.click({ force: true }); // it says that it is not possible now, and answers all the same
    await says(why, /Restart is not possible now.*AG101 cannot run.*TIC101 97.8/);
    t.same(await seriousViolations(page), []);
    t.same(await smallTargets(page), []);
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'hidden' });
    await hasFocus(page, 'grey');
    await page.keyboard.press('Enter');
    await why.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('[data-part="symbols"]').waitFor();
    await page.close();
  });

  await t.test('one of a few is chosen by keys, and not by going past it', async (t) => {
    const page = await openSheet(browser, base, 'segments');
    await page.getByTestId('mode-Manual').focus();
    await page.keyboard.press('ArrowLeft');
    await hasFocus(page, 'mode-Semi');
    t.equal(await page.getByTestId('mode-Manual').getAttribute('aria-checked'), 'true');
    await page.keyboard.press('Space');
    await page.locator('[data-testid="mode-Semi"][aria-checked="true"]').waitFor();
    await page.close();
  });

  await t.test('the cursor of a time bar goes by keys and by finger, and says what is there', async (t) => {
    const page = await openSheet(browser, base, 'time-bar');
    const [plot, told] = [page.getByTestId('plan-plot'), page.getByTestId('plan-told')];
    t.match(await plot.getAttribute('aria-valuetext'), /^03:15: RX101 Held; RX102 WO-42$/, 'before it is moved it stands at the present');
    await plot.focus();
    await page.keyboard.press('Home');
    await says(told, /^03:00: RX101 WO-41; RX102 WO-42$/);
    await page.keyboard.press('Shift+ArrowRight');
    await says(told, /^03:24: RX101 Held; RX102 WO-42$/);
    await page.keyboard.press('End');
    await says(told, /^07:00: nothing$/);
    t.equal(await plot.getAttribute('aria-valuetext'), '07:00: nothing');
    const { width = 0 } = (await plot.boundingBox()) ?? {};
    await plot.click({ position: { x: width / 2, y: 60 } });
    await says(told, /^(04:59|05:00): RX101 WO-41 if restarted/);
    await page.getByTestId('batch-plot').focus();
    await page.keyboard.press('End');
    for (let step = 0; step < 20; step += 1) await page.keyboard.press('ArrowLeft');
    await says(page.getByTestId('batch-told'), /^04:12: Steps Held; Events TIC101 high-high$/);
    t.same(await seriousViolations(page), []);
    await page.close();
  });

  await t.test('a table of 10,000 rows has those in sight in the page, and goes by keys', async (t) => {
    const page = await openSheet(browser, base, 'table');
    const rows = page.getByTestId('rows');
    t.equal(await rows.getAttribute('aria-rowcount'), '10001');
    const count = async (): Promise<number> => rows.locator('tr[data-row]').count();
    t.ok((await count()) < 60);
    const row = (number: number) => rows.locator(`tr[data-row="${number}"]`);
    const isAt = (number: number) => row(number).locator('a:focus').waitFor();
    await row(0).locator('a').focus();
    await page.keyboard.press('ArrowDown');
    await isAt(1);
    await page.keyboard.press('PageDown');
    await isAt(11);
    await page.keyboard.press('End');
    await isAt(9999);
    t.ok((await count()) < 60);
    await page.keyboard.press('Home');
    await isAt(0);
    await page.getByRole('button', { name: 'Number' }).click();
    await row(0).getByText('Row 9999').waitFor();
    const heights = async (testid: string): Promise<number | undefined> => (await page.locator(`[data-testid="${testid}"] tr[data-row]`).first().boundingBox())?.height;
    t.same([await heights('rows'), await heights('read-rows')], [44, 44]);
    await page.getByTestId('density-desk').click();
    t.same([await heights('rows'), await heights('read-rows')], [44, 32], 'rows that are only read are lower at a desk');
    await page.close();
  });
});
