// `npm test`: installs (the peers of the tests too), builds and runs the tap suites on the built output, then says `N passed, N failed`.
// Arguments are name filters: `npm test -- language chart` runs the suites whose path contains one of the words.
// Suites run without tap's own runner, whose loaders cost each of them a second of the processor, and those that leave their process as it was
// share one (tests/support/suites.ts).
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';
import { installPeers, needs, sayAbsent } from './peers.mjs';
import { passwordsIn, secretsOf } from './secrets-in-output.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();

function suites(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return suites(name);
    return entry.name.endsWith('.test.js') ? [path.relative(root, name)] : [];
  });
}

function sources(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.join(folder, name));
}

const words = process.argv.slice(2);
const named = suites(path.join(root, DIST, 'tests')).filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
// a suite without its peer is skipped by name; where the whole gate runs (CI) that is a failure
const absent = installPeers({ suites: named.map((name) => path.join(root, name)) });
const chosen = named.filter((name) => !absent.some((peer) => needs(peer, path.join(root, name))));
const left = named.length - chosen.length;
sayAbsent(absent, (peer) => named.filter((name) => needs(peer, path.join(root, name))).join(', '));

/** Suites of a whole appliance, whose plant runs in real time: they mostly wait, so that two or three of them run beside each other. */
const WHOLE_APPLIANCE = /tests\/(cli\/operate|contract\/|docs\/|releases\/|faults\/|plant\/|domains\/records\/|domains\/rehearsal\/rehearsal|runtime\/replay\/recordings)/;
/** Suites of devices wait for time-outs more than they compute: they begin with the first, so that none of them is left to the end. */
const DEVICES = /tests\/drivers\//;
/** Suites with a browser, which beside its appliance keeps the machine busy: one at a time, and first, since one after the other they take longest. */
const BROWSER = /tests\/console\//;
/** Suites that get the machine to themselves: they judge how long something takes. */
const ALONE = /tests\/(faults\/process|domains\/units\/runtime)/;
/** The others compute, and take what those above, which keep time, leave of the processor. */
const GIVING_WAY = ['nice', '-n', '10'];
/**
 * What a suite does to its process or to the whole of its tests: it gets a process to itself. A log that is silent is so for all that share one; the
 * library of OPC UA sets variables of the environment.
 */
