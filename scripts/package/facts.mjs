// What every part of the package build goes by: the pins, the version and the commit, and where things are kept.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
/** What is taken from outside and not by package-lock.json; each part with its hash. */
export const PINS = JSON.parse(readFileSync(path.join(root, 'scripts/package/pins.json'), 'utf8'));
export const LOCK_FILE = path.join(root, 'package-lock.json');
/** Kept between builds, each under the hash of what it was made of. */
export const CACHE = path.join(root, 'artifacts/cache');

/** Paths whose changes are not in the commit, when any of them goes into the package. */
export const SHIPPED = [
  'src',
  'runtime',
  'demo',
  'bin',
  'docs',
  'examples',
  'scripts',
  'systemd',
  'image',
  'firmware-profiles',
  'LICENSE',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'package.json',
  'package-lock.json',
];

/**
 * @returns version, full commit, `epochS` (the instant of the commit: all files and documents of the package bear it, so that a build of the
 * same commit has the same bytes) and whether the tree has `changes` that the commit has not.
 */
export function release() {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return { version, commit: git('rev-parse', 'HEAD'), epochS: Number(git('log', '-1', '--format=%ct')), changes: git('status', '--porcelain', '--', ...SHIPPED) !== '' };
}

/** @returns the hash of any JSON, short: the name of what was made of it. */
export function keyOf(...parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

export function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Runs a program that must succeed. @returns what it printed; @throws with the end of what it said otherwise; `said` names it there. */
export function ran(program, args, { said = `${program} ${args.join(' ')}`, ...options } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
  if (error?.code === 'ENOENT') throw new Error(`${program} is not there: ${helpWith(program)}`);
  if (status !== 0) throw new Error(`${said} ended with ${status ?? error}: ${[stdout, stderr].join('\n').trim().split('\n').slice(-12).join('\n')}`);
  return stdout ?? '';
}

/** Programs of Debian that the build calls, by the package that has them. */
export const PROGRAMS = { mmdebstrap: 'mmdebstrap', minisign: 'minisign', umoci: 'umoci', zstd: 'zstd' };

/** Installs those that are absent, where it may (root and apt); the first use of one that is not there says what to do. */
export function installPrograms({ log = console.log, programs = PROGRAMS } = {}) {
  const missing = Object.entries(programs).filter(([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing.length === 0 || process.getuid?.() !== 0) return;
  const packages = missing.map(([, name]) => name);
  log(`installing ${packages.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-q'], { stdio: 'ignore', env });
  spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], { stdio: 'ignore', env });
}

function helpWith(program) {
  return PROGRAMS[program] === undefined ? 'it is part of any Debian' : `as root: apt-get install --no-install-recommends ${PROGRAMS[program]}`;
}

function git(...args) {
  return ran('git', args, { cwd: root }).trim();
}
