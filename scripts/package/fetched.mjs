// Archives of the npm registry that are pinned by their hash, unpacked once. They are fetched by npm's own client, run no script and are
// checked here, whatever the client believes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { CACHE, keyOf, ran } from './facts.mjs';

/**
 * @param pin `package`, `version` and `integrity` (`sha512-` and base64, as a lock file has it)
 * @returns the folder with the files of the package; @throws when what came is not what was pinned
 */
export function fetched(pin, { log = console.log } = {}) {
  const name = `${pin.package}-${pin.version}`;
  const folder = path.join(CACHE, `${name}-${keyOf(pin)}`);
  if (existsSync(folder)) return path.join(folder, 'package');
  log(`fetching ${pin.package} ${pin.version}`);
  const making = `${folder}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  ran('npm', ['pack', '--ignore-scripts', '--silent', `${pin.package}@${pin.version}`], { cwd: making });
  const archive = path.join(making, `${name}.tgz`);
  checkIntegrity(name, readFileSync(archive), pin.integrity);
  ran('tar', ['-xzf', archive, '-C', making, '--no-same-owner']);
  rmSync(archive);
  renameSync(making, folder);
  return path.join(folder, 'package');
}

/** @throws when the bytes do not have the hash that was pinned */
export function checkIntegrity(name, bytes, integrity) {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new Error(`${name} is not what scripts/package/pins.json pins: its hash is ${found}, not ${integrity}; do not build with it, and find out why`);
}
