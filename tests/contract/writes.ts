/**
 * One accepted request for every row that changes something, in an order that works on the demonstration plant. A new
 * mutating route needs its request here (D-AUDIT-02): add it where its resource exists.
 */
import { readFileSync } from 'node:fs';
import { codeOf, stepOf } from '../../src/domains/access/second-factor/time-codes.js';
import type { Answer, Client, RequestOptions } from '../support/gateway.js';
import { PASSWORD } from '../support/gateway.js';
import { type ApplianceTest, AT, SITE } from './appliance.js';
import { at, leading } from '../support/at.js';
import { panelKey } from '../support/panel-key.js';
import { softPasskey } from '../support/passkey.js';

const REASON = { reason: 'walked by the release test' };
const CRUD = '/api/v1';
const S = '/api/v1/sites/{site}';
const MASTER = `${S}/recipes/master`;

/** Names of what the story leaves behind, for the walk. */
export interface Left {
  readonly batch: string;
  readonly phase: string;
  readonly operation: string;
  readonly unitProcedure: string;
  readonly procedure: string;
  readonly workOrder: string;
  readonly record: string;
  readonly session: string;
  readonly signature: string;
  readonly snapshot: string;
  readonly review: string;
  readonly correlationID: string;
  readonly auditName: string;
}

export interface Done {
  readonly row: string;
  readonly answer: Answer;
}

/** Sends one request per row and remembers the answer under its row. */
export class Story {
  readonly done: Done[] = [];
  readonly #test: ApplianceTest;

  constructor(test: ApplianceTest) {
    this.#test = test;
  }

  get test(): ApplianceTest {
    return this.#test;
  }

  /** @param row `POST /api/v1/...` as in the table; `{site}` is the demonstration site. */
  async send(
    row: string,
    params: Readonly<Record<string, string>>,
    options: RequestOptions & { readonly query?: string } = {},
    client: Client = this.#test.admin,
  ): Promise<Answer> {
    const [method, pattern] = leading(row.split(' '), 2);
    const given: Record<string, string> = { site: SITE, ...params };
    const path = pattern.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_: string, name: string) => encodeURIComponent(at(given, name)));
    const { query, ...rest } = options;
    const credentials = rest.key === undefined && rest.token === undefined ? { token: client.token } : {};
    const answer = await this.#test.request(method, query === undefined ? path : `${path}?${query}`, { ...credentials, ...rest });
    this.record(row, answer);
    return answer;
  }

  record(row: string, answer: Answer): void {
    this.done.push({ row, answer });
  }
}

interface Family {
  readonly path: string;
  readonly create: object;
  readonly change?: object;
  readonly name?: string;
}

const PROGRAM = {
  unitRef: 'walk',
  scanInterval: '1s',
  blocks: [{ name: 'a', type: 'MUL', params: { IN2: 2 } }],
  variables: [],
  variableBindings: [],
};

