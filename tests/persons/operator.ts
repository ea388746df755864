/** An operator's tasks, and those of a lead operator, who commands, answers and runs phases by hand. */
import type { Page } from 'playwright-core';
import { type ApiClient, eventually } from '../support/api-client.js';
import { batch, PASSWORD, says, SITE } from '../console/person.js';
import { acknowledge, expect, type Stage, Walk } from './walk.js';

const NEW_PASSWORD = 'a second long password';
/** The MES orders while nobody is at the panel. */
const ORDER = { workOrderID: 'WO-4711', productDefinition: 'resin-a', quantity: '28', engineeringUnit: 'kg' };

async function made(admin: ApiClient, batchID: string): Promise<{ name: string; priority: number; lotID: string; quantity: string; equipment: Record<string, string> }> {
  const [found] = (await admin.get(`${SITE}/batches?search=${batchID}`)).body as { name: string }[];
  if (!found) throw new Error(`there is no batch ${batchID}`);
  const { priority, spec } = (await admin.get(`${SITE}/batches/${found.name}`)).body;
  return { name: found.name, priority, ...spec };
}

const state = (page: Page, phase: string): Promise<void> => page.locator(`[data-testid="batch-view-state"][data-state="${phase}"]`).waitFor();

async function command(page: Page, word: string, reason = ''): Promise<void> {
  await page.getByTestId(`command-${word}`).click();
  if (reason !== '') await page.getByTestId('reason').fill(reason);
  await page.getByTestId('command-send').click();
  await page.getByTestId('command-dialog').waitFor({ state: 'detached' });
}

