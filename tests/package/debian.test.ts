/**
 * The Debian packages of what leaves the tree (scripts/package/debian.lock): what the file says, when a build stops at it, and how they stand in the
 * bills of materials. `npm run long package` and `npm run long image` make the Debians.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as ajvModule from 'ajv';
import t from 'tap';
import { ownFolder } from '../support/own-folder.js';

interface Package {
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
  readonly source: string;
}
type Packages = Readonly<Record<string, Package>>;
interface Base {
  readonly taken: string;
  readonly release: string;
  readonly packages: Packages;
}
interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly description?: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}
interface Bill {
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly formulation: readonly { readonly components: readonly Component[] }[];
}

const ROOT = process.cwd();
const part = async <Part>(name: string): Promise<Part> => (await import(pathToFileURL(path.join(ROOT, 'scripts/package', name)).href)) as Part;
const lock = await part<{
  parseLock(text: string): Readonly<Record<string, Base>>;
  lockText(bases: Readonly<Record<string, Base>>): string;
  lockedBase(name: string, file?: string): Base;
  packagesFrom(installed: string, indexes: string): Packages;
  differences(locked: Packages, found: Packages): string[];
  ageOf(name: string, base: Pick<Base, 'taken'>, nowMs: number): string | undefined;
}>('debian-lock.mjs');
const { BASES } = await part<{ BASES: Readonly<Record<string, { readonly packages: readonly string[] }>> }>('bases.mjs');
const { billOfMaterials, billOfImage } = await part<{
  billOfMaterials(parts: object): string;
  billOfImage(parts: object): string;
}>('bom.mjs');

const debian = await part<{
  keptDebian(
    name: string,
    locked: Base,
    given: { readonly cache: string; readonly make: (base: object, target: string) => { readonly packages: Packages }; readonly log: (words: string) => void },
  ): string;
}>('debian.mjs');
const kept = await part<{
  baseFile(name: string, locked: Pick<Base, 'packages'>): string;
  proofFile(packages: readonly string[], lockText: string): string;
  olderBases(cache: string, locks: Readonly<Record<string, Base>>): string[];
  olderTold(cache: string, locks: Readonly<Record<string, Base>>): string | undefined;
  forgetBases(cache: string, locks: Readonly<Record<string, Base>>, to: { log: (words: string) => void }): void;
  sweptProofs(cache: string, lockText: string): string[];
}>('kept-bases.mjs');

/** The one of draft 7, in which CycloneDX writes; dist/ has that of 2020 only. */
const { Ajv } = createRequire(path.join(ROOT, 'package.json'))('ajv') as typeof ajvModule;

const SHA = 'a'.repeat(64);
const libc: Package = { version: '2.41-12+deb13u1', architecture: 'amd64', sha256: SHA, source: 'glibc' };
const gcc: Package = { version: '14.2.0-19', architecture: 'amd64', sha256: SHA, source: 'gcc-14' };
const tzdata: Package = { version: '2026f-0+deb13u1', architecture: 'all', sha256: SHA, source: 'tzdata' };
const base = (packages: Packages): Base => ({ taken: '2026-11-27', release: '13.8', packages });

t.test('the lock has each package that a base asks for, with version and hash, and is written as it is read', async (t) => {
  const text = readFileSync('scripts/package/debian.lock', 'utf8');
  const bases = lock.parseLock(text);
  t.same(Object.keys(bases), Object.keys(BASES));
  for (const [name, { packages }] of Object.entries(BASES))
    t.same(
      packages.filter((each) => bases[name]?.packages[each] === undefined),
      [],
      name,
    );
  t.equal(lock.lockText(bases), text);
  t.same(lock.lockedBase('container'), bases.container);
});

t.test('a line of the lock that nobody can read is named, and what writes it anew', async (t) => {
  const wrong = '[builder] 2026-11-27 Debian 13.8\nlibc6 2.41-12 amd64 abc glibc\n';
  t.throws(() => lock.parseLock(wrong), { message: "debian.lock, line 2: 'libc6 2.41-12 amd64 abc glibc' is no package; npm run package -- --refresh writes the file anew" });
  t.throws(() => lock.parseLock(`libc6 2.41-12 amd64 ${SHA} glibc\n`), /line 1: /, 'a package before the first base');
  const row = `libc6 2.41-12 amd64 ${SHA} glibc`;
  t.throws(() => lock.parseLock(`[image] 2026-11-27 Debian 13.8\n${row}\n${row}\n`), /line 3: .* stands twice/, 'what a merge leaves');
  t.throws(() => lock.parseLock(`[image] 2026-11-27 Debian 13.8\n[image] 2026-11-27 Debian 13.8\n`), /line 2: .* stands twice/);
  t.throws(() => lock.parseLock('[image] 9999-99-99 Debian 13.8\n'), /line 1: .* names no day/, 'or its age would never be told');
  t.same(lock.parseLock(`[image] 2026-11-27 Debian 13.8\r\n${row}\r\n`).image?.packages.libc6?.source, 'glibc', 'lines end as an editor ends them');
  t.throws(() => lock.lockedBase('imageTools', 'package.json'), /debian\.lock, line 1/);
  t.throws(() => lock.lockedBase('other'), { message: 'scripts/package/debian.lock has no base other: npm run package -- --refresh writes it' });
});