/** Created, changed; deleted in the opposite order. */
const FAMILIES: readonly Family[] = [
  { path: `${CRUD}/enterprises`, create: { name: 'walk' } },
  { path: `${CRUD}/sites`, create: { name: 'walk', enterpriseName: 'walk' } },
  { path: `${S}/areas`, create: { name: 'walk' } },
  { path: `${S}/processcells`, create: { name: 'walk', areaName: 'walk' } },
  { path: `${S}/controllers`, create: { name: 'walk', simulation: true }, change: { displayName: 'Walk' } },
  { path: `${S}/units`, create: { name: 'walk', processCellName: 'walk' } },
  { path: `${S}/simulationpresets`, create: { name: 'walk', behaviors: [{ address: 'a', type: 'NoisyConstant', params: { value: '1', noise: '0' } }] } },
  { path: `${S}/trendsets`, create: { name: 'walk', title: 'Walk', tags: [{ unit: 'rx101', address: 'tic101.pv' }] }, change: { window: '2h' } },
  {
    path: `${S}/iomodules`,
    create: { name: 'walk', controllerRef: 'walk', protocol: 'simulation', channels: [{ address: 'a', dataType: 'float' }] },
    change: { simulation: { seed: 1 } },
  },
  {
    path: `${CRUD}/fbblocktypes`,
    create: {
      name: 'walk',
      inputs: [{ name: 'IN', dataType: 'REAL' }],
      outputs: [{ name: 'OUT', dataType: 'BOOL' }],
      blocks: [{ name: 'a', type: 'GE', params: { IN2: 1 } }],
      inputBindings: [{ port: 'IN', blockRef: 'a', portRef: 'IN1' }],
      outputBindings: [{ port: 'OUT', blockRef: 'a', portRef: 'OUT' }],
    },
  },
  {
    path: `${CRUD}/controlmoduletemplates`,
    create: { name: 'walk', blocks: [{ name: 'a', type: 'MUL', params: { IN2: 2 } }], parameters: [{ name: 'gain', blockRef: 'a', param: 'IN2', tunable: true }] },
    change: { moduleType: 'other' },
  },
  { path: `${S}/controlmodules`, create: { name: 'walk', parentName: 'walk', parentKind: 'Unit', templateRef: 'walk' } },
  { path: `${S}/fbnetworks`, name: 'walk-program', create: { metadata: { name: 'walk-program' }, spec: PROGRAM }, change: { spec: { ...PROGRAM, scanInterval: '2s' } } },
  {
    path: `${S}/alarmdefinitions`,
    create: { name: 'walk', sourceKind: 'Unit', sourceName: 'walk', conditionType: 'StateEquals', stateValue: 'Held', type: 'System', severity: 'Low', message: 'walked' },
    change: { message: 'walked again' },
  },
  { path: `${S}/phasetemplates`, create: { name: 'walk' } },
  { path: `${S}/operationtemplates`, create: { name: 'walk' } },
  { path: `${S}/unitproceduretemplates`, create: { name: 'walk' } },
  { path: `${S}/proceduretemplates`, create: { name: 'walk' } },
  { path: `${S}/phases`, create: { name: 'walk', templateRef: 'walk' } },
  { path: `${S}/operations`, create: { name: 'walk', templateRef: 'walk' } },
  { path: `${S}/unitprocedures`, create: { name: 'walk', templateRef: 'walk' } },
  { path: `${S}/procedures`, create: { name: 'walk', templateRef: 'walk' } },
];

export async function tellStory(story: Story): Promise<Left> {
  const { test } = story;
  story.record('POST /api/v1/auth/first-admin', test.firstAdmin);
  await engineering(story);
  await recipes(story);
  await changes(story);
  await plantFloor(story);
  await adhoc(story);
  const left = await production(story);
  await story.send(`POST ${S}/mode`, {}, { body: { kind: 'ControlModule', name: 'xv101', mode: 'Manual' } });
  await alarms(story);
  await access(story);
  await story.send('POST /api/v1/demo/provision', {}, { body: {} });
  await story.send('POST /api/v1/demo/timescale', {}, { body: { timeScale: 10 } });
  const { body: audit } = await test.admin.get(`${AT}/audit?limit=1`);
  const { body: snapshots } = await test.admin.get('/api/v1/snapshots');
  return { ...left, snapshot: snapshots.at(-1).name, correlationID: audit.items[0].correlationID, auditName: audit.items[0].name };
}

/** Made by apply, so that they stand without anything that evaluates them. */
async function alarms(story: Story): Promise<void> {
  for (const name of ['walked', 'walk-gone']) {
    const metadata = { name, namespace: `site-${SITE}` };
    const spec = { source: 'Unit/rx101', message: 'walked' };
    await story.test.admin.post('/api/v1/apply', { apiVersion: 'control.lineside.io/v1alpha1', kind: 'Alarm', metadata, spec });
    await story.send(`POST ${S}/alarms/{name}/acknowledge`, { name }, { body: { comment: 'walked' } });
  }
  await story.send(`POST ${S}/alarms/{name}/shelve`, { name: 'walked' }, { body: { duration: '1h' } });
  await story.send(`POST ${S}/alarms/{name}/unshelve`, { name: 'walked' });
  await story.send(`DELETE ${S}/alarms/{name}`, { name: 'walk-gone' });
}

