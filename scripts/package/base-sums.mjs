// What a kept Debian consisted of when it was made and compared with its lock: each file with its hash, noted beside it. It is compared each time it is used
// again: what has changed in the cache since (a disk that fails, a step that wrote where it should not) would go into the package otherwise.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256Of } from './facts.mjs';

/** Programs that run in it write there, and nothing of it is taken. */
const LIVES = ['build', 'dev', 'proc', 'root', 'run', 'sys', 'tmp', 'var/cache', 'var/log', 'var/tmp'];

export function sumsFile(at) {
  return `${at}.sums`;
}

/** @param making where it stands until it is kept as `at` */
export function noteSums(making, at) {
  const lines = [...partsOf(making)].map(([name, words]) => `${JSON.stringify([name, words])}\n`);
  // its own last line, so that one that was cut is none
  writeFileSync(sumsFile(at), `${lines.join('')}${hashOf(lines.join(''))}\n`);
}

export function forgetSums(at) {
  rmSync(sumsFile(at), { force: true });
}

/** @returns what is not as it was noted, in words */
export function changesSince(at) {
  const noted = notedOf(at);
  if (noted === undefined) return ['nobody has noted what it consists of'];
  const found = partsOf(at);
  const names = [...new Set([...noted.keys(), ...found.keys()])].sort();
  return names.flatMap((name) => {
    const [then, now] = [noted.get(name), found.get(name)];
    if (then === now) return [];
    return [then === undefined ? `${name} came` : now === undefined ? `${name} went` : `${name === '' ? 'the archive' : name} has changed`];
  });
}

function notedOf(at) {
  const file = sumsFile(at);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  if (text.slice(end) !== `${hashOf(text.slice(0, end))}\n`) return undefined;
  return new Map(
    text
      .slice(0, end)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  );
}

/** An archive is one part, ''. Folders are no parts: what is bound into it leaves empty ones behind. */
function partsOf(at) {
  if (!lstatSync(at).isDirectory()) return new Map([['', sha256Of(at)]]);
  const parts = new Map();
  const walk = (below) => {
    for (const entry of readdirSync(path.join(at, below), { withFileTypes: true })) {
      const name = path.join(below, entry.name);
      if (LIVES.includes(name)) continue;
      if (entry.isDirectory()) walk(name);
      else parts.set(name, partOf(path.join(at, name)));
    }
  };
  walk('');
  return parts;
}

function partOf(file) {
  const found = lstatSync(file);
  const owner = `${found.mode.toString(8)} ${found.uid}:${found.gid}`;
  if (found.isSymbolicLink()) return `${owner} -> ${readlinkSync(file)}`;
  return found.isFile() ? `${owner} ${sha256Of(file)}` : `${owner} ${found.rdev}`;
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex');
}
