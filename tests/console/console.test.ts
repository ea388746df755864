/** The console in a browser against the appliance: what an operator does in a shift, and what he sees when the box is away. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { codeOf, stepOf } from '../../src/domains/access/second-factor/time-codes.js';
import { eventually } from '../support/api-client.js';
import { account, allSent, batch, drawn, isLocked, open, orWhy, panelOf, PASSWORD, runUntil, says, seriousViolations, signIn, startConsole, SITE, stopClock } from './person.js';
import { wireOf } from './wire.js';

const state = (page: Page, word: string) => page.locator(`[data-testid="batch-state"][data-state="${word}"]`);

/** What others can read of a page: its addresses, where it asks, and what the browser prints; and the tokens that must not be in it. */
function everythingTold(page: Page): { readonly lines: string[]; readonly tokens: Set<string>; sockets: number } {
  const told = { lines: [] as string[], tokens: new Set<string>(), sockets: 0 };
  page.on('framenavigated', (frame) => told.lines.push(frame.url()));
  page.on('console', (message) => told.lines.push(message.text(), message.location().url));
  page.on('pageerror', (fault) => told.lines.push(String(fault)));
  page.on('websocket', (socket) => {
    told.sockets += 1;
    told.lines.push(socket.url());
  });
  page.on('request', (request) => {
    const { authorization, referer } = request.headers();
    told.lines.push(request.url(), referer ?? '');
    if (authorization !== undefined) told.tokens.add(authorization.replace(/^Bearer /, ''));
  });
  return told;
}

