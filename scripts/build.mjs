// Builds dist/ when it is stale: the command and each thread as one file at the address of its source, the demo manifests
// beside them, the consoles through Vite, and the documents as pages. For the tests every other source file has a module of its own at its address,
// which hands on what one of a few files exports that hold the whole program: Node takes longer to find 500 modules than
// to compile them.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDocuments, documentFiles } from './docs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SERVER_FOLDERS = ['src', 'runtime', 'tests'];
const CONSOLE_FOLDER = 'src/console';
/** They stand in dist/ as they are in the tree. */
const COPIED_FOLDERS = ['demo', 'firmware-profiles'];
/** What runs by itself. A thread of 150 modules takes 4 MB more and twice the time to start than the same in one file. */
const PROGRAMS = [
  'src/cli/lineside.ts',
  'src/doctor/timer-thread.ts',
  'src/domains/mtp-import/package-thread.ts',
  'src/domains/rehearsal/thread.ts',
  'src/platform/backup/backup-thread.ts',
  'src/platform/history/history-thread.ts',
  'src/platform/http/yaml-thread.ts',
  'src/platform/ledger/check-thread.ts',
  'src/platform/ledger/ledger-thread.ts',
  'src/platform/ledger/query-thread.ts',
  'runtime/explorer.ts',
  'runtime/probe.ts',
  'runtime/rehearsal/plant-thread.ts',
  'runtime/replay/replay-thread.ts',
  'runtime/worker.ts',
];
/** Folders whose modules are loaded together: a test of the language needs no gateway. The first one that fits counts. */
const LAYERS = ['runtime/io/opcua/', 'runtime/', 'src/platform/', 'src/'];
/** Packages of many files that nearly every process loads, as one file of what is imported from them: it saves the test library two thirds of its time. */
const PACKED = {
  // in a folder whose lines its stacks leave out
  '@tapjs/tap': "export * from 'tap'; export { default } from 'tap';",
  yaml: "export { Composer, isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, LineCounter, parse, Parser, stringify, visit } from 'yaml';",
  'ajv/dist/2020.js': "export { Ajv2020 } from 'ajv/dist/2020.js';",
};
/** The name that modules import is not that of the folder. */
const RENAMED = { tap: '@tapjs/tap' };
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

/** Options of a build whose files hold all that they import but packages; what is imported when it is needed, and what two of its files share, stands in further files in `folder`. */
function whole(folder, addressed, plugins = []) {
  return { bundle: true, splitting: true, packages: 'external', chunkNames: `${folder}/[name]-[hash]`, plugins: [...plugins, ownAddress(folder, addressed)] };
}

/** `import.meta.url` of the modules that look at it stays their own address, wherever their code comes to stand. */
function ownAddress(folder, addressed) {
  return {
    name: 'own address',
    setup(built) {
      built.onLoad({ filter: new RegExp(`/(${addressed.join('|').replaceAll('.', '\\.')})$`) }, ({ path: file }) => {
        const name = path.relative(root, file);
        const address = path.relative(folder, name.replace(/\.ts$/, '.js'));
        return { contents: readFileSync(file, 'utf8').replaceAll('import.meta.url', `new URL('${address}', import.meta.url).href`), loader: 'ts' };
      });
    },
  };
}

/** @returns the names that each source file exports. */
function exportsOf({ outputs }) {
  const own = new Map(Object.values(outputs).map(({ entryPoint, exports }) => [entryPoint, exports]));
  const all = (name) => {
    const text = readFileSync(path.join(root, name), 'utf8');
    const others = [...text.matchAll(/^export \* from '(.*)\.js';$/gm)].map(([, from]) => path.posix.join(path.posix.dirname(name), `${from}.ts`));
    return [...new Set([...own.get(name), ...others.flatMap(all)])];
  };
  return new Map([...own.keys()].map((name) => [name, all(name)]));
}

