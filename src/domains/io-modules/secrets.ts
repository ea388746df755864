/** Device secrets as files: `<secrets.dir>/site-<site>/<name>/<member>` (decisions 7.5). Their content is never served. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Secrets } from './dto.js';

export function secretsIn(folder: string): Secrets {
  return {
    exists(site, name) {
      try {
        return existsSync(folder) ? readdirSync(path.join(folder, `site-${site}`)).includes(name) : false;
      } catch (fault) {
        return (fault as NodeJS.ErrnoException).code === 'ENOENT' ? false : undefined;
      }
    },
  };
}
