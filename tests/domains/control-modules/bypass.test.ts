/** The interlock bypass over the real pipeline (contract 3, Additional routes; decisions Q-CHANGE-12, D-PROG-03). */
import t from 'tap';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { ControlModuleReconciler } from '../../../src/domains/control-modules/reconciler.js';
import { signIn } from '../../support/gateway.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const { store, clock } = plant;
const engineer = await plant.as('engineer');
const supervisor = await plant.as('supervisor');
const MODULES = '/api/v1/sites/north/controlmodules';
const REASON = 'level switch is being replaced';
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });
await engineer.post('/api/v1/fbblocktypes', { name: 'guarded-valve', blocks: [{ name: 'v', type: 'VALVE' }] });
const blocks = [
  { name: 'ilk', type: 'INTERLOCK' },
  { name: 'pump', type: 'MOTOR' },
  { name: 'drain', type: 'guarded-valve' },
  { name: 'ai', type: 'AI', params: { addr: '' } },
];
await engineer.post('/api/v1/controlmoduletemplates', { name: 'pumping', blocks });
await engineer.post('/api/v1/controlmoduletemplates', { name: 'reading', blocks: blocks.slice(3) });
for (const [name, templateRef] of [
  ['p1', 'pumping'],
  ['ti1', 'reading'],
])
  await engineer.post(MODULES, { name, templateRef, parentName: 'r1' });
const at = (module: string): string => `${MODULES}/${module}/interlock/bypass`;
const bypass = (body: object, module = 'p1') => supervisor.post(at(module), { reason: REASON, ...body });

t.test('AUTH-38, ROUTE-06: a bypass needs its own permission, which an engineer does not have', async (t) => {
  t.match(await engineer.post(at('p1'), { reason: REASON }), { status: 403, body: { code: 'action_missing', action: 'interlock:bypass' } });
  t.match(await engineer.delete(at('p1')), { status: 403, body: { action: 'interlock:bypass' } });
  t.match((await engineer.get(at('p1'))).body, { controlModule: 'p1', active: false, until: '', by: '', reason: '', interlocks: [] });
});

t.test('REASON-04, decisions Q-CHANGE-12: what a bypass must say, and which modules have one', async (t) => {
  t.match(await bypass({ reason: 'short' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await bypass({ duration: '25h' }), { status: 400, body: { field: 'duration', maxSeconds: 86_400 } });
  t.match(await bypass({ duration: '0s' }), { status: 400, body: { field: 'duration' } });
  t.match(await bypass({ duration: 'long' }), { status: 400, body: { field: 'duration' } });
  t.match(await bypass({ interlocks: ['ilk', 'ai'] }), { status: 400, body: { field: 'interlocks[1]', allowed: ['ilk', 'pump', 'drain/v'] } });
  t.match(await bypass({}, 'ti1'), { status: 409, body: { code: 'no_interlock' } });
  t.match(await bypass({}, 'none'), { status: 404 });
  t.match(await supervisor.delete(at('p1')), { status: 409, body: { code: 'bypass_inactive' } });
});

t.test('D-PROG-03: set, seen on the module, refused twice, ended by hand', async (t) => {
  const set = await bypass({ interlocks: ['ilk'], duration: '90m' });
  const until = new Date(clock.wallMs() + 90 * 60_000).toISOString();
  t.same([set.status, set.body], [200, { controlModule: 'p1', active: true, until, by: set.body.by, reason: REASON, interlocks: ['ilk'] }]);
  t.match(plant.audits.at(-1), { action: 'Command', category: 'interlock-bypass', target: { kind: 'ControlModule', name: 'p1' }, operatorReason: REASON, after: { active: true } });
  t.match((await engineer.get(`${MODULES}/p1`)).body.interlockBypass, { active: true, until, interlocks: ['ilk'] });
  t.match(await bypass({}), { status: 409, body: { code: 'bypass_active', until } });
  t.equal((await supervisor.delete(at('p1'), undefined)).status, 204);
  t.match(plant.audits.at(-1), { category: 'interlock-bypass', before: { active: true }, after: { active: false } });
  t.match((await engineer.get(at('p1'))).body, { active: false });
});

t.test('Q-CHANGE-12: a bypass of all interlocks for an hour, which ends by itself', async (t) => {
  const reconciler = new ControlModuleReconciler({ store });
  const key = { site: 'north', name: 'p1' };
  t.match(await bypass({}), { status: 200, body: { until: new Date(clock.wallMs() + 3_600_000).toISOString(), interlocks: ['ilk', 'pump', 'drain/v'] } });
  t.same(reconciler.reconcile(key), { lookAgainMs: 3_600_000 });
  clock.advance(3_590_000);
  t.same(reconciler.reconcile(key), { lookAgainMs: 10_000 });
  clock.advance(10_000);
  t.equal(reconciler.reconcile(key), 'settled');
  t.match(store.get(ControlModule, 'north', 'p1')?.status.interlockBypass, { active: false, until: '' });
  t.match(plant.audits.at(-1), { actorType: 'component', component: 'control-module', category: 'interlock-bypass', rule: 'expired', before: { active: true } });
});

t.test('D-C-07: a wall clock that is set neither ends a bypass nor makes it longer', async (t) => {
  const reconciler = new ControlModuleReconciler({ store });
  const key = { site: 'north', name: 'p1' };
  for (const stepMs of [3 * 3_600_000, -3 * 3_600_000]) {
    t.equal((await (await signIn(plant, ['supervisor'])).post(at('p1'), { reason: REASON, duration: '1h' })).status, 200);
    clock.jump(stepMs);
    clock.advance(3_599_000);
    reconciler.reconcile(key);
    const reader = await signIn(plant, ['engineer']);
    t.match((await reader.get(at('p1'))).body, { active: true }, `${stepMs} ms, within its hour`);
    clock.advance(1000);
    t.match((await reader.get(at('p1'))).body, { active: false }, `${stepMs} ms, after its hour`);
    t.equal(reconciler.reconcile(key), 'settled');
    t.equal(store.get(ControlModule, 'north', 'p1')?.status.interlockBypass?.active, false);
    clock.jump(-stepMs);
  }
});
