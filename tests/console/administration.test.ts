/** An administrator's day in the records and data console, in a real browser: people, roles, sessions, lock-outs, keys, change requests, integrity, the box. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { codeOf, stepOf } from '../../src/domains/access/second-factor/time-codes.js';
import { type ApiClient, eventually } from '../support/api-client.js';
import { ownFolder } from '../support/own-folder.js';
import { account, drawn, firstAdmin, keepPicture, open, PASSWORD, says, seriousViolations, signIn, SITE, startConsole } from './person.js';

const DESK = { width: 1440, height: 900 };
const NEW_PASSWORD = 'a second long password';
/** Of age; nobody has its identity. */
const RECIPIENT = 'age1asg00psx02c0y398uzxrs03fagts9pttywerzemqacks9yee24gqcfxt09';
/** What axe judges in each scheme; the rest is the same in both. */
const COLOURS = { only: ['color-contrast'] };

t.test('an administrator’s day', async (t) => {
  const { box, browser } = await startConsole(t, { LINESIDE_BACKUP__DIRECTORY: ownFolder(t), LINESIDE_BACKUP__RECIPIENT: RECIPIENT, LINESIDE_BACKUP__INTERVAL: '0' });
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'susi', 'supervisor');
  await account(admin, 'egon', 'engineer');
  const desk = await open(browser, `${box.base}/data`, { viewport: DESK });
  await signIn(desk, 'anna');

  const go = async (view: string): Promise<void> => {
    await desk.getByTestId(`nav-${view}`).click();
    await desk.getByTestId(`${view}-view`).waitFor();
  };

  await t.test('makes a person, who signs in with the password that is shown once and must change it', async (t) => {
    await desk.getByTestId('nav-administration').click();
    await says(desk.getByTestId('people'), /susi of the shift/);
    t.same(await flaws(desk, 'people'), []);
    await desk.getByTestId('person-new').click();
    await desk.getByTestId('person-new-send').click();
    await says(desk.getByTestId('person-new-fault'), /fill in/);
    await desk.getByTestId('person-display-name').fill('Olga Operator');
    await desk.getByTestId('person-username').fill('olga');
    await desk.getByTestId('group-lineside-operator').check();
    await desk.getByTestId('group-lineside-site-demo').check();
    t.same(await flaws(desk, 'person-new'), []);
    await desk.getByTestId('person-new-send').click();
    const password = (await desk.getByTestId('person-password-shown').textContent()) ?? '';
    t.match(password, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
    t.same(await flaws(desk, 'person-password'), []);
    await desk.getByTestId('person-password-shown-close').click();
    await says(desk.getByTestId('people'), /Olga Operator.*olga.*Operator.*demo.*must change the password/);

    const panel = await open(browser, `${box.base}/hmi`);
    await panel.getByTestId('username').fill('olga');
    await panel.getByTestId('password').fill(password);
    await panel.getByTestId('login-submit').click();
    await panel.getByTestId('new-password').fill(PASSWORD);
    await panel.getByTestId('new-password-again').fill(PASSWORD);
    await panel.getByTestId('new-password-submit').click();
    await panel.getByTestId('hmi').waitFor();
    t.equal(await panel.getByTestId('nav-administration').count(), 0, 'who may nothing there has no place for it');
    await panel.context().close();
  });

  await t.test('changes her roles; who can finalize a record is asked before and after', async (t) => {
    await go('roles');
    await desk.getByTestId('roles-ask').fill('finalize record');
    await says(desk.getByTestId('roles'), /Finalize a batch record/);
    t.same(await flaws(desk, 'roles'), []);
    await desk.getByRole('link', { name: 'Finalize a batch record' }).click();
    await says(desk.getByTestId('who-can-roles'), /Supervisor.*Administrator/);
    await says(desk.getByTestId('who-can-people'), /Anna Admin.*susi of the shift/);
    t.notMatch(await desk.getByTestId('who-can-people').textContent(), /Olga/);
    await says(desk.getByTestId('who-can'), /the password is asked for again/);
    t.same(await flaws(desk, 'who-can'), []);

    await person(desk, 'olga');
    await desk.getByTestId('person-change').click();
    await desk.getByTestId('person-change-send').click();
    await says(desk.getByTestId('person-change-fault'), /Nothing is changed/);
    await desk.getByTestId('group-lineside-operator').uncheck();
    await desk.getByTestId('group-lineside-supervisor').check();
    t.same(await flaws(desk, 'person-change'), []);
    await desk.getByTestId('person-change-send').click();
    await says(desk.getByTestId('person-view'), /RolesSupervisorSitesdemo/);
    await desk.evaluate(`location.hash = '#/roles/batchrecord:finalize'`);
    await says(desk.getByTestId('who-can-people'), /Olga Operator/);
  });

  await t.test('what another administrator has changed meanwhile is not written over', async () => {
    await person(desk, 'olga');
    await desk.getByTestId('person-change').click();
    await desk.getByTestId('person-display-name').fill('Olga Obermann');
    await admin.put('/api/v1/auth/users/olga', { email: 'olga@plant.example' });
    await desk.getByTestId('person-change-send').click();
    await says(desk.getByTestId('person-change-fault'), /changed|version/i);
    await desk.keyboard.press('Escape');
  });

  await t.test('unlocks who has locked herself out, from her page and from the list', async (t) => {
    await lockOut(box.api, 'olga');
    await person(desk, 'olga');
    await says(desk.getByTestId('person-locked'), /Locked after failed passwords until/);
    t.same(await flaws(desk, 'person'), []);
    await desk.getByTestId('person-unlock').click();
    await desk.getByTestId('person-unlock-send').click();
    await desk.getByTestId('person-locked').waitFor({ state: 'detached' });
    await lockOut(box.api, 'olga');
    await go('lock-outs');
    await says(desk.getByTestId('lock-outs'), /olga/);
    t.same(await flaws(desk, 'lock-outs'), []);
    await desk.getByTestId('lift-olga').click();
    await says(desk.getByTestId('lift-dialog'), /may try to sign in again at once/);
    await desk.getByTestId('lift-send').click();
    await says(desk.getByTestId('lock-outs-view'), /No user name is locked/);
    t.equal((await box.api.post('/api/v1/auth/login', { username: 'olga', password: PASSWORD })).status, 200);
  });

  await t.test('ends her session, then signs her out everywhere', async (t) => {
    await go('all-sessions');
    await says(desk.getByTestId('all-sessions'), /Olga Operator/);
    t.same(await flaws(desk, 'all-sessions'), []);
    await desk.getByTestId('end-olga').first().click();
    await says(desk.getByTestId('session-end-dialog'), /Ends this session of Olga Operator/);
    await desk.getByTestId('session-end-send').click();
    await desk.getByTestId('session-end-dialog').waitFor({ state: 'detached' });
    await box.api.post('/api/v1/auth/login', { username: 'olga', password: PASSWORD });
    await person(desk, 'olga');
    await desk.getByTestId('person-end-sessions').click();
    await desk.getByTestId('person-end-sessions-send').click();
    await desk.getByTestId('person-end-sessions').waitFor({ state: 'detached' });
    t.same(await sessionsOf(admin, 'olga'), []);
  });

  await t.test('removes the second factor that she has lost; not the own one', async (t) => {
    await enrol(await signedIn(box.api, 'olga'));
    await person(desk, 'olga');
    await desk.getByTestId('person-remove-factor').click();
    await says(desk.getByTestId('person-remove-factor-dialog'), /takes the app, all passkeys and the recovery codes/);
    await desk.getByTestId('person-remove-factor-send').click();
    await desk.getByTestId('person-remove-factor').waitFor({ state: 'detached' });
    t.equal((await box.api.post('/api/v1/auth/login', { username: 'olga', password: PASSWORD })).status, 200, 'the password alone opens it again');
    await person(desk, 'anna');
    t.equal(await desk.getByTestId('person-remove-factor').count(), 0);
    await person(desk, 'olga');
  });

  await t.test('sets her a password, locks the account, and deletes it only by its name', async (t) => {
    await desk.getByTestId('person-reset').click();
    await desk.getByTestId('person-password').fill('short');
    await desk.getByTestId('person-reset-send').click();
    await says(desk.getByTestId('person-reset-fault'), /newPassword must have 12/);
    await desk.getByTestId('person-password').fill(NEW_PASSWORD);
    await desk.getByTestId('person-reset-send').click();
    await says(desk.getByTestId('person-password-shown'), new RegExp(NEW_PASSWORD));
    await desk.getByTestId('person-password-shown-close').click();
    t.equal((await box.api.post('/api/v1/auth/login', { username: 'olga', password: NEW_PASSWORD })).status, 200);
    await desk.getByTestId('person-disable').click();
    await says(desk.getByTestId('person-disable-dialog'), /cannot sign in until/);
    await desk.getByTestId('person-disable-send').click();
    await desk.getByTestId('person-enable').waitFor();
    t.equal((await box.api.post('/api/v1/auth/login', { username: 'olga', password: NEW_PASSWORD })).status, 401);
    await desk.getByTestId('person-remove').click();
    await desk.getByTestId('person-remove-send').click();
    await says(desk.getByTestId('person-remove-fault'), /Type olga/);
    t.same(await flaws(desk, 'person-remove'), []);
    await desk.getByTestId('person-remove-name').fill('olga');
    await desk.getByTestId('person-remove-send').click();
    await desk.getByTestId('people').waitFor();
    t.equal((await admin.get('/api/v1/auth/users/olga')).status, 404);
    await person(desk, 'anna');
    await desk.getByTestId('person-disable').click();
    await desk.getByTestId('person-disable-send').click();
    await says(desk.getByTestId('person-disable-fault'), /last|administrator/, 'the last administrator stays, and is told why');
    await desk.keyboard.press('Escape');
  });

  await t.test('makes a key, which is shown once and opens; revoked it opens nothing', async (t) => {
    await go('keys');
    await desk.getByTestId('key-new').click();
    await desk.getByTestId('key-name').fill('mes-1');
    t.same(await flaws(desk, 'key-new'), []);
    await desk.getByTestId('key-new-send').click();
    const key = (await desk.getByTestId('key-shown').textContent()) ?? '';
    t.same(await flaws(desk, 'key-shown'), []);
    await desk.getByTestId('key-shown-close').click();
    await says(desk.getByTestId('keys'), /mes-1/);
    t.notMatch(await desk.content(), new RegExp(key));
    const orders = async (): Promise<number> => (await fetch(`${box.base}/api/v1/mes/sites/demo/work-orders`, { headers: { authorization: `ApiKey ${key}` } })).status;
    t.not(await orders(), 401);
    t.same(await flaws(desk, 'keys'), []);
    await desk.getByTestId('key-rotate-mes-1').click();
    await says(desk.getByTestId('key-rotate-dialog'), /For a day both are accepted/);
    await desk.getByTestId('key-rotate-send').click();
    await desk.getByTestId('key-shown-close').click();
    await says(desk.getByTestId('keys'), /mes-1.*the one before until/);
    t.not(await orders(), 401, 'the one that was replaced is still accepted');
    await desk.getByTestId('key-revoke-mes-1').click();
    await desk.getByTestId('key-revoke-send').click();
    await says(desk.getByTestId('keys-view'), /There is no API key/);
    t.equal(await orders(), 401);
  });

  await t.test('enrolled panels have their place there', async (t) => {
    await go('panels');
    t.same(await flaws(desk, 'panels'), []);
  });

  await t.test('approves a change request as the second person, after it was read; the signature is verified', async (t) => {
    const engineer = await signedIn(box.api, 'egon');
    for (const name of ['hall', 'yard']) await change(engineer, name);
    await go('changes');
    await says(desk.getByTestId('changes'), /hall.*waits for a decision/);
    t.same(await flaws(desk, 'changes'), []);
    await desk.getByRole('link', { name: 'cr-hall' }).click();
    await says(desk.getByTestId('change-differences'), /spec\.description.*–.*new roof/);
    t.same(await flaws(desk, 'change'), []);
    await desk.getByTestId('change-approve').click();
    await says(desk.getByTestId('change-does'), /applies the change at once/);
    await desk.getByTestId('reason').fill('agreed');
    await desk.getByTestId('sign-password').fill(PASSWORD);
    t.same(await flaws(desk, 'change-approve'), []);
    await desk.getByTestId('sign-send').click();
    await says(desk.getByTestId('signed'), /Anna Admin: Approval of a change/);
    await desk.getByTestId('sign-close').click();
    await says(desk.getByTestId('change-view'), /applied/);
    await says(desk.getByTestId('change-signatures'), /egon of the shift: Request for a change.*Anna Admin: Approval of a change/);
    t.equal((await admin.get(`${SITE}/areas/hall`)).body.description, 'new roof');

    await desk.evaluate(`location.hash = '#/changes/${encodeURIComponent('site-demo/cr-yard')}'`);
    await desk.getByTestId('change-withdraw').click();
    await desk.getByTestId('change-withdraw-send').click();
    await says(desk.getByTestId('change-view'), /withdrawn/);
    t.equal(await desk.getByTestId('change-approve').count(), 0, 'what is decided is decided');
  });

  await t.test('finds a signature and has it verified check by check', async (t) => {
    const signed = await (await signedIn(box.api, 'susi')).post('/api/v1/signatures', {
      target: { kind: 'Area', name: 'hall', site: 'demo' },
      meaning: 'Reviewed',
      reason: 'seen',
    });
    t.equal(signed.status, 201, signed.text);
    await go('signatures');
    await says(desk.getByTestId('signatures'), /susi of the shift.*Reviewed.*hall.*seen.*valid/);
    t.same(await flaws(desk, 'signatures'), []);
    await desk.getByTestId('signatures').getByRole('link').first().click();
    await desk.locator('[data-testid="signature-verdict"][data-ok="true"]').waitFor();
    await says(desk.getByTestId('signature-checks'), /Seal.*good/);
    t.same(await flaws(desk, 'signature'), []);
    await desk.getByTestId('signature-withdraw').click();
    await desk.getByTestId('reason').fill('signed by mistake');
    await desk.getByTestId('sign-password').fill(PASSWORD);
    await desk.getByTestId('sign-send').click();
    await desk.getByTestId('signed').waitFor();
    await desk.getByTestId('sign-close').click();
    await says(desk.getByTestId('signature-view'), /withdrawn by Anna Admin.*signed by mistake/);
  });

  await t.test('has the integrity verified, part by part, and reads it in words', async (t) => {
    await go('integrity');
    for (const part of ['everything', 'trail', 'archive', 'changes']) {
      await desk.getByTestId(`integrity-run-${part}`).click();
      await says(desk.getByTestId(`integrity-${part}`), /No fault found/);
    }
    await says(desk.getByTestId('integrity-gaps'), /Nothing was ever found/);
    t.same(await flaws(desk, 'integrity'), []);
  });

  await t.test('reads how the box is, and what the backups need', async (t) => {
    await go('backups');
    await says(desk.getByTestId('backup-state'), /There is no backup yet/);
    await desk.getByTestId('backup-make').click();
    await says(desk.getByTestId('backup-make-dialog'), /one encrypted file with everything/);
    t.same(await flaws(desk, 'backup-make'), []);
    await desk.getByTestId('backup-make-send').click();
    await says(desk.getByTestId('backup-state'), /is whole.*\.age/);
    t.same(await flaws(desk, 'backups'), []);
    await go('box');
    await says(desk.getByTestId('box-certificate'), /not encrypted.*gateway\.tls/);
    await says(desk.getByTestId('box-storage'), /Takes every change/);
    t.same(await flaws(desk, 'box'), []);
  });

  await t.test('everybody changes the own password from the menu; the other sessions end', async (t) => {
    const panel = await open(browser, `${box.base}/hmi`);
    await signIn(panel, 'susi');
    const elsewhere = await signedIn(box.api, 'susi');
    await panel.getByTestId('user-menu').click();
    await panel.getByTestId('open-password').click();
    await panel.getByTestId('password-current').fill('not the password');
    await panel.getByTestId('password-new').fill(NEW_PASSWORD);
    await panel.getByTestId('password-again').fill(PASSWORD);
    await panel.getByTestId('password-send').click();
    await says(panel.getByTestId('password-fault'), /not the same/);
    await panel.getByTestId('password-again').fill(NEW_PASSWORD);
    await panel.getByTestId('password-send').click();
    await says(panel.getByTestId('password-fault'), /present password is wrong/);
    t.same(await flaws(panel, 'password'), []);
    await panel.getByTestId('password-current').fill(PASSWORD);
    await panel.getByTestId('password-send').click();
    await panel.getByTestId('password-changed').waitFor();
    await eventually('the other session is over', async () => (await elsewhere.get('/api/v1/auth/me')).status === 401);
    t.equal((await box.api.post('/api/v1/auth/login', { username: 'susi', password: NEW_PASSWORD })).status, 200);
    await panel.context().close();
  });

  await t.test('who lacks the action has no place for the view', async (t) => {
    const other = await open(browser, `${box.base}/data`, { viewport: DESK });
    await signIn(other, 'egon');
    await other.getByTestId('nav-administration').click();
    const places = await other.locator('.sections a').evaluateAll((found) => found.map((place) => place.getAttribute('data-testid')));
    t.same(places, ['nav-changes', 'nav-signatures', 'nav-backups', 'nav-box']);
    await other.context().close();
  });

  await t.test('in German, every view fits', async (t) => {
    const german = await open(browser, `${box.base}/data`, { viewport: DESK, locale: 'de-DE', colorScheme: 'dark' });
    await signIn(german, 'anna');
    await german.getByTestId('nav-administration').click();
    await says(german.getByTestId('nav-people'), /Personen/);
    for (const view of ['people', 'roles', 'all-sessions', 'lock-outs', 'keys', 'panels', 'changes', 'signatures', 'integrity', 'backups', 'box']) {
      await german.getByTestId(`nav-${view}`).click();
      await german.getByTestId(`${view}-view`).waitFor();
      t.same(await layout(german, `${view}-german`), []);
    }
    await german.context().close();
  });
});

