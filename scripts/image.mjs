// `npm run image [-- --sign KEYFILE] [--into FOLDER] [--package DEB | --refresh]`: the appliance as the image of a disk, into artifacts/image: Debian 13 with the package, its root
// read-only, the data on a partition of its own. `--package`: of a package that is there already, and not of this tree. `--refresh`: builds nothing,
// takes today's Debian packages into scripts/package/debian.lock. docs/operations/image.md says how it comes onto a medium, ADR 0050 why it is laid out so.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeDisk } from './image/disk.mjs';
import { makeSystem } from './image/system.mjs';
import { billOfImage } from './package/bom.mjs';
import { debianOf, inDebian, refresh, told, versionsIn } from './package/debian.mjs';
import { CACHE, installPrograms, ran, release as readRelease, root, sha256Of } from './package/facts.mjs';
import { BYTES_MAX } from './package/rules.mjs';
import { sign } from './package/sign.mjs';

const { values: options } = parseArgs({
  options: { sign: { type: 'string' }, into: { type: 'string', default: 'artifacts/image' }, package: { type: 'string' }, refresh: { type: 'boolean', default: false } },
});
const into = path.resolve(root, options.into);
const work = path.join(into, 'work');
const begun = performance.now();
const log = (words) => console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${words}`);

installPrograms({ log });
mkdirSync(CACHE, { recursive: true });
if (options.refresh) {
  refresh(['image', 'imageTools'], { log });
  process.exit();
}
const release = readRelease();
const deb = options.package === undefined ? packageOf(release) : path.resolve(options.package);
const debian = { image: debianOf('image', { log }), imageTools: debianOf('imageTools', { log }) };
const tools = debian.imageTools.at;
rmSync(into, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const tree = path.join(work, 'tree');
makeSystem({ debian: debian.image.at, deb, tree, epochS: release.epochS, log });
const disk = path.join(into, `lineside-${release.version}-x64.img`);
makeDisk({ tools, tree, work, epochS: release.epochS, file: disk, log });

log('compressing');
const compressed = `${disk}.zst`;
inDebian(tools, ['zstd', '--quiet', '-T2', '-10', `/build/${path.basename(disk)}`, '-o', `/build/${path.basename(compressed)}`], { binds: { '/build': into } });
const { size } = statSync(compressed);
if (size > BYTES_MAX.image) throw new Error(`the image takes ${(size / 1e6).toFixed(1)} MB compressed, at most ${BYTES_MAX.image / 1e6} are allowed (scripts/package/rules.mjs)`);

const base = path.join(into, `lineside-${release.version}-x64`);
const [info, billFile] = [`${base}.imageinfo.json`, `${base}.cdx.json`];
const { lineside, ...versions } = versionsIn(tree);
const foreign = Object.entries(versions).filter(([name, version]) => debian.image.packages[name]?.version !== version);
if (foreign.length > 0) throw new Error(`the image has ${foreign.map((each) => each.join(' ')).join(', ')}, which scripts/package/debian.lock has not`);
const named = { name: path.basename(deb), sha256: sha256Of(deb) };
const bill = readFileSync(path.join(tree, 'usr/lib/lineside/lineside.cdx.json'), 'utf8');
writeFileSync(
  info,
  `${JSON.stringify({ ...release, package: { ...named, version: lineside }, debian: { image: told(debian.image), imageTools: told(debian.imageTools) } }, null, 1)}\n`,
);
writeFileSync(billFile, billOfImage({ bill, deb: named, release, debian }));
const products = [compressed, info, billFile];
writeFileSync(path.join(into, 'SHA256SUMS'), products.map((file) => `${sha256Of(file)}  ${path.basename(file)}\n`).join(''));
log('signing');
sign([...products, path.join(into, 'SHA256SUMS')], {
  keyFile: options.sign,
  comment: `lineside image ${release.version} commit ${release.commit}`,
  publicKeyFile: path.join(into, 'lineside.pub'),
  log,
});
rmSync(work, { recursive: true, force: true });
log(`${(size / 1e6).toFixed(1)} MB  ${path.relative(root, compressed)}; unpacked ${(statSync(disk).size / 1e6).toFixed(0)} MB, sha256 ${sha256Of(disk)}`);

/** The package of this commit; made where it is not there. */
function packageOf({ version, commit, changes }) {
  const folder = path.join(root, 'artifacts/package');
  const build = path.join(folder, `lineside-${version}.buildinfo.json`);
  const file = path.join(folder, `lineside_${version}_amd64.deb`);
  const is = existsSync(build) && existsSync(file) ? JSON.parse(readFileSync(build, 'utf8')) : {};
  if (is.commit !== commit || is.changes || changes) {
    log('making the package');
    ran(process.execPath, ['scripts/package.mjs', ...(options.sign ? ['--sign', options.sign] : [])], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      said: 'npm run package',
    });
  }
  return file;
}
