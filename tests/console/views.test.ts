/** The views of the console, each doing what it is there for, against one running demo plant. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { launchBrowser } from './browser.js';
import { account, batch, ENVIRONMENT, flawsOf, layoutFlaws, open, orWhy, PASSWORD, picture, signIn, SITE } from './person.js';

const BOTH = ['light', 'dark'] as const;
/** The built consoles, beside the built tests. */
const ASSETS = fileURLToPath(new URL('../../console/assets/', import.meta.url));

async function firstAdmin(api: ApiClient, dataDir: string): Promise<ApiClient> {
  const code = readFileSync(path.join(dataDir, 'commissioning-code'), 'utf8').trim();
  const made = await api.post('/api/v1/auth/first-admin', { code, username: 'anna', password: PASSWORD, displayName: 'Anna Admin' });
  if (made.status !== 201) throw new Error(made.text);
  const session = await api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
  return api.with(`Bearer ${session.body.accessToken}`);
}

/** An alarm that is there from the start: the vessel is empty. */
async function lowLevelAlarm(admin: ApiClient, severity: string): Promise<void> {
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
  const answer = await admin.post(`${SITE}/alarmdefinitions`, { ...definition, name: 'li101-low', message: 'Reactor is empty' });
  if (answer.status !== 201) throw new Error(answer.text);
}

