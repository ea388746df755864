/** The disk of the data directory: whether it keeps what it acknowledges, what it is made of, how worn it is, and how much room there is. */
import { statfsSync } from 'node:fs';
import type { Machine } from '../../box/machine.js';
import type { Profile } from '../../box/profile.js';
import { type BlockDevice, deviceOf, existing, type Medium, mediumOf, mountOfData } from '../block-device.js';
import { type Check, type Examined, type Finding, untold } from '../check.js';
import { judgeFlush, measureFlush } from '../flush.js';

export const diskFlush: Check = {
  name: 'disk-flush',
  look({ machine, settings }) {
    const limit = 'each acknowledged write has reached the disk';
    if (!machine.isHere) return untold('not measured on a recording', limit, 'whether the disk keeps what it acknowledges is not known');
    const folder = existing(settings.dataDir);
    try {
      return judgeFlush(measureFlush(machine, folder));
    } catch (fault) {
      return untold(
        `nothing can be written into ${folder}: ${(fault as Error).message}`,
        limit,
        'whether the disk keeps what it acknowledges is not known',
        'run the doctor as the user of the appliance',
      );
    }
  },
};

type Wanted = NonNullable<Profile['hardware']['storage']>['medium'];

const NO_DISK = 'the kernel shows no disk below the data directory';

function diskOf({ machine, settings }: Examined): BlockDevice | undefined {
  const mount = mountOfData(machine, settings.dataDir);
  return mount && deviceOf(machine, mount);
}

/** What does as well as the medium that a profile asks for: it wears no faster and is no slower. */
const FITS: Readonly<Record<Wanted, readonly Medium[]>> = {
  nvme: ['nvme'],
  ssd: ['ssd', 'nvme'],
  emmc: ['emmc', 'ssd', 'nvme'],
  hdd: ['hdd', 'ssd', 'nvme'],
  sd: ['sd', 'emmc', 'ssd', 'nvme'],
  any: ['ssd', 'nvme', 'emmc', 'sd', 'hdd'],
};

const SHOWN: Readonly<Record<Medium, string>> = { ssd: 'an SSD', nvme: 'an NVMe SSD', emmc: 'an eMMC', sd: 'an SD card', hdd: 'a turning disk' };

export const diskMedium: Check = {
  name: 'disk-medium',
  look(examined) {
    const wanted = examined.box.profile.hardware.storage?.medium ?? 'any';
    const limit = wanted === 'any' ? 'the profile asks for no medium' : `${SHOWN[wanted]} or better, as the profile asks`;
    const disk = diskOf(examined);
    const medium = disk && mediumOf(examined.machine, disk);
    if (!medium) return untold(disk ? `${disk.name} does not show what it is made of` : NO_DISK, limit, 'how soon it wears, and how evenly it writes, is not known');
    const fits = FITS[wanted].includes(medium);
    return {
      verdict: fits ? 'ok' : 'warning',
      measured: `the data directory is on ${disk.name}, ${SHOWN[medium]}`,
      limit,
      meaning: fits ? 'the figures of the profile hold for it' : 'the disk may wear sooner, or write more slowly, than the profile counts on',
      whatToDo: fits ? '' : `move the data directory onto ${SHOWN[wanted as Medium]}`,
      figures: { medium, wanted },
    };
  },
};

const WORN_WARNING_PERCENT = 70;
const WORN_FAULT_PERCENT = 90;
const WEAR_LIMIT = `less than ${WORN_WARNING_PERCENT} % of the life that the maker promises`;

export const diskWear: Check = {
  name: 'disk-wear',
  async look(examined) {
    const disk = diskOf(examined);
    if (!disk) return untold(NO_DISK, WEAR_LIMIT, 'when the disk fails is not known');
    const emmc = emmcWear(examined.machine, disk);
    if (emmc) return emmc;
    const smart = disk.isVirtual ? undefined : await examined.ask('smartctl', '--json', '--all', `/dev/${disk.name}`);
    const told = smart === undefined ? undefined : smartWear(smart);
    if (told) return told;
    const why = disk.isVirtual ? 'is a virtual disk' : 'says nothing of its wear (smartctl is missing, may not ask, or the disk has no SMART)';
    return untold(`${disk.name} ${why}`, WEAR_LIMIT, 'when the disk fails is not known', disk.isVirtual ? '' : 'install smartmontools and run the doctor as root');
  },
};

