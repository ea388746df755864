/** Legal holds over restarts, over damaged rows, and against every way of removing (ADR 0132). */
import path from 'node:path';
import t from 'tap';
import { AlarmReconciler } from '../../../src/domains/alarms/reconciler.js';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { ExceptionCommands } from '../../../src/domains/alarms/exception-commands.js';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { LegalHold } from '../../../src/domains/legal-holds/kind.js';
import { heldHistory, joinLegalHolds } from '../../../src/domains/legal-holds/join.js';
import { holdsOf } from '../../../src/domains/legal-holds/holds.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import Database from '../../../src/platform/base/sqlite.js';
import type { HeldHistory } from '../../../src/platform/history/words.js';
import { startGatewayTest } from '../../support/gateway.js';
import type { Put } from '../../../src/platform/store/store.js';
import { HOT_ALARM, PLANT } from '../tags/plant.js';

const WHY = { reason: 'claim 7 of the customer' };
const UNIT = { kind: Unit.kind, site: 'north', name: 'rx101' };

async function start() {
  const told: (readonly HeldHistory[])[] = [];
  const test = await startGatewayTest({ routes: ({ store, clock }) => joinLegalHolds({ store, clock, history: { hold: (held) => told.push(held) } }).routes });
  await test.store.write({ puts: PLANT });
  return { test, told };
}

