/** Recipes, formulas, bindings and procedural resources on the demonstration plant. */
import t from 'tap';
import { Batch } from '../../../src/domains/batches/kind.js';
import { Phase } from '../../../src/domains/procedures/kind.js';
import { isSignatureValid } from '../../../src/domains/signatures/signature.js';
import type { RecipePhase } from '../../../src/domains/recipes/kind.js';
import { type LifecycleAction, nextPhase, wayToEdit, wayToWithdraw } from '../../../src/domains/recipes/rules.js';
import type { SignedRecord } from '../../../src/domains/signatures/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
const supervisor = await plant.as('supervisor');
const SITE = '/api/v1/sites/demo';
const MASTER = `${SITE}/recipes/master`;
const REASON = { reason: 'reviewed' };

t.test('decisions 9: provisioning makes the plant, signs its recipes and changes nothing the second time', async (t) => {
  const first = await engineer.post('/api/v1/demo/provision', { timeScale: 5 });
  t.match(first, { status: 200, body: { site: 'demo', created: 89, configured: 0, unchanged: 0, activatedRecipes: ['clean-train', 'resin-a'], timeScale: 5 } });
  t.match(await engineer.post('/api/v1/demo/provision'), { status: 200, body: { created: 0, configured: 0, unchanged: 89, activatedRecipes: [] } });
  t.match((await engineer.get('/api/v1/demo/status')).body, { enabled: true, provisioned: true, manifests: { expected: 89, present: 89 }, operatingMode: 'development' });
  const { body } = await engineer.get(`${MASTER}/resin-a`);
  t.match(body, {
    phase: 'Effective',
    revision: 1,
    heldBy: [],
    notes: [],
    labels: { 'lineside.io/managed-by': 'demo' },
    lifecycle: [{ action: 'approve', actionBy: 'system:demo' }, { action: 'release' }, { action: 'activate' }],
  });
});

t.test('RECIPE-01, RECIPE-03, RECIPE-07, RECIPE-12: a recipe is created as a Draft with its first revision', async (t) => {
  const spec = {
    productID: 'P',
    formula: { parameters: [{ name: 'amount', value: '5' }] },
    otherInformation: { safetyNotes: 'gloves', documentReferences: [{ name: 'sheet', type: 'SDS' }] },
  };
  const made = await engineer.post(MASTER, { name: 'p-1', spec });
  t.equal(made.status, 201, made.text);
  t.match(made.body, { phase: 'Draft', revision: 1, digest: /^[0-9a-f]{64}$/, spec: { version: '1.0.0', formulas: [{ name: 'standard', default: true }] } });
  t.notOk('formula' in made.body.spec);
  t.match(await engineer.post(MASTER, { name: 'p-2', productID: 'P' }), { status: 409, body: { code: 'duplicate_version' } });
  t.match(await engineer.post(MASTER, { name: 'p-3', spec: { otherInformation: { documentReferences: [{ name: 'x', type: 'Poem' }] } } }), {
    status: 400,
    body: { field: 'spec.otherInformation.documentReferences[0].type' },
  });
  t.match(
    await engineer.post(MASTER, {
      name: 'p-3',
      spec: {
        procedure: {
          chart: { steps: [{ name: 'a', stepLevel: 'UnitProcedure', templateKind: 'UnitProcedureTemplate', templateRef: 'x' }], transitions: [{ from: 'a', to: 'nowhere' }] },
        },
      },
    }),
    { status: 400, body: { code: 'st_invalid' } },
  );
});

t.test('GEN-24, RECIPE-14, RECIPE-16, RECIPE-17, RECIPE-18, RECIPE-19: lifecycle steps are signed; any other phase is a conflict', async (t) => {
  t.match(await engineer.post(`${MASTER}/p-1/approve`, REASON), { status: 403, body: { action: 'masterrecipe:approve' } });
  t.match(await supervisor.post(`${MASTER}/p-1/approve`, { reason: ' ' }), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await supervisor.post(`${MASTER}/p-1/release`, REASON), {
    status: 409,
    body: { code: 'recipe_phase', phase: 'Draft', error: 'recipe p-1 is Draft; release is possible from Approved only: approve it first' },
  });
  const approved = await supervisor.post(`${MASTER}/p-1/approve`, REASON);
  t.match(approved, { status: 200, body: { name: 'p-1', phase: 'Approved', actionBy: supervisor.username, reason: 'reviewed', signature: /^[0-9a-f]{64}$/ } });
  const record = plant.audits.findLast((audit) => audit.action === 'Lifecycle' && audit.result === 'Success');
  const { digest, ...signature } = record?.signature as unknown as SignedRecord & { digest: string };
  t.equal(digest, approved.body.signature);
  t.match(signature, {
    meaning: 'recipe-approve',
    algorithm: 'HMAC-SHA256',
    subject: { kind: 'MasterRecipe', name: 'p-1', revision: 1 },
    content: { from: 'Draft', to: 'Approved' },
  });
  t.ok(isSignatureValid(signature, plant.keys));
  t.notOk(isSignatureValid({ ...signature, reason: 'other' }, plant.keys));
});

