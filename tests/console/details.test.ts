/** What is small and relied on: what a start shows, older messages, the element in sight, a search that finds nothing, what a page says of its address. */
import type { Locator } from 'playwright-core';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, batch, firstAdmin, flawsOf, open, orWhy, panelOf, PASSWORD, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';
import { pageModule } from './page-module.js';

t.test('an event of another day is told with its seconds, and with the year when it is another one', async (t) => {
  const { momentText } = await pageModule<{ momentText(timestamp: string): string }>('common/text.ts', 'en-GB');
  const at = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
  t.match(momentText(at(0)), /^\d\d:\d\d:\d\d$/);
  t.match(momentText(at(-1.5)), /\d\d\/\d\d.*\d\d:\d\d:\d\d$/);
  t.match(momentText(at(800)), /\d\d\/\d\d\/\d{4}.*\d\d:\d\d:\d\d$/);
});

t.test('details of the console', async (t) => {
  const { box, browser } = await startConsole(t);

  await t.test('the form of the first administrator says what the password needs before anything is sent', async (t) => {
    const page = await panelOf(browser);
    await page.goto(`${box.base}/login`);
    await page.getByTestId('code').fill('AAAA-AAAA-AAAA');
    await page.getByTestId('username').fill('anna');
    await page.getByTestId('password').fill('short');
    await page.getByTestId('password-again').fill('short');
    await page.getByTestId('first-admin-submit').click();
    await says(page.getByTestId('login-error'), /At least 12 characters/);
    await page.getByTestId('password').fill(PASSWORD);
    await page.getByTestId('password-again').fill(PASSWORD);
    await page.getByTestId('first-admin-submit').click();
    await says(page.getByTestId('login-error'), /commissioning code is wrong/);
    const icon = (await page.locator('link[rel="icon"]').getAttribute('href')) ?? '';
    t.not(icon, '', 'the page names its icon: no browser asks for one that is not there');
    const places = ['/hmi/', '/login/', '/data/', ...(icon.startsWith('data:') ? [] : [icon])];
    for (const path of places) t.equal((await fetch(new URL(path, page.url()))).status, 200, path);
    await page.context().close();
  });

  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');
  const parameters = [
    { name: 'reactTime', value: '2' },
    { name: 'monomerLot', value: '000123' },
  ];
  const made = await admin.post(`${SITE}/batches`, { batchID: 'DETAIL-1', masterRecipeRef: 'resin-a', formulaName: 'standard', lotID: 'L-7', parameters });
  t.equal(made.status, 201, made.text);
  const name = made.body.name as string;

  await t.test('a question before a start says what is about to run: recipe, version, formula, quantity, values and units', async (t) => {
    await page.getByTestId('batch-DETAIL-1').click();
    await page.getByTestId('command-Start').click();
    await says(page.getByTestId('start-what'), /resin-a 1\.0\.0.*standard.*28 kg.*L-7.*reactTime\s*2.*monomerLot\s*000123/s);
    await says(page.getByTestId('command-dialog'), /Units\s*MX101, RX101, TK201/);
    t.strictSame(await flawsOf(page, 'start-what'), []);
    await page.getByTestId('command-send').click();
    await says(page.getByTestId('age-rx101'), /^for \d+ (s|min)/);
  });

  await t.test('what is ordered is changed while it waits: quantity, values and units are judged again', async (t) => {
    const next = await batch(admin, 'DETAIL-2');
    await page.getByTestId('batch-DETAIL-2').click();
    await page.getByTestId('change-batch').click();
    await page.getByTestId('change-send').click();
    await says(page.getByTestId('change-error'), /Nothing is changed/);
    await page.getByTestId('change-quantity').fill('1000');
    await page.getByTestId('change-send').click();
    await says(page.getByTestId('change-error'), /1000/);
    await page.getByTestId('change-quantity').fill('14');
    await page.getByTestId('change-value-reactTime').fill('3');
    await page.getByTestId('unit-for-react').selectOption('rx101');
    t.strictSame(await flawsOf(page, 'batch-change'), []);
    await page.getByTestId('change-send').click();
    await page.getByTestId('change-dialog').waitFor({ state: 'detached' });
    t.match((await admin.get(`${SITE}/batches/${next}`)).body, {
      quantity: '14',
      spec: { parameters: [{ name: 'reactTime', value: '3' }], equipment: { react: 'rx101' } },
    });
  });

  await t.test('a start that a unit stands against names the number of the batch that has it', async () => {
    await page.getByTestId('batch-DETAIL-2').click();
    await page.getByTestId('command-Start').click();
    await says(page.getByTestId('start-stops'), /taken by DETAIL-1/i);
    await page.getByTestId('command-cancel').click();
  });

  await t.test('the element that works is in sight in the tree, and its heading says where it is', async (t) => {
    await page.evaluate(`location.hash = '#/batch/${name}'`);
    await orWhy(admin, name, page.locator('[data-testid^="tree-makeResin/"][data-state="Running"]').first().waitFor());
    const chosen = page.getByTestId('tree').locator('[aria-pressed="true"]');
    await eventually('the chosen row lies within its list', () =>
      chosen.evaluate((row) => {
        const [own, around] = [row.getBoundingClientRect(), row.closest('.tree')?.getBoundingClientRect()];
        return around !== undefined && own.top >= around.top - 1 && own.bottom <= around.bottom + 1;
      }),
    );
    await page.locator('[data-testid^="tree-store/"]').first().click();
    await says(page.getByTestId('element').locator('h3'), /store \/ /);
    t.ok((await page.getByTestId('element').getAttribute('data-path'))?.startsWith('store/'));
  });

  await t.test('a search for a tag of another unit finds it, and one that finds nothing says so', async () => {
    await page.getByTestId('nav-trends').click();
    await page.getByTestId('choose-tags').click();
    await page.getByTestId('tag-search').fill('tk201');
    await page.getByTestId('tag-search').fill('tic101.pv');
    await page.getByTestId('tag-tic101.pv').waitFor();
    await page.getByTestId('tag-search').fill('tic999');
    await says(page.getByTestId('tag-found'), /No tag holds "tic999"/);
    await page.getByTestId('tags-done').click();
  });

  await t.test('on a panel of 1024 x 600 what is live, in which mode and interlocked is in sight', async (t) => {
    await page.getByTestId('nav-overview').click();
    await page.setViewportSize({ width: 1024, height: 600 });
    const seen = async (what: string, place: Locator): Promise<void> => {
      await place.first().waitFor();
      const box = await place.first().boundingBox();
      t.ok(box !== null && box.y + box.height <= 600 && box.x + box.width <= 1024, `${what} lies within the screen`);
    };
    await seen('the link', page.getByTestId('link'));
    await seen('an interlocked pump', page.locator('[data-testid^="device-"][data-state="Interlocked"]'));
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'Unit', name: 'tk201', mode: 'Semi-Automatic' })).status, 200);
    await seen('the mode of a unit that is not in Automatic', page.getByTestId('unit-tk201').getByText(/Semi-Automatic/));
    await admin.post(`${SITE}/mode`, { kind: 'Unit', name: 'tk201', mode: 'Automatic' });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  await t.test('messages go on to the older ones, page by page', async (t) => {
    const asked: string[] = [];
    const messages = Array.from({ length: 120 }, (_each, at) => ({
      id: 1000 - at,
      ts: new Date(Date.now() - at * 1000).toISOString(),
      severity: 'Info',
      text: `Message number ${at}`,
      element: { kind: 'Phase', name: 'p', path: '' },
    }));
    await page.route(`**${SITE}/batches/${name}/messages?**`, (route) => {
      const query = new URL(route.request().url()).searchParams;
      const from = Number(query.get('cursor') ?? 0);
      asked.push(String(from));
      const items = messages.slice(from, from + Number(query.get('limit')));
      const next = from + items.length;
      return route.fulfill({ json: { items, nextCursor: next < messages.length ? String(next) : null } });
    });
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('batch-DETAIL-2').click();
    await page.getByTestId('batch-DETAIL-1').click();
    await says(page.getByTestId('messages'), /Message number 49/);
    t.notMatch(await page.getByTestId('messages').textContent(), /Message number 50/);
    for (const last of [99, 119]) {
      await page.getByTestId('messages-more').click();
      await says(page.getByTestId('messages'), new RegExp(`Message number ${last}`));
    }
    await page.getByTestId('messages-more').waitFor({ state: 'detached' });
    t.ok(asked.includes('50') && asked.includes('100'));
  });

  await t.test('what was made is read on the phone as well: one column, and nothing beside the screen', async (t) => {
    await page.goto(`${box.base}/data#/production`);
    await page.getByTestId('production-view').waitFor();
    t.strictSame(await phoneFlaws(page, 'production'), []);
    await page.goto(`${box.base}/hmi`);
    await page.getByTestId('units').waitFor();
  });

  await t.test('values of a unit that no module has stand in its list', async () => {
    await page.evaluate("location.hash = '#/unit/rx101?as=list'");
    await says(page.getByTestId('unit-tags'), /energyKwh rx101-energy\s*[\d.]+/);
  });
});
