/**
 * The rules of the package that leaves the tree (scripts/package), on the dependencies that are installed here: what goes along and what does not, its
 * size, the bytes of its archive, its control fields, and the pinned binaries. `npm run long package` builds, installs and runs the whole.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';

interface Entry {
  readonly name: string;
  readonly from?: string;
  readonly contents?: string;
  readonly link?: string;
  readonly program?: boolean;
}
interface Rules {
  BYTES_MAX: { readonly unpacked: number };
  productionFolders(packages: Packages): string[];
  leftOut(name: string, file: string, node: { readonly abi: string }): string | undefined;
  forbidden(names: readonly string[]): string[];
}
type Packages = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
interface Release {
  readonly version: string;
  readonly commit: string;
  readonly epochS: number;
  readonly changes: boolean;
}

const ROOT = process.cwd();
const part = async <Part>(name: string): Promise<Part> => (await import(pathToFileURL(path.join(ROOT, 'scripts/package', name)).href)) as Part;
const rules = await part<Rules>('rules.mjs');
const { productionEntries } = await part<{ productionEntries(folder: string, node: { readonly abi: string }): Entry[] }>('production.mjs');
const { withFolders, writeAll, writeTar } = await part<{
  writeAll(fd: number, bytes: Uint8Array, write: (fd: number, bytes: Uint8Array, at: number) => number): void;
  withFolders(entries: readonly Entry[]): Entry[];
  writeTar(file: string, entries: readonly Entry[], epochS: number): number;
}>('tar.mjs');
const { wrongBinaries } = await part<{ wrongBinaries(folder: string): string[] }>('native.mjs');
const { checkIntegrity } = await part<{ checkIntegrity(name: string, bytes: Buffer, integrity: string): void }>('fetched.mjs');
const deb = await part<{
  control(facts: { readonly release: Release; readonly depends: string; readonly bytes: number }): string;
  debEntries(parts: { readonly program: readonly Entry[]; readonly node: string; readonly release: Release }): Entry[];
  controlEntries(parts: { readonly entries: readonly Entry[]; readonly release: Release; readonly depends: string }): Entry[];
}>('deb.mjs');

const LOCK = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { readonly packages: Packages };
const { node: NODE, uWebSockets: BINARIES } = JSON.parse(readFileSync('scripts/package/pins.json', 'utf8')) as {
  readonly node: { readonly abi: string; readonly version: string };
  readonly uWebSockets: Readonly<Record<string, string>>;
};
const RELEASE: Release = { version: '1.2.3', commit: '0123456789abcdef', epochS: 1_700_000_000, changes: false };
const INSTALLED = productionEntries(ROOT, NODE);
const names = INSTALLED.map(({ name }) => name);

function folder(t: Test): string {
  const made = mkdtempSync(path.join(tmpdir(), 'lineside-package-'));
  t.teardown(() => rmSync(made, { recursive: true }));
  return made;
}

t.test('the package holds every dependency that the program names, and those that they need', async (t) => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly dependencies: Readonly<Record<string, string>> };
  const folders = rules.productionFolders(LOCK.packages);
  for (const name of Object.keys(dependencies)) {
    t.ok(folders.includes(`node_modules/${name}`), name);
    t.ok(names.includes(`node_modules/${name}/package.json`), `${name} has its manifest`);
  }
  for (const name of ['bindings', 'ws', 'mqtt-packet']) t.ok(folders.includes(`node_modules/${name}`), `${name}, which another one needs`);
  for (const name of ['typescript', 'tap', 'esbuild', 'prebuild-install', '@types/node']) t.notOk(folders.includes(`node_modules/${name}`), `no ${name}`);
});

t.test('a package that stands below another one goes along with it', async (t) => {
  const packages = {
    '': { dependencies: { upper: '1' } },
    'node_modules/upper': { dependencies: { shared: '2' }, peerDependencies: { peer: '*', absent: '*' }, peerDependenciesMeta: { absent: { optional: true } } },
    'node_modules/upper/node_modules/shared': { dependencies: { deep: '1' } },
    'node_modules/shared': {},
    'node_modules/deep': { optionalDependencies: { foreign: '1' } },
    'node_modules/foreign': { os: ['darwin'] },
    'node_modules/peer': {},
    'node_modules/absent': {},
  };
  t.same(rules.productionFolders(packages), ['node_modules/deep', 'node_modules/peer', 'node_modules/upper', 'node_modules/upper/node_modules/shared']);
});

t.test('the package holds nothing foreign: no types, no sources, no binary of another platform or Node', async (t) => {
  t.same(rules.forbidden(names), []);
  t.same(
    names.filter((name) => name.startsWith('node_modules/uWebSockets.js/') && name.endsWith('.node')),
    [`node_modules/uWebSockets.js/uws_linux_x64_${NODE.abi}.node`],
  );
  t.same(
    names.filter((name) => name.includes('/prebuilds/')),
    [],
  );
  t.notOk(
    names.some((name) => name.startsWith('node_modules/better-sqlite3/') && name.endsWith('.node')),
    'not what was compiled for the Node of this machine',
  );
  t.same(rules.forbidden(['dist/tests/a.js', 'node_modules/a/uws_win32_x64_137.node', 'node_modules/b/x.d.mts']).length, 3, 'and what would be is found');
});

t.test('what a file of a dependency is decides, not where a word of its name stands', async (t) => {
  const kept = ['dist/doc/Document.js', 'LICENSE.md', 'docs/LICENSE', 'lib/test-port.js', 'package.json'];
  for (const file of kept) t.equal(rules.leftOut('yaml', file, NODE), undefined, file);
  for (const file of ['README.md', 'dist/index.d.ts', 'index.js.map', 'test/all.js', 'test.js', '.npmignore', 'src/addon.cc']) t.ok(rules.leftOut('yaml', file, NODE), file);
  t.ok(rules.leftOut('better-sqlite3', 'deps/sqlite3/sqlite3.c', NODE));
});

t.test('each dependency has its licence along', async (t) => {
  const without = rules
    .productionFolders(LOCK.packages)
    .filter((name) => !names.some((file) => file.startsWith(`${name}/`) && /licen[cs]e|copying/i.test(file.slice(name.length))))
    .filter((name) => ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE'].some((file) => existsSync(path.join(ROOT, name, file))));
  t.same(without, []);
});

t.test('program and dependencies take at most what the package may', async (t) => {
  const bytes = INSTALLED.reduce((sum, { from = '' }) => sum + statSync(from).size, 0);
  t.ok(bytes < rules.BYTES_MAX.unpacked / 4, `the dependencies take ${(bytes / 1e6).toFixed(1)} MB`);
});

t.test('an archive of the same files has the same bytes, whatever their order, their times and their modes on disk are', async (t) => {
  const made = folder(t);
  const file = path.join(made, 'x.js');
  writeFileSync(file, 'first');
  const entries: Entry[] = [
    { name: 'a/program', from: file, program: true },
    { name: `a/${'long/'.repeat(30)}name.js`, contents: 'deep' },
    { name: 'a/b', link: 'program' },
    { name: 'é/ü.txt', contents: 'umlaut' },
  ];
  const archive = (name: string, of: readonly Entry[]): string => {
    writeTar(path.join(made, name), of, RELEASE.epochS);
    return createHash('sha256')
      .update(readFileSync(path.join(made, name)))
      .digest('hex');
  };
  const first = archive('first.tar', entries);
  utimesSync(file, 1, 1);
  chmodSync(file, 0o600);
  t.equal(archive('second.tar', entries.toReversed()), first);
  const listed = execFileSync('tar', ['--utc', '-tvf', path.join(made, 'first.tar')], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  t.match(listed, /^-rwxr-xr-x 0\/0 +5 2023-11-14 22:13 a\/program$/m, 'the tar of the system reads it: owner 0, the one instant, the mode');
  t.match(listed, /b -> program$/m);
  t.match(listed, /name\.js$/m);
  t.same(
    withFolders(entries)
      .map(({ name }) => name)
      .slice(0, 3),
    ['a', 'a/b', 'a/long'],
  );
  t.throws(() => writeTar(path.join(made, 'third.tar'), [{ name: 'n'.repeat(120), contents: '' }], 0), /too long for a tar archive/);
});

t.test('the Debian package: fields, a configuration file of the plant, sums of every file, and a command', async (t) => {
  const made = folder(t);
  const program = [{ name: 'bin/lineside.js', contents: 'x'.repeat(2048), program: true }];
  writeFileSync(path.join(made, 'LICENSE'), 'of Node');
  const entries = deb.debEntries({ program, node: made, release: RELEASE }).filter(({ from }) => from === undefined || existsSync(from));
  const control = deb.controlEntries({ entries, release: RELEASE, depends: 'libc6 (>= 2.38)' });
  const text = (name: string): string => control.find((entry) => entry.name === `DEBIAN/${name}`)?.contents ?? '';
  t.match(text('control'), /^Package: lineside\nVersion: 1\.2\.3\nArchitecture: amd64\n/);
  t.match(text('control'), /^Depends: libc6 \(>= 2\.38\), systemd, /m);
  t.ok(text('control').endsWith('\n') && !text('control').includes('\n\n'), 'one paragraph');
  t.equal(text('conffiles'), '/etc/lineside/config.yaml\n');
  t.match(text('md5sums'), new RegExp(`^${createHash('md5').update('x'.repeat(2048)).digest('hex')}  usr/lib/lineside/bin/lineside.js$`, 'm'));
  for (const script of ['postinst', 'prerm', 'postrm']) {
    const { from = '', program: executed } = control.find(({ name }) => name === `DEBIAN/${script}`) ?? { name: script };
    t.ok(executed, `${script} may be executed`);
    execFileSync('sh', ['-n', from]);
    t.match(readFileSync(from, 'utf8'), /^#!\/bin\/sh\n.*\nset -e$/ms);
    t.notMatch(readFileSync(from, 'utf8'), /rm -\w*r/, 'no script of the package removes a folder with what is in it');
  }
  const command = entries.find(({ name }) => name === 'usr/bin/lineside')?.from ?? '';
  t.match(readFileSync(command, 'utf8'), /exec \/usr\/lib\/lineside\/node\/bin\/node \/usr\/lib\/lineside\/bin\/lineside\.js "\$@"/);
});

t.test('the binaries of uWebSockets.js are those that scripts/package/pins.json pins', async (t) => {
  t.same(wrongBinaries('node_modules/uWebSockets.js'), []);
  const made = folder(t);
  for (const name of Object.keys(BINARIES).slice(1)) writeFileSync(path.join(made, name), readFileSync(path.join('node_modules/uWebSockets.js', name)));
  const [first = '', second = ''] = Object.keys(BINARIES);
  const changed = readFileSync(path.join(made, second));
  changed.writeUInt8(changed.readUInt8(5000) ^ 1, 5000);
  writeFileSync(path.join(made, second), changed);
  const wrong = wrongBinaries(made);
  t.equal(wrong.length, 2);
  t.equal(wrong[0], `${first} is not there`);
  t.match(wrong[1], `${second} has the SHA-256 `);
});

t.test('an archive of the registry that is not what was pinned is not built with', async (t) => {
  const bytes = Buffer.from('an archive');
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  checkIntegrity('node', bytes, integrity);
  t.throws(() => checkIntegrity('node', Buffer.from('another archive'), integrity), /node is not what scripts\/package\/pins\.json pins/);
});

t.test('the Node of the package is one that engines allows', async (t) => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly engines: { readonly node: string } };
  t.equal(engines.node, '>=20.19.0 <25');
  t.match(NODE.version, /^24\./);
  t.ok(BINARIES[`uws_linux_x64_${NODE.abi}.node`], 'and its binary of uWebSockets.js is pinned');
});

t.test('an archive is written whole, however little a write takes at once', async (t) => {
  const taken: number[] = [];
  writeAll(0, Uint8Array.of(1, 2, 3, 4, 5), (_, bytes, at) => {
    const some = bytes.subarray(at, at + 2);
    taken.push(...some);
    return some.length;
  });
  t.same(taken, [1, 2, 3, 4, 5]);
});

t.test('a change of the changelog is a change of the package, which carries it', async (t) => {
  const { SHIPPED } = await part<{ readonly SHIPPED: readonly string[] }>('facts.mjs');
  for (const name of ['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'systemd', 'docs']) t.ok(SHIPPED.includes(name), name);
});
