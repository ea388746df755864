// The container image, made without a container engine: the essential part of Debian as one layer, the program with its Node as another, packed
// by umoci into an OCI layout. Nobody in it but the user that runs the program; its root may be read-only, all it writes is in the volume.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { folderEntries } from './tree.mjs';
import { CONTAINER_USER, DATA } from './bases.mjs';
import { PINS, ran, root } from './facts.mjs';
import { PROGRAM_FOLDER } from './deb.mjs';
import { writeTar } from './tar.mjs';

const PORT = 8090;
const NODE = `/${PROGRAM_FOLDER}/node/bin/node`;
/** Writes the OCI layout as one archive to `file`; `debian` is the archive of the layer below, `entries` are those of the Debian package that belong into a container. */
export function writeImage({ work, debian, entries, release, file }) {
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
    [debian, `Debian ${PINS.debian.suite}`],
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