t.test('RECIPE-15: a lifecycle step needs a token of the last five minutes', async (t) => {
  plant.clock.advance(301_000);
  t.match(await supervisor.post(`${MASTER}/p-1/release`, REASON), { status: 401, body: { code: 'reauthentication_required' } });
});

t.test('RECIPE-02, RECIPE-22, RECIPE-23, RECIPE-24, RECIPE-21: the way to Withdrawn, and no edit on it', async (t) => {
  const fresh = await signIn();
  t.match(await engineer.put(`${MASTER}/p-1`, { spec: { description: 'x' } }), {
    status: 409,
    body: { code: 'recipe_phase', error: /in Draft and Rejected only: .*make a new version of it \(new-version\) and edit that$/ },
  });
  for (const [action, phase] of [
    ['release', 'Released'],
    ['activate', 'Effective'],
    ['withdraw', 'Withdrawn'],
  ] as const) {
    if (phase === 'Withdrawn') t.match(await fresh.post(`${MASTER}/p-1/revisions/1/revert`, REASON), { status: 409 }, 'RECIPE-27');
    t.match(await fresh.post(`${MASTER}/p-1/${action}`, REASON), { status: 200, body: { phase } });
  }
  t.equal((await engineer.post(MASTER, { name: 'p-9', spec: { productID: 'P', version: '0.9.0' } })).status, 201);
  t.match(await fresh.post(`${MASTER}/p-9/reject`, REASON), { status: 200, body: { phase: 'Rejected' } });
  t.match(await engineer.put(`${MASTER}/p-9`, { spec: { description: 'again' } }), { status: 200, body: { phase: 'Rejected', revision: 2 } });
  t.match(await engineer.put(`${MASTER}/p-9`, { spec: { description: 'again' } }), { status: 200, body: { revision: 2 } }, 'an unchanged spec makes no revision');
});

t.test('RECIPE-25, RECIPE-26, RECIPE-27, RECIPE-32: revert makes a new revision, and is refused while a batch holds the recipe', async (t) => {
  const fresh = await signIn();
  await plant.store.write({ puts: [{ kind: Batch, site: 'demo', name: 'b-1', spec: { batchID: 'B1', masterRecipeRef: 'p-9' } as never }] });
  t.match(await fresh.post(`${MASTER}/p-9/revisions/1/revert`, REASON), { status: 409, body: { code: 'recipe_held', heldBy: ['b-1'] } });
  t.match(await engineer.delete(`${MASTER}/p-9`), { status: 409 });
  await plant.store.write({ removes: [{ kind: 'Batch', site: 'demo', name: 'b-1' }] });
  t.match(await fresh.post(`${MASTER}/p-9/revisions/7/revert`, REASON), { status: 404 });
  t.match(await fresh.post(`${MASTER}/p-9/revisions/1/revert`, REASON), { status: 200, body: { phase: 'Draft', revision: 3, revertedTo: 1 } });
  const revisions = (await engineer.get(`${MASTER}/p-9/revisions`)).body;
  t.same(
    revisions.map((entry: { revision: number }) => entry.revision),
    [3, 2, 1],
  );
  t.match((await engineer.get(`${MASTER}/p-9/revisions/3`)).body, { revertedTo: 1, spec: { description: '' }, signatures: [{ action: 'revert' }] });
  t.match((await engineer.get(`${MASTER}/p-9/revisions/diff?v1=1&v2=2`)).body, {
    changes: [{ path: '/description', op: 'replace', from: '', to: 'again' }],
    summary: [/description changed/],
  });
  t.match(await engineer.get(`${MASTER}/p-9/revisions/diff?v1=1`), { status: 400, body: { field: 'v2' } });
  t.match(await engineer.get(`${MASTER}/p-9/revisions/diff?v1=1&v2=9`), { status: 404 });
  t.ok(
    plant.audits.some((audit) => audit.action === 'Lifecycle' && audit.result === 'Rejected'),
    'refusals are audited',
  );
});

