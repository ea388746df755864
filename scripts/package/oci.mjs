// The container image, made without a container engine: the essential part of Debian as one layer, the program with its Node as another, packed
// by umoci into an OCI layout. Nobody in it but the user that runs the program; its root may be read-only, all it writes is in the volume.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { folderEntries } from './tree.mjs';
import { needRoot } from './debian.mjs';
import { CACHE, keyOf, PINS, ran, root } from './facts.mjs';
import { PROGRAM_FOLDER } from './deb.mjs';
import { writeTar } from './tar.mjs';

/** The user in the container, by number, so that an orchestrator can see that it is not root. */
export const CONTAINER_USER = { name: 'lineside', uid: 64090, gid: 64090 };
export const DATA = '/var/lib/lineside';
const PORT = 8090;
const NODE = `/${PROGRAM_FOLDER}/node/bin/node`;
/** What a panel or a person never reads on a box without a shell of its own. */
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/lintian/*'];

/** @returns the archive of the Debian below the program; made once for the same pins. */
function debianLayer({ log, epochS }) {
  needRoot();
  const { suite, container } = PINS.debian;
  const file = path.join(CACHE, `container-${suite}-${keyOf(container, LEFT_OUT, CONTAINER_USER)}.tar`);
  if (existsSync(file)) return file;
  log(`making the Debian ${suite} of the container`);
  const { name, uid, gid } = CONTAINER_USER;
  const hooks = [
    `echo ${name}:x:${uid}:${gid}:Lineside:${DATA}:/usr/sbin/nologin >> "$1/etc/passwd"; echo ${name}:x:${gid}: >> "$1/etc/group"`,
    `mkdir -p "$1${DATA}" && chown ${uid}:${gid} "$1${DATA}" && chmod 0700 "$1${DATA}"`,
    // names of this machine
    'rm -f "$1/etc/hostname" "$1/etc/resolv.conf" "$1/var/cache/ldconfig/aux-cache"; rm -rf "$1/var/log/"* "$1/var/lib/apt/lists/"*',
    // the package manager's own copy of what was there before
    'rm -f "$1/etc/passwd-" "$1/etc/group-" "$1/etc/shadow-" "$1/etc/gshadow-" "$1/var/lib/dpkg/status-old" "$1/var/lib/dpkg/available"',
  ];
  const options = ['--quiet', '--variant=essential', `--include=${container.join(',')}`, ...LEFT_OUT.map((name) => `--dpkgopt=path-exclude=${name}`)];
  const licences = '--dpkgopt=path-include=/usr/share/doc/*/copyright';
  ran('mmdebstrap', [...options, licences, ...hooks.map((hook) => `--customize-hook=${hook}`), suite, `${file}.making.tar`], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epochS) },
  });
  renameSync(`${file}.making.tar`, file);
  return file;
}

/** Writes the OCI layout as one archive to `file`; `entries` are those of the Debian package that belong into a container. */
export function writeImage({ work, entries, release, file, log = console.log }) {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const layout = path.join(work, 'layout');
  const image = `${layout}:${release.version}`;
  const layer = path.join(work, 'program.tar');
  const created = new Date(release.epochS * 1000).toISOString().replace('.000', '');
  writeTar(layer, entries, release.epochS);
  const umoci = (...args) => ran('umoci', args);
  umoci('init', '--layout', layout);
  umoci('new', '--image', image);
  for (const [tar, words] of [
    [debianLayer({ log, epochS: 0 }), `Debian ${PINS.debian.suite}`],
    [layer, `lineside ${release.version}`],
  ]) {
    umoci('raw', 'add-layer', '--image', image, '--history.created', created, '--history.author', 'lineside', '--history.created_by', words, tar);
  }
  const { execArgv, env } = JSON.parse(readFileSync(path.join(root, 'scripts/process-options.json'), 'utf8'));
  const entrypoint = [NODE, ...execArgv, `/${PROGRAM_FOLDER}/bin/lineside.js`, 'start', '--data-dir', DATA];
  umoci(
    'config',
    ...['--image', image, '--no-history', '--created', created, '--author', 'lineside', '--os', 'linux', '--architecture', 'amd64'],
    ...['--config.user', `${CONTAINER_USER.uid}:${CONTAINER_USER.gid}`, '--config.workingdir', DATA, '--config.stopsignal', 'SIGTERM'],
    ...['--config.exposedports', `${PORT}/tcp`, '--config.volume', DATA],
    ...entrypoint.flatMap((word) => ['--config.entrypoint', word]),
    ...Object.entries({ PATH: '/usr/bin:/bin', TZ: 'UTC', ...env }).flatMap(([name, value]) => ['--config.env', `${name}=${value}`]),
    ...Object.entries(labels(release)).flatMap(([name, value]) => ['--config.label', `${name}=${value}`]),
  );
  umoci('gc', '--layout', layout);
  addHealthCheck(layout, `lineside:${release.version}`);
  const packed = path.join(work, 'image.tar');
  writeTar(
    packed,
    folderEntries(layout, '.').map((entry) => ({ ...entry, name: entry.name.slice(2) })),
    release.epochS,
  );
  cpSync(packed, `${file}.making`);
  renameSync(`${file}.making`, file);
}

function labels({ version, commit }) {
  const name = (word) => `org.opencontainers.image.${word}`;
  return {
    [name('title')]: 'lineside',
    [name('description')]: 'control computer beside one batch line',
    [name('version')]: version,
    [name('revision')]: commit,
    [name('licenses')]: 'Apache-2.0',
  };
}

/**
 * The probe of a container engine that has one: Docker reads it where it reads the rest of the configuration. OCI knows none and ignores it; Kubernetes
 * asks /readyz and /healthz itself. The image gets its name here too: podman and containerd read it of the index.
 */
function addHealthCheck(layout, name) {
  const index = read(layout, 'index.json');
  const [described] = index.manifests;
  const manifest = readBlob(layout, described.digest);
  const configuration = readBlob(layout, manifest.config.digest);
  configuration.config.Healthcheck = { Test: ['CMD', NODE, `/${PROGRAM_FOLDER}/bin/health.js`], Interval: 10e9, Timeout: 5e9, StartPeriod: 30e9, Retries: 3 };
  described.annotations = { ...described.annotations, 'org.opencontainers.image.ref.name': name, 'io.containerd.image.name': `localhost/${name}` };
  const old = [described.digest, manifest.config.digest];
  Object.assign(manifest.config, writeBlob(layout, configuration));
  Object.assign(described, writeBlob(layout, manifest));
  writeFileSync(path.join(layout, 'index.json'), JSON.stringify(index));
  for (const digest of old) rmSync(blobFile(layout, digest));
}

function read(layout, name) {
  return JSON.parse(readFileSync(path.join(layout, name), 'utf8'));
}

function blobFile(layout, digest) {
  return path.join(layout, 'blobs', ...digest.split(':'));
}

function readBlob(layout, digest) {
  return JSON.parse(readFileSync(blobFile(layout, digest), 'utf8'));
}

function writeBlob(layout, value) {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  writeFileSync(blobFile(layout, digest), bytes);
  return { digest, size: bytes.length };
}
