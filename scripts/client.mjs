// `node scripts/client.mjs`: the interface as a stranger takes it up. Types are made of the product's own openapi.json (openapi-typescript)
// and the story of tests/smoke/client is compiled against them, strictly. The types follow every row, so they are made when
// they are needed and never committed: what would not compile for a customer does not compile here.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DIST } from './build.mjs';
import { makeInterface } from './interface.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, DIST, 'client');

await makeInterface();

const config = path.join(folder, 'tsconfig.json');
const story = path.relative(folder, path.join(root, 'tests/smoke/client'));
writeFileSync(
  config,
  JSON.stringify({
    extends: path.relative(folder, path.join(root, 'tsconfig.json')),
    compilerOptions: {
      rootDir: path.relative(folder, root),
      composite: false,
      incremental: false,
      tsBuildInfoFile: null,
      emitDeclarationOnly: false,
      noEmit: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true, // of Node and the client library; the interface itself is a source file
      types: ['node'],
      typeRoots: [path.relative(folder, path.join(root, 'node_modules/@types'))],
      paths: { 'lineside-interface': ['./interface.d.ts'] },
    },
    include: [`${story}/*.ts`],
    exclude: [],
  }),
);
const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit', cwd: root });
process.exit(compiled.status ?? 1);
