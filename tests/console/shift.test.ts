/** What a shift asks of the pages when a batch does not go as it should: why, since when, by whom, and what stands in the way. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, batch, firstAdmin, flawsOf, layoutFlaws, open, says, signIn, startConsole, SITE, SUITE_MS_MAX } from './person.js';

t.test('a shift with a batch that is held', { timeout: SUITE_MS_MAX }, async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');
  const name = await batch(admin, 'SHIFT-1');
  const command = async (word: string, reason?: string): Promise<void> => {
    const answer = await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: word, ...(reason === undefined ? {} : { reason }) });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  const state = (phase: string) => page.locator(`[data-testid="batch-view-state"][data-state="${phase}"]`).waitFor();
  await command('Start');
  await page.evaluate(`location.hash = '#/batch/${name}'`);
  await state('Running');

  await t.test('the page says since when, by whom and why a batch is held, and goes on saying the first cause', async (t) => {
    await page.getByTestId('command-Hold').click();
    await page.getByTestId('reason').fill('Foam in the sight glass');
    await page.getByTestId('command-send').click();
    await state('Held');
    await says(page.getByTestId('standing'), /Held since \d\d:\d\d:\d\d/);
    await says(page.getByTestId('first-cause'), /Hold by olga of the shift: Foam in the sight glass/);
    await command('Hold', 'a second cause that is none');
    await says(page.getByTestId('rejection'), /Hold by Anna Admin was rejected/, 'who had asked for what was refused');
    await says(page.getByTestId('later-causes'), /Hold by Anna Admin was rejected/);
    await says(page.getByTestId('first-cause'), /Foam in the sight glass/);
    t.strictSame(await flawsOf(page, 'batch-held'), []);
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('batch-SHIFT-1').click();
    await says(page.getByTestId('first-cause'), /Foam in the sight glass/, 'the overview says it too');
    t.strictSame(await layoutFlaws(page, 'overview-held'), []);
  });

  await t.test('what has happened can be looked up when it is over', async (t) => {
    await command('Restart', 'the foam is gone');
    await page.evaluate(`location.hash = '#/batch/${name}'`);
    await state('Running');
    await page.getByTestId('standing').waitFor({ state: 'detached' });
    await page.getByTestId('batch-tab-happened').click();
    const spell = page.locator('[data-testid="spell"][data-state="Held"]');
    await says(spell, /Held .*\d\d:\d\d:\d\d – .*\d\d:\d\d:\d\d \(\d+ (s|min)\).*Hold by olga of the shift: Foam in the sight glass/);
    await says(page.getByTestId('journal'), /Restart by Anna Admin: the foam is gone/);
    t.strictSame(await flawsOf(page, 'batch-happened'), []);
    await eventually('the journal tells the end of it too', async () => /Restarting → Running/.test((await page.getByTestId('journal').textContent()) ?? ''));
  });
});
