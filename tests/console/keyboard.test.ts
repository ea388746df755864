/** Whoever works with keys, or does not see the screen: short ways to the commands and to the acknowledgement, the focus back where it was, alarms that are told. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, batch, firstAdmin, hasFocus, open, raiseAlarm, says, signIn, SITE, startConsole } from './person.js';

t.test('from the overview the commands and the acknowledgement are one key away, and an alarm is told', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  await account(admin, 'vera', 'viewer');
  await batch(admin, 'WO-1');
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');
  await page.getByTestId('commands').waitFor();
  t.notMatch(await page.getByTestId('alarm-announced').textContent(), /reactor is cold/);
  await raiseAlarm(admin, 'cold', 'the reactor is cold');
  await says(page.getByTestId('alarm-announced'), /^Critical: the reactor is cold, RX101$/, 'who does not see the screen is told');
  t.equal(await page.getByTestId('alarm-announced').getAttribute('role'), 'alert');

  await t.test('the first Tab of the page offers the short ways, which are seen only then', async (t) => {
    await page.reload();
    await page.getByTestId('commands').waitFor();
    const height = async () => (await page.locator('.jumps').boundingBox())?.height ?? 0;
    t.ok((await height()) < 2);
    await page.keyboard.press('Tab');
    await hasFocus(page, 'jump-content');
    t.ok((await height()) >= 44, 'they are there now');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    t.equal(outline, 'solid', 'and the focus is seen');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await eventually('a command has the focus', async () => await page.evaluate("document.activeElement?.closest('[data-jump=commands]') !== null"));
    t.ok((await height()) < 2);
  });

  await t.test('a command by keys, and the focus is back where it was asked', async () => {
    await page.getByTestId('jump-content').focus();
    await page.keyboard.press('Alt+c');
    await hasFocus(page, 'command-Start');
    await page.keyboard.press('Enter');
    await page.getByTestId('command-dialog').waitFor();
    await page.keyboard.press('Alt+a'); // a question that is open is answered first
    await page.keyboard.press('Escape');
    await page.getByTestId('command-dialog').waitFor({ state: 'detached' });
    await hasFocus(page, 'command-Start');
  });

  await t.test('an alarm is acknowledged by two keys', async (t) => {
    const name = ((await admin.get(`${SITE}/alarms`)).body as { name: string; definitionRef: string }[]).find(({ definitionRef }) => definitionRef === 'cold')?.name ?? '';
    await page.keyboard.press('Alt+a');
    await hasFocus(page, `acknowledge-${name}`);
    await page.keyboard.press('Enter');
    await eventually('it is acknowledged', async () => (await admin.get(`${SITE}/alarms/${name}`)).body.state === 'ActiveAcknowledged');
    await eventually('nobody is called any more', async () => (await page.getByTestId('alarm-announced').textContent()) === '');
    await page.keyboard.press('Alt+c');
    await hasFocus(page, 'command-Start');
    t.equal(await page.evaluate('location.hash'), '#/overview', 'the commands of the batch from any view');
    await page.keyboard.press('Alt+s');
    await hasFocus(page, 'main');
  });

  await t.test('who may only look is offered no way to what he may not do', async (t) => {
    const other = await open(browser, `${box.base}/hmi`);
    await signIn(other, 'vera');
    await other.getByTestId('jump-content').waitFor({ state: 'attached' });
    t.equal(await other.locator('.jumps button').count(), 1);
    await other.context().close();
  });
});
