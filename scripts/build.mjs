// Builds dist/ when it is stale: one output file per server source file (so that worker entry points keep their
// relative addresses), the unit worker as one file, the demo manifests beside them, and the consoles through Vite.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SERVER_FOLDERS = ['src', 'runtime', 'tests'];
const CONSOLE_FOLDER = 'src/console';
const UNIT_WORKER = 'runtime/worker.ts';
/** Output folder; another one lets several builds of one checkout run beside each other. */
export const DIST = process.env.LINESIDE_DIST ?? 'dist';

function files(folder, found = []) {
  if (!existsSync(path.join(root, folder))) return found;
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) files(name, found);
    else found.push(name);
  }
  return found;
}

/** SHA-256 over names, sizes and contents: stale means that any of them changed since the last build. */
function fingerprint(names) {
  const hash = createHash('sha256').update(process.version);
  for (const name of names.sort())
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(path.join(root, name)));
  return hash.digest('hex');
}

function isFresh(mark, print) {
  return existsSync(mark) && readFileSync(mark, 'utf8') === print;
}

export async function build({ log = console.log } = {}) {
  const dist = path.join(root, DIST);
  mkdirSync(dist, { recursive: true });
  const all = SERVER_FOLDERS.flatMap((folder) => files(folder));
  const server = all.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith(`${CONSOLE_FOLDER}/`));
  const consoleFiles = all.filter((name) => name.startsWith(`${CONSOLE_FOLDER}/`));
  const others = [...files('demo'), ...all.filter((name) => /\.(csv|json|sql|txt)$/.test(name) && !name.startsWith(CONSOLE_FOLDER))];

  const serverPrint = fingerprint([...server, ...others, 'package.json', 'scripts/build.mjs']);
  const serverMark = path.join(dist, '.server-build');
  if (!isFresh(serverMark, serverPrint)) {
    const started = Date.now();
    const { build: bundle } = await import('esbuild');
    for (const folder of [...SERVER_FOLDERS, 'demo']) rmSync(path.join(dist, folder), { recursive: true, force: true });
    const options = { absWorkingDir: root, outdir: dist, outbase: root, format: 'esm', platform: 'node', target: 'node20', sourcemap: true, logLevel: 'warning' };
    await bundle({ ...options, entryPoints: server });
    // each scan thread loads 150 modules: as one file they take 4 MB less, for each thread
    await bundle({ ...options, entryPoints: [UNIT_WORKER], bundle: true });
    for (const name of others) {
      mkdirSync(path.dirname(path.join(dist, name)), { recursive: true });
      cpSync(path.join(root, name), path.join(dist, name));
    }
    writeFileSync(serverMark, serverPrint);
    log(`built ${server.length} server files in ${Date.now() - started} ms`);
  }

  const viteConfig = path.join(root, CONSOLE_FOLDER, 'vite.config.mjs');
  if (!existsSync(viteConfig)) return;
  const consolePrint = fingerprint([...consoleFiles, 'package.json']);
  const consoleMark = path.join(dist, '.console-build');
  if (!isFresh(consoleMark, consolePrint)) {
    const started = Date.now();
    const { build: bundle } = await import('vite');
    await bundle({ configFile: viteConfig, logLevel: 'warn' });
    writeFileSync(consoleMark, consolePrint);
    log(`built the consoles in ${Date.now() - started} ms`);
  }
}

/** Installs node_modules when they were not installed from this lock file; needs nothing but Node and npm. */
export async function install({ log = console.log } = {}) {
  const mark = path.join(root, 'node_modules', '.lineside-lock');
  const print = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  if (isFresh(mark, print)) return;
  log('installing dependencies (once; SQLite is compiled, which takes about a minute)');
  const { execFileSync } = await import('node:child_process');
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(mark, print);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await install();
  await build();
}
