/**
 * Whether a disk keeps what it has acknowledged. What can be seen from a running machine is measured and judged here; a disk that itself
 * lies behind its connector only a power cut shows (power-cut.ts).
 */
import { closeSync, constants, fdatasyncSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Machine } from '../box/machine.js';
import { type BlockDevice, completed, deviceOf, type Mount, mountOf } from './block-device.js';
import type { Finding } from './check.js';
import { quantile, showMs } from './quantile.js';

/** All times in ms. */
export interface FlushFigures {
  readonly mount: Pick<Mount, 'fileSystem' | 'options'> | undefined;
  readonly device: Pick<BlockDevice, 'name' | 'rotational' | 'writeCache' | 'isVirtual'> | undefined;
  /** Of 4 KiB written and synchronised by fdatasync. */
  readonly syncMs: readonly number[];
  /** Of 4 KiB written with O_DSYNC: another way to the same promise. */
  readonly dsyncMs: readonly number[];
  /** Of 4 KiB written and not synchronised. */
  readonly plainMs: readonly number[];
  /** What the disk completed meanwhile, of whoever; undefined where the kernel does not count it. */
  readonly deviceWrites: number | undefined;
  readonly deviceFlushes: number | undefined;
}

const BLOCK = Buffer.alloc(4096, 'lineside doctor ');
const ROUNDS_MAX = 200;
/** A card that takes 100 ms for each is asked less often. */
const BUDGET_MS = 3000;

/** The folder that a doctor writes in has its process in its name, so that a later one knows whether it was left behind. */
const WORK = /^\.doctor-(\d+)-/;

