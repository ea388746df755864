// The production dependencies as the lock file has them: installed by `npm ci` into a folder of their own, so that each has been compared with its
// hash and no tool of a developer has touched it. No install script runs.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { CACHE, keyOf, LOCK_FILE, ran, root, sha256Of } from './facts.mjs';
import { leftOut, packageOf, productionFolders } from './rules.mjs';

/** @returns the folder that holds their node_modules */
export function production({ log = console.log } = {}) {
  const folder = path.join(CACHE, `production-${keyOf(sha256Of(LOCK_FILE))}`);
  if (existsSync(folder)) return folder;
  log('installing the production dependencies');
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(path.join(root, name), path.join(making, name));
  ran('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: making });
  renameSync(making, folder);
  return folder;
}

/**
 * @param folder that holds node_modules
 * @returns entries of what goes into the package, by their names below it
 */
export function productionEntries(folder, { abi }) {
  const { packages } = JSON.parse(readFileSync(LOCK_FILE, 'utf8'));
  return productionFolders(packages).flatMap((name) => {
    const at = path.join(folder, name);
    const files = filesOf(at).filter((file) => leftOut(packageOf(name), file, { abi }) === undefined);
    return files.map((file) => ({ name: `${name}/${file}`, from: path.join(at, file) }));
  });
}

/** Files of a package by their path in it, without the packages that it has below it. */
export function filesOf(folder, below = '') {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesOf(folder, name);
    return entry.isFile() ? [name] : [];
  });
}