async function engineering(story: Story): Promise<void> {
  for (const { path, create, change, name = 'walk' } of FAMILIES) {
    await story.send(`POST ${path}`, {}, { body: create });
    await story.send(`PUT ${path}/{name}`, { name }, { body: change ?? { description: 'walked' } });
  }
  await story.send(`POST ${S}/fbnetworks/{name}/override-hot-swap`, { name: 'walk-program' }, { body: REASON });
  await story.send(`PUT ${S}/controlmodules/{cm}/parameters`, { cm: 'walk' }, { body: { ...REASON, values: { gain: 3 } } });
  await story.test.until('the simulated module is served', `${AT}/iomodules/walk`, (module) => module.state === 'Connected');
  await story.send(`POST ${S}/iomodules/{name}/write`, { name: 'walk' }, { body: { channel: 'a', value: 1 } });
  await story.send(`POST ${S}/iomodules/{name}/release`, { name: 'walk' }, { body: {} });
  await story.send(`POST ${S}/iomodules/{name}/discover`, { name: 'walk' });
  await story.send(`POST ${S}/iomodules/{name}/ioprobe/restart`, { name: 'walk' }, { body: REASON });
  await story.send('POST /api/v1/system/services/{component}/restart', { component: 'io' }, { body: { ...REASON, acknowledgeFailSafe: true } });
  await story.send('POST /api/v1/system/services/{component}/run', { component: 'backup' }, { body: REASON });
  const content = readFileSync('tests/fixtures/mtp/PiMAd-core.0-0-1.aml').toString('base64');
  await story.send('POST /api/v1/import/mtp', {}, { body: { site: SITE, name: 'walk-mtp', fileName: 'PiMAd-core.0-0-1.aml', content, dryRun: false } });
  await story.send(`PUT ${S}/secrets/{name}`, { name: 'walk' }, { body: { username: 'walk', password: 'walked' } });
  await story.send(`DELETE ${S}/secrets/{name}`, { name: 'walk' });
  await story.send(`PUT ${S}/secrets/{name}`, { name: 'kept' }, { body: { username: 'walk', password: 'walked' } });
  await story.send(`POST ${S}/trendsets`, {}, { body: { name: 'kept', title: 'Kept', tags: [{ unit: 'rx101', address: 'tic101.pv' }] } });
  for (const { path, name = 'walk' } of [...FAMILIES].reverse()) await story.send(`DELETE ${path}/{name}`, { name });
  await story.send(`POST ${S}/simulationpresets/seed`, {}, { body: {} });
  const manifest = { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Area', metadata: { name: 'applied', namespace: `site-${SITE}` }, spec: { description: 'applied' } };
  await story.send('POST /api/v1/apply', {}, { body: manifest });
  const { body: snapshots } = await story.test.admin.get('/api/v1/snapshots');
  await story.send('POST /api/v1/snapshots/{name}/return', { name: snapshots.at(-1).name });
}

/** Asked for by one, decided by another. */
async function changes(story: Story): Promise<void> {
  const engineer = await story.test.as('engineer');
  const request = (name: string) => ({
    name,
    target: { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Area', name: 'applied' },
    ...REASON,
    manifest: { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Area', metadata: { name: 'applied', namespace: `site-${SITE}` }, spec: { description: name } },
  });
  const ONE = '/api/v1/changerequests/{namespace}/{name}';
  for (const action of ['approve', 'reject', 'withdraw'] as const) {
    const name = `walk-${action}`;
    await story.send(`POST ${S}/changerequests`, {}, { body: request(name) }, engineer);
    await story.send(`POST ${ONE}/${action}`, { namespace: `site-${SITE}`, name }, { body: REASON });
  }
}

async function recipes(story: Story): Promise<void> {
  const name = 'walk';
  await story.send(`POST ${MASTER}`, {}, { body: { name, spec: { productID: 'W' } } });
  await story.send(`PUT ${MASTER}/{name}`, { name }, { body: { spec: { description: 'walked' } } });
  await story.send(`POST ${MASTER}/{name}/formulas`, { name }, { body: { name: 'half' } });
  await story.send(`PUT ${MASTER}/{name}/formulas/{formulaName}`, { name, formulaName: 'half' }, { body: { description: 'half of it' } });
  await story.send(`DELETE ${MASTER}/{name}/formulas/{formulaName}`, { name, formulaName: 'half' });
  await story.send(`POST ${MASTER}/{name}/revisions/{revision}/revert`, { name, revision: '1' }, { body: REASON });
  for (const step of ['approve', 'release', 'activate', 'withdraw']) await story.send(`POST ${MASTER}/{name}/${step}`, { name }, { body: REASON });
  const next = await story.send(`POST ${MASTER}/{name}/new-version`, { name }, { body: { bump: 'minor' } });
  await story.send(`POST ${MASTER}/{name}/reject`, { name: next.body.name }, { body: REASON });
  await story.send(`DELETE ${MASTER}/{name}`, { name: next.body.name });
  await confirmTemplate(story, 'resin-a');
}

/** A template of an effective recipe is edited, and the edit is confirmed. */
async function confirmTemplate(story: Story, recipe: string): Promise<void> {
  const { test } = story;
  const { released } = (await test.admin.get(`${AT}/recipes/master/${recipe}/revisions/1`)).body;
  const { name, spec } = released.find(({ kind }: { kind: string }) => kind === 'PhaseTemplate');
  await test.admin.put(`${AT}/phasetemplates/${name}`, { ...spec, description: 'walked' });
  const [{ present }] = (await test.admin.get(`${AT}/recipes/master/${recipe}`)).body.templateChanges;
  await story.send(`POST ${MASTER}/{name}/confirm-templates`, { name: recipe }, { body: { ...REASON, confirm: [present] } });
}

async function plantFloor(story: Story): Promise<void> {
  await story.send(`POST ${S}/mode`, {}, { body: { kind: 'ControlModule', name: 'xv101', mode: 'Manual' } });
  await story.send(`POST ${S}/controlmodules/{cm}/tags/{tag}`, { cm: 'xv101', tag: 'reset' }, { body: { value: true } });
  await story.send(`POST ${S}/units/{unit}/tags/{address...}`, { unit: 'rx101', address: 'xv101.reset' }, { body: { value: false } });
  await story.send(`POST ${S}/units/{name}/runtime/write`, { name: 'rx101' }, { body: { writes: [{ address: 'xv101.reset', value: false }] } });
  await story.send(`POST ${S}/mode`, {}, { body: { kind: 'ControlModule', name: 'xv101', mode: 'Automatic' } });
  await story.send(`POST ${S}/controlmodules/{cm}/override-hot-swap`, { cm: 'xv101' }, { body: REASON });
  await story.send(`POST ${S}/controlmodules/{cm}/reset-fault`, { cm: 'xv101' }, { body: REASON });
  await story.send(`POST ${S}/controlmodules/{cm}/interlock/bypass`, { cm: 'xv101' }, { body: { ...REASON, duration: '1m' } });
  await story.send(`DELETE ${S}/controlmodules/{cm}/interlock/bypass`, { cm: 'xv101' });
  for (const action of ['start', 'stop']) await story.send(`POST ${S}/units/{name}/runtime/recording`, { name: 'rx101' }, { body: { action } });
  await story.send(`POST ${S}/units/{name}/runtime/restart`, { name: 'mx101' }, { body: REASON });
  await story.test.until('the runtime is back', `${AT}/units/mx101`, (unit) => unit.runtimeReady);
}

/** One ad-hoc run of each kind, to its end; Reset gives the unit back. */
async function adhoc(story: Story): Promise<void> {
  const { test } = story;
  for (const [what, unit, body] of [
    ['phase', 'mx101', { phaseTemplateRef: 'mix', parameterValues: [{ name: 'duration', value: '1' }] }],
    ['operation', 'rx101', { operationTemplateRef: 'drain-reactor' }],
    ['unitprocedure', 'rx101', { unitProcedureTemplateRef: 'clean-reactor-up', ...REASON }],
  ] as const) {
    const { kind, name } = (await story.send(`POST ${S}/units/{unit}/execute-${what}`, { unit }, { body })).body;
    await test.until(`the ad-hoc ${what} is over`, `${AT}/units/${unit}`, ({ state, allocatedTo }) => state === 'Complete' && allocatedTo === '');
    await story.send(`POST ${S}/command`, {}, { body: { kind, name, command: 'Reset', ...REASON } });
    await test.until(`${unit} is Idle`, `${AT}/units/${unit}`, ({ state }) => state === 'Idle');
  }
}

/** Active steps of every level, changed by hand. */
async function steering(story: Story, batch: string): Promise<void> {
  const { test } = story;
  const at = (path: string) => (item: Answer['body']) => item.batch === batch && item.stepPath === path;
  const running = await test.until('the premix is charged', `${AT}/phases`, (list) =>
    list.some((item: Answer['body']) => at('prepare/premix/charge')(item) && item.state === 'Running'),
  );
  const phase = running.find(at('prepare/premix/charge')).name;
  // a step that lasts: the chart must not go on by itself while it is put into Manual
  await test.until('it fills', `${AT}/phases/${phase}`, ({ sfcStatus }) => sfcStatus?.activeSteps.includes('fill'));
  const nameOf = async (family: string, path: string): Promise<string> => (await test.admin.get(`${AT}/${family}`)).body.find(at(path)).name;
  const unitProcedure = await nameOf('unitprocedures', 'makeResin');
  for (const [kind, name] of [
    ['Phase', phase],
    ['UnitProcedure', unitProcedure],
  ])
    await story.send(`POST ${S}/mode`, {}, { body: { kind, name, mode: 'Manual' } });
  const { activeSteps } = (await test.admin.get(`${AT}/phases/${phase}`)).body.sfcStatus;
  for (const [family, name, change] of [
    ['phases', phase, { change: 'activate', step: activeSteps[0] === 'close' ? 'fill' : 'close', leave: activeSteps }],
    ['operations', await nameOf('operations', 'prepare/premix'), { change: 'activate', step: 'mix', leave: ['charge'] }],
    ['unitprocedures', unitProcedure, { change: 'activate', step: 'discharge', leave: ['charge'] }],
    ['procedures', await nameOf('procedures', ''), { change: 'deactivate', step: 'store' }],
  ] as const)
    await story.send(`POST ${S}/${family}/{name}/active-step`, { name }, { body: { ...change, ...REASON } });
}

/** A batch from Start to its sealed record, with the operator's and the laboratory's answers. */
async function production(story: Story): Promise<Omit<Left, 'snapshot' | 'correlationID' | 'auditName'>> {
  const { test } = story;
  const key = (await story.send('POST /api/v1/mes/apikeys', {}, { body: { name: 'walk-mes', site: SITE } })).body.key as string;
  const order = (id: string) => ({ key, query: 'dispatch=immediate', body: { workOrderID: id, productDefinition: 'resin-a' } });
  const work = await story.send('POST /api/v1/mes/sites/{site}/work-orders', {}, order('walk-1'));
  await story.send('POST /api/v1/mes/sites/{site}/work-orders', {}, order('walk-2'));
  await story.send('DELETE /api/v1/mes/sites/{site}/work-orders/{id}', { id: 'walk-2' }, { key });

  const create = async (batchID: string): Promise<string> => (await story.send(`POST ${S}/batches`, {}, { body: { batchID, masterRecipeRef: 'resin-a' } })).body.name;
  const command = (name: string, word: string) => story.send(`POST ${S}/command`, {}, { body: { kind: 'Batch', name, command: word, ...REASON } });
  const reached = (name: string, state: string) => test.until(`batch ${name} is ${state}`, `${AT}/batches/${name}`, ({ phase }) => phase === state);
  const pending = await create('WALK-A');
  await story.send(`PUT ${S}/batches/{name}`, { name: pending }, { body: { description: 'walked' } });
  await story.send(`DELETE ${S}/batches/{name}`, { name: pending });

  const batch = await create('WALK-C');
  await command(batch, 'Start');
  await reached(batch, 'Running');
  for (const [word, state] of [
    ['Hold', 'Held'],
    ['Restart', 'Running'],
  ] as const) {
    await command(batch, word);
    await reached(batch, state);
  }
  const ask = async (what: string, wanted: (prompt: Answer['body']) => boolean): Promise<Answer['body']> => {
    const asked = await test
      .until(what, `${AT}/prompts`, (list) => list.some(wanted))
      .catch(async (fault: Error) => {
        throw new Error(`${fault.message}; the batch is ${(await test.admin.get(`${AT}/batches/${batch}`)).text}`);
      });
    return asked.find(wanted);
  };
  const ph = await ask('the pH is asked for', (prompt) => !prompt.resultKey);
  await story.send(`POST ${S}/phases/{name}/prompt-response`, { name: ph.phase }, { body: { promptID: ph.id, response: '7.2', ...REASON } });
  const lab = await ask('the laboratory is asked', (prompt) => prompt.resultKey === 'viscosity');
  await story.send(
    'POST /api/v1/mes/sites/{site}/phases/{name}/external-result',
    { name: lab.phase },
    { key, body: { resultID: lab.id, resultKey: lab.resultKey, value: '420', externalSystem: 'LIMS' } },
  );
  await test.until('the batch is complete', `${AT}/batches/${batch}`, ({ phase }) => phase === 'Complete');
  const { recordRef: record } = await test.until('the record is made', `${AT}/batches/${batch}`, ({ recordRef }) => Boolean(recordRef));
  await test.until('the record is ready', `${AT}/batchrecords/${record}`, ({ phase }) => phase !== undefined && phase !== 'Pending');
  await story.send(`POST ${S}/batchrecords/{name}/comments`, { name: record }, { body: { text: 'walked' } });
  await story.send(`POST ${S}/batchrecords/{name}/review`, { name: record }, { body: { outcome: 'Accepted', comment: 'walked' } });
  await story.send(`POST ${S}/batchrecords/{name}/finalize`, { name: record }, { body: REASON });

  // last: its premix is charged as long as it takes to change its steps by hand, and stays in the mixer
  const aborted = await create('WALK-B');
  // a charge lasts a second at the pace of the walk, and a busy machine that long from one request to the next
  await test.admin.post('/api/v1/demo/timescale', { timeScale: 1 });
  await command(aborted, 'Start');
  await reached(aborted, 'Running');
  await steering(story, aborted);
  await test.admin.post('/api/v1/demo/timescale', { timeScale: 10 });
  await command(aborted, 'Abort');
  await reached(aborted, 'Aborted');
  await story.send(`DELETE ${S}/recipes/control/{name}`, { name: aborted });

  const first = async (family: string): Promise<string> => (await test.admin.get(`${AT}/${family}`)).body[0].name;
  const { body: signed } = await story.send(
    'POST /api/v1/signatures',
    {},
    { body: { target: { kind: 'BatchRecord', name: record, site: SITE }, meaning: 'Witnessed', ...REASON } },
  );
  const second = await test.admin.post('/api/v1/signatures', { target: { kind: 'BatchRecord', name: record, site: SITE }, meaning: 'Verified', ...REASON });
  await story.send('POST /api/v1/signatures/{id}/withdraw', { id: second.body.id }, { body: REASON });
  await story.send('POST /api/v1/sites/{site}/shift-notes', {}, { body: { text: 'Sight glass of TK201 dirty', unit: 'tk201', handOverTo: 'Otto Ops' } });
  await story.send('POST /api/v1/legal-holds', {}, { body: { name: 'walk-hold', ...REASON, scope: { site: SITE, batchRecords: [record] } } });
  await story.send('POST /api/v1/legal-holds/{name}/lift', { name: 'walk-hold' }, { body: REASON });
  const found = { outcome: 'Accepted', remarks: REASON.reason };
  await story.send('POST /api/v1/reviews/audit-trail', {}, { body: { from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z', ...found } });
  const { digest } = (await test.admin.get('/api/v1/reviews/user-access/list')).body;
  const { body: review } = await story.send('POST /api/v1/reviews/user-access', {}, { body: { digest, ...found } });
  return {
    batch,
    record,
    signature: signed.id,
    review: review.id,
    workOrder: work.body.workOrderID,
    phase: lab.phase,
    operation: await first('operations'),
    unitProcedure: await first('unitprocedures'),
    procedure: await first('procedures'),
    session: test.admin.sessionId,
  };
}

/** The wall clock of the appliance is that of the machine; a recovery code is good at any time. */
async function secondFactor(story: Story): Promise<void> {
  const { test } = story;
  const username = 'walk-two';
  const FACTOR = '/api/v1/auth/second-factor';
  await test.admin.post('/api/v1/auth/users', { username, password: PASSWORD, displayName: 'Two', groups: ['lineside-viewer'], mustChangePassword: false });
  const { accessToken: token } = (await test.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD } })).body;
  const enrol = async (): Promise<string[]> => {
    const begun = await story.send(`POST ${FACTOR}`, {}, { token, body: { password: PASSWORD } });
    const confirmed = await story.send(`POST ${FACTOR}/confirm`, {}, { token, body: { code: codeOf(begun.body.secret, stepOf(Date.now())) } });
    return confirmed.body.recoveryCodes as string[];
  };
  const renewed = await story.send(`POST ${FACTOR}/recovery-codes`, {}, { token, body: { password: PASSWORD, code: at(await enrol(), 0) } });
  await story.send(`POST ${FACTOR}/remove`, {}, { token, body: { password: PASSWORD, code: renewed.body.recoveryCodes[0] } });
  const key = softPasskey('localhost', `http://localhost:${test.port}`);
  const options = (await story.send(`POST ${FACTOR}/passkeys/begin`, {}, { token, body: { password: PASSWORD } })).body;
  const made = (await story.send(`POST ${FACTOR}/passkeys`, {}, { token, body: { name: 'walk', credential: key.make(options) } })).body;
  await story.send(`POST ${FACTOR}/passkeys/{id}/remove`, { id: made.passkey.id }, { token, body: { password: PASSWORD, code: made.recoveryCodes[0] } });
  await enrol();
  await story.send('DELETE /api/v1/auth/users/{username}/second-factor', { username });
  const again = (await test.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD } })).body;
  await story.send('DELETE /api/v1/auth/me/sessions/{id}', { id: again.sessionId }, { token: again.accessToken });
}

