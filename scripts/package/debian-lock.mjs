// Every Debian package of what leaves the tree, with its version and the SHA-256 of its archive, as scripts/package/debian.lock has them: one base a
// section, one package a line. A build takes these and no others. Only text is read and written here; ./debian.mjs makes the Debians.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './facts.mjs';

export const DEBIAN_LOCK = path.join(root, 'scripts/package/debian.lock');
const DAY_MS = 86_400_000;
/** An older lock lacks fixes of the security team that a plant should have. */
const OLD_DAYS = 30;
const HEAD = [
  '# The Debian packages of what leaves the tree: name, version, architecture, SHA-256 of the .deb, source. Written by',
  '# `npm run package -- --refresh` and `npm run image -- --refresh`; docs/operations/install.md says when.',
  '',
];

/**
 * @typedef Base `taken` (day, 2026-11-27), `release` (of Debian, 13.8), `packages` (by name: `version`, `architecture`, `sha256`, `source`)
 * @returns bases by name; @throws where a line cannot be read
 */
export function parseLock(text) {
  const bases = {};
  let base;
  text.split(/\r?\n/).forEach((line, at) => {
    const wrong = (why) => new Error(`debian.lock, line ${at + 1}: '${line}' ${why}; npm run package -- --refresh writes the file anew`);
    if (line === '' || line.startsWith('#')) return;
    const [, name, taken, release] = /^\[(\w+)\] (\d{4}-\d\d-\d\d) Debian (\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      if (Object.hasOwn(bases, name)) throw wrong('stands twice');
      if (Number.isNaN(Date.parse(taken))) throw wrong('names no day');
      base = bases[name] = { taken, release, packages: {} };
      return;
    }
    const [, packageName, version, architecture, sha256, source] = /^(\S+) (\S+) (\w+) ([0-9a-f]{64}) (\S+)$/.exec(line) ?? [];
    if (packageName === undefined || base === undefined) throw wrong('is no package');
    if (Object.hasOwn(base.packages, packageName)) throw wrong('stands twice');
    base.packages[packageName] = { version, architecture, sha256, source };
  });
  return bases;
}

export function lockText(bases) {
  const sections = Object.entries(bases).map(([name, { taken, release, packages }]) => {
    const rows = Object.entries(packages).map(([each, { version, architecture, sha256, source }]) => `${each} ${version} ${architecture} ${sha256} ${source}`);
    return [`[${name}] ${taken} Debian ${release}`, ...rows, ''].join('\n');
  });
  return [...HEAD, ...sections].join('\n');
}

/** @returns the base as the file has it; @throws when it has none */
export function lockedBase(name, file = DEBIAN_LOCK) {
  const base = parseLock(readFileSync(file, 'utf8'))[name];
  if (base === undefined) throw new Error(`scripts/package/debian.lock has no base ${name}: ${refreshOf(name)} writes it`);
  return base;
}

/** What renews the section of a base. */
export function refreshOf(name) {
  return `npm run ${name.startsWith('image') ? 'image' : 'package'} -- --refresh`;
}

/**
 * What the archive of Debian says of the packages that are installed.
 * @param installed lines `name version architecture`, as dpkg-query prints them
 * @param indexes the text of the Packages files of apt
 * @returns packages as a base has them, by name in the order of `installed`; @throws for one that no index has
 */
export function packagesFrom(installed, indexes) {
  const offered = new Map();
  for (const stanza of indexes.split('\n\n')) {
    const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1];
    const name = field('Package');
    if (name === undefined) continue;
    // `Source: glibc` where the name is another one, `Source: gcc-14 (14.2.0-19)` where the version is
    const source = (field('Source') ?? name).split(' ')[0];
    offered.set(`${name} ${field('Version')} ${field('Architecture')}`, { sha256: field('SHA256'), source });
  }
  return Object.fromEntries(
    installed
      .trim()
      .split('\n')
      .map((line) => {
        const [name, version, architecture] = line.split(' ');
        const from = offered.get(line);
        if (from?.sha256 === undefined) throw new Error(`${line} is installed, and no index of Debian tells its SHA-256`);
        return [name, { version, architecture, ...from }];
      }),
  );
}

/** @returns each package in which the two differ, in words; none when `found` is what is locked */
export function differences(locked, found) {
  return [...new Set([...Object.keys(locked), ...Object.keys(found)])].sort().flatMap((name) => {
    const [was, is] = [locked[name], found[name]];
    if (was === undefined) return [`${name} ${is.version} is not in the lock`];
    if (is === undefined) return [`${name} ${was.version} is in the lock, and not installed`];
    if (was.version !== is.version) return [`${name} is ${is.version}, the lock has ${was.version}`];
    return was.sha256 === is.sha256 && was.architecture === is.architecture ? [] : [`${name} ${is.version} has the SHA-256 ${is.sha256}, the lock has ${was.sha256}`];
  });
}

/** @returns a sentence when the lock of that base is old; undefined else */
export function ageOf(name, { taken }, nowMs) {
  const days = Math.floor((nowMs - Date.parse(taken)) / DAY_MS);
  return days > OLD_DAYS ? `the Debian packages of ${name} are of ${taken}, ${days} days old: fixes since then are not in it, ${refreshOf(name)} takes them` : undefined;
}
