/** An administrator's tasks: people, keys, sessions, the box itself. */
import { PASSWORD, says, SITE } from '../console/person.js';
import { acknowledge, DESK, expect, type Stage, Walk } from './walk.js';

export async function administrator(stage: Stage): Promise<void> {
  const { box, admin } = stage;
  const walk = await Walk.begin('administrator', stage, '/data', 'anna', DESK);
  const go = async (view: string): Promise<void> => {
    await walk.go(view);
    await walk.page.getByTestId(`${view}-view`).waitFor();
  };
  const person = async (username: string): Promise<void> => {
    await walk.go(`people/${username}`);
    await walk.page.getByTestId('person-view').waitFor();
  };

  await walk.task('makes a person with groups, whose first password is shown once', async (page) => {
    await page.getByTestId('nav-administration').click();
    await page.getByTestId('person-new').click();
    await page.getByTestId('person-display-name').fill('Nina New');
    await page.getByTestId('person-username').fill('nina');
    await page.getByTestId('group-lineside-operator').check();
    await page.getByTestId('group-lineside-site-demo').check();
    await page.getByTestId('person-new-send').click();
    await says(page.getByTestId('person-password-shown'), /([a-z2-9]{5}-){3}/);
    await page.getByTestId('person-password-shown-close').click();
    await says(page.getByTestId('people'), /Nina New.*must change the password/);
  });

  await walk.task('changes the groups of a person', async (page) => {
    await person('nina');
    await page.getByTestId('person-change').click();
    await page.getByTestId('group-lineside-operator').uncheck();
    await page.getByTestId('group-lineside-supervisor').check();
    await page.getByTestId('person-change-send').click();
    await says(page.getByTestId('person-view'), /Supervisor/);
  });

  await walk.task('resets a password', async (page) => {
    await page.getByTestId('person-reset').click();
    await page.getByTestId('person-password').fill('a third long password');
    await page.getByTestId('person-reset-send').click();
    await says(page.getByTestId('person-password-shown'), /a third long password/);
    await page.getByTestId('person-password-shown-close').click();
  });

  await walk.task('sees who may do what: roles, and everybody who may', async (page) => {
    await go('roles');
    await page.getByTestId('roles-ask').fill('finalize record');
    await page.getByRole('link', { name: 'Finalize a batch record' }).click();
    await says(page.getByTestId('who-can-people'), /Nina New/);
  });

  await walk.task('unlocks whoever has locked herself out', async (page) => {
    for (let tries = 0; tries < 12; tries += 1) await box.api.post('/api/v1/auth/login', { username: 'nina', password: 'not the password' });
    await go('lock-outs');
    await page.getByTestId('lift-nina').click();
    await page.getByTestId('lift-send').click();
    await says(page.getByTestId('lock-outs-view'), /No user name is locked/);
  });

  await walk.task('ends the session of a person', async (page) => {
    const session = await box.api.post('/api/v1/auth/login', { username: 'lena', password: PASSWORD });
    expect('lena is in', session.status === 200);
    await go('all-sessions');
    await page.getByTestId('end-lena').first().click();
    await page.getByTestId('session-end-send').click();
    await page.getByTestId('session-end-dialog').waitFor({ state: 'detached' });
    const after = await box.api.with(`Bearer ${session.body.accessToken}`).get('/api/v1/auth/me');
    expect('her session is over', after.status === 401);
  });

  await walk.task('locks an account, and deletes it by its name', async (page) => {
    await person('nina');
    await page.getByTestId('person-disable').click();
    await page.getByTestId('person-disable-send').click();
    await page.getByTestId('person-enable').waitFor();
    await page.getByTestId('person-remove').click();
    await page.getByTestId('person-remove-name').fill('nina');
    await page.getByTestId('person-remove-send').click();
    await page.getByTestId('people').waitFor();
    expect('she is gone', (await admin.get('/api/v1/auth/users/nina')).status === 404);
  });

  await walk.task('makes a key for the MES, which is shown once, replaces and revokes it', async (page) => {
    await go('keys');
    await page.getByTestId('key-new').click();
    await page.getByTestId('key-name').fill('mes-1');
    await page.getByTestId('key-new-send').click();
    const key = (await page.getByTestId('key-shown').textContent()) ?? '';
    await page.getByTestId('key-shown-close').click();
    const orders = async (): Promise<number> => (await box.api.with(`ApiKey ${key}`).get('/api/v1/mes/sites/demo/work-orders')).status;
    expect('it opens', (await orders()) === 200);
    await page.getByTestId('key-rotate-mes-1').click();
    await page.getByTestId('key-rotate-send').click();
    await page.getByTestId('key-shown-close').click();
    await page.getByTestId('key-revoke-mes-1').click();
    await page.getByTestId('key-revoke-send').click();
    await says(page.getByTestId('keys-view'), /There is no API key/);
    expect('it opens no more', (await orders()) === 401);
  });

  await walk.task('reads the health of the box, its version, storage, clock and certificate, part by part', async (page) => {
    await go('box');
    for (const part of ['storage', 'control', 'clock', 'certificate', 'backup', 'room']) await says(page.getByTestId(`box-${part}`), /./);
    await says(page.getByTestId('box-view'), /Version.*Device/s);
  });

  await walk.task('sees what the historian holds and whether it keeps up, and goes to what it recorded', async (page) => {
    await says(page.getByTestId('box-recorder'), /Samples\s*\d+/);
    await page.getByTestId('box-recorder').getByRole('link').click();
    await page.getByTestId('history-view').waitFor();
  });

  await walk.task('sets up the demonstration plant again', async (page) => {
    await go('box');
    await page.getByTestId('box-demo').getByTestId('demo-provision').click();
    await page.getByTestId('demo-provision-send').click();
    await page.getByTestId('demo-provision-dialog').waitFor({ state: 'detached' });
    await says(page.getByTestId('box-demo'), /\d+ of \d+ manifests/);
  });

  await walk.task('makes a backup and reads how it is restored', async (page) => {
    await go('backups');
    await page.getByTestId('backup-make').click();
    await page.getByTestId('backup-make-send').click();
    await says(page.getByTestId('backup-state'), /is whole/);
  });

  await walk.task('has the integrity verified', async (page) => {
    await go('integrity');
    await page.getByTestId('integrity-run-everything').click();
    await says(page.getByTestId('integrity-everything'), /No fault found/);
  });

  await walk.task('removes an alarm whose definition is no more', async (page) => {
    const definition = { name: 'orphan', sourceKind: 'ControlModule', sourceName: 'tic101', conditionType: 'TagHigh', tagName: 'pv', threshold: '-50', message: 'An orphan' };
    await admin.post(`${SITE}/alarmdefinitions`, { ...definition, type: 'Process', severity: 'Low', enabled: true });
    await page.goto(`${box.base}/hmi#/alarms?by=time&find=orphan`);
    await page.getByTestId('hmi').waitFor();
    await page.getByTestId('alarm-tab-time').click();
    await page.getByTestId('alarm-search').fill('orphan');
    await acknowledge(page, 'orphan');
    const removed = await admin.delete(`${SITE}/alarmdefinitions/orphan`);
    expect(removed.text, removed.status < 300);
    const left = ((await admin.get(`${SITE}/alarms`)).body as { definitionRef: string }[]).some(({ definitionRef }) => definitionRef === 'orphan');
    if (!left) return; // it went with its definition
    await page.locator('[data-testid^="alarm-orphan"]').first().click();
    await page.getByTestId('alarm-remove').click();
    await page.getByTestId('alarm-remove-send').click();
    await page.locator('[data-testid^="alarm-orphan"]').first().waitFor({ state: 'detached' });
  });
  await walk.end();
}
