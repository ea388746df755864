// `npm start`: installs what is missing, builds what is stale and starts the appliance with the demo plant, in
// development mode, with its data in ./.lineside. Flags go through: `npm start -- --data-dir D`.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, DIST, install } from './build.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
await install();
await build();

// what keeps the memory of the process small: docs/operations/memory.md
const options = JSON.parse(readFileSync(path.join(root, 'scripts/process-options.json'), 'utf8'));
const env = { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_GATEWAY__OPERATINGMODE: 'development', ...options.env, ...process.env };
const flags = process.argv.slice(2);
const dataDir = flags.includes('--data-dir') ? [] : ['--data-dir', path.join(root, '.lineside')];
const child = spawn(process.execPath, [...options.execArgv, path.join(root, DIST, 'src/cli/lineside.js'), 'start', ...dataDir, ...flags], { stdio: 'inherit', env });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