t.test('with authentication off the pages say why there are no accounts', async (t) => {
  const { box, browser } = await startConsole(t, { LINESIDE_AUTH__MODE: 'none' });
  const desk = await open(browser, `${box.base}/data#/people`, { viewport: DESK });
  await says(desk.getByTestId('no-accounts'), /Authentication is off.*auth\.mode/);
  t.same(await flaws(desk, 'no-accounts'), []);
  await desk.getByTestId('nav-roles').click();
  await desk.getByRole('link', { name: 'Finalize a batch record' }).click();
  await says(desk.getByTestId('who-can'), /With authentication off, everybody/);
  await desk.getByTestId('nav-backups').click();
  await says(desk.getByTestId('backup-state'), /makes no backups by itself/);

  await t.test('and an address survives that the page is loaded again', async (t) => {
    const { name } = (await box.api.post(`${SITE}/batches`, { batchID: 'STAYS-1', masterRecipeRef: 'resin-a' })).body as { name: string };
    const page = await open(browser, 'about:blank');
    const addresses = ['/hmi#/alarms?state=Shelved', '/hmi#/prompts', '/hmi#/trends', '/hmi#/audit', '/hmi#/unit/rx101', `/hmi#/batch/${name}`, '/data#/history', '/data#/roles'];
    for (const address of addresses) {
      const view = page.locator(`main[data-view="${/#\/(\w+)/.exec(address)?.[1]}"]`);
      await page.goto('about:blank');
      await page.goto(`${box.base}${address}`);
      await view.waitFor();
      await page.reload();
      await view.waitFor();
      t.equal(page.url(), `${box.base}${address}`);
    }
    await page.goto(`${box.base}/login?${new URLSearchParams({ redirect: '/hmi#/audit' })}`);
    await page.waitForURL(`${box.base}/hmi#/audit`);
    await page.context().close();
  });
});

