// The types of the REST interface, made of the product's own openapi.json (openapi-typescript): `lineside-interface`, as src/client and a
// stranger's program know it. They follow every row, so they are made when they are needed and never committed.
// `node scripts/interface.mjs` makes them when they are stale; `npm run check` does it first.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const file = path.join(root, DIST, 'client/interface.d.ts');
const mark = `${file}.mark`;

export async function makeInterface() {
  await install();
  await build();
  const built = (name) => import(pathToFileURL(path.join(root, DIST, 'src', name)).href);
  const [{ everyRow }, { openApiDocument }] = await Promise.all([built('cli/reference.js'), built('platform/http/openapi.js')]);
  const document = openApiDocument(everyRow(), { title: 'Lineside', version: 'v1' });
  const print = createHash('sha256').update(JSON.stringify(document)).digest('hex');
  if (existsSync(file) && existsSync(mark) && readFileSync(mark, 'utf8') === print) return;
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  mkdirSync(path.dirname(file), { recursive: true });
  // a default is what the gateway puts in for a member that a request leaves out, so it may be left out
  writeFileSync(file, astToString(await openapiTS(document, { defaultNonNullable: false })));
  writeFileSync(mark, print);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeInterface();
