// `npm run long persons`: what an operator, a lead operator, a manager and an administrator do, each task in the pages, in Chromium, against a whole
// appliance (tests/persons); `node scripts/persons-walk.mjs manager` walks one of them. A task is a check by its own words. Pictures of what each of them saw lie in artifacts/persons.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, DIST, install } from './build.mjs';
import { installPeers, sayAbsent } from './peers.mjs';
import { check, endProof } from './proof.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();
const absent = installPeers({ names: ['the browser Chromium'] });
sayAbsent(absent, () => 'this walk');
if (absent.length > 0) process.exit(1);
const { walkAll } = await import(pathToFileURL(path.join(root, DIST, 'tests/persons/persons.js')).href);
await walkAll(check, process.argv.slice(2));
endProof();
