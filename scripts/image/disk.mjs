// The disk of the image, without a mount or a loop device: each file system is made as a file, and put into the partition table by its offset.
// image/partitions.json says sizes and identities; all of them are fixed, so that a build has nothing of its own moment in it.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inDebian } from '../package/debian.mjs';
import { ran, root } from '../package/facts.mjs';

export const LAYOUT = JSON.parse(readFileSync(path.join(root, 'image/partitions.json'), 'utf8'));
const MIB = 2 ** 20;
const SECTOR = 512;
/** The second copy of the table stands in the last of these. */
const END_MIB = 1;

/** @returns the partitions, each with `startMiB` */
export function placed({ alignMiB, partitions } = LAYOUT) {
  let startMiB = alignMiB;
  return partitions.map((partition) => {
    const at = { ...partition, startMiB };
    startMiB += partition.sizeMiB;
    return at;
  });
}

export function diskMiB(layout = LAYOUT) {
  const last = placed(layout).at(-1);
  return last.startMiB + last.sizeMiB + END_MIB;
}

/** The table as sfdisk reads it. */
export function tableOf(layout = LAYOUT) {
  const sectors = (mib) => (mib * MIB) / SECTOR;
  return [
    'label: gpt',
    `label-id: ${layout.disk}`,
    'unit: sectors',
    ...placed(layout).map(({ name, startMiB, sizeMiB, type, uuid }) => `start=${sectors(startMiB)}, size=${sectors(sizeMiB)}, type=${type}, uuid=${uuid}, name="${name}"`),
    '',
  ].join('\n');
}

/** Makes esp.img, root.img and data.img in `work` and the disk of them. `tools`: a Debian with what makes them; `tree`: the root as a folder. */
export function makeDisk({ tools, tree, work, epochS, file, log }) {
  const inTools = (command, input) =>
    inDebian(tools, command, { binds: { '/build': work, '/tree': tree, '/image': path.join(root, 'image') }, readOnly: ['/tree', '/image'], env: times(epochS), input });
  const sized = (name) => {
    const partition = LAYOUT.partitions.find((each) => each.name === name);
    const at = path.join(work, partition.file);
    closeSync(openSync(at, 'w'));
    truncateSync(at, partition.sizeMiB * MIB);
    return `/build/${partition.file}`;
  };

  log('making the root file system');
  const seed = (uuid) => ['-U', uuid, '-E', `hash_seed=${uuid},root_owner=0:0`];
  // no journal: nobody writes to it
  inTools(['mke2fs', '-q', '-t', 'ext4', '-O', '^has_journal', '-m', '0', '-L', 'lineside-root', ...seed(LAYOUT.rootFilesystem), '-d', '/tree', sized('root')]);
  // 4 KiB and the usual inodes, though it is small here: it grows to the medium
  inTools(['mke2fs', '-q', '-t', 'ext4', '-b', '4096', '-i', '16384', '-m', '1', '-L', 'lineside-data', ...seed(LAYOUT.dataFilesystem), sized('lineside-data')]);

  log('making the EFI partition');
  const esp = sized('esp');
  inTools(['mkfs.vfat', '--invariant', '-F', '32', '-s', '1', '-i', LAYOUT.espSerial, '-n', 'LINESIDE', esp]);
  const modules = 'part_gpt fat ext2 search search_fs_uuid configfile normal linux echo test serial terminal all_video efi_gop';
  const format = ['-O', 'x86_64-efi', '--modules', modules, '--install-modules', modules, '--locales', '', '--fonts', '', '--themes', ''];
  inTools(['grub-mkstandalone', ...format, '-o', '/build/BOOTX64.EFI', 'boot/grub/grub.cfg=/image/esp.cfg']);
  writeFileSync(path.join(work, 'README.TXT'), readFileSync(path.join(root, 'image/esp-readme.txt')));
  for (const name of ['BOOTX64.EFI', 'README.TXT']) ran('touch', ['-d', `@${epochS}`, path.join(work, name)]);
  inTools(['mmd', '-i', esp, '::/EFI', '::/EFI/BOOT', '::/lineside']);
  inTools(['mcopy', '-m', '-i', esp, '/build/BOOTX64.EFI', '::/EFI/BOOT/BOOTX64.EFI']);
  inTools(['mcopy', '-m', '-i', esp, '/build/README.TXT', '::/lineside/README.TXT']);

  log('putting the disk together');
  rmSync(file, { force: true });
  mkdirSync(path.dirname(file), { recursive: true });
  const disk = path.join(work, 'disk.img');
  closeSync(openSync(disk, 'w'));
  truncateSync(disk, diskMiB() * MIB);
  inTools(['sfdisk', '--quiet', '/build/disk.img'], tableOf());
  for (const { file: part, startMiB } of placed()) ran('dd', [`if=${path.join(work, part)}`, `of=${disk}`, 'bs=1M', `seek=${startMiB}`, 'conv=notrunc,sparse', 'status=none']);
  ran('mv', [disk, file]);
}

/** What the programs take as now. */
function times(epochS) {
  return { SOURCE_DATE_EPOCH: String(epochS), E2FSPROGS_FAKE_TIME: String(epochS), MTOOLS_SKIP_CHECK: '1' };
}
