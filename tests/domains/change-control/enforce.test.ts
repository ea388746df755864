/** changeControl.enforce: what is under change control changes through an approval, and no other way there is. */
import t from 'tap';
import { KINDS, ROWS } from '../../../src/domains/index.js';
import { ControlProgram } from '../../../src/domains/logic/kind.js';
import { PhaseTemplate } from '../../../src/domains/procedures/kind.js';
import type { RouteColumns } from '../../../src/platform/http/route.js';
import type { Put } from '../../../src/platform/store/store.js';
import { type Plant, startPlant } from '../../support/plant.js';
import { manifestOf, target } from '../../support/change-requests.js';
import { refuseUncontrolled } from '../../../src/domains/change-control/controlled.js';

const CONTROLLED = KINDS.filter(({ controlled }) => controlled);

t.test('decisions D-CHANGE-01: the kinds under change control', async (t) => {
  t.same(CONTROLLED.map(({ kind }) => kind).sort(), [
    'AlarmDefinition',
    'ControlModuleTemplate',
    'ControlProgram',
    'FunctionBlockType',
    'MasterRecipe',
    'OperationTemplate',
    'PhaseTemplate',
    'ProcedureTemplate',
    'UnitProcedureTemplate',
  ]);
});

/** The demonstration plant as it was provisioned, and from then on under change control. */
async function controlledPlant(test: Pick<typeof t, 'teardown'>): Promise<Plant> {
  const plant = await startPlant({ environment: { LINESIDE_CHANGECONTROL__ALLOWSELFAPPROVAL: 'true' } });
  test.teardown(() => plant.end());
  const recipes = (await plant.api.get('/api/v1/export?site=demo&kinds=MasterRecipe')).body as Manifest[];
  const recipe = recipes.find(({ metadata }) => metadata.name === 'resin-a');
  const [formula] = (recipe?.spec as { readonly formulas: readonly object[] }).formulas;
  const made = [
    await plant.api.post('/api/v1/sites/demo/recipes/master', {
      name: 'draft',
      spec: { ...recipe?.spec, version: '9.0.0', formulas: [formula, { ...formula, name: 'other', default: false }] },
    }),
    await plant.api.post('/api/v1/fbblocktypes', { name: 'pass', inputs: [], outputs: [], blocks: [] }),
    await plant.api.post('/api/v1/sites/demo/fbnetworks', {
      metadata: { name: 'loose' },
      spec: { unitRef: 'tk201', scanInterval: '1s', blocks: [{ name: 'one', type: 'MUL', params: { IN2: 2 } }], connections: [] },
    }),
  ];
  for (const { status, text } of made) if (status !== 201) throw new Error(text);
  await plant.restart({ LINESIDE_CHANGECONTROL__ENFORCE: 'true' });
  return plant;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** Every row that writes and stands below the path of a controlled kind; what of it changes nothing that was configured, and why. */
const PASSES: Readonly<Record<string, string>> = {
  'controlprogram:override-hot-swap': 'arms the next edit, which comes by an approval; nothing of the program changes',
  'masterrecipe:approve': 'a signed step of the life cycle',
  'masterrecipe:reject': 'a signed step of the life cycle',
  'masterrecipe:release': 'a signed step of the life cycle',
  'masterrecipe:activate': 'a signed step of the life cycle',
  'masterrecipe:withdraw': 'a signed step of the life cycle',
  'masterrecipe:confirm-templates': 'signs what was changed by an approval already',
  'masterrecipe:rehearse': 'computes on a copy',
  'masterrecipe:validate': 'computes',
  'alarmdefinition:what-if': 'computes',
};

const isWrite = ({ method }: RouteColumns): boolean => method !== 'GET';
const pathOf = ({ scope, path }: (typeof CONTROLLED)[number]): string => `${scope === 'site' ? '/api/v1/sites/{site}' : '/api/v1'}/${path}`;

t.test('decisions D-CHANGE-01: none of the routes that write a controlled kind passes, whatever it is sent', async (t) => {
  const plant = await controlledPlant(t);
  const { api } = plant;
  const stood = async (): Promise<Manifest[]> => (await api.get(`/api/v1/export?kinds=${CONTROLLED.map(({ kind }) => kind).join()}`)).body;
  const before = await stood();
  const rows = ROWS.filter((row) => isWrite(row) && CONTROLLED.some((kind) => row.path === pathOf(kind) || row.path.startsWith(`${pathOf(kind)}/`)));
  t.ok(rows.length > 30);
  rows.sort((a, b) => Number(a.action in PASSES) - Number(b.action in PASSES)); // a recipe that has gone on is refused for that
  const nameOf: Readonly<Record<string, string>> = { MasterRecipe: 'draft', FunctionBlockType: 'pass' };
  for (const row of rows) {
    const kind = CONTROLLED.find((each) => row.path === pathOf(each) || row.path.startsWith(`${pathOf(each)}/`)) as (typeof CONTROLLED)[number];
    const name = nameOf[kind.kind] ?? before.find((each) => each.kind === kind.kind)?.metadata.name ?? 'none';
    const spec = before.find((each) => each.kind === kind.kind && each.metadata.name === name)?.spec ?? {};
    const path = row.path.replace('{site}', 'demo').replace('{name}', name).replace('{revision}', '1').replace('{formulaName}', 'other');
    const isNew = row.method === 'POST' && row.path === pathOf(kind);
    const body = bodyOf(row, kind, spec, isNew);
    const answer = row.method === 'DELETE' ? await api.delete(path) : row.method === 'PUT' ? await api.put(path, body) : await api.post(path, body);
    if (PASSES[row.action]) continue;
    t.match({ status: answer.status, code: answer.body?.code }, { status: 403, code: 'change_request_required' }, `${row.method} ${path}: ${answer.text.slice(0, 200)}`);
  }
  t.same(await stood(), before, 'all of it stands as it stood');
});

/** Members of an alarm definition that apply alone writes. */
const APPLIED_ALONE = ['armingGate', 'cause', 'consequence', 'action', 'follows'];

function bodyOf(row: RouteColumns, { kind, body }: (typeof CONTROLLED)[number], spec: object, isNew: boolean): unknown {
  if (row.action.startsWith('formula:')) return row.method === 'PUT' ? { description: 'x' } : { name: 'another', description: 'x' };
  if (row.action === 'masterrecipe:new-version') return {};
  if (row.method === 'DELETE') return undefined;
  if (!isNew && row.method === 'POST') return { reason: 'because it is tried here' };
  const own = Object.fromEntries(Object.entries(spec).filter(([member]) => kind !== 'AlarmDefinition' || !APPLIED_ALONE.includes(member)));
  const wanted = kind === 'MasterRecipe' ? { ...own, version: '9.9.9' } : own;
  if (body === 'flat') return isNew ? { name: 'another', ...wanted } : kind === 'AlarmDefinition' ? { message: 'changed' } : { description: 'changed' };
  if (body === 'document') return isNew ? { metadata: { name: 'another' }, spec: wanted } : { spec: wanted };
  return isNew ? { name: 'another', spec: wanted } : { spec: { description: 'changed' } };
}

t.test('decisions D-CHANGE-01: apply says so of every element, as a dry run does, and the rest of the plant is not concerned', async (t) => {
  const plant = await controlledPlant(t);
  const { api } = plant;
  const manifests = [
    manifestOf('PhaseTemplate', 'another', {}, { namespace: 'site-demo' }),
    manifestOf('Area', 'annex', {}, { namespace: 'site-demo' }),
    manifestOf('FunctionBlockType', 'pass', { description: 'x', inputs: [], outputs: [], blocks: [] }, {}),
  ];
  for (const query of ['', '?dryRun=true', '?diff=true']) {
    const answer = await api.post(`/api/v1/apply${query}`, manifests);
    t.match(answer, {
      status: 403,
      body: {
        code: 'change_request_required',
        errors: [
          { index: 0, kind: 'PhaseTemplate', status: 403, code: 'change_request_required' },
          { index: 2, kind: 'FunctionBlockType', status: 403, code: 'change_request_required' },
        ],
        errorsTotal: 2,
      },
    });
  }
  t.match(await api.post('/api/v1/apply', manifests[1]), { status: 200, body: { operation: 'created' } });
  const [same] = (await api.get('/api/v1/export?site=demo&kinds=PhaseTemplate')).body;
  t.match(await api.post('/api/v1/apply', same), { status: 200, body: { operation: 'unchanged' } }, 'what stands already is no change');
  t.match(
    await api.post('/api/v1/apply', { ...same, metadata: { ...same.metadata, labels: { mine: 'x' } } }),
    { status: 403, body: { code: 'change_request_required' } },
    'labels are part of it',
  );
  t.match(await api.post('/api/v1/demo/provision', {}), { status: 200 }, 'nothing of the demonstration changes');
});

t.test('decisions D-CHANGE-01: an approval changes a controlled kind, and what follows from it follows', async (t) => {
  const plant = await controlledPlant(t);
  const { api } = plant;
  const templates: Manifest[] = (await api.get('/api/v1/export?site=demo&kinds=PhaseTemplate')).body;
  const [template] = templates;
  const name = template?.metadata.name ?? '';
  const path = `/api/v1/sites/demo/phasetemplates/${name}`;
  const ask = async (body: object): Promise<string> => {
    const made = await api.post('/api/v1/sites/demo/changerequests', { spec: { reason: 'needed for the test', ...body } });
    t.equal(made.status, 201, made.text);
    const { name: request } = made.body;
    const decided = await api.post(`/api/v1/changerequests/site-demo/${request}/approve`, { reason: 'checked' });
    t.equal(decided.status, 200, decided.text);
    return `${decided.body.status.phase} ${decided.body.status.error}`;
  };
  const spec = { ...template?.spec, description: 'changed by an approval' };
  t.equal(await ask({ target: target('PhaseTemplate', name), manifest: manifestOf('PhaseTemplate', name, spec, { namespace: 'site-demo' }) }), 'Applied ');
  t.match((await api.get(path)).body, { spec: { description: 'changed by an approval' } });
  t.equal(await ask({ target: target('FunctionBlockType', 'pass'), operation: 'Delete' }), 'Applied ');
  t.equal(await ask({ target: target('MasterRecipe', 'draft'), operation: 'Delete' }), 'Applied ');
  t.equal((await api.get('/api/v1/sites/demo/recipes/master/draft')).status, 404);
  const detail = (await api.get('/api/v1/changerequests')).body;
  t.equal(detail.length, 3);
  t.match((await api.get('/api/v1/change-control/verify')).body, { ok: true, checked: 3 });
  // a program that follows from its module is written by its reconciler
  t.equal((await api.post('/api/v1/sites/demo/controlmodules', { name: 'later', parentKind: 'Unit', parentName: 'tk201', templateRef: 'motor' })).status, 201);
  await plant.look('the program of the module is there', async () => ({
    done: (await api.get('/api/v1/sites/demo/fbnetworks/later')).status === 200 || undefined,
    seen: 'no program yet',
  }));
});

t.test('decisions D-CHANGE-01: an approval of one resource carries no change of another', async (t) => {
  const put = (kind: unknown, name: string, more: object): Put => ({ kind, site: 'north', name, ...more }) as Put;
  const kinds = new Map(KINDS.map((kind) => [kind.kind, kind]));
  const store = { kindNamed: (kind: string) => kinds.get(kind), get: () => ({ metadata: { ownerReferences: [] } }) } as unknown as Parameters<typeof refuseUncontrolled>[1];
  const change = put(PhaseTemplate, 'heat', { spec: {} });
  const approval = (name: string, phase = 'Applied') => put(kinds.get('ChangeRequest'), 'r', { spec: { target: target('PhaseTemplate', name) }, status: { phase } });
  const refused = (...puts: Put[]): boolean => {
    try {
      refuseUncontrolled({ puts }, store);
      return false;
    } catch {
      return true;
    }
  };
  t.ok(refused(change));
  t.notOk(refused(change, approval('heat')));
  t.ok(refused(change, approval('cool')));
  t.ok(refused(change, approval('heat', 'Approved')));
  t.notOk(refused(put(PhaseTemplate, 'heat', { status: {} })), 'a status is no change of what was configured');
  t.notOk(refused(put(ControlProgram, 'lic', { spec: {}, ownerReferences: [{ kind: 'ControlModule', name: 'lic', uid: 'u' }] })));
  t.ok(refused(put(ControlProgram, 'lic', { spec: {} })));
  t.throws(() => refuseUncontrolled({ removes: [{ kind: 'PhaseTemplate', site: 'north', name: 'heat' }] }, store), { message: /under change control/ });
});