async function access(story: Story): Promise<void> {
  const { test } = story;
  const username = 'walk';
  const login = (password: string) => test.request('POST', '/api/v1/auth/login', { body: { username, password } });
  const token = (answer: Answer) => ({ token: answer.body.accessToken as string });
  await story.send('POST /api/v1/auth/users', {}, { body: { username, password: PASSWORD, displayName: 'Walk', groups: ['lineside-viewer'], mustChangePassword: false } });
  await story.send('PUT /api/v1/auth/users/{username}', { username }, { body: { displayName: 'Walker' } });
  const cookie = await test.request('POST', '/api/v1/auth/login', { body: { username, password: PASSWORD, useCookie: true } });
  story.record('POST /api/v1/auth/login', cookie);
  const refreshed = await test.request('POST', '/api/v1/auth/refresh', { headers: { Cookie: at(String(cookie.headers['set-cookie']).split(';'), 0) } });
  story.record('POST /api/v1/auth/refresh', refreshed);
  await story.send('POST /api/v1/auth/reauthenticate', {}, { ...token(refreshed), body: { password: PASSWORD } });
  await story.send('POST /api/v1/auth/password', {}, { ...token(refreshed), body: { currentPassword: PASSWORD, newPassword: `${PASSWORD} again` } });
  await story.send('POST /api/v1/auth/logout', {}, token(refreshed));
  await story.send('POST /api/v1/auth/users/{username}/password', { username }, { body: { newPassword: PASSWORD, mustChangePassword: false } });
  const session = await login(PASSWORD);
  await story.send('DELETE /api/v1/auth/sessions/{id}', { id: session.body.sessionId });
  const screen = panelKey();
  const shownCode = await test.request('POST', '/api/v1/auth/panel/code', { body: { publicKey: screen.publicKey } });
  await story.send('POST /api/v1/auth/panels', {}, { body: { code: shownCode.body.code, name: 'walk', site: SITE } });
  const { keyID } = screen;
  const { challenge } = (await test.request('POST', '/api/v1/auth/panel/challenge', { body: { keyID } })).body;
  const watching = await test.request('POST', '/api/v1/auth/panel/token', { body: { keyID, challenge, signature: screen.sign(challenge) } });
  story.record('POST /api/v1/auth/panel/token', watching);
  await story.send('DELETE /api/v1/auth/panels/{name}', { name: 'walk' });
  const another = panelKey();
  const anotherCode = await test.request('POST', '/api/v1/auth/panel/code', { body: { publicKey: another.publicKey } });
  await test.admin.post('/api/v1/auth/panels', { code: anotherCode.body.code, name: 'walk-panel', site: SITE });
  await secondFactor(story);
  for (const name of ['locked', 'locked-too']) {
    for (let i = 0; i < 5; i += 1) await test.request('POST', '/api/v1/auth/login', { body: { username: name, password: 'guessed wrong' } });
  }
  await story.send('DELETE /api/v1/auth/lockouts/{username}', { username: 'locked-too' });
  await story.send('DELETE /api/v1/auth/users/{username}', { username });
  await story.send('POST /api/v1/mes/apikeys', {}, { body: { name: 'walk-unused', site: SITE } });
  await story.send('PUT /api/v1/mes/apikeys/{name}', { name: 'walk-unused' }, { body: { expiresAt: null } });
  await story.send('POST /api/v1/mes/apikeys/{name}/rotate', { name: 'walk-unused' }, { body: { overlap: '1h' } });
  await story.send('DELETE /api/v1/mes/apikeys/{name}/previous', { name: 'walk-unused' });
  await story.send('DELETE /api/v1/mes/apikeys/{name}', { name: 'walk-unused' });
  await story.send('POST /api/v1/audit/archive-integrity/run', {}, { body: {} });
  await test.until('the verification of the start is over', '/api/v1/system/integrity', ({ running, last }) => !running && last !== null);
  await story.send('POST /api/v1/system/integrity', {}, { body: {} });
}
