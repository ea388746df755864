// `npm run long service`: the unit under a real systemd. A Debian 13 with the package of `npm run package` boots in namespaces of its own (root, mmdebstrap, unshare, nsenter):
// the service starts, is fed, stops, is not started again where that is of no use, and ends that follow each other end in rescue.
// The network is that of this machine. What the machine does not let its processes have (real-time priority, more open files) the service does not have here.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PACKAGE = path.join(root, 'artifacts/package');
const PORT = 28126;
const PATIENCE_MS = 90_000;
const LOOK_MS = 500;
/** In place of the unit's, so that four bites do not take minutes. */
const WATCHDOG_S = 6;
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

const counts = { passed: 0, failed: 0 };
function check(what, is) {
  counts[is ? 'passed' : 'failed'] += 1;
  console.log(`${is ? 'ok' : 'not ok'}  ${what}`);
}

function ran(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1e8 });
  if (error) throw new Error(`${program} is needed: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

async function until(what, look) {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`gave up waiting until ${what}`);
}

const ready = () =>
  fetch(`http://127.0.0.1:${PORT}/readyz`).then(
    (response) => response.status,
    () => undefined,
  );

/** Debian 13 with the package, in `machine`. */
function installed(machine) {
  const deb = existsSync(PACKAGE) ? readdirSync(PACKAGE).find((name) => name.endsWith('.deb')) : undefined;
  if (!deb) throw new Error('there is no Debian package in artifacts/package: npm run package makes it');
  ran('mmdebstrap', '--quiet', '--variant=apt', '--include=systemd,systemd-sysv,dbus,init-system-helpers,util-linux', 'trixie', machine);
  ran('cp', path.join(PACKAGE, deb), path.join(machine, 'root/lineside.deb'));
  ran('chroot', machine, 'dpkg', '--install', '--force-depends', '/root/lineside.deb');
}

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-machine-'));
const machine = process.argv[2] ?? path.join(folder, 'debian');
let boot;
try {
  if (process.argv[2] === undefined) installed(machine);
  const at = (name) => path.join(machine, name);
  rmSync(at('var/lib/lineside'), { recursive: true, force: true });
  writeFileSync(at('etc/lineside/config.yaml'), SETTINGS);
  mkdirSync(at('etc/systemd/system/lineside.service.d'), { recursive: true });
  writeFileSync(at('etc/systemd/system/lineside.service.d/proof.conf'), `[Service]\nWatchdogSec=${WATCHDOG_S}s\n`);
  writeFileSync(path.join(folder, 'boot.sh'), BOOT);
  boot = spawn('unshare', ['-m', '-p', '-f', '-C', '-i', '-u', '--propagation', 'private', '--kill-child', 'sh', path.join(folder, 'boot.sh'), machine], { stdio: 'ignore' });
  const first = await until('systemd is there', () => {
    const pid = readFileSync(`/proc/${boot.pid}/task/${boot.pid}/children`, 'utf8').trim();
    return pid !== '' && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'systemd' && pid;
  });
  const tried = (...words) => spawnSync('nsenter', ['-t', first, '-m', '-p', '-C', '-i', '-u', '-r', '-w', ...words], { encoding: 'utf8' });
  const shown = (name) => tried('systemctl', 'show', '--value', '-p', name, 'lineside').stdout.trim();
  await until('systemd answers', () => /running|degraded/.test(tried('systemctl', 'is-system-running').stdout));
  tried('systemd-tmpfiles', '--create', 'lineside.conf');
  check("its settings are root's to write and the appliance's to read", tried('stat', '-c', '%A %U %G', '/etc/lineside/config.yaml').stdout === '-rw-r----- root lineside\n');

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
  writeFileSync(at('etc/lineside/config.yaml'), `${SETTINGS}nonsense: 1\n`);
  check('with a wrong setting it does not start', tried('systemctl', 'start', 'lineside').status !== 0);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  check('and is not started again', shown('ActiveState') === 'failed' && shown('ExecMainStatus') === '2' && shown('NRestarts') === '0');
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
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 ? 1 : 0);
