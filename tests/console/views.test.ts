/** The views of the console, each doing what it is there for, against one running demo plant. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page, Request } from 'playwright-core';
import t, { type Test as Tap } from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { account, answerTo, batch, csvOf, firstAdmin, flawsOf, hasFocus, holds, isLocked, layoutFlaws, open, orWhy, PASSWORD, says, signIn, startConsole, SITE } from './person.js';

/** The built consoles, beside the built tests. */
const ASSETS = fileURLToPath(new URL('../../console/assets/', import.meta.url));

/** Numbers of lots are texts, however much they look like numbers. */
const LOTS = [
  { name: 'monomerLot', value: '20261122007' },
  { name: 'solventLot', value: '000123' },
];

/** An alarm that is there from the start: the vessel is empty. */
async function lowLevelAlarm(admin: ApiClient, severity: string, name = 'li101-low', message = 'Reactor is empty'): Promise<void> {
  const definition = {
    sourceKind: 'ControlModule',
    sourceName: 'li101',
    conditionType: 'TagLow',
    tagName: 'pv',
    threshold: '5',
    type: 'Process',
    severity,
    priority: 600,
    enabled: true,
  };
  const answer = await admin.post(`${SITE}/alarmdefinitions`, { ...definition, name, message });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** Reason and password into the open signature, and its answer away. */
async function signNow(page: Page, reason: string): Promise<void> {
  await page.getByTestId('reason').fill(reason);
  await page.getByTestId('sign-password').fill(PASSWORD);
  await page.getByTestId('sign-send').click();
  await page.getByTestId('signed').waitFor();
  await page.getByTestId('sign-close').click();
}

/** The check of the batch, in Manual and answered: a step is begun beside the active one, one is left, and another skips to the end (ADR 0007). */
async function stepsByHand(t: Tap, page: Page, admin: ApiClient, name: string): Promise<void> {
  await page.getByTestId('tree-makeResin/react/check').click();
  const active = (step: string) => page.locator(`[data-testid="step-${step}"][data-mark="active"]`).waitFor();
  const idle = (step: string) => page.locator(`[data-testid="step-${step}"]:not([data-mark="active"])`).waitFor();
  const words = page.getByTestId('step-words');
  await active('measure');
  await says(
    page.locator('[data-testid="sub-condition"][data-met="true"]', { hasText: 'ph >= phMin' }),
    /ph 7\.2 pH, goes on when it is at least 6\.5 pH \(phMin\)/,
    'in Manual too a condition is that of now',
  );
  await page.getByTestId('step-measure').click();
  await says(page.getByTestId('step-last'), /only active step/, 'a chart is never left without a step');
  await page.getByTestId('step-last-close').click();

  await page.getByTestId('step-deviation').focus();
  await page.keyboard.press('Enter');
  await says(words, /Step deviation begins now.* measure is left/);
  t.strictSame(await flawsOf(page, 'step-activate'), []);
  await page.getByTestId('leave-measure').click();
  await says(words, /Step deviation begins now.* measure runs on beside it/);
  await signNow(page, 'judged by two people');
  await Promise.all([active('deviation'), active('measure')]);

  await page.getByTestId('step-measure').click();
  await says(words, /Step measure is left now.* deviation runs on/);
  await signNow(page, 'measured often enough');
  await Promise.all([idle('measure'), active('deviation')]);

  await page.getByTestId('step-done').click();
  await signNow(page, 'the deviation is accepted');
  await page.locator('[data-testid="tree-makeResin/react/check"][data-state="Complete"]').waitFor();
  const { items } = (await admin.get(`${SITE}/audit?category=active-step&limit=10`)).body as { items: { details: object; operatorReason: string; displayName: string }[] };
  t.match(items, [
    { details: { change: 'activate', step: 'done', leave: ['deviation'] }, displayName: 'olga of the shift' },
    { details: { change: 'deactivate', step: 'measure' }, operatorReason: 'measured often enough' },
    { details: { change: 'activate', step: 'deviation', leave: [] } },
  ]);
  await backToAutomatic(t, page, admin, name);
}

/** The check is over and nothing goes on: the page says that the levels above it stand in Manual, why, and takes them back with one touch (decisions 3.7). */
async function backToAutomatic(t: Tap, page: Page, admin: ApiClient, name: string): Promise<void> {
  const told = page.locator('[data-testid="manual-levels"][data-standing="true"]');
  await says(
    told,
    /Stands in Manual: the procedure, makeResin, makeResin\/react, makeResin\/react\/check\. makeResin\/react\/check was set to Manual at .+ None of them goes back by itself/,
  );
  t.strictSame(await flawsOf(page, 'batch-stands-in-manual'), []);
  await page.getByTestId('nav-overview').click();
  await page.getByTestId('batch-detail').getByTestId('back-to-automatic').waitFor(); // whoever looks at the overview is told as well
  t.strictSame(await layoutFlaws(page, 'overview-stands-in-manual'), []);
  await page.goBack();
  await page.getByTestId('batch-view').getByTestId('back-to-automatic').click();
  await says(page.getByTestId('back-dialog'), /the procedure.*makeResin.*makeResin\/react.*makeResin\/react\/check/);
  t.strictSame(await layoutFlaws(page, 'back-to-automatic'), []);
  await page.getByTestId('back-send').click();
  await told.waitFor({ state: 'detached' });
  t.same((await admin.get(`${SITE}/batches/${name}`)).body.inManual, [], 'one request has taken all of them back');
}

/** Of an element of the level above the phase that is shown: a step is chosen for a change by hand. */
const byHand = (page: Page, step: string, isActive: boolean) => page.locator(`[data-testid="by-hand-${step}"][data-active="${isActive}"]`).click();
/** Under way, or over already when the page is slow. */
const begun = (page: Page, path: string) => page.locator(['Running', 'Complete'].map((state) => `[data-testid="tree-${path}"][data-state="${state}"]`).join(', '));
const stepWords = (page: Page) => page.getByTestId('step-words');

/** An operation whose transition is not met goes back, and on again (ADR 0007); each of the steps waits for somebody, so none ends by itself. */
async function operationByHand(t: Tap, page: Page, admin: ApiClient, name: string): Promise<void> {
  await page.locator('[data-testid="by-hand-sample"][data-active="true"]').waitFor();
  t.strictSame(await layoutFlaws(page, 'operation-by-hand'), []);
  await byHand(page, 'check', false);
  await says(stepWords(page), /check begins now.* sample is stopped in good order first/);
  t.strictSame(await layoutFlaws(page, 'operation-activate'), []);
  await signNow(page, 'measured once more by two people');
  await orWhy(admin, name, page.locator('[data-testid="tree-makeResin/react/check"][data-state="Running"]').waitFor());
  await byHand(page, 'sample', false);
  await signNow(page, 'nothing is to be measured');
  await orWhy(admin, name, page.locator('[data-testid="tree-makeResin/react/check"][data-state="Stopped"]').waitFor());
  await page.locator('[data-testid="by-hand-sample"][data-active="true"]').waitFor();
}

/** The levels above it: a unit procedure skips, a procedure leaves a branch. */
async function levelsByHand(t: Tap, page: Page, admin: ApiClient, name: string): Promise<void> {
  await page.getByTestId('tree-makeResin').click();
  await byHand(page, 'discharge', false);
  await says(stepWords(page), /discharge begins now.* react is stopped in good order first/);
  await signNow(page, 'the resin is good as it is');
  await orWhy(admin, name, begun(page, 'makeResin/discharge').waitFor());

  await page.getByTestId('tree-root').click();
  await byHand(page, 'store', true);
  await says(stepWords(page), /store is stopped in good order and left.*makeResin/);
  await signNow(page, 'it is filled into drums');
  await page.locator('[data-testid="by-hand-store"][data-active="false"]').waitFor();
  const { items } = (await admin.get(`${SITE}/audit?category=active-step&limit=5`)).body as { items: { target: object; details: object; operatorReason: string }[] };
  t.match(items, [
    { target: { kind: 'Procedure' }, details: { change: 'deactivate', step: 'store' }, operatorReason: 'it is filled into drums' },
    { target: { kind: 'UnitProcedure' }, details: { change: 'activate', step: 'discharge', leave: ['react'] } },
    { target: { kind: 'Operation' }, details: { change: 'force', transition: /^sample->cool/ } },
    { target: { kind: 'Operation' }, details: { change: 'activate', step: 'sample', leave: ['check'] } },
    { target: { kind: 'Operation' }, details: { change: 'activate', step: 'check', leave: ['sample'] } },
  ]);
}

/** The same elements in three shapes; a condition is told in words, its text beside them. */
async function procedureAsPictureAndTable(t: Tap, page: Page): Promise<void> {
  await page.getByTestId('tree-store/receive/receive').click();
  await says(page.getByTestId('condition-words'), /Signal “productDone” from RX101 \(makeResin\/discharge\/transfer\) has not come yet/);
  await says(page.getByTestId('sub-condition'), /READ\('signal:' \+ doneSignal\)/, 'as the engineer wrote it');
  await says(page.getByTestId('blocked'), /Signal “productDone” from RX101/);
  await says(page.getByTestId('element').locator('h3'), /store \/ receive \/ receive/, 'two elements of one name are told apart');
  await page.getByTestId('procedure-as-picture').click();
  await page.locator('[data-testid="box-store/receive/receive"][data-chosen="true"][data-mark="active"]').waitFor();
  await page.locator('[data-testid="box-makeResin/react/heat"][data-mark="done"]').waitFor();
  await says(page.getByTestId('picture-chosen'), /store \/ receive \/ receive.*Signal “productDone”/);
  t.strictSame(await flawsOf(page, 'batch-picture'), []);
  const wide = async (): Promise<number> => Number(await page.getByTestId('picture').locator('svg').getAttribute('data-zoom'));
  await page.getByTestId('picture').focus();
  await page.keyboard.press('+');
  await eventually('it is closer', async () => (await wide()) > 1);
  await page.keyboard.press('0');
  await eventually('all of it is in sight', async () => (await wide()) < 1);
  await page.getByTestId('toggle-prepare').press('Enter');
  await page.getByTestId('box-prepare/premix').waitFor({ state: 'detached' });
  await page.getByTestId('procedure-as-table').click();
  await says(page.getByTestId('row-makeResin/react/heat'), /heat ?RX101 ?Complete ?\d\d:\d\d:\d\d ?\d\d:\d\d:\d\d ?\d:\d\d/);
  t.strictSame(await flawsOf(page, 'batch-table'), []);
  await page.getByTestId('procedure-as-tree').click();
  await page.getByTestId('tree-makeResin/react/check').click();
}

t.test('the views of the console', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  await lowLevelAlarm(admin, 'High');
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');

  await t.test('alarms: one is acknowledged, shelved and shown again, and its history tells who did it', async (t) => {
    const name = await eventually('the alarm is raised', async () => {
      const found = (await admin.get(`${SITE}/alarms`)).body as { name: string; definitionRef: string }[];
      return found.find(({ definitionRef }) => definitionRef === 'li101-low')?.name;
    });
    await page.getByTestId('show-alarms').click();
    const row = (state: string, shelved = false) => page.locator(`[data-testid="alarm-${name}"][data-state="${state}"][data-shelved="${shelved}"]`);
    await row('ActiveUnacknowledged').waitFor();
    await says(row('ActiveUnacknowledged'), /Reactor is empty/);
    t.strictSame(await flawsOf(page, 'alarms'), []);

    await page.getByTestId('filter-severity').selectOption('Low');
    await row('ActiveUnacknowledged').waitFor({ state: 'detached' });
    await says(page.getByTestId('alarms-none'), /\d+ others are hidden/, 'a filter does not say that all is well');
    await page.getByTestId('filter-severity').selectOption('High');
    await page.getByTestId('filter-unit').selectOption('rx101');
    await page.getByTestId(`acknowledge-${name}`).click();
    await row('ActiveAcknowledged').waitFor();
    await says(row('ActiveAcknowledged'), /olga of the shift/);

    await page.getByTestId(`shelve-${name}`).click();
    await page.getByTestId('shelve-2h').click();
    await page.getByTestId('shelve-send').click();
    await says(page.getByTestId('shelve-fault'), /at least/i, 'a shelf has a reason');
    await page.getByTestId('reason').fill('level switch is being changed');
    t.strictSame(await flawsOf(page, 'alarm-shelve'), []);
    await page.getByTestId('shelve-send').click();
    await page.getByTestId('shelve-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('alarm-tab-shelved').click();
    await row('ActiveAcknowledged', true).waitFor();
    await says(row('ActiveAcknowledged', true), /olga of the shift: level switch is being changed/);
    await page.getByTestId(`unshelve-${name}`).click();
    await page.getByTestId('alarm-tab-cause').click();
    await row('ActiveAcknowledged').waitFor();

    await page.getByTestId('alarm-tab-history').click();
    const told = (event: string) => page.locator(`[data-testid="alarm-history"] tr[data-alarm="${name}"][data-event="${event}"]`);
    for (const event of ['Activated', 'Acknowledged', 'Shelved', 'Unshelved']) await told(event).waitFor();
    await says(told('Shelved'), /olga of the shift.*level switch is being changed/);
    t.strictSame(await flawsOf(page, 'alarm-history'), []);
    await page.getByTestId('alarm-tab-metrics').click();
    await page.locator('[data-testid="alarm-metrics"]:not([data-activations="0"])').getByText('li101-low').waitFor();
    t.strictSame(await flawsOf(page, 'alarm-metrics'), []);
  });

  await t.test('alarms: what to do stands beside one, with its present value and what helped before; its definition is read when somebody has changed it', async (t) => {
    await page.getByTestId('alarm-tab-cause').click();
    await page.getByTestId('filter-severity').selectOption('');
    const reads: string[] = [];
    const note = (request: Request): void => void (new URL(request.url()).pathname === `${SITE}/alarmdefinitions` && reads.push(request.url()));
    page.on('request', note);
    const changed = await admin.put(`${SITE}/alarmdefinitions/pi101-deviation`, { setpoint: '5', threshold: '1', debounceSeconds: 0 });
    t.equal(changed.status, 200, changed.text);
    await page.getByTestId('choose-pi101-deviation-1').press('Enter'); // a row that has just come takes no touch
    const detail = page.locator('[data-testid="alarm-detail"][data-alarm="pi101-deviation-1"]');
    await says(detail, /Cause.*vent is closed.*Consequence.*Action.*Check the vent of the reactor/);
    await says(detail.getByTestId('alarm-now'), /^[\d.]+ bar/, 'the present value');
    await says(detail, /When it came.*bar/, 'and that of the moment, told apart');
    await says(detail.getByTestId('alarm-last'), /Nobody has noted/);
    t.match(page.url(), /alarm=pi101-deviation-1/);
    t.strictSame(await flawsOf(page, 'alarm-detail'), []);
    await detail.getByTestId('alarm-definition').click();
    await says(page.getByTestId('definition-dialog'), /pi101\.pv/);
    await page.keyboard.press('Escape');
    await detail.getByTestId('alarm-comment').fill('vent opened by hand');
    await detail.getByTestId('detail-acknowledge').click();
    await page.locator('[data-testid="alarm-pi101-deviation-1"][data-state="ActiveAcknowledged"]').waitFor();
    await says(detail.getByTestId('alarm-last'), /olga of the shift: vent opened by hand/);
    await eventually('the definition that was changed is read', () => Promise.resolve(reads.length > 0));
    page.off('request', note);
    t.ok(reads.length <= 2, `${reads.length} reads: with the model, and never by the clock`);
    await detail.getByTestId('alarm-trend').click();
    await page.locator('[data-testid="trend-plot"] canvas').waitFor();
    t.match(page.url(), /#\/trends\?tags=rx101\+pi101\.pv&from=.+&to=.+&a=/, 'the minutes around it, with the moment marked');
    await admin.put(`${SITE}/alarmdefinitions/pi101-deviation`, { setpoint: '1.5', threshold: '1.5' });
    await page.evaluate("localStorage.removeItem('lineside.trends')");
  });

  await t.test('ISA-18.2: a panel sounds for a new alarm until somebody silences it or it is acknowledged', async (t) => {
    await page.getByTestId('nav-alarms').click();
    const banner = (is: boolean) => page.locator(`[data-testid="alarm-banner"][data-sounding="${is}"]`).waitFor();
    await banner(false);
    await page.getByTestId('horn').click();
    await page.locator('[data-testid="horn"][aria-pressed="true"]').waitFor();
    await lowLevelAlarm(admin, 'High', 'li101-horn', 'Level calls');
    await banner(true);
    await page.getByTestId('horn').click();
    await banner(false);
    await page.locator('[data-testid="horn"][aria-pressed="true"]').waitFor(); // silenced is not off
    await lowLevelAlarm(admin, 'High', 'li101-horn2', 'Level calls again');
    await banner(true);
    for (const name of ['li101-horn-1', 'li101-horn2-1']) await admin.post(`${SITE}/alarms/${name}/acknowledge`, {});
    await banner(false);
    await page.getByTestId('horn').click();
    await page.locator('[data-testid="horn"][aria-pressed="false"]').waitFor();
    for (const name of ['li101-horn', 'li101-horn2']) t.equal((await admin.put(`${SITE}/alarmdefinitions/${name}`, { threshold: '-50' })).status, 200);
  });

  await t.test('contract 2, Alarm: an alarm that has cleared is told apart in the banner while it waits for its acknowledgement', async () => {
    await lowLevelAlarm(admin, 'Critical', 'li101-lowest', 'Level is lowest');
    await says(page.getByTestId('alarm-banner').filter({ hasNotText: 'cleared' }), /Level is lowest/);
    const { status, text } = await admin.put(`${SITE}/alarmdefinitions/li101-lowest`, { threshold: '-50' });
    if (status !== 200) throw new Error(text);
    await says(page.getByTestId('alarm-banner'), /Level is lowest\s*cleared, unacknowledged/);
    await admin.post(`${SITE}/alarms/li101-lowest-1/acknowledge`, {});
    await page.getByTestId('alarm-banner').filter({ hasNotText: 'Level is lowest' }).waitFor();
  });

  await t.test('unit: the why of an interlock is read, a setpoint is written after a question, and the curve follows it', async (t) => {
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('open-rx101').click();
    await page.locator('[data-testid="module-hx101"][data-quality="Good"][data-blocked="true"]').waitFor();
    t.strictSame(await flawsOf(page, 'unit'), []);

    await page.getByTestId('module-hx101').click();
    await page.locator('[data-testid="interlock"][data-blocked="true"]').waitFor();
    const reason = page.getByTestId('interlock-why').locator('li[data-ok="false"]');
    await says(
      reason,
      /level low: Reactor level LI101: now \S+ %, must be at least 10 %\s+li101\.pv \S+ ≥ 10/,
      'words with value, limit and unit, and beside them what the logic compares',
    );
    await says(page.getByTestId('interlock-why').locator('li[data-ok="true"]'), /temperature high: .*TIC101: now \S+ °C, must be at most 110 °C\s+tic101\.pv \S+ ≤ 110/);
    await isLocked(page, 'bypass'); // a permission of its own
    await says(page.getByTestId('bypass-not-allowed'), /call a supervisor/);
    t.strictSame(await flawsOf(page, 'faceplate-interlock'), []);

    await page.getByTestId('module-tic101').click();
    await page.getByTestId('faceplate-tic101').waitFor();
    await isLocked(page, 'write-sp'); // in Automatic nobody writes
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="module-tic101"][data-mode="Manual"]').waitFor();
    await page.getByTestId('write-sp').click();
    await page.getByTestId('write-value').fill('150');
    await page.getByTestId('write-send').click();
    await says(page.getByTestId('write-error'), /0 to 110/);
    await page.getByTestId('write-value').fill('42,5');
    await page.getByTestId('write-send').click();
    await says(page.getByTestId('write-confirm'), /→\s*42\.5 °C/, 'the old and the new value are shown first');
    t.strictSame(await flawsOf(page, 'write-confirm'), []);
    await page.getByTestId('write-send').click();
    await page.getByTestId('write-dialog').waitFor({ state: 'detached' });
    await page.locator('[data-testid="line-sp"][data-quality="Good"]', { hasText: '42.5' }).waitFor();
    await page.locator('[data-testid="trend-plot"] canvas').waitFor();
    await eventually('the write is in the audit trail', async () => {
      const audited = (await admin.get(`${SITE}/audit?category=tag-write&limit=5`)).body.items as { displayName: string; result: string }[];
      return audited.some(({ displayName, result }) => displayName === 'olga of the shift' && result === 'Success');
    });
    t.strictSame(await flawsOf(page, 'faceplate'), []);
    await page.getByTestId('mode-Automatic').click();
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="module-tic101"][data-mode="Automatic"]').waitFor();
  });

  await t.test('batch: it is started from its view, whose chart shows what runs', async (t) => {
    await batch(admin, 'VIEW-1', LOTS);
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('batch-VIEW-1').click();
    await page.getByTestId('open-batch').click();
    await page.getByTestId('batch-view').waitFor();
    await page.getByTestId('command-Start').click();
    await page.getByTestId('command-send').click();
    await page.locator('[data-testid="batch-view-state"][data-state="Running"]').waitFor();
    await page.locator('[data-testid="tree-makeResin"][data-state="Running"]').waitFor();
    await page.getByTestId('tree-root').click();
    await page.locator('[data-testid="step-makeResin"][data-mark="active"]').waitFor();
    t.strictSame(await flawsOf(page, 'batch-procedure'), []);
  });

  await t.test('trends: several tags live and in the past, values under the cursor, and all of it as CSV', async (t) => {
    await page.getByTestId('nav-trends').click();
    await page.getByTestId('choose-tags').click();
    await page.getByTestId('tag-search').fill('no such tag');
    await says(page.getByTestId('tag-found'), /No tag holds "no such tag"/);
    await page.getByTestId('tag-search').fill('tic101'); // of whatever unit
    await page.getByTestId('tag-tic101.pv').click();
    await page.getByTestId('tag-unit-rx101').click();
    await page.getByTestId('tag-search').fill('level');
    await page.getByTestId('tag-li101.pv').click();
    t.strictSame(await flawsOf(page, 'trend-tags'), []);
    await page.getByTestId('tags-done').click();
    const plot = page.getByTestId('trend-plot');
    await plot.locator('canvas').waitFor();
    const place = await plot.boundingBox();
    if (!place) throw new Error('the plot is not in sight');
    await page.mouse.move(place.x + place.width - 80, place.y + place.height / 2);
    await page.locator('[data-testid="readings"]:not([data-at=""])').waitFor();
    await says(page.getByTestId('readings'), /tic101\.pv\s+[\d.]+ °C.*li101\.pv\s+[\d.]+ %/);
    t.strictSame(await flawsOf(page, 'trends'), []);
    await page.mouse.move(0, 0);
    await page.locator('[data-testid="readings"][data-at=""]').waitFor();
    await plot.focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.locator('[data-testid="readings"]:not([data-at=""])').waitFor(); // a panel may have keys and no mouse

    await page.getByTestId('earlier').click();
    await page.locator('[data-testid="readings"][data-at=""]').waitFor(); // what was read there is not read as of these curves
    await page.getByTestId('later').click();
    await page.locator('[data-testid="live"][aria-pressed="true"]').waitFor();
    await plot.locator('canvas').waitFor();
    const lines = (await csvOf(page)).map((cells) => cells.join(','));
    t.equal(lines[0], 'timestamp,"tic101.pv [degC]","li101.pv [%]"');
    t.ok(lines.length > 2, `${lines.length} lines`);
    t.match(lines[1], /^\d{4}-\d\d-\d\dT[\d:.]+Z,[-\d.e]*,[-\d.e]*$/); // a level near zero may have an exponent
  });

  await t.test('trends: any moment of the past is shown without the way there', async (t) => {
    const until = page.getByTestId('until');
    const live = (is: boolean) => page.locator(`[data-testid="live"][aria-pressed="${is}"]`).waitFor();
    const local = (wallMs: number) => page.evaluate(`new Date(${wallMs} - new Date(${wallMs}).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)`) as Promise<string>;
    const shown = (text: string) => holds(until, text.replace(/:00$/, '')); // the field writes a whole minute without its seconds (HTML, valid normalised local date and time)
    const edgeMs = Math.floor((Date.now() - 2000) / 1000) * 1000;
    await until.fill(await local(edgeMs));
    await live(false);
    const [, ...rows] = await csvOf(page);
    t.ok(rows.length > 0 && rows.every(([at = '']) => Date.parse(at) <= edgeMs), 'nothing after the moment that was asked for');
    await page.getByTestId('earlier').click();
    await shown(await local(edgeMs - 150_000)); // half a window back from there
    await until.fill(await local(Date.now() + 3_600_000));
    await live(true); // a time to come is the present
    await shown('');
    await until.fill(await local(edgeMs - 86_400_000));
    await live(false);
    t.strictSame(await flawsOf(page, 'trends-until'), []);
    await page.getByTestId('live').click();
    await live(true);
  });

  await t.test('trends: zoomed, moved and compared by hand and by keys; the address holds what is shown, and a set of it is kept on the box', async (t) => {
    const plot = page.getByTestId('trend-plot');
    const fromOf = (address: string): string => new URLSearchParams(address.split('?')[1]).get('from') ?? '';
    const length = async (): Promise<number> => {
      const query = new URLSearchParams(page.url().split('?')[1]);
      return query.get('from') ? Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '') : 0; // 0: live
    };
    const place = await plot.boundingBox();
    if (!place) throw new Error('the plot is not in sight');
    const [middle, high] = [place.x + place.width / 2, place.y + place.height / 2];
    const isHistory = (url: URL): boolean => url.pathname.startsWith('/api/v1/historian/');
    let come = (): void => undefined;
    const answers = new Promise<void>((resolve) => (come = resolve));
    await page.route(isHistory, (route) => answers.then(() => route.continue()));
    await page.mouse.move(middle, high);
    await page.mouse.wheel(0, -240);
    await eventually('the wheel zooms', async () => page.url().includes('from=') && (await length()) < 300_000);
    await page.locator('[data-testid="live"][aria-pressed="false"]').waitFor();
    const [before, wide] = [page.url(), await length()];
    await page.mouse.move(middle, high);
    await page.mouse.down();
    await page.mouse.move(middle + 60, high, { steps: 2 });
    await isLocked(page, 'csv');
    come();
    await page.unrouteAll({ behavior: 'wait' });
    await page.locator('[data-testid="csv"]:enabled').waitFor(); // the curves have come while a hand drags: it goes on
    await page.mouse.move(middle + 120, high, { steps: 2 });
    await page.mouse.up();
    await eventually('dragging moves it', () => Promise.resolve(page.url() !== before));
    const perPx = wide / ((await plot.locator('.u-over').boundingBox())?.width ?? 1);
    t.ok(Math.abs(Date.parse(fromOf(before)) - Date.parse(fromOf(page.url())) - 120 * perPx) < 3 * perPx, 'by as much as the hand');
    t.ok(Math.abs((await length()) - wide) <= 1, 'and nothing else');
    await plot.focus();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('-');
    await eventually('keys do it too', async () => (await length()) > wide);

    await page.mouse.click(middle - 60, high);
    await page.mouse.click(middle + 60, high);
    await says(page.getByTestId('compared'), /A .*B .*B − A: [\d.]+ s/);
    t.match(page.url(), /[?&]a=.+&b=/);
    await page.getByTestId('compare-clear').click();
    await plot.focus();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('a');
    await says(page.getByTestId('compared'), /^A /);
    await page.keyboard.press('Escape');
    await page.getByTestId('compared').waitFor({ state: 'detached' });

    await page.getByTestId('choose-tags').click();
    for (const name of ['pi101.pv', 'tic101.sp', 'tic101.out', 'li101.pv']) {
      await page.getByTestId('tag-search').fill(name);
      const tag = page.getByTestId(`tag-${name}`);
      if ((await tag.getAttribute('aria-checked')) === 'false') await tag.click();
    }
    await page.getByTestId('tag-unit-').click();
    await page.getByTestId('tag-search').fill('.pv');
    const further = page.locator('[data-testid="tag-dialog"] [role="checkbox"][aria-checked="false"]');
    await further.first().click();
    await further.first().click();
    await says(page.getByTestId('tag-refused'), /Six curves at most/, 'a seventh pen is refused with a word');
    await page.getByTestId('tags-done').click();
    await eventually('six pens', () => Promise.resolve(new URLSearchParams(page.url().split('?')[1]).get('tags')?.split(',').length === 6));

    await page.getByTestId('saved-sets').click();
    await page.getByTestId('set-title').fill('Heating of RX101');
    await page.getByTestId('set-save').click();
    await page.getByTestId('set-heating-of-rx101').waitFor();
    t.strictSame(await flawsOf(page, 'trend-sets'), []);
    await page.getByTestId('sets-done').click();
    t.match((await admin.get(`${SITE}/trendsets/heating-of-rx101`)).body, { title: 'Heating of RX101', tags: { length: 6 } });
    const audited = (await admin.get(`${SITE}/audit?limit=20`)).body.items as { displayName: string; target: { kind: string; name: string } }[];
    t.ok(audited.some(({ displayName, target }) => displayName === 'olga of the shift' && target.kind === 'TrendSet' && target.name === 'heating-of-rx101'));

    await page.getByTestId('saved-sets').click();
    await page.getByTestId('set-remove-heating-of-rx101').click();
    await says(page.getByTestId('set-remove-dialog'), /Heating of RX101.*deleted for everybody/s, 'it is asked first');
    t.strictSame(await flawsOf(page, 'trend-set-remove'), []);
    await page.getByTestId('set-remove-dialog').getByText('Cancel').click();
    await page.getByTestId('set-heating-of-rx101').waitFor();
    t.equal((await admin.get(`${SITE}/trendsets/heating-of-rx101`)).status, 200);
    await page.getByTestId('set-remove-heating-of-rx101').click();
    await page.getByTestId('set-remove-send').click();
    await page.getByTestId('sets-dialog').waitFor();
    t.equal((await admin.get(`${SITE}/trendsets/heating-of-rx101`)).status, 404);
    await page.getByTestId('sets-done').click();

    await page.getByTestId('batch-range').click();
    await page.getByTestId('batch-range-search').fill('VIEW-1');
    await page.getByTestId('range-VIEW-1').click();
    await eventually('the time of the batch is shown', async () => (await length()) > 0);
    await says(page.getByTestId('happenings'), /Marks \(\d+\)/, 'what happened in it');
    await page.getByTestId('happenings').locator('summary').click();
    await page.getByTestId('happenings').locator('[data-kind="phase"]').first().waitFor();
    t.strictSame(await flawsOf(page, 'trends-batch'), []);
    await page.evaluate("location.hash = '#/trends?tags=rx101%20tic101.pv,rx101%20li101.pv&window=5m'");
    await page.locator('[data-testid="live"][aria-pressed="true"]').waitFor();
  });

  await t.test('trends: a long range shows the least and the greatest value beside the mean', async (t) => {
    await page.getByTestId('window-30m').click();
    await page.locator('[data-testid="trend-plot"][data-bands="2"] canvas').waitFor();
    t.strictSame(await flawsOf(page, 'trends-band'), []);
    const [head = [], ...rows] = await csvOf(page);
    t.strictSame(head.slice(0, 4), ['timestamp', '"tic101.pv [degC]"', '"tic101.pv min [degC]"', '"tic101.pv max [degC]"']);
    const measured = rows.map((row) => row.slice(1, 4).map(Number)).filter((row) => row.every((cell) => cell > 0));
    t.ok(measured.length > 0, `${measured.length} buckets`);
    for (const [mean = 0, low = 0, high = 0] of measured) t.ok(low <= mean + 1e-9 && mean <= high + 1e-9, `${low} <= ${mean} <= ${high}`);
    await page.getByTestId('window-5m').click();
  });

  await t.test('audit: the trail is filtered, and a record tells what it brought about', async (t) => {
    const unchecked = answerTo(page, '/api/v1/audit/archive-integrity/history');
    await page.getByTestId('nav-audit').click();
    t.equal((await unchecked).status(), 200, 'a browser complains of nothing');
    await page.getByTestId('audit-category').selectOption('tag-write');
    await page.locator('[data-testid="audit-table"] tbody tr:not([data-category="tag-write"])').first().waitFor({ state: 'detached' });
    const row = page.locator('[data-testid="audit-table"] tr[data-category="tag-write"]', { hasText: 'olga of the shift' }).first();
    await row.waitFor();
    await says(row, /tic101\.sp/);
    t.strictSame(await flawsOf(page, 'audit'), []);
    t.equal(await page.getByTestId('archive-integrity').count(), 0, 'the archive was never checked');
    t.equal((await admin.post('/api/v1/audit/archive-integrity/run', {})).status, 200);
    await page.getByTestId('nav-alarms').click();
    await page.getByTestId('nav-audit').click();
    await says(page.getByTestId('archive-integrity'), /^Archive checked .+: 0 files, 0 records\. No fault found\.$/);
    t.strictSame(await layoutFlaws(page, 'audit-all'), []);
    await page.getByTestId('audit-category').selectOption('command'); // axe-core takes its time for each of a hundred rows
    const started = page.locator('[data-testid="audit-table"] tr[data-category="command"]', { hasText: 'olga of the shift' }).first();
    await started.waitFor();
    await page.locator('[data-testid="audit-table"] tbody tr:not([data-category="command"])').first().waitFor({ state: 'detached' });
    t.strictSame(await flawsOf(page, 'audit-archive'), []);
    await started.getByRole('button').click();
    await page.getByTestId('audit-related').getByText('batch-controller').first().waitFor();
    t.strictSame(await flawsOf(page, 'audit-record'), []);
    await page.getByTestId('audit-close').click();
  });

  await t.test('batch and prompts: the tree leads to the active step and what it waits for; the answer is given in the inbox; the batch is signed', async (t) => {
    const [{ name }] = (await admin.get(`${SITE}/batches`)).body as [{ name: string }];
    await page.evaluate(`location.hash = '#/batch/${name}'`);
    await orWhy(admin, name, page.locator('[data-testid="tree-makeResin/react/check"][data-state="Running"]').waitFor());
    await page.getByTestId('tree-makeResin/react/check').click();
    await page.locator('[data-testid="step-measure"][data-mark="active"]').waitFor();
    const open = page.locator('[data-testid="sub-condition"][data-met="false"]', { hasText: 'ph >= phMin' });
    await open.waitFor();
    await page.getByTestId('blocked').getByText('waits for an answer').waitFor();
    await page.getByTestId('batch-tab-values').click();
    await page.getByTestId('parameters').getByText('reactTemp').waitFor();
    for (const { name: lot, value } of LOTS)
      await says(page.getByTestId('parameters').locator('li', { hasText: lot }), new RegExp(`${value}\\s*$`), 'RECORD-03: a lot stays the text it was');
    t.strictSame(await flawsOf(page, 'batch'), []);

    await page.getByTestId('batch-tab-procedure').click();
    await procedureAsPictureAndTable(t, page);
    await page.getByTestId('steer').click(); // Manual: after the answer the phase stays at its step
    await page.getByTestId('mode-Manual').click();
    await says(page.getByTestId('levels-follow'), /With it go to Manual: makeResin\/react, makeResin, the procedure\. None of them goes back by itself/);
    t.strictSame(await layoutFlaws(page, 'manual-question'), []);
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="element"] .mode-other').waitFor();
    await page.getByTestId('mode-Automatic').click();
    await says(page.getByTestId('levels-stand'), /Above it stand in Manual: makeResin\/react, makeResin, the procedure\./);
    await page.getByTestId('mode-only').click();
    await page.locator('[data-testid="element"] .mode-other').waitFor({ state: 'detached' });
    await says(page.locator('[data-testid="manual-levels"][data-standing="false"]'), /In Manual: the procedure, makeResin, makeResin\/react\. makeResin\/react\/check was set/);
    await page.getByTestId('mode-Automatic').click(); // it is in Automatic already, those above it are not
    await page.getByTestId('mode-send').click();
    await page.getByTestId('manual-levels').waitFor({ state: 'detached' });
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="element"] .mode-other').waitFor();

    await page.getByTestId('nav-prompts').click();
    await page.getByTestId('prompts-unit-rx101').click();
    t.strictSame(await flawsOf(page, 'prompts'), []);
    await page.getByTestId('prompt-value').getByTestId('prompt-answer').click();
    await page.getByTestId('answer-value').fill('7.2');
    await page.getByTestId('reason').fill('measured at the bench');
    await page.getByTestId('prompt-send').click();
    await page.getByTestId('prompt-dialog').waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByTestId('batch-tab-values').click();
    await page.getByTestId('outputs').getByText('7.2').waitFor();
    await page.getByTestId('batch-tab-procedure').click();

    await page.getByTestId('sign').click();
    await page.getByTestId('meaning-Witnessed').click();
    await page.getByTestId('reason').fill('seen on site');
    await page.getByTestId('sign-password').fill('not the password');
    await page.getByTestId('sign-send').click();
    await says(page.getByTestId('sign-error'), /wrong/, 'the password is asked again, and a wrong one signs nothing');
    t.strictSame(await flawsOf(page, 'sign'), []);
    await page.getByTestId('sign-password').fill(PASSWORD);
    await page.getByTestId('sign-send').click();
    await says(page.getByTestId('signed'), /Signed by olga of the shift: Witnessed/);
    const signatures = (await admin.get(`${SITE}/audit?action=Sign&limit=10`)).body.items as { target: { name: string }; details: { meaning: string } }[];
    t.ok(
      signatures.some(({ target, details }) => target.name === name && details.meaning === 'Witnessed'),
      'the signature stands in the audit trail',
    );
    await page.getByTestId('sign-close').click();

    await stepsByHand(t, page, admin, name);

    await orWhy(admin, name, page.locator('[data-testid="tree-makeResin/react/sample"][data-state="Running"]').waitFor());
    await page.getByTestId('tree-makeResin/react/sample').click();
    await page.locator('[data-testid="step-wait"][data-mark="active"]').waitFor();
    await page.getByTestId('steer').click();
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.getByTestId('force-wait-done').waitFor();
    t.strictSame(await layoutFlaws(page, 'batch-manual'), []);
    await page.getByTestId('force-wait-done').click();
    await says(page.getByTestId('sign-dialog'), /Change of the active step by hand/, 'the meaning is shown');
    await signNow(page, 'the laboratory has telephoned');
    await page.locator('[data-testid="step-wait"]:not([data-mark="active"])').waitFor();

    // the value that the operation waits for will not come any more; with its phase it is in Manual too (decisions 3.7)
    await page.getByTestId('tree-makeResin/react').click();
    await operationByHand(t, page, admin, name);
    await page.getByTestId('force-sample-cool').click();
    await signNow(page, 'cooled on the word of the laboratory');
    await orWhy(admin, name, begun(page, 'makeResin/react/cool').waitFor());
    await levelsByHand(t, page, admin, name);
  });

  await t.test('every view is reached from the keyboard, in German too, and nothing sticks out', async (t) => {
    await page.keyboard.press('Alt+2');
    await page.getByTestId('alarms-view').waitFor();
    await page.keyboard.press('Alt+1');
    await page.getByTestId('units').waitFor();
    await page.getByTestId('open-rx101').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('module-xv101').focus();
    await page.keyboard.press('Enter');
    await hasFocus(page, 'faceplate-title'); // from here on the focus is ours
    await page.getByTestId('user-menu').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('look-dark').focus();
    await page.keyboard.press('Enter');
    await eventually('it is dark by choice, whatever the panel says', async () => (await page.evaluate('getComputedStyle(document.body).backgroundColor')) === 'rgb(21, 25, 28)');
    await page.getByTestId('look-auto').click();
    await page.keyboard.press('Escape');
    await page.getByTestId('user-menu-items').waitFor({ state: 'detached' });

    const german = await open(browser, `${box.base}/hmi`, { locale: 'de-DE' });
    await signIn(german, 'olga');
    const [first] = (await admin.get(`${SITE}/batches`)).body as { name: string }[];
    const views = {
      overview: 'units',
      alarms: 'alarms-view',
      prompts: 'prompts-view',
      trends: 'trends-view',
      audit: 'audit-view',
      'unit/rx101': 'unit-view',
      [`batch/${first?.name}`]: 'batch-view',
    };
    for (const [address, shown] of Object.entries(views)) {
      await german.evaluate(`location.hash = '#/${address}'`);
      await german.getByTestId(shown).waitFor();
      t.strictSame(await layoutFlaws(german, `german-${shown}`), [], address);
    }
    await german.evaluate("location.hash = '#/recipies'");
    await says(german.getByTestId('no-such-view'), /Eine Ansicht „recipies“ gibt es hier nicht/);
    await german.evaluate("location.hash = '#/history?tag=tic101.pv'");
    await german.waitForURL(`${box.base}/data#/history?tag=tic101.pv`); // a view of the other console
    await german.goBack();
    await says(german.getByTestId('nav-audit'), /Protokoll/);
    await german.context().close();
  });

  await t.test('the page with all its parts is below 300 kB, and its first view waits for no other', async (t) => {
    const cold = await open(browser, `${box.base}/login`);
    await signIn(cold, 'olga');
    const begun = await (await fetch(`${box.base}/hmi`)).text();
    const later = readdirSync(ASSETS).filter((name) => /^(trend-plot|trends-view|alarms-view|audit-view|unit-view|batch-view).*\.js$/.test(name));
    t.equal(later.length, 6, later.join());
    t.strictSame(
      later.filter((name) => begun.includes(name)),
      [],
      'what the page begins with names none of them',
    );
    await cold.goto(`${box.base}/hmi`);
    const read = (): Promise<unknown> => cold.evaluate(`performance.getEntriesByType('resource').map(({ name }) => name)`);
    await eventually('they are read ahead', async () => {
      const known = String(await read());
      return later.every((name) => known.includes(name));
    });
    const asked: string[] = [];
    cold.on('request', (request) => asked.push(request.url()));
    await cold.getByTestId('nav-trends').click();
    await cold.getByTestId('trends-view').waitFor();
    t.strictSame(
      asked.filter((url) => url.includes('/assets/')),
      [],
      'and are there when somebody opens one',
    );
    const bytes = readdirSync(ASSETS).reduce((sum, name) => sum + gzipSync(readFileSync(path.join(ASSETS, name))).length, 0);
    t.ok(bytes > 0 && bytes < 300_000, `${Math.round(bytes / 1000)} kB compressed`);
    await cold.context().close();
  });
});
