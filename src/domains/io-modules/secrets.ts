/** Secrets in `secrets.dir/<namespace>/<name>/<member>` (decisions 7.5); the gateway only asks whether they are there. */
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { isResourceName } from '../../platform/base/resource-name.js';
import type { Secrets } from './dto.js';

export class FileSecrets implements Secrets {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Undefined when the folder of the site cannot be read. */
  exists(site: string, name: string): boolean | undefined {
    if (!isResourceName(name)) return false;
    const folder = path.join(this.#dir, `site-${site}`, name);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    try {
      accessSync(folder, constants.R_OK | constants.X_OK);
      return readdirSync(folder).length > 0;
    } catch {
      return undefined;
    }
  }
}
