/** How the second person of an answer proves himself (ADR 0144): by a code of his app, by a recovery code, by a passkey, at a console and at a terminal. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { parse } from 'valibot';
import { KnownBoxes } from '../../../src/cli/remote/boxes.js';
import type { Given } from '../../../src/cli/remote/command.js';
import { codeOf, STEP_MS, stepOf } from '../../../src/domains/access/second-factor/time-codes.js';
import { requireSecond } from '../../../src/domains/commands/prompt-response.js';
import { Phase, PhaseSpec } from '../../../src/domains/procedures/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { boxContext, rowOf, silentTerminal } from '../../cli/support.js';
import { type Answer, makeAccount, PASSWORD } from '../../support/gateway.js';
import { ownFolder } from '../../support/own-folder.js';
import { asked, login, registered, signedIn } from '../access/passkey-people.js';
import { SITE, startMesPlant } from '../mes/plant.js';

const FACTOR = '/api/v1/auth/second-factor';
const LEAD = ['lead-operator', 'site-demo'];

const plant = await startMesPlant({ publicName: 'Hall-1.example' });
t.teardown(() => plant.stop());
const { store, clock } = plant;
await makeAccount(plant, 'olga', LEAD);
const olga = signedIn(plant, 'olga', await login(plant, 'olga'));

interface Waiting {
  readonly phase: string;
  readonly promptID: string;
}

/** A phase whose question two people answer. */
async function waiting(): Promise<Waiting> {
  const [phase, promptID] = [`phase-${randomUUID().slice(0, 8)}`, randomUUID()];
  const spec = parse(PhaseSpec, { templateRef: 'weigh', unitRef: 'rx101', batchRef: 'b-1', stepName: 'weigh', stepPath: 'weigh' });
  const pendingPrompt = {
    id: promptID,
    text: 'Weight',
    timestamp: '2026-01-01T00:00:00.000Z',
    stepName: 'ask',
    type: 'value',
    min: '0',
    max: '5',
    unit: 'kg',
    secondSigner: true,
  } as const;
  await store.write({ puts: [{ kind: Phase, site: 'demo', name: phase, spec, status: { ...Phase.initialStatus(spec), state: 'Running', pendingPrompt } } as Put] });
  return { phase, promptID };
}

function answer({ phase, promptID }: Waiting, username: string, proof: object = {}): Promise<Answer> {
  return olga.post(`${SITE}/phases/${phase}/prompt-response`, { promptID, response: '1.5', reason: 'weighed twice', second: { username, password: PASSWORD, ...proof } });
}

const given = (phase: string) => store.get(Phase, 'demo', phase)?.status.answer;
const confirmation = () => plant.audits.filter(({ action, details }) => action === 'PromptAcknowledge' && details?.confirms !== undefined).at(-1);

await makeAccount(plant, 'otto', LEAD);
const otto = signedIn(plant, 'otto', await login(plant, 'otto'));
const { secret } = (await otto.post(FACTOR, { password: PASSWORD })).body as { secret: string };
const code = (): string => codeOf(secret, stepOf(clock.wallMs()));
const { recoveryCodes } = (await otto.post(`${FACTOR}/confirm`, { code: code() })).body as { recoveryCodes: string[] };
clock.advance(STEP_MS);

t.test('D-C-21: a second person with an app confirms by its code, which is good once, or by a recovery code', async (t) => {
  const first = await waiting();
  t.match(await answer(first, 'otto'), { status: 401, body: { code: 'second_factor_required', secondFactors: ['app'] } }, 'the password alone is not enough');
  t.match(await answer(first, 'otto', { code: '000000' }), { status: 401, body: { code: 'invalid_credentials' } });
  t.equal(given(first.phase), undefined, 'nothing was answered');
  const used = code();
  t.match(await answer(first, 'otto', { code: used }), { status: 200, body: { confirmedBy: { displayName: 'otto' } } });
  t.match(confirmation(), { displayName: 'otto', details: { secondFactor: 'code' } }, 'the record tells what he proved himself with');
  const next = await waiting();
  t.match(await answer(next, 'otto', { code: used }), { status: 401, body: { code: 'invalid_credentials' } }, 'the same code once more');
  t.match(await answer(next, 'otto', { code: recoveryCodes[0] }), { status: 200 });
  t.match(await answer(await waiting(), 'otto', { code: recoveryCodes[0] }), { status: 401 }, 'a recovery code is good once too');
  t.match((await otto.get(FACTOR)).body, { recoveryCodesLeft: 9 });
});

