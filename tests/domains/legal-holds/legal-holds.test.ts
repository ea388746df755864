/** Legal holds over restarts, over damaged rows, and against every way of removing (ADR 0132). */
import path from 'node:path';
import t from 'tap';
import { AlarmReconciler } from '../../../src/domains/alarms/reconciler.js';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import { ExceptionCommands } from '../../../src/domains/alarms/exception-commands.js';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { LegalHold } from '../../../src/domains/legal-holds/kind.js';
import { heldHistory, joinLegalHolds } from '../../../src/domains/legal-holds/join.js';
import { holdsOf, timeOfBatch } from '../../../src/domains/legal-holds/holds.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { STORED_KINDS } from '../../../src/domains/index.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import type { Ledger } from '../../../src/platform/ledger/protocol.js';
import type { Settings } from '../../../src/settings.js';
import { freshStore } from '../../support/fresh-store.js';
import Database from '../../../src/platform/base/sqlite.js';
import type { HeldHistory } from '../../../src/platform/history/words.js';
import { startGatewayTest } from '../../support/gateway.js';
import type { Put } from '../../../src/platform/store/store.js';
import { HOT_ALARM, PLANT } from '../tags/plant.js';

const WHY = { reason: 'claim 7 of the customer' };
const UNIT = { kind: Unit.kind, site: 'north', name: 'rx101' };

async function start(settings: Partial<Settings> = {}) {
  const told: (readonly HeldHistory[])[] = [];
  const test = await startGatewayTest({ settings, routes: ({ store, clock }) => joinLegalHolds({ store, clock, history: { hold: (held) => told.push(held) } }).routes });
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

t.test('AUTH-12, AUTH-22: who was granted it and is confined sets a hold on his site alone, and learns nothing of another', async (t) => {
  const { test } = await start({ roles: [{ group: '{prefix}-counsel', tier: 'read', grant: ['legalhold:*'], deny: [] }] });
  t.teardown(() => test.stop());
  const counsel = await test.as('counsel', 'site-south');
  for (const scope of [{ site: 'north' }, { site: 'north', batchRecords: ['none'] }, { site: 'nowhere' }])
    t.match(await counsel.post('/api/v1/legal-holds', { name: 'theirs', ...WHY, scope }), { status: 403, body: { code: 'site_scope', site: scope.site } });
  t.equal(test.store.list(LegalHold).length, 0);
});

t.test('ADR 0132: the historian forgets what was held when the lift is on disk, not before; a lift that the disk refuses is none', async (t) => {
  const { store, ledger, clock } = await freshStore(t, STORED_KINDS);
  const told: (readonly HeldHistory[])[] = [];
  joinLegalHolds({ store, clock, history: { hold: (held) => told.push(held) } });
  const by = { accountId: 'a', displayName: 'Ada' };
  const scope = { site: 'north', batchRecords: [], from: '', to: '' };
  const hold = { kind: LegalHold, site: '', name: 'claim-7' };
  const spec = { reason: 'x', scope, spans: [{ site: 'north', units: [], from: '', to: '' }], setBy: by, setAt: '' };
  await store.write({ puts: [{ ...hold, spec } as Put] });
  const lift = { puts: [{ ...hold, status: { lifted: { by, at: '', reason: 'x' } } } as Put] };
  let refuse: (fault: Error) => void = () => undefined;
  const commit = ledger.commit.bind(ledger);
  Object.assign(ledger, { commit: () => new Promise<void>((_, reject) => (refuse = reject)) } satisfies Pick<Ledger, 'commit'>);
  const { durable } = store.apply(lift);
  t.equal(told.at(-1)?.length, 1, 'it is on its way: a power cut would find the hold standing');
  refuse(new Error('the disk takes nothing more'));
  await t.rejects(durable, /disk takes nothing more/);
  t.equal(told.at(-1)?.length, 1, 'it stands again');
  Object.assign(ledger, { commit });
  clock.advance(2000);
  await new Promise<void>((resolve) => store.watchReload(resolve));
  await store.write(lift);
  t.same(told.at(-1), []);
});

t.test('ADR 0132: a batch and an alarm are held by all that the clock showed while they ran, also where it was set back or they came again', async (t) => {
  const { test } = await start();
  t.teardown(() => test.stop());
  const { store } = test;
  const admin = await test.as('admin');
  const hold = { name: 'morning', ...WHY, scope: { site: 'north', from: '2026-01-31T07:10:00Z', to: '2026-01-31T07:20:00Z' } };
  const clockSpan = { from: '2026-01-31T07:00:00.000Z', to: '2026-01-31T08:30:00.000Z' };
  const ran = { startedAt: '2026-01-31T08:00:00.000Z', endedAt: '2026-01-31T07:30:00.000Z', clockSpan };
  const batch = { kind: Batch, site: 'north', name: 'b1' };
  await store.write({ puts: [{ ...batch, spec: {}, status: { ...Batch.initialStatus({} as never), phase: 'Complete', ...ran } } as Put] });
  const alarm = { kind: Alarm, site: 'north', name: 'hot-1' };
  const stood = { ...HOT_ALARM.status, state: 'ClearedAcknowledged', activatedAt: '2026-01-31T08:00:00.000Z', clearedAt: '2026-01-31T07:05:00.000Z' };
  await store.write({ puts: [{ ...alarm, spec: HOT_ALARM.spec, status: stood } as Put] });
  t.same(timeOfBatch(store, 'north', 'b1'), { from: '2026-01-31T07:00:00.000Z', to: '2026-01-31T08:30:00.000Z' });
  t.equal((await admin.post('/api/v1/legal-holds', hold)).status, 201);
  for (const ref of [batch, alarm]) t.same(holdsOf(store, { ...ref, kind: ref.kind.kind }), ['morning'], ref.name);
  const database = new Database(path.join(test.dataDir, 'state.db'));
  database.prepare("UPDATE resources SET body = '{' WHERE kind IN ('Batch', 'Alarm')").run();
  database.close();
  const second = await test.restart();
  t.teardown(() => second.stop());
  for (const ref of [batch, alarm]) t.same(holdsOf(second.store, { ...ref, kind: ref.kind.kind }), ['morning'], `${ref.name} cannot be read: when it was is not known`);
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
