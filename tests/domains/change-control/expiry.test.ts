/** The end of change requests by elapsed time, and over a restart. */
import t from 'tap';
import { ChangeRequest } from '../../../src/domains/change-control/kind.js';
import { Area } from '../../../src/domains/plant/kind.js';
import { signIn } from '../../support/gateway.js';
import { AT, PLANT, startChanges } from '../../support/change-requests.js';

const HOUR = 3_600_000;
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

t.test('D-C-07: a request expires by elapsed time, whatever is done to the clock, and its end is on record', async (t) => {
  const test = await startChanges({ expiryHours: 3 });
  t.teardown(() => test.plant.stop());
  const { plant } = test;
  await test.apply(...PLANT);
  const asked = await test.ask({}, 'waits');
  t.equal(Date.parse(asked.body.status.expiresAt) - Date.parse(asked.body.status.createdAt), 3 * HOUR);
  await test.ask({}, 'decided');
  await test.decide('reject', 'decided');
  plant.clock.jump(1000 * HOUR);
  await settled();
  t.equal(plant.store.get(ChangeRequest, 'north', 'waits')?.status.phase, 'Pending', 'somebody set the clock');
  plant.clock.jump(-1000 * HOUR);
  plant.clock.advance(3 * HOUR - 1);
  await settled();
  t.equal(plant.store.get(ChangeRequest, 'north', 'waits')?.status.phase, 'Pending');
  plant.clock.jump(-1000 * HOUR);
  plant.clock.advance(1);
  const late = await signIn(plant, ['supervisor']);
  t.match(await test.decide('approve', 'waits', late), { status: 409, body: { code: 'change_request_state', phase: 'Expired' } });
  await settled();
  t.match(
    test
      .audits('waits')
      .filter(({ result }) => result === 'Success')
      .at(-1),
    { actorType: 'component', component: 'change-control', rule: 'expired', details: { phase: 'Expired' } },
  );
  t.equal(plant.store.get(ChangeRequest, 'north', 'waits')?.status.phase, 'Expired');
  t.equal(plant.store.get(ChangeRequest, 'north', 'decided')?.status.phase, 'Rejected');
  t.match((await late.get('/api/v1/change-control/verify')).body, { ok: true });
  const told = (await late.get('/api/v1/sites/north/change-control/history')).body.items as {
    readonly changeRequest: string;
    readonly phase: string;
    readonly decidedBy: string;
  }[];
  t.match(
    told.filter(({ phase }) => phase === 'Expired'),
    [{ changeRequest: 'waits', decidedBy: '' }],
  );
});

t.test('D-C-07: after a restart of which nobody knows how long it took, what could be approved has expired', async (t) => {
  const test = await startChanges();
  await test.apply(...PLANT);
  await test.ask({}, 'open');
  await test.ask({}, 'applied');
  await test.decide('approve', 'applied');
  const again = await test.plant.restart();
  t.teardown(() => again.stop());
  await settled();
  const supervisor = await signIn(again, ['supervisor']);
  t.match(await supervisor.post(`${AT}/open/approve`, { reason: 'checked' }), { status: 409, body: { code: 'change_request_state' } });
  t.match((await supervisor.get(`${AT}/open`)).body, { status: { phase: 'Expired' } });
  t.match((await supervisor.get(`${AT}/applied`)).body, {
    status: { phase: 'Applied' },
    targetChanged: false,
    changes: [{ path: 'spec.description', from: 'hall 1', to: 'hall 2' }],
  });
  t.equal(again.store.get(Area, 'north', 'hall')?.spec.description, 'hall 2');
  t.match((await supervisor.get('/api/v1/change-control/verify')).body, { ok: true, checked: 2 });
});
