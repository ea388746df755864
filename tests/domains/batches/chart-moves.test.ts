/** Rules of commands, launches, control recipes and parameters that need no running unit (contract 3; production mode). */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import { Batch, type BatchStatus } from '../../../src/domains/batches/kind.js';
import { instantiate, type Templates } from '../../../src/domains/batches/start/instantiation.js';
import { adhocRoutes } from '../../../src/domains/batches/adhoc-routes.js';
import { batchParameters } from '../../../src/domains/batches/creation/parameters.js';
import { batchRoutes } from '../../../src/domains/batches/routes.js';
import { phaseRequests } from '../../../src/domains/commands/phase-requests.js';
import { canonicalAnswer } from '../../../src/domains/commands/prompt-response.js';
import { commandRoutes } from '../../../src/domains/commands/routes.js';
import { DemoPlant } from '../../../src/domains/demo/demo.js';
import { demoRoutes } from '../../../src/domains/demo/routes.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { Operation, type PendingPrompt, Phase, type PhaseTemplateSpec, UnitProcedure } from '../../../src/domains/procedures/kind.js';
import { procedureRoutes } from '../../../src/domains/procedures/routes.js';
import { ControlRecipe, type MasterRecipeSpec } from '../../../src/domains/recipes/kind.js';
import { recipeRoutes } from '../../../src/domains/recipes/routes.js';
import { verifySignatures } from '../../../src/domains/signatures/evidence.js';
import { followed } from '../../../src/domains/signatures/follow.js';
import { isSignatureValid } from '../../../src/domains/signatures/signature.js';
import { type SignedRecord as Signature, SignatureRecord } from '../../../src/domains/signatures/kind.js';
import type { UnitLink } from '../../../src/domains/placement/runtimes.js';
import { Refusal } from '../../../src/platform/base/refusal.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startGatewayTest } from '../../support/gateway.js';
import { at, leading } from '../../support/at.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { elementRoutes } from '../../../src/domains/batches/element-routes.js';

const SITE = '/api/v1/sites/demo';
const UNIT = `${SITE}/units/rx101`;
const COMMAND_ANNOTATION = 'lineside.io/command';
const folder = fileURLToPath(new URL('../../../demo', import.meta.url));
const machine = { down: [] as string[] };
const runtimes = {
  link: (_site: string, unit: string) => ({ unit, ready: !machine.down.includes(unit), send: () => undefined }) as unknown as UnitLink,
  links: () => [],
  onMessage: () => undefined,
  onChange: () => undefined,
};

/** Code of the refusal. */
function refusal(act: () => unknown): string {
  try {
    act();
    return '';
  } catch (fault) {
    return fault instanceof Refusal ? String(fault.context.code) : String(fault);
  }
}

/** A production gateway; the plant is that of the demonstration. */
const opened: { stop?: () => Promise<void>; queries?: LedgerQueries } = {};
const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-rules-'));
const gateway = await startGatewayTest({
  dataDir,
  sites: [],
  routes: ({ store, clock }) => {
    const signing = { ...openDeviceKeys(dataDir), algorithm: 'HMAC-SHA256', authMode: 'local' } as const;
    const queries = openQueries(dataDir);
    opened.stop = () => queries.close();
    opened.queries = queries;
    const demo = new DemoPlant({ store, clock, kinds: APPLIED_KINDS, keys: signing, enabled: true, production: false, folder });
    const deps = {
      store,
      clock,
      runtimes,
      keys: signing,
      queries,
      facts: queries,
      production: true,
      reasonLengthMin: 10,
      wake: () => undefined,
      holdPropagation: 'batch',
      resumeCancelsPause: false,
      settleDeadlineMs: 60_000,
      storageLow: () => false,
      demo,
      timeScale: () => 1,
      setTimeScale: () => undefined,
      beside: () => Promise.reject(new Error('nobody stands beside')),
    } as const;
    return [routeSet([...adhocRoutes(true), ...batchRoutes, ...commandRoutes, ...recipeRoutes, ...elementRoutes, ...procedureRoutes, ...demoRoutes], deps)];
  },
});
t.teardown(async () => {
  await opened.stop?.();
  await gateway.stop();
});
const { store } = gateway;
const keys = { ...openDeviceKeys(dataDir), algorithm: 'HMAC-SHA256', authMode: 'local' } as const;
const admin = await gateway.as('admin');
await admin.post('/api/v1/demo/provision');
const lead = await gateway.as('lead-operator');
const LAUNCH = { unitProcedureTemplateRef: 'clean-reactor-up', reason: 'vessel has to be clean' };