/** Takes away what doctors have left that were killed, or lost their power, while they measured. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const left = WORK.exec(name)?.[1];
    if (left === undefined || isAlive(Number(left))) continue;
    try {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    } catch {
      // of another user, who sweeps it
    }
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code !== 'ESRCH'; // one that may not be asked is there
  }
}

/** Writes some files of a few hundred KiB into a folder of its own below `folder`, and takes them away; also what earlier ones have left. */
export function measureFlush(machine: Machine, folder: string): FlushFigures {
  const mount = mountOf(machine, folder);
  const device = mount && deviceOf(machine, mount);
  sweep(folder);
  const work = mkdtempSync(path.join(folder, `.doctor-${process.pid}-`));
  try {
    const plainMs = writes(path.join(work, 'plain'), 0, false);
    const before = device && completed(machine, device);
    const syncMs = writes(path.join(work, 'sync'), 0, true);
    const after = device && completed(machine, device);
    const dsyncMs = writes(path.join(work, 'dsync'), constants.O_DSYNC, false);
    const flushes = before?.flushes === undefined || after?.flushes === undefined ? undefined : after.flushes - before.flushes;
    return { mount, device, syncMs, dsyncMs, plainMs, deviceWrites: before && after && after.writes - before.writes, deviceFlushes: flushes };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function writes(file: string, flags: number, sync: boolean): number[] {
  const fd = openSync(file, constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND | flags, 0o600);
  const took: number[] = [];
  const begun = performance.now();
  try {
    while (took.length < ROUNDS_MAX && performance.now() - begun < BUDGET_MS) {
      const from = performance.now();
      writeSync(fd, BLOCK);
      if (sync) fdatasyncSync(fd);
      took.push(performance.now() - from);
    }
  } finally {
    closeSync(fd);
  }
  return took;
}

// ---------------------------------------------------------------- the verdict

const MEMORY = ['tmpfs', 'ramfs', 'devtmpfs', 'zram'];
/** The fastest medium that keeps anything, with the way through the kernel, takes longer. */
const FASTEST_MS = 0.012;
/** A quarter of a turn at 15,000 a minute. */
const TURN_MS = 1;
/** Above it writes of a plant wait noticeably (appliance/storage-troubles.ts). */
const SLOW_MS = 250;
const SLOW_P50_MS = 30;

interface Sign {
  readonly verdict: 'fault' | 'warning' | 'unknown';
  readonly is: (figures: FlushFigures, syncMs: number) => boolean;
  readonly says: (figures: FlushFigures, syncMs: number) => string;
  readonly whatToDo: string;
}

const POWER_CUT = 'lineside doctor disk around a real power cut';
const ELSEWHERE = 'put the data directory on a disk that keeps what it is told to keep';

/** The first that is so is told. */
const SIGNS: readonly Sign[] = [
  {
    verdict: 'fault',
    is: ({ mount, device }) => MEMORY.includes(mount?.fileSystem ?? '') || (device?.name.startsWith('zram') ?? false),
    says: ({ mount, device }) => `the data directory is in memory (${mount?.fileSystem ?? device?.name}): everything is gone with the power`,
    whatToDo: ELSEWHERE,
  },
  {
    verdict: 'fault',
    is: ({ mount }) => mount?.options.some((option) => ['nobarrier', 'barrier=0', 'barrier=none'].includes(option)) ?? false,
    says: () => 'the file system is mounted without barriers: the disk is never told to empty its cache',
    whatToDo: 'take nobarrier or barrier=0 out of the mount options',
  },
  {
    verdict: 'fault',
    is: ({ deviceWrites, syncMs }) => deviceWrites !== undefined && deviceWrites < syncMs.length,
    says: ({ deviceWrites, syncMs, device }) =>
      `${syncMs.length} writes were acknowledged as kept, and the disk ${device?.name ?? ''} was given ${deviceWrites} meanwhile: something before the disk acknowledges and forgets`,
    whatToDo: 'look for a preloaded library such as libeatmydata (LD_PRELOAD), or a layer of storage that caches',
  },
  {
    verdict: 'fault',
    is: ({ device, deviceFlushes, syncMs }) => device?.writeCache === 'write back' && deviceFlushes !== undefined && deviceFlushes < syncMs.length,
    says: ({ deviceFlushes, syncMs, device }) => `the disk ${device?.name} has a cache that forgets, and in ${syncMs.length} syncs it was told ${deviceFlushes} times to empty it`,
    whatToDo: `look at the mount options and the layers above the disk; until then switch the cache off (hdparm -W0, or "write through" in queue/write_cache)`,
  },
  {
    verdict: 'fault',
    is: ({ dsyncMs }, syncMs) => quantile(dsyncMs, 0.5) > 4 * FASTEST_MS && syncMs < quantile(dsyncMs, 0.5) / 4,
    says: ({ dsyncMs }, syncMs) => `fdatasync takes ${showMs(syncMs)}, and the same with O_DSYNC ${showMs(quantile(dsyncMs, 0.5))}: fdatasync does not wait for the disk`,
    whatToDo: 'look for a preloaded library such as libeatmydata (LD_PRELOAD)',
  },
  {
    verdict: 'fault',
    is: (_, syncMs) => syncMs < FASTEST_MS,
    says: (_, syncMs) => `a write is acknowledged as kept after ${showMs(syncMs)}, and no medium is so fast`,
    whatToDo: `${ELSEWHERE}; ${POWER_CUT} shows it`,
  },
  {
    verdict: 'warning',
    is: ({ device }, syncMs) => device !== undefined && device.rotational && !device.isVirtual && syncMs < TURN_MS,
    says: ({ device }, syncMs) =>
      `the turning disk ${device?.name} acknowledges after ${showMs(syncMs)}, less than it takes to turn: it answers from a cache, which keeps only what a battery holds up`,
    whatToDo: `${POWER_CUT}; without a battery hdparm -W0`,
  },
  {
    verdict: 'warning',
    is: ({ syncMs: all }, syncMs) => syncMs > SLOW_P50_MS || quantile(all, 0.99) > SLOW_MS,
    says: ({ syncMs: all }, syncMs) =>
      `the disk is honest as far as can be seen, and slow: p50 ${showMs(syncMs)}, p99 ${showMs(quantile(all, 0.99))}; every change and every record waits for it`,
    whatToDo: 'take an industrial SSD or eMMC; look after a disk that has become slow before it fails',
  },
  {
    verdict: 'unknown',
    is: ({ device }) => device?.isVirtual ?? true,
    says: ({ device }) =>
      device
        ? `everything that is synchronised reaches the virtual disk ${device.name}; what its host does with it cannot be seen from here`
        : 'the kernel shows no disk below the data directory',
    whatToDo: `${POWER_CUT}, of the host where there is one`,
  },
];

const LIMIT = 'each acknowledged write has reached the disk, whose cache was emptied; p99 below 250 ms';

export function judgeFlush(figures: FlushFigures): Finding {
  const { syncMs, dsyncMs, plainMs, device, deviceWrites, deviceFlushes, mount } = figures;
  const p50 = quantile(syncMs, 0.5);
  const sign = SIGNS.find(({ is }) => is(figures, p50));
  const counted = deviceWrites === undefined ? '' : `; the disk completed ${deviceWrites} writes${deviceFlushes === undefined ? '' : ` and ${deviceFlushes} flushes`}`;
  return {
    verdict: sign?.verdict ?? 'ok',
    measured:
      `${syncMs.length} x 4 KiB with fdatasync: p50 ${showMs(p50)}, p99 ${showMs(quantile(syncMs, 0.99))}; with O_DSYNC p50 ${showMs(quantile(dsyncMs, 0.5))}; ` +
      `without p50 ${showMs(quantile(plainMs, 0.5))}${counted}; ${mount?.fileSystem ?? 'file system unknown'}${device ? ` on ${device.name}, cache ${device.writeCache}` : ''}`,
    limit: LIMIT,
    meaning:
      sign?.says(figures, p50) ??
      `what is acknowledged has reached ${device?.name ?? 'the disk'} and its cache was emptied; whether the disk itself tells the truth only a power cut shows`,
    whatToDo: sign?.whatToDo ?? `once for each kind of disk: ${POWER_CUT}`,
    figures: { syncs: syncMs.length, p50Ms: p50, p99Ms: quantile(syncMs, 0.99), maxMs: quantile(syncMs, 1), dsyncP50Ms: quantile(dsyncMs, 0.5), deviceWrites, deviceFlushes },
  };
}
