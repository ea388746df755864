// `npm run image [-- --sign KEYFILE] [--into FOLDER] [--package DEB]`: the appliance as the image of a disk, into artifacts/image: Debian 13 with the package, its root
// read-only, the data on a partition of its own. `--package`: of a package that is there already, and not of this tree. docs/operations/image.md says how it comes onto a medium, ADR 0050 why it is laid out so.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeDisk } from './image/disk.mjs';
import { makeSystem } from './image/system.mjs';
import { debianWith, inDebian, packagesOf } from './package/debian.mjs';
import { installPrograms, PINS, ran, release as readRelease, root, sha256Of } from './package/facts.mjs';
import { BYTES_MAX } from './package/rules.mjs';
import { sign } from './package/sign.mjs';

const { values: options } = parseArgs({
  options: { sign: { type: 'string' }, into: { type: 'string', default: 'artifacts/image' }, package: { type: 'string' } },
});
const into = path.resolve(root, options.into);
const work = path.join(into, 'work');
const begun = performance.now();
const log = (words) => console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${words}`);

installPrograms({ log });
const release = readRelease();
const deb = options.package === undefined ? packageOf(release) : path.resolve(options.package);
const debian = debianWith(PINS.debian.image, { log });
const tools = debianWith(PINS.debian.imageTools, { log });
rmSync(into, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const tree = path.join(work, 'tree');
makeSystem({ debian, deb, tree, epochS: release.epochS, log });
const disk = path.join(into, `lineside-${release.version}-x64.img`);
makeDisk({ tools, tree, work, epochS: release.epochS, file: disk, log });

log('compressing');
const compressed = `${disk}.zst`;
inDebian(tools, ['zstd', '--quiet', '-T2', '-10', `/build/${path.basename(disk)}`, '-o', `/build/${path.basename(compressed)}`], { binds: { '/build': into } });
const { size } = statSync(compressed);
if (size > BYTES_MAX.image) throw new Error(`the image takes ${(size / 1e6).toFixed(1)} MB compressed, at most ${BYTES_MAX.image / 1e6} are allowed (scripts/package/rules.mjs)`);

const info = path.join(into, `lineside-${release.version}-x64.imageinfo.json`);
writeFileSync(info, `${JSON.stringify({ ...release, package: { name: path.basename(deb), sha256: sha256Of(deb) }, debian: packagesOf(tree) }, null, 1)}\n`);
writeFileSync(path.join(into, 'SHA256SUMS'), [compressed, info].map((file) => `${sha256Of(file)}  ${path.basename(file)}\n`).join(''));
log('signing');
sign([compressed, path.join(into, 'SHA256SUMS')], {
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
