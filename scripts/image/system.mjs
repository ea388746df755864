// The root of the image as a folder: a Debian 13 with the package installed and image/root laid over it; nothing in it of the machine that made it.
import { appendFileSync, cpSync, existsSync, lstatSync, lutimesSync, mkdirSync, readdirSync, readFileSync, rmSync, chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inDebian } from '../package/debian.mjs';
import { ran, root } from '../package/facts.mjs';
import { filesOf } from '../package/production.mjs';

const OVERLAY = path.join(root, 'image/root');
/** The user of the appliance: the same in every image, as the data partition outlives all of them; the one of the container. */
const USER = 64090;

const UNITS = {
  enable: ['systemd-networkd', 'systemd-resolved', 'nftables', 'chrony', 'ssh', 'lineside', 'lineside-screen', 'lineside-grow', 'lineside-network'],
  /** They write to a root that cannot be written, or ask for updates that cannot be installed. */
  disable: ['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer', 'e2scrub_reap.service'],
  /** No login at a terminal, no restart by three fingers, no keys of SSH before it is commissioned. */
  mask: ['getty@.service', 'serial-getty@.service', 'console-getty.service', 'ctrl-alt-del.target', 'sshd-keygen.service', 'ssh.socket'],
};

/** Generators that stay off: SSH over sockets of a virtual machine is a way in that nobody has commissioned. */
const GENERATORS_OFF = ['systemd-ssh-generator'];

/** Places to mount at. */
/** A box out of the box speaks TLS, with a certificate that its screen shows the fingerprint of. */
const SETTINGS = '\ngateway.tls.selfSigned: true\n';
const FOLDERS = ['data', 'boot/efi', 'etc/nftables.d', 'etc/chrony/sources.d', 'var/lib/lineside'];
/** What a machine makes for itself, and what only an installation needs. */
const REMOVED = [
  'etc/ssh/ssh_host_*',
  'etc/machine-id',
  'etc/hostname',
  'etc/.pwd.lock',
  'etc/*-',
  'var/lib/dbus/*',
  'var/lib/systemd/random-seed',
  'var/lib/apt/lists/*',
  'var/cache/*',
  'var/log/*',
  'var/tmp/*',
  'tmp/*',
  'run/*',
  'root/lineside.deb',
  'boot/*.old',
  'usr/share/doc/*',
  'usr/share/man/*',
  'usr/share/locale/*',
];
/** Of usr/share/doc the licences stay. */
const LICENCES = /(^|\/)copyright$/;

/** Makes it in `tree`. `debian`: the folder it starts from; `deb`: the package. */
export function makeSystem({ debian, deb, tree, epochS, log }) {
  log('installing the package in a Debian of its own');
  rmSync(tree, { recursive: true, force: true });
  ran('cp', ['-a', debian, tree]);
  const inside = (...command) => inDebian(tree, command, { env: { SOURCE_DATE_EPOCH: String(epochS) } });
  inside('groupadd', '--system', '--gid', String(USER), 'lineside');
  inside('useradd', '--system', '--uid', String(USER), '--gid', 'lineside', '--home-dir', '/var/lib/lineside', '--no-create-home', '--shell', '/usr/sbin/nologin', 'lineside');
  cpSync(deb, path.join(tree, 'root/lineside.deb'));
  inside('dpkg', '-i', '/root/lineside.deb');

  // copied to the data partition at the first start: from then on the settings are the plant's
  appendFileSync(path.join(tree, 'etc/lineside/config.yaml'), SETTINGS);

  for (const folder of FOLDERS) mkdirSync(path.join(tree, folder), { recursive: true });
  for (const name of overlayNames()) {
    const to = path.join(tree, name);
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(path.join(OVERLAY, name), to);
    chmodSync(to, isProgram(path.join(OVERLAY, name)) ? 0o755 : 0o644);
  }
  inside('passwd', '--quiet', '--lock', 'root');
  for (const [verb, units] of Object.entries(UNITS)) inside('systemctl', '--quiet', verb, ...units);

  for (const generator of GENERATORS_OFF) {
    const at = path.join(tree, 'etc/systemd/system-generators', generator);
    mkdirSync(path.dirname(at), { recursive: true });
    symlinkSync('/dev/null', at);
  }

  log('making the initramfs');
  inside('update-initramfs', '-u', '-k', 'all');
  clean(tree);
  settle(tree, epochS);
}

export function overlayNames() {
  return filesOf(OVERLAY);
}

function isProgram(file) {
  return readFileSync(file).subarray(0, 2).toString() === '#!';
}

function clean(tree) {
  const licences = filesOf(path.join(tree, 'usr/share/doc')).filter((name) => LICENCES.test(name) && !lstatSync(path.join(tree, 'usr/share/doc', name)).isSymbolicLink());
  const kept = licences.map((name) => [path.join(tree, 'usr/share/doc', name), readFileSync(path.join(tree, 'usr/share/doc', name))]);
  for (const pattern of REMOVED) ran('sh', ['-c', `rm -rf ${pattern}`], { cwd: tree });
  for (const [file, contents] of kept) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  // mounted over by those of the data partition: scripts/local-bottom/lineside-data
  writeFileSync(path.join(tree, 'etc/machine-id'), '');
  writeFileSync(path.join(tree, 'etc/hostname'), 'lineside\n');
  writeFileSync(path.join(tree, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  rmSync(path.join(tree, 'etc/resolv.conf'), { force: true });
  symlinkSync('../run/systemd/resolve/stub-resolv.conf', path.join(tree, 'etc/resolv.conf'));
  mkdirSync(path.join(tree, 'var/log/journal'), { recursive: true });
}

/** Nothing is newer than the commit. */
function settle(folder, epochS) {
  for (const name of readdirSync(folder)) {
    const at = path.join(folder, name);
    const stat = lstatSync(at);
    if (stat.isDirectory()) settle(at, epochS);
    else if (stat.mtimeMs > epochS * 1000) lutimesSync(at, epochS, epochS);
  }
  if (existsSync(folder)) lutimesSync(folder, epochS, epochS);
}