t.test('ADR 0132: a hold on a site keeps all of it, is set and lifted by an administrator alone, and survives a restart', async (t) => {
  const { test, told } = await start();
  t.teardown(() => test.stop());
  const [admin, supervisor] = [await test.as('admin'), await test.as('supervisor')];
  const hold = { name: 'all-of-north', ...WHY, scope: { site: 'north' } };
  t.match(await supervisor.post('/api/v1/legal-holds', hold), { status: 403 });
  t.match(await admin.post('/api/v1/legal-holds', { ...hold, reason: 'no' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await admin.post('/api/v1/legal-holds', { ...hold, name: 'Not so' }), { status: 400, body: { code: 'invalid_name' } });
  t.match(await admin.post('/api/v1/legal-holds', { ...hold, scope: { site: 'nowhere' } }), { status: 400, body: { code: 'unknown_reference', field: 'scope.site' } });
  t.match(await admin.post('/api/v1/legal-holds', { ...hold, scope: { site: 'north', from: '2026-01-01T00:00:00Z' } }), { status: 400, body: { field: 'scope.to' } });
  const both = await Promise.all([admin.post('/api/v1/legal-holds', hold), admin.post('/api/v1/legal-holds', hold)]);
  t.same(both.map(({ status }) => status).sort(), [201, 409], 'of two who set it at once, one does');
  t.match(
    test.audits.filter(({ category }) => category === 'legal-hold' && test.audits.length > 0).find(({ result }) => result === 'Success'),
    {
      action: 'Create',
      site: 'north',
      target: { kind: 'LegalHold', name: 'all-of-north' },
      operatorReason: WHY.reason,
    },
  );
  t.same(
    told.at(-1)?.map(({ site, units }) => ({ site, units })),
    [{ site: 'north', units: [] }],
    'the historian is told',
  );
  await t.rejects(test.store.write({ removes: [UNIT] }), /Unit rx101 is kept by legal hold all-of-north until an administrator lifts it/);
  await t.rejects(test.store.write({ removes: [{ kind: 'Site', site: '', name: 'north' }] }), /legal hold/);
  await t.rejects(test.store.write({ removes: [{ kind: LegalHold.kind, site: '', name: 'all-of-north' }] }), /is kept for ever/, 'nor is the hold itself removed');
  t.same(holdsOf(test.store, { ...UNIT, site: 'south' }), [], 'another site is free');
  const second = await test.restart();
  t.teardown(() => second.stop());
  const again = await second.as('admin');
  t.match((await again.get('/api/v1/legal-holds?state=Standing')).body.items, [{ name: 'all-of-north', state: 'Standing' }]);
  await t.rejects(second.store.write({ removes: [UNIT] }), /legal hold/);
  t.match(await (await second.as('supervisor')).post('/api/v1/legal-holds/all-of-north/lift', WHY), { status: 403 });
  const lifts = await Promise.all([1, 2].map(() => again.post('/api/v1/legal-holds/all-of-north/lift', WHY)));
  t.same(lifts.map(({ status }) => status).sort(), [200, 409], 'of two who lift it at once, one does');
  await second.store.write({ removes: [UNIT] });
  t.notOk(second.store.get(Unit, 'north', 'rx101'));
  t.match((await again.get('/api/v1/legal-holds')).body.items, [{ name: 'all-of-north', state: 'Lifted', liftReason: WHY.reason }], 'it stays listed');
  t.same(heldHistory(second.store), []);
});

t.test('ADR 0132: nobody hears of a hold on a site outside his scope, and a missing one is a 404', async (t) => {
  const { test } = await start();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  const confined = await test.as('viewer', 'site-south');
  t.equal((await admin.post('/api/v1/legal-holds', { name: 'all-of-north', ...WHY, scope: { site: 'north' } })).status, 201);
  t.same((await confined.get('/api/v1/legal-holds')).body.items, []);
  t.match(await confined.get('/api/v1/legal-holds/all-of-north'), { status: 404 });
  t.match(await admin.post('/api/v1/legal-holds/none/lift', WHY), { status: 404, body: { code: 'not_found' } });
});

t.test('ADR 0132: a hold that cannot be read holds everything of every site, until an administrator discards its row', async (t) => {
  const { test } = await start();
  t.teardown(() => test.stop());
  const admin = await test.as('admin');
  t.equal((await admin.post('/api/v1/legal-holds', { name: 'all-of-north', ...WHY, scope: { site: 'north' } })).status, 201);
  const database = new Database(path.join(test.dataDir, 'state.db'));
  database.prepare("UPDATE resources SET body = '{' WHERE kind = 'LegalHold'").run();
  database.close();
  const second = await test.restart();
  t.teardown(() => second.stop());
  t.match(second.store.faults, [{ kind: 'LegalHold', name: 'all-of-north', kept: false }]);
  await t.rejects(second.store.write({ removes: [UNIT] }), /is kept by legal hold all-of-north/);
  t.same(
    heldHistory(second.store).map(({ site }) => site),
    [''],
    'and all of the history',
  );
  const again = await second.as('admin');
  t.match(await again.post('/api/v1/system/stored-data/discard', { kind: 'LegalHold', site: '', name: 'all-of-north', reason: 'set again as claim-8' }), { status: 200 });
  await second.store.write({ removes: [UNIT] });
});

t.test('ADR 0132: a resolved alarm that is held stays beyond its retention, and leaves when the hold is lifted', async (t) => {
  const { test } = await start();
  t.teardown(() => test.stop());
  const { store, clock } = test;
  const admin = await test.as('admin');
  const status = { ...HOT_ALARM.status, state: 'ClearedAcknowledged', activatedAt: '2026-01-31T08:00:00.000Z', clearedAt: '2026-01-31T08:30:00.000Z' } as const;
  const at = { site: 'north', name: 'hot-1' };
  await store.write({ puts: [{ kind: Alarm, ...at, spec: HOT_ALARM.spec, status } as Put] });
  const exceptions = new ExceptionCommands(store, { targets: () => [] } as never); // what is resolved commands nothing
  const reconciler = new AlarmReconciler({ store, clock, register: new AlarmRegister({ store, clock }), exceptions, resolvedRetentionMs: 60_000 });
  const hold = (name: string, from: string, to: string) => admin.post('/api/v1/legal-holds', { name, ...WHY, scope: { site: 'north', from, to } });
  t.equal((await hold('before', '2026-01-31T07:00:00Z', '2026-01-31T07:59:59Z')).status, 201);
  t.same(holdsOf(store, { kind: Alarm.kind, ...at }), [], 'one on another time does not keep it');
  t.equal((await hold('then', '2026-01-31T08:10:00Z', '2026-01-31T08:20:00Z')).status, 201);
  reconciler.reconcile(at);
  clock.advance(61_000);
  t.match(reconciler.reconcile(at), { lookAgainMs: 60_000 });
  t.ok(store.get(Alarm, at.site, at.name), 'it is there still');
  t.equal((await admin.post('/api/v1/legal-holds/then/lift', WHY)).status, 200);
  reconciler.reconcile(at);
  t.notOk(store.get(Alarm, at.site, at.name));
});