/** The lead operator with a token of this moment. */
async function signedIn() {
  const answer = await gateway.request('POST', '/api/v1/auth/login', { body: { username: lead.username, password: lead.password } });
  return (body: object) => gateway.request('POST', `${UNIT}/execute-unitprocedure`, { token: answer.body.accessToken, body });
}

t.test('ADHOC-04: in production a unit procedure needs a token of the last five minutes and a reason, and is signed', async (t) => {
  gateway.clock.advance(301_000);
  t.match(await lead.post(`${UNIT}/execute-unitprocedure`, LAUNCH), { status: 401, body: { code: 'reauthentication_required' } });
  const launch = await signedIn();
  for (const reason of [undefined, '', '   '])
    t.match(await launch({ ...LAUNCH, reason }), { status: 403, body: { code: 'adhoc_prerequisite', field: 'reason' } }, `reason ${reason}`);
  t.equal(store.list(UnitProcedure, 'demo').length, 0);

  const answer = await launch(LAUNCH);
  t.match(answer, { status: 201, body: { kind: 'UnitProcedure', unit: 'rx101', signature: /^[0-9a-f]{64}$/ } }, answer.text);
  const audit = gateway.audits.findLast(({ category, result }) => category === 'adhoc-unitprocedure' && result === 'Success');
  t.match(audit, { action: 'Execute', operatorReason: LAUNCH.reason, target: { kind: 'UnitProcedure', name: answer.body.name } });
  const signature = audit?.signature as unknown as Signature;
  t.match(signature, { meaning: 'ad-hoc-execution', reason: LAUNCH.reason, subject: { kind: 'UnitProcedure', name: answer.body.name }, content: { unit: 'rx101' } });
  t.ok(isSignatureValid(signature, keys));
  t.match(store.get(SignatureRecord, '', signature.id)?.spec, { digest: answer.body.signature });
  const queries = opened.queries as LedgerQueries;
  t.match(await followed({ store, queries, keys, kinds: [] }, signature.id), { problems: [], state: { state: 'Valid' } }, 'and is told as genuine');
  const found: string[] = [];
  async function* trail(category: string) {
    yield* (await queries.auditPage({ category, order: 'asc' })).items;
  }
  await verifySignatures({ store, queries, keys, trail, unread: new Set(), report: (_part, _target, problems) => found.push(...problems) });
  t.same(found, [], 'by the verification of all evidence as well');
});

t.test('CMD-05, ADHOC-15: a child of an ad-hoc run is refused with the root to command instead', async (t) => {
  const root = at(store.list(UnitProcedure, 'demo'), 0);
  const operation = at(store.list(Operation, 'demo'), 0);
  const phase = at(store.list(Phase, 'demo'), 0);
  for (const child of [operation, phase]) {
    t.match(await lead.post(`${SITE}/command`, { kind: child.kind, name: child.metadata.name, command: 'Hold', reason: 'by way of trial' }), {
      status: 400,
      body: { code: 'wrong_command_target', commandInstead: { kind: 'UnitProcedure', name: root.metadata.name } },
    });
  }
});

t.test('ADHOC-14: a unit procedure that cannot be made leaves nothing behind', async (t) => {
  const unit = store.get(Unit, 'demo', 'rx101');
  await store.write({ puts: [{ kind: Unit, site: 'demo', name: 'rx101', status: { ...unit?.status, allocatedTo: '', state: 'Idle' } } as Put] });
  const before = [UnitProcedure, Operation, Phase].map((kind) => store.list(kind as typeof Phase, 'demo').length);
  const steps = [
    { name: 'first', stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'clean-reactor' },
    { name: 'second', stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'not-there' },
  ];
  t.equal((await admin.post(`${SITE}/unitproceduretemplates`, { name: 'broken-up', spec: { category: 'equipment', chart: { steps } } })).status, 201);
  const launch = await signedIn();
  t.match(await launch({ ...LAUNCH, unitProcedureTemplateRef: 'broken-up' }), {
    status: 409,
    body: { code: 'chart_invalid', error: /step second: OperationTemplate not-there does not exist/ },
  });
  t.same(
    [UnitProcedure, Operation, Phase].map((kind) => store.list(kind as typeof Phase, 'demo').length),
    before,
  );
  t.equal(store.get(Unit, 'demo', 'rx101')?.status.allocatedTo, '', 'the unit is free');
});

