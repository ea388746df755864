/** Metrics of the alarm system (ISA-18.2, clause 16): counted over events that are written out, then over the history through the route. */
import t from 'tap';
import { systemClock } from '../../../src/platform/base/clock.js';
import { Terms } from '../../../src/platform/base/term.js';
import type { AlarmEvent } from '../../../src/domains/alarms/alarm-event.js';
import type { AlarmStatus, AlarmResource } from '../../../src/domains/alarms/kind.js';
import { AlarmMetrics } from '../../../src/domains/alarms/metrics.js';
import { StandingThen } from '../../../src/domains/alarms/standing-then.js';
import { ALARMS, SPEC, startAlarmBench } from './bench.js';
import { at } from '../../support/at.js';

const START_MS = Date.UTC(2026, 0, 31, 9);
const TERMS = new Terms(systemClock, { wallMs: START_MS, bootID: '', bootMs: 0 }, false);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function event(atS: number, word: AlarmEvent['event'], alarm: string, severity: AlarmEvent['severity'] = 'High'): AlarmEvent {
  const definitionRef = alarm.startsWith('system-') ? '' : alarm.replace(/-\d+$/, '');
  const timestamp = new Date(START_MS + atS * 1000).toISOString();
  return {
    sequence: 1,
    timestamp,
    site: 'demo',
    alarm,
    definitionRef,
    source: 'Unit/u',
    unit: 'u',
    type: 'Process',
    severity,
    event: word,
    state: 'ActiveUnacknowledged',
    message: '',
    value: '',
  };
}

function metrics(hours: number, events: readonly AlarmEvent[]) {
  const counted = new AlarmMetrics({ fromMs: START_MS, toMs: START_MS + hours * HOUR_MS });
  for (const each of events) counted.take(each);
  return counted.report([], TERMS);
}

t.test('ISA-18.2 clause 16, ALARM-18: rate per 10 minutes, its peak, and the share of periods above ten', async (t) => {
  const many = (atS: number, count: number, name: string): AlarmEvent[] => Array.from({ length: count }, (_, n) => event(atS + n * 30, 'Activated', `${name}${n}-1`));
  const { rate, activations } = metrics(1, [...many(0, 11, 'a'), ...many(600, 5, 'b'), ...many(1200, 4, 'c'), ...many(2400, 10, 'd')]);
  t.equal(activations, 30);
  t.match(rate, { periods: 6, average: 5, peak: 11, periodsAboveTen: 1, shareAboveTen: 0.1667 });
  t.equal(rate.floodShare, 0.3333, 'a flood goes on until fewer than five come in a period; ten are none');
  t.same(rate.filled, [
    { at: '2026-01-31T09:00:00.000Z', activations: 11 },
    { at: '2026-01-31T09:10:00.000Z', activations: 5 },
    { at: '2026-01-31T09:20:00.000Z', activations: 4 },
    { at: '2026-01-31T09:40:00.000Z', activations: 10 },
  ]);
});

t.test('ISA-18.2 clause 16: chattering is three activations within 60 s, once per episode', async (t) => {
  const at = (seconds: readonly number[], alarm: string): AlarmEvent[] => seconds.map((second) => event(second, 'Activated', alarm));
  const { chattering } = metrics(1, [
    ...at([0, 30, 60, 85, 110, 135], 'steady-1'),
    ...at([0, 10, 20, 500, 510, 520], 'twice-1'),
    ...at([0, 30, 61, 200, 230], 'slow-1'),
    ...at([0, 1], 'pair-1'),
    ...[10, 11, 12].map((second, n) => event(second, 'Activated', `system-runtime-${n + 1}`)),
  ]);
  t.same(chattering, {
    count: 3,
    alarms: [
      { alarm: 'twice', episodes: 2 },
      { alarm: 'steady', episodes: 1 },
      { alarm: 'system-runtime', episodes: 1 },
    ],
  });
});

t.test('ISA-18.2 clause 16: most frequent with their share, distribution of severities', async (t) => {
  const events = Array.from({ length: 12 }, (_, n) =>
    Array.from({ length: n + 1 }, (_, k) => event(n * 300 + k, 'Activated', `d${String(n).padStart(2, '0')}-${k}`, n > 9 ? 'Critical' : 'Low')),
  );
  const { mostFrequent, bySeverity } = metrics(1, events.flat());
  t.equal(mostFrequent.alarms.length, 10);
  t.same(mostFrequent.alarms[0], { alarm: 'd11', activations: 12, share: 0.1538 });
  t.equal(mostFrequent.share, 0.9615, '75 of 78');
  t.same(bySeverity, [
    { severity: 'Low', activations: 55, share: 0.7051 },
    { severity: 'Medium', activations: 0, share: 0 },
    { severity: 'High', activations: 0, share: 0 },
    { severity: 'Critical', activations: 23, share: 0.2949 },
  ]);
});

