/** An answer for which the recipe has no way on: the engineer is told before, and the operator afterwards. */
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { account, firstAdmin, flawsOf, open, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';

const CHOOSE = {
  name: 'choose',
  spec: {
    steps: [{ name: 'ask', initial: true, actionST: "go := PROMPT_CHOICE('Is the sample clear?', 'Yes', 'No');" }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: "go = 'Yes'" }],
  },
};

t.test('a choice that leads nowhere is told where the template is written, and on the panel after the answer', async (t) => {
  const { box, browser } = await startConsole(t);
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
  t.match((await admin.get(`${SITE}/phases/${stands}`)).body, { blockedBecause: /no way on for the answer 'No'/, blockedBy: [{ reason: 'condition', step: 'ask' }] });
});
