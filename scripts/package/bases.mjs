// The Debians that go into what leaves the tree, or in which it is made: the packages that are asked for (pins.json), and how each is made.
import { PINS } from './facts.mjs';

/** The user in the container, by number, so that an orchestrator can see that it is not root. */
export const CONTAINER_USER = { name: 'lineside', uid: 64090, gid: 64090 };
export const DATA = '/var/lib/lineside';
/** What a panel or a person never reads on a box without a shell of its own. */
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/lintian/*'];

/** `variant` and `options` of mmdebstrap, `hooks` for its end (`$1`: the root); `archive`: it is kept as a tar, not as a folder. */
export const BASES = {
  /** Native modules are compiled in it, and packages packed. */
  builder: { packages: PINS.debian.builder, variant: 'minbase' },
  /** Below the program in the container image. */
  container: { packages: PINS.debian.container, variant: 'essential', archive: true, options: containerOptions(), hooks: containerHooks(CONTAINER_USER) },
  /** The root of the image of the disk, before the package is installed. */
  image: { packages: PINS.debian.image, variant: 'minbase' },
  /** Makes the disk; its grub is on the EFI partition. */
  imageTools: { packages: PINS.debian.imageTools, variant: 'minbase' },
};

function containerOptions() {
  return [...LEFT_OUT.map((name) => `--dpkgopt=path-exclude=${name}`), '--dpkgopt=path-include=/usr/share/doc/*/copyright'];
}

function containerHooks({ name, uid, gid }) {
  return [
    `echo ${name}:x:${uid}:${gid}:Lineside:${DATA}:/usr/sbin/nologin >> "$1/etc/passwd"; echo ${name}:x:${gid}: >> "$1/etc/group"`,
    `mkdir -p "$1${DATA}" && chown ${uid}:${gid} "$1${DATA}" && chmod 0700 "$1${DATA}"`,
    // names of this machine
    'rm -f "$1/etc/hostname" "$1/etc/resolv.conf" "$1/var/cache/ldconfig/aux-cache"; rm -rf "$1/var/log/"* "$1/var/lib/apt/lists/"*',
    // the package manager's own copy of what was there before
    'rm -f "$1/etc/passwd-" "$1/etc/group-" "$1/etc/shadow-" "$1/etc/gshadow-" "$1/var/lib/dpkg/status-old" "$1/var/lib/dpkg/available"',
  ];
}