t.test('what is installed gets hash and source of the index of Debian that has this version', async (t) => {
  const stanza = (fields: Readonly<Record<string, string>>): string =>
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n');
  const indexes = [
    stanza({ Package: 'libc6', Source: 'glibc', Version: '2.41-12', Architecture: 'amd64', SHA256: 'b'.repeat(64) }),
    stanza({ Package: 'libc6', Source: 'glibc', Version: '2.41-12+deb13u1', Architecture: 'amd64', Depends: 'libgcc-s1', SHA256: SHA }),
    stanza({ Package: 'libgcc-s1', Source: 'gcc-14 (14.2.0-19)', Version: '14.2.0-19', Architecture: 'amd64', SHA256: SHA }),
    stanza({ Package: 'tzdata', Version: '2026f-0+deb13u1', Architecture: 'all', SHA256: SHA }),
  ].join('\n\n');
  const installed = 'libc6 2.41-12+deb13u1 amd64\nlibgcc-s1 14.2.0-19 amd64\ntzdata 2026f-0+deb13u1 all\n';
  t.same(lock.packagesFrom(installed, indexes), { libc6: libc, 'libgcc-s1': gcc, tzdata });
  t.throws(() => lock.packagesFrom('libc6 2.41-13 amd64\n', indexes), { message: 'libc6 2.41-13 amd64 is installed, and no index of Debian tells its SHA-256' });
});

t.test('a Debian that is another one than the lock has is told package by package', async (t) => {
  t.same(lock.differences({ libc6: libc, tzdata }, { libc6: libc, tzdata }), []);
  t.same(
    lock.differences(
      { libc6: libc, 'libgcc-s1': gcc, tzdata },
      { libc6: { ...libc, version: '2.41-12+deb13u2' }, 'libstdc++6': gcc, tzdata: { ...tzdata, sha256: 'c'.repeat(64) } },
    ),
    [
      'libc6 is 2.41-12+deb13u2, the lock has 2.41-12+deb13u1',
      'libgcc-s1 14.2.0-19 is in the lock, and not installed',
      'libstdc++6 14.2.0-19 is not in the lock',
      `tzdata 2026f-0+deb13u1 has the SHA-256 ${'c'.repeat(64)}, the lock has ${SHA}`,
    ],
  );
});

t.test('a lock of more than 30 days is told, with what renews it', async (t) => {
  const taken = Date.parse('2026-11-27');
  const days = (count: number): number => taken + count * 86_400_000;
  t.equal(lock.ageOf('builder', { taken: '2026-11-27' }, days(30)), undefined);
  t.equal(
    lock.ageOf('imageTools', { taken: '2026-11-27' }, days(31)),
    'the Debian packages of imageTools are of 2026-11-27, 31 days old: fixes since then are not in it, npm run image -- --refresh takes them',
  );
  t.match(lock.ageOf('container', { taken: '2026-11-27' }, days(40)), /npm run package -- --refresh takes them$/);
});

