/** What a shift asks of the pages when a batch does not go as it should: why, since when, by whom, and what stands in the way. */
import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import t from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { account, AGAIN, batch, firstAdmin, flawsOf, layoutFlaws, open, panelOf, PASSWORD, raiseAlarm, phoneFlaws, says, signIn, startConsole, SITE } from './person.js';

/** Of the controller of the reactor. */
async function inMode(client: ApiClient, mode: string): Promise<void> {
  const answer = await client.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Whole, in the window. */
async function isInSight(part: Locator): Promise<boolean> {
  const box = await part.boundingBox();
  const height = part.page().viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

/** What the time line shows, as instants. */
async function windowOf(line: Locator): Promise<[number, number]> {
  return [Number(await line.getAttribute('data-from')), Number(await line.getAttribute('data-to'))];
}

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
    const below = page.locator('.batch-detail .detail-scroll');
    const fades = async (): Promise<string> => page.evaluate("getComputedStyle(document.querySelector('.batch-detail .detail-scroll')).getPropertyValue('--more-below')");
    await page.setViewportSize({ width: 1280, height: 640 });
    await eventually('what goes on below the edge fades out', async () => (await fades()) === '36px');
    await below.evaluate((part) => part.scrollTo(0, part.scrollHeight));
    await eventually('and does not at the end', async () => (await fades()) === '0px');
    await page.setViewportSize({ width: 1280, height: 800 });
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
    t.match(page.url(), /tab=happened/, 'the tab has an address of its own');
    await says(page.getByTestId('cause-1'), /1.*Hold by olga of the shift: Foam in the sight glass/);
    await says(page.getByTestId('chain'), /Foam in the sight glass.*Hold by Anna Admin was rejected/, 'the first cause first');
    t.strictSame(await flawsOf(page, 'batch-happened'), []);
    t.strictSame(await phoneFlaws(page, 'batch-happened'), []);
    await eventually('the journal tells the end of it too', async () => /Restarting → Running/.test((await page.getByTestId('journal').textContent()) ?? ''));
  });

  await t.test('the journal is filtered, found in and saved; the time line opens about the first cause, and its window is moved by keys', async (t) => {
    await page.getByTestId('journal-kind-people').click();
    await says(page.getByTestId('journal-count'), /newest first, [1-9]\d* entries/);
    await page.getByTestId('journal-find').fill('foam is gone');
    await says(page.getByTestId('journal-count'), /1 of \d+ entries/);
    t.match(page.url(), /kind=people&find=foam/, 'what is filtered can be sent to a colleague');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('journal-csv').click()]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    t.equal(lines.length, 2, 'the heads, and what is shown');
    t.match(lines[1], /"Restart".*"the foam is gone","Anna Admin","audit-\d+"/);
    await page.getByTestId('journal').getByRole('link').click();
    await says(page.getByTestId('audit-dialog'), /Restart/, 'the record of it is one touch away');
    await page.getByTestId('audit-close').click();
    await page.goBack();
    await page.getByTestId('journal-find').fill('');
    await page.getByTestId('journal-kind-all').click();

    const line = page.getByTestId('time-line');
    const [from, to] = await windowOf(line);
    const asked = Date.parse(((await admin.get(`${SITE}/batches/${name}`)).body.holds as { since: string }[])[0]?.since ?? '');
    t.ok(from < asked && asked < to, 'the first cause is in sight');
    await page.getByTestId('line-whole').click();
    await eventually('the whole batch is in sight', async () => (await windowOf(line))[0] <= from);
    const [first] = await windowOf(line);
    await page.getByTestId('whole-line-plot').focus();
    await page.keyboard.press('+');
    await eventually('it is closer', async () => (await windowOf(line))[0] > first);
    await page.keyboard.press('Home');
    await eventually('it is at the beginning', async () => (await windowOf(line))[0] === first);
    const [begin, end] = await windowOf(line);
    await page.keyboard.press('ArrowRight');
    await eventually('the window has moved by a part of itself', async () => {
      const [next, nextEnd] = await windowOf(line);
      return next > begin && Math.abs(nextEnd - next - (end - begin)) <= 2;
    });
    await page.getByTestId('moment-1').click();
    await page.getByTestId('line-plot').press('Home');
    for (let leaps = 0; leaps < 4; leaps += 1) await page.keyboard.press('PageUp');
    await says(page.getByTestId('line-told'), /RX101/);
    await page.getByTestId('add-pen').selectOption('rx101 li101.pv');
    await page.locator('[data-testid="line"] .time-curve').first().waitFor({ state: 'attached' });
    t.match(page.url(), /pens=/);
    await page.evaluate(`location.hash = '#/batch/${name}?tab=happened&with=${name}'`);
    await says(page.getByTestId('durations'), /makeResin.*\+0:00/, 'element by element beside another batch: here itself');
    await page.locator('[data-testid="line"] .time-curve-other').first().waitFor({ state: 'attached' });
    t.strictSame(await flawsOf(page, 'batch-compared'), []);
  });

  await t.test('what is to be put right before Restart is told with its present value, ticks itself, and the grey button counts it', async (t) => {
    await page.evaluate(`location.hash = '#/batch/${name}?tab=happened'`);
    await says(page.getByTestId('to-go-on'), /The batch runs/);
    const drainReset = async (value: boolean): Promise<void> => {
      const answer = await admin.post(`${SITE}/units/rx101/tags/xv105.reset`, { value });
      if (answer.status !== 200) throw new Error(answer.text);
    };
    const definition = { name: 'drain-reset', sourceKind: 'ControlModule', sourceName: 'xv105', conditionType: 'TagTrue', tagName: 'reset', message: 'The drain is being reset' };
    const made = await admin.post(`${SITE}/alarmdefinitions`, { ...definition, type: 'Process', severity: 'Medium', enabled: true, exceptionAction: 'Hold' });
    t.equal(made.status, 201, made.text);
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv105', mode: 'Manual' })).status, 200);
    await drainReset(true);
    await state('Held');
    await says(page.getByTestId('cause-1'), /Anna Admin: XV105: Automatic → Manual.*done before the alarm came/, 'what people had done before the alarm comes first');
    await says(page.getByTestId('chain'), /Alarm: The drain is being reset/);
    await says(page.getByTestId('chain'), /Hold by the alarm: The drain is being reset/);
    const todo = page.getByTestId('to-do-alarms-drain-reset-1');
    await says(todo, /XV105\.RESET is false.*The drain is being reset, now true.*Alarms/);
    await says(page.getByTestId('go-on-count'), /1 of 1 open/);
    await page.getByTestId('command-Restart').press('Enter');
    await says(page.getByTestId('command-Restart-why'), /Restart is not possible now.*XV105\.RESET is false/, 'the row of commands waits for the same as the list');
    await page.keyboard.press('Escape');
    await page.getByTestId('go-on-grey').press('Enter');
    await says(page.getByTestId('go-on-grey-why'), /Restart is not possible now.*XV105\.RESET is false/);
    await page.keyboard.press('Escape');
    t.strictSame(await flawsOf(page, 'batch-to-go-on'), []);
    t.strictSame(await phoneFlaws(page, 'batch-to-go-on'), []);
    await drainReset(false);
    await page.locator('[data-testid="to-do-alarms-drain-reset-1"][data-done="true"]').waitFor();
    await says(page.getByTestId('go-on-count'), /0 of 1 open/);
    await page.getByTestId('go-on').click();
    await page.getByTestId('command-send').click();
    await state('Running');
    await says(page.getByTestId('chain'), /The drain is being reset/, 'the causes stay when it is over');
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv105', mode: 'Automatic' })).status, 200);
  });

  await t.test('a batch is ordered at the panel; what comes next stands in the plan, and the shift leaves notes', async (t) => {
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('batch-new').click();
    await page.getByTestId('new-send').click();
    await page.getByTestId('new-batch-error').waitFor();
    await page.getByTestId('new-id').fill('PANEL-1');
    await page.getByTestId('new-lot').fill('000123');
    await page.getByTestId('new-quantity').fill('1e9');
    await says(page.getByTestId('new-judged'), /quantity/i, 'what stands against it is said before it is ordered');
    await page.getByTestId('new-quantity').fill('28');
    await says(page.getByTestId('new-judged'), /rx101.*SHIFT-1|SHIFT-1/i);
    t.strictSame(await flawsOf(page, 'new-batch'), []);
    await page.getByTestId('new-send').click();
    await page.getByTestId('new-batch').waitFor({ state: 'detached' });
    await says(page.getByTestId('stands-PANEL-1'), /RX101 \(SHIFT-1\)/, 'it waits for what people call by its number');
    const [made] = (await admin.get(`${SITE}/batches?search=PANEL-1`)).body as { lotID: string; priority: number; name: string }[];
    t.match(made, { lotID: '000123', priority: 100 });
    await page.getByTestId('batch-PANEL-1').click();
    await page.getByTestId('change-priority').click();
    await page.getByTestId('priority').fill('700');
    await page.getByTestId('priority-send').click();
    await page.getByTestId('priority-dialog').waitFor({ state: 'detached' });
    await eventually('its priority is another', async () => (await admin.get(`${SITE}/batches/${made?.name}`)).body.priority === 700);
    await page.getByTestId('part-ahead').click();
    await says(page.getByTestId('no-experience'), /SHIFT-1.*No experience yet/);
    await page.getByTestId('next-hours').locator('summary').click();
    await says(page.getByTestId('plan-list'), /RX101 SHIFT-1 makeResin .* – /);
    t.strictSame(await flawsOf(page, 'next-hours'), []);
    await page.getByTestId('part-notes').click();
    await page.getByTestId('hand-over').click();
    await page.getByTestId('note-text').fill('Sight glass of TK201 <b>dirty</b>');
    await page.getByTestId('note-unit').selectOption('tk201');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('note-fault'), /./);
    await page.getByTestId('note-to').fill('Otto Ops');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('note-1'), /olga of the shift.*Otto Ops.*TK201.*Sight glass of TK201 <b>dirty<\/b>/);
    await page.getByTestId('note-correct-1').click();
    await page.getByTestId('note-text').fill('it is that of MX101');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('note-2'), /1.*it is that of MX101/);
    await page.getByTestId('note-1').waitFor();
    t.strictSame(await flawsOf(page, 'shift-notes'), []);
    const [record] = (await admin.get(`${SITE}/audit?category=shift-note`)).body.items as { details: unknown }[];
    t.ok(record, 'notes are on record');
    await page.getByTestId('part-batch').click();
    t.equal((await admin.delete(`${SITE}/batches/${made?.name}`)).status, 204);
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
    await page.getByTestId('batch-find').click();
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

  await t.test('in a flood the worst and the first alarm stay in sight; the list is grouped by cause, searched, and acknowledged for a page or a group that is open', async (t) => {
    const COUNT = 60;
    const ofFlood = async (question = ''): Promise<string[]> =>
      ((await admin.get(`${SITE}/alarms?severity=High${question}`)).body as { definitionRef: string }[])
        .map(({ definitionRef }) => definitionRef)
        .filter((name) => name.startsWith('flood-'));
    const raise = (at: number): Promise<void> => raiseAlarm(admin, `flood-${String(at).padStart(3, '0')}`, `Flood number ${at}`, 'High');
    await raise(0);
    await says(page.getByTestId('alarm-banner'), /Flood number 0/);
    for (let at = 1; at < COUNT; at += 1) await raise(at);
    await eventually('all of them stand', async () => (await ofFlood()).length === COUNT);
    await page.getByTestId('nav-alarms').click();
    await says(page.getByTestId('alarm-count'), /6\d entries/);
    await says(page.getByTestId('alarm-banner'), /Flood number 0RX101/, 'of equals the first, not the newest');
    await says(page.getByTestId('first-out'), /First out.*RX101 .+; then (59|6\d) in \d+ (s|min)/, 'what the flood began with, and how much of it there is');
    await says(page.getByTestId('flood'), /Flood.*(60|6\d) alarms in .*since \d\d:\d\d:\d\d; goal: under 10 in 10 min/);
    const head = page.locator('[data-testid="alarm-group-head"]', { hasText: 'Flood number 0' });
    await says(head, /RX101: Flood number 0.*same source.*60 alarms/, 'one group, and why it is one');
    const root = await head.getAttribute('data-group');
    t.equal(root, 'flood-000-1', 'named by the alarm that came first');
    t.ok((await page.getByTestId('alarm-rows').locator('li').count()) < 45, 'only the lines in sight are drawn');
    t.strictSame(await layoutFlaws(page, 'alarms-flood'), []);
    await page.getByTestId('alarm-tab-unit').click();
    await says(page.getByTestId('alarm-group-head').first(), /RX101.*6\d alarms/);
    t.match(page.url(), /by=unit/, 'a colleague gets the same list by its address');
    await page.getByTestId('alarm-tab-time').click();
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (request.method() === 'GET' && pathname === `${SITE}/alarms`) asked.push(searchParams.has('name') ? 'some' : 'all');
    });
    await page.getByTestId('alarm-search').fill('number 1');
    await says(page.getByTestId('alarm-count'), /11 entries/);
    await page.getByTestId('acknowledge-shown').click();
    t.strictSame(await flawsOf(page, 'alarms-acknowledge'), []);
    await page.getByTestId('acknowledge-send').click();
    await page.getByTestId('acknowledge-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('acknowledge-shown').waitFor({ state: 'detached' });
    t.equal((await ofFlood('&state=ActiveUnacknowledged')).length, COUNT - 11, 'those that were shown, and no others');
    t.ok(asked.length > 0);
    t.notOk(asked.includes('all'), 'what has changed is read, not the whole list');
    await page.getByTestId('alarm-search').fill('');

    await page.getByTestId('alarm-tab-cause').click();
    const all = page.getByTestId(`acknowledge-group-${root}`);
    if ((await head.getAttribute('data-open')) === 'true') await page.getByTestId(`group-${root}`).click();
    await all.press('Enter'); // grey, and still a way to say why
    await says(page.getByTestId(`acknowledge-group-${root}-why`), /Open the group/, 'what nobody has seen is not acknowledged');
    await page.keyboard.press('Escape');
    await page.getByTestId(`group-${root}`).click();
    await all.click();
    await eventually('every alarm of the group is acknowledged', async () => (await ofFlood('&state=ActiveUnacknowledged')).length === 0);
    const records = (await admin.get(`${SITE}/audit?category=alarm&limit=1000`)).body.items as { action: string; result: string; target: { name: string } }[];
    const accepted = records.filter(({ action, result, target }) => action === 'Acknowledge' && result === 'Accepted' && target.name.startsWith('flood-'));
    t.equal(new Set(accepted.map(({ target }) => target.name)).size, COUNT, 'each has a record of its own');
    await all.waitFor({ state: 'detached' });
  });

  await t.test('the dialog of a prompt names unit, batch and step, and what the recipe allows', async (t) => {
    await page.getByTestId('nav-prompts').click();
    await page.getByTestId('prompt-value').getByTestId('prompt-answer').click();
    await says(page.getByTestId('prompt-asked'), /Unit ?RX101.*Batch ?SHIFT-1.*Step ?makeResin\/react\/check \/ .*phMin ?6\.5 pH.*phMax ?8\.0 pH/);
    t.strictSame(await flawsOf(page, 'prompt-asked'), []);
    await page.keyboard.press('Escape');
  });

  await t.test('a controller that people have taken is conspicuous during a batch, and named before it goes on', async (t) => {
    await page.getByTestId('nav-overview').click();
    await inMode(admin, 'Manual');
    await says(page.getByTestId('departs-tic101'), /Manual/);
    await page.getByTestId('value-tic101.pv').locator('[data-mark="manual"].mark-soft').waitFor();
    t.strictSame(await layoutFlaws(page, 'overview-departs'), []);
    await command('Hold', 'the loop was taken by hand');
    await page.getByTestId('batch-SHIFT-1').click();
    await page.locator('[data-testid="batch-state"][data-state="Held"]').waitFor();
    await page.getByTestId('command-Restart').click();
    await says(page.getByTestId('departures'), /goes on with this.*TIC101 is in Manual/);
    t.strictSame(await flawsOf(page, 'restart-departures'), []);
    await page.getByTestId('command-cancel').click();
    await page.evaluate(`location.hash = '#/batch/${name}?tab=happened'`);
    const told = page.getByTestId('to-do-modes-tic101');
    await says(told, /TIC101/, 'the list says it as the dialog does');
    await told.getByRole('link').click();
    await says(page.getByTestId('faceplate-tic101'), /TIC101/, 'the way leads to the module that is in the way');
    await page.goBack();
    await says(page.getByTestId('to-go-on'), /goes on with this/);
    t.notMatch(await page.getByTestId('to-go-on').textContent(), /Nothing is in the way/);
    await says(page.getByTestId('last-done'), /Hold by Anna Admin: the loop was taken by hand/, 'who did what last');
    await inMode(admin, 'Semi-Automatic');
    await inMode(admin, 'Manual');
    await says(page.getByTestId('last-done'), /TIC101: Semi-Automatic → Manual.*Anna Admin/);
    await page.getByTestId('nav-overview').click();
    await says(page.getByTestId('later-causes'), /Anna Admin: TIC101: Manual → Semi-Automatic/, 'it stands among what came after the hold');
    await says(page.getByTestId('standing'), /Held since .*Hold by Anna Admin: the loop was taken by hand.*Last done: .*TIC101/);
    await page.getByTestId('command-Restart').click();
    await says(page.getByTestId('departures'), /TIC101 is in Manual/);
    await inMode(admin, 'Automatic');
    await page.getByTestId('departures').getByText('TIC101 is in Manual').waitFor({ state: 'detached' });
    await page.getByTestId('command-cancel').click();
  });

  await t.test('a phone shows the held unit first; German pages say why, what was done last and what is open without a word of English', async (t) => {
    const phone = await panelOf(browser, { viewport: { width: 390, height: 844 }, locale: 'de-DE', hasTouch: true });
    await phone.goto(`${box.base}/hmi`);
    await signIn(phone, 'olga');
    await phone.locator('[data-testid="unit-rx101"][data-abnormal="true"]').waitFor();
    const topOf = async (unit: string): Promise<number> => (await phone.getByTestId(`unit-${unit}`).boundingBox())?.y ?? NaN;
    await phone.locator('[data-testid="unit-mx101"][data-abnormal="false"]').waitFor();
    t.ok((await topOf('rx101')) < (await topOf('mx101')), 'the abnormal comes first');
    await says(phone.getByTestId('held-rx101'), /Angehalten: the loop was taken by hand/);
    await says(phone.getByTestId('age-rx101'), /^seit \d/, 'a length says of what it is');
    for (const part of await phone.locator('.tile-batch > :not(.tile-end)').all()) t.ok(((await part.boundingBox())?.height ?? NaN) < 30, 'a number and an age are one line');
    t.ok(((await phone.locator('.header').boundingBox())?.height ?? NaN) <= 56, 'the header is one line');
    await phone.evaluate("location.hash = '#/prompts'");
    await phone.getByTestId('prompt-value').getByTestId('prompt-answer').click();
    await phone.getByTestId('answer-value').waitFor();
    t.ok(await isInSight(phone.getByTestId('prompt-send')), 'sending is in sight however long the question is');
    await phone.getByTestId('prompt-dialog').getByRole('button', { name: 'Verwerfen' }).click();
    await inMode(admin, 'Manual');
    await phone.evaluate(`location.hash = '#/batch/${name}?tab=happened'`);
    await says(phone.getByTestId('to-do-modes-tic101'), /TIC101/);
    await says(phone.getByTestId('last-done'), /Zuletzt getan: .*TIC101: Automatik → Hand/);
    await phone.getByTestId('journal').scrollIntoViewIfNeeded();
    t.ok(await isInSight(phone.getByTestId('command-Restart')), 'commands stay in reach however far the page is scrolled');
    const told = [await phone.getByTestId('to-go-on').innerText(), await phone.getByTestId('chain').innerText(), await phone.getByTestId('last-done').innerText()].join(' ');
    const own = told.replaceAll('the loop was taken by hand', '').replaceAll('Measure the pH of the reactor contents', ''); // what people and recipes have written stays as it is
    t.notMatch(own, /\b(is|are|the|held|phase|again|Activated|Manual|Automatic|alarm-|write-mode|stands)\b/, own);
    await inMode(admin, 'Automatic');
    const journal = phone.getByTestId('journal');
    await says(journal, /Alarm: Flood number/);
    t.notMatch(await journal.innerText(), /Activated|Hold by|procedure|audit|is not possible|mode of|: alarm /, 'the journal is worded from codes');
    for (const words of ['Steuerrezept gemacht aus', 'Anhalten von olga of the shift: Foam in the sight glass']) {
      await phone.getByTestId('journal-find').fill(words);
      await says(journal, new RegExp(words.replace('Anhalten', 'An\u00ad?halten')), 'and is searched as it is shown'); // where it may be broken nobody types anything
    }
    await phone.evaluate("location.hash = '#/overview'");
    await phone.getByTestId('batch-new').click();
    await phone.getByTestId('new-id').fill('SHIFT-NEU');
    await phone.getByTestId('new-quantity').fill('1e9');
    const judged = phone.getByTestId('new-judged');
    await says(judged, /RX101 ist belegt von SHIFT-1/);
    await says(judged, /Eine Menge von 1e9 ist nicht erlaubt; erlaubt ist .*bis /);
    t.notMatch(await judged.innerText(), /\b(is|the|unit|taken|quantity|outside|recipe)\b/);
    await phone.getByTestId('new-cancel').click();
    await phone.context().close();
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
        const overview = (await (await route.fetch(AGAIN)).json()) as { units: { name: string }[] };
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
