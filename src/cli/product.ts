/** What this program is: its version, and of a package the commit that it was made of (`build.json`, by scripts/package/tree.mjs). */
import { existsSync, readFileSync } from 'node:fs';
import * as v from 'valibot';

const Package = v.object({ version: v.string() });
const Build = v.object({ commit: v.string(), changed: v.optional(v.boolean(), false) });

export interface Product {
  readonly version: string;
  /** In full, `+changed` behind it where the tree had more than the commit; empty in a checkout, where nobody keeps it. */
  readonly commit: string;
}

/** @param folder of the program, with `package.json` in it. */
export function productOf(folder: URL): Product {
  const { version } = v.parse(Package, JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')));
  const file = new URL('build.json', folder);
  if (!existsSync(file)) return { version, commit: '' };
  const { commit, changed } = v.parse(Build, JSON.parse(readFileSync(file, 'utf8')));
  return { version, commit: changed ? `${commit}+changed` : commit };
}