t.test('the bills of materials: Debian packages by purl and hash, those of the tools apart, and both fit the schema of CycloneDX', async (t) => {
  const release = { version: '1.2.3', commit: '0123456789abcdef', epochS: 1_700_000_000, changes: false };
  const text = billOfMaterials({
    production: ROOT,
    release,
    sqlite: { version: '3.53.0' },
    webSockets: { name: 'uws_linux_x64_137.node', sha256: SHA },
    nodeSha256: SHA,
    debian: { builder: base({ libc6: libc, 'g++-14': gcc }), container: base({ libc6: libc, tzdata }) },
  });
  const bill = JSON.parse(text) as Bill;
  const purls = (components: readonly Component[]): string[] => components.flatMap(({ purl = '' }) => (purl.startsWith('pkg:deb/') ? [purl] : []));
  const libcPurl = 'pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=amd64&distro=debian-13.8';
  const tzdataPurl = 'pkg:deb/debian/tzdata@2026f-0%2Bdeb13u1?arch=all&distro=debian-13.8';
  t.same(purls(bill.components), [libcPurl, tzdataPurl]);
  t.match(
    bill.components.find(({ name }) => name === 'libc6'),
    { hashes: [{ alg: 'SHA-256', content: SHA }], properties: [{ value: 'glibc' }], description: /in the container/ },
  );
  t.same(purls(bill.formulation.flatMap(({ components }) => components)), [libcPurl, 'pkg:deb/debian/g%2B%2B-14@14.2.0-19?arch=amd64&distro=debian-13.8'], 'it was made in these');

  const debian = { image: base({ libc6: libc }), imageTools: base({ 'grub-efi-amd64-bin': gcc, mtools: gcc }) };
  const image = JSON.parse(billOfImage({ bill: text, deb: { name: 'lineside_1.2.3_amd64.deb', sha256: SHA }, release, debian })) as Bill;
  t.same(purls(image.components), [libcPurl, 'pkg:deb/debian/grub-efi-amd64-bin@14.2.0-19?arch=amd64&distro=debian-13.8'], 'no package of the container');
  t.match(
    image.components.find(({ description }) => description === 'lineside_1.2.3_amd64.deb'),
    { name: 'lineside', version: '1.2.3', hashes: [{ content: SHA }] },
  );
  for (const name of ['node', 'sqlite', 'mqtt'])
    t.ok(
      image.components.some((component) => component.name === name),
      `${name} of the package`,
    );
  t.same(
    image.formulation.map(({ components }) => components.map(({ name }) => name)),
    [
      ['libc6', 'g++-14'],
      ['grub-efi-amd64-bin', 'mtools'],
    ],
  );
  t.not(image.serialNumber, bill.serialNumber);

  const schemas = path.join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
  const schema = (name: string): object => JSON.parse(readFileSync(path.join(schemas, name), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json', 'cryptography-defs.SNAPSHOT.schema.json'])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}`);
  const fits = ajv.compile(schema('bom-1.6.SNAPSHOT.schema.json'));
  for (const each of [bill, image]) {
    t.ok(fits(each), JSON.stringify(fits.errors));
    const refs = [each.metadata.component, ...each.components, ...each.formulation.flatMap(({ components }) => components)].map((component) => component['bom-ref']);
    t.equal(new Set(refs).size, refs.length, 'each is named once');
    t.same(
      each.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]).filter((ref) => !refs.includes(ref)),
      [],
      'who depends on something names what is there',
    );
  }
});

t.test('a base is kept beside those of other locks until somebody lets them go; what a proof runs in goes with its lock', (t) => {
  const cache = ownFolder(t);
  const [then, now] = [base({ libc6: { ...libc, version: '2.41-11' } }), base({ libc6: libc })];
  const folder = (name: string): void => void mkdirSync(path.join(cache, name, 'etc'), { recursive: true });
  for (const locked of [then, now]) {
    folder(kept.baseFile('image', locked));
    writeFileSync(path.join(cache, kept.baseFile('container', locked)), 'x'.repeat(2e6));
  }
  folder(kept.baseFile('imageTools', now));
  writeFileSync(path.join(cache, 'node.tar'), '');
  folder('debian-image.making');
  const locks = { container: now, image: now, imageTools: now };
  const older = [kept.baseFile('container', then), kept.baseFile('image', then)].sort();
  t.not(kept.baseFile('image', then), kept.baseFile('image', now));
  t.same(kept.olderBases(cache, locks), older);
  t.match(kept.olderTold(cache, locks), /^2 bases of other locks kept in artifacts\/cache, 2 MB: .+ --forget-bases removes them$/);

  const [ofThen, ofNow, another] = [kept.proofFile(['git'], 'then'), kept.proofFile(['git'], 'now'), kept.proofFile(['procps'], 'now')] as const;
  const left = [ofThen, `${kept.proofFile(['procps'], 'then')}.making`, 'debian-trixie-0123456789abcdef'];
  for (const name of [...left, ofNow, another, `${another}.making`]) folder(name);
  t.same(kept.sweptProofs(cache, 'now'), [...left].sort(), 'of each lock of before, whole or half, and as they were named once');
  t.same(kept.olderBases(cache, locks), older, 'a base is no proof');

  const said: string[] = [];
  kept.forgetBases(cache, locks, { log: (words) => said.push(words) });
  t.match(said, [/^removed debian-/, /^removed debian-/, /^2 bases removed, 2 MB; /]);
  const there = ['node.tar', 'debian-image.making', ofNow, another, `${another}.making`, ...Object.entries(locks).map(([name, locked]) => kept.baseFile(name, locked))];
  t.same(readdirSync(cache).sort(), there.sort(), 'those of the lock of now stay');
  t.equal(kept.olderTold(cache, locks), undefined);
  kept.forgetBases(cache, locks, { log: (words) => said.push(words) });
  t.equal(said.at(-1), 'no base of another lock is kept');
  t.same(kept.olderBases(path.join(cache, 'nowhere'), locks), []);
  t.end();
});

