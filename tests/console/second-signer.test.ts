/** An answer that two people stand for (ADR 0144): at the gateway, and at one panel. */
import t from 'tap';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/api-client.js';
import { codeOf, stepOf } from '../../src/domains/access/second-factor/time-codes.js';
import { account, AGAIN, firstAdmin, flawsOf, hasFocus, open, PASSWORD, phoneFlaws, says, signIn, SITE, startConsole } from './person.js';

const WEIGH = {
  name: 'weigh-for-two',
  spec: {
    steps: [{ name: 'ask', initial: true, actionST: "weight := PROMPT_VALUE('Weight of the catalyst', 0, 5, 'kg');", secondSigner: true }, { name: 'done' }],
    transitions: [{ from: 'ask', to: 'done', conditionST: 'weight > 0' }],
  },
};

t.test('an answer that two people stand for is confirmed by somebody else at the same panel', async (t) => {
  const { box, browser } = await startConsole(t);
  const admin = await firstAdmin(box.api, box.dataDir);
  for (const [name, group] of [
    ['olga', 'lead-operator'],
    ['otto', 'lead-operator'],
    ['vera', 'viewer'],
  ] as const)
    await account(admin, name, group);
  const as = async (username: string): Promise<ApiClient> => {
    const session = await box.api.post('/api/v1/auth/login', { username, password: PASSWORD });
    return box.api.with(`Bearer ${session.body.accessToken}`);
  };
  const olga = await as('olga');
  const misplaced = { name: 'asks-nothing', spec: { steps: [{ name: 'wait', initial: true, secondSigner: true }] } };
  t.match(await admin.post(`${SITE}/phasetemplates`, misplaced), { status: 400, text: /asks nothing/ }, 'a step that asks nothing has nothing to confirm');
  t.equal((await admin.post(`${SITE}/phasetemplates`, WEIGH)).status, 201);

  await eventually('the units are scanned', async () => (await admin.get(`${SITE}/overview`)).body.units.every((unit: { readonly runtimeReady: boolean }) => unit.runtimeReady));
  const begin = async (unit: string) => {
    const launched = await admin.post(`${SITE}/units/${unit}/execute-phase`, { phaseTemplateRef: 'weigh-for-two' });
    t.equal(launched.status, 201);
    const phase = launched.body.name as string;
    const prompt = await eventually('it asks', async () => (await olga.get(`${SITE}/phases/${phase}`)).body.pendingPrompt);
    return { phase, prompt };
  };

  await t.test('the gateway takes the answer when both have proven who they are, and nothing before', async (t) => {
    const { phase, prompt } = await begin('mx101');
    t.match(prompt, { type: 'value', secondSigner: true });
    const answer = (second?: object) =>
      olga.post(`${SITE}/phases/${phase}/prompt-response`, { promptID: prompt.id, response: '1.5', reason: 'weighed twice', ...(second ? { second } : {}) });
    t.match(await answer(), { status: 400, body: { code: 'second_signer_required', field: 'second' } });
    t.match(await answer({ username: 'OLGA', password: PASSWORD }), { status: 409, body: { code: 'second_signer_same' } });
    t.match(await answer({ username: 'otto', password: 'wrong horse battery' }), { status: 401, body: { code: 'invalid_credentials' } });
    t.match(await answer({ username: 'nobody', password: PASSWORD }), { status: 401, body: { code: 'invalid_credentials' } }, 'one text whether there is such a name or not');
    t.match(await answer({ username: 'vera', password: PASSWORD }), { status: 403, body: { code: 'second_signer_may_not' } });
    t.match((await olga.get(`${SITE}/phases/${phase}`)).body, { state: 'Running', pendingPrompt: { id: prompt.id } }, 'nothing was answered');
    const confirmed = await answer({ username: 'otto', password: PASSWORD });
    t.match(confirmed, { status: 200, body: { ok: true, response: '1.5', confirmedBy: { displayName: 'otto of the shift' } } });
    await eventually('it goes on', async () => (await olga.get(`${SITE}/phases/${phase}`)).body.state === 'Complete');
    const { items } = (await admin.get(`${SITE}/audit?action=PromptAcknowledge&result=Success&name=${phase}`)).body;
    t.match(items, [
      { displayName: 'otto of the shift', name: confirmed.body.confirmedBy.auditRecordRef, signature: { meaning: 'prompt-confirmation', content: { response: '1.5' } } },
      { displayName: 'olga of the shift', name: confirmed.body.auditRecordRef, signature: { meaning: 'prompt-response' } },
    ]);
    t.equal(items[0].signature.content.confirms, items[1].signature.id, 'it names what it confirms');
    const signatures = (await admin.get(`/api/v1/signatures?kind=Phase&name=${phase}&site=demo`)).body.items as { meaning: string; state: string }[];
    t.match(new Set(signatures.map(({ meaning, state }) => `${meaning} ${state}`)), new Set(['prompt-response Valid', 'prompt-confirmation Valid']));
  });

  await t.test('two who confirm at once: one answer is recorded', async (t) => {
    const { phase, prompt } = await begin('tk201');
    const body = { promptID: prompt.id, response: '2', reason: 'weighed twice', second: { username: 'otto', password: PASSWORD } };
    const answers = await Promise.all([1, 2].map(() => olga.post(`${SITE}/phases/${phase}/prompt-response`, body)));
    t.same(answers.map(({ status }) => status).sort(), [200, 409]);
  });

  const { phase } = await begin('rx101');

  await t.test('ADR 0144: where people sign in at an identity provider nobody types what is then refused: the question says what to do', async (t) => {
    const guest = await open(browser, `${box.base}/hmi#/prompts`);
    await signIn(guest, 'olga');
    await guest.route('**/api/v1/auth/config', async (route) => {
      const told = await route.fetch(AGAIN);
      await route.fulfill({ response: told, json: { ...(await told.json()), authMode: 'oidc' } }); // this box signs in with its own accounts
    });
    await guest.reload();
    await guest.getByTestId('prompt-answer').click();
    await says(guest.getByTestId('prompt-dialog'), /sign in at the identity provider: a lead operator takes the phase past this step in Manual/);
    t.equal(await guest.getByTestId('prompt-send').getAttribute('aria-disabled'), 'true');
    t.strictSame(await flawsOf(guest, 'second-person-elsewhere'), []);
    await guest.context().close();
  });

  const page = await open(browser, `${box.base}/hmi#/prompts`);
  await signIn(page, 'olga');
  await page.getByTestId('prompt-answer').click();
  await says(page.getByTestId('prompt-dialog'), /Two people stand for this answer/);
  await page.getByTestId('answer-value').fill('1.5');
  await page.getByTestId('reason').fill('weighed twice');
  await page.getByTestId('prompt-send').click();
  const dialog = page.getByTestId('second-dialog');
  await says(dialog, /1\.5 kg.*weighed twice.*Answered by.*olga of the shift/s, 'the second person sees what was answered');
  await hasFocus(page, 'second-username');
  t.strictSame(await flawsOf(page, 'second-person'), []);
  t.strictSame(await phoneFlaws(page, 'second-person'), []);
  const confirm = async (username: string, password: string): Promise<void> => {
    await page.getByTestId('second-username').fill(username);
    await page.getByTestId('second-password').fill(password);
    await page.getByTestId('second-send').click();
  };
  await confirm('Olga', PASSWORD);
  await says(page.getByTestId('second-error'), /olga of the shift has answered: somebody else confirms it/);
  await confirm('otto', 'wrong horse battery');
  await says(page.getByTestId('second-error'), /User name or password is wrong/);
  await confirm('vera', PASSWORD);
  await says(page.getByTestId('second-error'), /vera of the shift may not do this here/);
  await page.getByTestId('second-back').click();
  await page.getByTestId('answer-value').fill('1.25');
  await page.getByTestId('prompt-send').click();
  await says(dialog, /1\.25 kg/, 'what is confirmed is what stands there now');

  const otto = await as('otto');
  const { secret } = (await otto.post('/api/v1/auth/second-factor', { password: PASSWORD })).body as { secret: string };
  const { recoveryCodes } = (await otto.post('/api/v1/auth/second-factor/confirm', { code: codeOf(secret, stepOf(Date.now())) })).body as { recoveryCodes: string[] };
  await confirm('otto', PASSWORD);
  const code = page.getByTestId('second-code');
  await hasFocus(page, 'second-code');
  t.strictSame(await flawsOf(page, 'second-person-code'), []);
  await code.fill('000000');
  await page.getByTestId('second-send').click();
  await says(page.getByTestId('second-error'), /wrong/);
  await page.getByTestId('second-password').fill(PASSWORD);
  await code.fill(recoveryCodes[0] ?? '');
  await page.getByTestId('second-send').click();
  await dialog.waitFor({ state: 'detached' });
  await says(page.getByTestId('prompt-recorded'), /Recorded and signed .*1\.25 kg.*confirmed by otto of the shift/s);
  await eventually('it goes on', async () => (await olga.get(`${SITE}/phases/${phase}`)).body.state === 'Complete');
  t.match((await olga.get('/api/v1/auth/me')).body, { username: 'olga' }, 'who answered is still signed in');
});
