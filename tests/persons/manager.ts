/** A manager's tasks: at a desk what was made and what comes, on the phone how it stands now. */
import { raiseAlarm, says } from '../console/person.js';
import { eventually } from '../support/api-client.js';
import { DESK, expect, PHONE, type Stage, Walk } from './walk.js';

export async function manager(stage: Stage): Promise<void> {
  const walk = await Walk.begin('manager', stage, '/data', 'mia', DESK);

  await walk.task('reads what has been made: by product, batch by batch, how long it took', async (page) => {
    await walk.go('production');
    await says(page.getByTestId('production-products'), /RESIN-A/);
    await says(page.getByTestId('production-batches'), /LEAD-1/);
  });

  await walk.task('takes along a report of a shift and of a week', async (page) => {
    for (const span of ['8', '168']) {
      await page.getByTestId(`production-span-${span}`).click();
      await says(page.getByTestId('production-batches'), /LEAD-1/);
    }
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('production-csv').click()]);
    expect('a file', download.suggestedFilename().endsWith('.csv'));
    await page.evaluate('window.print = () => { window.asked = true; }');
    await page.getByTestId('production-print').click();
    await eventually('the printer is asked', () => page.evaluate('window.asked === true')); // when everything is drawn that belongs on paper
  });

  await walk.task('goes from a batch that was made to its record', async (page) => {
    await page.reload();
    await page.getByTestId('production-batches').getByRole('link').first().click();
    await page.getByTestId('record-phase').waitFor();
  });

  await walk.task('finds a record by its number and its dates', async (page) => {
    await walk.go('records?search=LEAD-1&from=2020-01-01T00:00:00');
    await says(page.getByTestId('records-view'), /LEAD-1/);
    await walk.go('records?search=LEAD-1&to=2020-01-01T00:00:00');
    await says(page.getByTestId('records-view'), /No record fits/);
  });

  await walk.task('sees all sites on one page', async (page) => {
    await walk.go('sites');
    await says(page.getByTestId('sites'), /demo/);
  });

  await walk.task('reads the plan of the day: the queue, and when each is expected to end', async (page) => {
    await page.goto(`${stage.box.base}/hmi`);
    await page.getByTestId('hmi').waitFor();
    await page.getByTestId('part-ahead').click();
    await page.getByTestId('next-hours').locator('summary').click();
    await says(page.getByTestId('plan-list'), /PLAN-\d+/);
    await says(page.getByTestId('batches'), /PLAN-\d+/);
  });
  await walk.end();

  const phone = await Walk.begin('manager on the phone', stage, '/hmi', 'mia', PHONE);
  await phone.task('sees units, the worst alarm and the batches in one column', async (page) => {
    await raiseAlarm(stage.admin, 'phone-alarm', 'Reactor is warm');
    await says(page.getByTestId('alarm-banner'), /Reactor is warm/);
    await page.getByTestId('unit-rx101').waitFor();
  });
  await phone.task('reads the alarm, with what to do', async (page) => {
    await phone.go('alarms');
    await page.locator('[data-testid^="alarm-phone-alarm"]').first().click();
    await page.getByTestId('alarm-detail').waitFor();
  });
  await phone.task('is told of a new question by the phone', async (page) => {
    await phone.go('prompts');
    await page.getByTestId('prompt-notices').check();
    expect('it is on', await page.getByTestId('prompt-notices').isChecked());
  });
  await phone.task('looks what was made today', async (page) => {
    await page.goto(`${stage.box.base}/data#/production`);
    await says(page.getByTestId('production-batches'), /LEAD-1/);
  });
  await phone.end();
}
