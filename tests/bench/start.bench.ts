/**
 * From the start of the command (`node bin/lineside.js start`, with the options of its service) to the first 200 of `/readyz`, at most 2 s:
 * on an empty data directory, which makes its keys and databases, and on that of the demonstration plant, which has them, its plant and
 * three units. Twenty starts each, in turns; each is ended in order before the next. A unit scans a little later than the box is ready:
 * that stands beside it. Other programs only add to a start: beside the clock stands what it takes of the processor, all threads together.
 * By hand `STARTS=5` for less.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../support/api-client.js';
import { freePort } from '../support/appliance-process.js';
import { least, quantile, tell, verdict } from './judge.js';
import { DEMO, PROCESS_OPTIONS } from './product-box.js';

const STARTS = Number(process.env.STARTS ?? 20);
const READY_MAX_MS = 2000;
const LOOK_EVERY_MS = 4;

interface Started {
  readonly readyMs: number;
  readonly processorMs: number;
  /** Until all units scan; of the demonstration. */
  readonly scansMs?: number;
}

/** The status of an answer and its body; 0 where nobody answers. */
function asked(port: number, address: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: address, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }).on('error', () => resolve({ status: 0, text: '' }));
  });
}

function processorMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);
}

async function start(dataDir: string, settings: Readonly<Record<string, string>>, waitsForUnits: boolean): Promise<Started> {
  const port = await freePort();
  const env = { PATH: process.env.PATH ?? '', ...PROCESS_OPTIONS.env, LINESIDE_GATEWAY__HTTPPORT: String(port), LINESIDE_GATEWAY__LISTEN: '127.0.0.1', ...settings };
  const beganMs = performance.now();
  const child = spawn(process.execPath, [...PROCESS_OPTIONS.execArgv, 'bin/lineside.js', 'start', '--data-dir', dataDir], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    while ((await asked(port, '/readyz')).status !== 200) {
      if (hasEnded(child)) throw new Error(`the box ended with ${child.exitCode ?? child.signalCode}:\n${output}`);
      await pause(LOOK_EVERY_MS);
    }
    const ready = { readyMs: performance.now() - beganMs, processorMs: processorMs(child.pid ?? 0) };
    if (!waitsForUnits) return ready;
    await eventually(
      'all units scan',
      async () => {
        const units = JSON.parse((await asked(port, '/api/v1/sites/demo/units')).text) as { readonly runtimeReady: boolean }[];
        return units.length > 0 && units.every(({ runtimeReady }) => runtimeReady);
      },
      60_000,
      20,
    );
    return { ...ready, scansMs: performance.now() - beganMs };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function report(what: string, starts: readonly Started[]): void {
  const ready = starts.map(({ readyMs }) => readyMs);
  const scans = starts.flatMap(({ scansMs }) => scansMs ?? []);
  const [p50, p95] = [quantile(ready, 0.5), quantile(ready, 0.95)];
  console.log(`${what}, ${starts.length} starts, ready after ${least(ready).toFixed(0)} to ${Math.max(...ready).toFixed(0)} ms`);
  console.log(
    `  p50 ${p50.toFixed(0)} ms (at most ${READY_MAX_MS}) ${verdict(p50 <= READY_MAX_MS)}, p95 ${p95.toFixed(0)} ms (at most ${READY_MAX_MS}) ${verdict(p95 <= READY_MAX_MS)}`,
  );
  const processor = starts.map((each) => each.processorMs);
  console.log(`  of the processor ${quantile(processor, 0.5).toFixed(0)} ms in the median, ${least(processor).toFixed(0)} at least`);
  if (scans.length > 0) console.log(`  all units scan after ${quantile(scans, 0.5).toFixed(0)} ms in the median, p95 ${quantile(scans, 0.95).toFixed(0)}`);
  tell(`${what}: ready, p50, ms`, p50);
  tell(`${what}: ready, p95, ms`, p95);
}

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-bench-start-'));
const demo = { ...DEMO, LINESIDE_AUTH__MODE: 'none' };
try {
  await start(path.join(folder, 'demo'), demo, true); // makes its plant
  const [empty, again]: [Started[], Started[]] = [[], []];
  for (let n = 0; n < STARTS; n += 1) {
    empty.push(await start(path.join(folder, `empty-${n}`), {}, false));
    again.push(await start(path.join(folder, 'demo'), demo, true));
  }
  report('empty data directory', empty);
  report('demonstration, started again', again);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
