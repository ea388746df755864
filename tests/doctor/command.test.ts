/** `lineside doctor` as somebody calls it: this machine, a recorded one, and what is said wrongly. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { CHECKS } from '../../src/doctor/doctor.js';
import { doctor, doctorReport } from './run.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-doctor-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
const VERDICTS = ['ok', 'warning', 'fault', 'unknown'];

t.test('this machine is examined by every check, each with a verdict and what was measured', async (t) => {
  const { checks, exitCode, profile } = await doctorReport(['--data-dir', dataDir, '--seconds', '0.5']);
  t.same(
    checks.map(({ check }) => check),
    CHECKS.map(({ name }) => name),
  );
  for (const { check, verdict, measured, limit, meaning, whatToDo } of checks) {
    t.ok(VERDICTS.includes(verdict), check);
    t.notMatch(measured, /^$|the check failed|undefined|NaN/, check);
    t.same([typeof limit, typeof meaning, typeof whatToDo], ['string', 'string', 'string']);
  }
  t.equal(exitCode, checks.some(({ verdict }) => verdict === 'fault') ? 2 : checks.some(({ verdict }) => verdict === 'warning') ? 1 : 0);
  t.not(profile, '');
  const timers = checks.find(({ check }) => check === 'timers')?.figures as { wakes: number; p50Ms: number; p99Ms: number; maxMs: number };
  t.ok(timers.wakes >= 100, `${timers.wakes} wakes of half a second`);
  t.ok(timers.p50Ms <= timers.p99Ms && timers.p99Ms <= timers.maxMs);
});

t.test('a recorded machine is read and not measured, and has its own profile', async (t) => {
  const root = path.join(process.cwd(), 'tests/box/machines/raspberry-pi-4');
  const { code, out } = await doctor(['--root', root, '--data-dir', dataDir]);
  t.equal(code, 2, 'the serial port that the profile names is not in the recording');
  t.match(out, /WARNING {2}profile: raspberry-pi-4 \(Raspberry Pi 4 Model B\), a draft, chosen by the machine/);
  t.match(out, /unknown {2}timers: not measured on a recording/);
  t.match(out, /WARNING {2}swap: 99 MiB of swap/);
  t.match(out, /there are faults: do not run a line on it\n$/);
});

const pipe = (file: string): void => void execFileSync('mkfifo', [file]);

t.test('a pipe, a device or a file without an end is told and not read', async (t) => {
  const root = path.join(dataDir, 'recorded');
  t.teardown(() => rmSync(root, { recursive: true }));
  cpSync(path.join(process.cwd(), 'tests/box/machines/raspberry-pi-4'), root, { recursive: true });
  const at = (file: string): string => path.join(root, file);
  for (const file of ['proc/cpuinfo', 'proc/meminfo']) rmSync(at(file));
  pipe(at('proc/cpuinfo'));
  symlinkSync('/dev/zero', at('proc/meminfo'));
  mkdirSync(at('proc/self'), { recursive: true });
  writeFileSync(at('proc/self/limits'), '');
  truncateSync(at('proc/self/limits'), 2 ** 40);
  mkdirSync(at('proc/version'));
  const { checks } = await doctorReport(['--root', root, '--data-dir', dataDir]);
  const [files] = checks.filter(({ check }) => check === 'files');
  t.match(files, { verdict: 'unknown', meaning: /were not read/ });
  for (const [file, is] of [
    ['proc/cpuinfo', 'a pipe'],
    ['proc/meminfo', 'a device'],
    ['proc/self/limits', 'longer than 4194304 bytes'],
    ['proc/version', 'a folder'],
  ] as const)
    t.ok(files?.measured.includes(`${at(file)} is ${is}`), file);
  t.match(
    checks.find(({ check }) => check === 'memory'),
    { verdict: 'unknown' },
  );
});

t.test('settings, a certificate and blocks that are a pipe or have no end are faults, and are not waited for', async (t) => {
  const [config, certificate] = ['config.yaml', 'certificate.pem'].map((name) => path.join(dataDir, name)) as [string, string];
  const blocks = path.join(dataDir, 'doctor-power-cut.blocks');
  t.teardown(() => {
    for (const file of [config, certificate, blocks]) rmSync(file, { force: true });
  });
  pipe(config);
  const swap = ['--only', 'swap', '--data-dir', dataDir];
  const ofSettings = { check: 'settings', verdict: 'fault', measured: /config\.yaml is a pipe/ };
  t.match((await doctorReport(swap)).checks, [ofSettings]);
  t.match((await doctorReport([...swap, '--config', config])).checks, [ofSettings]);
  t.match((await doctorReport([...swap, '--config', '/dev/zero'])).checks, [{ check: 'settings', measured: /\/dev\/zero is a device/ }]);
  rmSync(config);
  writeFileSync(config, '');
  truncateSync(config, 2 ** 40);
  t.match((await doctorReport(swap)).checks, [{ check: 'settings', measured: /is longer than 1048576 bytes/ }]);
  rmSync(config);
  pipe(certificate);
  const tls = { LINESIDE_GATEWAY__TLS__CERTFILE: certificate, LINESIDE_GATEWAY__TLS__KEYFILE: certificate };
  t.match((await doctorReport(['--only', 'certificates', '--data-dir', dataDir], tls)).checks, [{ verdict: 'fault', measured: /certificate\.pem is a pipe/ }]);
  const verify = ['disk', '--verify', '--run', '00000000', '--acknowledged', String(Number.MAX_SAFE_INTEGER), '--data-dir', dataDir];
  pipe(blocks);
  t.match(await doctor(verify), { code: 2, out: /is no plain file/ });
  rmSync(blocks);
  writeFileSync(blocks, 'x');
  t.match(await doctor(verify), { code: 2, out: /has lost 100 or more/ });
});

t.test('single checks are named; a name that is none is told with those there are', async (t) => {
  const { checks } = await doctorReport(['--only', 'swap', 'time-zone', '--data-dir', dataDir]);
  t.same(
    checks.map(({ check }) => check),
    ['time-zone', 'swap'],
  );
  t.match(await doctor(['--only', 'mood']), { code: 2, err: /there is no check mood; there are profile, timers, / });
  t.match(await doctor(['--seconds', 'long']), { code: 2, err: /--seconds.*must be a number from 0\.1/ });
});

t.test('settings that the appliance does not start with are a fault, and the rest is examined with the defaults', async (t) => {
  writeFileSync(path.join(dataDir, 'config.yaml'), 'gateway:\n  httpPort: many\n');
  t.teardown(() => rmSync(path.join(dataDir, 'config.yaml')));
  const { checks, exitCode } = await doctorReport(['--only', 'swap', '--data-dir', dataDir]);
  t.match(checks, [{ check: 'settings', verdict: 'fault', measured: /gateway\.httpPort must be a whole number/ }, { check: 'swap' }]);
  t.equal(exitCode, 2);
  writeFileSync(path.join(dataDir, 'config.yaml'), 'box:\n  profile: abacus\n');
  t.match((await doctorReport(['--only', 'swap', '--data-dir', dataDir])).checks, [
    { check: 'settings', verdict: 'fault', measured: /box\.profile abacus names no hardware profile/ },
    { check: 'swap' },
  ]);
});