t.test('ISA-18.2 clause 16: time to acknowledge from the activation that first asked for it', async (t) => {
  const answered = [10, 20, 30, 40, 1000].flatMap((seconds, n) => [event(0, 'Activated', `x-${n}`), event(seconds, 'Acknowledged', `x-${n}`)]);
  const { timeToAcknowledge } = metrics(1, [
    ...answered,
    event(0, 'Acknowledged', 'before-1'),
    event(5, 'Activated', 'again-1'),
    event(6, 'Cleared', 'again-1'),
    event(7, 'Activated', 'again-1'),
    event(30, 'Acknowledged', 'again-1'),
    event(50, 'Activated', 'open-1'),
  ]);
  t.same(timeToAcknowledge, { acknowledged: 6, unacknowledged: 1, medianSeconds: 25, p95Seconds: 1000 });
  t.same(metrics(1, []).timeToAcknowledge, { acknowledged: 0, unacknowledged: 0, medianSeconds: null, p95Seconds: null });
});

t.test('ISA-18.2 clause 16, ALARM-11: an activation under a shelf called nobody: it is counted apart, and asks from the end of its shelf on', async (t) => {
  const shelved = (atS: number, alarm: string): AlarmEvent => ({ ...event(atS, 'Activated', alarm), shelved: true });
  const { activations, rate, chattering, mostFrequent, bySeverity, timeToAcknowledge, ...rest } = metrics(1, [
    event(0, 'Activated', 'loud-1'),
    shelved(10, 'quiet-1'),
    shelved(20, 'quiet-2'),
    shelved(30, 'quiet-3'),
    event(100, 'Unshelved', 'quiet-3'),
    { ...event(100, 'Unshelved', 'other-1'), state: 'ClearedAcknowledged' },
    event(130, 'Acknowledged', 'quiet-3'),
  ]);
  t.equal(activations, 1);
  t.same(rate.filled, [{ at: '2026-01-31T09:00:00.000Z', activations: 1 }]);
  t.equal(chattering.count, 0);
  t.same(mostFrequent.alarms, [{ alarm: 'loud', activations: 1, share: 1 }]);
  t.equal(at(bySeverity, 2).activations, 1);
  t.same(timeToAcknowledge, { acknowledged: 1, unacknowledged: 1, medianSeconds: 30, p95Seconds: 30 });
  t.same(rest.shelved, { events: 0, activations: 3, now: 0 });
});

t.test('ISA-18.2 clause 16: what stood at a moment that is past is what stands now, taken back by the events since', async (t) => {
  const END_S = 3600;
  const endMs = START_MS + END_S * 1000;
  const stored = (name: string, state: AlarmStatus['state'], activatedS: number, createdS = activatedS): AlarmResource => {
    const at = (seconds: number): string => new Date(START_MS + seconds * 1000).toISOString();
    return { metadata: { name, createdAt: at(createdS) }, spec: { severity: 'Low' }, status: { state, activatedAt: at(activatedS) } } as AlarmResource;
  };
  const in_ = (atS: number, word: AlarmEvent['event'], alarm: string, state: AlarmEvent['state']): AlarmEvent => ({ ...event(atS, word, alarm), state });
  const then = new StandingThen(endMs);
  for (const each of [
    in_(10, 'Activated', 'seen-1', 'ActiveUnacknowledged'),
    in_(20, 'Activated', 'back-1', 'ActiveUnacknowledged'),
    in_(30, 'Cleared', 'back-1', 'ClearedUnacknowledged'),
    in_(END_S, 'Activated', 'later-1', 'ActiveUnacknowledged'),
    in_(END_S + 1, 'Cleared', 'seen-1', 'ClearedUnacknowledged'),
    in_(END_S + 2, 'Acknowledged', 'seen-1', 'ClearedAcknowledged'),
    in_(END_S + 3, 'Cleared', 'gone-1', 'ClearedAcknowledged'),
    in_(END_S + 4, 'Acknowledged', 'late-1', 'ClearedAcknowledged'),
    in_(END_S + 5, 'Activated', 'back-1', 'ActiveUnacknowledged'),
    in_(END_S + 6, 'Deleted', 'deleted-1', 'ActiveAcknowledged'),
    in_(END_S + 7, 'Shelved', 'shelved-1', 'ActiveAcknowledged'),
    in_(END_S + 8, 'Activated', 'old-1', 'ActiveUnacknowledged'),
  ])
    then.take(each);
  const found = then.standing([
    stored('later-1', 'ActiveUnacknowledged', END_S),
    stored('stands-1', 'ActiveAcknowledged', -90_000),
    stored('resolved-1', 'ClearedAcknowledged', -90_000),
    stored('restored-1', 'ActiveUnacknowledged', END_S + 9),
    stored('shelved-1', 'ActiveAcknowledged', -50),
    stored('old-1', 'ActiveUnacknowledged', END_S + 8, -100),
  ]);
  t.same(found.map(({ alarm, state, since }) => [alarm, state, since && (Date.parse(since) - START_MS) / 1000]).sort(), [
    ['back-1', 'ClearedUnacknowledged', 20],
    ['deleted-1', 'ActiveAcknowledged', null],
    ['gone-1', 'ActiveAcknowledged', null],
    ['late-1', 'ClearedUnacknowledged', null],
    ['old-1', 'ClearedUnacknowledged', null],
    ['seen-1', 'ActiveUnacknowledged', 10],
    ['shelved-1', 'ActiveAcknowledged', -50],
    ['stands-1', 'ActiveAcknowledged', -90_000],
  ]);
  const { standing } = new AlarmMetrics({ fromMs: START_MS, toMs: endMs }).report([], TERMS, found);
  t.match(standing, { asOf: '2026-01-31T10:00:00.000Z', active: 5, unacknowledged: 4, stale: 3 });
  t.same(standing?.staleAlarms[2], { alarm: 'stands-1', severity: 'Low', since: '2026-01-30T08:00:00.000Z' });
});

