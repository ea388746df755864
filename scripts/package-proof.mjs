// What `npm run long package` plays: the package is built twice, from two checkouts of the commit at two places, and compared; its signatures are checked;
// it is installed in a fresh Debian, run there as its user, removed and purged; and the container runs with a root that nobody can write to.
// Says `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CONTAINER_USER, DATA } from './package/bases.mjs';
import { debianWith, entered, inDebian, versionsIn } from './package/debian.mjs';
import { installPrograms, ran, release as readRelease, root } from './package/facts.mjs';
import { verify } from './package/sign.mjs';
import { check, endProof, freePort, within } from './proof.mjs';

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 30_000;
const FOLDER = path.join(root, 'artifacts/package');
const release = readRelease();
const PRODUCTS = {
  archive: `lineside-${release.version}-linux-x64.tar.zst`,
  deb: `lineside_${release.version}_amd64.deb`,
  image: `lineside-${release.version}.oci.tar`,
  bill: `lineside-${release.version}.cdx.json`,
  build: `lineside-${release.version}.buildinfo.json`,
};
const DEMO = { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_GATEWAY__OPERATINGMODE: 'development', LINESIDE_GATEWAY__LISTEN: '127.0.0.1' };
const made = mkdtempSync(path.join(tmpdir(), 'lineside-proof-'));
/** Processes that run; each ends with us, whatever comes. */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(made, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

installPrograms();
await part('two builds', twoBuilds);
await part('signatures', signatures);
await part('Debian package', debianPackage);
await part('container', container);
endProof();

/** The commit is built here and in a clone at another place, which makes its own Debian and compiles SQLite itself. */
function twoBuilds() {
  if (release.changes) throw new Error('the tree has changes that are not in its commit; a clone of the commit is another program');
  const build = (folder) =>
    ran(process.execPath, ['scripts/package.mjs', '--compile'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], said: `npm run package in ${folder}` });
  build(root);
  const clone = path.join(made, 'elsewhere');
  ran('git', ['clone', '--quiet', '--no-hardlinks', root, clone]);
  ran('git', ['checkout', '--quiet', '--detach', release.commit], { cwd: clone });
  symlinkSync(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
  build(clone);
  for (const name of [...Object.values(PRODUCTS), 'SHA256SUMS']) {
    const [first, second] = [FOLDER, path.join(clone, 'artifacts/package')].map((folder) => readFileSync(path.join(folder, name)));
    check(`${name} has the same bytes from two checkouts`, first.equals(second));
  }
  leftBehind(clone);
  rmSync(clone, { recursive: true });
}

/** A version in the lock that Debian does not have any more. */
function leftBehind(clone) {
  const lock = path.join(clone, 'scripts/package/debian.lock');
  const [before, container] = readFileSync(lock, 'utf8').split('[container]');
  writeFileSync(lock, `${before}[container]${container.replace(/^zlib1g \S+/m, 'zlib1g 1:1.2.0')}`);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/package.mjs', '--into', 'artifacts/other'], { cwd: clone, encoding: 'utf8' });
  check(
    'a build of which Debian has other packages than its lock says which, and what renews it',
    status === 1 &&
      /zlib1g is \S+, the lock has 1:1\.2\.0$/m.test(stderr) &&
      stderr.includes('npm run package -- --refresh') &&
      !existsSync(path.join(clone, 'artifacts/other/SHA256SUMS')),
  );
}

function signatures() {
  const publicKey = path.join(FOLDER, 'lineside.pub');
  for (const name of [...Object.values(PRODUCTS), 'SHA256SUMS']) check(`the signature of ${name} is good`, !throws(() => verify(path.join(FOLDER, name), publicKey)));
  const changed = path.join(made, PRODUCTS.archive);
  const bytes = readFileSync(path.join(FOLDER, PRODUCTS.archive));
  bytes[1000] ^= 1;
  writeFileSync(changed, bytes);
  cpSync(path.join(FOLDER, `${PRODUCTS.archive}.minisig`), `${changed}.minisig`);
  check(
    'the signature of an archive with one bit turned is refused',
    throws(() => verify(changed, publicKey)),
  );
  check('the sums are right', spawnSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: FOLDER }).status === 0);
}