/** Each layer as a file that exports all of its modules, and each module at its address as one that hands on what is its own. */
async function handOn(parts, exported, bundle) {
  const layerOf = (name) => LAYERS.findIndex((folder) => name.startsWith(folder));
  // main.ts first: the order in which modules are evaluated is that of the product
  const numbered = parts.sort((a, b) => Number(b === 'src/main.ts') - Number(a === 'src/main.ts')).map((name, number) => ({ name, number, layer: layerOf(name) }));
  const names = ({ name, number }, form) =>
    `export { ${exported
      .get(name)
      .map((each) => form(each, `m${number}_${each}`))
      .join(', ')} }`;
  const layers = {
    name: 'layers',
    setup(built) {
      built.onResolve({ filter: /^layer\d$/ }, ({ path: layer }) => ({ path: layer, namespace: 'layer' }));
      built.onLoad({ filter: /./, namespace: 'layer' }, ({ path: layer }) => {
        const own = numbered.filter((part) => `layer${part.layer}` === layer);
        return { contents: own.map((part) => `${names(part, (each, as) => `${each} as ${as}`)} from './${part.name}';`).join('\n'), resolveDir: root, loader: 'ts' };
      });
    },
  };
  await bundle(
    LAYERS.map((_, layer) => ({ in: `layer${layer}`, out: `parts/layer${layer}` })),
    [layers],
  );
  for (const part of numbered) {
    const file = path.join(root, DIST, part.name.replace(/\.ts$/, '.js'));
    const from = path.posix.relative(path.posix.dirname(part.name), `parts/layer${part.layer}.js`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `${names(part, (each, as) => `${as} as ${each}`)} from '${from}';\n`);
  }
}

/** Each where Node looks first for what the modules in dist/ import. */
async function pack(bundle) {
  const packages = path.join(root, DIST, 'node_modules');
  const banner = { js: "import { createRequire as requiring } from 'node:module'; const require = requiring(import.meta.url);" };
  for (const [name, contents] of Object.entries(PACKED))
    await bundle({ ...SHARED, bundle: true, stdin: { contents, resolveDir: root }, outfile: path.join(packages, name.endsWith('.js') ? name : `${name}/index.js`), banner });
  for (const [name, from] of Object.entries(RENAMED)) {
    mkdirSync(path.join(packages, name));
    writeFileSync(path.join(packages, name, 'index.js'), `export * from '../${from}/index.js';\nexport { default } from '../${from}/index.js';\n`);
  }
  for (const imported of [...Object.keys(PACKED), ...Object.keys(RENAMED)]) {
    const [name, inner] = imported.endsWith('.js') ? imported.split(/\/(.*)/) : [imported, undefined];
    writeFileSync(
      path.join(packages, name, 'package.json'),
      JSON.stringify({ name, type: 'module', exports: inner === undefined ? './index.js' : { [`./${inner}`]: `./${inner}` } }),
    );
  }
}

/** What of the tree is built: modules of the server, files of the consoles, and what is copied as it is. */
function sources() {
  const all = SERVER_FOLDERS.flatMap((folder) => files(folder));
  const server = all.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith(`${CONSOLE_FOLDER}/`));
  const consoleFiles = all.filter((name) => name.startsWith(`${CONSOLE_FOLDER}/`));
  const others = [...COPIED_FOLDERS.flatMap((folder) => files(folder)), ...all.filter((name) => /\.(csv|json|sql|txt)$/.test(name) && !name.startsWith(CONSOLE_FOLDER))];
  return { server, consoleFiles, others };
}

const isTest = (name) => name.startsWith('tests/');
/** Of every bundle: whatever the checkout's own address is, the same bytes come out. */
const SHARED = { absWorkingDir: root, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' };

/** Source files that ask for their own address. */
function addressedOf(server) {
  return server.filter((name) => !isTest(name) && readFileSync(path.join(root, name), 'utf8').includes('import.meta.url'));
}

function copyTo(folder, names) {
  for (const name of names) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    cpSync(path.join(root, name), path.join(folder, name));
  }
}

/**
 * What a package ships of dist/, into an empty `folder`: the command, the threads, the demo and the consoles. No tests, no modules that only
 * they load, and no source maps: they are larger than the code, and a stack names functions and files of the tree without them.
 */