t.test('CMD-13, CMD-18: a command is an annotation on the batch; reasons and pre-flight are those of document 3', async (t) => {
  const made = await lead.post(`${SITE}/batches`, { batchID: 'B1', masterRecipeRef: 'resin-a' });
  t.equal(made.status, 201, made.text);
  const { name } = made.body;
  const command = (word: string, reason?: string) => lead.post(`${SITE}/command`, { kind: 'Batch', name, command: word, ...(reason === undefined ? {} : { reason }) });
  t.match(await command('Abort', 'short'), { status: 400, body: { code: 'reason_too_short' } });
  t.match(await command('Abort'), { status: 400 });
  machine.down = ['rx101'];
  t.match(await command('Start'), { status: 409, body: { code: 'runtime_not_ready' } });
  machine.down = [];
  const batch = () => store.list({ kind: 'Batch' } as never, 'demo').find(({ metadata }) => metadata.name === name);
  t.notOk(batch()?.metadata.annotations[COMMAND_ANNOTATION], 'a refused command is not recorded');
  t.equal((await command('Start')).status, 200);
  const text = batch()?.metadata.annotations[COMMAND_ANNOTATION];
  t.match(JSON.parse(text ?? '{}'), { command: 'Start', by: { accountId: /./ }, correlationID: /./ });
});

t.test('D-C-01: labels of a batch are checked like those of every kind, and those of the product are not taken', async (t) => {
  const post = (labels: object) => lead.post(`${SITE}/batches`, { batchID: 'B-labels', masterRecipeRef: 'resin-a', labels });
  t.match(await post({ 'not a label key !!': 'x' }), { status: 400, body: { field: /labels/ } });
  t.match(await post({ shift: 'not a label value !!' }), { status: 400 });
  t.match(await post({ 'lineside.io/adhoc': 'true' }), { status: 400, body: { code: 'reserved_key', key: 'lineside.io/adhoc' } });
  t.match(await post({ 'work.lineside.io/x': 'true' }), { status: 400, body: { code: 'reserved_key' } });
  const made = await post({ shift: 'early' });
  t.match(made, { status: 201, body: { labels: { shift: 'early' } } });
  const { name } = made.body;
  await store.write({ puts: [{ kind: Batch, site: 'demo', name, labels: { shift: 'early', 'lineside.io/batch': 'own' } } as Put] });
  const put = (labels: object) => lead.put(`${SITE}/batches/${name}`, { labels });
  t.match(await put({ shift: 'late', 'lineside.io/batch': 'own' }), { status: 200, body: { labels: { shift: 'late', 'lineside.io/batch': 'own' } } }, 'unchanged is no matter');
  t.match(await put({}), { status: 200 });
  t.strictSame(store.get(Batch, 'demo', name)?.metadata.labels, { 'lineside.io/batch': 'own' }, 'left out is unchanged');
  t.match(await put({ 'lineside.io/batch': 'mine' }), { status: 400, body: { code: 'reserved_key', field: 'labels.lineside.io/batch' } });
});

