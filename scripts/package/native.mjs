// The native modules of the package: SQLite compiled in the Debian that it will run on, by the Node that it will run with, and the binary of
// uWebSockets.js compared with its pin. The path of the compile is the same on every machine, so nothing of the builder's is in the file.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { inDebian } from './debian.mjs';
import { CACHE, keyOf, LOCK_FILE, PINS, ran, sha256Of } from './facts.mjs';

const SQLITE = 'node_modules/better-sqlite3';
const BUILT = 'build/Release/better_sqlite3.node';
/**
 * What the headers of Node from 24.19 on put into a module of the kind of better-sqlite3 12: each object that is collected asks for the environment
 * of the thread, and where the collector runs outside of one the process aborts (ADR 0043). So the headers are older ones of the same ABI.
 */
const ABORTS = 'RemoveEnvironmentCleanupHook';

/**
 * @param parts `builder` (a Debian, as debianOf gives it), `production` (holds node_modules), `node`, `headers` and `nodeGyp` (unpacked packages); `again` compiles whatever is kept
 * @returns `entry`, where the module stands in the package, and the version of SQLite
 */
export function sqlite({ builder, production, node, headers, nodeGyp, again = false, log = console.log }) {
  const source = path.join(production, SQLITE);
  const { version, integrity } = JSON.parse(readFileSync(LOCK_FILE, 'utf8')).packages[SQLITE];
  const kept = path.join(CACHE, `sqlite-${version}-${keyOf(integrity, PINS.node, PINS.headers, PINS.nodeGyp, builder.packages)}.node`);
  if (again || !existsSync(kept)) {
    log(`compiling better-sqlite3 ${version} for Node ${PINS.node.version}`);
    compile({ builder: builder.at, source, node, headers, nodeGyp, kept });
  }
  const [, sqliteVersion] = /#define SQLITE_VERSION\s+"([\d.]+)"/.exec(readFileSync(path.join(source, 'deps/sqlite3/sqlite3.c'), 'latin1')) ?? [];
  return { entry: { name: `${SQLITE}/${BUILT}`, from: kept }, version: sqliteVersion };
}

function compile({ builder, source, node, headers, nodeGyp, kept }) {
  const work = path.join(builder, 'build');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  cpSync(source, path.join(work, 'better-sqlite3'), { recursive: true });
  const run = ['/build/node/bin/node', '/build/npm/node_modules/node-gyp/bin/node-gyp.js', 'rebuild', '--release', '--nodedir=/build/headers'];
  inDebian(builder, run, {
    binds: { '/build/node': node, '/build/headers': headers, '/build/npm': nodeGyp },
    readOnly: ['/build/node', '/build/headers', '/build/npm'],
    cwd: '/build/better-sqlite3',
    env: { PATH: '/build/node/bin:/usr/bin:/bin', MAKEFLAGS: '-j2' },
  });
  const built = path.join(work, 'better-sqlite3', BUILT);
  if (abortsInCollection(built))
    throw new Error(`better-sqlite3 was compiled with headers that make it end the process now and then: pin older ones of the same ABI (scripts/package/pins.json, ADR 0043)`);
  cpSync(built, `${kept}.making`);
  renameSync(`${kept}.making`, kept);
  rmSync(work, { recursive: true, force: true });
}

/** Whether a native module was compiled with headers of which its objects abort the process when they are collected. */
export function abortsInCollection(file) {
  return readFileSync(file).includes(ABORTS);
}

/** @returns the file name and hash of the binary of uWebSockets.js for the Node of the package; @throws when any pinned binary there is another one */
export function checkedWebSockets(production) {
  const wrong = wrongBinaries(path.join(production, 'node_modules/uWebSockets.js'));
  if (wrong.length > 0) throw new Error(`uWebSockets.js is not what scripts/package/pins.json pins: ${wrong.join('; ')}`);
  const name = `uws_linux_x64_${PINS.node.abi}.node`;
  return { name, sha256: PINS.uWebSockets[name] };
}

/** @returns each pinned binary that is absent or differs, in words */
export function wrongBinaries(folder) {
  return Object.entries(PINS.uWebSockets).flatMap(([name, pinned]) => {
    const file = path.join(folder, name);
    if (!existsSync(file)) return [`${name} is not there`];
    const found = sha256Of(file);
    return found === pinned ? [] : [`${name} has the SHA-256 ${found}`];
  });
}

/** @returns `Depends` of what links to libraries of Debian, as dpkg-shlibdeps finds it: `libc6 (>= 2.38), ...`. `files` by their paths on this machine. */
export function libraryDependencies(builder, files) {
  const work = path.join(builder, 'build');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(path.join(work, 'debian'), { recursive: true });
  ran('sh', ['-c', 'printf "Source: lineside\\n\\nPackage: lineside\\nArchitecture: amd64\\n" > "$1"', 'sh', path.join(work, 'debian/control')]);
  files.forEach((file, at) => cpSync(file, path.join(work, `linked-${at}`)));
  const said = inDebian(builder, ['dpkg-shlibdeps', '-O', '--ignore-missing-info', ...files.map((_, at) => `-elinked-${at}`)], { cwd: '/build' });
  rmSync(work, { recursive: true, force: true });
  const [, depends] = /^shlibs:Depends=(.*)$/m.exec(said) ?? [];
  if (depends === undefined) throw new Error(`dpkg-shlibdeps names no libraries: ${said}`);
  return depends;
}