t.test('RECIPE-28, RECIPE-29, RECIPE-30, RECIPE-31, LIMIT-17: a new version is bumped over the product family', async (t) => {
  t.match(await engineer.post(`${MASTER}/p-9/new-version`, { bump: 'minor' }), {
    status: 201,
    headers: { location: `${MASTER}/p-9-v1-1-0` },
    body: { name: 'p-9-v1-1-0', phase: 'Draft', revision: 1, spec: { version: '1.1.0' }, labels: { 'lineside.io/derived-from': 'p-9' } },
  });
  t.match(await engineer.post(`${MASTER}/p-9-v1-1-0/new-version`), { status: 201, body: { name: 'p-9-v2-0-0' } });
  t.match(await engineer.post(`${MASTER}/p-9/new-version`, { bump: 'huge' }), { status: 400, body: { field: 'bump', allowed: ['major', 'minor', 'patch'] } });
  await engineer.post(MASTER, { name: 'loose' });
  t.match(await engineer.post(`${MASTER}/loose/new-version`), { status: 400, body: { code: 'no_product_id' } });
  await engineer.post(MASTER, { name: 'p-9-v2-0-1', spec: {} });
  t.match(await engineer.post(`${MASTER}/p-9/new-version`, { bump: 'patch' }), { status: 409, body: { code: 'already_exists' } });
});

t.test('FORMULA-01, FORMULA-02, FORMULA-03: formulas are written with their recipe, one is the default', async (t) => {
  const at = `${MASTER}/p-9/formulas`;
  t.match(await engineer.post(at, { name: 'small', parameters: [{ name: 'amount', value: '1' }] }), { status: 201, body: { name: 'small', default: true } });
  t.match(await engineer.post(at, { name: 'large', default: true }), { status: 201, body: { default: true } });
  t.match((await engineer.get(`${at}/small`)).body, { default: false });
  t.match(await engineer.delete(`${at}/large`), { status: 409, body: { code: 'default_formula' } });
  t.match(await engineer.put(`${at}/small`, { description: 'little' }), { status: 200, body: { description: 'little', parameters: [{ name: 'amount' }] } });
  t.equal((await engineer.delete(`${at}/small`)).status, 204);
  t.match(await engineer.post(`${MASTER}/resin-a/formulas`, { name: 'x' }), { status: 409, body: { code: 'recipe_phase', error: /make a new version of it/ } });
  const all = (await engineer.get('/api/v1/formulas')).body;
  t.ok(all.some((formula: { recipe: string; name: string }) => formula.recipe === 'resin-a' && formula.name === 'standard'));
});

t.test('BIND-01, BIND-02, BIND-03: what keeps a role from binding is named', async (t) => {
  const rows = (await engineer.get(`${MASTER}/resin-a/bindings`)).body.rows;
  t.match(
    rows.find((row: { step: string; role: string }) => row.step === 'makeResin/charge/monomer' && row.role === 'inlet'),
    { phaseTemplate: 'charge', requiredType: 'on-off-valve', unit: 'rx101', boundCM: 'xv101', cmModuleType: 'on-off-valve' },
  );
  t.ok((await engineer.get(`${SITE}/units/rx101/bindings`)).body.rows.every((row: { unit: string }) => row.unit === 'rx101'));
  const unit = (roleBindings: object[]) => ({
    apiVersion: 'physical/v1alpha1',
    kind: 'Unit',
    metadata: { name: 'tk201', namespace: 'site-demo' },
    spec: { processCellName: 'resin-train', controllerRef: 'edge-1', capabilities: ['store'], roleBindings },
  });
  const issues = async (roleBindings: object[]) => {
    t.equal((await engineer.post('/api/v1/apply', unit(roleBindings))).status, 200);
    return new Set((await engineer.get(`${SITE}/units/tk201/bindings`)).body.rows.map((row: { issue?: string }) => row.issue ?? ''));
  };
  t.ok((await issues([{ role: 'inlet', controlModule: 'gone' }])).has('CMNotFound'));
  t.ok((await issues([{ role: 'inlet', controlModule: 'li201' }])).has('TypeMismatch'));
  t.ok((await issues([])).has('Unmapped'));
});

