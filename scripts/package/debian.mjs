// The Debians of the build, each as a folder (or as an archive, the one below the container): made by mmdebstrap once and kept. Those of which something
// leaves the tree, or in which it is compiled, have the packages of debian.lock and no others; the archive of Debian has each version only as
// long as it is the newest, so a lock that it has left behind is told of, and renewed by who builds.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { changesSince, forgetSums, noteSums } from './base-sums.mjs';
import { BASES } from './bases.mjs';
import { ageOf, DEBIAN_LOCK, differences, lockedBase, lockText, packagesFrom, parseLock, refreshOf } from './debian-lock.mjs';
import { CACHE, PINS, ran } from './facts.mjs';
import { baseFile, forgetBases, olderTold, proofFile, sweptProofs } from './kept-bases.mjs';

/** What the programs in it see of the outside: nothing. */
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C.UTF-8', TZ: 'UTC', DEBIAN_FRONTEND: 'noninteractive' };
/** Differences that are told; the rest is counted. */
const TOLD_MAX = 12;

/**
 * The Debian of a base (./bases.mjs) with exactly the packages of its lock.
 * @returns `at` (its folder or archive), and `taken`, `release` and `packages` of the lock; @throws when Debian gives others
 */
export function debianOf(name, { log = console.log } = {}) {
  needRoot();
  const locked = lockedBase(name);
  const old = ageOf(name, locked, Date.now());
  if (old !== undefined) log(`*** ${old}`);
  const at = keptDebian(name, locked, { cache: CACHE, make: made, log });
  return { at, ...locked };
}

/** As it is kept in `cache`, where it is still what it was when it was made; made (by `make`) and kept otherwise. @returns where */
export function keptDebian(name, locked, { cache, make, log }) {
  const at = path.join(cache, baseFile(name, locked));
  if (existsSync(at)) {
    const changes = changesSince(at);
    if (changes.length === 0) return at;
    log(`*** ${path.basename(at)} in artifacts/cache is not what was made of the lock, and is made again: ${shortened(changes).join('; ')}`);
  }
  log(`making the Debian ${PINS.debian.suite} of ${name}, ${Object.keys(locked.packages).length} packages of ${locked.taken}`);
  const making = makingOf(name, cache);
  const wrong = differences(locked.packages, make(BASES[name], making).packages);
  if (wrong.length > 0) {
    rmSync(making, { recursive: true });
    throw new Error(
      [
        `Debian gives other packages for ${name} than scripts/package/debian.lock has of ${locked.taken}; nothing was built:`,
        ...shortened(wrong),
        `${refreshOf(name)} takes those of today into the lock; commit it and build again`,
      ].join('\n'),
    );
  }
  keep(at, making);
  tellOlder(cache, locks(), log);
  return at;
}

function shortened(words) {
  return words.length > TOLD_MAX ? [...words.slice(0, TOLD_MAX), `and ${words.length - TOLD_MAX} more`] : words;
}

/** Makes each of these bases anew of what Debian has today, writes that into the lock, and says what has changed. */
export function refresh(names, { log = console.log } = {}) {
  needRoot();
  const bases = locks();
  const changes = names.flatMap((name) => {
    log(`making the Debian ${PINS.debian.suite} of ${name}`);
    const making = makingOf(name, CACHE);
    const before = bases[name]?.packages ?? {};
    bases[name] = { taken: new Date().toISOString().slice(0, 10), ...made(BASES[name], making) };
    keep(path.join(CACHE, baseFile(name, bases[name])), making);
    return differences(before, bases[name].packages).map((words) => `${name}: ${words}`);
  });
  // in the order of the table, whatever was refreshed first
  writeFileSync(DEBIAN_LOCK, lockText(Object.fromEntries(Object.keys(BASES).flatMap((name) => (bases[name] ? [[name, bases[name]]] : [])))));
  for (const words of changes) log(`  ${words}`);
  log(`${changes.length === 0 ? 'Debian has no other packages than those of before' : `${changes.length} packages have changed`}; commit scripts/package/debian.lock, then build`);
  tellOlder(CACHE, bases, log);
}

/** Removes the bases of other locks than that of now. */
export function forget({ log = console.log } = {}) {
  needRoot();
  forgetBases(CACHE, locks(), { log });
}

/** What stands beside what was built: day, release and packages of a Debian, without where it is kept. */
export function told({ taken, release, packages }) {
  return { taken, release, packages };
}

/** A Debian with these packages as they are today, of which nothing leaves the tree: what a proof runs in, and may have written into. Renewed when the lock is, and compared with nothing. @returns its folder. */
export function debianWith(packages, { log = console.log } = {}) {
  needRoot();
  const lock = readFileSync(DEBIAN_LOCK, 'utf8');
  const folder = path.join(CACHE, proofFile(packages, lock));
  if (existsSync(folder)) return folder;
  sweptProofs(CACHE, lock);
  log(`making a Debian ${PINS.debian.suite} with ${packages.join(', ')}`);
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  made({ packages, variant: 'minbase' }, making);
  renameSync(making, folder);
  return folder;
}

/** Runs mmdebstrap. @returns `release` of Debian and the packages that it has installed. */
function made({ packages, variant, archive = false, options = [], hooks = [] }, target) {
  const notes = `${target}.notes`;
  rmSync(notes, { recursive: true, force: true });
  // first of the hooks: the lists of apt are still there, and those of every configuration of apt are read by `cat-file`
  const note = [
    `mkdir ${quoted(notes)}`,
    `dpkg-query --admindir="$1/var/lib/dpkg" -W -f '\${Package} \${Version} \${Architecture}\\n' > ${quoted(path.join(notes, 'installed'))}`,
    `for list in "$1"/var/lib/apt/lists/*_Packages*; do /usr/lib/apt/apt-helper cat-file "$list"; echo; done > ${quoted(path.join(notes, 'indexes'))}`,
    `cp "$1/etc/debian_version" ${quoted(path.join(notes, 'release'))}`,
  ].join(' && ');
  const included = packages.length > 0 ? [`--include=${packages.join(',')}`] : [];
  ran('mmdebstrap', ['--quiet', `--variant=${variant}`, ...included, ...options, ...[note, ...hooks].map((hook) => `--customize-hook=${hook}`), PINS.debian.suite, target], {
    // no file of the archive is newer than that; in a folder it would make each password one that has to be changed
    env: { ...process.env, ...(archive ? { SOURCE_DATE_EPOCH: '0' } : {}) },
  });
  const [installed, indexes, release] = ['installed', 'indexes', 'release'].map((name) => readFileSync(path.join(notes, name), 'utf8'));
  rmSync(notes, { recursive: true });
  return { release: release.trim(), packages: packagesFrom(installed, indexes) };
}

function makingOf(name, cache) {
  const making = path.join(cache, `debian-${name}.making${BASES[name].archive ? '.tar' : ''}`);
  rmSync(making, { recursive: true, force: true });
  return making;
}

function locks() {
  return existsSync(DEBIAN_LOCK) ? parseLock(readFileSync(DEBIAN_LOCK, 'utf8')) : {};
}

/** Puts it where it is kept: beside those of other locks, in the place of one of the same; with what it consists of. */
function keep(at, making) {
  forgetSums(at);
  rmSync(at, { recursive: true, force: true });
  noteSums(making, at);
  renameSync(making, at);
}

function tellOlder(cache, bases, log) {
  const told = olderTold(cache, bases);
  if (told !== undefined) log(told);
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

/** @returns name and version of every package in a folder, sorted. */
export function versionsIn(folder) {
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
