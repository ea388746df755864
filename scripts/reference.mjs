// Writes the pages of docs/reference that come from the code: routes, settings, function blocks, codes of refusals, simulation, manifests. `--check` only says which are out of date (exit code 1).
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const quiet = { log: () => undefined };
await install(quiet);
await build(quiet);
const { REFERENCE_PAGES } = await import(pathToFileURL(path.join(root, DIST, 'src/cli/reference.js')).href);
const check = process.argv.includes('--check');
let stale = 0;
for (const [name, print] of Object.entries(REFERENCE_PAGES)) {
  const file = path.join(root, 'docs/reference', name);
  const text = print();
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  stale += 1;
  console.log(check ? `docs/reference/${name} is out of date` : `wrote docs/reference/${name}`);
  if (!check) writeFileSync(file, text);
}
process.exit(check && stale > 0 ? 1 : 0);