t.test('ISA-18.2 clause 16, Q-ALARM-07: the metrics of a site over its history', async (t) => {
  const bench = await startAlarmBench();
  t.teardown(() => bench.stop());
  const { plant, operator } = bench;
  const METRICS = '/api/v1/sites/demo/alarmmetrics';
  await bench.define('full', { ...SPEC, severity: 'Critical' });
  await bench.define('warm', { ...SPEC, tagName: 'pv', threshold: '80' });
  for (let n = 0; n < 3; n += 1) {
    await bench.edge('full', 'raised');
    plant.clock.advance(10_000);
    await bench.edge('full', 'cleared');
  }
  await bench.edge('warm', 'raised');
  plant.clock.advance(20_000);
  await operator.post(`${ALARMS}/warm-1/acknowledge`);
  await bench.settle();
  await operator.post(`${ALARMS}/warm-1/shelve`, { duration: '24h' });
  plant.clock.advance(1000);
  const { status, body } = await operator.get(METRICS);
  t.equal(status, 200);
  t.match(body, {
    from: '2026-01-30T09:00:51.000Z',
    to: '2026-01-31T09:00:51.000Z',
    activations: 4,
    clearings: 3,
    rate: { periods: 144, peak: 4, average: 0.0278, shareAboveTen: 0 },
    standing: { active: 1, unacknowledged: 1, stale: 0 },
    chattering: { count: 1, alarms: [{ alarm: 'full', episodes: 1 }] },
    mostFrequent: {
      alarms: [
        { alarm: 'full', activations: 3, share: 0.75 },
        { alarm: 'warm', activations: 1, share: 0.25 },
      ],
      share: 1,
    },
    timeToAcknowledge: { acknowledged: 1, unacknowledged: 1, medianSeconds: 20, p95Seconds: 20 },
    shelved: { events: 1, activations: 0, now: 1 },
    suppressed: { events: 0, now: 0 },
  });
  t.match((await operator.get(`${METRICS}?unit=mx101`)).body, { activations: 0, standing: { active: 0 }, shelved: { now: 0 } });
  t.equal((await operator.get(`${METRICS}?unit=rx101`)).body.activations, 4);
  t.match((await operator.get(`${METRICS}?from=2026-01-31T09:00:00.000Z&to=2026-01-31T09:00:20.000Z`)).body, { activations: 2 }, 'from inclusive, to exclusive');
  for (const [query, field] of [
    ['from=soon', 'from'],
    ['to=2026-13-01T00:00:00Z', 'to'],
    ['from=2030-01-01T00:00:00Z', 'from'],
    ['from=2025-01-01T00:00:00Z', 'from'],
  ] as const) {
    t.match(await operator.get(`${METRICS}?${query}`), { status: 400, body: { code: 'invalid_query', field } }, query);
  }
  t.equal((await operator.get('/api/v1/sites/elsewhere/alarmmetrics')).status, 404);
  const past = (to: string) => operator.get(`${METRICS}?from=2026-01-31T08:00:00.000Z&to=${to}`).then(({ body }) => body.standing);
  t.match(await past('2026-01-31T09:00:05.000Z'), { asOf: '2026-01-31T09:00:05.000Z', active: 1, unacknowledged: 1 }, 'the first one stood');
  t.match(await past('2026-01-31T09:00:35.000Z'), { active: 1, unacknowledged: 2 }, 'it has cleared, unacknowledged, and the other stands');
  t.match(await past('2026-01-31T08:30:00.000Z'), { active: 0, unacknowledged: 0, stale: 0 });
  // cleared under its shelf, the next one takes the shelf over
  await bench.edge('warm', 'cleared');
  await bench.edge('warm', 'raised');
  plant.clock.advance(1000);
  t.match((await operator.get(METRICS)).body, { activations: 4, shelved: { events: 1, activations: 1, now: 1 }, standing: { active: 1, unacknowledged: 2 } });
  t.match((await operator.get('/api/v1/sites/demo/alarmevents?alarm=warm-2')).body.items, [{ event: 'Activated', shelved: true }]);
  plant.clock.advance(24 * HOUR_MS);
  await bench.settle();
  t.match((await (await plant.as('viewer')).get(METRICS)).body, {
    activations: 0,
    standing: { active: 1, stale: 1, staleAlarms: [{ alarm: 'warm-2', severity: 'High' }] },
    shelved: { now: 0 },
  });
});