export async function leadOperator(stage: Stage): Promise<void> {
  const { admin } = stage;
  const walk = await Walk.begin('lead operator', stage, '/hmi', 'lena');
  let running = '';

  await walk.task('creates a batch from a recipe: formula values, quantity, units, lot', async (page) => {
    await page.getByTestId('batch-new').click();
    await page.getByTestId('new-recipe').selectOption('resin-a');
    await page.getByTestId('new-id').fill('LEAD-1');
    await page.getByTestId('new-quantity').fill('14');
    await page.getByTestId('new-lot').fill('000123');
    await page.getByTestId('new-value-reactTime').fill('2');
    await page.getByTestId('unit-for-react').selectOption('rx101');
    await says(page.getByTestId('new-judged'), /./);
    await page.getByTestId('new-send').click();
    await page.getByTestId('new-batch').waitFor({ state: 'detached' });
    const { lotID, quantity, equipment } = await made(admin, 'LEAD-1');
    expect('it is as it was asked for', lotID === '000123' && quantity === '14' && equipment.react === 'rx101');
  });

  await walk.task('changes quantity, a formula value and the unit of a batch that waits', async (page) => {
    await page.getByTestId('batch-LEAD-1').click();
    await page.getByTestId('change-batch').click();
    await page.getByTestId('change-send').click();
    await says(page.getByTestId('change-error'), /Nothing is changed/);
    await page.getByTestId('change-quantity').fill('1000');
    await page.getByTestId('change-send').click();
    await says(page.getByTestId('change-error'), /1000/);
    await page.getByTestId('change-quantity').fill('16');
    await page.getByTestId('change-value-reactTime').fill('3');
    await page.getByTestId('unit-for-react').selectOption('');
    await page.getByTestId('change-send').click();
    await page.getByTestId('change-dialog').waitFor({ state: 'detached' });
    const { quantity, equipment } = await made(admin, 'LEAD-1');
    expect('16 kg, on the unit that the recipe says', quantity === '16' && (equipment.react ?? '') === '');
  });

  await walk.task('sees a work order of the MES, gives it another priority, changes it and withdraws it', async (page) => {
    const mes = await admin.post(`/api/v1/mes${SITE.replace('/api/v1', '')}/work-orders?dispatch=immediate`, ORDER);
    expect(mes.text, mes.status < 300);
    await page.getByTestId('batch-find').click();
    await page.getByTestId('batch-search').fill(ORDER.workOrderID);
    await page.getByTestId(`batch-${ORDER.workOrderID}`).click();
    await says(page.getByTestId('batch-detail'), new RegExp(ORDER.workOrderID));
    await page.getByTestId('change-priority').click();
    await page.getByTestId('priority').fill('700');
    await page.getByTestId('priority-send').click();
    await says(page.getByTestId('batch-priority'), /700/);
    await page.getByTestId('change-batch').click();
    await page.getByTestId('change-lot').fill('LOT-9');
    await page.getByTestId('change-send').click();
    await page.getByTestId('change-dialog').waitFor({ state: 'detached' });
    expect('its lot is the new one', (await made(admin, ORDER.workOrderID)).lotID === 'LOT-9');
    await page.getByTestId('withdraw').click();
    await page.getByTestId('withdraw-send').click();
    await page.getByTestId('withdraw-dialog').waitFor({ state: 'detached' });
    await says(page.getByTestId('batch-count'), /0 in all/);
    await page.getByTestId('batch-search').fill('');
  });

  await walk.task('finds a batch beyond the first page, by its number and by its product', async (page) => {
    for (let at = 0; at < 65; at += 1) await batch(admin, `PLAN-${String(at).padStart(3, '0')}`);
    await says(page.getByTestId('batch-count'), /60 of 6\d/);
    await page.getByTestId('batch-search').fill('PLAN-064');
    await page.getByTestId('batch-PLAN-064').click();
    await says(page.getByTestId('batch-detail'), /Batch PLAN-064/);
    await page.getByTestId('batch-search').fill('resin-a');
    await says(page.getByTestId('batch-count'), /60 of 6\d/);
    await page.getByTestId('batch-search').fill('');
  });

  await walk.task('starts a batch, and sees why another one waits and which unit it queues for', async (page) => {
    await page.getByTestId('batch-search').fill('LEAD-1');
    await page.getByTestId('batch-LEAD-1').click();
    running = (await made(admin, 'LEAD-1')).name;
    await page.getByTestId('open-batch').click();
    await command(page, 'Start');
    await state(page, 'Running');
    await walk.go('overview');
    await page.getByTestId('batch-find').click();
    await page.getByTestId('batch-search').fill('PLAN-00');
    await says(page.getByTestId('stands-PLAN-000'), /waits for .*\(LEAD-1\)/);
    await page.getByTestId('batch-search').fill('');
  });

  await walk.task('holds it with a reason, reads why and since when it is held, and what is to be put right', async (page) => {
    await walk.go(`batch/${running}`);
    await command(page, 'Hold', 'a look into the vessel');
    await state(page, 'Held');
    await page.getByTestId('batch-tab-happened').click();
    await says(page.getByTestId('cause-1'), /Hold by lena of the shift: a look into the vessel/);
    await page.getByTestId('to-go-on').waitFor();
  });

  await walk.task('gives a held batch another unit where its part has not begun, or is told why not', async (page) => {
    await page.getByTestId('change-batch').click();
    await page.getByTestId('unit-for-store').selectOption('rx101');
    await page.getByTestId('reason').fill('the hold tank is being cleaned');
    await page.getByTestId('change-send').click();
    await says(page.getByTestId('change-error'), /rx101|tk201|store/i);
    await page.getByTestId('change-cancel').click();
  });

  await walk.task('restarts it and answers what the procedure asks, with a reason', async (page) => {
    await command(page, 'Restart');
    await state(page, 'Running');
    await walk.go('prompts?unit=rx101');
    await page.getByTestId('prompt-value').getByTestId('prompt-answer').click();
    await says(page.getByTestId('prompt-asked'), /RX101.*LEAD-1/);
    await page.getByTestId('answer-value').fill('7.2');
    await page.getByTestId('reason').fill('measured at the bench');
    await page.getByTestId('prompt-send').click();
    await says(page.getByTestId('prompt-recorded'), /Recorded and signed.*7\.2/);
  });

  await walk.task('sees what the laboratory still owes, and enters the result by hand', async (page) => {
    await walk.go('prompts');
    const owed = page.getByTestId('prompts').locator('li', { hasText: 'viscosity' });
    await owed.getByTestId('prompt-answer').click();
    await page.getByTestId('answer-value').fill('420');
    await page.getByTestId('reason').fill('laboratory has telephoned');
    await page.getByTestId('prompt-send').click();
    await says(page.getByTestId('prompt-recorded'), /420/);
  });

  await walk.task('sees the batch end, and resets it, so that its units are free for work by hand', async (page) => {
    await walk.go(`batch/${running}`);
    await state(page, 'Complete');
    await command(page, 'Reset', 'the units are wanted again');
    await eventually('its units are at rest', async () => (await admin.get(`${SITE}/units/mx101`)).body.state === 'Idle');
  });

  await walk.task('runs a phase alone on a unit, holds it, restarts it, stops it, and finds it among the earlier runs', async (page) => {
    await walk.go('unit/mx101');
    await page.getByTestId('run-by-hand').click();
    await page.getByTestId('run-template').selectOption('mix');
    await page.getByTestId('run-value-duration').fill('600');
    await says(page.getByTestId('run-against'), /Nothing stands against it/);
    await page.getByTestId('run-send').click();
    await page.getByTestId('run-confirm').waitFor();
    await page.getByTestId('run-send').click();
    await says(page.getByTestId('run-strip'), /mix.*Running/);
    for (const [word, shown] of [
      ['Hold', /Held/],
      ['Restart', /Running/],
      ['Stop', /Stopped/],
    ] as const) {
      await page.getByTestId(`run-${word}`).click();
      await page.getByTestId('run-command-send').waitFor();
      const reason = page.getByTestId('run-command-dialog').getByTestId('reason');
      if ((await reason.count()) > 0) await reason.fill('a look at the agitator');
      await page.getByTestId('run-command-send').click();
      await page.getByTestId('run-command-dialog').waitFor({ state: 'detached' });
      if (word !== 'Stop') await says(page.getByTestId('run-strip'), shown);
    }
    await page.getByTestId('run-by-hand').click();
    await says(page.getByTestId('run-earlier'), /mix.*Stopped/s);
  });

  await walk.task('leaves a note for the shift and hands it over', async (page) => {
    await page.reload();
    await walk.go('overview');
    await page.getByTestId('part-notes').click();
    await page.getByTestId('note-add').click();
    await page.getByTestId('note-text').fill('Sight glass of TK201 is dirty');
    await page.getByTestId('note-unit').selectOption('tk201');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('note-list'), /Sight glass of TK201 is dirty/);
    await page.getByTestId('hand-over').click();
    await page.getByTestId('note-text').fill('All calm; LEAD-1 is done');
    await page.getByTestId('note-to').fill('Otto Ops');
    await page.getByTestId('note-send').click();
    await says(page.getByTestId('note-list'), /Otto Ops.*All calm/s);
  });
  await walk.end();
}

