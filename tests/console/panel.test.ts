/** A screen as a panel (D-C-18), in a real browser: enrolled by its code, watching over a reload, a person on top, revoked. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, allSent, firstAdmin, flawsOf, keepPicture, open, panelOf, raiseAlarm, says, signIn, startConsole, writesOf } from './person.js';

t.test('D-C-18: panels watch on', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'operator');
  await raiseAlarm(admin, 'cold', 'the reactor is cold');
  const page = await open(browser, `${box.base}/login`);

  await t.test('an administrator enters the code that the screen shows, and it watches', async (t) => {
    await page.getByTestId('to-panel').click();
    await says(page.getByTestId('panel-code'), /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    const code = (await page.getByTestId('panel-code').textContent()) ?? '';
    await keepPicture(page, 'panel-code');
    const desk = await open(browser, `${box.base}/hmi`);
    await signIn(desk, 'anna');
    await desk.getByTestId('user-menu').click();
    await desk.getByTestId('open-panels').click();
    await desk.getByTestId('panel-code').fill(code);
    await desk.getByTestId('panel-name').fill('hall-1');
    await desk.getByTestId('panel-enrol').click();
    await desk.getByTestId('panel-hall-1').waitFor();
    t.same(await flawsOf(desk, 'panels'), []);
    await desk.context().close();
    await page.getByTestId('panel-sign-in').waitFor();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    t.same(await flawsOf(page, 'watching'), []);
    t.match((await admin.get('/api/v1/auth/panels/hall-1')).body, { site: 'demo', streams: 1, lastContactAt: /^20/ });
    const keys = await page.evaluate(`new Promise((resolve) => { const asked = indexedDB.open('lineside-panel'); asked.onsuccess = () => {
      const read = asked.result.transaction('keys').objectStore('keys').get('device');
      read.onsuccess = () => resolve(read.result.privateKey.extractable); }; })`);
    t.equal(keys, false, 'no script can read the key out');
  });

  await t.test('it watches on after a reload; a button that changes something asks for a sign-in and sends nothing', async () => {
    await page.reload();
    await page.getByTestId('panel-sign-in').waitFor();
    await says(page.getByTestId('hmi'), /the reactor is cold/);
    const sent = writesOf(page);
    await page.getByTestId('open-rx101').click();
    await page.getByTestId('module-tic101').click();
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('sign-in-question').waitFor();
    await allSent(page);
    t.same(sent, []);
    t.equal(await page.getByTestId('mode-dialog').count(), 0);
  });

  await t.test('a person signs in on top of it, and when he leaves it watches again', async () => {
    await page.getByTestId('sign-in-now').click();
    await page.getByTestId('back-to-watching').waitFor();
    await signIn(page, 'olga');
    t.equal(await page.getByTestId('panel-sign-in').count(), 0);
    await page.getByTestId('user-menu').click();
    await page.getByTestId('logout').click();
    await page.getByTestId('panel-sign-in').waitFor();
    await says(page.getByTestId('hmi'), /the reactor is cold/);
    await page.getByTestId('panel-sign-in').click();
    await signIn(page, 'olga');
    const sessions = (await admin.get('/api/v1/auth/sessions')).body as { readonly id: string; readonly username: string }[];
    for (const { id } of sessions.filter(({ username }) => username === 'olga')) await admin.delete(`/api/v1/auth/sessions/${id}`);
    await page.getByTestId('panel-sign-in').waitFor();
    await page.getByTestId('panel-sign-in').click();
    await page.getByTestId('back-to-watching').click();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
  });

  await t.test('a login page that is left alone goes back to watching', async () => {
    await page.clock.install();
    await page.getByTestId('panel-sign-in').click();
    await page.getByTestId('back-to-watching').waitFor();
    await page.clock.runFor(61_000);
    await page.getByTestId('panel-sign-in').waitFor();
    await page.clock.resume();
  });

  await t.test('a revoked panel shows nothing more, at once, and says why', async () => {
    t.equal((await admin.delete('/api/v1/auth/panels/hall-1')).status, 204);
    await says(page.getByTestId('login-ended'), /no panel any more/);
    t.equal(await page.getByTestId('back-to-watching').count(), 0);
    await eventually('nobody is let in by the old key', async () => (await admin.get('/api/v1/auth/panels')).body.length === 0);
  });

  await t.test('over plain HTTP from another host the page refuses with the sentence', async () => {
    const elsewhere = await panelOf(browser);
    await elsewhere.route('http://box.plant.example/**', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: `${box.base}${pathname}${search}` }) });
    });
    await elsewhere.goto('http://box.plant.example/login?panel');
    await says(elsewhere.getByTestId('panel-insecure'), /over TLS, or at the box itself/);
  });
});