t.test('a base that is kept is used again only while each file of it is what it was when it was compared with the lock; else it is made again', (t) => {
  const cache = ownFolder(t);
  const locked = base({ libc6: libc });
  let made = 0;
  const make = (_base: object, target: string) => {
    made += 1;
    for (const folder of ['usr/bin', 'etc', 'dev', 'tmp']) mkdirSync(path.join(target, folder), { recursive: true });
    writeFileSync(path.join(target, 'usr/bin/cc'), 'compiler');
    writeFileSync(path.join(target, 'etc/passwd'), 'root');
    symlinkSync('cc', path.join(target, 'usr/bin/gcc'));
    return { packages: locked.packages };
  };
  const said: string[] = [];
  const at = path.join(cache, kept.baseFile('builder', locked));
  const used = () => debian.keptDebian('builder', locked, { cache, make, log: (words) => said.push(words) });
  const inIt = (name: string): string => path.join(at, name);
  t.equal(used(), at);
  t.equal(made, 1);
  // what a build leaves behind
  for (const name of ['dev/null', 'tmp/cc1.o']) writeFileSync(inIt(name), '');
  mkdirSync(inIt('usr/local/lib/node'), { recursive: true });
  t.equal(used(), at);
  t.equal(made, 1, 'it is used again');

  for (const [words, damage] of [
    ['usr/bin/cc has changed', () => writeFileSync(inIt('usr/bin/cc'), 'compiles')],
    ['etc/passwd has changed', () => chmodSync(inIt('etc/passwd'), 0o666)],
    ['etc/passwd went', () => rmSync(inIt('etc/passwd'))],
    ['etc/ld.so.preload came', () => writeFileSync(inIt('etc/ld.so.preload'), '/tmp/evil.so')],
    ['usr/bin/gcc has changed', () => (rmSync(inIt('usr/bin/gcc')), symlinkSync('/tmp/cc', inIt('usr/bin/gcc')))],
    ['nobody has noted what it consists of', () => rmSync(`${at}.sums`)],
    ['nobody has noted what it consists of', () => writeFileSync(`${at}.sums`, readFileSync(`${at}.sums`, 'utf8').replace(/.*\n/, ''))],
  ] as const) {
    damage();
    const before = made;
    said.length = 0;
    t.equal(used(), at);
    t.match(said[0], `is not what was made of the lock, and is made again: ${words}`);
    t.equal(made, before + 1);
    t.same([readFileSync(inIt('usr/bin/cc'), 'utf8'), readFileSync(inIt('etc/passwd'), 'utf8')], ['compiler', 'root']);
  }
  t.equal(used(), at);
  const before = made;
  t.equal(used(), at);
  t.equal(made, before, 'and then it is used again');
  t.end();
});

t.test('an archive that is kept is compared too, and one that Debian gives otherwise by now stops the build', (t) => {
  const cache = ownFolder(t);
  const locked = base({ libc6: libc });
  const at = path.join(cache, kept.baseFile('container', locked));
  let packages = locked.packages;
  const make = (_base: object, target: string) => {
    writeFileSync(target, 'archive');
    return { packages };
  };
  const said: string[] = [];
  const used = () => debian.keptDebian('container', locked, { cache, make, log: (words) => said.push(words) });
  t.equal(used(), at);
  writeFileSync(at, 'another');
  said.length = 0;
  t.equal(used(), at);
  t.match(said[0], /\.tar in artifacts\/cache is not what was made of the lock, and is made again: the archive has changed$/);
  t.equal(readFileSync(at, 'utf8'), 'archive');
  writeFileSync(at, 'another');
  packages = { libc6: { ...libc, version: '2.41-13' } };
  t.throws(used, /Debian gives other packages for container .* nothing was built/);
  t.throws(used, /nothing was built/, 'and what is damaged is not taken in its place');
  kept.forgetBases(cache, {}, { log: () => undefined });
  t.same(readdirSync(cache), [], 'what was noted of it goes with it');
  t.end();
});
