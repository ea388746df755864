/**
 * A screen as a panel (D-C-18), in a real browser: enrolled by its code, watching over a reload, a person on top, revoked. And passkeys (ADR 0125) of
 * an authenticator that the browser plays, at the same box: it has a host name under TLS for them, and plain HTTP for this machine.
 */
import type { CDPSession } from 'playwright-core';
import t from 'tap';
import { writeRestoredMark } from '../../src/platform/backup/restored-mark.js';
import { eventually } from '../support/api-client.js';
import { freePort } from '../support/appliance-process.js';
import {
  account,
  AGAIN,
  allSent,
  batch,
  firstAdmin,
  flawsOf,
  keepPicture,
  layoutFlaws,
  open,
  panelOf,
  PASSWORD,
  raiseAlarm,
  says,
  seriousViolations,
  signIn,
  startConsole,
  writesOf,
} from './person.js';

t.test('D-C-18: panels watch on', async (t) => {
  const port = await freePort();
  const tlsPort = await freePort();
  const named = `https://hall-1.example:${tlsPort}`;
  const settings = {
    LINESIDE_GATEWAY__PUBLICNAME: 'hall-1.example',
    LINESIDE_GATEWAY__TLS__SELFSIGNED: 'true',
    LINESIDE_GATEWAY__HTTPPORT: String(tlsPort),
    LINESIDE_GATEWAY__PLAINHTTP: 'loopback',
    LINESIDE_GATEWAY__PLAINHTTPPORT: String(port),
    LINESIDE_AUTH__SECONDFACTOR__REQUIREDFOR: '{prefix}-supervisor',
  };
  const { box, browser } = await startConsole(t, settings, port);
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'operator');
  await raiseAlarm(admin, 'cold', 'the reactor is cold');
  const page = await open(browser, `${box.base}/login`);

  await t.test('an administrator enters the code that the screen shows, and it watches', async (t) => {
    await page.getByTestId('to-panel').click();
    await says(page.getByTestId('panel-code'), /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    const code = (await page.getByTestId('panel-code').textContent()) ?? '';
    await keepPicture(page, 'panel-code');
    const desk = await open(browser, `${box.base}/hmi`);
    await signIn(desk, 'anna');
    await desk.getByTestId('user-menu').click();
    await desk.getByTestId('open-panels').click();
    await desk.getByTestId('panel-code').fill(code);
    await desk.getByTestId('panel-name').fill('hall-1');
    await desk.getByTestId('panel-enrol').click();
    await desk.getByTestId('panel-hall-1').waitFor();
    t.same(await flawsOf(desk, 'panels'), []);
    await desk.context().close();
    await page.getByTestId('panel-sign-in').waitFor();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    t.same(await flawsOf(page, 'watching'), []);
    t.match((await admin.get('/api/v1/auth/panels/hall-1')).body, { site: 'demo', streams: 1, lastContactAt: /^20/ });
    const keys = await page.evaluate(`new Promise((resolve) => { const asked = indexedDB.open('lineside-panel'); asked.onsuccess = () => {
      const read = asked.result.transaction('keys').objectStore('keys').get('device');
      read.onsuccess = () => resolve(read.result.privateKey.extractable); }; })`);
    t.equal(keys, false, 'no script can read the key out');
  });

  await t.test('it watches on after a reload; a button that changes something asks for a sign-in and sends nothing', async () => {
    await page.reload();
    await page.getByTestId('panel-sign-in').waitFor();
    await says(page.getByTestId('hmi'), /the reactor is cold/);
    const sent = writesOf(page);
    await page.getByTestId('open-rx101').click();
    await page.getByTestId('module-tic101').click();
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('sign-in-question').waitFor();
    await allSent(page);
    t.same(sent, []);
    t.equal(await page.getByTestId('mode-dialog').count(), 0);
  });

  await t.test('a person signs in on top of it, and when he leaves it watches again', async () => {
    await page.getByTestId('sign-in-now').click();
    await page.getByTestId('back-to-watching').waitFor();
    await signIn(page, 'olga');
    t.equal(await page.getByTestId('panel-sign-in').count(), 0);
    await page.getByTestId('user-menu').click();
    await page.getByTestId('logout').click();
    await page.getByTestId('panel-sign-in').waitFor();
    await says(page.getByTestId('hmi'), /the reactor is cold/);
    await page.getByTestId('panel-sign-in').click();
    await signIn(page, 'olga');
    const sessions = (await admin.get('/api/v1/auth/sessions')).body as { readonly id: string; readonly username: string }[];
    for (const { id } of sessions.filter(({ username }) => username === 'olga')) await admin.delete(`/api/v1/auth/sessions/${id}`);
    await page.getByTestId('panel-sign-in').waitFor();
    await page.getByTestId('panel-sign-in').click();
    await page.getByTestId('back-to-watching').click();
    await page.locator('[data-testid="hmi"][data-live="true"]').waitFor();
  });

  await t.test('a login page that is left alone goes back to watching', async () => {
    await page.clock.install();
    await page.getByTestId('panel-sign-in').click();
    await page.getByTestId('back-to-watching').waitFor();
    await page.clock.runFor(61_000);
    await page.getByTestId('panel-sign-in').waitFor();
    await page.clock.resume();
  });

  await t.test('a revoked panel shows nothing more, at once, and says why', async () => {
    t.equal((await admin.delete('/api/v1/auth/panels/hall-1')).status, 204);
    await says(page.getByTestId('login-ended'), /no panel any more/);
    t.equal(await page.getByTestId('back-to-watching').count(), 0);
    await eventually('nobody is let in by the old key', async () => (await admin.get('/api/v1/auth/panels')).body.length === 0);
  });

  await t.test('an administrator enrols the screen in front of him: he signs in once, and from then on it starts as a panel by itself', async (t) => {
    const sessionsOfAnna = async () => ((await admin.get('/api/v1/auth/sessions')).body as { readonly username: string }[]).filter(({ username }) => username === 'anna').length;
    const before = await sessionsOfAnna();
    const screen = await open(browser, `${box.base}/login?panel`);
    await says(screen.getByTestId('panel-code'), /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
    await screen.getByTestId('enrol-here').click();
    await screen.getByTestId('username').fill('olga');
    await screen.getByTestId('password').fill(PASSWORD);
    await screen.getByTestId('login-submit').click();
    await screen.locator('#panel-site option').first().waitFor({ state: 'attached' });
    await screen.getByTestId('panel-name').fill('hall-2');
    await screen.getByTestId('panel-enrol').click();
    await says(screen.getByTestId('enrol-error'), /panel:create/, 'an operator makes no panels');
    await screen.reload();
    await screen.getByTestId('enrol-here').click();
    t.same(await layoutFlaws(screen, 'enrol-here'), []);
    await screen.getByTestId('username').fill('anna');
    await screen.getByTestId('password').fill(PASSWORD);
    await screen.getByTestId('login-submit').click();
    await screen.locator('#panel-site option').first().waitFor({ state: 'attached' });
    await screen.getByTestId('panel-name').fill('hall-2');
    t.same(await flawsOf(screen, 'enrol-here-name'), []);
    await screen.getByTestId('panel-enrol').click();
    await screen.getByTestId('panel-sign-in').waitFor();
    await screen.locator('[data-testid="hmi"][data-live="true"]').waitFor();
    t.same(
      (await screen.context().cookies()).filter(({ value }) => value !== ''),
      [],
      'nothing of him stays on the screen',
    );
    await eventually('his session has ended', async () => (await sessionsOfAnna()) === before);
    await screen.goto(`${box.base}/login?panel`);
    await screen.getByTestId('panel-sign-in').waitFor(); // as after a start of its machine
    t.equal((await admin.delete('/api/v1/auth/panels/hall-2')).status, 204);
    await screen.context().close();
  });

  await t.test('over plain HTTP from another host the page refuses with the sentence', async () => {
    const elsewhere = await panelOf(browser);
    await elsewhere.route('http://box.plant.example/**', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: `${box.base}${pathname}${search}`, ...AGAIN }) });
    });
    await elsewhere.goto('http://box.plant.example/login?panel');
    await says(elsewhere.getByTestId('panel-insecure'), /over TLS, or at the box itself/);
  });

  await t.test('ADR 0125: a role that requires a second factor takes a passkey; the next sign-in asks for it, and the menu lists it', async (t) => {
    await account(admin, 'susi', 'supervisor');
    const desk = await panelOf(browser, { ignoreHTTPSErrors: true });
    const authenticator = await desk.context().newCDPSession(desk);
    const authenticatorId = await withPasskeys(authenticator);
    const enter = async (): Promise<void> => {
      await desk.getByTestId('username').fill('susi');
      await desk.getByTestId('password').fill(PASSWORD);
      await desk.getByTestId('login-submit').click();
    };
    await desk.goto(`${named}/login`);
    await enter();
    await desk.getByTestId('choose-passkey').click();
    await desk.getByTestId('passkey-name').fill('blue token');
    t.strictSame(await seriousViolations(desk), [], 'a new passkey');
    await keepPicture(desk, 'passkey-new');
    await desk.getByTestId('passkey-make').click();
    await desk.getByTestId('recovery-codes-kept').click();
    await desk.getByTestId('hmi').waitFor();

    await desk.getByTestId('user-menu').click();
    await desk.getByTestId('logout').click();
    await enter();
    await desk.getByTestId('use-passkey').waitFor();
    t.strictSame(await seriousViolations(desk), [], 'second step');
    await keepPicture(desk, 'passkey-use');
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await desk.getByTestId('use-passkey').click();
    await says(desk.getByTestId('login-error'), /was not used/, 'whoever cannot show that it is his key');
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await desk.getByTestId('use-passkey').click();
    await desk.getByTestId('hmi').waitFor();

    await desk.getByTestId('user-menu').click();
    await desk.getByTestId('second-factor').click();
    await says(desk.getByTestId('passkey-blue token'), /used last/);
    await says(desk.getByTestId('factor-state'), /^Recovery codes left: 10\.$/);
    await keepPicture(desk, 'passkey-list');
    t.strictSame(await seriousViolations(desk), [], 'own passkeys');
    await desk.getByTestId('set-up-app').click();
    await desk.getByTestId('factor-password').fill(PASSWORD);
    await desk.getByTestId('factor-passkey').click();
    await desk.getByTestId('factor-secret').waitFor();
    const { credentials } = await authenticator.send('WebAuthn.getCredentials', { authenticatorId });
    t.match(credentials, [{ rpId: 'hall-1.example', signCount: 3 }]);
    await desk.keyboard.press('Escape');
    await desk.getByTestId('user-menu').click();
    await desk.getByTestId('second-factor').click();
    await desk.getByTestId('add-passkey').click();
    await desk.getByTestId('factor-password').fill(PASSWORD);
    await desk.getByTestId('factor-passkey').click();
    await desk.getByTestId('passkey-name').fill('spare');
    await desk.getByTestId('passkey-make').click();
    await says(desk.getByTestId('login-error'), /registered for you already/, 'one authenticator holds one key of a person');
    await desk.keyboard.press('Escape');
    await desk.goto(`${named}/hmi#/batch/${await batch(admin, 'B-SIGNED')}`);
    await desk.getByTestId('sign').click();
    await desk.getByTestId('meaning-Witnessed').click();
    await desk.getByTestId('reason').fill('seen on site');
    await desk.getByTestId('sign-password').fill(PASSWORD);
    await desk.getByTestId('sign-send').click();
    await says(desk.getByTestId('second-needed'), /^Now use a passkey or a code\.$/, 'the password was right, and is not asked for twice');
    await desk.getByTestId('sign-passkey').click();
    await says(desk.getByTestId('signed'), /Signed by susi of the shift: Witnessed/);
    await desk.context().close();
  });

  await t.test('ADR 0125: on a page of another address the box says where passkeys work', async () => {
    const desk = await open(browser, `${box.base}/login`);
    await desk.getByTestId('username').fill('susi');
    await desk.getByTestId('password').fill(PASSWORD);
    await desk.getByTestId('login-submit').click();
    await says(desk.getByTestId('no-passkeys'), new RegExp(`Passkeys work at ${named} only`));
    await desk.context().close();
  });

  await t.test('D-C-06: a restored box says in its banner that outputs are withheld, who ends it and how; who may confirms it there, with a signature', async (t) => {
    await box.end('SIGKILL');
    writeRestoredMark(box.dataDir, {
      id: 'r-1',
      restoredAt: '2026-03-01T09:00:00.000Z',
      deviceId: 'b'.repeat(32),
      withKeys: false,
      backup: { id: 'b-1', createdAt: '2026-02-28T22:00:00.000Z', version: '0.1.0', deviceId: 'a'.repeat(32), head: { sequence: 1, hash: 'c'.repeat(64) } },
      unverified: ['the seals of the trail'],
    });
    await box.start();
    const panel = await open(browser, `${box.base}/hmi`);
    await signIn(panel, 'olga');
    await says(panel.getByTestId('restored'), /restored at .* from the backup that box aaaaaaaa made .*withheld.*supervisor or administrator confirms.*lineside restored confirm/);
    t.equal(await panel.getByTestId('restored-confirm').count(), 0);
    t.same(await flawsOf(panel, 'restored'), []);
    await panel.context().close();
    const desk = await open(browser, `${box.base}/hmi`);
    await signIn(desk, 'anna');
    await desk.getByTestId('restored-confirm').click();
    await says(desk.getByTestId('sign-dialog'), /Two boxes that write to one device.*the seals of the trail/);
    await desk.getByTestId('reason').fill('The other box is in the store');
    t.same(await flawsOf(desk, 'restored-confirm'), []);
    await desk.locator('#sign-password').fill(PASSWORD);
    await desk.getByTestId('sign-send').click();
    await says(desk.getByTestId('signed'), /Anna Admin.*Confirmation of a restore/);
    await desk.getByTestId('sign-close').click();
    await desk.getByTestId('restored').waitFor({ state: 'detached' });
    await desk.getByTestId('user-menu').click();
    await desk.getByTestId('open-sessions').click();
    await desk.locator('[data-testid="session"][data-current="true"]').waitFor();
    t.same(await flawsOf(desk, 'sessions'), []);
    await box.api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
    await desk.reload();
    await desk.getByTestId('session-end').click();
    await desk.getByTestId('session-end').waitFor({ state: 'detached' });
    t.equal(await desk.getByTestId('session').count(), 1, 'the other one has ended, and this one goes on');
    await desk.context().close();
  });
});

/** A token that is touched, and knows its owner, by itself. */
async function withPasskeys(session: CDPSession): Promise<string> {
  await session.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'usb', hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } as const;
  return (await session.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
}
