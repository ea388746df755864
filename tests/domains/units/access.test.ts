/** Who may look into a unit runtime, what is answered while it is away, and what its conditions say (contract 3). */
import t from 'tap';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import { alarmView } from '../../../src/domains/alarms/counts.js';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { applyRoutes } from '../../../src/domains/apply/routes.js';
import { controlModuleRoutes } from '../../../src/domains/control-modules/routes.js';
import { LocalRuntimes } from '../../../src/domains/placement/local-runtimes.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { plantRoutes } from '../../../src/domains/plant/routes.js';
import { TagCatalog } from '../../../src/domains/tags/catalog.js';
import { UnitJournal, unitOfLogLine } from '../../../src/domains/units/journal.js';
import { UnitReconciler } from '../../../src/domains/units/reconciler.js';
import { overviewRoutes } from '../../../src/domains/units/overview-routes.js';
import { runtimeRoutes } from '../../../src/domains/units/runtime-routes.js';
import type { UnitLink } from '../../../src/domains/placement/runtimes.js';
import { createLog } from '../../../src/platform/base/log.js';
import { LogLines } from '../../../src/platform/base/log-lines.js';
import { SETTINGS } from '../../runtime/network/plans.js';
import { startGatewayTest } from '../../support/gateway.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { unitRoutes } from '../../../src/domains/units/unit-routes.js';

const AT = '/api/v1/sites/north';
const RUNTIME = `${AT}/units/r1/runtime`;
const IMAGE = 'lineside 1.2.3';

const made: { units?: UnitReconciler } = {};
process.env.LINESIDE_LOG_LEVEL ??= 'silent';
const plant = await startGatewayTest({
  sites: [],
  routes: ({ store, clock }) => {
    const logLines = new LogLines(unitOfLogLine);
    const log = createLog(logLines);
    const runtimes = new LocalRuntimes({ clock, log, heapMb: 64 });
    made.units = new UnitReconciler({ store, clock, runtimes, image: () => () => undefined, settings: SETTINGS, timeScale: () => 1, build: IMAGE });
    const catalog = new TagCatalog(store);
    const deps = {
      store,
      clock,
      runtimes,
      production: false,
      tags: { store, clock, catalog, runtimes, modeCheckDeviceTags: false },
      journal: new UnitJournal({ store, runtimes, clock, log }),
      logLines,
      timeScale: () => 1,
      alarms: alarmView(store),
      nowMs: () => clock.wallMs(),
      bypassDefaultMs: 3_600_000,
      bypassMaxMs: 86_400_000,
      deviceId: 'd'.repeat(32),
      kinds: APPLIED_KINDS,
      nodeName: 'box',
      image: IMAGE,
    };
    return [routeSet([...plantRoutes, ...unitRoutes, ...controlModuleRoutes, ...applyRoutes, ...overviewRoutes, ...runtimeRoutes], deps)];
  },
});
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post(`${AT}/processcells`, { name: 'train' });
await engineer.post(`${AT}/units`, { name: 'r1', processCellName: 'train' });

/** A worker that is or is not there, as the unit reconciler sees it. */
const link = (ready: boolean): UnitLink => ({ site: 'north', unit: 'r1', ready, epoch: 1, message: ready ? '' : 'restarting' }) as UnitLink;
const put = (part: object) => plant.store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...plant.store.get(Unit, 'north', 'r1')!.status, ...part } }] });
const pin = (runtimeImage: string) =>
  engineer.post('/api/v1/apply', {
    apiVersion: 'physical.lineside.io/v1alpha1',
    kind: 'Unit',
    metadata: { name: 'r1', namespace: 'site-north' },
    spec: { processCellName: 'train', runtimeImage },
  });

t.test('RUNTIME-01, RUNTIME-02, RUNTIME-03, RUNTIME-04, RUNTIME-05: paths and tiers', async (t) => {
  const table = [...overviewRoutes, ...runtimeRoutes].map(({ method, path, tier }) => `${method} ${path.replace('/api/v1/sites/{site}/units/{name}/runtime/', '')} ${tier}`);
  const wanted = ['GET status read', 'GET tags read', 'GET fbnetwork/{network} read', 'GET diagnostics engineer', 'GET programs engineer', 'GET events engineer'];
  for (const row of [...wanted, 'GET logs engineer', 'POST read operate', 'POST write operate', 'POST restart engineer']) t.ok(table.includes(row), row);
  const [viewer, operator] = [await plant.as('viewer'), await plant.as('operator')];
  t.equal((await viewer.get(`${RUNTIME}/status`)).status, 200);
  for (const route of ['diagnostics', 'programs', 'events', 'logs']) {
    t.match(await operator.get(`${RUNTIME}/${route}`), { status: 403, body: { code: 'action_missing', action: `unit:runtime-${route}` } });
  }
  t.match(await viewer.post(`${RUNTIME}/read`, { addresses: ['a.b'] }), { status: 403, body: { action: 'unit:runtime-read' } });
  t.match(await viewer.post(`${RUNTIME}/write`, { address: 'a.b', value: 1 }), { status: 403, body: { action: 'unit:runtime-write' } });
  t.match(await operator.post(`${RUNTIME}/restart`, { reason: 'a reason that is long enough' }), { status: 403, body: { action: 'unit:runtime-restart' } });
  t.match(await engineer.post(`${RUNTIME}/restart`, { reason: 'short' }), { status: 400, body: { code: 'reason_too_short' } });
});

