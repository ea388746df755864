/** Several at once on one change request: one of them wins, and what the others are told is true. */
import t from 'tap';
import { Area } from '../../../src/domains/plant/kind.js';
import { signIn } from '../../support/gateway.js';
import { manifestOf, PLANT, startChanges } from '../../support/change-requests.js';

const test = await startChanges();
t.teardown(() => test.plant.stop());
const { plant, admin, author } = test;
await test.apply(...PLANT);
const hall = () => plant.store.get(Area, 'north', 'hall')?.spec.description;
const to = (description: string) => ({ manifest: manifestOf('Area', 'hall', { description }) });

t.test('decisions Q-CHANGE-02: of approvals at once exactly one wins', async (t) => {
  const supervisors = await Promise.all(Array.from({ length: 6 }, () => signIn(plant, ['supervisor'])));
  for (const round of [1, 2, 3]) {
    const name = `race-${round}`;
    await test.ask(to(name), name);
    const answers = await Promise.all(supervisors.map((who) => test.decide('approve', name, who)));
    t.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status, body } of answers.filter((each) => each.status !== 200)) t.match({ status, body }, { status: 409, body: { code: 'change_request_state' } });
    t.equal(hall(), name);
    t.equal(test.audits(name).filter(({ details }) => details?.phase === 'Applied').length, 1);
  }
});

t.test('decisions Q-CHANGE-02: approve, reject and withdraw at once: one of them is what became of it', async (t) => {
  const [one, two] = [await signIn(plant, ['supervisor']), await signIn(plant, ['supervisor'])];
  for (const round of [1, 2, 3, 4]) {
    const name = `three-${round}`;
    const before = hall();
    await test.ask(to(name), name);
    const answers = await Promise.all([test.decide('withdraw', name, author), test.decide('approve', name, one), test.decide('reject', name, two)]);
    const won = answers.filter(({ status }) => status === 200);
    t.equal(won.length, 1);
    const { phase } = won[0]?.body.status ?? {};
    t.equal(await test.phaseOf(name), phase);
    t.equal(hall(), phase === 'Applied' ? name : before);
    t.equal(test.audits(name).filter(({ details }) => details?.phase !== undefined).length, 2);
  }
});

t.test('decisions Q-CHANGE-02: an edit of the target beside an approval is never lost under it', async (t) => {
  for (const round of [1, 2, 3, 4]) {
    const name = `edit-${round}`;
    await test.ask(to(name), name);
    const [edit, approval] = await Promise.all([admin.put('/api/v1/sites/north/areas/hall', { description: `edited ${round}` }), test.decide('approve', name)]);
    t.equal(edit?.status, 200);
    t.equal(approval?.status, 200);
    const { phase, error } = approval?.body.status ?? {};
    t.equal(hall(), `edited ${round}`, 'the edit came behind it, or made it fail');
    if (phase === 'Failed') t.match(error, /was changed after/);
    else t.equal(phase, 'Applied');
  }
});

t.test('CHANGE-05: after all of that every request is what was recorded', async (t) => {
  t.match((await admin.get('/api/v1/change-control/verify')).body, { ok: true, firstInvalid: null });
  t.same(plant.mismatches, []);
});
