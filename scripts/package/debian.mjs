// The Debian 13 in which native modules are compiled and packages are packed, as a folder; made by mmdebstrap once and kept.
// No snapshot of Debian is taken, so the same pins give newer packages on a later day: `packagesOf` names what was used, and stands
// in the build information beside the package.
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { CACHE, keyOf, PINS, ran } from './facts.mjs';

/** What the programs in it see of the outside: nothing. */
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C.UTF-8', TZ: 'UTC', DEBIAN_FRONTEND: 'noninteractive' };

/** @returns the folder of a Debian with these packages. */
export function debianWith(packages, { variant = 'minbase', log = console.log } = {}) {
  needRoot();
  const folder = path.join(CACHE, `debian-${PINS.debian.suite}-${keyOf(variant, packages)}`);
  if (existsSync(folder)) return folder;
  log(`making a Debian ${PINS.debian.suite} with ${packages.join(', ')}`);
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  ran('mmdebstrap', ['--quiet', `--variant=${variant}`, ...(packages.length > 0 ? [`--include=${packages.join(',')}`] : []), PINS.debian.suite, making]);
  renameSync(making, folder);
  return folder;
}

export function needRoot() {
  if (process.getuid?.() !== 0) throw new Error('the package is built in a Debian of its own, which needs root (chroot, owners of files)');
}

/**
 * Runs a program in that Debian: its own processes and mounts, the network of this machine.
 * `binds` are folders of this machine by their paths in there; `readOnly` ones cannot be written.
 * @returns what it printed
 */
export function inDebian(folder, command, { binds = {}, readOnly = [], cwd = '/', env = {}, ...options } = {}) {
  const [program, args] = entered(folder, command, { binds, readOnly, cwd, env });
  return ran(program, args, { ...options, env: { PATH: process.env.PATH }, said: `${command.join(' ')} in ${path.basename(folder)}` });
}

/** The same as program and arguments, for who waits for it otherwise. */
export function entered(folder, command, { binds = {}, readOnly = [], cwd = '/', env = {} } = {}) {
  const variables = Object.entries({ ...ENVIRONMENT, ...env }).map(([name, value]) => `${name}=${value}`);
  const mounts = Object.entries(binds).flatMap(([inside, outside]) => {
    const at = quoted(path.join(folder, inside));
    return [`mkdir -p ${at}`, `mount --bind ${quoted(outside)} ${at}`, ...(readOnly.includes(inside) ? [`mount -o remount,bind,ro ${at}`] : [])];
  });
  const script = [
    'set -e',
    // a bind of the root onto itself, so that it can be made read-only and all of it is gone with this process
    `mount --bind ${quoted(folder)} ${quoted(folder)}`,
    `mount -t proc proc ${quoted(path.join(folder, 'proc'))}`,
    ...['null', 'zero', 'random', 'urandom'].flatMap((device) => {
      const at = quoted(path.join(folder, 'dev', device));
      return [`[ -e ${at} ] || touch ${at}`, `mount --bind /dev/${device} ${at}`];
    }),
    ...mounts,
    ...(readOnly.includes('/') ? [`mount -o remount,bind,ro ${quoted(folder)}`] : []),
    `exec env -i ${variables.map(quoted).join(' ')} /usr/sbin/chroot ${quoted(folder)} sh -c ${quoted(`cd ${quoted(cwd)} && exec "$@"`)} sh "$@"`,
  ].join('\n');
  return ['unshare', ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', script, 'sh', ...command]];
}

/** @returns name and version of every package in it, sorted. */
export function packagesOf(folder) {
  return Object.fromEntries(
    ran('dpkg-query', ['--admindir', path.join(folder, 'var/lib/dpkg'), '-W', '-f', '${Package} ${Version}\n'])
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  );
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
