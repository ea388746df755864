/**
 * A stranger's program: it knows the interface by openapi.json alone, and makes a plant from site to unit, a recipe, and a batch that it
 * starts, holds and aborts. `node story.js <base> <username>`, the password in LINESIDE_PASSWORD; exit code 0 when all of it went as told.
 *
 * It is compiled by scripts/client.mjs against the types that are made of the document, and only asks through the typed client.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { paths } from 'lineside-interface';
import createClient from 'openapi-fetch';

const site = 'strange';
const REASON = 'as the story wants it';
const WAIT_MS = 30_000;
const [baseUrl = '', username = ''] = process.argv.slice(2);
const api = createClient<paths, 'application/json'>({ baseUrl });
const header = () => ({ 'X-DCS-Nonce': randomUUID() });

interface Answered<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** What was answered; a refusal ends the story with its words. */
async function told<Data>(asked: Promise<Answered<Data>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await asked;
  assert.ok(data, `${response.status} ${new URL(response.url).pathname}: ${JSON.stringify(error)}`);
  return data;
}

async function until<Data>(what: string, ask: () => Promise<Answered<Data>>, holds: (data: NonNullable<Data>) => boolean): Promise<NonNullable<Data>> {
  const begun = performance.now();
  for (;;) {
    const data = await told(ask());
    if (holds(data)) return data;
    assert.ok(performance.now() - begun < WAIT_MS, `${what}: not within ${WAIT_MS} ms; it is ${JSON.stringify(data).slice(0, 2000)}`);
    await pause(50);
  }
}

async function signIn(): Promise<void> {
  const { accessToken } = await told(api.POST('/api/v1/auth/login', { params: { header: header() }, body: { username, password: process.env.LINESIDE_PASSWORD ?? '' } }));
  api.use({
    onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${accessToken}`);
      return request;
    },
  });
  const { product } = await told(api.GET('/api/v1/version'));
  assert.equal(product, 'Lineside');
}

async function plant(): Promise<void> {
  await told(api.POST('/api/v1/sites', { params: { header: header() }, body: { name: site } }));
  const params = () => ({ path: { site }, header: header() });
  await told(api.POST('/api/v1/sites/{site}/areas', { params: params(), body: { name: 'hall' } }));
  await told(api.POST('/api/v1/sites/{site}/processcells', { params: params(), body: { name: 'cell', areaName: 'hall' } }));
  const unit = await told(api.POST('/api/v1/sites/{site}/units', { params: params(), body: { name: 'mixer', processCellName: 'cell', capabilities: ['mix'] } }));
  assert.equal(unit.scanInterval, '100ms', 'what was left out has its default');
  await until(
    'the unit runtime is ready',
    () => api.GET('/api/v1/sites/{site}/units/{name}', { params: { path: { site, name: 'mixer' } } }),
    ({ runtimeReady }) => runtimeReady,
  );
}

async function recipe(): Promise<void> {
  const params = () => ({ path: { site }, header: header() });
  const spec = {
    steps: [{ name: 'stir', initial: true, actionST: 'stirred := TRUE;' }, { name: 'over' }],
    transitions: [{ from: 'stir', to: 'over', conditionST: 'FALSE' }],
    variables: [{ name: 'stirred', type: 'BOOL' as const }],
  };
  await told(api.POST('/api/v1/sites/{site}/phasetemplates', { params: params(), body: { name: 'stir', spec } }));
  const phase = { name: 'stir', stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'stir' } as const;
  const operation = { name: 'work', stepLevel: 'Operation', subChart: { steps: [phase] } } as const;
  const chart = { steps: [{ name: 'mix', stepLevel: 'UnitProcedure' as const, targetCapability: 'mix', subChart: { steps: [operation] } }] };
  const made = await told(
    api.POST('/api/v1/sites/{site}/recipes/master', {
      params: params(),
      body: { name: 'paste', spec: { productID: 'PASTE', equipmentRequirements: [{ capability: 'mix', defaultUnit: 'mixer' }], procedure: { chart } } },
    }),
  );
  assert.equal(made.phase, 'Draft');
  const signed = () => ({ params: { path: { site, name: 'paste' }, header: header() }, body: { reason: REASON } });
  await told(api.POST('/api/v1/sites/{site}/recipes/master/{name}/approve', signed()));
  await told(api.POST('/api/v1/sites/{site}/recipes/master/{name}/release', signed()));
  const { phase: effective } = await told(api.POST('/api/v1/sites/{site}/recipes/master/{name}/activate', signed()));
  assert.equal(effective, 'Effective');
}

async function batch(): Promise<void> {
  const { name } = await told(api.POST('/api/v1/sites/{site}/batches', { params: { path: { site }, header: header() }, body: { batchID: 'S-1', masterRecipeRef: 'paste' } }));
  const command = (word: 'Start' | 'Hold' | 'Abort') =>
    told(api.POST('/api/v1/sites/{site}/command', { params: { path: { site }, header: header() }, body: { kind: 'Batch', name, command: word, reason: REASON } }));
  const inState = (phase: 'Running' | 'Held' | 'Aborted') =>
    until(
      `the batch is ${phase}`,
      () => api.GET('/api/v1/sites/{site}/batches/{name}', { params: { path: { site, name } } }),
      (seen) => seen.phase === phase,
    );
  await command('Start');
  await inState('Running');
  await until(
    'the phase stirs',
    () => api.GET('/api/v1/sites/{site}/phases', { params: { path: { site }, query: { batch: name } } }),
    ([phase]) => phase?.state === 'Running' && (phase.activeSteps ?? []).includes('stir'),
  );
  await command('Hold');
  const held = await inState('Held');
  assert.notEqual(held.blockedBecause, '', 'a held batch says why');
  await command('Abort');
  await inState('Aborted');
  const record = await told(api.GET('/api/v1/sites/{site}/batches/{name}/record', { params: { path: { site, name } } }));
  assert.ok(record.executionEvents.some(({ value }) => value === 'Aborted'));
  assert.deepEqual(
    record.equipment.map(({ unit }) => unit),
    ['mixer'],
  );
  const refused = await api.GET('/api/v1/sites/{site}/batches/{name}', { params: { path: { site, name: 'nobody' } } });
  assert.equal(refused.error?.code, 'not_found', 'a refusal is typed as well');
}

await signIn();
await plant();
await recipe();
await batch();
