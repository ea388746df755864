/** An answer for which the recipe has no way on: the engineer is told before, and the operator afterwards. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, firstAdmin, flawsOf, holds, keepPicture, open, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';

const CHOOSE = {
  name: 'choose',
  spec: {
    steps: [{ name: 'ask', initial: true, actionST: "go := PROMPT_CHOICE('Is the sample clear?', 'Yes', 'No');" }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: "go = 'Yes'" }],
  },
};

t.test('a choice that leads nowhere is told where the template is written, and on the panel after the answer', async (t) => {
  const { box, browser } = await startConsole(t, { LINESIDE_GATEWAY__PUBLICNAME: 'line3.example' });
  const admin = await firstAdmin(box.api, box.dataDir);
  await account(admin, 'olga', 'lead-operator');
  const made = await admin.post(`${SITE}/phasetemplates`, CHOOSE);
  t.match(made, { status: 201, body: { notes: [/option 'No' of the prompt in step ask leads nowhere/] } });

  const page = await open(browser, `${box.base}/hmi#/prompts`);
  await signIn(page, 'olga');
  const answer = async (unit: string, choice: string): Promise<string> => {
    const launched = await admin.post(`${SITE}/units/${unit}/execute-phase`, { phaseTemplateRef: 'choose' });
    t.equal(launched.status, 201);
    await page.getByTestId('prompt-answer').click();
    await page.getByTestId(`choice-${choice}`).click();
    await page.getByTestId('reason').fill('looked at the glass');
    await page.getByTestId('prompt-send').click();
    return launched.body.name as string;
  };
  const goesOn = await answer('mx101', 'Yes');
  await page.getByTestId('prompt-dialog').waitFor({ state: 'detached' });
  t.equal(await page.getByTestId('prompt-waits').count(), 0, 'an answer that is taken is no more talked about');
  await eventually('the phase is done', async () => (await admin.get(`${SITE}/phases/${goesOn}`)).body.state === 'Complete');

  const stands = await answer('tk201', 'No');
  const told = page.getByTestId('prompt-waits');
  await says(told, /Your answer No is recorded\. The procedure still stands at step ask/);
  await says(told, /the recipe has no way on for the answer 'No'; stop the run, or take the step on by hand in Manual/);
  t.strictSame(await flawsOf(page, 'prompt-waits'), []);
  t.strictSame(await phoneFlaws(page, 'prompt-waits'), []);
  await page.getByTestId('prompt-waits-close').click();
  await page.getByText('Nothing to answer.').waitFor();
  await page.getByTestId('prompt-recorded-close').click();

  await t.test('by the address of its unit a phone sees what is asked there; what is typed is kept, and what is lost on the way is not said to be recorded', async (t) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate("location.hash = '#/prompts?unit=tk201'");
    await page.getByText('Nothing to answer for TK201.').waitFor();
    t.equal((await admin.post(`${SITE}/units/rx101/execute-phase`, { phaseTemplateRef: 'choose' })).status, 201);
    await says(page.getByTestId('prompts-unit-rx101'), /RX101 1/);
    await page.getByText('Nothing to answer for TK201.').waitFor();
    await page.evaluate("location.hash = '#/prompts?unit=rx101'");
    await page.getByTestId('prompt-answer').click();
    await page.getByTestId('choice-Yes').click();
    await page.getByTestId('reason').fill('looked at the glass');
    await page.keyboard.press('Escape');
    await page.getByTestId('prompt-answer').click();
    t.equal(await page.getByTestId('choice-Yes').getAttribute('aria-checked'), 'true');
    await holds(page.getByTestId('reason'), 'looked at the glass');
    t.strictSame(await phoneFlaws(page, 'prompt-phone'), []);
    await page.route('**/prompt-response', (route) => route.abort());
    await page.getByTestId('prompt-send').click();
    await says(page.getByTestId('prompt-error'), /did not answer, so it is not known whether the answer was recorded/);
    await page.unroute('**/prompt-response');
    await page.getByTestId('prompt-send').click();
    await says(page.getByTestId('prompt-recorded'), /Recorded and signed .*Is the sample clear\?: Yes.*RX101/);
    t.strictSame(await phoneFlaws(page, 'prompt-recorded'), []);
  });

  await t.test('the label of a unit leads a phone to its prompts, by the name that the box is reached by', async (t) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByTestId('unit-label').click();
    await page.getByTestId('qr-code').waitFor();
    const { port } = new URL(box.base);
    t.equal(await page.getByTestId('unit-label-sheet').getAttribute('data-address'), `http://line3.example:${port}/hmi#/prompts?site=demo&unit=rx101`);
    t.strictSame(await flawsOf(page, 'unit-label'), []);
    await keepPicture(page, 'unit-label', []);
    await page.keyboard.press('Escape');
  });
  t.match((await admin.get(`${SITE}/phases/${stands}`)).body, { blockedBecause: /no way on for the answer 'No'/, blockedBy: [{ reason: 'condition', step: 'ask' }] });
});
