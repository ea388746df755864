/** What an operator in a hurry, two people at one panel and a panel with a wrong clock do to the console. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import {
  account,
  allSent,
  csvOf,
  firstAdmin,
  flawsOf,
  hasFocus,
  holds,
  isLocked,
  layoutFlaws,
  open,
  runUntil,
  says,
  signIn,
  startConsole,
  SITE,
  stopClock,
  writesOf,
  panelOf,
} from './person.js';
import { wireOf } from './wire.js';

const alarm = (name: string, severity: string) => ({
  name,
  source: `ControlModule/${name}`,
  definitionRef: `${name}-low`,
  severity,
  state: 'ActiveUnacknowledged',
  message: `${name} is empty`,
  shelved: false,
  shelvedUntil: '',
  shelvedBy: '',
  acknowledgedBy: '',
  conditionType: 'TagLow',
  setpoint: '5',
  value: '3',
  unit: 'rx101',
  priority: 500,
  activatedAt: new Date().toISOString(),
});

const PROMPT = {
  id: 'prompt-1',
  phase: 'nobody',
  unit: 'rx101',
  batch: 'b-1',
  batchID: 'B-1',
  stepName: 'measure',
  type: 'value',
  text: 'Measure the pH',
  timestamp: new Date().toISOString(),
  min: '0',
  max: '14',
};

t.test('the console in the hands of people', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  await account(admin, 'sven', 'supervisor');
  await account(admin, 'egon', 'engineer');

  await t.test('D-C-13: what may be tuned is shown to everybody, and changed by who may, in two steps and with a reason', async (t) => {
    const page = await open(browser, `${box.base}/hmi`);
    await signIn(page, 'olga');
    await page.getByTestId('open-rx101').click();
    await page.getByTestId('module-tic101').click();
    await page.getByTestId('part-tune').click();
    await says(page.getByTestId('line-par.kp'), /^8\.00 %\/K$/);
    await says(page.getByTestId('line-par.ti'), /30/);
    await says(page.getByTestId('tuning'), /You may not tune/);
    t.equal(await page.getByTestId('tune-par.kp').count(), 0);
    await page.context().close();

    const desk = await open(browser, `${box.base}/hmi`);
    await signIn(desk, 'egon');
    await desk.getByTestId('open-rx101').click();
    await desk.getByTestId('module-tic101').click();
    await desk.getByTestId('part-tune').click();
    await desk.getByTestId('tune-par.kp').click();
    await desk.getByTestId('tune-value').fill('51');
    await desk.getByTestId('tune-send').click();
    await says(desk.getByTestId('tune-error'), /0 to 50/);
    await desk.getByTestId('tune-value').fill('6,5');
    await desk.getByTestId('reason').fill('the loop swings');
    await desk.getByTestId('tune-send').click();
    await says(desk.getByTestId('tune-confirm'), /8\.00 %\/K\s*→\s*6\.5 %\/K/);
    await desk.getByTestId('tune-send').click();
    await desk.getByTestId('tune-dialog').waitFor({ state: 'detached' });
    await desk.locator('[data-testid="line-par.kp"]', { hasText: '6.5' }).waitFor();
    await says(desk.getByTestId('tuning'), /egon of the shift.*was 8 %\/K/, 'who has changed it, and from what');
    await desk.getByTestId('tune-par.kp').click();
    await desk.getByTestId('tune-put-back').click();
    await holds(desk.getByTestId('tune-value'), '8');
    await desk.keyboard.press('Escape');
    const { items } = (await admin.get(`${SITE}/audit?category=tuning&limit=1`)).body;
    t.match(items, [{ displayName: /egon/, operatorReason: 'the loop swings', before: { kp: 8 }, after: { kp: 6.5 } }]);
    await desk.context().close();
  });

  await t.test('a value is confirmed by a touch of its own: neither the second half of a double touch nor a held key writes', async (t) => {
    const page = await open(browser, `${box.base}/hmi`);
    await signIn(page, 'olga');
    await page.evaluate("location.hash = '#/unit/%'"); // what somebody typed is no reason to stand still
    await page.getByText('There is no unit %').waitFor();
    await page.goBack();
    await page.getByTestId('open-rx101').click();
    await page.getByTestId('module-tic101').focus();
    await page.keyboard.press('Enter');
    await eventually('the tab says which view it shows', async () => (await page.title()) === 'Unit RX101 – Lineside');
    await hasFocus(page, 'faceplate-title');
    await page.keyboard.press('Tab');
    await hasFocus(page, 'faceplate-close');
    await page.keyboard.press('Enter');
    await page.getByTestId('faceplate-tic101').waitFor({ state: 'detached' });
    await hasFocus(page, 'module-tic101'); // the device it came from
    await page.getByTestId('module-tic101').click();
    await says(page.getByTestId('write-hint'), /Manual first/, 'why nothing can be written is said, not only in a tooltip');
    await page.getByTestId('mode-Manual').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('mode-dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('mode-dialog').waitFor({ state: 'detached' });
    await hasFocus(page, 'mode-Manual'); // where the question was asked
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.locator('[data-testid="module-tic101"][data-mode="Manual"]').waitFor();

    const sent = writesOf(page);
    await page.getByTestId('write-sp').click();
    await says(page.getByTestId('write-now'), /Present value: -?[\d.]+ °C/);
    await page.getByTestId('write-value').fill('42');
    await page.getByTestId('write-send').dblclick();
    await page.getByTestId('write-confirm').waitFor();
    await page.getByTestId('write-send').dispatchEvent('click', { detail: 2 }); // wherever the button of the first step was
    await allSent(page);
    t.strictSame(sent, []);
    await page.getByTestId('write-back').click();
    await page.getByTestId('write-value').focus();
    await page.keyboard.down('Enter');
    await page.getByTestId('write-confirm').waitFor();
    await page.getByTestId('write-send').focus();
    await page.keyboard.down('Enter'); // again, without having been up
    await page.keyboard.up('Enter');
    await page.getByTestId('write-confirm').waitFor();
    await allSent(page);
    t.strictSame(sent, []);
    await page.getByTestId('write-send').click();
    await page.getByTestId('write-dialog').waitFor({ state: 'detached' });
    t.strictSame(sent, [`${SITE}/controlmodules/tic101/tags/sp`]);
    for (const [tag, value] of [
      ['auto', false],
      ['man', 60],
    ] as const)
      t.equal((await admin.post(`${SITE}/controlmodules/tic101/tags/${tag}`, { value })).status, 200);
    await says(
      page.getByTestId('hand-values'),
      /AUTO Manual by .*\(initially Auto\).*MAN 60\.0 % by .*\(initially 0\.0 %\)/,
      'the faceplate names what stands by hand, with who wrote it',
    );
    await page.getByTestId('part-changes').click();
    await says(page.getByTestId('module-changes'), /MAN: .*60 %/, 'a write to a value is a change of the module');
    t.strictSame(await flawsOf(page, 'faceplate-by-hand'), []);
    await page.getByTestId('mode-Automatic').click();
    await says(page.getByTestId('mode-dialog'), /with these values as they were written.*AUTO.*MAN/, 'a change of mode takes nothing back, and says so');
    t.notMatch(await page.getByTestId('mode-dialog').textContent(), /follow the recipe and the control logic again/);
    t.strictSame(await flawsOf(page, 'mode-by-hand'), []);
    for (const tag of ['auto', 'man', 'sp']) {
      await page.getByTestId(`hand-back-${tag}`).click();
      await page.getByTestId('hand-asked').getByTestId(`hand-${tag}`).waitFor({ state: 'detached' });
    }
    await says(page.getByTestId('mode-dialog'), /follow the recipe and the control logic again/, 'where nothing stands by hand');
    t.strictSame(
      sent.slice(1),
      ['auto', 'man', 'sp'].map((tag) => `${SITE}/controlmodules/tic101/tags/${tag}`),
      'each by an ordinary write',
    );
    await page.context().close();
  });

  await t.test('an alarm that has just slid under the finger is not acknowledged by it', async (t) => {
    const page = await panelOf(browser);
    let listed = [alarm('li111', 'High')];
    const wire = await wireOf(page);
    await page.clock.install();
    const isList = ({ pathname }: URL): boolean => pathname === `${SITE}/alarms`;
    await page.route(isList, (route) => {
      const names = new URL(route.request().url()).searchParams.get('name')?.split(',');
      return route.fulfill({ json: names ? listed.filter(({ name }) => names.includes(name)) : listed });
    });
    await page.route(`**${SITE}/alarmdefinitions?*`, (route) => route.fulfill({ json: [{ name: 'li111-low', sourceName: 'li111', tagName: 'pv' }] }));
    await page.route(`**${SITE}/alarms/*/acknowledge`, (route) => route.fulfill({ status: 204 }));
    await page.goto(`${box.base}/hmi`);
    await signIn(page, 'olga');
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await page.getByTestId('nav-alarms').click();
    await page.getByTestId('alarm-li111').waitFor();
    await says(page.getByTestId('alarm-li111'), /LI111.*below 5 %, came at 3 %/, 'limit and value with their unit; the value is said to be that of the moment');
    await stopClock(page);
    const sent = writesOf(page);
    listed = [alarm('li201', 'Critical'), ...listed];
    await wire.send({ type: 'alarm', site: 'demo', name: 'li201' });
    await runUntil(page, 'the new alarm is drawn', () => page.getByTestId('alarm-li201').isVisible());
    await page.getByTestId('acknowledge-li111').click();
    await allSent(page);
    t.strictSame(sent, [], 'it has moved a moment ago');
    await page.clock.runFor(500);
    await page.getByTestId('acknowledge-li111').click();
    await allSent(page);
    t.strictSame(sent, [`${SITE}/alarms/li111/acknowledge`]);

    await page.clock.resume();
    await wire.send({ type: 'broker-status', status: 'disconnected' });
    await page.getByTestId('link').getByText('not connected').waitFor();
    t.strictSame(await layoutFlaws(page, 'runtimes-away'), [], 'the longest word about the link leaves the rest of the header where it can be touched');
    await wire.send({ type: 'broker-status', status: 'connected' });
    await page.getByTestId('nav-overview').click();
    await page.getByTestId('worst-rx101').waitFor();
    listed = listed.map((each) => ({ ...each, shelved: true }));
    await wire.send({ type: 'alarm', site: 'demo', name: 'li111' });
    await wire.send({ type: 'alarm', site: 'demo', name: 'li201' });
    await page.getByTestId('worst-rx101').waitFor({ state: 'detached' }); // a shelved alarm calls for nobody
    await page.context().close();
  });

  await t.test('of two thousand alarms only those in sight are drawn; an acknowledgement is shown before it is answered, and the focus stays where it was', async (t) => {
    const page = await panelOf(browser);
    const listed = Array.from({ length: 2000 }, (_each, at) => ({
      ...alarm(`li${1000 + at}`, at === 7 ? 'Critical' : 'High'),
      activatedAt: new Date(Date.now() - at * 1000).toISOString(),
    }));
    await page.route(
      ({ pathname }) => pathname === `${SITE}/alarms`,
      (route) => {
        const { searchParams } = new URL(route.request().url());
        const names = searchParams.get('name')?.split(',');
        return route.fulfill({ json: names ? listed.filter(({ name }) => names.includes(name)) : listed });
      },
    );
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(`**${SITE}/alarmdefinitions?*`, (route) => route.fulfill({ json: [{ name: 'li111-low', sourceName: 'li111', tagName: 'pv' }] }));
    await page.route(`**${SITE}/alarms/*/acknowledge`, async (route) => {
      await answered;
      await route.fulfill({ json: {} });
    });
    await page.goto(`${box.base}/hmi#/alarms?by=time`);
    await signIn(page, 'olga');
    await page.evaluate("location.hash = '#/alarms?by=time'");
    await page.getByTestId('acknowledge-li1003').waitFor();
    await page.locator('[data-testid="alarm-rows"][data-lines="2000"]').waitFor();
    t.ok((await page.getByTestId('alarm-rows').locator('li').count()) < 45);
    await says(page.getByTestId('alarm-banner'), /Critical.*li1007/, 'the worst of them stays in sight');
    t.match(await page.title(), /^\(2000\) /, 'and how many there are stands in the title of the page');
    await page.getByTestId('acknowledge-li1003').focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-testid="alarm-li1003"][data-sent="true"]').waitFor();
    t.equal(await page.getByTestId('acknowledge-li1003').count(), 0);
    t.equal(await page.evaluate("document.activeElement?.closest('[data-line]')?.dataset.testid"), 'alarm-li1003', 'whoever works with keys goes on from there');
    answer();
    await page.getByTestId('alarm-rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await page.getByTestId('alarm-li2999').waitFor();
    t.ok((await page.getByTestId('alarm-rows').locator('li').count()) < 45);
    await page.context().close();
  });

  await t.test('a prompt that is answered elsewhere says so to whoever is typing; his dialog does not vanish', async (t) => {
    const page = await open(browser, `${box.base}/login`, { locale: 'de-DE' });
    let asked: object[] = [PROMPT];
    await page.route(`**${SITE}/prompts?*`, (route) => route.fulfill({ json: asked }));
    await signIn(page, 'olga');
    await page.getByTestId('prompt-answer').click();
    await page.getByTestId('answer-value').fill('7');
    await page.getByRole('button', { name: ',', exact: true }).click();
    await holds(page.getByTestId('answer-value'), '7,'); // the keypad has the decimal sign of the language
    await page.keyboard.press('Alt+2');
    asked = [];
    await page.getByTestId('prompt-dialog').getByTestId('prompt-error').getByText('inzwischen erledigt').waitFor();
    t.match(page.url(), /\/hmi(#\/overview)?$/, 'a shortcut does not take an open question away');
    await holds(page.getByTestId('answer-value'), '7,');
    await isLocked(page, 'prompt-send');
    await page.keyboard.press('Escape');
    await page.getByTestId('prompt-dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  await t.test('a session that ends over an open question: after the new sign-in the same view is there', async () => {
    const page = await open(browser, `${box.base}/hmi`);
    await signIn(page, 'olga');
    await page.getByTestId('open-rx101').click();
    await page.getByTestId('module-tic101').click();
    await page.getByTestId('mode-Automatic').click();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    const sessions = (await admin.get('/api/v1/auth/sessions')).body as { id: string; username: string }[];
    for (const { id } of sessions.filter(({ username }) => username === 'olga')) await admin.delete(`/api/v1/auth/sessions/${id}`);
    await page.getByTestId('login-ended').waitFor();
    await signIn(page, 'olga');
    await page.locator('[data-testid="unit-view"][data-unit="rx101"]').waitFor();
    await page.context().close();
  });

  await t.test('two tabs of one browser: who signs in in the second does not go on under his name in the first', async () => {
    const page = await open(browser, `${box.base}/hmi`);
    await signIn(page, 'olga');
    const second = await page.context().newPage();
    await second.goto(`${box.base}/login`);
    await signIn(second, 'sven');
    let isRefused = false; // as when the access token has expired
    await page.route(`**${SITE}/prompts?*`, async (route) => {
      if (isRefused) return route.continue();
      isRefused = true;
      return route.fulfill({ status: 401, json: { error: 'the access token has expired', code: 'token_expired' } });
    });
    await says(page.getByTestId('login-ended'), /Somebody else has signed in/);
    await says(second.getByTestId('user-menu'), /sven/);
    await page.context().close();
  });

  await t.test('a panel whose clock is two hours ahead shows the time of the box, and curves up to it', async (t) => {
    const hour = new Date().getUTCHours();
    const page = await panelOf(browser, { timezoneId: hour <= 12 ? `Etc/GMT+${hour}` : `Etc/GMT-${24 - hour}` }); // where the first hour of a day is now: it is 00, not 24
    await page.clock.install({ time: Date.now() + 2 * 3_600_000 });
    await page.addInitScript(`localStorage.setItem('lineside.trends', '["rx101 tic101.pv"]')`);
    await page.goto(`${box.base}/hmi`);
    await signIn(page, 'olga');
    const shown = [0, 1].map((minutes) => new Date(Date.now() + minutes * 60_000 - hour * 3_600_000).toISOString().slice(11, 16));
    await says(page.getByTestId('clock'), new RegExp(`^(${shown.join('|')}):`));
    await page.getByTestId('nav-trends').click();
    await page.locator('[data-testid="trend-plot"] canvas').waitFor();
    t.ok((await csvOf(page)).length > 1, 'the present is where the box records it');
    await page.context().close();
  });
});