t.test('CMD-16, decisions 3.2: of two commands that wait to be judged the higher one stands, whichever came first; the other is rejected superseded', async (t) => {
  for (const [first, second, stands] of [
    ['Abort', 'Pause', 'Abort'],
    ['Pause', 'Stop', 'Stop'],
    ['Restart', 'Pause', 'Pause'], // it does not wait for a command that will be refused
    ['Resume', 'Restart', 'Restart'],
  ] as const) {
    const made = await lead.post(`${SITE}/batches`, { batchID: `B-${first}-${second}`, masterRecipeRef: 'resin-a' });
    const { name } = made.body;
    const { status } = store.get(Batch, 'demo', name) as { status: BatchStatus };
    await store.write({ puts: [{ kind: Batch, site: 'demo', name, status: { ...status, phase: 'Running' } } as Put] });
    const command = (word: string) => lead.post(`${SITE}/command`, { kind: 'Batch', name, command: word, reason: 'by way of trial' });
    const answers = [await command(first), await command(second)];
    t.match(answers, [{ status: 200 }, { status: 200 }], 'CMD-14: recorded');
    const ids = answers.map(({ headers }) => String(headers['x-correlation-id']));
    const [winner, loser] = leading(stands === first ? ids : ids.toReversed(), 2);
    const waiting = store.get(Batch, 'demo', name)?.metadata.annotations[COMMAND_ANNOTATION];
    t.match(JSON.parse(waiting ?? '{}'), { command: stands, correlationID: winner }, `${first}, ${second}`);
    const recorded = (id: string) => gateway.audits.filter(({ action, correlationID }) => action === 'Command' && correlationID === id);
    t.match(recorded(loser), [
      { result: 'Accepted' },
      { result: 'Rejected', rule: 'superseded', component: 'batch-controller', target: { kind: 'Batch', name }, details: { by: winner } },
    ]);
    t.match(recorded(winner), [{ result: 'Accepted' }]);
    t.equal(recorded(winner).length, 1, 'it waits for its verdict');
  }
});

t.test('RECIPE-04, RECIPE-05, RECIPE-06: control recipes are read; nobody but the batch controller makes one, nobody deletes one in production', async (t) => {
  const CONTROL = `${SITE}/recipes/control`;
  const batchSize = { nominal: '28', min: '', max: '', engineeringUnit: 'kg' };
  const recipe = {
    parameters: [],
    chart: { steps: [], transitions: [], divergences: [] },
    templates: [],
    allocation: {},
    batchSize,
    coordinationRefs: [],
    onPhaseFailure: 'Hold',
    allocationPolicy: 'AtStart',
  };
  const facts = { batch: 'b-1', batchID: 'B1', masterRecipe: 'resin-a', masterRevision: 1, productID: 'RESIN-A', version: '1.0.0', formulaName: 'standard', digest: 'd' };
  await store.write({ puts: [{ kind: ControlRecipe, site: 'demo', name: 'b-1', spec: { ...facts, recipe } } as unknown as Put] });
  t.match((await lead.get(CONTROL)).body, [{ name: 'b-1', batch: 'b-1' }]);
  const { body } = await lead.get(`${CONTROL}/b-1`);
  t.match(body, { name: 'b-1', ...facts, createdAt: /Z$/, spec: { parameters: [], chart: { steps: [] }, templates: [], allocation: {}, batchSize } });
  t.equal((await admin.post(CONTROL, { name: 'b-2' })).status, 405);
  t.equal((await admin.put(`${CONTROL}/b-1`, { spec: {} })).status, 405);
  t.match(await admin.delete(`${CONTROL}/b-1`), { status: 403, body: { code: 'production_mode' } });
  t.equal((await lead.get(`${CONTROL}/b-1`)).status, 200);
});

t.test('PROC-08: parameters cascade from the formula over unit procedure and operation to the phase', async (t) => {
  const formal = (name: string, defaultValue = '') => ({ name, type: 'REAL', unit: 'kg', description: '', defaultValue, required: false, min: '', max: '', choices: [] }) as const;
  const bound = (name: string, from: string) => [{ name, from }];
  const charts = {
    up: { steps: [{ name: 'op', stepLevel: 'Operation', templateKind: 'OperationTemplate', templateRef: 'op', parameterBindings: bound('load', 'charge') }] },
    op: { steps: [{ name: 'ph', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'ph', parameterBindings: bound('amount', 'load') }] },
  } as const;
  const sequence = (chart: object, name: string) => ({ description: '', category: 'process', parameters: [formal(name)], outputs: [], chart, timeoutSeconds: 0 });
  const templates = {
    get: (kind: string, _name: string) =>
      kind === 'UnitProcedureTemplate'
        ? sequence(charts.up, 'charge')
        : kind === 'OperationTemplate'
          ? sequence(charts.op, 'load')
          : ({ parameters: [formal('amount'), formal('rate', '3')], outputs: [], variables: [], roles: [], materials: [], timeoutSeconds: 0 } as unknown as PhaseTemplateSpec),
  } as unknown as Templates;
  const step = { name: 'up', stepLevel: 'UnitProcedure', templateKind: 'UnitProcedureTemplate', templateRef: 'up', parameterBindings: bound('charge', 'total') } as const;
  const parameter = {
    name: 'total',
    value: '10',
    scaled: true,
    engineeringUnit: 'kg',
    description: '',
    lowValueLimit: '',
    highValueLimit: '',
    lowTolerance: '',
    highTolerance: '',
  };
  const recipe = {
    batchSize: { nominal: '100', min: '', max: '', engineeringUnit: 'kg' },
    formulas: [{ name: 'standard', default: true, description: '', parameters: [parameter] }],
    procedure: { chart: { steps: [step] } },
  } as unknown as MasterRecipeSpec;
  const parameters = batchParameters(recipe, { formulaName: '', quantity: '50', parameters: [] });
  const elements = instantiate({ batch: 'b', mode: 'Automatic', recipe, parameters, allocation: { up: 'rx101' }, templates });
  t.same(
    elements.map(({ kind, spec }) => [kind.kind, ...spec.parameterValues.map(({ name, value, source }) => `${name} ${value} ${source}`)]),
    [
      ['Procedure', 'total 5 formula-scaled'],
      ['UnitProcedure', 'charge 5 formula-scaled'],
      ['Operation', 'load 5 formula-scaled'],
      ['Phase', 'amount 5 formula-scaled', 'rate 3 default'],
    ],
  );
});

