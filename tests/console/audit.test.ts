/** The audit trail as an inspector reads it on the panel: what was done, to what, by whom, in words; and the record itself behind it. */
import t from 'tap';
import type { Locator } from 'playwright-core';
import { account, batch, firstAdmin, flawsOf, open, PASSWORD, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';

t.test('a row of the audit trail says what was commanded, on what and by whom', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  const session = await box.api.post('/api/v1/auth/login', { username: 'olga', password: PASSWORD });
  const olga = box.api.with(`Bearer ${session.body.accessToken}`);
  const did = async (path: string, body: object): Promise<void> => {
    const { status, text } = await olga.post(`${SITE}/${path}`, body);
    if (status !== 200) throw new Error(text);
  };
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');
  await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
  const name = await batch(olga, 'A-7');
  await did('command', { kind: 'Batch', name, command: 'Start' });
  await did('mode', { kind: 'ControlModule', name: 'tic101', mode: 'Manual' });
  await did('controlmodules/tic101/tags/sp', { value: 33.25 });
  await did('command', { kind: 'Batch', name, command: 'Hold', reason: 'shift inspection' });

  await page.getByTestId('nav-audit').click();
  const rows = page.getByTestId('audit-table').locator('tbody tr');
  const row = (category: string, ...words: readonly string[]): Locator =>
    words.reduce((found, hasText) => found.filter({ hasText }), page.getByTestId('audit-table').locator(`tr[data-category="${category}"]`)).first();
  await rows.first().waitFor();
  const held = row('command', 'Hold', 'Accepted');
  await says(held.getByTestId('audit-deed'), /^Hold\s+command$/, 'the command itself, and no word twice');
  await says(held, /olga of the shift.*A-7\s+Batch.*shift inspection/s);
  await says(row('command', 'Hold', 'Success'), /batch-controller\s+for olga of the shift/, 'a component says for whom it judged');
  await says(row('mode').getByTestId('audit-deed'), /^Automatic → Manual\s+mode$/);
  await says(row('mode'), /TIC101/);
  await says(row('tag-write').getByTestId('audit-deed'), /^20 °C → 33\.25 °C\s+value written$/, 'values as they were recorded, with their unit of measure');
  t.ok((await page.locator('.navigation .place').count()) >= 5, 'with its views in the bar');
  t.strictSame(await phoneFlaws(page, 'audit'), []);

  await row('tag-write').getByRole('button').click();
  const dialog = page.getByTestId('audit-dialog');
  await says(dialog, /Changed\s*20 °C → 33\.25 °C/);
  await says(dialog, /controlModule: tic101/);
  t.notMatch(await dialog.locator('.audit-lines').allTextContents(), /[{}"]/, 'no source text to a person');
  t.equal(await dialog.locator('pre').isVisible(), false);
  t.strictSame(await flawsOf(page, 'audit-dialog'), []);
  t.strictSame(await phoneFlaws(page, 'audit-dialog'), []);
  await page.getByTestId('audit-recorded').click();
  await says(dialog.locator('pre'), /"after": 33\.25/, 'the record as it is stays at hand');
  t.strictSame(await flawsOf(page, 'audit-recorded'), []);
});
