// `npm run long service`: the unit under a real systemd. A Debian 13 with the package of `npm run package` boots in namespaces of its own (root, mmdebstrap, unshare, nsenter):
// the service starts, is fed, stops, is not started again where that is of no use, and ends that follow each other end in rescue; starts that hang do so, too.
// Then it is upgraded, brought back to the version before, removed and installed again, with data of a plant. Words of the command line choose parts.
// The network is that of this machine. What the machine does not let its processes have (real-time priority, more open files) the service does not have here.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { check, counts, endProof, ran, until as soon } from './proof.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PACKAGE = path.join(root, 'artifacts/package');
const PORT = 28126;
const PATIENCE_MS = 90_000;
/** In place of the unit's, so that four bites do not take minutes. */
const WATCHDOG_S = 6;
/** The same for starts that hang: the time-out of the start, and that of the end of what does not hear a signal. */
const HUNG = { startS: 12, stopS: 4, times: 4 };
const NEWER = '0.99.0';
const PASSWORD = 'a long enough password';
const SETTINGS = `gateway:\n  httpPort: ${PORT}\n  listen: 127.0.0.1\n`;
/** The machine that systemd finds: a cgroup tree of its own, few devices, nothing else. */
const BOOT = `
set -e
mount --bind "$1" "$1"; cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
mkdir dev/pts dev/shm; mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts; ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
for folder in dev/shm run tmp; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
chmod 755 run
touch dev/console; mkdir -p old; pivot_root . old; umount -l old
exec env -i container=lxc PATH=/usr/sbin:/usr/bin /usr/lib/systemd/systemd --unit=multi-user.target
`;

const until = (what, look) => soon(what, look, PATIENCE_MS);

/** What `/readyz` answers; no status where nobody does. */
const asked = () =>
  fetch(`http://127.0.0.1:${PORT}/readyz`).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    () => ({ text: '' }),
  );
const ready = async () => (await asked()).status;

/** Debian 13 with the package, in `machine`, and beside it one of a newer version. */
function installed(machine) {
  const deb = existsSync(PACKAGE) ? readdirSync(PACKAGE).find((name) => name.endsWith('.deb')) : undefined;
  if (!deb) throw new Error('there is no Debian package in artifacts/package: npm run package makes it');
  ran('mmdebstrap', '--quiet', '--variant=apt', '--include=systemd,systemd-sysv,dbus,init-system-helpers,util-linux,libstdc++6,libatomic1', 'trixie', machine);
  ran('cp', path.join(PACKAGE, deb), path.join(machine, 'root/lineside.deb'));
  newer(path.join(PACKAGE, deb), path.join(machine, 'root/newer.deb'));
  ran('chroot', machine, 'dpkg', '--install', '/root/lineside.deb');
}