async function debianPackage() {
  const debian = path.join(made, 'debian');
  ran('cp', ['-a', debianWith(['ca-certificates']), debian]);
  cpSync(path.join(FOLDER, PRODUCTS.deb), path.join(debian, 'root/lineside.deb'));
  const inside = (...command) => inDebian(debian, command);
  const has = (name) => existsSync(path.join(debian, name));
  inside('apt-get', 'update', '-q');
  inside('apt-get', 'install', '-y', '-q', '--no-install-recommends', '/root/lineside.deb');
  const user = inside('getent', 'passwd', 'lineside').split(':');
  check('apt installs it with what it depends on, and its user is there', user[0] === 'lineside');
  check(
    'the service is enabled',
    has('etc/systemd/system/multi-user.target.wants/lineside.service') || isLink(debian, 'etc/systemd/system/multi-user.target.wants', 'lineside.service'),
  );
  check('the command says its version', inside('lineside', '--version').trim() === release.version);
  const asUser = ['setpriv', '--reuid=lineside', '--regid=lineside', '--init-groups', '--inh-caps=-all'];
  inside('install', '-d', '-o', 'lineside', '-g', 'lineside', '-m', '0750', DATA); // what StateDirectory= of the unit does
  const start = ['lineside', 'start', '--data-dir', DATA, '--config', '/etc/lineside/config.yaml'];
  await serves('the installed program', debian, [...asUser, ...start]);
  check('and has left its data', has(`${DATA}/state.db`));
  for (const library of ['mqtt', 'st-ethernet-ip/dist/enip/cip/index.js', 'yaml', '@valibot/to-json-schema', 'pino'])
    check(
      `${library} loads from the package`,
      !throws(() => inside('/usr/lib/lineside/node/bin/node', '-e', `process.chdir('/usr/lib/lineside'); import(require.resolve('${library}', { paths: ['/usr/lib/lineside'] }))`)),
    );
  writeFileSync(path.join(debian, 'etc/lineside/config.yaml'), '# of the plant\n');
  inside('apt-get', 'install', '-y', '-q', '--reinstall', '-o', 'Dpkg::Options::=--force-confdef', '-o', 'Dpkg::Options::=--force-confold', '/root/lineside.deb');
  check('an upgrade keeps the configuration of the plant', readFileSync(path.join(debian, 'etc/lineside/config.yaml'), 'utf8') === '# of the plant\n');
  inside('apt-get', 'remove', '-y', '-q', 'lineside');
  check(
    'removed, the program is gone, configuration and data stay',
    !has('usr/lib/lineside') && !has('usr/bin/lineside') && has('etc/lineside/config.yaml') && has(`${DATA}/state.db`),
  );
  inside('apt-get', 'purge', '-y', '-q', 'lineside');
  check(
    'purged, the configuration is gone, the data and its user stay',
    !has('etc/lineside/config.yaml') && has(`${DATA}/state.db`) && inside('getent', 'passwd', 'lineside') !== '',
  );
  check(
    'nothing enabled is left of the service',
    !isLink(debian, 'etc/systemd/system/multi-user.target.wants', 'lineside.service') && !isLink(debian, 'etc/systemd/system', 'lineside.service'),
  );
}

