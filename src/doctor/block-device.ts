/** The disk below a folder: its file system and the device that keeps it, as the kernel names them. */
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Machine } from '../box/machine.js';

export interface Mount {
  readonly point: string;
  readonly fileSystem: string;
  readonly source: string;
  readonly options: readonly string[];
  /** `major:minor` of the file system. */
  readonly device: string;
}

export interface BlockDevice {
  /** Of the whole disk, for example `sda`, `nvme0n1`, `mmcblk0`. */
  readonly name: string;
  /** Folder in /sys, below the root of the machine. */
  readonly folder: string;
  readonly rotational: boolean;
  /** `write back`: what is acknowledged may stand in a cache that forgets, until it is flushed. */
  readonly writeCache: string;
  readonly model: string;
  /** What a hypervisor presents as a disk. */
  readonly isVirtual: boolean;
}

/** What a disk keeps its data on; undefined where a hypervisor or the kernel does not show it. */
export type Medium = 'ssd' | 'nvme' | 'emmc' | 'sd' | 'hdd';

export function mediumOf(machine: Machine, { name, folder, rotational, isVirtual }: BlockDevice): Medium | undefined {
  if (isVirtual) return undefined;
  if (name.startsWith('nvme')) return 'nvme';
  // the kernel names the type of a card: MMC is soldered on, SD can be pulled out
  if (name.startsWith('mmcblk')) return { MMC: 'emmc', SD: 'sd' }[machine.text(`${folder}/device/type`) ?? ''] as Medium | undefined;
  if (!/^[sh]d[a-z]/.test(name)) return undefined; // a layer above disks: LVM, RAID, a loop
  if (/\/usb\d+\//.test(folder)) return undefined; // the bridge speaks for what is behind it: an SSD and a stick look alike
  return rotational ? 'hdd' : 'ssd';
}

/** Writes and flushes that a disk has completed since the boot; flushes are undefined before Linux 5.5. */
export interface Completed {
  readonly writes: number;
  readonly flushes: number | undefined;
}

/** @param folder as the machine sees it and without links, for example /var/lib/lineside; the mount that holds it. */
export function mountOf(machine: Machine, folder: string): Mount | undefined {
  const mounts = machine.lines('proc/self/mountinfo').flatMap(mountIn);
  const holds = ({ point }: Mount): boolean => folder === point || folder.startsWith(point.endsWith('/') ? point : `${point}/`);
  // of two on one point the later one is seen
  return mounts.filter(holds).reduce<Mount | undefined>((best, mount) => (best === undefined || mount.point.length >= best.point.length ? mount : best), undefined);
}

/** `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue` */
function mountIn(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , device = '', , point = '', options = ''] = before.split(' ');
  const [fileSystem = '', source = '', own = ''] = after.split(' ');
  if (fileSystem === '') return [];
  return [{ device, point: point.replace(/\\040/g, ' '), fileSystem, source, options: [...options.split(','), ...own.split(',')] }];
}

/** The whole disk of a file system: a partition names its disk; undefined where the kernel shows none (overlay, network, memory). */
export function deviceOf(machine: Machine, { device }: Pick<Mount, 'device'>): BlockDevice | undefined {
  const link = machine.link(`sys/dev/block/${device}`);
  if (link === undefined) return undefined;
  const own = path.posix.normalize(path.posix.join('sys/dev/block', link));
  const folder = machine.exists(`${own}/partition`) ? path.posix.dirname(own) : own;
  const name = path.posix.basename(folder);
  const model = [machine.text(`${folder}/device/vendor`), machine.text(`${folder}/device/model`), machine.text(`${folder}/device/name`)].filter(Boolean).join(' ');
  return {
    name,
    folder,
    rotational: machine.text(`${folder}/queue/rotational`) === '1',
    writeCache: machine.text(`${folder}/queue/write_cache`) ?? 'unknown',
    model,
    isVirtual: /^(vd|xvd)[a-z]/.test(name) || /qemu|virtual|vmware|vbox/i.test(model),
  };
}

/** Fields of /sys/block/<disk>/stat: the fifth are writes, the sixteenth flushes. */
export function completed(machine: Machine, { folder }: Pick<BlockDevice, 'folder'>): Completed | undefined {
  const fields = machine.text(`${folder}/stat`)?.split(/\s+/).map(Number);
  if (!fields || fields[4] === undefined) return undefined;
  return { writes: fields[4], flushes: fields[15] };
}

/** The nearest folder that is there, since a data directory may not be made yet, without links: its disk is that where the links lead. */
export function existing(folder: string): string {
  try {
    const real = realpathSync(folder);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // the one above may be there
  }
  const above = path.dirname(folder);
  return above === folder ? folder : existing(above);
}

/** The mount of a folder; of a recording without a look at the disk of this machine. */
export function mountOfData(machine: Machine, folder: string): Mount | undefined {
  return mountOf(machine, machine.isHere ? existing(folder) : folder);
}
