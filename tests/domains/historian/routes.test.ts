/** The historian routes behind the real gateway and over a real historian. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import type { AlarmEvent } from '../../../src/domains/alarms/alarm-event.js';
import { Batch } from '../../../src/domains/batches/kind.js';
import { openHistorian, sampleTags, type SampledUnit, stateRecorder } from '../../../src/domains/historian/sampling.js';
import { HISTORIAN_ROUTES } from '../../../src/domains/historian/routes.js';
import { BatchRecord } from '../../../src/domains/records/kind.js';
import type { Clock } from '../../../src/platform/base/clock.js';
import { startGatewayTest } from '../../support/gateway.js';
import { at } from '../../support/at.js';
import { routeSet } from '../../../src/platform/http/route.js';
import { pastRows } from '../../../src/platform/store/past-rows.js';

const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);
const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-historian-routes-'));
const history = await openHistorian(dataDir, { historianIntervalMinMs: 1000, historianFlushIntervalMs: 2000, historianRetentionMs: 400 * 86_400_000, historianBytesMax: 2 ** 34 });
const gateway = await startGatewayTest({ dataDir, routes: ({ store }) => [routeSet(HISTORIAN_ROUTES, { history, store })] });
t.teardown(async () => {
  await history.close();
  await gateway.stop();
});
const reader = await gateway.as('viewer');

for (const [site, unit] of [
  ['north', 'rx101'],
  ['north', 'mx101'],
  ['south', 'rx201'],
] as const) {
  const id = history.tag({ site, unit, address: `tic-${unit}.PV`, tag: 'PV', dataType: 'Float' });
  for (let index = 0; index < 120; index += 1) history.push(id, 0, T0 + index * 1000, index);
}
// the present state of something older than this start is no change
stateRecorder(
  history,
  gateway.store,
  T0,
)({ site: 'north', kind: 'Unit', name: 'mx101', unit: 'mx101', state: 'Idle', previousState: '', ts: new Date(T0 - 1).toISOString(), found: true }, Promise.resolve());
const activated: AlarmEvent = {
  sequence: 1,
  timestamp: new Date(T0 + 40_000).toISOString(),
  site: 'north',
  alarm: 'a1',
  definitionRef: 'a1',
  source: 'Unit/rx101',
  unit: 'rx101',
  type: 'Process',
  severity: 'High',
  event: 'Activated',
  state: 'ActiveUnacknowledged',
  message: '',
  value: '',
};
history.recordAlarm({ atMs: T0 + 40_000, site: 'north', unit: 'rx101', body: activated });
const batch = (site: string, batchID: string, started: boolean) =>
  gateway.store.write({
    puts: [
      {
        kind: Batch,
        site,
        name: batchID.toLowerCase(),
        spec: { batchID } as never,
        status: {
          ...Batch.initialStatus({} as never),
          allocations: [{ capability: 'react', unit: site === 'north' ? 'rx101' : 'rx201', state: 'Released', since: '' }],
          startedAt: started ? new Date(T0 + 20_000).toISOString() : '',
          endedAt: started ? new Date(T0 + 50_000).toISOString() : '',
        },
      },
    ],
  });
await batch('north', 'B1', true);
await batch('north', 'B2', true);
await batch('south', 'B2', true);
await batch('north', 'B3', false);
const record = stateRecorder(history, gateway.store);
for (const second of [10, 30, 90]) {
  record(
    { site: 'north', kind: 'Unit', name: 'rx101', unit: 'rx101', batchRef: 'b1', state: 'Running', previousState: 'Idle', ts: new Date(T0 + second * 1000).toISOString() },
    Promise.resolve(),
  );
}

t.test('ROUTE-02, 8.9 tags: values by site, unit, address and time, and aggregates of an interval', async (t) => {
  const page = await reader.get('/api/v1/historian/tags?limit=10000');
  t.equal(page.status, 200);
  t.match(page.body, { configured: true, nextCursor: null });
  t.equal(page.body.items.length, 360);
  t.same(page.body.items[0], { site: 'north', unit: 'rx101', address: 'tic-rx101.PV', tag: 'PV', ts: '2026-01-31T09:01:59.000Z', value: 119, quality: 'Good' });
  const two = await reader.get('/api/v1/historian/tags?address=tic-rx101.PV&tag=tic-mx101.PV&from=2026-01-31T09:00:10Z&to=2026-01-31T09:00:12Z&order=asc');
  t.same(
    two.body.items.map((item: { address: string; value: number }) => `${item.address}=${item.value}`),
    ['tic-rx101.PV=10', 'tic-mx101.PV=10', 'tic-rx101.PV=11', 'tic-mx101.PV=11'],
  );
  const average = await reader.get('/api/v1/historian/tags?unit=rx201&aggregate=avg&interval=1m');
  t.same(
    average.body.items.map((item: { value: number }) => item.value),
    [89.5, 29.5],
  );
  for (const [query, field] of [
    ['from=2026-01-31T10:00:00Z&to=2026-01-31T09:00:00Z', 'from'],
    ['limit=10001', 'limit'],
    ['aggregate=median', 'aggregate'],
    ['interval=soon', 'interval'],
    ['cursor=xx', 'cursor'],
  ] as const) {
    t.match((await reader.get(`/api/v1/historian/tags?${query}`)).body, { status: 400, code: 'invalid_query', field }, query);
  }
});

t.test('ROUTE-02, 8.9: distinct, states, alarms, gaps, status, ingest', async (t) => {
  const distinct = await reader.get('/api/v1/historian/tags/distinct?site=south');
  t.same(distinct.body.items, [
    { site: 'south', unit: 'rx201', address: 'tic-rx201.PV', tag: 'PV', dataType: 'Float', firstTs: '2026-01-31T09:00:00.000Z', lastTs: '2026-01-31T09:01:59.000Z', samples: 120 },
  ]);
  const states = await reader.get('/api/v1/historian/states?unit=rx101&limit=1');
  t.same(states.body.items, [
    { site: 'north', ts: '2026-01-31T09:01:30.000Z', kind: 'Unit', name: 'rx101', unit: 'rx101', from: 'Idle', to: 'Running', cause: '', actor: '', batchID: 'B1' },
  ]);
  t.type(states.body.nextCursor, 'string');
  t.same((await reader.get('/api/v1/historian/states?unit=mx101')).body.items, []);
  t.match((await reader.get('/api/v1/historian/alarms')).body.items, [{ alarm: 'a1' }]);
  t.match((await reader.get('/api/v1/historian/gaps')).body, { configured: true, items: [], nextCursor: null });
  t.match((await reader.get('/api/v1/historian/status')).body, {
    configured: true,
    backend: 'sqlite',
    samples: 360,
    retention: '400d',
    oldest: '2026-01-31T09:00:00.000Z',
    error: '',
  });
  const ingest = await reader.get('/api/v1/historian/ingest?site=south');
  t.match(ingest.body, { configured: true, writtenTotal: 360, droppedTotal: 0, queues: [{ unit: 'rx201', depth: 0, dropped: 0, oldestTs: null }] });
});

t.test('ROUTE-02, 8.9: batch routes are restricted to the units and time of the batch', async (t) => {
  const tags = await reader.get('/api/v1/historian/batch/B1/tags?order=asc&limit=1000');
  t.same([tags.body.items.length, tags.body.items[0].value, tags.body.items.at(-1).value], [31, 20, 50]);
  t.ok(tags.body.items.every((item: { unit: string }) => item.unit === 'rx101'));
  t.equal((await reader.get('/api/v1/historian/batch/B1/states')).body.items.length, 1);
  t.equal((await reader.get('/api/v1/historian/batch/B1/alarms')).body.items.length, 1);
  t.same(
    (await reader.get('/api/v1/historian/batch/B1/tags?from=2026-01-31T09:00:49Z')).body.items.map((item: { value: number }) => item.value),
    [50, 49],
  );
  t.match((await reader.get('/api/v1/historian/batch/none/tags')).body, { status: 404, code: 'not_found' });
  t.match((await reader.get('/api/v1/historian/batch/B2/tags')).body, { status: 400, code: 'invalid_query', field: 'site', allowed: ['north', 'south'] });
  t.equal((await reader.get('/api/v1/historian/batch/B2/tags?site=south&limit=1000')).body.items.length, 31);
  t.same((await reader.get('/api/v1/historian/batch/B3/tags')).body.items, [], 'not started yet');
});

t.test('8.9: of a batch of sites that the caller may not visit nothing is read from the disk', async (t) => {
  const run = { kind: BatchRecord.kind, site: 'south', name: 'b4' };
  const spec = { batch: { batchID: 'B4', startedAt: '', endedAt: '' }, recipe: {}, equipment: [] };
  await gateway.store.write({ puts: [{ ...run, kind: BatchRecord, spec: spec as never }] });
  await gateway.store.write({ pasts: [{ run, members: [run], streams: [] }] });
  const asked: string[] = [];
  const pastRun = (name: string) => {
    asked.push(name);
    return Promise.resolve({ rows: ['BatchRecord', 'south', 'b4', '{'], streams: [] });
  };
  pastRows(gateway.store).connect({ pastRun, pastPage: () => Promise.resolve([]), pastTexts: () => Promise.resolve([]) });
  const elsewhere = await gateway.as('viewer', 'site-north');
  t.match(await elsewhere.get('/api/v1/historian/batch/B4/tags'), { status: 404, body: { code: 'not_found' } });
  t.match(await reader.get('/api/v1/historian/batch/B4/tags?site=north'), { status: 404, body: { code: 'not_found' } });
  t.same(asked, []);
  t.match(await reader.get('/api/v1/historian/batch/B4/tags'), { status: 404, body: { code: 'unreadable_row' } }, 'and it is told as what it is to whoever may');
  t.same(asked, ['BatchRecord/south/b4']);
});

t.test('Q-CHANGE-14: without a historian the routes answer 200 with configured false', async (t) => {
  const bare = await startGatewayTest({ routes: ({ store }) => [routeSet(HISTORIAN_ROUTES, { store })] });
  t.teardown(() => bare.stop());
  const viewer = await bare.as('viewer');
  for (const name of ['tags', 'tags/distinct', 'states', 'alarms', 'gaps', 'ingest', 'batch/B1/tags', 'batch/B1/alarms', 'batch/B1/states']) {
    const answer = await viewer.get(`/api/v1/historian/${name}`);
    t.equal(answer.status, 200, name);
    t.match(answer.body, { configured: false, items: [] }, name);
  }
  t.same((await viewer.get('/api/v1/historian/status')).body, { configured: false });
});

t.test('8.9: the tags of a running unit are sampled, a restart of its runtime is a gap', async (t) => {
  const timers: (() => void)[] = [];
  let nowMs = T0 + 3_600_000;
  let setByMs = 0;
  const clock: Clock = {
    wallMs: () => nowMs + setByMs,
    monoMs: () => nowMs,
    after(_delayMs, call) {
      timers.push(call);
      return () => timers.splice(0);
    },
  };
  let listener: (link: SampledUnit, what: 'ready' | 'down' | 'plan') => void = () => undefined;
  const link: SampledUnit = {
    site: 'north',
    unit: 'tk201',
    ready: true,
    tags: [
      { address: 'lic.PV', name: 'PV', type: 'REAL', engMin: 0, engMax: 100 },
      { address: 'lic.T', name: 'T', type: 'TIME' },
      { address: 'lic.MSG', name: 'MSG', type: 'STRING' },
      { address: 'lic.ON', name: 'ON', type: 'BOOL' },
    ],
    refresh: () => true,
    reading: (index) => ({ value: at([42.5, 'T#1m30s', 'full', true], index), quality: index === 3 ? 1 : 0, atMs: nowMs }),
  };
  const stop = sampleTags({ history, clock, intervalMinMs: 1000, runtimes: { links: () => [link], onChange: (call) => (listener = call) } });
  const pass = (): void => timers.splice(0).forEach((call) => call());
  pass();
  listener(link, 'down');
  nowMs += 5000;
  pass();
  listener(link, 'ready');
  nowMs += 1000;
  pass();
  for (const stepMs of [3_600_000, -7_200_000]) {
    listener(link, 'down');
    nowMs += 5000;
    setByMs += stepMs;
    listener(link, 'ready');
  }
  stop();
  t.equal(timers.length, 0);
  const gaps = (await reader.get('/api/v1/historian/gaps?unit=tk201&order=asc')).body.items.filter(({ cause }: { cause: string }) => cause === 'RuntimeRestart');
  t.match(
    gaps.map(({ from, to, bounds }: { from: string; to: string; bounds: string }) => [from.slice(11, 19), to.slice(11, 19), bounds]),
    [
      ['10:00:00', '10:00:05', 'Containing'],
      ['10:00:06', '10:00:11', 'Overlapping'],
      ['11:00:11', '11:00:16', 'Overlapping'],
    ],
    'D-C-07: as long as it took, also where the clock was set forth or back meanwhile',
  );
  const items = (await reader.get('/api/v1/historian/tags?unit=tk201&order=asc')).body.items;
  t.same(
    items.slice(0, 4).map((item: { address: string; value: unknown; quality: string }) => [item.address, item.value, item.quality]),
    [
      ['lic.PV', 42.5, 'Good'],
      ['lic.T', 'T#1m30s', 'Good'],
      ['lic.MSG', 'full', 'Good'],
      ['lic.ON', true, 'Uncertain'],
    ],
  );
  t.equal(items.length, 8);
});

t.test('8.9: a unit that was taken away is recorded no more: what its table said last is no value of now', async (t) => {
  const timers: (() => void)[] = [];
  let nowMs = T0 + 7_200_000;
  const clock: Clock = {
    wallMs: () => nowMs,
    monoMs: () => nowMs,
    after(_delayMs, call) {
      timers.push(call);
      return () => timers.splice(0);
    },
  };
  let listener: (link: SampledUnit, what: 'ready' | 'down' | 'plan') => void = () => undefined;
  const linkOf = (unit: string, value: number): SampledUnit => ({
    site: 'north',
    unit,
    ready: true,
    tags: [{ address: `${unit}.PV`, name: 'PV', type: 'REAL' }],
    refresh: () => true, // of a table that nobody writes any more too
    reading: () => ({ value, quality: 0, atMs: T0 }),
  });
  const [gone, stays] = [linkOf('gone', 1), linkOf('stays', 2)];
  let links = [gone, stays];
  t.teardown(sampleTags({ history, clock, intervalMinMs: 1000, runtimes: { links: () => links, onChange: (call) => (listener = call) } }));
  const PASS_MS = 1000;
  const minute = (): void => {
    for (let passed = 0; passed < 60_000; passed += PASS_MS) {
      nowMs += PASS_MS;
      timers.splice(0).forEach((call) => call());
    }
  };
  const valuesOf = async (unit: string): Promise<unknown[]> =>
    (await reader.get(`/api/v1/historian/tags?unit=${unit}&order=asc`)).body.items.map(({ value }: { value: unknown }) => value);
  minute();
  links = [stays]; // as the placement takes a link away: nobody is told that it is down
  minute();
  minute();
  t.same([await valuesOf('gone'), await valuesOf('stays')], [[1], [2, 2, 2]]);
  const anew = linkOf('gone', 3);
  links = [anew, stays];
  listener(anew, 'plan');
  minute();
  t.same(await valuesOf('gone'), [1, 3], 'one of the same name begins anew');
});
