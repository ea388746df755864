/** Generic apply and export over the real pipeline. */
import t from 'tap';
import { Alarm } from '../../../src/domains/alarms/kind.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { CoordinationBlock } from '../../../src/domains/coordination/kind.js';
import { Area } from '../../../src/domains/plant/kind.js';
import { Phase, Procedure } from '../../../src/domains/procedures/kind.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import type { Resource } from '../../../src/platform/store/resource.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const engineer = await plant.as('engineer');
const reader = await plant.as('viewer');

const manifest = (kind: string, name: string, spec: object = {}, metadata: object = { namespace: 'site-north' }) => ({
  apiVersion: 'control.lineside.io/v1alpha1',
  kind,
  metadata: { name, ...metadata },
  spec,
});
const apply = (body: unknown, who = engineer, query = '') => who.post(`/api/v1/apply${query}`, body);

t.test('APPLY-01: apply creates, configures and leaves alone, by name', async (t) => {
  t.match(await apply(manifest('Site', 'north', { location: 'A' }, {})), {
    status: 200,
    body: { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Site', namespace: '', operation: 'created', generation: 1, warnings: [] },
  });
  t.match(await apply(manifest('Site', 'north', { location: 'B' }, {})), { status: 200, body: { operation: 'configured', generation: 2 } });
  t.match(await apply(manifest('Site', 'north', { location: 'B' }, {})), { status: 200, body: { operation: 'unchanged', generation: 2 } });
  t.match(await apply(manifest('Site', 'north', { location: 'B' }, { labels: { a: 'b' } })), { status: 200, body: { operation: 'configured', generation: 2 } });
  t.match(await apply(manifest('Area', 'hall', {}, { uid: 'x', generation: 7, namespace: 'site-north' })), { status: 200, body: { namespace: 'site-north', generation: 1 } });
  t.match(await reader.post('/api/v1/apply', manifest('Area', 'x')), { status: 403, body: { action: 'apply:create' } });
});

t.test('decisions Q-VER-03: any group, one version', async (t) => {
  for (const apiVersion of ['physical/v1alpha1', 'whatever.example.com/v1alpha1']) t.equal((await apply({ ...manifest('Area', 'hall'), apiVersion })).status, 200, apiVersion);
  for (const apiVersion of ['v1', 'physical/v1', 'a/b/v1alpha1'])
    t.match(await apply({ ...manifest('Area', 'hall'), apiVersion }), { status: 400, body: { field: 'apiVersion' } }, apiVersion);
});

t.test("D-C-01: keys under lineside.io are the product's own; those that a kind gives to the engineer are his", async (t) => {
  t.match(await apply(manifest('Area', 'hall', {}, { namespace: 'site-north', labels: { 'lineside.io/source-template': 'me' } })), {
    status: 400,
    body: { code: 'reserved_key', field: 'metadata.labels.lineside.io/source-template', key: 'lineside.io/source-template' },
  });
  t.match(await apply(manifest('Area', 'hall', {}, { namespace: 'site-north', annotations: { 'a.lineside.io/x': '' } })), { status: 400, body: { code: 'reserved_key' } });
  await plant.store.write({ puts: [{ kind: Area, site: 'north', name: 'hall', labels: { own: 'x', 'lineside.io/source-template': 'demo' } }] });
  t.match(await apply(manifest('Area', 'hall', {}, { namespace: 'site-north', labels: { own: 'y' } })), { status: 200, body: { operation: 'configured' } });
  t.strictSame(plant.store.get(Area, 'north', 'hall')?.metadata.labels, { own: 'y', 'lineside.io/source-template': 'demo' });
  const [exported] = (await engineer.get('/api/v1/export?site=north&kinds=Area')).body;
  t.strictSame(exported.metadata.labels, { own: 'y' }, 'what the product wrote is of this box');
  const io = { namespace: 'site-north', labels: { 'lineside.io/rehearsal-preset': 'level' } };
  t.notMatch(await apply(manifest('IOModule', 'io', { protocol: 'simulation', controllerRef: 'x' }, io), admin), { body: { code: 'reserved_key' } });
});

t.test('APPLY-02, APPLY-03, APPLY-04: kinds that are applied, unknown, and deliberately not applied', async (t) => {
  t.match(await apply(manifest('Gadget', 'x')), { status: 400, body: { code: 'unsupported_kind', kind: 'Gadget' } });
  for (const kind of ['ControlRecipe', 'BatchRecord', 'AuditRecord', 'RecipeRevision', 'NodeMaintenance', 'SiteOutage', 'MaterialLot']) {
    t.match(await apply(manifest(kind, 'x')), { status: 422, body: { code: 'kind_not_applied', kind, reason: String } }, kind);
  }
  t.match(await apply(manifest('FBBlockType', 'pass', { inputs: [], outputs: [], blocks: [] }, {})), { status: 200, body: { kind: 'FunctionBlockType' } });
  t.match(await apply(manifest('constructor', 'x')), { status: 400, body: { code: 'unsupported_kind' } });
});

t.test('decisions Q-CHANGE-06: namespaces name the site, and only where there is one', async (t) => {
  t.match(await apply(manifest('Area', 'x', {}, {})), { status: 400, body: { field: 'metadata.namespace' } });
  t.match(await apply(manifest('Area', 'x', {}, {}), engineer, '?site=north'), { status: 200, body: { namespace: 'site-north' } });
  t.match(await apply(manifest('Area', 'x', {}, { namespace: 'north' })), { status: 400, body: { field: 'metadata.namespace' } });
  t.match(await apply(manifest('Area', 'x', {}, { namespace: 'site-none' })), { status: 404 });
  t.match(await apply(manifest('Enterprise', 'x', {}, { namespace: 'site-north' })), { status: 400, body: { field: 'metadata.namespace' } });
});

t.test('decisions Q-CHANGE-06: an array is one transaction; the first refusal rolls everything back and says where', async (t) => {
  const before = plant.store.resourceVersion;
  const refused = await apply([manifest('Area', 'one'), manifest('ProcessCell', 'two', { areaName: 'one' }), manifest('Unit', 'three', { processCellName: 'gone' })]);
  t.match(refused, { status: 400, body: { code: 'unknown_reference', index: 2, field: 'processCellName' } });
  t.equal(plant.store.get(Area, 'north', 'one'), undefined);
  t.equal(plant.store.resourceVersion, before);
  t.match(await apply([manifest('Area', 'one'), manifest('ProcessCell', 'two', { areaName: 'one' })]), { status: 200, body: [{ operation: 'created' }, { operation: 'created' }] });
  t.match(await apply([manifest('Area', 'a'), { ...manifest('Area', 'b'), colour: 'red' }]), { status: 400, body: { code: 'unknown_field', index: 1 } });
  t.match(await apply([manifest('Area', 'a', { colour: 'red' })]), { status: 400, body: { code: 'unknown_field', field: 'spec.colour' } });
  t.match(await apply([]), { status: 400 });
  t.match(await apply(Array.from({ length: 5001 }, (_, index) => manifest('Area', `a-${index}`))), { status: 400 });
});

t.test('D-C-03: the order of an array is of no matter, and all of its errors are told', async (t) => {
  const step = (name: string, templateKind: string, templateRef: string) => ({
    name,
    initial: true,
    templateKind,
    templateRef,
    stepLevel: templateKind.replace('Template', ''),
    ...(templateKind === 'UnitProcedureTemplate' ? { targetCapability: 'mix' } : {}),
  });
  const mixed = [
    manifest('ControlModule', 'inner', { templateRef: 'tpl', parentKind: 'ControlModule', parentName: 'outer' }),
    manifest('ControlModule', 'outer', { templateRef: 'tpl', parentName: 'u-mixed' }),
    manifest('Unit', 'u-mixed', { processCellName: 'pc-mixed' }),
    manifest('ProcessCell', 'pc-mixed', { areaName: 'area-mixed' }),
    manifest('Area', 'area-mixed'),
    manifest('ControlModuleTemplate', 'tpl', { moduleType: 'x', blocks: [{ name: 'b', type: 'outer-type' }] }, {}),
    manifest('FunctionBlockType', 'outer-type', { blocks: [{ name: 'b', type: 'middle-type' }] }, {}),
    manifest('FunctionBlockType', 'middle-type', { blocks: [{ name: 'b', type: 'inner-type' }] }, {}),
    manifest('FunctionBlockType', 'inner-type', { blocks: [{ name: 'b', type: 'NOT' }] }, {}),
    manifest('MasterRecipe', 'made', { procedure: { chart: { steps: [step('all', 'UnitProcedureTemplate', 'of-operations')] } } }),
    manifest('UnitProcedureTemplate', 'of-operations', { chart: { steps: [step('one', 'OperationTemplate', 'of-phases')] } }),
    manifest('OperationTemplate', 'of-phases', { chart: { steps: [step('one', 'PhaseTemplate', 'stir')] } }),
    manifest('PhaseTemplate', 'stir', { steps: [{ name: 'go', initial: true }] }),
  ];
  const applied = await apply(mixed);
  t.equal(applied.status, 200, applied.text);
  t.same(
    applied.body.map(({ name, operation }: { name: string; operation: string }) => [name, operation]),
    mixed.map(({ metadata }) => [metadata.name, 'created']),
    'answered in the order of the request',
  );
  const exported = ((await engineer.get('/api/v1/export')).body as readonly { kind: string; metadata: { name: string } }[]).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const inThisOrder = (...names: readonly string[]) =>
    t.same(
      names,
      names.toSorted((a, b) => exported.indexOf(a) - exported.indexOf(b)),
    );
  t.ok(mixed.every(({ kind, metadata }) => exported.includes(`${kind} ${metadata.name}`)));
  inThisOrder(
    'FunctionBlockType inner-type',
    'FunctionBlockType middle-type',
    'FunctionBlockType outer-type',
    'ControlModuleTemplate tpl',
    'ControlModule outer',
    'ControlModule inner',
  );
  inThisOrder('PhaseTemplate stir', 'OperationTemplate of-phases', 'UnitProcedureTemplate of-operations', 'MasterRecipe made');
  const refused = await apply([manifest('Unit', 'lost', { processCellName: 'gone' }), manifest('Area', 'fine'), manifest('ProcessCell', 'also', { areaName: 'gone' })]);
  t.match(refused, {
    status: 400,
    body: {
      index: 0,
      field: 'processCellName',
      errors: [
        { index: 0, kind: 'Unit', name: 'lost', status: 400, code: 'unknown_reference', field: 'processCellName', error: /gone/ },
        { index: 2, kind: 'ProcessCell', name: 'also', status: 400, code: 'unknown_reference' },
      ],
    },
  });
  t.equal(refused.body.errors.length, 2);
  const unread = await apply([
    manifest('Unit', 'u-list', { processCellName: 'pc-mixed', capabilities: 'mix' }),
    { ...manifest('ProcessCell', 'pc-other', { areaName: 'area-mixed' }), apiVersion: 'x/v1' },
    manifest('Unit', 'u-other', { processCellName: 'pc-other' }),
    { kind: 'Area', metadata: 7 },
  ]);
  t.match(unread, {
    status: 400,
    body: {
      index: 0,
      field: 'spec.capabilities',
      errors: [
        { index: 0, kind: 'Unit', name: 'u-list', field: 'spec.capabilities' },
        { index: 1, kind: 'ProcessCell', name: 'pc-other', code: 'invalid_field', field: 'apiVersion' },
        { index: 3, kind: 'Area', name: '', code: 'missing_field', field: 'apiVersion' },
        { index: 3, kind: 'Area', name: '', code: 'invalid_field', field: 'metadata' },
      ],
    },
  });
  t.equal(unread.body.errors.length, 4, 'what refers to a manifest that cannot be read is not told as wrong');
});

t.test('D-C-03: an export is configuration: no alarm, no batch, no element of a run; they come with their status', async (t) => {
  const alarm = await apply(manifest('Alarm', 'happened', { source: 'Unit/u', message: 'hot' }));
  t.equal(alarm.status, 200, alarm.text);
  const batch = { ...Batch.initialStatus({} as never) };
  await plant.store.write({
    puts: [
      { kind: Batch, site: 'north', name: 'planned', spec: { batchID: 'P-1', masterRecipeRef: 'r' }, status: batch },
      { kind: Batch, site: 'north', name: 'ended', spec: { batchID: 'P-2', masterRecipeRef: 'r' }, status: { ...batch, phase: 'Complete' } },
      { kind: Phase, site: 'north', name: 'of-a-run', spec: {}, status: { ...Phase.initialStatus({ mode: '' } as never), adhoc: true } },
    ] as unknown as Put[],
  });
  const names = async (query: string): Promise<string[]> =>
    (await engineer.get(`/api/v1/export?site=north${query}`)).body.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  const happened = ['happened', 'planned', 'ended', 'of-a-run'];
  const configured = await names('');
  t.same(
    happened.filter((name) => configured.includes(name)),
    [],
  );
  const told = await names('&status=true');
  t.same(
    happened.filter((name) => told.includes(name)),
    happened,
  );
  await plant.store.write({ removes: happened.map((name) => ({ kind: name === 'happened' ? 'Alarm' : name === 'of-a-run' ? 'Phase' : 'Batch', site: 'north', name })) });
});

t.test('decisions Q-CHANGE-07: apply needs the action of the kind as well', async (t) => {
  t.match(await apply(manifest('Controller', 'edge-1')), { status: 403, body: { code: 'action_missing', action: 'controller:create' } });
  t.match(await apply(manifest('IOModule', 'io', { protocol: 'simulation', controllerRef: 'edge-1' })), { status: 403, body: { action: 'iomodule:create' } });
  t.match(await apply([manifest('Area', 'ok'), manifest('Controller', 'edge-1')]), { status: 403, body: { index: 1 } });
  t.match(await apply(manifest('Controller', 'edge-1', { simulation: true }), admin), { status: 200 });
});

t.test('APPLY-10: a second recipe of the same product and version is refused', async (t) => {
  t.match(await apply(manifest('MasterRecipe', 'a', { productID: 'P' })), { status: 200, body: { operation: 'created' } });
  t.match(await apply([manifest('MasterRecipe', 'b', { productID: 'P' })]), { status: 409, body: { code: 'duplicate_version' } });
  t.match(await apply([manifest('MasterRecipe', 'c', { productID: 'Q' }), manifest('MasterRecipe', 'd', { productID: 'Q' })]), { status: 409, body: { index: 1 } });
  t.match((await engineer.get('/api/v1/sites/north/recipes/master/a')).body, { revision: 1, phase: 'Draft' });
});

t.test('APPLY-11, COORD-01, COORD-02, COORD-03, COORD-04, COORD-05: coordination is authored through apply alone', async (t) => {
  const endpoint = (name: string) => ({ kind: 'Phase', name });
  const signal = { signalName: 'ready', producer: endpoint('a/b/c'), consumers: [endpoint('d/e/f')] };
  t.match(await apply(manifest('CoordinationBlock', 'cb', { mode: 'Signal' })), { status: 400, body: { field: 'spec.signal' } });
  t.match(await apply(manifest('CoordinationBlock', 'cb', { mode: 'Dance', signal })), { status: 400, body: { field: 'spec.mode' } });
  t.match(await apply(manifest('CoordinationBlock', 'cb', { mode: 'Signal', signal: { ...signal, consumers: [] } })), { status: 400 });
  t.match(await apply(manifest('CoordinationBlock', 'cb', { mode: 'Signal', signal })), { status: 200 });
  t.match(plant.store.get(CoordinationBlock, 'north', 'cb'), {
    spec: { timeoutSeconds: 0, signal: { consumers: [{ waitFor: 'Start' }] } },
    status: { phase: 'Idle', signalRaised: false },
  });
  t.match(await apply(manifest('SyncBarrier', 'sb', { participants: [endpoint('a'), endpoint('b')], count: 3 })), { status: 400, body: { field: 'spec.count' } });
  t.match(await apply(manifest('SyncBarrier', 'sb', { participants: [endpoint('a'), endpoint('b')] })), { status: 200 });
  t.match(await engineer.get('/api/v1/sites/north/coordinationblocks'), { status: 404 });
});

t.test('COORD-02: the condition of a signal is checked where it is written: what does not parse, and what would have to be waited for', async (t) => {
  const block = (condition: string) =>
    manifest('CoordinationBlock', 'told', {
      mode: 'Signal',
      signal: { signalName: 'ready', producer: { kind: 'Phase', name: 'a/b/c' }, consumers: [{ kind: 'Phase', name: 'd/e/f' }], condition },
    });
  const refused = (message: RegExp) => ({ status: 400, body: { code: 'st_invalid', field: 'spec.signal.condition', error: message } });
  t.match(await apply(block("MTP_STATE('opc/dose') = 'Completed'")), refused(/line 1: MTP_STATE .*READ and ABS/));
  t.match(await apply(block("READ('a.b') AND prompt('go on?') = 'yes'")), refused(/PROMPT/));
  t.match(await apply(block('level > ')), refused(/line 1/));
  t.equal(plant.store.get(CoordinationBlock, 'north', 'told'), undefined);
  t.match(await apply(block("ABS(READ('tic1.pv') - level) < 0.5 AND filled.X")), { status: 200 });
});

t.test('decisions Q-CHANGE-08, Q-ALARM-08: what runs is not edited, an alarm is restored once', async (t) => {
  t.match(await apply(manifest('Phase', 'ph', { parentRef: { kind: 'Operation', name: 'op' } })), { status: 200 });
  t.match(await apply(manifest('Phase', 'ph', { description: 'x' })), { status: 409, body: { code: 'element_owned' } });
  const alarm = { source: 'Unit/u', message: 'hot' };
  t.match(await apply({ ...manifest('Alarm', 'al', alarm), status: { state: 'ActiveAcknowledged' } }), { status: 200, body: { warnings: [/status is ignored/] } });
  t.equal(plant.store.get(Alarm, 'north', 'al')?.status.state, 'ActiveUnacknowledged');
  t.match(await apply(manifest('Alarm', 'al', alarm)), { status: 200, body: { operation: 'unchanged' } });
  t.match(await apply(manifest('Alarm', 'al', { ...alarm, message: 'cold' })), { status: 409 });
});

t.test('D-AUDIT-02: every applied manifest leaves a record with before and after', async (t) => {
  const from = plant.audits.length;
  await apply([manifest('Area', 'hall', { description: 'new' }), manifest('Area', 'fresh')]);
  t.match(plant.audits.slice(from), [
    { action: 'Update', target: { kind: 'Area', name: 'hall', site: 'north' }, before: { description: '' }, after: { description: 'new' }, result: 'Success' },
    { action: 'Create', target: { kind: 'Area', name: 'fresh' } },
  ]);
  const then = plant.audits.length;
  await apply(manifest('Area', 'hall', { description: 'new' }));
  t.equal(plant.audits.length, then + 1, 'also when nothing changed');
});

t.test('Q-CHANGE-10: an export comes by kind, then by name; only what must be there before comes before', async (t) => {
  await engineer.post('/api/v1/demo/provision');
  const exported = (await engineer.get('/api/v1/export?site=demo&status=true')).body as readonly { kind: string; metadata: { name: string } }[];
  /** The modules of the demo that stand below another one, and composite types inside others: what a plain list by name gets wrong. */
  const needs = (resource: Resource): readonly string[] => {
    const { parentKind, parentName, blocks = [] } = resource.spec as { parentKind?: string; parentName?: string; blocks?: readonly { readonly type: string }[] };
    if (resource.kind === 'ControlModule') return parentKind === 'ControlModule' ? [String(parentName)] : [];
    return resource.kind === 'FunctionBlockType' ? blocks.map(({ type }) => type) : [];
  };
  const expected = APPLIED_KINDS.all.flatMap((kind) => {
    const all = new Map(plant.store.list<unknown, unknown>(kind).map((resource) => [resource.metadata.name, resource]));
    const names = new Set<string>();
    const take = (name: string): void => {
      const resource = all.get(name);
      if (!resource || names.has(name)) return;
      for (const needed of needs(resource)) take(needed);
      names.add(name);
    };
    for (const name of all.keys()) take(name);
    return [...names].map((name) => `${kind.kind} ${name}`);
  });
  const found = exported.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  t.ok(found.length > 50);
  t.same(
    found,
    expected.filter((each) => found.includes(each)),
  );
});

t.test('APPLY-12, APPLY-13: what is exported can be applied elsewhere as it is', async (t) => {
  t.match(await reader.get('/api/v1/export'), { status: 403 });
  await admin.post('/api/v1/demo/provision');
  const exported = await engineer.get('/api/v1/export?site=demo');
  t.equal(exported.status, 200);
  t.notOk(exported.body.some((entry: { status?: unknown }) => entry.status));
  const other = await startPlantGateway();
  t.teardown(() => other.stop());
  const there = await other.as('admin');
  const applied = await there.post('/api/v1/apply', exported.body);
  t.equal(applied.status, 200, applied.text.slice(0, 400));
  t.ok(applied.body.every((result: { operation: string }) => result.operation === 'created'));
  const again = await there.get('/api/v1/export?site=demo');
  t.same(again.body, exported.body);
  const some = (await engineer.get('/api/v1/export?kinds=Area,FBNetwork&status=true')).body;
  t.same(new Set(some.map((entry: { kind: string }) => entry.kind)), new Set(['Area', 'ControlProgram']));
  t.ok(
    some.every((entry: { status?: unknown }) => entry.status),
    'status on request',
  );
  t.match(await engineer.get('/api/v1/export?kinds=Gadget'), { status: 400, body: { field: 'kinds' } });
  t.match(await engineer.get('/api/v1/backup/crds'), { status: 403 });
  t.match(await admin.get('/api/v1/backup/crds'), { status: 200, body: { format: 'lineside-backup/1', sha256: /^[0-9a-f]{64}$/ } });
});

t.test('D-C-03: an export of whatever the box accepted can be applied to an empty box, also where an edit has left others behind', async (t) => {
  const [here, there] = [await startPlantGateway(), await startPlantGateway()];
  t.teardown(() => Promise.all([here.stop(), there.stop()]));
  const [ours, theirs] = [await here.as('admin'), await there.as('admin')];
  await ours.post('/api/v1/demo/provision');
  type Exported = { kind: string; metadata: { name: string; annotations?: Record<string, string> }; spec: { chart: { steps: { parameterBindings: unknown }[] } } };
  const exportOf = async (client: typeof ours): Promise<Exported[]> => (await client.get('/api/v1/export?site=demo')).body;
  const untouched = await exportOf(ours);
  t.same(
    untouched.filter(({ metadata }) => metadata.annotations?.['lineside.io/left-behind'] !== undefined),
    [],
    'what fits says nothing',
  );
  const named = (kind: string) => untouched.filter((each) => each.kind === kind);
  const edit = (path: string, { metadata }: Exported, change: object) => ours.put(`${path}/${metadata.name}`, change);
  // each is left without names that others use, as far as a write of it is accepted
  for (const template of named('ControlModuleTemplate')) await edit('/api/v1/controlmoduletemplates', template, { tags: [] });
  for (const template of named('PhaseTemplate').slice(0, 1)) await edit('/api/v1/sites/demo/phasetemplates', template, { roles: [] });
  const unbound = ({ spec: { chart } }: Exported) => ({ ...chart, steps: chart.steps.map(({ parameterBindings: _, ...step }) => step) });
  for (const template of named('OperationTemplate').slice(1)) await edit('/api/v1/sites/demo/operationtemplates', template, { parameters: [], chart: unbound(template) });
  const procedures = '/api/v1/sites/demo/proceduretemplates';
  for (const template of named('ProcedureTemplate')) {
    t.equal((await ours.post(procedures, { name: `${template.metadata.name}-2`, spec: template.spec })).status, 201);
    await edit(procedures, template, { parameters: [], chart: unbound(template) });
  }
  const sequences = named('UnitProcedureTemplate').filter((_, index) => index % 2 === 0);
  for (const template of sequences) await edit('/api/v1/sites/demo/unitproceduretemplates', template, { parameters: [], chart: unbound(template) });
  // whoever is told by an alarm does not keep it from being taken away
  const [unit] = named('Unit');
  t.equal((await ours.post('/api/v1/apply', { ...unit, metadata: { name: 'spare', namespace: 'site-demo' } })).status, 200);
  const watched = { sourceKind: 'Unit', sourceName: 'spare', conditionType: 'StateEquals', stateValue: 'Held' };
  t.equal((await ours.post('/api/v1/sites/demo/alarmdefinitions', { name: 'of-spare', ...watched })).status, 201);
  t.equal((await ours.delete('/api/v1/sites/demo/units/spare')).status, 204);
  const exported = await exportOf(ours);
  const left = exported.filter(({ metadata }) => metadata.annotations?.['lineside.io/left-behind'] !== undefined);
  t.same(
    [...new Set(left.map(({ kind }) => kind))],
    ['ControlModule', 'PhaseTemplate', 'OperationTemplate', 'UnitProcedureTemplate', 'ProcedureTemplate', 'MasterRecipe', 'AlarmDefinition'],
  );
  t.match(await ours.post('/api/v1/apply', exported), { status: 200 }, 'it comes home');
  const applied = await theirs.post('/api/v1/apply', exported);
  t.equal(applied.status, 200, applied.text.slice(0, 2000));
  const warned = (applied.body as { kind: string; name: string; warnings: string[] }[]).filter(({ warnings }) =>
    warnings.some((each) => each.startsWith('taken as it was exported')),
  );
  t.same(
    warned.map(({ kind, name }) => `${kind} ${name}`),
    left.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  );
  t.same(await exportOf(theirs), exported);
  const recorded = there.audits.filter(({ target }) => target.name === 'of-spare');
  t.match(recorded, [{ result: 'Success', details: { via: 'apply', leftBehind: /Unit spare, which does not exist/ } }], 'that it was taken so stands in the trail');
  const [module, definition] = ['ControlModule', 'AlarmDefinition'].map((kind) => named(kind)[0]);
  const behind = { 'lineside.io/left-behind': 'says whoever writes it' };
  for (const [resource, spec, field] of [
    [module, { ...module?.spec, parentKind: 'Unit', parentName: 'nowhere' }, 'parentName'],
    [module, { ...module?.spec, templateRef: 'nothing' }, 'templateRef'],
    [definition, { ...definition?.spec, sourceKind: 'ControlModule', sourceName: 'nothing' }, 'sourceName'],
  ] as const) {
    const alone = { ...resource, metadata: { name: 'alone', namespace: 'site-demo', annotations: behind }, spec };
    const answer = await theirs.post('/api/v1/apply', alone);
    t.match(
      [answer.status, answer.body.code, answer.body.field],
      [400, 'unknown_reference', new RegExp(field)],
      `what keeps its target from being taken away cannot have lost it: ${answer.text}`,
    );
  }
  const [phase] = left.filter(({ kind }) => kind === 'PhaseTemplate');
  const plain = { ...phase, apiVersion: 'recipe.lineside.io/v1alpha1', metadata: { name: 'mistaken', namespace: 'site-demo' } };
  t.match(await theirs.post('/api/v1/apply', plain), { status: 400, body: { code: 'st_invalid' } }, 'who writes it anew is refused as by its own route');
});

t.test('one request is about a bounded number of ended runs, all of which are held until it is written', async (t) => {
  const gateway = await startPlantGateway();
  t.teardown(() => gateway.stop());
  const client = await gateway.as('admin');
  const { store } = gateway;
  await client.post('/api/v1/apply', manifest('Site', 'north', {}, {}));
  const runs = Array.from({ length: 101 }, (_, number) => ({ kind: Procedure.kind, site: 'north', name: `r${number}` }));
  await store.write({ puts: runs.map((run) => ({ ...run, kind: Procedure, spec: {}, status: { state: 'Complete' } }) as unknown as Put) });
  await store.write({ pasts: runs.map((run) => ({ run, members: [run], streams: [] })) });
  let asked = 0;
  const pastRun = () => {
    asked += 1;
    return Promise.resolve({ rows: [], streams: [] });
  };
  pastRows(store).connect({ pastRun, pastPage: () => Promise.resolve([]), pastTexts: () => Promise.resolve([]) });
  const manifests = runs.map(({ name }) => manifest('Procedure', name));
  const refused = await client.post('/api/v1/apply', manifests);
  t.match(refused, { status: 422, body: { code: 'too_many_past_runs', runs: 101, limit: 100, error: /several requests/ } });
  t.equal(asked, 0, 'none of them is read for it');
  t.not((await client.post('/api/v1/apply', manifests.slice(1))).body.code, 'too_many_past_runs');
  t.equal(asked, 100);
});

t.test('D-C-06: an I/O module that another box exported arrives disabled with a warning, and stays as somebody here decides', async (t) => {
  const spec = { protocol: 'modbus', address: '10.0.0.9', channels: [{ name: 'out', address: 'coil:1', direction: 'output' }] };
  const ours = await apply(manifest('IOModule', 'ours', spec), admin);
  t.match(ours, { status: 200, body: { operation: 'created', warnings: [] } });
  const exported = (await engineer.get('/api/v1/export?kinds=IOModule')).body as { metadata: { name: string; annotations: Record<string, string> } }[];
  const own = exported.find(({ metadata }) => metadata.name === 'ours');
  t.match(own, { metadata: { annotations: { 'lineside.io/device-id': /.+/ } }, spec: { enabled: true } });
  t.match(await apply(own, admin), { body: { operation: 'unchanged', warnings: [] } }, 'what this box exported comes home as it was');
  const foreign = (more: object = {}) =>
    manifest('IOModule', 'theirs', { ...spec, ...more }, { namespace: 'site-north', annotations: { 'lineside.io/device-id': 'f'.repeat(32), note: 'x' } });
  t.match(await apply(foreign(), admin), { status: 200, body: { operation: 'created', warnings: [/another box \(device id f+\) and arrives disabled/] } });
  const path = '/api/v1/sites/north/iomodules/theirs';
  t.match((await admin.get(path)).body, { enabled: false });
  t.notMatch((await admin.get(path)).text, 'lineside.io/device-id', 'where it came from is no property of the module here');
  t.match(await admin.put(path, { enabled: true }), { status: 200, body: { enabled: true } });
  t.match(await apply(foreign({ description: 'again' }), admin), { body: { operation: 'configured', warnings: [] } });
  t.equal((await admin.get(path)).body.enabled, true, 'an update does not take back what was decided here');
  t.match(await apply(foreign({ address: '10.0.0.10' }), admin), { body: { warnings: [/arrives disabled/] } }, 'another device is another decision');
  t.equal((await admin.get(path)).body.enabled, false);
});
