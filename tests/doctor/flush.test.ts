/** Whether the doctor tells an honest disk from one that forgets: by its figures, by a disk that really forgets, and around a power cut. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, watch, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { Machine } from '../../src/box/machine.js';
import { mountOf } from '../../src/doctor/block-device.js';
import { type FlushFigures, judgeFlush, measureFlush } from '../../src/doctor/flush.js';
import { blockFile, verifyBlocks, writeBlocks } from '../../src/doctor/power-cut.js';
import { Disk } from '../torture/disk.js';
import { COMMAND } from '../support/command.js';
import { doctor, type DoctorReport, doctorReport, forgetfulDisk } from './run.js';

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

t.test('a doctor that is ended while it measures leaves nothing behind', { skip: inMemory && 'the folder for tests is in memory' }, async (t) => {
  const child = spawn(process.execPath, [COMMAND, 'doctor', '--only', 'disk-flush', '--data-dir', folder], { stdio: 'ignore' });
  const watcher = watch(folder, (_, name) => name?.startsWith('.doctor-') && !child.killed && child.kill('SIGINT'));
  t.teardown(() => watcher.close());
  const [, signal] = await once(child, 'close');
  t.ok(child.killed, 'it was asked to end while its folder was there');
  t.equal(signal, null, 'and ended by itself');
  t.same(readdirSync(folder), []);
});

t.test('what a killed doctor has left is taken away by the next one; what one at work has is not', async (t) => {
  const { pid: ended = 0 } = spawnSync('true');
  const [left, atWork] = [`.doctor-${ended}-aaaaaa`, `.doctor-${process.pid}-aaaaaa`];
  for (const name of [left, atWork]) {
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, 'sync'), 'x');
  }
  measureFlush(new Machine(), folder);
  t.same(readdirSync(folder), [atWork]);
  rmSync(path.join(folder, atWork), { recursive: true });
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

interface Heard {
  readonly run: string;
  readonly acknowledged: number;
}

/** Writes blocks on a disk that loses power once `blocks` are acknowledged. @returns the last line that was heard. */
function cutAfter(blocks: number, environment: Readonly<Record<string, string>>): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [COMMAND, 'doctor', 'disk', '--write', '--data-dir', folder], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let heard = '';
    const last = (): Heard => {
      const [, run = '', number = '0'] = /.*kept ([0-9a-f]{8}) (\d+)\n/s.exec(heard) ?? [];
      return { run, acknowledged: Number(number) };
    };
    child.stdout.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (last().acknowledged >= blocks) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => resolve(last()));
  });
}

const verify = ({ run, acknowledged }: Heard) => doctor(['disk', '--verify', '--run', run, '--acknowledged', String(acknowledged), '--data-dir', folder]);

t.test('after a power cut an honest disk has every block that it has acknowledged', async (t) => {
  const disk = new Disk(folder, work);
  const { run, acknowledged } = await cutAfter(20, disk.environment());
  disk.forgetUnsynced();
  t.ok(acknowledged >= 20);
  t.match(await verify({ run, acknowledged: acknowledged + 50 }), { code: 2, out: /has lost/ }, 'and what it has not acknowledged is not there');
  const { code, out } = await verify({ run, acknowledged });
  t.equal(code, 0, out);
  t.match(out, new RegExp(`ok +all ${acknowledged} acknowledged blocks of run ${run} are there`));
  t.same(readdirSync(folder), [], 'what was judged is taken away: no later run can find it');
});

t.test('after a power cut a disk that brings back the file of an earlier run is found out', async (t) => {
  const file = blockFile(folder);
  writeBlocks(
    folder,
    () => undefined,
    () => true,
    60,
  );
  const earlier = readFileSync(file);
  const heard = await cutAfter(20, {});
  writeFileSync(file, earlier);
  const { code, out } = await verify(heard);
  t.equal(code, 2, out);
  t.match(out, new RegExp(`FAULT +the blocks are of run [0-9a-f]{8}, not of ${heard.run}: the disk has brought back an earlier file`));
  t.ok(existsSync(file), 'and what shows it is kept');
});

t.test('after a power cut a disk that forgets has lost blocks that it had acknowledged', async (t) => {
  const disk = new Disk(folder, work);
  const environment = disk.environment();
  const heard = await cutAfter(20, { ...environment, LD_PRELOAD: `${forgetfulDisk(work)} ${environment.LD_PRELOAD}` });
  disk.forgetUnsynced();
  const { code, out } = await verify(heard);
  t.equal(code, 2, out);
  t.match(out, /FAULT.*the disk acknowledged \d+ blocks and has lost \d+ of them, first 1: it forgets/);
});

t.test('a block of another run, a damaged one and a missing one are lost', async (t) => {
  const said: number[] = [];
  let run = '';
  t.equal(
    writeBlocks(
      folder,
      (number, of) => {
        said.push(number);
        run = of;
      },
      () => true,
      6,
    ),
    6,
  );
  t.same(said, [1, 2, 3, 4, 5, 6]);
  t.same(verifyBlocks(folder, run, 6), { whole: 6, lost: [], otherRun: undefined });
  t.same(verifyBlocks(folder, '00000000', 2), { whole: 0, lost: [1, 2], otherRun: run });
  const fd = openSync(blockFile(folder), 'r+');
  writeSync(fd, 'x', 3 * 4096 + 2000);
  ftruncateSync(fd, 5 * 4096 + 100);
  closeSync(fd);
  t.match(verifyBlocks(folder, run, 6), { whole: 3, lost: [4, 6] });
  t.match(verifyBlocks(folder, run, 3), { whole: 3, lost: [] });
  t.equal(verifyBlocks(path.join(folder, 'elsewhere'), run, 1), undefined);
});

t.test('the two steps say what they need', async (t) => {
  t.match(await doctor(['disk']), { code: 2, err: /say --write before the power cut, or --verify/ });
  const needs = { code: 2, err: /--verify needs --run and --acknowledged, .*: kept RUN NUMBER/ };
  t.match(await doctor(['disk', '--verify', '--data-dir', folder]), needs);
  t.match(await doctor(['disk', '--verify', '--acknowledged', '3', '--data-dir', folder]), needs);
  t.match(await doctor(['disk', '--verify', '--run', '417', '--acknowledged', '3', '--data-dir', folder]), needs);
  t.match(await doctor(['disk', '--verify', '--acknowledged', 'many']), { code: 2, err: /must be a number/ });
  t.match(await doctor(['disk', '--verify', '--run', '0a1b2c3d', '--acknowledged', '3', '--data-dir', path.join(folder, 'elsewhere')]), { code: 2, out: /FAULT.*is not there/ });
});