/** The page of a person, read anew. */
async function person(desk: Page, username: string): Promise<void> {
  await desk.evaluate(`location.hash = '#/people'`);
  await desk.getByTestId('people').waitFor();
  await desk.evaluate(`location.hash = '#/people/${username}'`);
  await desk.getByTestId('person-change').waitFor();
}

async function signedIn(api: ApiClient, username: string): Promise<ApiClient> {
  const session = await api.post('/api/v1/auth/login', { username, password: PASSWORD });
  return api.with(`Bearer ${session.body.accessToken}`);
}

/** With an authenticator app. */
async function enrol(client: ApiClient): Promise<void> {
  const { secret } = (await client.post('/api/v1/auth/second-factor', { password: PASSWORD })).body as { secret: string };
  const confirmed = await client.post('/api/v1/auth/second-factor/confirm', { code: codeOf(secret, stepOf(Date.now())) });
  if (confirmed.status !== 200) throw new Error(confirmed.text);
}

async function lockOut(api: ApiClient, username: string): Promise<void> {
  await eventually('the name is locked', async () => (await api.post('/api/v1/auth/login', { username, password: 'a wrong password' })).body.code === 'account_locked');
}

async function sessionsOf(admin: ApiClient, username: string): Promise<readonly unknown[]> {
  return ((await admin.get('/api/v1/auth/sessions')).body as { username: string }[]).filter((session) => session.username === username);
}

