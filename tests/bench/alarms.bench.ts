/**
 * A flood of alarms: 10,000 definitions on one unit become true within 10 s, while people read. Every activation has to be
 * stored and announced, and nobody who reads may notice (reliability G26 asks for 1,000 transitions in 10 s). The appliance
 * is its own process with its real scan; the flood is one tag that is written, and debounces that spread it over 10 s.
 * By hand `ALARMS=1000` for a smaller one.
 *
 * Measured: what the history holds, what a WebSocket was told, p50, p99 and maximum of reads through the gateway in the
 * flood beside those at rest just before it (the limit is what the same machine does then), acknowledgements in the flood,
 * and how long after the last debounce the last frame came.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { MANIFESTS_MAX } from '../../src/domains/apply/manifest.js';
import { WebSocket } from 'ws';
import { type ApiClient, eventually } from '../support/api-client.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';
import { tell } from './judge.js';

const ALARMS = Number(process.env.ALARMS ?? 10_000);
const SPREAD_S = 10;
const SITE = '/api/v1/sites/demo';
const READERS = 4;
const READS_PER_SECOND = 100;
const READ_P99_MS_MAX = 100;

/** What a console asks for now and then; the list of all alarms is measured by itself. */
const PATHS = [`${SITE}/units/rx101`, `${SITE}/units/rx101/tags/xv101.reset`, '/api/v1/version', `${SITE}/alarms/flood-0-1`, `${SITE}/alarmdefinitions/flood-1`];

