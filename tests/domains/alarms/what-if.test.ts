/** What other limits would have done: the replay against the scan itself, and the route over the samples of the historian. */
import t from 'tap';
import type { AlarmPlan } from '../../../runtime/vocabulary/alarm.js';
import { AlarmSet } from '../../../runtime/vocabulary/alarm-set.js';
import { AlarmReplay } from '../../../src/domains/alarms/alarm-replay.js';
import { AlarmDefinition } from '../../../src/domains/alarms/kind.js';
import { Phase, type PhaseSpec } from '../../../src/domains/procedures/kind.js';
import type { Series } from '../../../src/platform/history/history.js';
import fc from '../../support/fuzz.js';
import { SPEC, startAlarmBench } from './bench.js';

const START_MS = Date.UTC(2026, 0, 31, 8);
const PLAN: AlarmPlan = { definition: 'a', address: 'v.in', tag: 0, condition: 'TagHigh', threshold: 90, deadband: 2, debounceMs: 0 };

/** `[ms after the start, value or null, quality]` */
function series(samples: readonly (readonly [number, number | null, number?])[]): Series {
  return {
    times: Float64Array.from(samples, ([ms]) => START_MS + ms),
    values: Float64Array.from(samples, ([, value]) => value ?? 0),
    codes: Uint16Array.from(samples, ([, value, quality = 0]) => quality * 2 + (value === null ? 1 : 0)),
  };
}

/** Seconds after the start at which the replay raises and clears. */
function replayed(plan: AlarmPlan, samples: Parameters<typeof series>[0], toMs: number, timeScale = 1): [number, number | null][] {
  const replay = new AlarmReplay(plan, START_MS, timeScale);
  replay.take(series(samples));
  return replay
    .report(START_MS + toMs)
    .first.map(({ at, clearedAt }) => [(Date.parse(at) - START_MS) / 1000, clearedAt === null ? null : (Date.parse(clearedAt) - START_MS) / 1000]);
}

