// Which Debians lie in the cache, by their names: a base under its lock, so that an old release is built again where its bases are kept, and what a proof
// runs in under the lock file of now. A base goes only when somebody says so (`npm run package -- --forget-bases`); what a proof runs in is made again by itself.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { forgetSums } from './base-sums.mjs';
import { BASES } from './bases.mjs';
import { keyOf, PINS, ran } from './facts.mjs';

const BASE = new RegExp(`^debian-(${Object.keys(BASES).join('|')})-[0-9a-f]{16}(\\.tar)?$`);
const OF_PROOFS = `debian-${PINS.debian.suite}-`;

/** By its lock and how it is made, so that one that was refreshed is another one. */
export function baseFile(name, { packages }) {
  return `debian-${name}-${keyOf(PINS.debian.suite, BASES[name], packages)}${BASES[name].archive ? '.tar' : ''}`;
}

/** Of what a proof runs in: other packages are another one, and so is another lock. */
export function proofFile(packages, lockText) {
  return `${OF_PROOFS}${keyOf(packages)}-${keyOf(lockText)}`;
}

/** @returns the files of bases in `cache` that no lock of `locks` (base -> its lock) names, sorted. */
export function olderBases(cache, locks) {
  const present = new Set(Object.entries(locks).map(([name, locked]) => baseFile(name, locked)));
  return filesOf(cache).filter((file) => BASE.test(file) && !present.has(file));
}

/** What the older bases take, and how they go; undefined where there are none. */
export function olderTold(cache, locks) {
  const older = olderBases(cache, locks);
  return older.length === 0
    ? undefined
    : `${count(older)} of other locks kept in artifacts/cache, ${size(bytesOf(cache, older))}: older releases are built with them; npm run package -- --forget-bases removes them`;
}

/** Removes the older bases, and says what each has taken. */
export function forgetBases(cache, locks, { log = console.log } = {}) {
  const older = olderBases(cache, locks).map((file) => ({ file, bytes: bytesOf(cache, [file]) }));
  for (const { file, bytes } of older) {
    rmSync(path.join(cache, file), { recursive: true });
    forgetSums(path.join(cache, file));
    log(`removed ${file}, ${size(bytes)}`);
  }
  log(
    older.length === 0
      ? 'no base of another lock is kept'
      : `${count(older)} removed, ${size(older.reduce((sum, { bytes }) => sum + bytes, 0))}; a release of before is no more built here once Debian has left its lock behind`,
  );
}

/** Removes what proofs ran in under other locks, halves of it too: nothing leaves the tree from it. @returns the files. */
export function sweptProofs(cache, lockText) {
  const own = `-${keyOf(lockText)}`;
  const swept = filesOf(cache).filter((file) => file.startsWith(OF_PROOFS) && !file.replace(/\.(making|making\.notes)$/, '').endsWith(own));
  for (const file of swept) rmSync(path.join(cache, file), { recursive: true });
  return swept;
}

function filesOf(cache) {
  return existsSync(cache) ? readdirSync(cache).sort() : [];
}

/** On the disk. */
function bytesOf(cache, files) {
  return ran('du', ['-sk', ...files.map((file) => path.join(cache, file))])
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number.parseInt(line, 10) * 1024, 0);
}

function count({ length }) {
  return length === 1 ? '1 base' : `${length} bases`;
}

function size(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