t.test('PHASE-07: an answer is judged by the type of its prompt; what does not fit is refused', async (t) => {
  const prompt = (type: string, more: object = {}) => ({ id: 'p', text: 'What?', timestamp: '', stepName: 's', type, ...more }) as PendingPrompt;
  t.equal(canonicalAnswer(prompt('acknowledge'), 'anything at all').text, 'Acknowledged');
  t.equal(
    refusal(() => canonicalAnswer(prompt('choice'), 'A')),
    'invalid_value',
    'a choice without options takes none',
  );
  t.equal(
    refusal(() => canonicalAnswer(prompt('choice', { choices: ['A', 'B'] }), 'a')),
    'invalid_value',
  );
  for (const [answer, code] of [
    ['', 'invalid_value'],
    ['NaN', 'invalid_value'],
    ['1e999', 'out_of_range'],
    ['11', 'out_of_range'],
  ] as const)
    t.equal(
      refusal(() => canonicalAnswer(prompt('value', { min: '0', max: '10' }), answer)),
      code,
      answer,
    );
  t.equal(
    refusal(() => canonicalAnswer(prompt('novelty'), 'yes')),
    'invalid_value',
    'an unknown type is no free text',
  );
});

t.test('MTP-02, MTP-04: each CALL_SERVICE and MTP_COMMAND leaves one audit record; without a live command-enable word no command goes out', async (t) => {
  const requests = phaseRequests({ store, runtimes, clock: gateway.clock, reasonLengthMin: 10 });
  const phase = at(store.list(Phase, 'demo'), 0);
  const asked = { atMonoMs: gateway.clock.monoMs(), stillWaits: () => true, gaveUp: new AbortController().signal };
  const recorded = (category: string) => gateway.audits.filter((audit) => audit.category === category);
  t.same(await requests.callService(phase, ['io-rx101', 'object', 'method', 7]), { ok: true, value: 7 }, 'a simulated service answers with its first argument');
  t.match(await requests.callService(phase, ['nowhere', 'object', 'method']), { ok: false, rule: 'service-failed' });
  t.match(recorded('st-call-service'), [
    { action: 'Execute', component: `phase/${phase.metadata.name}`, details: { objectId: 'object', methodId: 'method', args: [7] } },
    { result: 'Rejected', rule: 'service-failed', target: { kind: 'IOModule', name: 'nowhere' } },
  ]);
  t.match(await requests.mtpCommand(phase, ['skid/dose', 'Start', 2], asked), { ok: false, rule: 'mtp-command-disabled' });
  t.match(recorded('st-mtp-command'), [
    { result: 'Rejected', rule: 'mtp-command-disabled', target: { name: 'skid' }, details: { service: 'skid/dose', command: 'Start', procedure: 2 } },
  ]);
  t.equal(recorded('st-mtp-command').length, 1);
  t.match(await requests.mtpState(phase, 'skid/dose'), { ok: false, rule: 'mtp-command-disabled' });
  t.equal(recorded('st-mtp-command').length, 1, 'reading a state is no command');
});
