/** The views of the console, each doing what it is there for, against one running demo plant. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { type ApiClient, eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { launchBrowser } from './browser.js';
import { account, ENVIRONMENT, flawsOf, open, PASSWORD, signIn, SITE } from './person.js';

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
    t.strictSame(await flawsOf(page, 'alarms'), []);

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
  });
});
