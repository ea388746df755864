// The Debian package: the program with its Node below /usr/lib/lineside, a command, a configuration file, and the units of systemd/.
// Built by dpkg-deb of the Debian it is for; the same bytes from the same entries.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { inDebian } from './debian.mjs';
import { ran, root } from './facts.mjs';
import { contentsOf, kindOf, writeTar } from './tar.mjs';

export const PROGRAM_FOLDER = 'usr/lib/lineside';
const MAINTAINER_FOLDER = 'scripts/package/debian';
const MAINTAINER_SCRIPTS = ['postinst', 'prerm', 'postrm'];
/** Files of the tree for places of the system, those that are there; without the unit the package brings the program alone. */
const SYSTEM_FILES = {
  'systemd/lineside.service': 'usr/lib/systemd/system/lineside.service',
  'systemd/lineside.sysusers.conf': 'usr/lib/sysusers.d/lineside.conf',
  'systemd/lineside.tmpfiles.conf': 'usr/lib/tmpfiles.d/lineside.conf',
  'systemd/journald-lineside.conf': 'usr/lib/systemd/journald.conf.d/lineside.conf',
};
/** Kept by dpkg as the plant has changed it. */
const CONFIGURATION = 'etc/lineside/config.yaml';
/** Where the pages stand that Debian asks for. */
const DOC = 'usr/share/doc/lineside';

/** @returns what the package puts into the system, by name from the root on. `program`: the entries of the program; `node`: the unpacked Node. */
export function debEntries({ program, node, release }) {
  const tree = (name) => path.join(root, name);
  return [
    ...program.map((entry) => ({ ...entry, name: `${PROGRAM_FOLDER}/${entry.name}` })),
    { name: `${PROGRAM_FOLDER}/node/bin/node`, from: path.join(node, 'bin/node'), program: true },
    { name: `${PROGRAM_FOLDER}/node/LICENSE`, from: path.join(node, 'LICENSE') },
    { name: 'usr/bin/lineside', from: tree(`${MAINTAINER_FOLDER}/lineside`), program: true },
    { name: CONFIGURATION, from: tree(`${MAINTAINER_FOLDER}/config.yaml`) },
    ...Object.entries(SYSTEM_FILES)
      .filter(([name]) => existsSync(tree(name)))
      .map(([name, to]) => ({ name: to, from: tree(name) })),
    { name: `${DOC}/copyright`, from: tree(`${MAINTAINER_FOLDER}/copyright`) },
    { name: `${DOC}/changelog.gz`, contents: gzipSync(changelog(release), { level: 9 }) },
  ];
}

/** The control fields. `depends`: of the libraries; `bytes`: installed. */
export function control({ release, depends, bytes }) {
  return [
    'Package: lineside',
    `Version: ${release.version}`,
    'Architecture: amd64',
    'Maintainer: Lineside <lineside@localhost>',
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    // systemd-sysusers and systemd-tmpfiles make the user and its folders; the helpers start the unit as the machine's policy allows
    `Depends: ${depends}, systemd, init-system-helpers (>= 1.54~)`,
    'Section: misc',
    'Priority: optional',
    'Description: control computer beside one batch line',
    ' Scans the equipment, runs ISA-88 recipes, keeps records an inspector trusts,',
    ' and serves operators, the MES, process engineers and QA. With its own Node.',
    '',
  ].join('\n');
}

/** The files of DEBIAN/ as entries. */
export function controlEntries({ entries, release, depends }) {
  const files = entries.filter((entry) => kindOf(entry) === 'file').sort((a, b) => (a.name < b.name ? -1 : 1));
  const contents = files.map((entry) => [entry.name, contentsOf(entry)]);
  const bytes = contents.reduce((sum, [, { length }]) => sum + length, 0);
  return [
    { name: 'DEBIAN/control', contents: control({ release, depends, bytes }) },
    { name: 'DEBIAN/conffiles', contents: `/${CONFIGURATION}\n` },
    { name: 'DEBIAN/md5sums', contents: contents.map(([name, data]) => `${createHash('md5').update(data).digest('hex')}  ${name}\n`).join('') },
    ...MAINTAINER_SCRIPTS.map((name) => ({ name: `DEBIAN/${name}`, from: path.join(root, MAINTAINER_FOLDER, name), program: true })),
  ];
}

/** Writes the package to `file`. */
export function writeDeb({ builder, entries, release, depends, file }) {
  const work = path.join(builder, 'build');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(path.join(work, 'deb'), { recursive: true });
  const archive = path.join(work, 'tree.tar');
  writeTar(archive, [...entries, ...controlEntries({ entries, release, depends })], release.epochS);
  ran('tar', ['-xf', archive, '-C', path.join(work, 'deb'), '--same-permissions', '--no-same-owner']);
  // one thread, since the blocks of several are others; zstd, since xz takes a minute more on this much
  const options = ['--root-owner-group', '--threads-max=1', '-Zzstd', '-z9', '--build', '/build/deb', '/build/lineside.deb'];
  inDebian(builder, ['dpkg-deb', ...options], { env: { SOURCE_DATE_EPOCH: String(release.epochS) } });
  cpSync(path.join(work, 'lineside.deb'), `${file}.making`);
  renameSync(`${file}.making`, file);
  rmSync(work, { recursive: true, force: true });
}

function changelog({ version, epochS }) {
  const when = new Date(epochS * 1000).toUTCString().replace('GMT', '+0000');
  const words = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
  return `lineside (${version}) stable; urgency=medium\n\n  * What has changed, as the project tells it, below.\n\n -- Lineside <lineside@localhost>  ${when}\n\n${words}`;
}