async function container() {
  const layout = path.join(made, 'layout');
  mkdirSync(layout);
  ran('tar', ['-xf', path.join(FOLDER, PRODUCTS.image), '-C', layout]);
  const bundle = path.join(made, 'bundle');
  ran('umoci', ['unpack', '--image', `${layout}:lineside:${release.version}`, bundle]);
  const rootfs = path.join(bundle, 'rootfs');
  const { process: described, root: rootWords } = JSON.parse(readFileSync(path.join(bundle, 'config.json'), 'utf8'));
  check('its user is not root', described.user.uid === CONTAINER_USER.uid && rootWords.path === 'rootfs');
  const { components } = JSON.parse(readFileSync(path.join(FOLDER, PRODUCTS.bill), 'utf8'));
  const billed = components.filter(({ purl = '' }) => purl.startsWith('pkg:deb/')).map(({ name, version }) => [name, version]);
  check(`the bill names the ${billed.length} Debian packages that the container has`, JSON.stringify(billed.sort()) === JSON.stringify(Object.entries(versionsIn(rootfs)).sort()));
  const volume = path.join(made, 'volume');
  mkdirSync(volume);
  ran('chown', [`${CONTAINER_USER.uid}:${CONTAINER_USER.gid}`, volume]);
  const asUser = ['setpriv', `--reuid=${CONTAINER_USER.uid}`, `--regid=${CONTAINER_USER.gid}`, '--clear-groups', '--inh-caps=-all'];
  const world = {
    binds: { [DATA]: volume },
    readOnly: ['/'],
    env: Object.fromEntries(described.env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
  };
  const touch = (file) => !throws(() => inDebian(rootfs, [...asUser, 'touch', file], world));
  check('its root cannot be written, its volume can', !touch('/tmp/x') && !touch('/usr/lib/lineside/x') && touch(`${DATA}/x`));
  await serves('the container', rootfs, [...asUser, ...described.args], world, (port) => {
    const probe = (address) => spawnSync(...entered(rootfs, [...asUser, '/usr/lib/lineside/node/bin/node', '/usr/lib/lineside/bin/health.js', address], world)).status;
    check('its health check is good while it serves', probe(`http://127.0.0.1:${port}/readyz`) === 0);
    check('and fails where nothing serves', probe('http://127.0.0.1:1/readyz') === 1);
  });
  check('the data is in the volume', existsSync(path.join(volume, 'state.db')));
}

/** Starts the program with the demo, asks something of it, and ends it in order. */
async function serves(what, debian, command, world = {}, during = () => undefined) {
  const port = await freePort();
  const [program, args] = entered(debian, command, { ...world, env: { ...world.env, ...DEMO, LINESIDE_GATEWAY__HTTPPORT: String(port) } });
  const begun = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const ended = new Promise((resolve) => child.on('close', resolve)).finally(() => running.delete(child));
  const base = `http://127.0.0.1:${port}`;
  const ready = await within(READY_WITHIN_MS, async () => child.exitCode === null && (await fetch(`${base}/readyz`).catch(() => undefined))?.status === 200, 50);
  check(`${what} is ready after ${((performance.now() - begun) / 1000).toFixed(1)} s`, ready);
  if (!ready) throw new Error(said);
  const code = /commissioning code\s+(\S+)/.exec(said)?.[1];
  const post = (to, body) =>
    fetch(`${base}/api/v1/auth/${to}`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-dcs-nonce': crypto.randomUUID() }, body: JSON.stringify(body) });
  const password = 'a long enough password';
  const created = await post('first-admin', { code, username: 'anna', password });
  const login = await (await post('login', { username: 'anna', password })).json();
  const units = await fetch(`${base}/api/v1/sites/demo/units`, { headers: { authorization: `Bearer ${login.accessToken}` } });
  check(`${what} commissions an administrator and shows the units of the demo`, created.ok && units.ok && (await units.text()).includes('"name"'));
  const pages = await Promise.all(['/hmi', '/docs', '/docs/engineering/own-plant.html'].map(async (page) => (await fetch(base + page)).status));
  check(
    `${what} serves its pages`,
    pages.every((status) => status === 200),
  );
  await during(port);
  process.kill(innerOf(child.pid), 'SIGTERM');
  const stopped = await Promise.race([ended.then(() => true), new Promise((resolve) => setTimeout(resolve, STOPPED_WITHIN_MS, false).unref())]);
  check(`${what} ends in order`, stopped && said.includes('lineside has stopped (SIGTERM)') && !said.includes('not cleanly'));
}

/** The first process of the world that `unshare` made. */
function innerOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function isLink(debian, folder, name) {
  const at = path.join(debian, folder);
  return existsSync(at) && readdirSync(at).includes(name);
}

function throws(call) {
  try {
    call();
    return false;
  } catch {
    return true;
  }
}

/** A part that cannot go on is one failure; words of the command line choose parts. */
async function part(name, run) {
  const words = process.argv.slice(2);
  if (words.length > 0 && !words.some((word) => name.includes(word))) return;
  console.log(`-- ${name}`);
  try {
    await run();
  } catch (fault) {
    check(`${name}: ${fault instanceof Error ? fault.message : fault}`, false);
  }
}
