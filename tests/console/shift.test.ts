/** What a shift asks of the pages when a batch does not go as it should: why, since when, by whom, and what stands in the way. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, batch, firstAdmin, flawsOf, layoutFlaws, open, panelOf, PASSWORD, raiseAlarm, phoneFlaws, says, signIn, startConsole, SITE } from './person.js';

t.test('a shift with a batch that is held', async (t) => {
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
    t.strictSame(await phoneFlaws(page, 'batch-held'), []);
    await page.locator('.tree-name').first().click();
    t.strictSame(await phoneFlaws(page, 'batch-held-procedure'), [], 'a chart of three columns is moved, not the page');
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
    t.strictSame(await phoneFlaws(page, 'batch-happened'), []);
    await eventually('the journal tells the end of it too', async () => /Restarting → Running/.test((await page.getByTestId('journal').textContent()) ?? ''));
  });

  await t.test('a long list of batches says how many there are, pages, and finds the one that is asked for', async (t) => {
    const COUNT = 70;
    for (let at = 0; at < COUNT; at += 1) await batch(admin, `PO-${String(at).padStart(4, '0')}`);
    await page.getByTestId('nav-overview').click();
    await says(page.getByTestId('batch-count'), /60 of 71/);
    t.equal(await page.getByTestId('batches').locator('li').count(), 60);
    await says(page.getByTestId('batches').locator('li').first(), /SHIFT-1/, 'what runs is on top');
    await page.getByTestId('batch-more').click();
    await says(page.getByTestId('batch-count'), /71 in all/);
    await batch(admin, 'PO-NEW');
    await says(page.getByTestId('batch-count'), /72 in all/);
    await says(page.getByTestId('batches'), /PO-NEW/, 'what is ordered while all pages are shown stands among them');
    await page.getByTestId('batch-search').fill('po-0069');
    await page.getByTestId('batch-PO-0069').click();
    await says(page.getByTestId('batch-detail'), /Batch PO-0069/);
    await says(page.getByTestId('batch-count'), /1 in all/);
    t.strictSame(await flawsOf(page, 'overview-search'), []);
    await page.getByTestId('batch-search').fill('nothing like this');
    await says(page.getByTestId('batch-count'), /0 in all/);
    await page.getByTestId('batch-search').fill('');
    await page.getByTestId('batch-set').selectOption('ended');
    await says(page.getByTestId('batch-count'), /0 in all/);
    await page.getByTestId('batch-set').selectOption('all');
    await says(page.getByTestId('batch-count'), /60 of 72/);
  });

  await t.test('in a flood the alarm that came first stays in sight; the list is bounded, searched, and acknowledged for a page', async (t) => {
    const COUNT = 60;
    const raise = (at: number): Promise<void> => raiseAlarm(admin, `flood-${String(at).padStart(3, '0')}`, `Flood number ${at}`);
    await raise(0);
    await says(page.getByTestId('alarm-banner'), /Flood number 0/);
    for (let at = 1; at < COUNT; at += 1) await raise(at);
    await eventually('all of them stand', async () => ((await admin.get(`${SITE}/alarms?severity=Critical`)).body as unknown[]).length === COUNT);
    await page.getByTestId('nav-alarms').click();
    await says(page.getByTestId('alarm-count'), /50 of 6\d/);
    await says(page.getByTestId('alarm-banner'), /Flood number 0RX101/, 'of equals the first, not the newest');
    await says(page.getByTestId('alarm-rows').locator('li').first(), /Flood number 0/);
    t.equal(await page.getByTestId('alarm-rows').locator('li').count(), 50);
    t.strictSame(await layoutFlaws(page, 'alarms-flood'), []);
    await page.getByTestId('alarm-group').selectOption('unit');
    await says(page.getByTestId('alarm-group-head').first(), /RX101 6\d entries/);
    await page.getByTestId('alarm-group').selectOption('none');
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (request.method() === 'GET' && pathname === `${SITE}/alarms`) asked.push(searchParams.has('name') ? 'some' : 'all');
    });
    await page.getByTestId('alarm-search').fill('number 1');
    await says(page.getByTestId('alarm-count'), /11 in all/);
    await page.getByTestId('acknowledge-shown').click();
    t.strictSame(await flawsOf(page, 'alarms-acknowledge'), []);
    await page.getByTestId('acknowledge-send').click();
    await page.getByTestId('acknowledge-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('acknowledge-shown').waitFor({ state: 'detached' });
    const left = ((await admin.get(`${SITE}/alarms?severity=Critical&state=ActiveUnacknowledged`)).body as unknown[]).length;
    t.equal(left, COUNT - 11, 'those that were shown, and no others');
    t.ok(asked.length > 0);
    t.notOk(asked.includes('all'), 'what has changed is read, not the whole list');
    await page.getByTestId('alarm-search').fill('');
  });

  await t.test('the dialog of a prompt names unit, batch and step, and what the recipe allows', async (t) => {
    await page.getByTestId('nav-prompts').click();
    await page.getByTestId('prompt-value').getByTestId('prompt-answer').click();
    await says(page.getByTestId('prompt-asked'), /Unit ?RX101.*Batch ?SHIFT-1.*Step ?makeResin\/react\/check \/ .*phMin ?6\.5 pH.*phMax ?8\.0 pH/);
    t.strictSame(await flawsOf(page, 'prompt-asked'), []);
    await page.keyboard.press('Escape');
  });

  await t.test('a controller that people have taken is conspicuous during a batch, and named before it goes on', async (t) => {
    const inMode = async (mode: string): Promise<void> => {
      const answer = await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode });
      if (answer.status !== 200) throw new Error(answer.text);
    };
    await page.getByTestId('nav-overview').click();
    await inMode('Manual');
    await says(page.getByTestId('departs-tic101'), /Manual/);
    t.strictSame(await layoutFlaws(page, 'overview-departs'), []);
    await command('Hold', 'the loop was taken by hand');
    await page.getByTestId('batch-SHIFT-1').click();
    await page.locator('[data-testid="batch-state"][data-state="Held"]').waitFor();
    await page.getByTestId('command-Restart').click();
    await says(page.getByTestId('departures'), /goes on with this.*TIC101 is in Manual/);
    t.strictSame(await flawsOf(page, 'restart-departures'), []);
    await inMode('Automatic');
    await page.getByTestId('departures').getByText('TIC101 is in Manual').waitFor({ state: 'detached' });
    await page.getByTestId('command-cancel').click();
  });

  await t.test('what is not finished cannot be approved, and who has signed is shown', async (t) => {
    await page.evaluate(`location.hash = '#/batch/${name}'`);
    await state('Held');
    await page.getByTestId('sign').click();
    await page.getByTestId('meaning-Witnessed').waitFor();
    t.equal(await page.getByTestId('meaning-Approved').count(), 0, 'the batch is held');
    await page.getByTestId('meaning-Witnessed').click();
    await page.getByTestId('reason').fill('seen on site');
    await page.getByTestId('sign-password').fill(PASSWORD);
    await page.getByTestId('sign-send').click();
    await page.getByTestId('sign-close').click();
    await says(page.getByTestId('signatures'), /olga of the shift: Witnessed/);
    await page.reload();
    await says(page.getByTestId('signatures'), /olga of the shift: Witnessed/, 'and still after a new look');
    t.strictSame(await layoutFlaws(page, 'batch-signed'), []);
  });

  await t.test('D-C-12: the page of a unit shows who waits for it, with the other units of a class', async (t) => {
    const other = await panelOf(browser);
    const request = { unitProcedure: 'fill', priority: 100, since: '2026-01-31T09:00:00.000Z' };
    const queue = [
      { ...request, batch: 'b-first' },
      { ...request, batch: 'b-any', capability: 'react', candidates: ['rx101', 'rx102'] },
    ];
    await other.route(
      ({ pathname }) => pathname === `${SITE}/overview`,
      async (route) => {
        const overview = (await (await route.fetch()).json()) as { units: { name: string }[] };
        await route.fulfill({ json: { ...overview, units: overview.units.map((unit) => (unit.name === 'rx101' ? { ...unit, allocationQueue: queue } : unit)) } });
      },
    );
    await other.goto(`${box.base}/hmi`);
    await signIn(other, 'olga');
    await other.getByTestId('open-rx101').click();
    await says(other.getByTestId('unit-queue'), /Wait for it: b-first; b-any \(any for react: RX101, RX102\)/);
    t.strictSame(await flawsOf(other, 'unit-queue'), []);
    await other.context().close();
  });

  await t.test('D-C-06: a box whose outputs are withheld says so on every page', async (t) => {
    t.equal(await page.getByTestId('outputs-withheld').count(), 0, 'simulated devices are nobody’s plant');
    const other = await panelOf(browser);
    const plc = { name: 'plc1', protocol: 'modbus-tcp', outputs: { state: 'withheld', reason: 'this box withholds its outputs (setting io.outputs)' } };
    const off = { name: 'plc2', protocol: 'modbus-tcp', outputs: { state: 'disabled', reason: 'the module is disabled' } };
    await other.route(
      ({ pathname }) => pathname === `${SITE}/iomodules`,
      (route) => route.fulfill({ json: [plc, off] }),
    );
    await other.goto(`${box.base}/hmi`);
    await signIn(other, 'olga');
    for (const place of ['alarms', 'trends', 'overview']) {
      await other.getByTestId(`nav-${place}`).click();
      await says(other.getByTestId('outputs-withheld'), /Outputs withheld \(plc1\): this box withholds its outputs.*disabled: plc2/);
    }
    t.strictSame(await flawsOf(other, 'outputs-withheld'), []);
    await other.context().close();
  });
});