export async function operator(stage: Stage): Promise<void> {
  const { admin } = stage;
  const walk = await Walk.begin('operator', stage, '/hmi', 'otto');
  const definition = {
    sourceKind: 'ControlModule',
    sourceName: 'tic101',
    conditionType: 'TagHigh',
    tagName: 'pv',
    threshold: '-50',
    type: 'Process',
    severity: 'High',
    priority: 500,
  };
  const raise = async (name: string): Promise<void> => {
    const answer = await admin.post(`${SITE}/alarmdefinitions`, { ...definition, name, message: `${name} of the walk`, enabled: true });
    expect(answer.text, answer.status === 201);
  };

  await walk.task('looks over the units: values are live, and nothing is coloured that is as it should be', async (page) => {
    await page.locator('[data-testid="value-tic101.pv"][data-quality="Good"]').waitFor();
    for (const unit of ['mx101', 'rx101', 'tk201']) await page.getByTestId(`unit-${unit}`).waitFor();
  });

  await walk.task('acknowledges one alarm, then several at a time', async (page) => {
    for (const name of ['walk-1', 'walk-2', 'walk-3', 'walk-4']) await raise(name);
    await page.getByTestId('nav-alarms').click();
    await page.getByTestId('alarm-tab-time').click();
    await page.getByTestId('alarm-search').fill('of the walk');
    await says(page.getByTestId('alarm-count'), /4 entries/);
    await acknowledge(page, 'walk-1');
    await page.getByTestId('acknowledge-shown').click();
    await page.getByTestId('acknowledge-send').click();
    await page.getByTestId('acknowledge-dialog').waitFor({ state: 'detached' });
    for (const name of ['walk-2', 'walk-3', 'walk-4']) await page.locator(`[data-testid^="alarm-${name}"][data-state="ActiveAcknowledged"]`).first().waitFor();
  });

  await walk.task('shelves an alarm with a reason, and takes it from the shelf again', async (page) => {
    await page.locator('[data-testid^="shelve-walk-2"]').click();
    await page.getByTestId('shelve-1h').click();
    await page.getByTestId('reason').fill('Instrument is being repaired');
    await page.getByTestId('shelve-send').click();
    await page.getByTestId('shelve-dialog').waitFor({ state: 'detached' });
    await page.getByTestId('alarm-tab-shelved').click();
    await page.locator('[data-testid^="unshelve-walk-2"]').click();
    await page.getByTestId('alarm-tab-time').click();
    await page.locator('[data-testid^="alarm-walk-2"][data-shelved="false"]').first().waitFor();
  });

  await walk.task('reads what to do about an alarm, its present value and its minutes', async (page) => {
    await page.locator('[data-testid^="alarm-walk-3"]').first().click();
    await says(page.getByTestId('alarm-now'), /°C/);
  });

  await walk.task('takes a controller by hand, writes its setpoint in two steps and gives it back', async (page) => {
    await walk.go('unit/rx101');
    await page.getByTestId('module-tic101').click();
    await page.getByTestId('mode-Manual').click();
    await page.getByTestId('mode-send').click();
    await page.getByTestId('write-sp').click();
    await page.getByTestId('write-value').fill('33,5');
    await page.getByTestId('write-send').click();
    await says(page.getByTestId('write-confirm'), /→\s*33\.5/);
    await page.getByTestId('write-send').click();
    await page.getByTestId('write-dialog').waitFor({ state: 'detached' });
    await says(page.getByTestId('line-sp'), /33\.5/);
    await page.getByTestId('mode-Automatic').click();
    await page.getByTestId('mode-send').click();
    await page.getByTestId('faceplate-close').click();
  });

  await walk.task('finds the values of a unit that no module has', async (page) => {
    await page.getByTestId('unit-as-list').click();
    await says(page.getByTestId('unit-tags'), /energyKwh rx101-energy/);
  });

  await walk.task('looks at curves of several units and takes them along as a file', async (page) => {
    await walk.go('trends?tags=rx101%20tic101.pv,mx101%20li111.pv,tk201%20li201.pv&window=5m');
    await page.locator('[data-testid="trend-plot"] canvas').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('csv').click()]);
    expect('a file', download.suggestedFilename().endsWith('.csv'));
  });

  await walk.task('prints and exports the journal of a batch', async (page) => {
    const { name } = await made(admin, 'LEAD-1');
    await walk.go(`batch/${name}?tab=happened`);
    await page.getByTestId('journal').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('journal-csv').click()]);
    expect('a file', download.suggestedFilename().endsWith('.csv'));
  });

  await walk.task('sees who waits for a unit, and which batch has it', async (page) => {
    await walk.go('overview');
    await page.getByTestId('part-ahead').click();
    await page.getByTestId('next-hours').locator('summary').click();
    await page.getByTestId('plan-list').waitFor();
  });

  await walk.task('is told what an operator may not do, and whom to call', async (page) => {
    await walk.go('prompts');
    await page.getByTestId('prompts-view').waitFor();
    expect('no place for administration', (await page.getByTestId('nav-administration').count()) === 0);
  });

  await walk.task('chooses the language', async (page) => {
    await page.getByTestId('user-menu').click();
    await page.getByTestId('language-de').click();
    await page.locator('html[lang="de"]').waitFor();
    await page.getByTestId('hmi').waitFor();
    await page.getByTestId('user-menu').click();
    await page.getByTestId('language-en').click();
    await page.locator('html[lang="en"]').waitFor();
    await page.getByTestId('hmi').waitFor();
  });

  await walk.task('changes the own password', async (page) => {
    await page.getByTestId('user-menu').click();
    await page.getByTestId('open-password').click();
    await page.getByTestId('password-current').fill(PASSWORD);
    await page.getByTestId('password-new').fill(NEW_PASSWORD);
    await page.getByTestId('password-again').fill(NEW_PASSWORD);
    await page.getByTestId('password-send').click();
    await page.getByTestId('password-changed').waitFor();
    await eventually('it opens', async () => (await stage.box.api.post('/api/v1/auth/login', { username: 'otto', password: NEW_PASSWORD })).status === 200);
  });
  await walk.end();
}