t.test('ADR 0125: a second person with a passkey confirms by it; what was asked for something else confirms nothing', async (t) => {
  const { key } = await registered(plant, 'petra', LEAD);
  const first = await waiting();
  const refused = await answer(first, 'petra');
  t.match(refused, { status: 401, body: { code: 'second_factor_required', secondFactors: ['passkey'], passkey: { challenge: /./ } } });
  t.match(await answer(first, 'petra', { passkey: key.answer(await asked(plant, 'petra')) }), { status: 401, body: { code: 'invalid_credentials' } }, 'the challenge of a sign-in');
  t.equal(given(first.phase), undefined);
  const { passkey } = (await answer(first, 'petra')).body as { passkey: { challenge: string } };
  const assertion = key.answer(passkey);
  t.match(await answer(first, 'petra', { passkey: assertion }), { status: 200, body: { confirmedBy: { displayName: 'petra' } } });
  t.match(confirmation(), { displayName: 'petra', details: { secondFactor: 'passkey', passkey: 'token' } });
  t.match(await answer(await waiting(), 'petra', { passkey: assertion }), { status: 401, body: { code: 'invalid_credentials' } }, 'each challenge is good once');
});

t.test('two that confirm with one code at once: one answer is recorded', async (t) => {
  clock.advance(2 * STEP_MS);
  const [one, other] = [await waiting(), await waiting()];
  const used = code();
  const answers = await Promise.all([answer(one, 'otto', { code: used }), answer(other, 'otto', { code: used })]);
  t.same(answers.map(({ status }) => status).sort(), [200, 401]);
  t.equal([one, other].filter(({ phase }) => given(phase) !== undefined).length, 1);
});

t.test('ADR 0144: at a terminal the second person types name, password and code; a program stands for nobody', async (t) => {
  clock.advance(2 * STEP_MS);
  const { phase, promptID } = await waiting();
  const boxes = new KnownBoxes(ownFolder(t));
  boxes.keep(
    'box',
    { url: plant.url, username: 'olga', accessToken: signedIn(plant, 'olga', await login(plant, 'olga')).token, refreshToken: '', site: 'demo' },
    { current: true },
  );
  const [said, questions]: [string[], string[]] = [[], []];
  const typed = (question: string): Promise<string> => {
    questions.push(question);
    return Promise.resolve(question.startsWith('user name') ? 'otto' : question.startsWith('password') ? PASSWORD : code());
  };
  const terminal = { ...silentTerminal(said), ask: typed, askSecret: typed };
  const run = (options: Given, from = terminal) => rowOf('prompt answer').run(boxContext(boxes, [phase, '1.5'], { reason: 'weighed twice', ...options }, from));
  await t.rejects(run({ second: 'otto' }, silentTerminal(said) as typeof terminal), /nobody answers: password of otto/);
  t.equal(given(phase), undefined);
  const done = await run({});
  t.match(done, { text: `answered ${phase}/${promptID}: 1.5, confirmed by otto`, data: { confirmedBy: { displayName: 'otto' } } });
  t.same(questions, ['user name of the second person (--second): ', 'password of otto: ', 'code of your authenticator app, or a recovery code: ']);
  t.match(said.join('\n'), /a second person confirms this answer of olga: "Weight" 1\.5/, 'he sees what he confirms');
});

t.test('ADR 0144: where people sign in at an identity provider the refusal says what to do, before anybody is asked for a password', async (t) => {
  const single = { id: 'p', text: 'Weight', timestamp: '', stepName: 'ask', type: 'acknowledge' } as const;
  const prompt = { ...single, secondSigner: true } as const;
  for (const isThere of [false, true])
    t.throws(() => requireSecond(prompt, isThere, 'oidc'), {
      context: { code: 'second_signer_unavailable' },
      message: /identity provider: a lead operator takes the phase past the step in Manual/,
    });
  t.doesNotThrow(() => requireSecond(single, false, 'oidc'));
});
