/** Whether the doctor tells an honest disk from one that forgets: by its figures, by a disk that really forgets, and around a power cut. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { Machine } from '../../src/box/machine.js';
import { mountOf } from '../../src/doctor/block-device.js';
import { type FlushFigures, judgeFlush, measureFlush } from '../../src/doctor/flush.js';
import { verifyBlocks, writeBlocks } from '../../src/doctor/power-cut.js';
import { Disk } from '../torture/disk.js';
import { COMMAND, doctor, type DoctorReport, doctorReport, forgetfulDisk } from './run.js';

const work = mkdtempSync(path.join(tmpdir(), 'lineside-flush-'));
t.teardown(() => rmSync(work, { recursive: true, force: true }));
const folder = path.join(work, 'data');
mkdirSync(folder);

const times = (ms: number): number[] => Array.from({ length: 200 }, () => ms);
const SSD: FlushFigures = {
  mount: { fileSystem: 'ext4', options: ['rw', 'relatime'] },
  device: { name: 'sda', rotational: false, writeCache: 'write back', isVirtual: false },
  syncMs: times(0.6),
  dsyncMs: times(0.5),
  plainMs: times(0.003),
  deviceWrites: 420,
  deviceFlushes: 210,
};

/** What is different, verdict, what is told. */
const CASES: readonly (readonly [change: Partial<FlushFigures>, verdict: string, meaning: RegExp])[] = [
  [{}, 'ok', /has reached sda and its cache was emptied; whether the disk itself tells the truth only a power cut shows/],
  [{ deviceWrites: undefined, deviceFlushes: undefined }, 'ok', /has reached sda/],
  [{ device: { name: 'nvme0n1', rotational: false, writeCache: 'write through', isVirtual: false }, deviceFlushes: 0, syncMs: times(0.03), dsyncMs: times(0.03) }, 'ok', /nvme0n1/],
  [{ mount: { fileSystem: 'tmpfs', options: [] } }, 'fault', /in memory \(tmpfs\)/],
  [{ device: { name: 'zram0', rotational: false, writeCache: 'write back', isVirtual: false } }, 'fault', /in memory/],
  [{ mount: { fileSystem: 'ext4', options: ['rw', 'nobarrier'] } }, 'fault', /without barriers/],
  [{ deviceWrites: 3 }, 'fault', /200 writes were acknowledged as kept, and the disk sda was given 3 meanwhile/],
  [{ deviceFlushes: 0 }, 'fault', /has a cache that forgets, and in 200 syncs it was told 0 times to empty it/],
  [{ syncMs: times(0.02), deviceWrites: undefined, deviceFlushes: undefined }, 'fault', /fdatasync does not wait for the disk/],
  [{ syncMs: times(0.004), dsyncMs: times(0.004), deviceWrites: undefined, deviceFlushes: undefined }, 'fault', /acknowledged as kept after 4 us, and no medium is so fast/],
  [{ device: { name: 'sda', rotational: true, writeCache: 'write back', isVirtual: false } }, 'warning', /turning disk sda acknowledges after 600 us/],
  [{ syncMs: times(60), dsyncMs: times(60) }, 'warning', /honest as far as can be seen, and slow: p50 60 ms/],
  [{ device: { name: 'vda', rotational: false, writeCache: 'write back', isVirtual: true } }, 'unknown', /what its host does with it cannot be seen/],
  [{ device: undefined, deviceWrites: undefined, deviceFlushes: undefined }, 'unknown', /shows no disk/],
];

for (const [change, verdict, meaning] of CASES) {
  t.test(`a disk with ${JSON.stringify(change).slice(0, 80)} is ${verdict}`, async (t) => {
    const finding = judgeFlush({ ...SSD, ...change });
    t.equal(finding.verdict, verdict);
    t.match(finding.meaning, meaning);
    t.not(finding.whatToDo, '');
  });
}

const measuredBy = ({ checks }: DoctorReport): string => checks.map(({ measured }) => measured).join();

const inMemory = ['tmpfs', 'ramfs'].includes(mountOf(new Machine(), folder)?.fileSystem ?? '');

t.test('the disk of this machine is measured, and nothing is left behind', async (t) => {
  const figures = measureFlush(new Machine(), folder);
  t.ok(figures.syncMs.length > 10);
  t.ok(figures.dsyncMs.length > 10);
  t.ok(figures.plainMs.length > 10);
  t.same(readdirSync(folder), []);
});