const OWN_PROCESS =
  /^t\.(beforeEach|afterEach|after)\(|^t\.jobs|delete process\.env|process\.(env(\.\w+|\[[^\]]+\]) ?=[^=]|exit|kill\(process\.pid|on\(|once\(|chdir|umask)|page-module\.js|Object\.assign\(globalThis|memoryUsage|expose-gc|opcua-(server|module)\.js/m;
/** Suites of one process: more would leave the last lane alone with its suites. */
const SHARE_MAX = { alone: 1, browsers: 3, appliances: 5, devices: 2, others: 8 };
/**
 * What one process may take, however busy the machine is: it ends one that hangs, and judges nothing. One that is slowed down on purpose
 * (tests/console/browser.ts) takes longer. The test library in it gives up first and tells which of its tests was running.
 */
const SUITE_MAX_S = Number(process.env.SUITE_MAX_S ?? 900) * Math.max(1, Number(process.env.CONSOLE_SLOWDOWN ?? 1));

const started = performance.now();
const totals = { pass: 0, fail: process.env.CI ? left : 0, skip: process.env.CI ? 0 : left, todo: 0 };
const took = [];
/** Passwords that the suites sign in with: nothing may print one. */
const passwords = [...new Set(sources(path.join(root, 'tests')).flatMap((file) => passwordsIn(readFileSync(file, 'utf8'))))];
/** The shell says on file 3 what its children took of the processor, with those that they waited for. */
const TIMED = '"$@"; ended=$?; times >&3; exit $ended';
/** Suites that run: each leads a process group of its own, which ends with it and with us. */
const running = new Set();
process.on('exit', () => [...running].forEach(endGroup));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));
const queues = { alone: [], browsers: [], appliances: [], devices: [], others: [] };
for (const name of chosen) queues[queueOf(name)].push(name);
for (const [queue, names] of Object.entries(queues)) queues[queue] = shared(names, SHARE_MAX[queue]);
const { alone, browsers, appliances, devices, others } = queues;
await Promise.all([lane(browsers, appliances, others), lane(appliances, others), lane(appliances, devices, others), lane(devices, others)]);
await lane(alone);
sayTimes();
console.log(`${totals.pass} passed, ${totals.fail} failed, ${totals.skip + totals.todo} skipped`);
process.exit(totals.fail > 0 || totals.pass === 0 ? 1 : 0);

function queueOf(name) {
  if (ALONE.test(name)) return 'alone';
  if (BROWSER.test(name)) return 'browsers';
  if (DEVICES.test(name)) return 'devices';
  return WHOLE_APPLIANCE.test(name) ? 'appliances' : 'others';
}

/** Suites that share a process, and those that do not. */
function shared(names, max) {
  const groups = [];
  const own = names.filter((name) => OWN_PROCESS.test(readFileSync(path.join(root, name), 'utf8')));
  const others = names.filter((name) => !own.includes(name));
  while (others.length > 0) groups.push(others.splice(0, max));
  return [...groups, ...own.map((name) => [name])];
}

/** Runs one process of suites after the other, from the first queue that has any left. */
async function lane(...queues) {
  for (;;) {
    const names = queues.find((queue) => queue.length > 0)?.shift();
    if (names === undefined) return;
    const begun = performance.now();
    const ended = await run(names);
    count(names, ended);
    countSecrets(names, ended);
    const fromS = (begun - started) / 1000;
    const each = names.length === 1 ? [] : timesIn(ended.text);
    const restS = ended.cpuS - each.reduce((sum, { cpuS }) => sum + cpuS, 0);
    const name = names.length === 1 ? short(names[0]) : `(process of ${names.length} suites from ${short(names[0])} on)`;
    took.push({ name, fromS, wallS: (performance.now() - begun) / 1000, cpuS: restS }, ...each.map((suite) => ({ ...suite, fromS })));
  }
}

function short(name) {
  return name.slice(`${DIST}/tests/`.length, -'.test.js'.length);
}

/** What each suite of a process took, as it says itself; without what its children took. */
function timesIn(text) {
  return [...text.matchAll(/^# suite (\S+) ([\d.]+) ([\d.]+)$/gm)].map(([, name, cpuS, wallS]) => ({ name: short(name), cpuS: Number(cpuS), wallS: Number(wallS) }));
}

/** @returns how the process ended, what it printed and the processor seconds of it and its children. */
function run(names) {
  return new Promise((resolve) => {
    const env = { ...process.env, TAP: '1', TAP_TIMEOUT: String(SUITE_MAX_S) };
    const before = queueOf(names[0]) === 'others' ? GIVING_WAY : [];
    const scripts = names.length === 1 ? names : [`${DIST}/tests/support/suites.js`, ...names];
    const child = spawn('sh', ['-c', TIMED, 'sh', ...before, process.execPath, '--enable-source-maps', ...scripts], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    running.add(child.pid);
    const overdue = setTimeout(() => endGroup(child.pid), (SUITE_MAX_S + 20) * 1000);
    const text = collected(child.stdio[1]);
    const said = collected(child.stdio[2]);
    child.stdio[2].pipe(process.stderr, { end: false });
    const times = collected(child.stdio[3]);
    child.on('exit', () => endGroup(child.pid)); // what it left behind would keep its output open
    child.on('close', (code, signal) => {
      clearTimeout(overdue);
      running.delete(child.pid);
      endGroup(child.pid); // a suite that ran out of time leaves its appliances behind, which would take the processor from the others
      resolve({ ended: code ?? signal, text: text(), said: said(), cpuS: childSeconds(times()) });
    });
  });
}

function collected(stream) {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

/** Seconds in user and system mode of the children: the second line of `times`; 0 where the shell was killed. */
function childSeconds(times) {
  const minutes = [...(times.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return minutes.reduce((sum, [, min, s]) => sum + Number(min) * 60 + Number(s), 0);
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

function columns(...texts) {
  return texts.map((text) => text.padStart(8)).join(' ');
}

/** All suites with their times into artifacts/, those that took most of the processor onto the terminal. */
function sayTimes() {
  took.sort((a, b) => b.cpuS - a.cpuS);
  const rows = took.map(({ name, fromS, wallS, cpuS }) => `${columns(cpuS.toFixed(2), wallS.toFixed(2), fromS.toFixed(2))}  ${name}`);
  mkdirSync(path.join(root, 'artifacts'), { recursive: true });
  writeFileSync(path.join(root, 'artifacts', 'test-times.txt'), [`${columns('cpu s', 'wall s', 'from s')}  suite`, ...rows, ''].join('\n'));
  console.log('most processor time:');
  for (const row of rows.slice(0, 8)) console.log(row);
  const cpuS = took.reduce((sum, suite) => sum + suite.cpuS, 0);
  console.log(`${chosen.length} suites in ${((performance.now() - started) / 1000).toFixed(0)} s, ${cpuS.toFixed(0)} s of the processor; all of them in artifacts/test-times.txt`);
}

function count(names, { ended, text }) {
  const counts = [...text.matchAll(/^# \{ (total: .*?) \}$/gm)].at(-1)?.[1] ?? '';
  const found = Object.fromEntries(counts.split(', ').map((part) => part.split(': ')));
  for (const key of Object.keys(totals)) totals[key] += Number(found[key] ?? 0);
  const missing = names.length === 1 ? [] : names.slice(timesIn(text).length);
  if (ended === 0 && Number(found.total ?? 0) > 0 && !found.fail && missing.length === 0) return;
  console.log(`# ${names.join(' ')} ended with ${ended}${missing.length > 0 ? ` in ${missing[0]}` : ''}`);
  if (found.fail) return printFailures(text);
  totals.fail += 1;
  console.log(text.split('\n').slice(-40).join('\n'));
}

/** What is on standard error tells no suite: it is told under the first of its process. */
function countSecrets(names, { text, said }) {
  const found = [...secretsOf(text, names, short, passwords), ...secretsOf(said, names.slice(0, 1), short, passwords)];
  for (const sentence of found) console.log(`# ${sentence}: redact it, or say why in scripts/secrets-in-output.mjs`);
  totals.fail += found.length;
}

/** The failed tests with all that stands under them. */
function printFailures(text) {
  let depth = -1;
  for (const line of text.split('\n')) {
    const failing = line.match(/^(\s*)not ok /);
    if (failing) depth = failing[1].length;
    else if (depth >= 0 && /^\s*(ok |1\.\.|# )/.test(line) && line.search(/\S/) <= depth) depth = -1;
    if (depth >= 0) console.log(line);
  }
}
