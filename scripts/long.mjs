// `npm run long [words] [-- --seed N]`: what takes too long for the gate, one row after the other, those whose name contains one of the words.
// What came of it, with the commit and the seed, is written into docs/evidence/long.md, one row for each run, the last one.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = path.join(root, 'docs/evidence/long.md');

/** Suites by words of their paths, as `npm test` takes them; `seed` names what sets it, an argument of the torture or a variable of the suites. */
const RUNS = [
  {
    name: 'past-at-once',
    what: 'suites that end a batch, with all that ended made past at once: each answer is what it would have been',
    script: 'test.mjs',
    words: ['plant/', 'contract/', 'domains/records', 'domains/mes'],
    env: { PAST_AT_ONCE: '1' },
  },
  { name: 'torture', what: 'scenarios of the torture, long', script: 'torture.mjs', words: ['--long', '--lanes', '2'], seed: '--seed' },
  { name: 'kills', what: '`kill -9` 200 times in one run of batches', script: 'test.mjs', words: ['faults/kill'], env: { KILLS: '200' }, seed: 'KILL_SEED' },
  { name: 'row-edits', what: '400 rows edited past the gateway', script: 'test.mjs', words: ['platform/ledger/row-edits'], env: { ROW_EDITS: '400' } },
  {
    name: 'trust',
    what: '10,000 single edits of database, archive, exports and backups of a box that people have worked with, and 1,000 looks at what nobody has edited',
    script: 'torture.mjs',
    words: ['trust', '--rounds', '11000'],
    seed: '--seed',
  },
  ...[
    { name: 'io', peers: 'a Modbus and an EtherNet/IP device', words: ['drivers/modbus', 'drivers/ethernet-ip', 'drivers/random-faults'] },
    { name: 'io-opcua', peers: 'an OPC UA server, followed and polled', words: ['drivers/opcua'] },
  ].map(({ name, peers, words }) => ({
    name,
    what: `the cable of ${peers} pulled 10,000 times, 10,000 faults of every kind${name === 'io' ? ', and 200,000 answers changed on the way' : ''}`,
    script: 'test.mjs',
    words,
    env: { IO_PULLS: '10000', IO_FAULTS: '10000', IO_FRAMES: '200000', SUITE_MAX_S: String(2 * 3600) },
    seed: 'IO_SEED',
  })),
  {
    name: 'fuzz',
    what: 'properties of language, blocks, charts and formats with draws of another seed, 1,500 generated programs of each kind',
    script: 'test.mjs',
    words: ['runtime/', 'platform/'],
    env: { TEST_RUNS: '1500' },
    seed: 'FUZZ_SEED',
  },
  {
    name: 'changed-copies',
    what: '400 edits of a backup, none of which is taken, and 400 of an export of the audit trail, each of which is found',
    script: 'test.mjs',
    words: ['platform/backup/backup', 'domains/audit/verify-export'],
    env: { EDITS: '400' },
    seed: 'FUZZ_SEED',
  },
  {
    name: 'states',
    what: 'every view of the consoles in every state of a plant, on three sizes of screen, by day and by night, in both languages',
    script: 'test.mjs',
    words: ['console/states'],
    env: { CONSOLE_STATES: 'all', SUITE_MAX_S: '3600' },
  },
  {
    name: 'package',
    what: 'the package built twice and compared, its Debian packages those of the lock, its signatures, installed, run, removed and purged in a fresh Debian 13, the container with a read-only root',
    script: 'package-proof.mjs',
    words: [],
  },
  {
    name: 'debian13',
    what: 'suites of the runtime and the platform on Debian 13 with the Node of the package',
    script: 'debian13.mjs',
    words: ['tests/runtime/', 'tests/platform/'],
  },
  {
    name: 'service',
    what: 'the unit under a real systemd: a Debian 13 with the package, four bites of the watchdog and rescue, four starts that hang and rescue, upgrade, way back and removal with data',
    script: 'service-proof.mjs',
    words: [],
  },
  {
    name: 'image',
    what: 'the image of the disk started in a virtual machine (OVMF, TCG): ready, commissioned by what its screen says, a batch, root, ports and SSH, started again',
    script: 'image-proof.mjs',
    words: [],
  },
  { name: 'pod', what: 'the pod of k3s/ by podman, with the container image of the package', script: 'pod.mjs', words: [] },
  { name: 'idle', what: 'memory of the demonstration on which nobody works, 75 minutes: 250 MB at most, and a rise of at most 2 MB in an hour', script: 'idle.mjs', words: [] },
  { name: 'firefox', what: 'an operator’s walk through the pages in Firefox ESR, on a panel, a phone and a desk, in both languages', script: 'firefox-walk.mjs', words: [] },
  {
    name: 'persons',
    what: 'every task of an operator, a lead operator, a manager and an administrator, done in the pages in Chromium',
    script: 'persons-walk.mjs',
    words: [],
  },
  { name: 'slow-panel', what: 'suites of the console with a sixth of the processor and late answers', script: 'test.mjs', words: ['console/'], env: { CONSOLE_SLOWDOWN: '6' } },
];

const words = process.argv.slice(2);
const seedAt = words.indexOf('--seed');
const [, seed = String(Date.now() % 2 ** 31)] = seedAt < 0 ? [] : words.splice(seedAt, 2);
if (!/^\d+$/.test(seed)) throw new Error(`--seed is '${seed}'; it is a whole number`);
const chosen = RUNS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0) throw new Error(`no long run is named ${words.join(' or ')}; there are ${RUNS.map(({ name }) => name).join(', ')}`);

let failed = 0;
for (const run of chosen) {
  const begun = performance.now();
  const counts = await play(run);
  failed += counts.failed;
  note(run, counts, Math.round((performance.now() - begun) / 60_000));
}
process.exit(failed > 0 ? 1 : 0);

/** What it printed goes through; its last `N passed, N failed` counts, and a run without one has failed. */
function play({ name, script, words: args, env = {}, seed: seedOf }) {
  console.log(`== ${name}`);
  const isArgument = seedOf?.startsWith('--');
  const child = spawn(process.execPath, [path.join(root, 'scripts', script), ...args, ...(isArgument ? [seedOf, seed] : [])], {
    cwd: root,
    env: { ...process.env, ...env, ...(seedOf && !isArgument ? { [seedOf]: seed } : {}) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    text += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const [, passed = '0', bad = '1'] = [...text.matchAll(/^(\d+) passed, (\d+) failed/gm)].at(-1) ?? [];
      resolve({ passed: Number(passed), failed: Math.max(Number(bad), code === 0 ? 0 : 1) });
    });
  });
}

/** The row of this run in the page, in place of the one of before. */
function note({ name, what, seed: seedOf }, { passed, failed: bad }, minutes) {
  const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', 'src', 'runtime', 'tests', 'scripts') === '' ? '' : ' with changes');
  const day = new Date().toISOString().slice(0, 10);
  const row = `| ${name} | ${what} | ${day} | ${commit} | ${seedOf ? seed : 'its own'} | ${passed} | ${bad} | ${minutes} min, ${cpus().length} cores |`;
  const lines = readFileSync(PAGE, 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((line) => line.startsWith(`| ${name} |`));
  if (at < 0) lines.push(row);
  else lines[at] = row;
  writeFileSync(PAGE, `${lines.join('\n')}\n`);
}

function git(...args) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim();
}