t.test(
  'the same disk is found honest as it is, and forgetful behind a library that swallows what is synchronised',
  { skip: inMemory && 'the folder for tests is in memory' },
  async (t) => {
    const args = ['--only', 'disk-flush', '--data-dir', folder];
    const honest = await doctorReport(args);
    t.not(honest.checks[0]?.verdict, 'fault', measuredBy(honest));
    const library = forgetfulDisk(work);
    const swallowed = await doctorReport(args, { LD_PRELOAD: library });
    t.equal(swallowed.checks[0]?.verdict, 'fault', measuredBy(swallowed));
    t.equal(swallowed.exitCode, 2);
    const both = await doctorReport(args, { LD_PRELOAD: library, FORGET_DSYNC: '1' });
    t.equal(both.checks[0]?.verdict, 'fault', measuredBy(both));
  },
);

/** Writes blocks on a disk that loses power once `blocks` are acknowledged. @returns the last number that was heard. */
function cutAfter(blocks: number, environment: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, 'doctor', 'disk', '--write', '--data-dir', folder], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let heard = '';
    const last = (): number => Number(/.*kept (\d+)\n/s.exec(heard)?.[1] ?? 0);
    child.stdout.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (last() >= blocks) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => resolve(last()));
  });
}

const verify = (acknowledged: number) => doctor(['disk', '--verify', '--acknowledged', String(acknowledged), '--data-dir', folder]);

t.test('after a power cut an honest disk has every block that it has acknowledged', async (t) => {
  const disk = new Disk(folder, work);
  const acknowledged = await cutAfter(20, disk.environment());
  disk.forgetUnsynced();
  t.ok(acknowledged >= 20);
  const { code, out } = await verify(acknowledged);
  t.equal(code, 0, out);
  t.match(out, new RegExp(`ok +all ${acknowledged} acknowledged blocks are there`));
  t.match(await verify(acknowledged + 50), { code: 2, out: /has lost/ }, 'and what it has not acknowledged is not there');
});

t.test('after a power cut a disk that forgets has lost blocks that it had acknowledged', async (t) => {
  const disk = new Disk(folder, work);
  const environment = disk.environment();
  const acknowledged = await cutAfter(20, { ...environment, LD_PRELOAD: `${forgetfulDisk(work)} ${environment.LD_PRELOAD}` });
  disk.forgetUnsynced();
  const { code, out } = await verify(acknowledged);
  t.equal(code, 2, out);
  t.match(out, /FAULT.*the disk acknowledged \d+ blocks and has lost \d+ of them, first 1: it forgets/);
});

t.test('a block of another run, a damaged one and a missing one are lost', async (t) => {
  const { openSync, closeSync, writeSync, ftruncateSync } = await import('node:fs');
  const said: number[] = [];
  t.equal(
    writeBlocks(
      folder,
      (number) => said.push(number),
      () => true,
      6,
    ),
    6,
  );
  t.same(said, [1, 2, 3, 4, 5, 6]);
  t.match(verifyBlocks(folder, 6), { whole: 6, lost: [] });
  const fd = openSync(path.join(folder, 'doctor-power-cut.blocks'), 'r+');
  writeSync(fd, 'x', 3 * 4096 + 2000);
  ftruncateSync(fd, 5 * 4096 + 100);
  closeSync(fd);
  t.match(verifyBlocks(folder, 6), { whole: 3, lost: [4, 6] });
  t.match(verifyBlocks(folder, 3), { whole: 3, lost: [] });
  t.equal(verifyBlocks(path.join(folder, 'elsewhere'), 1), undefined);
});

t.test('the two steps say what they need', async (t) => {
  t.match(await doctor(['disk']), { code: 2, err: /say --write before the power cut, or --verify/ });
  t.match(await doctor(['disk', '--verify', '--data-dir', folder]), { code: 2, err: /--verify needs --acknowledged/ });
  t.match(await doctor(['disk', '--verify', '--acknowledged', 'many']), { code: 2, err: /must be a number/ });
  t.match(await doctor(['disk', '--verify', '--acknowledged', '3', '--data-dir', path.join(folder, 'elsewhere')]), { code: 2, out: /FAULT.*is not there/ });
});
