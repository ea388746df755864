/** The console when not everything is as it should be: an interlock that is bypassed, a stream that is lost, an account without a password. */
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { eventually, PATIENCE_MS } from '../support/api-client.js';
import {
  account,
  AGAIN,
  allSent,
  answerTo,
  batch,
  csvOf,
  firstAdmin,
  flawsOf,
  isHatched,
  keepPicture,
  open,
  orWhy,
  says,
  signIn,
  startConsole,
  SITE,
  stopClock,
  untilHatched,
  untilPlain,
  writesOf,
  panelOf,
  raiseAlarm,
} from './person.js';
import { wireOf } from './wire.js';

t.test('the console when not everything is as it should be', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  await account(admin, 'sven', 'supervisor');
  const page = await open(browser, `${box.base}/hmi`);
  await signIn(page, 'olga');
  await page.getByTestId('open-rx101').click();

  await t.test('Q-CHANGE-12: a supervisor bypasses an interlock for a time, every panel shows it, and he ends it', async (t) => {
    const bypass = async () => (await admin.get(`${SITE}/controlmodules/hx101/interlock/bypass`)).body as { active: boolean; by: string; reason: string };
    const sven = await open(browser, `${box.base}/hmi`);
    await signIn(sven, 'sven');
    await sven.getByTestId('open-rx101').click();
    await sven.getByTestId('module-hx101').click();
    await sven.locator('[data-testid="interlock"][data-blocked="true"]').waitFor();
    const sent = writesOf(sven);
    await sven.getByTestId('bypass').click();
    await sven.getByTestId('bypass-for-15m').click();
    await sven.getByTestId('reason').fill('short');
    await sven.getByTestId('bypass-send').click();
    await says(sven.getByTestId('bypass-error'), /10 characters/);
    t.strictSame(await flawsOf(sven, 'bypass'), []);
    await sven.getByTestId('reason').fill('level checked through the sight glass');
    await sven.getByTestId('bypass-send').click();
    const words = sven.getByTestId('bypass-confirm');
    await says(words, /Until .+ HX101 \(.+\) is no longer stopped/, 'what is bypassed, in plain words'); // with its date when that is tomorrow
    await says(words, /not met: level low: Reactor level LI101: now .* must be at least 10 %\s+li101\.pv/);
    await says(words, /level checked through the sight glass/);
    t.strictSame(await flawsOf(sven, 'bypass-confirm'), []);
    await allSent(sven);
    t.strictSame(sent, [], 'nothing is sent before it is confirmed');
    t.equal((await bypass()).active, false);
    await sven.getByTestId('bypass-send').click();
    await sven.getByTestId('bypass-dialog').waitFor({ state: 'detached' });
    t.match(await bypass(), { active: true, by: 'sven of the shift', reason: 'level checked through the sight glass' });
    await says(sven.getByTestId('bypass-note'), /Bypassed until .* by sven of the shift: level checked/);
    await sven.locator('[data-testid="interlock"][data-blocked="false"]').waitFor();
    await page.locator('[data-testid="module-hx101"][data-bypassed="true"]').waitFor();
    t.strictSame(await flawsOf(sven, 'bypassed'), []);
    await sven.getByTestId('nav-overview').click();
    await sven.getByTestId('bypassed-rx101').getByText('HX101').waitFor();
    t.strictSame(await flawsOf(sven, 'overview-bypassed'), []);

    await sven.getByTestId('open-rx101').click();
    await sven.getByTestId('module-hx101').click();
    await sven.getByTestId('bypass-end').click();
    await sven.getByTestId('bypass-end-trips').waitFor();
    t.strictSame(await flawsOf(sven, 'bypass-end'), []);
    await sven.getByTestId('bypass-end-send').click();
    await sven.getByTestId('bypass-end-dialog').waitFor({ state: 'detached' });
    t.equal((await bypass()).active, false);
    await sven.locator('[data-testid="interlock"][data-blocked="true"]').waitFor();
    await page.locator('[data-testid="module-hx101"][data-bypassed="false"]').waitFor();
    await sven.context().close();
  });

  await t.test('trends: without the stream the curve ends, and what was missed is filled from the history', async (t) => {
    const lost = await panelOf(browser);
    const wire = await wireOf(lost); // the cable of this panel alone: frames are lost, the box goes on and records
    await lost.goto(`${box.base}/hmi`);
    await signIn(lost, 'olga');
    await lost.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor(); // before its first value a silence is no loss
    await lost.evaluate(`localStorage.setItem('lineside.trends', '["rx101 tic101.sp"]')`);
    await lost.evaluate("location.hash = '#/trends'");
    await lost.locator('[data-testid="trend-plot"] canvas').waitFor();
    await lost.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await lost.getByTestId('trend-plot').focus();
    await lost.keyboard.press('Shift+ArrowLeft');
    const reading = lost.locator('[data-testid="readings"]:not([data-at=""])');
    await reading.waitFor();
    const setpoints = async (): Promise<number[]> => (await csvOf(lost)).slice(1).map(([, cell]) => Number(cell));
    await wire.lose(true);
    await lost.locator('[data-testid="hmi"][data-live="false"]').waitFor();
    const inManual = await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' });
    const written = await admin.post(`${SITE}/controlmodules/tic101/tags/sp`, { value: 33.25 });
    t.strictSame([inManual.status, written.status], [200, 200]);
    await eventually('the box has recorded the setpoint', async () => {
      const { items } = (await admin.get('/api/v1/historian/tags?site=demo&unit=rx101&address=tic101.sp&limit=1')).body as { items: { value: number }[] };
      return items[0]?.value === 33.25;
    });
    t.notOk((await setpoints()).includes(33.25), 'the curve ends where the stream was lost');
    await keepPicture(lost, 'trends-lost');
    await wire.lose(false);
    await lost.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await eventually('the curve has what was missed', async () => (await setpoints()).includes(33.25));
    await reading.waitFor(); // who reads the curve goes on reading it when it is drawn anew
    await keepPicture(lost, 'trends-filled');
    await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Automatic' });
    await lost.context().close();
  });

  await t.test('contract 2, Events: values are marked as old within 1 s of the last frame, whatever view is opened meanwhile, and never before', async (t) => {
    const panel = await panelOf(browser);
    const wire = await wireOf(panel);
    await panel.clock.install(); // the clock of the page is ours; this test knows no other
    await panel.goto(`${box.base}/hmi`);
    await signIn(panel, 'olga');
    await panel.locator('[data-testid="value-tic101.pv"][data-quality="Good"][data-stale="false"]').waitFor();
    await raiseAlarm(admin, 'stands', 'It stands');
    await says(panel.getByTestId('alarm-banner'), /It stands/);
    const value = panel.getByTestId('value-tic101.pv');
    const live = (is: boolean) => panel.locator(`[data-testid="hmi"][data-live="${is}"]`).waitFor();
    const measured = await wire.told('tic101.pv');
    await wire.hush();
    await stopClock(panel);
    /** The last frame of a stream: from here on nothing comes, and time stands still. */
    const frame = async (value: number): Promise<void> => {
      await wire.send({ ...measured, value });
      await panel.getByTestId('number-tic101.pv').getByText(String(value)).waitFor();
      await live(true);
    };
    await frame(77.7);
    const isMarked = (name: string) => value.getByRole('img', { name, exact: true }).waitFor();
    await isMarked('Critical'); // the alarm that stands on it
    t.equal(await value.locator('.bar-pointer').count(), 1);
    await wire.send({ ...measured, value: 77.7, quality: 'Bad' });
    await isMarked('Bad');
    t.equal(await value.locator('.bar-pointer').count(), 0, 'a value that is Bad has no pointer');
    await frame(77.7);
    await value.locator('.bar-pointer').waitFor();
    await panel.clock.runFor(500);
    await live(true);
    t.equal(await isHatched(value), false, 'half a second of silence is no loss');
    await panel.clock.runFor(500);
    await live(false);
    await untilHatched(value, 'the value of before is shown, and not as a live one');
    await panel.locator('[data-testid="value-tic101.pv"][data-stale="true"]').waitFor();
    await isMarked('Stale');
    t.equal(await value.locator('.bar-pointer').count(), 0, 'nor has one that is old');
    await says(panel.getByTestId('number-tic101.pv'), /^77\.7$/);
    await says(panel.getByTestId('link'), /No live data since/);
    await says(panel.getByTestId('alarm-banner'), /not known without live data/, 'the banner shows the alarm of before, and counts none');
    await panel.getByTestId('nav-alarms').click();
    await says(panel.getByTestId('alarms-none'), /not known without live data/, 'and the list says so above those of before');
    await says(panel.getByTestId('alarm-rows'), /It stands/);
    await panel.getByTestId('nav-overview').click();

    await frame(78.8); // it comes back, and is lost again while another view asks for tags of its own
    await untilPlain(value, 'the value is a live one again');
    await panel.getByTestId('open-tk201').click();
    await panel.getByTestId('unit-view').waitFor();
    await panel.clock.runFor(1000);
    await live(false);
    await panel.getByTestId('nav-overview').click();
    await untilHatched(value, 'the overview marks its values, although another view was open when they grew old');

    await wire.tellAll();
    await panel.clock.resume();
    await live(true);
    await panel.locator('[data-testid="value-tic101.pv"][data-quality="Good"][data-stale="false"]').waitFor();
    await panel.getByTestId('number-tic101.pv').filter({ hasNotText: '78.8' }).waitFor(); // values go on with those of the plant
    await panel.context().close();
  });

  await t.test('a lost stream marks every value of the unit view, and a new one brings them back', async () => {
    await page.evaluate("location.hash = '#/unit/rx101'");
    const module = page.getByTestId('module-tic101');
    await page.locator('[data-testid="module-tic101"][data-quality="Good"]').waitFor();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    process.kill(box.pid, 'SIGSTOP'); // a pulled cable: no close, no frame
    await page.locator('[data-testid="hmi"][data-live="false"]').waitFor();
    await untilHatched(module, 'hatched: not to be read as live');
    await keepPicture(page, 'unit-stale');
    process.kill(box.pid, 'SIGCONT');
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    await page.locator('[data-testid="module-tic101"][data-quality="Good"]').waitFor();
    await untilPlain(module, 'live again');
  });

  await t.test('trends: a box that stood still leaves a hole as long as it did, in a value that never changes too', async (t) => {
    const OUTAGE_MS = 5000;
    /** A browser that is to save a hundred files within seconds drops one. */
    const SAVED_EVERY_MS = 500;
    await page.evaluate("location.hash = '#/trends?tags=rx101%20tic101.sp&window=5m'");
    await page.locator('[data-testid="trend-plot"] canvas').waitFor();
    await eventually('the setpoint is on record', async () => (await csvOf(page)).length > 1, PATIENCE_MS, SAVED_EVERY_MS);
    const stoppedMs = Date.now();
    process.kill(box.pid, 'SIGSTOP');
    await setTimeout(OUTAGE_MS); // it is what is measured
    const goesOnMs = Date.now();
    process.kill(box.pid, 'SIGCONT');
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    const hole = async (): Promise<[number, number] | undefined> => {
      const rows = (await csvOf(page)).slice(1).map(([time = '', value]) => ({ atMs: Date.parse(time), value }));
      const at = rows.findIndex(({ value }, row) => row > 0 && value === '' && rows[row + 1] !== undefined);
      return at < 0 ? undefined : [rows[at - 1]?.atMs ?? 0, rows[at + 1]?.atMs ?? 0];
    };
    let found: [number, number] | undefined;
    await eventually('the curve is broken', async () => (found = await hole()) !== undefined, PATIENCE_MS, SAVED_EVERY_MS);
    const [from = 0, to = 0] = found ?? [];
    t.ok(from <= stoppedMs && goesOnMs <= to, 'nothing is drawn over the time in which nobody looked');
    t.ok(to - from < 2 * OUTAGE_MS, `a hole of ${to - from} ms for one of ${goesOnMs - stoppedMs} ms`);
  });

  const name = await batch(admin, 'RACE-1');

  await t.test('an answer that was overtaken is not shown: the state of a batch never goes back', async (t) => {
    const late = await panelOf(browser);
    await late.goto(`${box.base}/hmi#/batch/${name}`);
    await signIn(late, 'olga');
    await late.evaluate(`location.hash = '#/batch/${name}'`);
    const badge = (phase: string) => late.locator(`[data-testid="batch-view-state"][data-state="${phase}"]`);
    await badge('Pending').waitFor();
    /** The first answer from now on is old when it is let go. */
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holds = true;
    let passedOn: () => void = () => undefined;
    const handed = new Promise<void>((resolve) => {
      passedOn = resolve;
    });
    const caught = new Promise<void>((resolve, reject) => {
      void late.route(`**${SITE}/batches/${name}`, async (route) => {
        if (!holds) return route.continue();
        holds = false;
        const answer = await route.fetch(AGAIN).catch((fault: unknown) => {
          reject(fault as Error);
          throw fault;
        });
        resolve();
        await released;
        late.on('requestfailed', (failed) => failed === route.request() && passedOn()); // the page asks no longer than ten seconds, which is as good
        await route.fulfill({ response: answer }).catch(() => undefined);
        passedOn();
      });
    });
    await caught; // the read of this second, which says Pending
    const started = await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Start' });
    t.equal(started.status, 200);
    await orWhy(admin, name, badge('Running').waitFor());
    await late.evaluate(`window.shown = []; new MutationObserver(() => window.shown.push(document.querySelector('[data-testid="batch-view-state"]')?.dataset.state))
      .observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-state'], childList: true })`);
    release();
    await handed;
    await answerTo(late, `${SITE}/batches/${name}`); // asked after it: what the page makes of the old one is made
    t.notOk(((await late.evaluate('window.shown')) as string[]).includes('Pending'), 'what was overtaken is thrown away');
    await badge('Running').waitFor();
    await late.goto(`${box.base}/hmi#/batch/no-such-batch`);
    await says(late.getByTestId('batch-none'), /There is no batch.*no-such-batch/, 'a batch that is gone is said to be gone');
    await late.context().close();
  });

  await t.test('what became of the elements of a batch while the page was cut off is read with the new connection', async () => {
    const lost = await panelOf(browser);
    const wire = await wireOf(lost);
    await lost.goto(`${box.base}/hmi`);
    await signIn(lost, 'olga');
    await lost.evaluate(`location.hash = '#/batch/${name}'`);
    const shown = (state: string) => lost.locator(`[data-testid="tree-root"][data-state="${state}"]`);
    await orWhy(admin, name, shown('Running').waitFor());
    await wire.lose(true);
    await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Hold', reason: 'the page shall not hear it' });
    const lanes = async () => (await admin.get(`${SITE}/batches/${name}/timeline`)).body.lanes as { kind: string; spans: { state: string }[] }[];
    await eventually('the procedure is held', async () => (await lanes()).find(({ kind }) => kind === 'Procedure')?.spans.at(-1)?.state === 'Held');
    await shown('Running').waitFor(); // nothing has told the page
    await wire.reconnect();
    await shown('Held').waitFor();
    await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Abort', reason: 'end of the test of overtaking' });
    await lost.context().close();
  });

  await t.test('an account without a password on this box is told what a signature needs', async (t) => {
    const guest = await panelOf(browser);
    await guest.goto(`${box.base}/login`);
    await signIn(guest, 'olga');
    await guest.route('**/api/v1/auth/config', async (route) => {
      const answer = await route.fetch(AGAIN);
      await route.fulfill({ response: answer, json: { ...(await answer.json()), authMode: 'oidc' } }); // the gateway of this version signs in with its own accounts only
    });
    const name = await batch(admin, 'SIGNED-1');
    await guest.goto(`${box.base}/hmi#/batch/${name}`);
    await guest.reload();
    await guest.getByTestId('sign').click();
    await says(guest.getByTestId('sign-in-again'), /no password on this box.*sign in at your organisation/);
    t.equal(await guest.getByTestId('sign-password').count(), 0);
    await guest.context().close();
  });
});