t.test('ADEF-07 ADEF-08 Q-ALARM-09: the replay of what changed is the scan of what was', (t) => {
  const SCAN_MS = 1; // the history has whole milliseconds
  const sample = fc.record({ scans: fc.integer({ min: 1, max: 60 }), value: fc.integer({ min: 85, max: 95 }), bad: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(sample, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 0, max: 40 }),
      fc.constantFrom(1, 10),
      fc.constantFrom('TagHigh', 'TagLow', 'TagDeviation'),
      (samples, debounceScans, timeScale, condition) => {
        const plan: AlarmPlan = { ...PLAN, condition, setpoint: 89, threshold: condition === 'TagDeviation' ? 3 : 90, debounceMs: debounceScans * SCAN_MS * timeScale };
        const set = new AlarmSet([plan]);
        set.setGates([{ definition: 'a', armed: true, active: false, evaluable: true }]);
        const readings = { values: new Float64Array(1), quality: new Uint8Array(1), stale: () => false };
        const scanned: [number, number | null][] = [];
        const changes: [number, number, number][] = [];
        let atMs = 0;
        for (const { scans, value, bad } of samples) {
          changes.push([atMs, value, bad ? 3 : 0]);
          for (let n = 0; n < scans; n += 1) {
            readings.values[0] = value;
            readings.quality[0] = bad ? 3 : 0;
            set.scan(SCAN_MS * timeScale, readings, (_plan, edge) => {
              if (edge === 'raised') scanned.push([atMs / 1000, null]);
              const last = scanned.at(-1);
              if (edge === 'cleared' && last) last[1] = atMs / 1000;
            });
            atMs += SCAN_MS;
          }
        }
        const shown = replayed(plan, changes, atMs, timeScale);
        return JSON.stringify(shown) === JSON.stringify(scanned.slice(0, 10));
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});

t.test('ADEF-12 Q-ALARM-13: with a gate that opens and closes the replay is the scan, gated as the gateway gates it', (t) => {
  const sample = fc.record({ scans: fc.integer({ min: 1, max: 40 }), value: fc.integer({ min: 85, max: 95 }) });
  fc.assert(
    fc.property(
      fc.array(sample, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 30 }),
      fc.boolean(),
      fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 8 }),
      (samples, debounceMs, openBefore, turns) => {
        const plan: AlarmPlan = { ...PLAN, debounceMs };
        const edges = turns.sort((a, b) => a - b).map((ms, n) => ({ atMs: START_MS + ms, open: (n % 2 === 0) !== openBefore }));
        const set = new AlarmSet([plan]);
        const gate = (armed: boolean, active: boolean): void => set.setGates([{ definition: 'a', armed, active, evaluable: true }]);
        gate(openBefore, false);
        const readings = { values: new Float64Array(1), quality: new Uint8Array(1), stale: () => false };
        const scanned: [number, number | null][] = [];
        const stands = (): boolean => scanned.at(-1)?.[1] === null;
        const changes: [number, number][] = [];
        let atMs = 0;
        for (const { scans, value } of samples) {
          changes.push([atMs, value]);
          for (let n = 0; n < scans; n += 1) {
            readings.values[0] = value;
            const turn = edges.find((edge) => edge.atMs === START_MS + atMs);
            // what the value was when the gate opened is judged before the new one comes with the same scan
            if (turn) {
              const last = scanned.at(-1);
              if (!turn.open && last && stands()) last[1] = atMs / 1000;
              gate(turn.open, false);
            }
            set.scan(turn?.open ? 0 : 1, readings, (_plan, edge) => {
              const last = scanned.at(-1);
              if (edge === 'raised') scanned.push([atMs / 1000, null]);
              else if (last) last[1] = atMs / 1000;
            });
            atMs += 1;
          }
        }
        // a gate that turns in the millisecond of a sample is judged with the value before it
        if (edges.some((edge) => changes.some(([ms]) => START_MS + ms === edge.atMs))) return true;
        const replay = new AlarmReplay(plan, START_MS, 1, { openBefore, edges: edges.filter((edge) => edge.atMs < START_MS + atMs) });
        replay.take(series(changes));
        const shown = replay.report(START_MS + atMs).first.map(({ at, clearedAt }) => [(Date.parse(at) - START_MS) / 1000, clearedAt && (Date.parse(clearedAt) - START_MS) / 1000]);
        return JSON.stringify(shown) === JSON.stringify(scanned.slice(0, 10));
      },
    ),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('ADEF-08 Q-ALARM-02: a debounce that ends between samples, a bad value, a silence of the runtime', async (t) => {
  const slow = { ...PLAN, debounceMs: 5000 };
  t.same(
    replayed(
      slow,
      [
        [0, 91],
        [2000, 92],
        [30_000, 80],
        [40_000, 91],
        [44_999, 80],
      ],
      60_000,
    ),
    [[5, 30]],
    'it counts over samples that stay above, and is raised between them',
  );
  t.same(replayed(slow, [[0, 91]], 30_000, 10), [[0.5, null]], '5 s of plant time are half a second at time scale 10');
  t.same(
    replayed(
      PLAN,
      [
        [0, 91],
        [1000, 80, 3],
        [2000, null, 3],
        [3000, 91],
        [4000, 88],
      ],
      60_000,
    ),
    [[0, 4]],
    'what is not Good neither comes nor goes',
  );
  t.same(
    replayed(
      slow,
      [
        [0, 91],
        [4000, 91],
        [400_000, 91],
        [404_000, 91],
        [406_000, 91],
      ],
      406_000,
    ),
    [[405, null]],
    'nothing is known of a silence: the debounce begins anew',
  );
  const replay = new AlarmReplay(PLAN, START_MS + 10_000, 1);
  replay.take(
    series([
      [0, 91],
      [20_000, 80],
      [30_000, 95],
    ]),
  );
  t.match(replay.report(START_MS + 40_000), { activations: 1, activeSeconds: 20, first: [{ value: 95 }] }, 'what stood when the window began is no activation of it');
  t.equal(replay.samples, 2);
});

t.test('ISA-18.2 clause 16, ADEF-17: what-if over the samples of the historian changes nothing and answers with both', async (t) => {
  const bench = await startAlarmBench();
  t.teardown(() => bench.stop());
  const { plant, history } = bench;
  const viewer = await plant.as('viewer');
  const WHAT_IF = '/api/v1/sites/demo/alarmdefinitions/full/what-if';
  await bench.define('full', { ...SPEC, threshold: '90', deadband: '1' });
  const id = history.tag({ site: 'demo', unit: 'rx101', address: 'li101.pv', tag: 'pv', dataType: 'Float' });
  for (let n = 0; n < 1200; n += 1) history.push(id, 0, START_MS + n * 1000, n % 40 < 20 ? 91 : 88.5);
  for (const atMs of [START_MS + 1_260_000, START_MS + 1_320_000]) history.push(id, 0, atMs, 88.5);
  const asked = { from: '2026-01-31T08:00:00.000Z', to: '2026-01-31T08:20:00.000Z' };
  const trail = plant.audits.length;
  const before = plant.store.get(AlarmDefinition, 'demo', 'full');
  const { status, body } = await viewer.post(WHAT_IF, { ...asked, deadband: '2' });
  t.equal(status, 200);
  t.match(body, {
    definition: 'full',
    address: 'li101.pv',
    ...asked,
    samples: 1200,
    gaps: 0,
    now: { threshold: '90', deadband: '1', debounceSeconds: 0, activations: 30, activeSeconds: 600 },
    changed: { threshold: '90', deadband: '2', activations: 1, first: [{ at: '2026-01-31T08:00:00.000Z', clearedAt: null, value: 91 }] },
    resolution: { closestSeconds: 1, atLeastEverySeconds: 60, changeOfRange: 0.001, armingGate: 'none' },
  });
  t.equal(body.now.first.length, 10);
  t.match(body.now.last.at(-1), { at: '2026-01-31T08:19:20.000Z', clearedAt: '2026-01-31T08:19:40.000Z' });
  t.match((await viewer.post(WHAT_IF, { ...asked, debounceSeconds: 250 })).body.changed, { activations: 0, debounceSeconds: 250 }, '25 s of the wall at time scale 10');
  t.match((await viewer.post(WHAT_IF, { ...asked, threshold: '91' })).body.changed, { activations: 0, threshold: '91' });
  t.match((await viewer.post(WHAT_IF, {})).body, {
    to: '2026-01-31T09:00:00.000Z',
    from: '2026-01-30T09:00:00.000Z',
    samples: 1202,
    now: { activations: 30 },
    changed: { activations: 30 },
  });
  t.same(plant.store.get(AlarmDefinition, 'demo', 'full'), before);
  t.equal(plant.audits.length, trail, 'D-AUDIT-02: a computation leaves no record');

  for (const [change, field] of [
    [{ threshold: 'much' }, 'threshold'],
    [{ threshold: '' }, 'threshold'],
    [{ deadband: '-1' }, 'deadband'],
    [{ debounceSeconds: 0.5 }, 'debounceSeconds'],
    [{ severity: 'Low' }, 'severity'],
    [{ from: 'soon' }, 'from'],
    [{ to: 'later' }, 'to'],
    [{ from: '2026-01-31T08:20:00Z', to: '2026-01-31T08:00:00Z' }, 'from'],
    [{ from: '2025-01-01T00:00:00Z' }, 'from'],
  ] as const) {
    t.match(await viewer.post(WHAT_IF, change), { status: 400, body: { field } }, JSON.stringify(change));
  }
  t.match(await viewer.post('/api/v1/sites/demo/alarmdefinitions/rx101-held/what-if', {}), { status: 400, body: { field: 'conditionType' } });
  t.equal((await viewer.post('/api/v1/sites/demo/alarmdefinitions/none/what-if', {})).status, 404);
});

t.test('ADEF-12 ISA-18.2 clause 16: what-if opens and closes an arming gate as the recorded states of its phases did', async (t) => {
  const bench = await startAlarmBench();
  t.teardown(() => bench.stop());
  const { plant, history } = bench;
  const viewer = await plant.as('viewer');
  const GATED = '/api/v1/sites/demo/alarmdefinitions/gated/what-if';
  await bench.define('gated', { ...SPEC, armingGate: { phaseTemplateRef: 'react', unitRef: 'rx101', states: ['Running'] } });
  const id = history.tag({ site: 'demo', unit: 'rx101', address: 'li101.pv', tag: 'pv', dataType: 'Float' });
  // 20 s above the limit in every 40 s, from 08:00 to 08:20
  for (let n = 0; n < 1200; n += 1) history.push(id, 0, START_MS + n * 1000, n % 40 < 20 ? 91 : 80);
  const asked = { from: '2026-01-31T08:00:00.000Z', to: '2026-01-31T08:20:00.000Z' };
  const state = (atS: number, name: string, from: string, to: string, more: object = {}): void =>
    history.recordState({
      atMs: START_MS + atS * 1000,
      site: 'demo',
      unit: 'rx101',
      body: { site: 'demo', ts: new Date(START_MS + atS * 1000).toISOString(), kind: 'Phase', name, unit: 'rx101', from, to, ...more },
    });
  t.match(
    (await viewer.post(GATED, asked)).body,
    { now: { activations: 0 }, resolution: { armingGate: 'replayed: open for 0 s of the window' } },
    'no phase of the template has run',
  );

  state(85, 'b-1-react', 'Idle', 'Running', { templateRef: 'react' });
  state(130, 'b-1-react', 'Running', 'Held', { templateRef: 'react' });
  state(200, 'b-1-react', 'Held', 'Running', { templateRef: 'react' });
  state(210, 'b-1-react', 'Running', 'Complete', { templateRef: 'react' });
  state(300, 'b-1-heat', 'Idle', 'Running', { templateRef: 'heat' });
  state(400, 'forgotten', 'Idle', 'Running');
  const { body } = await viewer.post(GATED, { ...asked, threshold: '92' });
  t.match(body, {
    now: {
      activations: 3,
      activeSeconds: 15 + 10 + 10,
      first: [
        { at: '2026-01-31T08:01:25.000Z', clearedAt: '2026-01-31T08:01:40.000Z' },
        { at: '2026-01-31T08:02:00.000Z', clearedAt: '2026-01-31T08:02:10.000Z' },
        { at: '2026-01-31T08:03:20.000Z', clearedAt: '2026-01-31T08:03:30.000Z' },
      ],
    },
    changed: { activations: 0 },
    resolution: { armingGate: 'replayed: open for 55 s of the window; 1 phases whose template is not recorded are left out' },
  });

  // a phase that has run since long before the window, and still does
  const spec = { templateRef: 'react', unitRef: 'rx101', mode: '' } as unknown as PhaseSpec;
  await plant.store.write({ puts: [{ kind: Phase, site: 'demo', name: 'runs', spec, status: { ...Phase.initialStatus(spec), state: 'Running' } }] });
  t.match((await viewer.post(GATED, asked)).body, { now: { activations: 30 }, resolution: { armingGate: /open for 1200 s/ } });
});
