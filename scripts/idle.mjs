// The memory of a box on which nobody works: the demonstration plant, as `npm start` starts it, for 75 minutes with a look a minute. It may take so
// much, and must not grow: the slope is that of the line of least squares over the last 40 minutes, when a start is long over and the code is
// compiled. `npm run long idle` plays it; `IDLE_MINUTES` for another time, of which the first 35 are the start.
// Beside the resident memory, which is judged, stand that without files of the system (anonymous) and the heaps: that of the gateway, and of its unit threads.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';
import { check, endProof, until } from './proof.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MINUTES = Number(process.env.IDLE_MINUTES ?? 75);
const START_MINUTES = 35;
const RESIDENT_MAX_MB = 250;
const SLOPE_MAX_MB_PER_HOUR = 2;
const SAID_EVERY = 5;
const MB = 2 ** 20;

if (MINUTES < START_MINUTES + 3) throw new Error(`IDLE_MINUTES is ${MINUTES}: a line is laid through three looks at least, after ${START_MINUTES} minutes of start`);

await install();
await build();
const folder = mkdtempSync(path.join(tmpdir(), 'lineside-idle-'));
const told = path.join(folder, 'heap.json');
/** In the process: it says what its heap is when it is asked. Threads load it as well, and have no signals. */
const sayer = path.join(folder, 'sayer.mjs');
writeFileSync(
  sayer,
  `import { writeFileSync, renameSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('SIGUSR2', () => {
  writeFileSync(${JSON.stringify(`${told}.new`)}, JSON.stringify(process.memoryUsage()));
  renameSync(${JSON.stringify(`${told}.new`)}, ${JSON.stringify(told)});
});
`,
);
const options = JSON.parse(readFileSync(path.join(root, 'scripts/process-options.json'), 'utf8'));
const port = await freePort();
const settings = { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_GATEWAY__HTTPPORT: String(port), LINESIDE_AUTH__MODE: 'none' };
const args = [...options.execArgv, '--import', sayer, path.join(root, DIST, 'src/cli/lineside.js'), 'start', '--data-dir', path.join(folder, 'data')];
const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...options.env, ...settings }, stdio: ['ignore', 'ignore', 'inherit'] });
const ended = new Promise((resolve) => child.once('exit', resolve));
process.once('exit', () => child.kill('SIGKILL'));

const get = (address) => fetch(`http://127.0.0.1:${port}${address}`, { headers: { connection: 'close' } });
const isReady = () =>
  get('/readyz').then(
    ({ ok }) => ok,
    () => false,
  );

const looks = [];
let isAlive = false;
let code;
try {
  await until('the demonstration is ready', isReady, 120_000);
  await until(
    'its units scan',
    async () => {
      const units = await get('/api/v1/sites/demo/units').then((answer) => answer.json());
      return units.length > 0 && units.every(({ runtimeReady }) => runtimeReady);
    },
    120_000,
  );
  const begun = performance.now();
  for (let minute = 0; minute <= MINUTES && child.exitCode === null && child.signalCode === null; minute += 1) {
    await new Promise((resolve) => setTimeout(resolve, begun + minute * 60_000 - performance.now()));
    looks.push({ minute, ...(await look()) });
    if (minute % SAID_EVERY === 0) say(looks.at(-1));
  }
  isAlive = await isReady();
  child.kill('SIGTERM');
  code = await ended;
} finally {
  // also where a wait is given up: nothing of it stays behind
  child.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

const judged = looks.filter(({ minute }) => minute >= START_MINUTES);
const most = Math.max(...judged.map(({ resident }) => resident));
const of = (name) => line(judged.map((each) => [each.minute / 60, each[name]]));
const { slope, error } = of('resident');
for (const name of ['anonymous', 'heap', 'units']) {
  const { slope: grows, error: give } = of(name);
  console.log(`${name.padEnd(10)} grows by ${grows.toFixed(2)} MB/h, give or take ${(2 * give).toFixed(2)}`);
}
check(`it served for ${MINUTES} minutes, and ended when it was asked to`, isAlive && code === 0);
check(`resident memory ${most.toFixed(1)} MB at most after ${START_MINUTES} minutes (${RESIDENT_MAX_MB} MB)`, most <= RESIDENT_MAX_MB);
check(`resident memory grows by ${slope.toFixed(2)} MB/h, give or take ${(2 * error).toFixed(2)} (${SLOPE_MAX_MB_PER_HOUR} MB/h)`, slope <= SLOPE_MAX_MB_PER_HOUR);
endProof();

/** All in MB. */
async function look() {
  rmSync(told, { force: true });
  child.kill('SIGUSR2');
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  const memory = await until('it says its heap', () => read(told), 10_000);
  const units = await get('/api/v1/sites/demo/units').then((answer) => answer.json());
  const heaps = await Promise.all(units.map(({ name }) => get(`/api/v1/sites/demo/units/${name}/runtime/diagnostics`).then((answer) => answer.json())));
  const used = heaps.reduce((sum, diagnostics) => sum + heapOf(diagnostics), 0);
  return { resident: of('VmRSS'), anonymous: of('RssAnon'), heap: memory.heapUsed / MB, external: memory.external / MB, units: used / MB };
}

function heapOf(diagnostics) {
  const found = JSON.stringify(diagnostics).match(/"heapUsedBytes":(\d+)/);
  return Number(found?.[1] ?? Number.NaN);
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function say({ minute, resident, anonymous, heap, external, units }) {
  const figures = { resident, anonymous, heap, external, 'unit heaps': units };
  console.log(
    `${String(minute).padStart(3)} min  ${Object.entries(figures)
      .map(([name, mb]) => `${name} ${mb.toFixed(1)}`)
      .join('  ')} MB`,
  );
}

/** Least squares: rise per unit of x, and the standard error of it. */
function line(points) {
  const mean = (of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const slope = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
  const rest = points.reduce((sum, [at, value]) => sum + (value - y - slope * (at - x)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (points.length - 2) / spread) };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