/** JESD84-B51: `life_time` is two numbers, each a tenth of the life that is used; 0x0b is beyond it. `pre_eol_info` is 1 normal, 2 warning, 3 urgent. */
function emmcWear(machine: Machine, { name, folder }: BlockDevice): Finding | undefined {
  const life = machine.text(`${folder}/device/life_time`);
  if (life === undefined) return undefined;
  const tenths = life.split(/\s+/).map(Number);
  const worn = Math.max(...tenths) * 10;
  const spare = Number(machine.text(`${folder}/device/pre_eol_info`) ?? 0);
  if (worn === 0 || Number.isNaN(worn)) return untold(`the eMMC ${name} does not tell its wear`, WEAR_LIMIT, 'when the disk fails is not known');
  return wear(
    `the eMMC ${name} has used up to ${worn} % of its life${spare > 1 ? ', and its spare blocks run out' : ''}`,
    spare > 2 ? 100 : spare > 1 ? Math.max(worn, WORN_WARNING_PERCENT) : worn,
  );
}

interface Smart {
  readonly smart_status?: { readonly passed?: boolean };
  readonly nvme_smart_health_information_log?: {
    readonly percentage_used?: number;
    readonly media_errors?: number;
    readonly available_spare?: number;
    readonly available_spare_threshold?: number;
  };
  readonly ata_smart_attributes?: {
    readonly table?: readonly { readonly id: number; readonly name: string; readonly value: number; readonly raw?: { readonly value?: number } }[];
  };
}

/** Attributes of SATA whose value falls from 100 as the disk wears: wear levelling, life left, media wear-out. */
const LIFE_LEFT = [177, 202, 231, 233];

/** `smartctl --json --all`; undefined where it says nothing of wear. */
export function smartWear(text: string): Finding | undefined {
  let smart: Smart;
  try {
    smart = JSON.parse(text) as Smart;
  } catch {
    return undefined;
  }
  if (smart.smart_status?.passed === false) return wear('the disk itself says that it fails soon (SMART)', 100);
  const nvme = smart.nvme_smart_health_information_log;
  if (nvme?.percentage_used !== undefined) {
    const lacksSpare = (nvme.available_spare ?? 100) <= (nvme.available_spare_threshold ?? 0);
    return wear(
      `${nvme.percentage_used} % of its life used, ${nvme.media_errors ?? 0} media errors, ${nvme.available_spare ?? '?'} % spare (NVMe)`,
      lacksSpare ? 100 : nvme.percentage_used,
    );
  }
  const left = smart.ata_smart_attributes?.table?.find(({ id }) => LIFE_LEFT.includes(id));
  if (left) return wear(`${100 - left.value} % of its life used (SMART ${left.name})`, 100 - left.value);
  return undefined;
}

function wear(measured: string, percent: number): Finding {
  const verdict = percent >= WORN_FAULT_PERCENT ? 'fault' : percent >= WORN_WARNING_PERCENT ? 'warning' : 'ok';
  return {
    verdict,
    measured,
    limit: WEAR_LIMIT,
    meaning: verdict === 'ok' ? 'the disk has life left' : 'the disk comes to the end of its life: it will become slow, then read-only, then it fails',
    whatToDo: verdict === 'ok' ? '' : 'make a backup, and replace the disk at the next standstill',
    figures: { wornPercent: percent },
  };
}

const GIB = 1024 ** 3;

export const diskSpace: Check = {
  name: 'disk-space',
  look({ machine, settings, box }) {
    const reserve = settings.storageReserveBytes;
    const wanted = box.profile.hardware.storage?.dataMinGiB;
    const limit = `more than storage.reserveBytes (${(reserve / GIB).toFixed(2)} GiB) free${wanted === undefined ? '' : `; the profile asks for a disk of ${wanted} GiB`}`;
    if (!machine.isHere) return untold('not measured on a recording', limit, 'how long the disk lasts is not known');
    const { bavail, blocks, bsize } = statfsSync(existing(settings.dataDir));
    const [free, size] = [bavail * bsize, blocks * bsize];
    // makers count in powers of ten, and a file system takes its part
    const isSmall = wanted !== undefined && size < wanted * GIB * 0.85;
    const verdict = free < reserve ? 'fault' : free < 2 * reserve || isSmall ? 'warning' : 'ok';
    return {
      verdict,
      measured: `${(free / GIB).toFixed(1)} of ${(size / GIB).toFixed(1)} GiB free for the data directory`,
      limit,
      meaning:
        verdict === 'fault'
          ? 'no batch starts'
          : verdict === 'warning'
            ? 'the disk is smaller, or fuller, than it should be'
            : 'there is room; the historian gives way before the records do',
      whatToDo: verdict === 'ok' ? '' : 'make room, set historian.maxBytes lower, or take a larger disk',
      figures: { freeBytes: free, sizeBytes: size },
    };
  },
};