/** The same program, which says that it is another version. */
function newer(deb, file) {
  const tree = path.join(folder, 'newer');
  ran('dpkg-deb', '-R', deb, tree);
  const edit = (name, change) => writeFileSync(path.join(tree, name), change(readFileSync(path.join(tree, name), 'utf8')));
  edit('DEBIAN/control', (text) => text.replace(/^Version: .*$/m, `Version: ${NEWER}`));
  edit('usr/lib/lineside/package.json', (text) => JSON.stringify({ ...JSON.parse(text), version: NEWER }));
  ran('dpkg-deb', '--root-owner-group', '-Zgzip', '-z1', '--build', tree, file);
  rmSync(tree, { recursive: true });
}

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-machine-'));
const machine = path.join(folder, 'debian');
const at = (name) => path.join(machine, name);
let boot;
let first;
const tried = (...words) => spawnSync('nsenter', ['-t', first, '-m', '-p', '-C', '-i', '-u', '-r', '-w', ...words], { encoding: 'utf8' });
const shown = (name) => tried('systemctl', 'show', '--value', '-p', name, 'lineside').stdout.trim();
try {
  installed(machine);
  await booted();
  for (const [name, run] of Object.entries({ watchdog, 'hung start': hungStart, 'wrong setting': wrongSetting, upgrade })) {
    const words = process.argv.slice(2);
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    console.log(`-- ${name}`);
    await run();
  }
} catch (fault) {
  console.log(fault.message);
  counts.failed += 1;
} finally {
  if (boot?.exitCode === null) {
    const gone = new Promise((resolve) => boot.once('exit', resolve));
    boot.kill('SIGKILL'); // its namespace of processes goes with it
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}
endProof();

async function booted() {
  writeFileSync(at('etc/lineside/config.yaml'), SETTINGS);
  mkdirSync(at('etc/systemd/system/lineside.service.d'), { recursive: true });
  dropIn(`WatchdogSec=${WATCHDOG_S}s`);
  writeFileSync(path.join(folder, 'boot.sh'), BOOT);
  boot = spawn('unshare', ['-m', '-p', '-f', '-C', '-i', '-u', '--propagation', 'private', '--kill-child', 'sh', path.join(folder, 'boot.sh'), machine], { stdio: 'ignore' });
  first = await until('systemd is there', () => {
    const pid = readFileSync(`/proc/${boot.pid}/task/${boot.pid}/children`, 'utf8').trim();
    return pid !== '' && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'systemd' && pid;
  });
  await until('systemd answers', () => /running|degraded/.test(tried('systemctl', 'is-system-running').stdout));
  tried('systemd-tmpfiles', '--create', 'lineside.conf');
}

function dropIn(...lines) {
  writeFileSync(at('etc/systemd/system/lineside.service.d/proof.conf'), ['[Service]', ...lines, ''].join('\n'));
}

/** Stopped, with no data and no history, by this drop-in. */
function afresh(...lines) {
  tried('systemctl', 'stop', 'lineside');
  tried('systemctl', 'reset-failed', 'lineside');
  rmSync(at('var/lib/lineside'), { recursive: true, force: true });
  writeFileSync(at('etc/lineside/config.yaml'), SETTINGS);
  dropIn(...lines);
  tried('systemctl', 'daemon-reload');
}

async function watchdog() {
  check("its settings are root's to write and the appliance's to read", tried('stat', '-c', '%A %U %G', '/etc/lineside/config.yaml').stdout === '-rw-r----- root lineside\n');
  afresh(`WatchdogSec=${WATCHDOG_S}s`);
  check('systemctl start comes back when it is ready', tried('systemctl', 'restart', 'lineside').status === 0 && (await ready()) === 200);
  check(`its status: ${shown('StatusText')}`, shown('StatusText') === '0 of 0 units are scanned');
  const of = (name) => new RegExp(`^${name}:\\s+(.+)$`, 'm').exec(tried('cat', `/proc/${shown('MainPID')}/status`).stdout)?.[1];
  check('it has no capability and gets none', /^0+$/.test(of('CapBnd') ?? '') && of('NoNewPrivs') === '1');
  check('its system calls are filtered', of('Seccomp') === '2');
  check('the system is read-only to it', tried('nsenter', '-t', shown('MainPID'), '-m', 'touch', '/usr/lib/lineside/x').status !== 0);
  await new Promise((resolve) => setTimeout(resolve, 2 * WATCHDOG_S * 1000));
  check('its watchdog is fed', shown('ActiveState') === 'active' && shown('NRestarts') === '0');

  for (let bites = 1; bites <= 4; bites += 1) {
    const pid = shown('MainPID');
    tried('systemctl', 'kill', '--kill-whom=main', '--signal=STOP', 'lineside');
    await until('it is started again', () => shown('MainPID') !== pid && shown('ActiveState') === 'active');
    check(`bitten ${bites} times it is started again`, shown('NRestarts') === String(bites));
    if (bites < 4) check('and drives', (await ready()) === 200);
  }
  check('after the fourth it is in rescue', (await ready()) === 503 && shown('StatusText').startsWith('in rescue, no unit is driven'));
  await new Promise((resolve) => setTimeout(resolve, 2 * WATCHDOG_S * 1000));
  check('and stays there', shown('ActiveState') === 'active' && shown('NRestarts') === '4');

  check('it stops', tried('systemctl', 'stop', 'lineside').status === 0 && shown('Result') === 'success');
}

/** Its main thread stands still when it has said that it starts, four times. What hangs it is loaded before it; an appliance has nothing of the kind. */
async function hungStart() {
  const counted = '/var/lib/lineside/hung';
  const hang = [
    "const fs = require('node:fs');",
    'const { writeFileSync: write } = fs;',
    'fs.writeFileSync = (file, ...rest) => {',
    '  write(file, ...rest);',
    "  if (!String(file).endsWith('/starting')) return;",
    `  const times = fs.existsSync('${counted}') ? fs.statSync('${counted}').size : 0;`,
    `  if (times >= ${HUNG.times}) return;`,
    `  fs.appendFileSync('${counted}', 'x');`,
    '  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);',
    '};',
    "require('node:module').syncBuiltinESMExports();",
  ];
  writeFileSync(at('usr/lib/lineside-hang.cjs'), hang.join('\n'));
  afresh(`TimeoutStartSec=${HUNG.startS}s`, `TimeoutStopSec=${HUNG.stopS}s`, 'Environment=NODE_OPTIONS=--require=/usr/lib/lineside-hang.cjs');
  const begun = performance.now();
  tried('systemctl', 'start', '--no-block', 'lineside');
  for (let restarts = 1; restarts <= HUNG.times; restarts += 1) {
    await until(`hung start ${restarts} is ended`, () => Number(shown('NRestarts')) >= restarts);
    const faults = JSON.parse(readFileSync(at('var/lib/lineside/faults.json'), 'utf8'));
    check(
      `a start that hung is ended by its time-out and counted, ${faults.length} of ${HUNG.times}`,
      faults.length === restarts && /its start was not through after \d+ s/.test(JSON.stringify(faults.at(-1))),
    );
  }
  await until('the next start is through', () => shown('ActiveState') === 'active');
  check(
    `after ${HUNG.times} of them it is in rescue, ${Math.round((performance.now() - begun) / 1000)} s after the first`,
    (await ready()) === 503 && shown('StatusText').startsWith('in rescue, no unit is driven'),
  );
  check('it stops', tried('systemctl', 'stop', 'lineside').status === 0 && shown('Result') === 'success');
}

async function wrongSetting() {
  afresh();
  writeFileSync(at('etc/lineside/config.yaml'), `${SETTINGS}nonsense: 1\n`);
  check('with a wrong setting it does not start', tried('systemctl', 'start', 'lineside').status !== 0);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  check('and is not started again', shown('ActiveState') === 'failed' && shown('ExecMainStatus') === '2' && shown('NRestarts') === '0');
}

/** docs/operations/install.md, from "Then" to "Remove", on a plant of one unit. */
async function upgrade() {
  afresh();
  const lineside = (words, input = '') =>
    spawnSync('nsenter', ['-t', first, '-m', '-p', '-C', '-i', '-u', '-r', '-w', 'env', 'HOME=/root', 'lineside', ...words], { encoding: 'utf8', input });
  const apt = (...words) => tried('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-y', '-q', '--no-install-recommends', ...words);
  const login = (...words) => lineside(['login', `127.0.0.1:${PORT}`, '--user', 'anna', '--password-stdin', ...words], `${PASSWORD}\n`);
  const journal = () => tried('journalctl', '-u', 'lineside', '-o', 'cat', '--no-pager', '-n', '200').stdout;
  const stops = () => journal().split('lineside has stopped (SIGTERM)').length - 1;
  const versionOf = () => lineside(['--version']).stdout.trim();
  const device = () => [...journal().matchAll(/"deviceId":"(\w+)"/g)].at(-1)?.[1];
  const isWhole = async () => (await ready()) === 200 && login().status === 0 && /^v1 /m.test(lineside(['get', 'units']).stdout);

  tried('systemctl', 'start', 'lineside');
  const [, code = ''] = [...journal().matchAll(/commissioning code\s+(\S+)/g)].at(-1) ?? [];
  check('the journal has the code, and it makes the first administrator', login('--code', code).status === 0);
  check('a plant is applied', lineside(['apply', '-f', '/usr/lib/lineside/examples/own-plant/10-site.yaml', '--wait']).status === 0 && (await isWhole()));
  const [before, box] = [versionOf(), device()];
  writeFileSync(at('etc/lineside/config.yaml'), `# of the plant\n${SETTINGS}`);

  tried('systemctl', 'stop', 'lineside');
  tried('cp', '-a', '/var/lib/lineside', '/root/copy');
  check(`apt installs ${NEWER} over ${before}`, apt('install', '/root/newer.deb').status === 0 && versionOf() === NEWER);
  check('and starts it: the data opens, the same box, its administrator, its unit', (await isWhole()) && shown('NRestarts') === '0' && device() === box);
  check('the settings of the plant are kept', readFileSync(at('etc/lineside/config.yaml'), 'utf8').startsWith('# of the plant\n'));

  const stopped = stops();
  check(`apt goes back to ${before} when it is told that it may`, apt('install', '--allow-downgrades', '/root/lineside.deb').status === 0 && versionOf() === before);
  check('the one that runs ends in order before', stops() === stopped + 1);
  check('the data opens, which the newer version had not changed in its form', (await isWhole()) && device() === box);

  tried('systemctl', 'stop', 'lineside');
  const state = new Database(at('var/lib/lineside/state.db'));
  state.prepare('INSERT INTO migrations (version, at) VALUES (?, ?)').run(9999, new Date().toISOString());
  state.close();
  tried('systemctl', 'start', 'lineside');
  const { status, text } = await asked();
  check('data that a newer version has changed in its form leaves it in rescue, which says so', status === 503 && text.includes('was written by a newer version'));
  tried('systemctl', 'stop', 'lineside');
  tried('mv', '/var/lib/lineside', '/var/lib/lineside.newer');
  tried('cp', '-a', '/root/copy', '/var/lib/lineside');
  tried('systemctl', 'start', 'lineside');
  check('the copy of before is put back: the same box', (await isWhole()) && device() === box);

  check('removed, nothing runs', apt('remove', 'lineside').status === 0 && shown('ActiveState') === 'inactive' && (await ready()) === undefined);
  check('data and settings stay', existsSync(at('var/lib/lineside/state.db')) && existsSync(at('etc/lineside/config.yaml')) && !existsSync(at('usr/lib/lineside')));
  check(
    'installed again it is the same box, and runs',
    apt('install', '/root/lineside.deb').status === 0 && shown('ActiveState') === 'active' && (await isWhole()) && device() === box,
  );
}