t.test('PROC-02, PROC-07, PROC-10: templates are checked, and kept while they are used', async (t) => {
  t.match(await engineer.delete(`${SITE}/phasetemplates/charge`), { status: 409, body: { referencedBy: [{ kind: 'OperationTemplate' }] } });
  t.match((await engineer.get(`${SITE}/operationtemplates/clean-reactor`)).body, { spec: { category: 'equipment' } });
  const twice = { parameters: [{ name: 'x' }], outputs: [{ name: 'X', type: 'REAL' }] };
  t.match(await engineer.post(`${SITE}/phasetemplates`, { name: 'twice', spec: twice }), { status: 400, body: { code: 'st_invalid', diagnostics: [{ code: 'duplicate-name' }] } });
  t.match(await engineer.post(`${SITE}/phasetemplates`, { name: 'bad', spec: { steps: [{ name: 'a', initial: true, actionST: 'x :=' }] } }), {
    status: 400,
    body: { code: 'st_invalid', diagnostics: [{ step: 'a', line: 1 }] },
  });
  t.match(await engineer.post(`${SITE}/operationtemplates`, { name: 'odd', spec: { category: 'other' } }), { status: 400 });
});

t.test('PROC-01, PROC-04, PROC-05, PROC-13: procedural resources are authored, filtered and served with their state', async (t) => {
  const made = await engineer.post(`${SITE}/phases`, { name: 'ph-1', spec: { unitRef: 'rx101', steps: [{ name: 'a', initial: true }] } });
  t.match(made, { status: 201, body: { state: 'Idle', mode: 'Automatic', validCommands: ['Start'], adhoc: false, unit: 'rx101', outputs: [] } });
  const spec = { unitRef: 'rx101', steps: [{ name: 'a', initial: true }] };
  t.match(await engineer.post(`${SITE}/phases`, { name: 'ph-3', labels: { 'lineside.io/adhoc': 'true' }, spec }), {
    status: 400,
    body: { code: 'reserved_key', field: 'labels.lineside.io/adhoc', key: 'lineside.io/adhoc' },
  });
  const phase = plant.store.get(Phase, 'demo', 'ph-1');
  await plant.store.write({ puts: [{ kind: Phase, site: 'demo', name: 'ph-1', status: { ...phase?.status, adhoc: true } } as Put] });
  await engineer.post(`${SITE}/phases`, { name: 'ph-2', spec: {} });
  const [item, ...more] = (await engineer.get(`${SITE}/phases?adhoc=true`)).body;
  t.match([item.name, more.length, 'spec' in item], ['ph-1', 0, false]);
  t.match(
    await engineer.post(`${SITE}/operations`, {
      name: 'op-1',
      spec: { chart: { steps: [{ name: 'a', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'charge' }] } },
    }),
    { status: 400, body: { code: 'st_invalid' } },
    'charge needs its amount',
  );
  t.equal((await engineer.delete(`${SITE}/phases/ph-2`)).status, 204);
});

t.test('PROC-04, RECIPE-05, ERR-22: in production nothing procedural is deleted', async (t) => {
  const factory = await startPlantGateway({ production: true });
  t.teardown(() => factory.stop());
  const person = await factory.as('engineer');
  await person.post('/api/v1/sites', { name: 'demo' });
  await person.post(`${SITE}/phases`, { name: 'ph', spec: {} });
  t.match(await person.delete(`${SITE}/phases/ph`), { status: 403, body: { code: 'production_mode' } });
  t.match(await person.post('/api/v1/demo/provision'), { status: 403, body: { code: 'production_mode' } });
});

/** A supervisor whose token is young again. */
async function signIn() {
  const answer = await plant.request('POST', '/api/v1/auth/login', { body: { username: supervisor.username, password: supervisor.password } });
  return { post: (path: string, body?: unknown) => plant.request('POST', path, { token: answer.body.accessToken, body }) };
}

t.test('a recipe that stands elsewhere is refused with the way on from there', (t) => {
  const said = (phase: RecipePhase, action: LifecycleAction): string => {
    try {
      return nextPhase(phase, action, 'r');
    } catch (fault) {
      return (fault as Error).message.replace(/^.* only: /, '');
    }
  };
  const revert = 'revert it to one of its revisions, which makes it a Draft again, or make a new version of it (new-version)';
  const rows: readonly (readonly [RecipePhase, LifecycleAction, string])[] = [
    ['Draft', 'activate', 'approve it, then release it first'],
    ['Approved', 'withdraw', 'release it, then activate it first'],
    ['Approved', 'approve', 'it is past that, and release comes next; make a new version of it (new-version) where something is to be changed'],
    ['Effective', 'release', 'it is past that, and withdraw comes next; make a new version of it (new-version) where something is to be changed'],
    ['Rejected', 'release', revert],
    ['Withdrawn', 'activate', revert],
  ];
  for (const [phase, action, way] of rows) t.equal(said(phase, action), way, `${phase} ${action}`);
  t.match(wayToEdit('Effective'), /^make a new version/);
  t.match(wayToEdit('Approved'), /^revert it .*, or make a new version/);
  t.equal(wayToWithdraw('Released'), 'activate it and withdraw it');
  t.end();
});
