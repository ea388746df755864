// What `npm run long image` plays: the image is built and started in a virtual machine; whoever stands before its screen commissions it and runs a batch; it is
// switched off by its button, written over with its own version again and started with SSH commissioned, and looked at from within. `--built`: the image that is there. Says `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { placed } from './image/disk.mjs';
import { FIRMWARE, Machine, MACHINE_PROGRAMS } from './image/machine.mjs';
import { debianOf, inDebian } from './package/debian.mjs';
import { installPrograms, ran, release as readRelease, root } from './package/facts.mjs';
import { check, endProof, freePort, within } from './proof.mjs';

const READY_WITHIN_MS = 240_000;
const OFF_WITHIN_MS = 90_000;
/** The medium is larger than the image: the data partition takes the rest. */
const MEDIUM_BYTES = 2 * 2 ** 30;
const PASSWORD = 'a long enough password';
const BATCH = 'B-1';

const release = readRelease();
const made = mkdtempSync(path.join(tmpdir(), 'lineside-image-'));
const disk = path.join(made, 'disk.img');
const key = path.join(made, 'key');
let machine;
process.on('exit', () => {
  machine?.kill();
  rmSync(made, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

installPrograms({ programs: MACHINE_PROGRAMS });
if (!existsSync(FIRMWARE.code)) ran('apt-get', ['install', '-y', '-q', '--no-install-recommends', FIRMWARE.package]);
if (!process.argv.includes('--built')) ran(process.execPath, ['scripts/image.mjs'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], said: 'npm run image' });
const ports = { 8090: await freePort(), 22: await freePort(), 9999: await freePort() };
const base = `https://127.0.0.1:${ports[8090]}`;
try {
  cpSync(path.join(root, `artifacts/image/lineside-${release.version}-x64.img`), disk);
  truncateSync(disk, MEDIUM_BYTES);
  const seen = await firstStart();
  writeVersion();
  commissionSsh();
  await secondStart(seen);
} catch (fault) {
  check(`it goes on: ${fault instanceof Error ? fault.message : fault}`, false);
  console.log(machine?.serial.slice(-3000));
}
endProof();

async function firstStart() {
  await start('first');
  const code = await within(30_000, () => machine.shown('commissioning code')?.split(' ')[0]);
  check('its screen shows a commissioning code', /^(\w{4}-){2}\w{4}$/.test(code ?? ''));
  check('and where it is reached', /^https:\/\/10\.0\.2\.\d+:8090\/hmi$/.test(machine.shown('console') ?? ''));
  check('SSH is off, says the screen', machine.shown('ssh') === 'off');
  check('nothing answers at the port of SSH', (await saidBy(ports[22])) === '');

  const fingerprint = await within(30_000, () => fingerprintShown());
  check('its screen shows the fingerprint of its certificate', /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/.test(fingerprint ?? ''));
  lineside(['login', base, '--fingerprint', fingerprint, '--code', code, '--user', 'anna', '--password-stdin', '--site', 'demo'], PASSWORD);
  check('the code makes the first administrator', true);
  const login = await ask('/api/v1/auth/login', { body: { username: 'anna', password: PASSWORD } });
  const { accessToken: token } = JSON.parse(login.text);
  const told = async (what) => JSON.parse((await ask(`/api/v1/${what}`, { token })).text);
  const { deviceId } = await told('version');
  check('the fingerprint on its screen is its device id', machine.shown('fingerprint')?.split('(')[0].replaceAll(' ', '') === deviceId);

  lineside(['apply', '-f', path.join(root, 'demo'), '--wait', '--timeout', '90']);
  for (const act of ['approve', 'release', 'activate']) lineside(['recipe', act, 'clean-train', '--reason', 'proof of the image', '--password-stdin'], PASSWORD);
  lineside(['batch', 'create', '--recipe', 'clean-train', '--id', BATCH, '--param', 'rinseAmount=1', '--param', 'dwellTime=0.1']);
  lineside(['batch', 'start', BATCH]);
  lineside(['batch', 'wait', BATCH, '--timeout', '120']);
  check('a batch of the demo runs to its end', lineside(['batch', 'show', BATCH]).includes('is Complete'));
  const health = await told('system/health');
  check(`it is a production box, and scan threads have real-time priority ${health.realtime.reason}`, health.operatingMode === 'production' && health.realtime.granted);
  await within(20_000, () => !lastScreen().includes('commissioning code'));
  check('the code has gone from the screen', !lastScreen().includes('commissioning code'));
  const seen = { deviceId, host: hostOf() };
  await switchOff();
  return seen;
}

/** What docs/operations/image.md says of a new version: EFI and root over those of before, by their place. */
function writeVersion() {
  const image = path.join(root, `artifacts/image/lineside-${release.version}-x64.img`);
  ran('dd', [`if=${image}`, `of=${disk}`, 'bs=1M', 'skip=1', 'seek=1', 'count=1088', 'conv=notrunc,fsync', 'status=none']);
}

/** The keys come onto the EFI partition, as a laptop would write them. */
function commissionSsh() {
  ran('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const [esp] = placed();
  const tools = debianOf('imageTools').at;
  inDebian(tools, ['mcopy', '-i', `/build/disk.img@@${esp.startMiB}M`, '/build/key.pub', '::/lineside/authorized_keys'], { binds: { '/build': made } });
}

async function secondStart({ deviceId, host }) {
  await start('second');
  await within(30_000, () => machine.shown('ssh') === 'commissioned' && machine.shown('fingerprint'));
  check('it is the same box', machine.shown('fingerprint')?.split('(')[0].replaceAll(' ', '') === deviceId && hostOf() === host);
  check('its screen shows no code', !machine.serial.includes('commissioning code'));
  lineside(['login', base, '--user', 'anna', '--password-stdin', '--site', 'demo'], PASSWORD);
  check('its data is there: administrator, plant and the batch that has ended', lineside(['batch', 'show', BATCH]).includes('is Complete'));

  const up = await within(60_000, () => inside('true').status === 0);
  check('SSH lets in who has the key', up);
  check('and nobody by password', spawnSync('ssh', [...sshOptions(), '-o', 'PubkeyAuthentication=no', 'root@127.0.0.1', 'true']).status !== 0);
  check('the root is read-only', inside('findmnt -no OPTIONS /').stdout.startsWith('ro,'));
  for (const file of ['/x', '/usr/lib/lineside/x', '/etc/x', '/var/lib/x']) check(`${file} cannot be written`, inside(`touch ${file}`).stderr.includes('Read-only file system'));
  check('the settings can', inside('touch /etc/lineside/x && rm /etc/lineside/x').status === 0);
  const bytes = Number(inside('df --output=size -B1 /data | tail -1').stdout);
  check(`the data partition has taken the medium (${(bytes / 1e6).toFixed(0)} MB)`, bytes > 800e6);
  check('no unit has failed', inside('systemctl list-units --failed --no-legend --plain').stdout.trim() === '');
  check('the journal holds both starts', inside('journalctl --list-boots --no-pager -q | wc -l').stdout.trim() === '2');
  check('the clock is served by chrony', inside('systemctl is-active chrony').stdout.trim() === 'active');
  check('nobody can log in by a password', inside("awk -F: '$2 !~ /^[!*]/' /etc/shadow").stdout.trim() === '');
  check('what is not named is dropped', /hook input priority filter; policy drop;/.test(inside('nft list ruleset').stdout));
  inside("systemd-run --quiet --unit=listens /usr/lib/lineside/node/bin/node -e \"require('net').createServer((s) => s.end('open')).listen(9999)\"");
  const asks = "/usr/lib/lineside/node/bin/node -e \"require('net').connect(9999, '127.0.0.1').on('data', (d) => console.log(String(d)))\"";
  const listens = await within(20_000, () => inside(`timeout 5 ${asks}`).stdout.trim() === 'open');
  check('another port that listens is reached from within', listens);
  check('and not from outside', (await saidBy(ports[9999])) === '');
  check('the unit of the appliance is active', inside('systemctl is-active lineside').stdout.trim() === 'active');
  for (const line of inside(
    'systemd-analyze; findmnt -lno TARGET,OPTIONS -t ext4,vfat | cut -c1-100; free -m | head -2; journalctl -b -q -p warning --no-pager -o cat | sort | uniq -c | sort -rn | head -20',
  ).stdout.split('\n'))
    console.log(`    ${line}`);
  await switchOff();
}

async function start(name) {
  console.log(`-- ${name} start`);
  const begun = performance.now();
  machine = new Machine({ folder: made, disk, ports, name });
  const ready = await within(READY_WITHIN_MS, async () => (await ask('/readyz').catch(() => undefined))?.status === 200);
  check(`/readyz is 200 after ${((performance.now() - begun) / 1000).toFixed(0)} s`, ready);
  if (!ready) throw new Error('it is not ready');
}

async function switchOff() {
  const begun = performance.now();
  machine.pressPower();
  const off = await Promise.race([machine.ended.then(() => true), new Promise((resolve) => setTimeout(resolve, OFF_WITHIN_MS, false).unref())]);
  check(`its button switches it off in order, in ${((performance.now() - begun) / 1000).toFixed(0)} s`, off && machine.serial.includes('Power down'));
  machine.kill();
}

/** The screen as it was written last. */
function lastScreen() {
  return machine.serial.slice(machine.serial.lastIndexOf('\nLineside '));
}

function hostOf() {
  return /^Lineside \S+ +(\S+)/m.exec(machine.serial)?.[1];
}

/** The command of a person on another machine. */
function lineside(args, input) {
  const env = { ...process.env, HOME: made, XDG_CONFIG_HOME: made };
  return ran(process.execPath, [path.join(root, 'bin/lineside.js'), ...args], {
    input: input === undefined ? '' : `${input}\n`,
    env,
    timeout: 150_000,
    said: `lineside ${args.join(' ')}`,
  });
}

/** A request over a connection of its own: one that was kept may have been closed while this process waited for a command. */
function ask(to, { body, token } = {}) {
  return new Promise((resolve, reject) => {
    const headers = { ...(body ? { 'content-type': 'application/json', 'x-dcs-nonce': crypto.randomUUID() } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const sent = request(`${base}${to}`, { method: body ? 'POST' : 'GET', headers, agent: false, rejectUnauthorized: false, timeout: 10_000 }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
    });
    sent.on('timeout', () => sent.destroy(new Error(`${to} does not answer`)));
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** On two lines of the screen. */
function fingerprintShown() {
  return /^certificate {2,}((?:[0-9A-F]{2}:){16})\s+((?:[0-9A-F]{2}:){15}[0-9A-F]{2}) /m.exec(machine.serial)?.slice(1).join('');
}

function sshOptions() {
  const options = ['StrictHostKeyChecking=no', `UserKnownHostsFile=${path.join(made, 'known')}`, 'BatchMode=yes', 'ConnectTimeout=10', 'LogLevel=ERROR'];
  return ['-F', 'none', '-p', String(ports[22]), ...options.flatMap((option) => ['-o', option])];
}

function inside(command) {
  return spawnSync('ssh', [...sshOptions(), '-i', key, 'root@127.0.0.1', command], { encoding: 'utf8', timeout: 40_000 });
}

/** What a port says by itself within 5 s; the forwarding of the machine takes the connection in any case. */
function saidBy(port) {
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => (said += chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(said));
    setTimeout(() => socket.destroy(), 5000);
  });
}