t.test('Q-UNIT-07: while the runtime is away, status and programs answer and the others are 503', async (t) => {
  t.match((await engineer.get(`${RUNTIME}/status`)).body, { unit: 'r1', ready: false, epoch: 0, scanCount: 0, networks: [], node: 'box', image: IMAGE });
  t.match(await engineer.get(`${RUNTIME}/programs`), { status: 200, body: [] });
  for (const route of ['tags', 'fbnetwork/x', 'diagnostics', 'events', 'logs']) {
    t.match(await engineer.get(`${RUNTIME}/${route}`), { status: 503, body: { code: 'runtime_unreachable' } }, route);
  }
  t.match(await engineer.post(`${RUNTIME}/read`, { addresses: ['a.b'] }), { status: 503 });
  t.match(await engineer.post(`${RUNTIME}/write`, { writes: [{ address: 'a.b', value: 1 }] }), { status: 503 });
  t.match(await engineer.post(`${RUNTIME}/restart`, { reason: 'a reason that is long enough' }), { status: 503 });
  t.match(await engineer.get(`${AT}/units/none/runtime/status`), { status: 404 });
});

t.test('UNIT-06, D-UNIT-04: conditions are served as they are stored; a runtime that is away makes the state uncertain', async (t) => {
  await put({ conditions: [{ type: 'CommandRejected', status: 'True', reason: 'not-ready', message: 'kept as it is' }] });
  const conditions = async () => Object.fromEntries((await engineer.get(`${AT}/units/r1`)).body.conditions.map((condition: { type: string }) => [condition.type, condition]));
  made.units?.linkChanged(link(true), 'ready');
  const [ownersKnown] = (await engineer.get(`${AT}/units/r1`)).body.conditions.slice(-1);
  t.match(ownersKnown, { type: 'OutputsSingleWriter', status: 'True' }, 'judged when it is read: of the whole site');
  t.same((await engineer.get(`${AT}/units/r1`)).body.conditions.slice(0, -1), plant.store.get(Unit, 'north', 'r1')?.status.conditions, 'verbatim');
  t.match(await conditions(), {
    CommandRejected: { status: 'True', reason: 'not-ready', message: 'kept as it is' },
    RuntimeReady: { status: 'True' },
    StateUncertain: { status: 'False' },
    ProgramsHealthy: { status: 'True' },
  });
  await put({ state: 'Held' });
  made.units?.linkChanged(link(false), 'down');
  t.match(await conditions(), { RuntimeReady: { status: 'False', message: 'restarting' }, StateUncertain: { status: 'True', reason: 'RuntimeDown' } });
  t.match((await engineer.get(`${AT}/units/r1`)).body, { state: 'Held', runtimeReady: false, runtimeMessage: 'restarting' }, 'the last state is served, none is invented');
  made.units?.linkChanged(link(true), 'ready');
  t.match(await conditions(), { StateUncertain: { status: 'False' } });
});

t.test('UNIT-11: a runtime that should be restarted is superseded, and blocked while a batch holds it; restart is then 409', async (t) => {
  const verdict = async () => (await engineer.get(`${AT}/units/r1`)).body.runtimeBuild;
  made.units?.linkChanged(link(true), 'ready');
  t.match(await verdict(), { verdict: 'current', podName: 'r1-runtime', condition: { status: 'True', reason: 'SameBuild' } });
  t.equal((await pin('lineside 9.9.9')).status, 200);
  made.units?.linkChanged(link(true), 'plan');
  t.match(await verdict(), { verdict: 'superseded', condition: { status: 'False', reason: 'PinnedImage', message: /9\.9\.9/ } });
  await put({ allocatedTo: 'b-7' });
  t.match(await verdict(), { verdict: 'blocked', summary: /b-7/ });
  t.match(await engineer.post(`${RUNTIME}/restart`, { reason: 'a reason that is long enough' }), { status: 409, body: { code: 'active_batch', batch: 'b-7', unit: 'r1' } });
  t.match(plant.audits.at(-1), { category: 'runtime', result: 'Rejected', reason: 'ActiveBatch', target: { kind: 'Unit', name: 'r1' } });
  await put({ allocatedTo: '' });
  await pin('');
  made.units?.linkChanged(link(true), 'plan');
  t.match(await verdict(), { verdict: 'current' });
});