export async function buildProgram(folder, { log } = {}) {
  await build({ log });
  const { build: bundle } = await import('esbuild');
  const { server, others } = sources();
  const addressed = addressedOf(server);
  await Promise.all(PROGRAMS.map((name) => bundle({ ...SHARED, outdir: folder, outbase: root, ...whole(path.dirname(name), addressed), entryPoints: [name] })));
  copyTo(
    folder,
    others.filter((name) => !isTest(name)),
  );
  for (const pages of ['console', 'docs']) cpSync(path.join(root, DIST, pages), path.join(folder, pages), { recursive: true });
}

/** How many bytes of the programs that a package ships come of each source file, by its name; what several programs hold counts in each. */
export async function programBytes() {
  const { build: bundle } = await import('esbuild');
  const addressed = addressedOf(sources().server);
  const bytes = new Map();
  for (const name of PROGRAMS) {
    const options = { ...SHARED, ...whole(path.dirname(name), addressed), outdir: path.join(root, DIST), outbase: root, entryPoints: [name], metafile: true, write: false };
    const { metafile } = await bundle(options);
    for (const { inputs } of Object.values(metafile.outputs))
      for (const [file, { bytesInOutput }] of Object.entries(inputs)) bytes.set(file, (bytes.get(file) ?? 0) + bytesInOutput);
  }
  return bytes;
}

export async function build({ log = console.log } = {}) {
  const dist = path.join(root, DIST);
  mkdirSync(dist, { recursive: true });
  const { server, consoleFiles, others } = sources();

  const serverPrint = fingerprint([...server, ...others, 'package.json', 'package-lock.json', 'scripts/build.mjs']);
  const serverMark = path.join(dist, '.server-build');
  if (!isFresh(serverMark, serverPrint)) {
    const started = Date.now();
    const { build: bundle } = await import('esbuild');
    for (const folder of [...SERVER_FOLDERS, ...COPIED_FOLDERS, 'parts', 'node_modules']) rmSync(path.join(dist, folder), { recursive: true, force: true });
    const parts = server.filter((name) => !isTest(name) && !PROGRAMS.includes(name));
    const addressed = addressedOf(server);
    const options = { ...SHARED, outdir: dist, outbase: root, sourcemap: true, sourcesContent: false };
    await bundle({ ...options, entryPoints: server.filter(isTest) });
    await Promise.all(PROGRAMS.map((name) => bundle({ ...options, ...whole(path.dirname(name), addressed), entryPoints: [name] })));
    const { metafile } = await bundle({ ...SHARED, outdir: dist, outbase: root, entryPoints: parts, metafile: true, write: false, sourcemap: false });
    await handOn(parts, exportsOf(metafile), (files, plugins) => bundle({ ...options, ...whole('parts', addressed, plugins), entryPoints: files }));
    await pack(bundle);
    copyTo(dist, others);
    writeFileSync(serverMark, serverPrint);
    log(`built ${server.length} server files in ${Date.now() - started} ms`);
  }

  const documentsPrint = fingerprint([...documentFiles(root), ...files(`${CONSOLE_FOLDER}/docs`), `${CONSOLE_FOLDER}/common/theme.css`, 'package.json', 'scripts/docs.mjs']);
  const documentsMark = path.join(dist, '.documents-build');
  if (!isFresh(documentsMark, documentsPrint)) {
    const started = Date.now();
    const count = await buildDocuments(root, path.join(dist, 'docs'));
    writeFileSync(documentsMark, documentsPrint);
    log(`built ${count} documents in ${Date.now() - started} ms`);
  }

  const viteConfig = path.join(root, CONSOLE_FOLDER, 'vite.config.mjs');
  if (!existsSync(viteConfig)) return;
  const consolePrint = fingerprint([...consoleFiles, 'package.json']);
  const consoleMark = path.join(dist, '.console-build');
  if (!isFresh(consoleMark, consolePrint)) {
    const started = Date.now();
    const { build: bundle } = await import('vite');
    for (const mode of ['production', 'sheet']) await bundle({ configFile: viteConfig, mode, logLevel: 'warn' });
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
  const { abortsInCollection } = await import('./package/native.mjs');
  if (abortsInCollection(path.join(root, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node')))
    log(`SQLite, as Node ${process.version} has compiled it, ends the process now and then: take Node 20 to 24.18 here, or the package (docs/adr/0043-debian-13-and-node-24.md)`);
  writeFileSync(mark, print);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await install();
  await build();
}
