/** Requests that were decided leave the memory (ADR 0133), and are told, verified and refused a decision as before, also behind a start. */
import t from 'tap';
import { ChangeRequest } from '../../../src/domains/change-control/kind.js';
import { signIn } from '../../support/gateway.js';
import { AT, PLANT, REQUESTS, startChanges, target } from '../../support/change-requests.js';
import { eventually } from '../../support/api-client.js';

const LIST = '/api/v1/changerequests';
const HISTORY = '/api/v1/sites/north/change-control/history';
const DAY = 86_400_000;

t.test('ADR 0133, CHANGE-05: what was decided leaves the memory after its time and nothing else of it changes', async (t) => {
  const test = await startChanges({ pastAfterMs: DAY });
  const { plant, admin } = test;
  await test.apply(...PLANT);
  await test.ask({}, 'applied');
  await test.decide('approve', 'applied');
  await test.ask({});
  await test.decide('reject', 'change-1');
  await test.ask({}, 'waits');
  const kept = async (who = admin) => ({
    list: (await who.get(LIST)).body,
    pages: [(await who.get(`${LIST}?limit=2`)).body, (await who.get(`${LIST}?phase=Rejected`)).body],
    one: (await who.get(`${AT}/applied`)).body,
    history: (await who.get(HISTORY)).body,
    verified: { ...(await who.get('/api/v1/change-control/verify')).body, checkedAt: '' },
  });
  const before = await kept();
  t.match(before.verified, { ok: true, checked: 3 });
  t.equal(before.list.length, 3);
  plant.clock.advance(DAY - 1);
  t.equal(plant.store.list(ChangeRequest).length, 3);
  plant.clock.advance(1);
  await eventually('they have left', async () => plant.store.list(ChangeRequest).length === 1);
  const admins = await signIn(plant, ['admin']);
  const [engineer, supervisor] = [await signIn(plant, ['engineer']), await signIn(plant, ['supervisor'])];
  t.same(await kept(admins), before);
  t.match(await test.decide('reject', 'change-1', supervisor), { status: 409, body: { code: 'change_request_state', phase: 'Rejected' } });
  t.match(await test.ask({}, 'applied', engineer), { status: 409, body: { code: 'already_exists' } });
  t.match((await engineer.post(REQUESTS, { spec: { target: target('Area', 'hall'), reason: 'again' } })).body, { name: 'change-2' });
  t.match(await admins.get(`${LIST}?limit=1`), { status: 200, body: [{ name: 'applied' }], headers: { 'x-total-count': '4' } });
  const again = await plant.restart();
  t.teardown(() => again.stop());
  t.equal(again.store.list(ChangeRequest).length, 2);
  const later = await kept(await signIn(again, ['admin']));
  t.same(later.one, before.one);
  t.match(later.verified, { ok: true, checked: 4 });
});