function ok<Answer extends { readonly status: number; readonly text: string }>(answer: Answer, what: string): Answer {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 400)}`);
  return answer;
}

function definition(n: number): unknown {
  return {
    apiVersion: 'control.lineside.io/v1alpha1',
    kind: 'AlarmDefinition',
    metadata: { name: `flood-${n}`, namespace: 'site-demo' },
    spec: { sourceKind: 'ControlModule', sourceName: 'xv101', conditionType: 'TagTrue', tagName: 'reset', debounceSeconds: n % SPREAD_S, message: `flood ${n}` },
  };
}

async function engineer(api: ApiClient): Promise<void> {
  for (let from = 0; from < ALARMS; from += MANIFESTS_MAX) {
    const manifests = Array.from({ length: Math.min(MANIFESTS_MAX, ALARMS - from) }, (_, n) => definition(from + n));
    ok(await api.post('/api/v1/apply', manifests), 'apply');
  }
  ok(await api.post('/api/v1/demo/timescale', { timeScale: 1 }), 'time scale');
  ok(await api.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'xv101', mode: 'Manual' }), 'mode');
  await eventually('the last definition is judged', async () => (await api.get(`${SITE}/units`)).body.every((unit: { runtimeReady: boolean }) => unit.runtimeReady), 60_000, 200);
  await pause(3000);
}

interface Listener {
  readonly told: Map<string, number>;
  readonly gaps: () => number;
  close(): void;
}

async function listen(base: string): Promise<Listener> {
  const told = new Map<string, number>();
  let gaps = 0;
  const socket = new WebSocket(`${base.replace('http', 'ws')}/api/v1/ws`);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as { readonly type: string; readonly name: string; readonly state: string; readonly dropped?: number };
    if (frame.type === 'gap') gaps += frame.dropped ?? 0;
    if (frame.type === 'alarm' && frame.name.startsWith('flood-') && frame.state === 'ActiveUnacknowledged' && !told.has(frame.name)) told.set(frame.name, performance.now());
  });
  socket.send(JSON.stringify({ type: 'subscribe', id: 'a', channel: 'alarms', filter: { site: 'demo' } }));
  return { told, gaps: () => gaps, close: () => socket.close() };
}

/** Reads at the given rate until told to stop; ms of each. */
async function read(base: string, stop: AbortSignal): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: READERS });
  const took: number[] = [];
  const everyMs = (READERS * 1000) / READS_PER_SECOND;
  await Promise.all(
    Array.from({ length: READERS }, async (_, reader) => {
      await pause((everyMs * reader) / READERS);
      for (let n = reader; !stop.aborted; n += 1) {
        const began = performance.now();
        await new Promise<void>((resolve, reject) => {
          get(base + PATHS[n % PATHS.length], { agent }, (response) => response.resume().on('end', () => resolve())).on('error', reject);
        });
        took.push(performance.now() - began);
        await pause(Math.max(0, everyMs - (performance.now() - began)));
      }
    }),
  );
  agent.destroy();
  return took;
}

async function readFor(base: string, ms: number): Promise<number[]> {
  const stop = new AbortController();
  const reading = read(base, stop.signal);
  await pause(ms);
  stop.abort();
  return reading;
}

/** Acknowledges alarms of the flood one after the other, as an operator does who is flooded. */
async function acknowledge(api: ApiClient, told: ReadonlyMap<string, number>, stop: AbortSignal): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; !stop.aborted; n += 1) {
    const name = [...told.keys()][n];
    if (name === undefined) {
      n -= 1;
      await pause(20);
      continue;
    }
    const began = performance.now();
    ok(await api.post(`${SITE}/alarms/${name}/acknowledge`), 'acknowledge');
    took.push(performance.now() - began);
    await pause(100);
  }
  return took;
}

async function stored(api: ApiClient): Promise<number> {
  const names = new Set<string>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: { items: { alarm: string }[]; nextCursor: string | null } = ok(
      await api.get(`${SITE}/alarmevents?event=Activated&limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`),
      'alarmevents',
    ).body;
    for (const { alarm } of page.items) if (alarm.startsWith('flood-')) names.add(alarm);
    cursor = page.nextCursor;
  }
  return names.size;
}

function quantiles(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `n ${sorted.length}, p50 ${at(sorted, 0.5).toFixed(1)}, p99 ${at(sorted, 0.99).toFixed(1)}, max ${at(sorted, 1).toFixed(1)} ms`;
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

async function run(appliance: ApplianceProcess): Promise<boolean> {
  const { api, base } = appliance;
  ok(await api.post('/api/v1/demo/provision', {}), 'provision');
  const began = performance.now();
  await engineer(api);
  console.log(`${ALARMS} definitions applied and running after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const listener = await listen(base);
  const rest = await readFor(base, 5000);
  const stop = new AbortController();
  const reading = read(base, stop.signal);
  const acknowledging = acknowledge(api, listener.told, stop.signal);
  const floodedAt = performance.now();
  ok(await api.post(`${SITE}/units/rx101/tags/xv101.reset`, { value: true }), 'the write that floods');
  const deadline = floodedAt + 120_000;
  while (listener.told.size < ALARMS && performance.now() < deadline) await pause(50);
  stop.abort();
  const [flood, acknowledged] = [await reading, await acknowledging];
  const lastMs = Math.max(...listener.told.values()) - floodedAt;
  const history = await stored(api);
  const listed = performance.now();
  const alarms = (await api.get(`${SITE}/alarms?active=true`)).body.filter(({ name }: { name: string }) => name.startsWith('flood-')).length;
  const listMs = performance.now() - listed;
  const metrics = performance.now();
  const { activations, rate } = ok(await api.get(`${SITE}/alarmmetrics`), 'alarmmetrics').body;
  const metricsMs = performance.now() - metrics;
  console.log(`stored ${history}, announced ${listener.told.size}, shed frames ${listener.gaps()}, standing ${alarms} of ${ALARMS}`);
  console.log(`the last frame came ${(lastMs / 1000).toFixed(1)} s after the write; the last debounce ends after ${SPREAD_S - 1} s`);
  console.log(`reads at rest: ${quantiles(rest)}`);
  console.log(`reads in the flood: ${quantiles(flood)}`);
  console.log(`acknowledgements in the flood: ${quantiles(acknowledged)}`);
  console.log(`list of all: ${listMs.toFixed(0)} ms; metrics: ${metricsMs.toFixed(0)} ms for ${activations} activations, peak ${rate.peak}`);
  listener.close();
  const p99 = at(
    [...flood].sort((a, b) => a - b),
    0.99,
  );
  tell('reads in the flood, p99, ms', p99);
  const passed = history === ALARMS && listener.told.size === ALARMS && p99 < READ_P99_MS_MAX;
  console.log(passed ? 'passed' : `FAILED: all stored, all announced, p99 of reads below ${READ_P99_MS_MAX} ms`);
  return passed;
}

const appliance = await applianceProcess({
  environment: {
    LINESIDE_GATEWAY__OPERATINGMODE: 'development',
    LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
    LINESIDE_AUTH__MODE: 'none',
    LINESIDE_DEMO__ENABLED: 'true',
    LINESIDE_LOG_LEVEL: 'warn',
  },
});
try {
  await appliance.start();
  process.exitCode = (await run(appliance)) ? 0 : 1;
} finally {
  await appliance.end();
  appliance.remove();
}