t.test('UNIT-12: the binding matrix of a unit, over the recipes that may run on it', async (t) => {
  const demo = await startPlantGateway();
  t.teardown(() => demo.stop());
  const viewer = await demo.as('viewer');
  t.equal((await (await demo.as('engineer')).post('/api/v1/demo/provision')).status, 200);
  const { status, body } = await viewer.get('/api/v1/sites/demo/units/rx101/bindings');
  t.equal(status, 200);
  t.equal(body.unit, 'rx101');
  const inlet = body.rows.find((row: { step: string; role: string }) => row.step === 'makeResin/charge/monomer' && row.role === 'inlet');
  t.match(inlet, { recipe: 'resin-a', phaseTemplate: 'charge', requiredType: 'on-off-valve', unit: 'rx101', boundCM: 'xv101', cmModuleType: 'on-off-valve' });
  t.match(await viewer.get('/api/v1/sites/demo/units/none/bindings'), { status: 404 });
});

t.test('HEALTH-04, Q-TAG-15, Q-AUTH-14: the overview of a site: its units with their work and alarms, batches that have not ended, module health', async (t) => {
  await engineer.post('/api/v1/sites', { name: 'south' });
  await engineer.post(`${AT}/units`, { name: 'r2', processCellName: 'train' });
  t.equal((await engineer.post('/api/v1/controlmoduletemplates', { name: 'bare' })).status, 201);
  t.equal((await engineer.post(`${AT}/controlmodules`, { name: 'lonely', parentName: 'r2', templateRef: 'bare' })).status, 201);
  const activeWork = { kind: 'Phase', name: 'b-1-charge', state: 'Running', batchRef: 'b-1', since: '2026-01-31T09:00:00.000Z' };
  const batch = (name: string, phase: string, more: object = {}) => ({
    kind: Batch,
    site: 'north',
    name,
    spec: { batchID: `ID-${name}`, masterRecipeRef: 'resin', mode: '' },
    status: { phase, allocations: [{ unit: 'r1', state: 'Granted' }], heldInside: false, startedAt: '', ...more },
  });
  const alarm = (name: string, severity: string, state: string, more: object = {}) => ({
    kind: Alarm,
    site: 'north',
    name,
    spec: { severity },
    status: { state, unit: 'r1', shelvedUntil: '', ...more },
  });
  const inAnHour = new Date(plant.clock.wallMs() + 3_600_000).toISOString();
  const puts = [
    batch('b-1', 'Running', { heldInside: true, startedAt: '2026-01-31T08:00:00.000Z' }),
    batch('b-2', 'Pending'),
    batch('b-3', 'Complete'),
    alarm('a-1', 'High', 'ActiveUnacknowledged'),
    alarm('a-2', 'Medium', 'ActiveAcknowledged'),
    alarm('a-3', 'Low', 'ActiveAcknowledged', { unit: 'r2', shelvedUntil: inAnHour }),
    alarm('a-4', 'Critical', 'ClearedUnacknowledged', { unit: '' }),
  ];
  await plant.store.write({ puts: puts as never });
  await put({ state: 'Running', mode: 'Automatic', allocatedTo: 'b-1', activeWork, heldInside: true });

  const viewer = await plant.as('viewer');
  const { status, body } = await viewer.get(`${AT}/overview`);
  t.equal(status, 200);
  t.same(body, {
    site: 'north',
    asOf: new Date(plant.clock.wallMs()).toISOString(),
    modelRevision: body.modelRevision,
    armedByPhase: [],
    units: [
      {
        name: 'r1',
        processCell: 'train',
        state: 'Running',
        mode: 'Automatic',
        allocatedTo: 'b-1',
        activeWork,
        runtimeReady: false,
        heldInside: true,
        allocationQueue: [],
        alarms: { active: 2, unacknowledged: 1, highestSeverity: 'High' },
      },
      {
        name: 'r2',
        processCell: 'train',
        state: '',
        mode: 'Automatic',
        allocatedTo: '',
        activeWork: null,
        runtimeReady: false,
        heldInside: false,
        allocationQueue: [],
        alarms: { active: 1, unacknowledged: 0, highestSeverity: 'Low' },
      },
    ],
    batches: [
      { name: 'b-1', batchID: 'ID-b-1', recipe: 'resin', state: 'Running', mode: 'Automatic', units: ['r1'], heldInside: true, startedAt: '2026-01-31T08:00:00.000Z' },
      { name: 'b-2', batchID: 'ID-b-2', recipe: 'resin', state: 'Pending', mode: 'Automatic', units: ['r1'], heldInside: false, startedAt: null },
    ],
    alarms: { active: 3, unacknowledged: 2, shelved: 1, bySeverity: body.alarms.bySeverity },
    controlModules: { running: 0, down: 0, compileError: 0, unknown: 1 },
  });
  t.match(body, { modelRevision: Number, alarms: { bySeverity: { Low: 1, Medium: 1, High: 1 } } });

  const plantWide = (await viewer.get('/api/v1/overview')).body;
  t.same(plantWide, { asOf: body.asOf, sites: [body, (await viewer.get('/api/v1/sites/south/overview')).body] });
  t.same((await (await plant.as('viewer', 'site-south')).get('/api/v1/overview')).body.sites, [plantWide.sites[1]], 'who is confined sees his sites');
  t.equal((await viewer.get('/api/v1/sites/nowhere/overview')).status, 404);
});
