// `npm run package [-- --sign KEYFILE] [--into FOLDER] [--compile | --refresh | --forget-bases]`: the program as it leaves the tree, into artifacts/package: an archive, a Debian
// package and a container image for linux-x64, each with its signature, the bill of materials and what it was built with.
// From the same commit come the same bytes, as long as Debian has the packages of scripts/package/debian.lock. `--refresh` builds nothing: it takes
// today's packages into that file, and `--forget-bases` removes the Debians of other locks. docs/operations/install.md says how they are checked and installed.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { install } from './build.mjs';
import { billOfMaterials } from './package/bom.mjs';
import { debEntries, writeDeb } from './package/deb.mjs';
import { debianOf, forget, inDebian, refresh, told } from './package/debian.mjs';
import { CACHE, installPrograms, PINS, ran, release as readRelease, root, sha256Of } from './package/facts.mjs';
import { fetched } from './package/fetched.mjs';
import { checkedWebSockets, libraryDependencies, sqlite } from './package/native.mjs';
import { writeImage } from './package/oci.mjs';
import { production as installProduction } from './package/production.mjs';
import { BYTES_MAX, forbidden } from './package/rules.mjs';
import { sign } from './package/sign.mjs';
import { writeTar } from './package/tar.mjs';
import { packageEntries } from './package/tree.mjs';
import { tracesOf } from './package/traces.mjs';

const { values: options } = parseArgs({
  options: {
    sign: { type: 'string' },
    into: { type: 'string', default: 'artifacts/package' },
    compile: { type: 'boolean', default: false },
    refresh: { type: 'boolean', default: false },
    'forget-bases': { type: 'boolean', default: false },
  },
});
const into = path.resolve(root, options.into);
const work = path.join(into, 'work');
const log = (words) => console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${words}`);
const begun = performance.now();

installPrograms({ log });
mkdirSync(CACHE, { recursive: true });
if (options.refresh) {
  refresh(['builder', 'container'], { log });
  process.exit();
}
if (options['forget-bases']) {
  forget({ log });
  process.exit();
}
await install({ log });
const release = readRelease();
if (release.changes) log('the tree has changes that are not in its commit: nobody else can build these bytes, and build.json says so');
rmSync(into, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const debian = { builder: debianOf('builder', { log }), container: debianOf('container', { log }) };
const builder = debian.builder.at;
const node = fetched(PINS.node, { log });
const headers = fetched(PINS.headers, { log });
const nodeGyp = fetched(PINS.nodeGyp, { log });
const production = installProduction({ log });
const webSockets = checkedWebSockets(production);
const compiled = sqlite({ builder: debian.builder, production, node, headers, nodeGyp, again: options.compile, log });
const nodeSha256 = sha256Of(path.join(node, 'bin/node'));

log('building the program');
const program = await packageEntries({ work: path.join(work, 'program'), production, native: [compiled.entry], release, log });
const bill = billOfMaterials({ production, release, sqlite: compiled, webSockets, nodeSha256, debian });
program.push({ name: 'lineside.cdx.json', contents: bill });
const wrong = [...forbidden(program.map(({ name }) => name)), ...tracesOf(program)];
if (wrong.length > 0) throw new Error(`the package must not hold\n${wrong.join('\n')}`);

const base = `lineside-${release.version}`;
const archive = path.join(into, `${base}-linux-x64.tar.zst`);
log('packing the archive');
const plain = path.join(work, 'archive.tar');
const unpacked = writeTar(
  plain,
  program.map((entry) => ({ ...entry, name: `${base}/${entry.name}` })),
  release.epochS,
);
// zstd of the same Debian: half a second to unpack on a box, and a quarter smaller than gzip
inDebian(builder, ['zstd', '--quiet', '--single-thread', '-19', '/build/archive.tar', '-o', '/build/archive.tar.zst'], { binds: { '/build': work } });
ran('mv', [path.join(work, 'archive.tar.zst'), archive]);
hold('unpacked', unpacked);
hold('compressed', statSync(archive).size);

log('packing the Debian package');
const linked = [path.join(node, 'bin/node'), ...program.filter(({ name }) => name.endsWith('.node')).map(({ from }) => from)];
const entries = debEntries({ program, node, release });
const deb = path.join(into, `lineside_${release.version}_amd64.deb`);
writeDeb({ builder, entries, release, depends: libraryDependencies(builder, linked), file: deb });

log('packing the container image');
const image = path.join(into, `${base}.oci.tar`);
writeImage({
  work: path.join(work, 'image'),
  debian: debian.container.at,
  entries: entries.filter(({ name }) => name.startsWith('usr/lib/lineside/') || name.startsWith('usr/bin/')),
  release,
  file: image,
});

const billFile = path.join(into, `${base}.cdx.json`);
writeFileSync(billFile, bill);
const infoFile = path.join(into, `${base}.buildinfo.json`);
writeFileSync(
  infoFile,
  `${JSON.stringify({ ...release, node: { ...PINS.node, sha256: nodeSha256 }, webSockets, sqlite: { version: compiled.version, sha256: sha256Of(compiled.entry.from) }, debian: { builder: told(debian.builder), container: told(debian.container) } }, null, 1)}\n`,
);
const products = [archive, deb, image, billFile, infoFile];
writeFileSync(path.join(into, 'SHA256SUMS'), products.map((file) => `${sha256Of(file)}  ${path.basename(file)}\n`).join(''));
log('signing');
const signed = sign([...products, path.join(into, 'SHA256SUMS')], {
  keyFile: options.sign,
  comment: `lineside ${release.version} commit ${release.commit}`,
  publicKeyFile: path.join(into, 'lineside.pub'),
  log,
});
rmSync(work, { recursive: true, force: true });
for (const file of products) log(`${(statSync(file).size / 1e6).toFixed(1).padStart(6)} MB  ${path.relative(root, file)}`);
log(`unpacked ${(unpacked / 1e6).toFixed(1)} MB without Node, ${program.length} files; public key ${signed.publicKey}${signed.development ? ' (development)' : ''}`);

function hold(what, bytes) {
  if (bytes > BYTES_MAX[what])
    throw new Error(`the package takes ${(bytes / 1e6).toFixed(1)} MB ${what}, at most ${BYTES_MAX[what] / 1e6} are allowed (scripts/package/rules.mjs)`);
}