t.test('the operator console', async (t) => {
  const { box, browser } = await startConsole(t, { LINESIDE_AUTH__SECONDFACTOR__REQUIREDFOR: '{prefix}-supervisor' });
  let admin = box.api;

  await t.test('D-AUTH-01: the login page makes the first administrator with the commissioning code', async (t) => {
    const page = await open(browser, `${box.base}/hmi`);
    await page.getByTestId('first-admin').waitFor();
    t.strictSame(await seriousViolations(page), [], 'first administrator form');
    const code = readFileSync(path.join(box.dataDir, 'commissioning-code'), 'utf8').trim();
    const fill = async (given: string): Promise<void> => {
      await page.getByTestId('code').fill(given);
      await page.getByTestId('username').fill('anna');
      await page.getByTestId('display-name').fill('Anna Admin');
      await page.getByTestId('password').fill(PASSWORD);
      await page.getByTestId('password-again').fill(PASSWORD);
      await page.getByTestId('first-admin-submit').click();
    };
    await fill('AAAA-AAAA-AAAA');
    await says(page.getByTestId('login-error'), /commissioning code is wrong/);
    await fill(code);
    await page.getByTestId('hmi').waitFor();
    await page.getByTestId('user-menu').click();
    await page.getByTestId('logout').click();
    await page.getByTestId('login-submit').waitFor();
    await says(page.getByTestId('login-ended'), /signed out/);
    await page.goto(`${box.base}/hmi`);
    await page.getByTestId('login-submit').waitFor();
    t.equal(new URL(page.url()).pathname, '/login', 'the cookie is gone with the session');
    await page.context().close();
  });

  const signedIn = await box.api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
  admin = box.api.with(`Bearer ${signedIn.body.accessToken}`);
  await account(admin, 'olga', 'lead-operator');
  await account(admin, 'vera', 'viewer');
  await account(admin, 'nora', 'operator', true);

  await t.test('Q-AUTH-01: the login page refuses a wrong password and follows local addresses only', async (t) => {
    const page = await open(browser, `${box.base}/login?redirect=${encodeURIComponent('//elsewhere.example/hmi')}`);
    await page.getByTestId('username').fill('olga');
    await page.getByTestId('password').fill('something else');
    await page.getByTestId('login-submit').click();
    await says(page.getByTestId('login-error'), /wrong/);
    t.strictSame(await seriousViolations(page), [], 'login page');
    await page.getByTestId('password').fill(PASSWORD);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('hmi').waitFor();
    t.equal(page.url(), `${box.base}/hmi`);
    await page.context().close();
  });

  await t.test('D-AUTH-02: a password set by an administrator must be changed at the login page', async () => {
    const page = await open(browser, `${box.base}/login`);
    await page.getByTestId('username').fill('nora');
    await page.getByTestId('password').fill(PASSWORD);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('new-password').fill('short');
    await page.getByTestId('new-password-again').fill('short');
    await page.getByTestId('new-password-submit').click();
    await says(page.getByTestId('login-error'), /At least 12 characters/);
    await page.getByTestId('new-password').fill('another long password');
    await page.getByTestId('new-password-again').fill('another long password');
    await page.getByTestId('new-password-submit').click();
    await page.getByTestId('hmi').waitFor();
    await says(page.getByTestId('user-menu'), /nora/);
    await page.context().close();
  });

  await t.test('D-AUTH-02: the form for the new password may stay open for longer than its token lives; where the session is over it leads back', async () => {
    await account(admin, 'lena', 'operator', true);
    const page = await open(browser, `${box.base}/login`);
    const expired = { status: 401, contentType: 'application/json', body: JSON.stringify({ error: 'the access token has expired', code: 'token_expired', status: 401 }) };
    const choose = async (): Promise<void> => {
      await page.getByTestId('username').fill('lena');
      await page.getByTestId('password').fill(PASSWORD);
      await page.getByTestId('login-submit').click();
      await page.getByTestId('new-password').fill('another long password');
      await page.getByTestId('new-password-again').fill('another long password');
      await page.getByTestId('new-password-submit').click();
    };
    await page.route('**/api/v1/auth/password', (route) => route.fulfill(expired));
    await page.route('**/api/v1/auth/refresh', (route) => route.fulfill(expired));
    await choose();
    await page.getByTestId('login-submit').waitFor();
    await says(page.getByTestId('login-ended'), /session has ended/);
    await page.unroute('**/api/v1/auth/refresh');
    await page.unroute('**/api/v1/auth/password');
    await page.route('**/api/v1/auth/password', (route) => route.fulfill(expired), { times: 1 });
    await choose();
    await page.getByTestId('hmi').waitFor();
    await says(page.getByTestId('user-menu'), /lena/);
    await page.context().close();
  });

  await t.test('a person sets up a second factor from the menu, and signs in with its code; a wrong one is told, and each is good once', async (t) => {
    await account(admin, 'siri', 'operator');
    const page = await open(browser, `${box.base}/login`);
    await signIn(page, 'siri');
    await page.getByTestId('user-menu').click();
    await page.getByTestId('second-factor').click();
    await page.getByTestId('factor-password').fill('not the password');
    await page.getByTestId('factor-begin').click();
    await says(page.getByTestId('factor-error'), /^The password is wrong\.$/, 'who is signed in is not asked who he is');
    await page.getByTestId('factor-password').fill(PASSWORD);
    await page.getByTestId('factor-begin').click();
    await page.locator('#first-code:focus').waitFor();
    const secret = (await page.getByTestId('factor-secret').innerText()).replaceAll(' ', '');
    t.match(await page.getByTestId('factor-uri').getAttribute('href'), new RegExp(`^otpauth://totp/.*secret=${secret}`));
    t.strictSame(await seriousViolations(page), [], 'secret');
    const step = stepOf(Date.now());
    await page.getByTestId('first-code').fill(codeOf(secret, step));
    await page.getByTestId('enrol-submit').click();
    const recoveryCode = await page.getByTestId('recovery-codes').locator('li').first().innerText();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await allSent(page); // the page has done with the keys
    t.ok(await page.getByTestId('recovery-codes').isVisible(), 'what is shown once is not taken away by a key');
    await page.getByTestId('recovery-codes-kept').click();
    await page.getByTestId('factor-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('user-menu').click();
    await page.getByTestId('logout').click();

    const enter = async (code: string): Promise<void> => {
      await page.getByTestId('second-code').fill(code);
      await page.getByTestId('login-submit').click();
    };
    await page.getByTestId('username').fill('siri');
    await page.getByTestId('password').fill(PASSWORD);
    await page.getByTestId('login-submit').click();
    await page.locator('#second-code:focus').waitFor();
    await enter(codeOf(secret, step));
    await says(page.getByTestId('login-error'), /good once/, 'the code that it was set up with');
    t.strictSame(await seriousViolations(page), [], 'code');
    await enter(recoveryCode);
    await page.getByTestId('hmi').waitFor();
    await says(page.getByTestId('user-menu'), /siri/);
    await page.context().close();
  });

  await t.test('a role that requires a second factor: the login page sets it up before anything else', async (t) => {
    const given = { username: 'susi', password: 'given by the administrator', displayName: 'susi', groups: ['lineside-supervisor'] };
    t.equal((await admin.post('/api/v1/auth/users', given)).status, 201);
    const page = await open(browser, `${box.base}/login`);
    await page.getByTestId('username').fill('susi');
    await page.getByTestId('password').fill(given.password);
    await page.getByTestId('login-submit').click();
    await page.locator('#new-password:focus').waitFor();
    for (const field of ['new-password', 'new-password-again']) await page.getByTestId(field).fill(given.password);
    await page.getByTestId('new-password-submit').click();
    await says(page.getByTestId('login-error'), /another password/);
    for (const field of ['new-password', 'new-password-again']) await page.getByTestId(field).fill(PASSWORD);
    await page.getByTestId('new-password-submit').click();
    const secret = (await page.getByTestId('factor-secret').innerText()).replaceAll(' ', '');
    t.strictSame(await seriousViolations(page), [], 'enrolment');
    await page.goto(`${box.base}/hmi`);
    await page.getByTestId('login-submit').waitFor();
    await says(page.getByTestId('login-ended'), /requires a second factor/, 'nothing else is open');
    await page.getByTestId('username').fill('susi');
    await page.getByTestId('password').fill(PASSWORD);
    await page.getByTestId('login-submit').click();
    const place = page.getByTestId('factor-secret');
    await place.waitFor();
    const shown = (await place.innerText()).replaceAll(' ', '');
    t.not(shown, secret, 'each is shown once');
    await page.getByTestId('first-code').fill(codeOf(shown, stepOf(Date.now())));
    await page.getByTestId('enrol-submit').click();
    await page.getByTestId('recovery-codes-kept').click();
    await page.getByTestId('hmi').waitFor();
    await says(page.getByTestId('user-menu'), /susi/);
    await page.context().close();
  });

  await t.test('the overview shows every unit with live values; a batch is started, held, restarted and answered from the page', async (t) => {
    const page = await open(browser, `${box.base}/hmi`);
    await signIn(page, 'olga');
    for (const unit of ['mx101', 'rx101', 'tk201']) await page.getByTestId(`unit-${unit}`).waitFor();
    await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
    await says(page.getByTestId('number-tic101.pv'), /^\d+\.\d$/);

    const name = await batch(admin, 'SHIFT-1');
    await page.getByTestId('batch-SHIFT-1').click();
    await state(page, 'Pending').waitFor();
    await isLocked(page, 'command-Hold'); // only what the gateway calls valid can be touched
    await says(page.getByTestId('blocked'), /Waits for an operator to start it/);
    await page.getByTestId('command-Start').click();
    await page.getByTestId('command-dialog').getByText('The box sees no obstacle').waitFor();
    t.equal(await page.getByTestId('start-stops').count(), 0, 'a warning keeps no batch from its Start');
    await says(page.getByTestId('departures'), /The batch starts with this.*A fault of AG101 raises no alarm/);
    await page.getByTestId('command-send').click();
    await state(page, 'Running').waitFor();
    await page.getByTestId('work-rx101').getByText('SHIFT-1').waitFor();

    await page.getByTestId('command-Hold').click();
    await page.getByTestId('reason').fill('short');
    await page.getByTestId('command-send').click();
    await says(page.getByTestId('command-error'), /10 characters/, 'the policy is told before the gateway refuses');
    await page.getByTestId('reason').fill('a look into the vessel');
    t.strictSame(await seriousViolations(page), [], 'dialog');
    await page.getByTestId('command-send').click();
    await state(page, 'Held').waitFor();
    await page.locator('[data-testid="state-rx101"][data-state="Held"]').waitFor();
    await page.getByTestId('command-Restart').click();
    await page.getByTestId('command-send').click();
    await state(page, 'Running').waitFor();

    await orWhy(admin, name, page.getByTestId('prompt-value').getByTestId('prompt-answer').click());
    await page.getByTestId('answer-value').fill('15');
    await page.getByTestId('reason').fill('measured at the bench');
    await page.getByTestId('prompt-send').click();
    await says(page.getByTestId('prompt-error'), /0 to 14/);
    await page.getByTestId('answer-value').fill('7,2');
    await page.getByTestId('prompt-send').click();
    await page.getByTestId('prompt-dialog').waitFor({ state: 'detached' });
    const outputs = await eventually('the answer is an output of the batch', async () => {
      const found = (await admin.get(`${SITE}/batches/${name}`)).body.outputs as { name: string; value: string }[];
      return found.find((output) => output.name === 'ph');
    });
    t.equal(outputs.value, '7.2');
    await says(page.getByTestId('prompt-recorded'), /Recorded and signed \d\d:\d\d:\d\d.*pH.*: 7\.2 pH.*RX101.*SHIFT-1.*audit record audit-\d+/);
    const [next, receipt] = [page.getByTestId('prompt-answer'), page.locator('.prompt-recorded-short')];
    await orWhy(admin, name, next.waitFor());
    await receipt.waitFor();
    const [asks, told] = [await next.boundingBox(), await receipt.boundingBox()];
    t.ok((asks?.y ?? 0) + (asks?.height ?? 0) <= (told?.y ?? 0), 'the next prompt stands above what was recorded');
    t.ok((told?.height ?? 99) <= 60, `one line: ${told?.height} px`);
    await page.evaluate("location.hash = '#/prompts?unit=tk201'");
    await page.getByTestId('prompts-view').waitFor();
    t.equal(await page.getByTestId('prompt-recorded').count(), 0, 'of another unit it says nothing');
    await page.goBack();
    await page.getByTestId('prompt-recorded-close').click();
    await page.getByTestId('prompt-recorded').waitFor({ state: 'detached' });
    await orWhy(admin, name, page.getByTestId('prompt-answer').click());
    await says(page.getByTestId('prompt-earlier'), /\d\d:\d\d:\d\d .*pH.*: 7\.2 olga of the shift/, 'who is asked next sees what was answered before');
    await page.keyboard.press('Escape');
    await page.getByTestId('messages').getByText('Charged').first().waitFor();

    await batch(admin, 'SHIFT-2');
    await page.getByTestId('batch-SHIFT-2').click();
    await page.getByTestId('command-Start').click();
    await says(page.getByTestId('start-stops').filter({ hasNotText: 'raises no alarm' }), /would be rejected now/, 'what rejects it stands apart from what it only warns of');
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' })).status, 200);
    await says(
      page.getByTestId('departures'),
      /starts with this.*TIC101 is in Manual: the batch is held when phase makeResin\/.+ comes to step \w+/,
      'a controller that people have taken is named before the next batch takes its unit, with the phase that it would hold',
    );
    t.equal((await admin.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Automatic' })).status, 200);
    await page.getByTestId('command-send').click();
    await says(page.getByTestId('rejection'), /Start( by [^:]*)? was rejected/, 'the verdict of the controller reaches the screen');
    t.strictSame(await seriousViolations(page), [], 'hmi in light');
    await page.emulateMedia({ colorScheme: 'dark' });
    t.strictSame(await seriousViolations(page), [], 'hmi in dark');
    await page.setViewportSize({ width: 1024, height: 600 });
    await drawn(page);
    for (const command of ['Start', 'Hold', 'Abort', 'Reset']) {
      const place = await page.getByTestId(`command-${command}`).boundingBox();
      t.ok(place && place.height >= 44 && place.width >= 44 && place.y + place.height <= 600, `${command} can be touched at 1024 x 600`);
    }
    await page.context().close();
  });

  await t.test('who may not command or answer sees so', async () => {
    const page = await open(browser, `${box.base}/hmi`);
    await signIn(page, 'vera');
    await page.getByTestId('batch-SHIFT-1').click();
    await state(page, 'Running').waitFor();
    for (const command of ['Start', 'Hold', 'Stop', 'Abort']) await isLocked(page, `command-${command}`);
    await page.getByTestId('prompt-not-allowed').waitFor();
    await isLocked(page, 'prompt-answer');
    await page.context().close();
  });

  await t.test('EVT-14 EVT-15: a gap frame, and a jump of seq alone, make the page read the REST equivalents again', async () => {
    const page = await panelOf(browser);
    const wire = await wireOf(page);
    await page.goto(`${box.base}/login`);
    await page.clock.install(); // reads are planned: while time stands still none is due but those that this test brings about
    const asked = new Set<string>();
    page.on('request', (request) => asked.add(new URL(request.url()).pathname));
    const lists = ['overview', 'batches', 'alarms'].map((list) => `${SITE}/${list}`);
    /** What was planned before is done. */
    const quiet = () =>
      eventually('nothing is read any more', async () => {
        asked.clear();
        await page.clock.runFor(1000);
        await allSent(page);
        return lists.every((list) => !asked.has(list));
      });
    const readsAgain = (why: string) => runUntil(page, why, async () => lists.every((list) => asked.has(list)));
    await signIn(page, 'olga');
    await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
    await wire.only('tag'); // the plant tells its values and nothing that makes the page read: it never stands still by itself
    await stopClock(page);
    await quiet();
    await wire.send({ type: 'gap', dropped: 7 });
    await readsAgain('a gap makes the page read again');
    await quiet();
    await wire.skip();
    await readsAgain('a jump makes the page read again');
    await page.context().close();
  });

  await t.test('STREAM-23 (contract 2, Authentication 5): after 4001 the page stops, connects no more and asks for a new sign-in', async (t) => {
    const page = await open(browser, `${box.base}/hmi`);
    let connections = 0;
    page.on('websocket', () => (connections += 1));
    await signIn(page, 'vera');
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    const sessions = (await admin.get('/api/v1/auth/sessions')).body as { id: string; username: string; streams: number }[];
    for (const { id } of sessions.filter(({ username }) => username === 'vera')) await admin.delete(`/api/v1/auth/sessions/${id}`);
    await page.getByTestId('login-ended').waitFor();
    t.match(page.url(), /\/login\?redirect=%2Fhmi/);
    await says(page.getByTestId('login-ended'), /administrator/);
    await page.goto(`${box.base}/hmi`);
    await page.getByTestId('login-submit').waitFor();
    t.equal(connections, 1, 'nothing was tried on the spent credential');
    await signIn(page, 'vera');
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    t.equal(connections, 2, 'a new sign-in connects again');
    await page.context().close();
  });

  await t.test(
    'values are marked after a silence, and come back by themselves after a restart of the box; no address and no line of the browser ever tells a token (D-C-20)',
    async (t) => {
      const page = await panelOf(browser);
      const told = everythingTold(page);
      await page.goto(`${box.base}/hmi`);
      await signIn(page, 'olga');
      await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
      await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
      process.kill(box.pid, 'SIGSTOP'); // a pulled cable: no close, no frame
      await page.locator('[data-testid="hmi"][data-live="false"]').waitFor(); // how soon, `npm run bench console` judges
      process.kill(box.pid, 'SIGCONT');
      await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
      await box.end('SIGKILL');
      await page.locator('[data-testid="hmi"][data-live="false"]').waitFor();
      await says(page.getByTestId('link'), /No live data since \d\d:\d\d:\d\d/);
      await box.start();
      await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
      await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
      t.ok(told.tokens.size > 0 && told.sockets > 1, 'tokens were used, and the stream was opened again');
      t.ok(
        told.lines.some((line) => line.includes('/api/v1/ws')),
        'the browser complained of the stream that was lost',
      );
      t.strictSame(
        told.lines.filter((line) => line.includes('token=') || [...told.tokens].some((token) => line.includes(token))),
        [],
      );
      await page.context().close();
    },
  );

  await t.test('a German browser gets German words, and a person on any panel the language that they choose', async (t) => {
    const page = await open(browser, `${box.base}/login`, { locale: 'de-DE', timezoneId: 'Europe/Berlin' });
    await says(page.getByTestId('login-submit'), /Anmelden/);
    await page.getByTestId('language-en').click();
    await says(page.getByTestId('login-submit'), /Sign in/);
    t.equal(await page.locator('html').getAttribute('lang'), 'en');
    await page.getByTestId('language-de').click();
    await says(page.getByTestId('login-submit'), /Anmelden/);
    await signIn(page, 'olga');
    await says(page.getByTestId('alarm-banner'), /Alarme/);
    await says(page.getByTestId('units'), /Füllstand/);
    await says(page.getByTestId('clock'), /:\d\d(MEZ|MESZ)$/); // times name their zone, once on each page
    await page.getByTestId('user-menu').click();
    await page.getByTestId('language-en').click();
    await says(page.getByTestId('units'), /Level/);
    await page.context().close();
  });
});

t.test('Q-AUTH-11: with authentication off the console opens at once and warns; without a plant it says so', async (t) => {
  const { box, browser } = await startConsole(t, { LINESIDE_AUTH__MODE: 'none', LINESIDE_DEMO__ENABLED: 'false' });
  const page = await open(browser, `${box.base}/login`);
  await page.getByTestId('auth-off').waitFor();
  await page.getByTestId('units').getByText('No site is set up yet').waitFor();
  t.equal(new URL(page.url()).pathname, '/hmi');
});
