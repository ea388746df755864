// What of the production dependencies goes into the package, and why the rest does not: tables, and functions that walk them.

/** The platform of the package: what Node calls it, and the C library. */
export const TARGET = { os: 'linux', cpu: 'x64', libc: 'glibc' };

/** Dependencies that work at install only: what they bring is compiled here, in a Debian of its own. */
const INSTALL_ONLY = { 'better-sqlite3': ['prebuild-install'] };

/** Licences and notices stay, whatever else says that a file goes. */
const LICENCE = /(^|\/)(licen[cs]e|copying|notice|copyright|authors)[^/]*$/i;

/**
 * Files of a package that the program never opens, by their path in the package. `of`: only of that package.
 * A folder is taken by its place at the top: `dist/doc/` of yaml is its program.
 */
const LEFT_OUT = [
  { path: /\.(d\.[cm]?ts|[cm]?ts|tsx|flow)$/, why: 'types' },
  { path: /\.tsbuildinfo$/, why: 'left of its own build' },
  { path: /\.map$/, why: 'source maps of libraries' },
  { path: /\.(md|markdown|png|svg|jpg|gif|html|yml)$/i, why: 'pages' },
  { path: /^(tests?|__tests__|examples?|docs?|bench|benchmarks?|browser|umd|\.github|\.vscode)\//, why: 'not of the program' },
  { path: /^(test|bench|benchmark|example)[\w.-]*\.[cm]?js$|\.(test|spec)\.[cm]?js$/, why: 'not of the program' },
  { path: /(^|\/)(\.[^/]+|Makefile|tsconfig[^/]*|eslint\.[^/]+|CHANGELOG[^/]*|HISTORY[^/]*)$/, why: 'not of the program' },
  { path: /\.(c|cc|cpp|h|hpp|gyp|gypi|mk|sh|bat)$/, why: 'sources of native modules' },
  { of: 'better-sqlite3', path: /^(deps|src|build)\//, why: 'sources, and what another Node compiled; the module made for this one is put there' },
  {
    of: 'uWebSockets.js',
    path: /\.node$/,
    unless: (name, { abi }) => name === `uws_${TARGET.os}_${TARGET.cpu}_${abi}.node`,
    why: 'binaries of other platforms and versions of Node',
  },
  { of: 'uWebSockets.js', path: /^(misc|mvp|scripts|src)\//, why: 'sources and tools' },
  {
    path: /^prebuilds\//,
    unless: (name) => name.startsWith(`prebuilds/${TARGET.os}-${TARGET.cpu}/`) && !name.endsWith('.musl.node'),
    why: 'binaries of other platforms',
  },
  { of: 'mqtt', path: /^dist\/mqtt/, why: 'its form for browsers' },
  { of: 'mqtt', path: /^(build\/bin|help)\//, why: 'its own commands' },
];

/** What no file of the package may be, wherever it comes from; the last look before it is packed. */
export const FORBIDDEN = [
  { path: /\.d\.[cm]?ts$/, why: 'types' },
  { path: /\.map$/, why: 'source maps' },
  { path: /(^|\/)node_modules\/(typescript|@types)\//, why: 'for the compiler only' },
  { path: /(^|\/)(tests|parts)\//, why: 'only tests need it' },
  { path: /uws_(?!linux_x64_)[^/]*\.node$|(darwin|win32|android|arm|musl)[^/]*(\/[^/]*)?\.node$/, why: 'a binary of another platform' },
];

/** Most that the package may take: unpacked without Node, and compressed; and the image of the disk, compressed. */
export const BYTES_MAX = { unpacked: 110e6, compressed: 30e6, image: 350e6 };

/**
 * @param packages `packages` of package-lock.json
 * @returns the folders (`node_modules/mqtt`) of what the program needs at run time: dependencies, optional ones that run on this platform, and the
 *   peers that are not optional; sorted.
 */
export function productionFolders(packages) {
  const found = new Set();
  const walk = (from) => {
    for (const name of neededBy(packages[from], packageOf(from))) {
      const folder = resolved(packages, from, name);
      if (folder === undefined || found.has(folder) || !runsHere(packages[folder])) continue;
      found.add(folder);
      walk(folder);
    }
  };
  walk('');
  return [...found].filter((folder) => !packageOf(folder).startsWith('@types/') && packageOf(folder) !== 'undici-types').sort();
}

/** @returns why this file of a package stays away, or undefined when it goes along. `abi` is that of the Node that is shipped. */
export function leftOut(packageName, file, { abi }) {
  if (LICENCE.test(file)) return undefined;
  return LEFT_OUT.find((rule) => (rule.of ?? packageName) === packageName && rule.path.test(file) && !rule.unless?.(file, { abi }))?.why;
}

/** @returns each file that must not be in the package, with the reason. */
export function forbidden(names) {
  return names.flatMap((name) => FORBIDDEN.filter((rule) => rule.path.test(name)).map((rule) => `${name}: ${rule.why}`));
}

/** The name that is imported: of a folder in a lock file. */
export function packageOf(folder) {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function neededBy(entry, name) {
  const peers = Object.keys(entry.peerDependencies ?? {}).filter((peer) => !entry.peerDependenciesMeta?.[peer]?.optional);
  return [...Object.keys(entry.dependencies ?? {}), ...Object.keys(entry.optionalDependencies ?? {}), ...peers].filter((each) => !INSTALL_ONLY[name]?.includes(each));
}

function runsHere({ os, cpu, libc }) {
  return [
    [os, TARGET.os],
    [cpu, TARGET.cpu],
    [libc, TARGET.libc],
  ].every(([allowed, here]) => allowed === undefined || allowed.includes(here));
}

/** Where Node looks: beside the package, then in each folder above. */
function resolved(packages, from, name) {
  for (let folder = from; ; ) {
    const at = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[at] !== undefined) return at;
    if (folder === '') return undefined;
    const above = folder.lastIndexOf('/node_modules/');
    folder = above < 0 ? '' : folder.slice(0, above);
  }
}