/** Asks for a new area of the site. */
async function change(engineer: ApiClient, name: string): Promise<void> {
  const answer = await engineer.post(`${SITE}/changerequests`, {
    name: `cr-${name}`,
    target: { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Area', name },
    operation: 'Create',
    reason: `the ${name} is built`,
    manifest: { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Area', metadata: { name, namespace: 'site-demo' }, spec: { description: 'new roof' } },
  });
  if (answer.status !== 201) throw new Error(answer.text);
}

/** What sticks out of the desk. */
async function layout(page: Page, name: string): Promise<string[]> {
  await drawn(page);
  const sticks = (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')) ? ['wider than the screen'] : [];
  await keepPicture(page, `admin-${name}`, sticks);
  return sticks.map((flaw) => `${name}: ${flaw}`);
}

/** What is wrong with the view as it stands: its layout, and what axe finds, its colours in both schemes. */
async function flaws(page: Page, name: string): Promise<string[]> {
  const found = [...(await layout(page, name)), ...(await seriousViolations(page))];
  await page.emulateMedia({ colorScheme: 'dark' });
  const inDark = await seriousViolations(page, COLOURS);
  await keepPicture(page, `admin-${name}-dark`, inDark);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...found, ...inDark.map((violation) => `${name} in dark: ${violation}`)];
}
