/** Answers that overtake each other, do not come, or are about something else than what is shown: nothing is claimed that is not known. */
import type { Request, Route } from 'playwright-core';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, allSent, batch, firstAdmin, open, panelOf, PASSWORD, says, signIn, startConsole, SITE } from './person.js';
import { wireOf } from './wire.js';

/** What a page is answered only when the test says so. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

t.test('answers that come late, or not at all', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  const made = await admin.post('/api/v1/sites', { name: 'north', enterpriseName: 'acme-resins' });
  if (made.status !== 201) throw new Error(made.text);
  const page = await open(browser, `${box.base}/hmi`);
  await page.getByTestId('username').fill('anna');
  await page.getByTestId('password').fill(PASSWORD);
  await page.getByTestId('login-submit').click();
  await page.getByTestId('hmi').waitFor();
  const name = await batch(admin, 'LATE-1');
  const preflights = `**${SITE}/batches/preflight`;

  await t.test('a verdict of before a module was taken in hand does not take the place of the one of after', async (t) => {
    await page.evaluate(`location.hash = '#/batch/${name}?site=demo'`);
    await page.locator('[data-testid="batch-view-state"][data-state="Pending"]').waitFor();
    const late = gate();
    const verdict = (message: string) => ({
      ok: message === '',
      checks: message === '' ? [] : [{ check: 'modes', element: 'tic101', ok: false, severity: 'warning', message }],
      allocations: [],
    });
    let asked = 0;
    const answer = async (route: Route): Promise<void> => {
      asked += 1;
      const isFirst = asked === 1;
      if (isFirst) await late.opened;
      await route.fulfill({ json: verdict(isFirst ? '' : 'tic101 is in Manual') }).catch(() => undefined); // the page may have given it up
    };
    await page.route(preflights, answer);
    await page.getByTestId('command-Start').click();
    await eventually('it has been asked', async () => asked === 1);
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' })).status, 200);
    await says(page.getByTestId('departures'), /tic101 is in Manual/);
    late.open();
    await allSent(page);
    await says(page.getByTestId('departures'), /tic101 is in Manual/, 'what came last was asked first');
    await page.unroute(preflights, answer);
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Automatic' })).status, 200);
    await page.getByTestId('command-cancel').click();
  });

  await t.test('that nothing stands against a new batch is said of that batch only, not of what is typed next; one that is not answered is not made twice', async (t) => {
    await page.evaluate("location.hash = '#/overview?site=demo'");
    await page.getByTestId('batch-new').click();
    const free = gate();
    let isFree = true;
    const answer = async (route: Route): Promise<void> => {
      if (isFree) return void (await route.fulfill({ json: { ok: true, checks: [], allocations: [] } }));
      await free.opened;
      await route.continue().catch(() => undefined); // the page may have given it up
    };
    await page.route(preflights, answer);
    await page.getByTestId('new-id').fill('LATE-2');
    const judged = page.getByTestId('new-judged');
    await says(judged, /Nothing stands against/);
    isFree = false;
    await page.getByTestId('new-quantity').fill('1e9');
    await judged.waitFor({ state: 'detached' });
    free.open();
    await says(judged, /quantity/i);
    await page.unroute(preflights, answer);
    await page.getByTestId('new-quantity').fill('28');
    await says(judged, /AG101/);
    const lost = `**${SITE}/batches`;
    await page.route(lost, async (route) => {
      if (route.request().method() === 'POST') await route.fetch(); // it arrives, and its answer does not
      await route.abort();
    });
    await page.getByTestId('new-send').click();
    await says(page.getByTestId('new-batch-error'), /not known whether this was recorded/);
    await page.unroute(lost);
    await page.getByTestId('new-send').click();
    await says(page.getByTestId('new-batch-error'), /LATE-2 is used/);
    t.equal(((await admin.get(`${SITE}/batches?search=LATE-2`)).body as unknown[]).length, 1);
    await page.getByTestId('new-cancel').click();
  });

  await t.test('notes and the plan of one site are never shown for those of another, and no note is left out between what was read and what is new', async (t) => {
    await admin.post(`${SITE}/shift-notes`, { text: 'of the demonstration' });
    await page.getByTestId('part-notes').click();
    await says(page.getByTestId('note-1'), /of the demonstration/);
    const late = gate();
    const notes = `**${SITE}/shift-notes?*`;
    let isHeld = false;
    const hold = async (route: Route): Promise<void> => {
      isHeld = true;
      const answer = await route.fetch();
      await late.opened;
      await route.fulfill({ response: answer }).catch(() => undefined);
    };
    await page.route(notes, hold);
    await page.getByTestId('note-add').click();
    await page.getByTestId('note-text').fill('a second one');
    await page.getByTestId('note-send').click();
    await eventually('they are read again', async () => isHeld);
    await page.evaluate("location.hash = '#/overview?site=north'");
    await page.getByTestId('hmi').locator('[data-testid="unit-mx101"]').waitFor({ state: 'detached' });
    await page.getByTestId('part-notes').click();
    await page.getByTestId('note-list').waitFor({ state: 'attached' });
    late.open();
    await allSent(page);
    t.equal(await page.getByTestId('note-list').locator('li').count(), 0, 'north has none');
    await page.unroute(notes, hold);
    await page.evaluate("location.hash = '#/overview?site=demo'");
    await page.getByTestId('part-notes').click();
    await page.getByTestId('note-2').waitFor();
    for (let at = 3; at <= 45; at += 1) await admin.post(`${SITE}/shift-notes`, { text: `note ${at}` });
    await page.getByTestId('note-add').click();
    await page.getByTestId('note-text').fill('the last');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('note-46'), /the last/);
    await page.getByTestId('notes-older').click();
    await page.getByTestId('note-10').waitFor();
    await page.getByTestId('notes-older').click();
    await page.getByTestId('note-1').waitFor();
    t.equal(await page.getByTestId('note-list').locator('li').count(), 46, 'each once');
  });

  await t.test('a note that is damaged on the disk of the box is named, beside those that can be read', async () => {
    const damaged = async (route: Route): Promise<void> => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { items: { id: number }[] };
      await route.fulfill({ response: answer, json: { ...body, items: body.items.filter(({ id }) => id !== 45), damaged: [45] } });
    };
    await page.route(`**${SITE}/shift-notes?*`, damaged);
    await page.getByTestId('note-add').click();
    await page.getByTestId('note-text').fill('and one more');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('shift-notes').getByTestId('damaged-entries'), /^Entry 45 is damaged on the disk of the box/);
    await page.getByTestId('note-44').waitFor();
    await page.unroute(`**${SITE}/shift-notes?*`, damaged);
  });

  await t.test('an address that names a site that is not there, or is none of the person, says so and shows no other in its place', async (t) => {
    const asked = '#/unit/rx101?site=gone';
    await page.evaluate(`location.hash = '${asked}'`);
    await says(page.getByTestId('no-such-site'), /no site “gone” here, or it is none of yours/);
    t.equal(await page.getByTestId('unit-view').count(), 0);
    await page.getByTestId('no-such-site').getByText('demo').click();
    await page.getByTestId('unit-rx101').waitFor();
    const fresh = await open(browser, `${box.base}/hmi${asked}`);
    await signIn(fresh, 'anna');
    await says(fresh.getByTestId('no-such-site'), /no site “gone”/, 'also of a page that begins with it');
    await fresh.context().close();
    const confined = await open(browser, `${box.base}/hmi#/unit/rx101?site=north`);
    await signIn(confined, 'olga');
    await says(confined.getByTestId('no-such-site'), /no site “north”/, 'also of one that has one site only');
    await confined.context().close();
  });

  await t.test('what the page cannot draw takes nothing else with it, and is drawn when it can be', async () => {
    const odd = (route: Route): Promise<void> => route.fulfill({ json: {} });
    await page.route(`**${SITE}/overview`, odd);
    await page.evaluate("location.hash = '#/overview?site=north'");
    await page.getByTestId('unit-rx101').waitFor({ state: 'detached' });
    await page.evaluate("location.hash = '#/overview?site=demo'");
    await says(page.getByTestId('not-drawn'), /cannot show this.*tries again/);
    await page.getByTestId('alarm-banner').waitFor();
    await page.evaluate("location.hash = '#/audit?site=demo'");
    await page.getByTestId('audit-view').waitFor();
    await page.evaluate("location.hash = '#/overview?site=demo'");
    await page.getByTestId('not-drawn').waitFor();
    await page.unroute(`**${SITE}/overview`, odd);
    await page.getByTestId('unit-rx101').waitFor();
  });

  await t.test('a start that failed begins nothing twice', async (t) => {
    const begun = async (fails: boolean): Promise<string> => {
      const page = await panelOf(browser);
      await page.addInitScript(`(() => {
        const begun = (window.begun = []);
        const every = window.setInterval;
        window.setInterval = (run, ms) => (begun.push(ms), every(run, ms));
        window.WebSocket = class extends WebSocket { constructor(...address) { super(...address); begun.push('stream'); } };
      })()`);
      let left = fails ? 1 : 0;
      await page.route(`**${SITE}/units?*`, (route) => (left-- > 0 ? route.abort() : route.continue()));
      await page.goto(`${box.base}/hmi#/audit`);
      await signIn(page, 'olga');
      await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
      await page.getByTestId('audit-view').waitFor();
      const found = (await page.evaluate('JSON.stringify(begun.map(String).sort())')) as string;
      await page.context().close();
      return found;
    };
    t.equal(await begun(true), await begun(false));
  });

  await t.test('what the page asks by itself keeps no abandoned session alive', async (t) => {
    const started = await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Start' });
    t.equal(started.status, 200, started.text);
    await page.evaluate(`location.hash = '#/batch/${name}?site=demo&tab=happened'`);
    await page.locator('[data-testid="batch-view-state"][data-state="Running"]').waitFor();
    await admin.post(`${SITE}/command`, { kind: 'Batch', name, command: 'Hold', reason: 'let us look' });
    await page.locator('[data-testid="batch-view-state"][data-state="Held"]').waitFor();
    await page.getByTestId('to-go-on').waitFor();
    const alive: string[] = [];
    let preflights = 0;
    let histories = 0;
    const note = (request: Request): void => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('/preflight')) preflights += 1;
      if (pathname.endsWith('/alarmevents')) histories += 1;
      if (pathname.startsWith('/api/') && request.headers()['x-lineside-background'] === undefined) alive.push(pathname);
    };
    page.on('request', note);
    await eventually('the preflight is asked again and again', async () => preflights >= 3);
    page.off('request', note);
    t.same(alive, [], 'while a batch is held');
    await page.evaluate("location.hash = '#/alarms?site=demo&by=history'");
    await page.getByTestId('alarm-history').waitFor();
    await allSent(page);
    histories = 0;
    page.on('request', note);
    const definition = { sourceKind: 'ControlModule', sourceName: 'tic101', conditionType: 'TagHigh', tagName: 'pv', threshold: '-50', severity: 'High', message: 'warm' };
    t.equal((await admin.post(`${SITE}/alarmdefinitions`, { ...definition, name: 'warm' })).status, 201);
    await says(page.getByTestId('alarm-history'), /warm/);
    await eventually('the history has been read again', async () => histories >= 1);
    page.off('request', note);
    t.same(alive, [], 'while alarms come and somebody else engineers');
  });

  await t.test('the line of the last minutes breaks where no live data came, and does not go on with the last value', async () => {
    const lost = await panelOf(browser);
    const wire = await wireOf(lost);
    await lost.goto(`${box.base}/hmi`);
    await signIn(lost, 'olga');
    const ends = lost.getByTestId('unit-rx101').locator('.spark-end');
    await ends.first().waitFor({ state: 'attached' });
    await wire.lose(true);
    await lost.locator('[data-testid="hmi"][data-live="false"]').waitFor();
    await eventually('no line has an end that is now', async () => (await ends.count()) === 0);
    await wire.lose(false);
    await ends.first().waitFor({ state: 'attached' });
    await lost.context().close();
  });

  await t.test('a page that the browser had kept aside begins anew: nobody finds what another person had open', async (t) => {
    await page.evaluate("window.isKept = true; window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))");
    await allSent(page);
    t.equal(await page.evaluate('window.isKept'), true);
    await Promise.all([page.waitForEvent('load'), page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")]);
    await page.getByTestId('hmi').waitFor();
    t.equal(await page.evaluate('window.isKept'), undefined);
  });

  await t.test('an address that somebody made up shows curves, or none, and no fault', async (t) => {
    const faults: string[] = [];
    page.on('pageerror', (fault) => faults.push(fault.message));
    const tags = 'rx101 tic101.pv,__proto__ constructor,<script> x';
    for (const window of ['constructor', '__proto__', 'toString', '99999999s', '-1s', '1e9s']) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/trends?${new URLSearchParams({ site: 'demo', tags, window })}`)}`);
      await page.locator('[data-testid="trends-view"] canvas').first().waitFor();
      await allSent(page);
    }
    t.same(faults, []);
  });
});