t.test('the views of the console', { timeout: 170_000 }, async (t) => {
  const box = await applianceProcess({ environment: ENVIRONMENT });
  const browser = await launchBrowser();
  t.teardown(async () => {
    await browser.close();
    await box.end('SIGKILL');
    box.remove();
  });
  await box.start();
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
    t.match(await row('ActiveUnacknowledged').textContent(), /Reactor is empty/);
    t.strictSame(await flawsOf(page, 'alarms', BOTH), []);

    await page.getByTestId('filter-severity').selectOption('Low');
    await row('ActiveUnacknowledged').waitFor({ state: 'detached' });
    await page.getByTestId('filter-severity').selectOption('High');
    await page.getByTestId('filter-unit').selectOption('rx101');
    await page.getByTestId(`acknowledge-${name}`).click();
    await row('ActiveAcknowledged').waitFor();
    t.match(await row('ActiveAcknowledged').textContent(), /olga of the shift/);

    await page.getByTestId(`shelve-${name}`).click();
    await page.getByTestId('shelve-2h').click();
    await page.getByTestId('shelve-send').click();
    await page.getByTestId('shelve-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('alarm-set-shelved').click();
    await row('ActiveAcknowledged', true).waitFor();
    await page.getByTestId(`unshelve-${name}`).click();
    await page.getByTestId('alarm-set-open').click();
    await row('ActiveAcknowledged').waitFor();

    await page.getByTestId('alarm-tab-history').click();
    const told = (event: string) => page.locator(`[data-testid="alarm-history"] tr[data-alarm="${name}"][data-event="${event}"]`);
    for (const event of ['Activated', 'Acknowledged', 'Shelved', 'Unshelved']) await told(event).waitFor();
    t.match(await told('Shelved').textContent(), /olga of the shift/);
    t.strictSame(await flawsOf(page, 'alarm-history'), []);
    await page.getByTestId('alarm-tab-metrics').click();
    await page.locator('[data-testid="alarm-metrics"]:not([data-activations="0"])').getByText('li101-low').waitFor();
    t.strictSame(await flawsOf(page, 'alarm-metrics'), []);
  });

  await t.test('unit: the why of an interlock is read, a setpoint is written after a question, and the curve follows it', async (t) => {
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('open-rx101').click();
    await page.locator('[data-testid="module-hx101"][data-quality="Good"][data-blocked="true"]').waitFor();
    t.strictSame(await flawsOf(page, 'unit'), []);

    await page.getByTestId('module-hx101').click();
    await page.locator('[data-testid="interlock"][data-blocked="true"]').waitFor();
    const reason = page.getByTestId('interlock-why').locator('li[data-ok="false"]');
    await reason.waitFor();
    t.match(await reason.textContent(), /level low: li101\.pv \S+ ≥ 10/, 'the text of engineering and the values behind it');
    t.match(await page.getByTestId('interlock-why').locator('li[data-ok="true"]').textContent(), /temperature high: tic101\.pv \S+ ≤ 110/);
    t.strictSame(await flawsOf(page, 'faceplate-interlock'), []);

    await page.getByTestId('module-tic101').click();
    await page.getByTestId('faceplate-tic101').waitFor();
    t.ok(await page.getByTestId('write-sp').isDisabled(), 'in Automatic nobody writes');
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="module-tic101"][data-mode="Manual"]').waitFor();
    await page.getByTestId('write-sp').click();
    await page.getByTestId('write-value').fill('150');
    await page.getByTestId('write-send').click();
    t.match(await page.getByTestId('write-error').textContent(), /0 to 110/);
    await page.getByTestId('write-value').fill('42,5');
    await page.getByTestId('write-send').click();
    t.match(await page.getByTestId('write-confirm').textContent(), /→\s*42\.5 °C/, 'the old and the new value are shown first');
    t.strictSame(await flawsOf(page, 'write-confirm'), []);
    await page.getByTestId('write-send').click();
    await page.getByTestId('write-dialog').waitFor({ state: 'detached' });
    await page.locator('[data-testid="line-sp"][data-quality="Good"]', { hasText: '42.5' }).waitFor();
    await page.locator('[data-testid="trend-plot"] canvas').waitFor();
    await eventually('the write is in the audit trail', async () => {
      const audited = (await admin.get(`${SITE}/audit?category=tag-write&limit=5`)).body.items as { displayName: string; result: string }[];
      return audited.some(({ displayName, result }) => displayName === 'olga of the shift' && result === 'Success');
    });
    t.strictSame(await flawsOf(page, 'faceplate', BOTH), []);
    await page.getByTestId('mode-Automatic').click();
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="module-tic101"][data-mode="Automatic"]').waitFor();
  });

  await t.test('batch: it is started from its view, whose chart shows what runs', async (t) => {
    await batch(admin, 'VIEW-1');
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
    await page.getByTestId('tag-unit-rx101').click();
    await page.getByTestId('tag-tic101.pv').click();
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
    t.match(await page.getByTestId('readings').textContent(), /tic101\.pv\s+[\d.]+ °C.*li101\.pv\s+[\d.]+ %/);
    t.strictSame(await flawsOf(page, 'trends', BOTH), []);

    await page.getByTestId('earlier').click();
    await page.getByTestId('later').click();
    await page.getByTestId('live').getByText('Live').waitFor();
    await plot.locator('canvas').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('csv').click()]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    t.equal(lines[0], 'timestamp,"tic101.pv [degC]","li101.pv [%]"');
    t.ok(lines.length > 2, `${lines.length} lines`);
    t.match(lines[1], /^\d{4}-\d\d-\d\dT[\d:.]+Z,[-\d.]*,[-\d.]*$/);
  });

  await t.test('audit: the trail is filtered, and a record tells what it brought about', async (t) => {
    await page.getByTestId('nav-audit').click();
    await page.getByTestId('audit-category').selectOption('tag-write');
    await page.locator('[data-testid="audit-table"] tbody tr:not([data-category="tag-write"])').first().waitFor({ state: 'detached' });
    const row = page.locator('[data-testid="audit-table"] tr[data-category="tag-write"]').first();
    await row.waitFor();
    t.match(await row.textContent(), /olga of the shift.*tic101\.sp/);
    t.strictSame(await flawsOf(page, 'audit', BOTH), []);
    await page.getByTestId('audit-category').selectOption('command');
    const started = page.locator('[data-testid="audit-table"] tr[data-category="command"]', { hasText: 'olga of the shift' }).first();
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
    await page.getByTestId('batch-tab-parameters').click();
    await page.getByTestId('parameters').getByText('reactTemp').waitFor();
    t.strictSame(await flawsOf(page, 'batch', BOTH), []);

    await page.getByTestId('nav-prompts').click();
    await page.getByTestId('prompts-unit-rx101').click();
    t.strictSame(await flawsOf(page, 'prompts'), []);
    await page.getByTestId('prompt-value').getByTestId('prompt-answer').click();
    await page.getByTestId('answer-value').fill('7.1');
    await page.getByTestId('reason').fill('measured at the bench');
    await page.getByTestId('prompt-send').click();
    await page.getByTestId('prompt-dialog').waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByTestId('batch-tab-outputs').click();
    await page.getByTestId('outputs').getByText('7.1').waitFor();

    await page.getByTestId('sign').click();
    await page.getByTestId('meaning-Witnessed').click();
    await page.getByTestId('reason').fill('seen on site');
    await page.getByTestId('sign-password').fill('not the password');
    await page.getByTestId('sign-send').click();
    t.match(await page.getByTestId('sign-error').textContent(), /wrong/, 'the password is asked again, and a wrong one signs nothing');
    t.strictSame(await flawsOf(page, 'sign'), []);
    await page.getByTestId('sign-password').fill(PASSWORD);
    await page.getByTestId('sign-send').click();
    t.match(await page.getByTestId('signed').textContent(), /Signed by olga of the shift: Witnessed/);
    const signatures = (await admin.get(`${SITE}/audit?action=Sign&limit=10`)).body.items as { target: { name: string }; details: { meaning: string } }[];
    t.ok(
      signatures.some(({ target, details }) => target.name === name && details.meaning === 'Witnessed'),
      'the signature stands in the audit trail',
    );
    await page.getByTestId('sign-close').click();

    await orWhy(admin, name, page.locator('[data-testid="tree-makeResin/react/sample"][data-state="Running"]').waitFor());
    await page.getByTestId('tree-makeResin/react/sample').click();
    await page.locator('[data-testid="step-wait"][data-mark="active"]').waitFor();
    await page.getByTestId('steer').click();
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.getByTestId('force-wait-done').waitFor();
    t.strictSame(await layoutFlaws(page, 'batch-manual'), []);
    await page.getByTestId('force-wait-done').click();
    t.match(await page.getByTestId('sign-dialog').textContent(), /Change of the active step by hand/, 'the meaning is shown');
    await page.getByTestId('reason').fill('the laboratory has telephoned');
    await page.getByTestId('sign-password').fill(PASSWORD);
    await page.getByTestId('sign-send').click();
    await page.getByTestId('signed').waitFor();
    await page.getByTestId('sign-close').click();
    await page.locator('[data-testid="step-wait"]:not([data-mark="active"])').waitFor();
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
    await page.getByTestId('faceplate-xv101').waitFor();
    await page.getByTestId('user-menu').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('look-dark').focus();
    await page.keyboard.press('Enter');
    t.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(31, 35, 38)', 'dark by choice, whatever the panel says');
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
    t.match(await german.getByTestId('nav-audit').textContent(), /Protokoll/);
    await german.context().close();
  });

  await t.test('a lost stream marks every value of the unit view within a second, and a new one brings them back', async (t) => {
    await page.evaluate("location.hash = '#/unit/rx101'");
    const background = `getComputedStyle(document.querySelector('[data-testid="module-tic101"]')).backgroundImage`;
    await page.locator('[data-testid="module-tic101"][data-quality="Good"]').waitFor();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    process.kill(box.pid, 'SIGSTOP'); // a pulled cable: no close, no frame
    await page.locator('[data-testid="hmi"][data-live="false"]').waitFor();
    t.match(await page.evaluate(background), /repeating-linear-gradient/, 'hatched: not to be read as live');
    await page.screenshot({ path: picture('unit-stale') });
    process.kill(box.pid, 'SIGCONT');
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await page.locator('[data-testid="module-tic101"][data-quality="Good"]').waitFor();
    t.equal(await page.evaluate(background), 'none');
  });

  await t.test('the page with all its parts is below 300 kB, and its first view does not wait for the curves', async (t) => {
    const startedAt = performance.now();
    const cold = await open(browser, `${box.base}/login`);
    await signIn(cold, 'olga');
    t.comment(`from the login page to the first view: ${Math.round(performance.now() - startedAt)} ms`);
    await cold.goto(`${box.base}/hmi`);
    await cold.getByTestId('units').waitFor();
    const loaded = (await cold.evaluate(`performance.getEntriesByType('resource').map(({ name }) => name)`)) as string[];
    t.notOk(
      loaded.some((name) => name.includes('trend-plot')),
      'curves are drawn with what is fetched later',
    );
    t.comment(`first view ${await cold.evaluate('Math.round(performance.now())')} ms after the navigation`);
    const bytes = readdirSync(ASSETS).reduce((sum, name) => sum + gzipSync(readFileSync(path.join(ASSETS, name))).length, 0);
    t.ok(bytes > 0 && bytes < 300_000, `${Math.round(bytes / 1000)} kB compressed`);
    await cold.context().close();
  });
});
