/** Lists of procedural elements and prompts as a panel asks for them: those at work, of one unit, of one batch, in pages. */
import t from 'tap';
import { commandRoutes } from '../../../src/domains/commands/routes.js';
import { Operation, Phase } from '../../../src/domains/procedures/kind.js';
import type { Kind } from '../../../src/platform/store/kind.js';
import type { Put } from '../../../src/platform/store/store.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { routeSet } from '../../../src/platform/http/route.js';
import type { SigningKeys } from '../../../src/domains/signatures/signature.js';
import { absent, NO_RUNTIMES } from '../../support/absent.js';

const AT = '/api/v1/sites/demo';
/** For lists: nothing is commanded here. */
const COMMANDS = {
  keys: absent<SigningKeys>('keys'),
  runtimes: NO_RUNTIMES,
  reasonLengthMin: 10,
  wake: () => undefined,
  production: true,
  storageLow: () => false,
  holdPropagation: 'batch',
  resumeCancelsPause: false,
  settleDeadlineMs: 0,
  beside: () => Promise.reject(new Error('nobody stands beside')),
} as const;
const plant = await startPlantGateway({ more: ({ store, clock }) => [routeSet(commandRoutes, { store, clock, ...COMMANDS })] });
t.teardown(() => plant.stop());
const viewer = await plant.as('viewer');
await (await plant.as('engineer')).post('/api/v1/sites', { name: 'demo' });

interface Made {
  readonly unit?: string;
  readonly batch?: string;
  readonly status?: object;
}

function element(kind: unknown, name: string, state: string, { unit = 'rx101', batch = 'b-1', status = {} }: Made = {}): Put {
  const spec = { batchRef: batch, unitRef: unit, templateRef: 'charge', stepPath: name, stepName: name, parentRef: { kind: 'Operation', name: 'op' }, mode: 'Automatic' };
  return { kind, site: 'demo', name, spec, status: { ...(kind as Kind<object, object>).initialStatus({ mode: '' }), state, ...status } } as unknown as Put;
}

const prompt = (at: number) => ({ pendingPrompt: { id: `p-${at}`, text: 'Go on?', type: 'acknowledge', stepName: 'ask', timestamp: `2026-01-01T08:00:0${at}.000Z` } });
await plant.store.write({
  puts: [
    element(Phase, 'a-runs', 'Running', { status: { sfcStatus: { activeSteps: ['fill', 'stir'] } } }),
    element(Phase, 'b-held', 'Held', { unit: 'mx101', status: prompt(2) }),
    element(Phase, 'c-over', 'Complete'),
    element(Phase, 'd-past', 'Complete', { batch: 'b-0' }),
    element(Phase, 'e-idle', 'Idle'),
    element(Phase, 'f-asks', 'Running', { batch: 'b-2', status: prompt(1) }),
    element(Operation, 'op', 'Running'),
    element(Operation, 'op-past', 'Complete', { batch: 'b-0' }),
  ],
});

const namesOf = async (path: string): Promise<string[]> =>
  ((await viewer.get(`${AT}/${path}`)).body as { name?: string; phase?: string }[]).map(({ name, phase }) => name ?? phase ?? '');

t.test('elements at work, of a unit, of a batch, and all of it together', async (t) => {
  t.same(await namesOf('phases'), ['a-runs', 'b-held', 'c-over', 'd-past', 'e-idle', 'f-asks']);
  t.same(await namesOf('phases?atWork=true'), ['a-runs', 'b-held', 'f-asks']);
  t.same(await namesOf('phases?atWork=false'), ['c-over', 'd-past', 'e-idle']);
  t.same(await namesOf('phases?atWork=true&unit=rx101'), ['a-runs', 'f-asks']);
  t.same(await namesOf('phases?batch=b-1'), ['a-runs', 'b-held', 'c-over', 'e-idle']);
  t.same(await namesOf('phases?batch=b-1&atWork=true&unit=mx101'), ['b-held']);
  t.same(await namesOf('phases?batch=none'), []);
  t.same(await namesOf('operations?atWork=true'), ['op']);
  t.same(await namesOf('operations?batch=b-0'), ['op-past']);
  t.match(await viewer.get(`${AT}/phases?atWork=yes`), { status: 400, body: { code: 'invalid_query', field: 'atWork' } });
});

t.test('an item of a phase says at which steps it stands', async (t) => {
  t.match((await viewer.get(`${AT}/phases?atWork=true&limit=1`)).body, [{ name: 'a-runs', activeSteps: ['fill', 'stir'] }]);
  t.match((await viewer.get(`${AT}/phases?batch=b-0`)).body, [{ activeSteps: [] }]);
  t.notOk('activeSteps' in (await viewer.get(`${AT}/operations?atWork=true`)).body[0]);
});

t.test('the way on to the next page keeps the question', async (t) => {
  const first = await viewer.get(`${AT}/phases?atWork=true&unit=rx101&limit=1`);
  t.equal(first.headers['x-total-count'], '2');
  const next = /<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? '';
  t.match((await viewer.get(next)).body, [{ name: 'f-asks' }]);
});

t.test('runs by hand come newest first, page by page, whatever they are called', async (t) => {
  for (const [at, name] of ['run-c', 'run-a', 'run-b'].entries()) {
    plant.clock.advance(1000);
    await plant.store.write({ puts: [element(Phase, name, at === 2 ? 'Running' : 'Complete', { unit: 'tk201', batch: '', status: { adhoc: true } })] });
  }
  t.same(await namesOf('phases?adhoc=true&unit=tk201'), ['run-a', 'run-b', 'run-c']);
  t.same(await namesOf('phases?adhoc=true&unit=tk201&order=recent'), ['run-b', 'run-a', 'run-c']);
  const first = await viewer.get(`${AT}/phases?adhoc=true&unit=tk201&order=recent&limit=2`);
  t.equal(first.headers['x-total-count'], '3');
  t.match((await viewer.get(/<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? '')).body, [{ name: 'run-c' }]);
  t.match(await viewer.get(`${AT}/phases?order=recent`), { status: 400, body: { code: 'invalid_query', field: 'order' } });
  t.match(await viewer.get(`${AT}/phases?adhoc=true&order=newest`), { status: 400, body: { code: 'invalid_query', field: 'order' } });
});

t.test('prompts of a unit or a batch', async (t) => {
  t.same(await namesOf('prompts'), ['f-asks', 'b-held'], 'the oldest first');
  t.same(await namesOf('prompts?unit=mx101'), ['b-held']);
  t.same(await namesOf('prompts?batch=b-2'), ['f-asks']);
});

t.test('what a panel asks for every second walks no list of all phases', async (t) => {
  await viewer.get(`${AT}/phases?atWork=true`); // the first question makes the index
  const walked: string[] = [];
  const list = plant.store.list.bind(plant.store);
  plant.store.list = ((kind: Kind, site?: string) => {
    walked.push(kind.kind);
    return list(kind, site);
  }) as typeof plant.store.list;
  for (const path of ['phases?atWork=true', 'phases?batch=b-1', 'prompts']) await viewer.get(`${AT}/${path}`);
  t.notOk(walked.includes(Phase.kind));
});
