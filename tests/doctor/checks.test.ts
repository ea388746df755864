/** What the doctor reads of a machine, on small recorded trees of /sys, /proc and /etc. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { type Box, chooseBox } from '../../src/appliance/box.js';
import { factsOf } from '../../src/box/facts.js';
import { Machine } from '../../src/box/machine.js';
import type { Profile } from '../../src/box/profile.js';
import { completed, deviceOf, existing, mountOf } from '../../src/doctor/block-device.js';
import type { Check, Examined } from '../../src/doctor/check.js';
import { clockSource, clockSync, timeZone } from '../../src/doctor/checks/clock.js';
import { diskFlush, diskMedium, diskWear, smartWear } from '../../src/doctor/checks/disk.js';
import { networkPorts, serialPorts, watchdog } from '../../src/doctor/checks/equipment.js';
import { memory, memoryErrors, swap } from '../../src/doctor/checks/memory.js';
import { ports } from '../../src/doctor/checks/ports.js';
import { governor, isolation, preemption } from '../../src/doctor/checks/processor.js';
import { certificates, entropy, hardwareProfile, openFiles } from '../../src/doctor/checks/system.js';
import { thermal } from '../../src/doctor/checks/thermal.js';
import { judgeTimers } from '../../src/doctor/checks/timers.js';
import { examine, exitCodeOf, told } from '../../src/doctor/doctor.js';
import { watchTimers } from '../../src/doctor/timers.js';
import { readSettings, type Settings } from '../../src/settings.js';
import { TestClock } from '../support/test-clock.js';

const work = mkdtempSync(path.join(tmpdir(), 'lineside-checks-'));
t.teardown(() => rmSync(work, { recursive: true, force: true }));
let trees = 0;

/** A machine of these files; a text that begins with `-> ` is a link to what follows. */
function recorded(files: Readonly<Record<string, string>>): Machine {
  const root = path.join(work, String((trees += 1)));
  mkdirSync(root);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (text.startsWith('-> ')) symlinkSync(text.slice(3), file);
    else writeFileSync(file, text);
  }
  return new Machine(root);
}

const SETTINGS = readSettings([], {}, '/var/lib/lineside');
const unknownBox = (machine: Machine): Box => chooseBox(path.join(process.cwd(), 'firmware-profiles'), 'unknown-box', machine, 'x64');

interface Given {
  readonly settings?: Partial<Settings>;
  readonly hardware?: Partial<Profile['hardware']>;
  /** What programs answer, by their names. */
  readonly programs?: Readonly<Record<string, string>>;
}

function examined(files: Readonly<Record<string, string>>, { settings = {}, hardware = {}, programs = {} }: Given = {}): Examined {
  const machine = recorded(files);
  const box = unknownBox(machine);
  return {
    machine,
    settings: { ...SETTINGS, ...settings },
    box: { ...box, profile: { ...box.profile, hardware: { ...box.profile.hardware, ...hardware } } },
    clock: new TestClock(),
    seconds: 0.1,
    ask: async (program) => programs[program],
  };
}

interface Case {
  readonly check: Check;
  readonly is: string;
  readonly files: Readonly<Record<string, string>>;
  readonly given?: Given;
  readonly verdict: 'ok' | 'warning' | 'fault' | 'unknown';
  readonly measured: RegExp;
}

const CPUS = 'sys/devices/system/cpu';
const CLOCK = 'sys/devices/system/clocksource/clocksource0';
const ZONE = 'sys/class/thermal/thermal_zone0';
const MC = 'sys/devices/system/edac/mc/mc0';
const EMMC = 'sys/devices/platform/mmc/block/mmcblk0';
const emmc = (life: string, eol: string) => ({
  'proc/self/mountinfo': '22 1 179:2 / / rw,noatime - ext4 /dev/mmcblk0p2 rw\n',
  'sys/dev/block/179:2': '-> ../../devices/platform/mmc/block/mmcblk0/mmcblk0p2',
  [`${EMMC}/mmcblk0p2/partition`]: '2\n',
  [`${EMMC}/queue/rotational`]: '0\n',
  [`${EMMC}/device/life_time`]: `${life}\n`,
  [`${EMMC}/device/pre_eol_info`]: `${eol}\n`,
});
const TCP_HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const tcp = (address: string, inode: number) => `   0: ${address} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000 100 0 0 10 0\n`;
const CHRONY = (offset: string, leap: string, stratum = 3) => `C0A80001,192.168.0.1,${stratum},1764260000.1,${offset},0.00001,0.00002,-3.1,0.0,0.02,0.0005,0.0002,64.2,${leap}\n`;
const COM1 = { serialPorts: [{ name: 'COM1', device: '/dev/ttyS0', standard: 'RS-232' as const }] };

/** A machine whose root is on the disk of that folder of /sys. */
const onDisk = (folder: string, files: Readonly<Record<string, string>>) => ({
  'proc/self/mountinfo': `22 1 8:1 / / rw,noatime - ext4 /dev/${path.basename(folder)} rw\n`,
  'sys/dev/block/8:1': `-> ../../${folder}`,
  ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`sys/${folder}/${name}`, `${text}\n`])),
});
const MMC = 'devices/platform/mmc/block/mmcblk0';
const SSD = { storage: { medium: 'ssd' as const } };

const CASES: readonly Case[] = [
  {
    check: diskMedium,
    is: 'the SSD that is wanted',
    files: onDisk('devices/ata1/block/sda', { 'queue/rotational': '0' }),
    given: { hardware: SSD },
    verdict: 'ok',
    measured: /on sda, an SSD$/,
  },
  {
    check: diskMedium,
    is: 'better than wanted',
    files: onDisk('devices/nvme/nvme0/nvme0n1', { 'queue/rotational': '0' }),
    given: { hardware: SSD },
    verdict: 'ok',
    measured: /an NVMe SSD/,
  },
  { check: diskMedium, is: 'a card for an SSD', files: onDisk(MMC, { 'device/type': 'SD' }), given: { hardware: SSD }, verdict: 'warning', measured: /on mmcblk0, an SD card/ },
  { check: diskMedium, is: 'an eMMC for an SSD', files: onDisk(MMC, { 'device/type': 'MMC' }), given: { hardware: SSD }, verdict: 'warning', measured: /an eMMC/ },
  {
    check: diskMedium,
    is: 'a turning disk for an SSD',
    files: onDisk('devices/ata1/block/sda', { 'queue/rotational': '1' }),
    given: { hardware: SSD },
    verdict: 'warning',
    measured: /a turning disk/,
  },
  {
    check: diskMedium,
    is: 'behind USB',
    files: onDisk('devices/usb1/1-2/block/sda', { 'queue/rotational': '0' }),
    given: { hardware: SSD },
    verdict: 'unknown',
    measured: /sda does not show/,
  },
  { check: diskMedium, is: 'a card where any will do', files: onDisk(MMC, { 'device/type': 'SD' }), verdict: 'ok', measured: /an SD card/ },
  { check: diskMedium, is: 'virtual', files: onDisk('devices/virtio/block/vda', {}), given: { hardware: SSD }, verdict: 'unknown', measured: /vda does not show/ },
  { check: diskMedium, is: 'not shown', files: {}, given: { hardware: SSD }, verdict: 'unknown', measured: /shows no disk/ },

  { check: governor, is: 'performance', files: { [`${CPUS}/cpu0/cpufreq/scaling_governor`]: 'performance\n' }, verdict: 'ok', measured: /^performance$/ },
  {
    check: governor,
    is: 'powersave',
    files: { [`${CPUS}/cpu0/cpufreq/scaling_governor`]: 'performance\n', [`${CPUS}/cpu1/cpufreq/scaling_governor`]: 'powersave\n' },
    verdict: 'warning',
    measured: /powersave/,
  },
  { check: governor, is: 'none', files: { [`${CPUS}/cpu0/online`]: '1\n' }, verdict: 'ok', measured: /no governor/ },
  { check: preemption, is: 'real time', files: { 'proc/version': 'Linux version 6.12.0-rt1 (gcc) #1 SMP PREEMPT_RT Debian\n' }, verdict: 'ok', measured: /^PREEMPT_RT$/ },
  { check: preemption, is: 'a server kernel', files: { 'proc/version': 'Linux version 5.14.0 (gcc) #1 SMP x86_64\n' }, verdict: 'warning', measured: /not preemptible/ },
  {
    check: preemption,
    is: 'chosen at boot not to',
    files: { 'proc/version': 'Linux version 6.12.0 #1 SMP PREEMPT_DYNAMIC\n', 'sys/kernel/debug/sched/preempt': '(none) voluntary full lazy\n' },
    verdict: 'warning',
    measured: /PREEMPT_DYNAMIC, run as none/,
  },
  { check: preemption, is: 'nothing', files: {}, verdict: 'unknown', measured: /does not tell/ },
  { check: isolation, is: 'as wanted', files: { [`${CPUS}/isolated`]: '3\n' }, given: { hardware: { isolatedCpus: '3' } }, verdict: 'ok', measured: /kept free: 3/ },
  {
    check: isolation,
    is: 'wanted and not so',
    files: { [`${CPUS}/isolated`]: '\n' },
    given: { hardware: { isolatedCpus: '3' } },
    verdict: 'warning',
    measured: /none is kept free/,
  },
  {
    check: clockSource,
    is: 'tsc',
    files: { [`${CLOCK}/current_clocksource`]: 'tsc\n', [`${CLOCK}/available_clocksource`]: 'tsc hpet acpi_pm\n' },
    verdict: 'ok',
    measured: /^tsc; there are tsc hpet acpi_pm/,
  },
  { check: clockSource, is: 'given up', files: { [`${CLOCK}/current_clocksource`]: 'hpet\n' }, verdict: 'warning', measured: /^hpet/ },
  {
    check: clockSync,
    is: 'chrony',
    files: {},
    given: { programs: { chronyc: CHRONY('-0.000123456', 'Normal') } },
    verdict: 'ok',
    measured: /192\.168\.0\.1, stratum 3, 0\.123 ms off/,
  },
  { check: clockSync, is: 'chrony far off', files: {}, given: { programs: { chronyc: CHRONY('12.5', 'Normal') } }, verdict: 'warning', measured: /12500\.000 ms off/ },
  {
    check: clockSync,
    is: 'chrony alone',
    files: {},
    given: { programs: { chronyc: CHRONY('0.0', 'Not synchronised', 0) } },
    verdict: 'warning',
    measured: /no time server \(chrony\)/,
  },
  { check: clockSync, is: 'timedatectl', files: {}, given: { programs: { timedatectl: 'yes\n' } }, verdict: 'ok', measured: /follows a time server \(timedatectl\)/ },
  { check: clockSync, is: 'timesyncd', files: { 'run/systemd/timesync/synchronized': '' }, verdict: 'ok', measured: /systemd-timesyncd/ },
  { check: clockSync, is: 'nobody', files: {}, verdict: 'unknown', measured: /neither chrony nor systemd-timesyncd/ },
  { check: timeZone, is: 'a link', files: { 'etc/localtime': '-> /usr/share/zoneinfo/Europe/Vienna' }, verdict: 'ok', measured: /^Europe\/Vienna$/ },
  { check: timeZone, is: 'nothing', files: {}, verdict: 'unknown', measured: /no time zone/ },
  { check: diskFlush, is: 'a recording', files: {}, verdict: 'unknown', measured: /not measured on a recording/ },
  { check: diskWear, is: 'a new eMMC', files: emmc('0x01 0x02', '0x01'), verdict: 'ok', measured: /eMMC mmcblk0 has used up to 20 %/ },
  { check: diskWear, is: 'a worn eMMC', files: emmc('0x08 0x01', '0x01'), verdict: 'warning', measured: /80 %/ },
  { check: diskWear, is: 'an eMMC without spare', files: emmc('0x03 0x03', '0x03'), verdict: 'fault', measured: /spare blocks run out/ },
  { check: diskWear, is: 'no disk', files: {}, verdict: 'unknown', measured: /shows no disk/ },
  { check: memory, is: 'enough', files: { 'proc/meminfo': 'MemTotal: 4000000 kB\nMemAvailable: 2000000 kB\n' }, verdict: 'ok', measured: /1953 of 3906 MiB/ },
  { check: memory, is: 'short', files: { 'proc/meminfo': 'MemTotal: 931204 kB\nMemAvailable: 112300 kB\n' }, verdict: 'warning', measured: /109 of 909 MiB/ },
  { check: swap, is: 'on', files: { 'proc/meminfo': 'SwapTotal: 1003516 kB\nSwapFree: 403516 kB\n' }, verdict: 'warning', measured: /979 MiB of swap, 585 in use/ },
  { check: swap, is: 'off', files: { 'proc/meminfo': 'SwapTotal: 0 kB\nSwapFree: 0 kB\n' }, verdict: 'ok', measured: /^none$/ },
  { check: memoryErrors, is: 'ECC', files: { [`${MC}/ce_count`]: '0\n', [`${MC}/ue_count`]: '0\n' }, verdict: 'ok', measured: /0 errors corrected, 0 not/ },
  { check: memoryErrors, is: 'corrected', files: { [`${MC}/ce_count`]: '7\n', [`${MC}/ue_count`]: '0\n' }, verdict: 'warning', measured: /7 errors corrected/ },
  { check: memoryErrors, is: 'not corrected', files: { [`${MC}/ce_count`]: '7\n', [`${MC}/ue_count`]: '1\n' }, verdict: 'fault', measured: /1 not/ },
  { check: memoryErrors, is: 'none', files: {}, verdict: 'unknown', measured: /no ECC/ },
  {
    check: thermal,
    is: 'cool',
    files: { [`${ZONE}/type`]: 'x86_pkg_temp\n', [`${ZONE}/temp`]: '45000\n' },
    verdict: 'ok',
    measured: /x86_pkg_temp 45 of 85 degrees C, slowed down 0 times/,
  },
  {
    check: thermal,
    is: 'near its passive trip',
    files: {
      [`${ZONE}/type`]: 'cpu\n',
      [`${ZONE}/temp`]: '72000\n',
      [`${ZONE}/trip_point_0_type`]: 'passive\n',
      [`${ZONE}/trip_point_0_temp`]: '80000\n',
      [`${ZONE}/trip_point_1_type`]: 'critical\n',
      [`${ZONE}/trip_point_1_temp`]: '70000\n',
    },
    verdict: 'warning',
    measured: /cpu 72 of 80/,
  },
  { check: thermal, is: 'hot', files: { [`${ZONE}/type`]: 'cpu\n', [`${ZONE}/temp`]: '91000\n' }, verdict: 'fault', measured: /cpu 91 of 85/ },
  {
    check: thermal,
    is: 'slowed down',
    files: { [`${ZONE}/temp`]: '40000\n', [`${CPUS}/cpu0/thermal_throttle/core_throttle_count`]: '12\n' },
    verdict: 'warning',
    measured: /slowed down 12 times/,
  },
  { check: thermal, is: 'nothing', files: {}, verdict: 'unknown', measured: /no temperature/ },
  {
    check: watchdog,
    is: 'there',
    files: { 'sys/class/watchdog/watchdog0/identity': 'iTCO_wdt\n', 'dev/watchdog0': '' },
    given: { hardware: { watchdog: '/dev/watchdog0' } },
    verdict: 'ok',
    measured: /watchdog0 \(iTCO_wdt\)/,
  },
  { check: watchdog, is: 'missing', files: {}, verdict: 'warning', measured: /no hardware watchdog/ },
  { check: serialPorts, is: 'there', files: { 'dev/ttyS0': '' }, given: { hardware: COM1 }, verdict: 'ok', measured: /\/dev\/ttyS0 can be used/ },
  {
    check: serialPorts,
    is: 'missing',
    files: { 'dev/ttyUSB0': '', 'sys/class/tty/ttyUSB0/dev': '188:0' },
    given: { hardware: COM1 },
    verdict: 'fault',
    measured: /\/dev\/ttyS0 is not there, \/dev\/ttyUSB0 can be used/,
  },
  { check: serialPorts, is: 'no hardware behind it', files: { 'sys/class/tty/ttyS1/type': '0\n' }, verdict: 'unknown', measured: /no serial port/ },
  {
    check: networkPorts,
    is: 'there',
    files: { 'sys/class/net/eth0/operstate': 'up\n' },
    given: { hardware: { network: [{ name: 'X1', interface: 'eth*', role: 'plant' }] } },
    verdict: 'ok',
    measured: /eth0 up/,
  },
  {
    check: networkPorts,
    is: 'renamed',
    files: { 'sys/class/net/enp1s0/operstate': 'down\n' },
    given: { hardware: { network: [{ name: 'X1', interface: 'eth0', role: 'plant' }] } },
    verdict: 'warning',
    measured: /enp1s0 down/,
  },
  { check: ports, is: 'free', files: { 'proc/net/tcp': TCP_HEAD + tcp('0100007F:0CEA', 1) }, verdict: 'ok', measured: /port 8090 is free; nothing else listens to the network/ },
  {
    check: ports,
    is: 'ours, beside SSH',
    files: {
      'proc/net/tcp': TCP_HEAD + tcp('00000000:1F9A', 77) + tcp('00000000:0016', 5),
      'proc/412/comm': 'node\n',
      'proc/412/cmdline': 'node\0/opt/lineside/bin/lineside.js\0start\0',
      'proc/412/fd/19': '-> socket:[77]',
    },
    verdict: 'ok',
    measured: /port 8090 is held by node \(process 412\); the network also reaches port 22/,
  },
  {
    check: ports,
    is: 'taken, over IPv6',
    files: {
      'proc/net/tcp6': TCP_HEAD + tcp('00000000000000000000000000000000:1F9A', 78),
      'proc/9/comm': 'tomcat\n',
      'proc/9/cmdline': 'java\0tomcat\0',
      'proc/9/fd/3': '-> socket:[78]',
    },
    verdict: 'fault',
    measured: /held by tomcat \(process 9\)/,
  },
  { check: certificates, is: 'plain HTTP', files: {}, verdict: 'warning', measured: /plain HTTP on 0\.0\.0\.0/ },
  { check: certificates, is: 'plain HTTP for itself', files: {}, given: { settings: { listen: '127.0.0.1' } }, verdict: 'ok', measured: /plain HTTP on 127\.0\.0\.1/ },
  { check: certificates, is: 'no certificate', files: {}, given: { settings: { tlsCertFile: '/nowhere/cert.pem' } }, verdict: 'fault', measured: /ENOENT/ },
  { check: entropy, is: 'enough', files: { 'proc/sys/kernel/random/entropy_avail': '256\n' }, verdict: 'ok', measured: /256 bits/ },
  { check: entropy, is: 'poor', files: { 'proc/sys/kernel/random/entropy_avail': '12\n' }, verdict: 'warning', measured: /12 bits/ },
  {
    check: openFiles,
    is: 'few',
    files: { 'proc/self/limits': 'Limit  Soft  Hard  Units\nMax open files            1024                 4096                 files\n' },
    verdict: 'warning',
    measured: /1024/,
  },
  {
    check: openFiles,
    is: 'many',
    files: { 'proc/self/limits': 'Max open files            unlimited            unlimited            files\n' },
    verdict: 'ok',
    measured: /unlimited/,
  },
  { check: hardwareProfile, is: 'by setting', files: {}, verdict: 'ok', measured: /unknown-box .*verified, chosen by the setting/ },
];

for (const { check, is, files, given, verdict, measured } of CASES) {
  t.test(`${check.name}, ${is}: ${verdict}`, async (t) => {
    const finding = await check.look(examined(files, given));
    t.equal(finding.verdict, verdict, JSON.stringify(finding));
    t.match(finding.measured, measured);
    t.not(finding.limit, '');
    t.not(finding.meaning, '');
    if (verdict === 'warning' || verdict === 'fault') t.not(finding.whatToDo, '', 'somebody can do something');
  });
}

t.test('a certificate that ends is told by its days', async (t) => {
  const { execFileSync } = await import('node:child_process');
  const file = path.join(work, 'cert.pem');
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', path.join(work, 'key.pem'), '-out', file, '-days', '90', '-subj', '/CN=box'],
    {
      stdio: 'ignore',
    },
  );
  const at = (days: number) =>
    certificates.look({ ...examined({}, { settings: { tlsCertFile: file } }), clock: { ...new TestClock(), wallMs: () => Date.now() + days * 86_400_000 } as TestClock });
  t.match(await at(0), { verdict: 'ok', measured: /CN=box, until .* \((89|90) days\)/ });
  t.match(await at(70), { verdict: 'warning', meaning: /soon/ });
  t.match(await at(91), { verdict: 'fault', whatToDo: /renew/ });
});

t.test('wear as smartctl tells it: NVMe, SATA, a disk that gives up, and nothing of it', async (t) => {
  const nvme = (used: number, spare = 100) =>
    JSON.stringify({ nvme_smart_health_information_log: { percentage_used: used, available_spare: spare, available_spare_threshold: 10, media_errors: 0 } });
  t.match(smartWear(nvme(3)), { verdict: 'ok', measured: /3 % of its life used, 0 media errors, 100 % spare/ });
  t.match(smartWear(nvme(91)), { verdict: 'fault' });
  t.match(smartWear(nvme(3, 10)), { verdict: 'fault' });
  t.match(
    smartWear(
      JSON.stringify({
        ata_smart_attributes: {
          table: [
            { id: 9, name: 'Power_On_Hours', value: 90 },
            { id: 177, name: 'Wear_Leveling_Count', value: 25 },
          ],
        },
      }),
    ),
    { verdict: 'warning', measured: /75 %/ },
  );
  t.match(smartWear(JSON.stringify({ smart_status: { passed: false } })), { verdict: 'fault' });
  t.equal(smartWear('{}'), undefined);
  t.equal(smartWear('Permission denied'), undefined);
});

t.test('wakes are judged by the shortest scan that the profile promises', async (t) => {
  const wakes = (late: number, worst = late) => [...Array.from({ length: 999 }, () => late), worst];
  t.match(judgeTimers(wakes(0.1), true, 10), { verdict: 'ok', measured: /1000 wakes of 10 ms: p50 100 us, p99 100 us, max 100 us late, 0 beyond a scan; with real-time/ });
  t.match(judgeTimers(wakes(0.1, 12), true, 10), { verdict: 'warning', measured: /1 beyond a scan/ });
  t.match(judgeTimers(wakes(2), false, 10), { verdict: 'warning', whatToDo: /CAP_SYS_NICE/ });
  t.match(judgeTimers(wakes(2), false, 50), { verdict: 'ok' });
  t.match(judgeTimers(wakes(11), true, 10), { verdict: 'fault', meaning: /left out all the time/ });
});

t.test('the disk of a data directory that is a link is that where the link leads, also before the directory is made', async (t) => {
  const real = realpathSync(work);
  mkdirSync(path.join(real, 'other-disk'));
  mkdirSync(path.join(real, 'root-disk'));
  symlinkSync('../other-disk', path.join(real, 'root-disk/lineside'));
  const machine = recorded({ 'proc/self/mountinfo': `21 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 21 0:40 / ${real}/other-disk rw - tmpfs tmpfs rw\n` });
  for (const name of ['root-disk/lineside', 'root-disk/lineside/not/yet']) {
    const folder = existing(path.join(real, name));
    t.equal(folder, path.join(real, 'other-disk'));
    t.equal(mountOf(machine, folder)?.fileSystem, 'tmpfs', name);
  }
  t.equal(existing(path.join(real, 'root-disk/none')), path.join(real, 'root-disk'));
});

for (const [how, last, told] of [
  ['fails', 'throw new Error("out of luck")', /out of luck/],
  ['ends', 'process.exit(0)', /ended before it was done/],
] as const)
  t.test(`a thread that ${how} after its first message ends the watch of the timers, also while its priority is asked for`, async (t) => {
    const thread = new URL(`data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ thread: 1 }); ${last};`);
    await t.rejects(
      watchTimers(1, 10, 1, () => new Promise(() => undefined), thread),
      told,
    );
  });

t.test('memory is one figure for the profile and for the check', async (t) => {
  const given = examined({ 'proc/meminfo': 'MemTotal: 931204 kB\nMemAvailable: 900000 kB\n' });
  t.equal(factsOf(given.machine, 'x64').memoryMiB, 909);
  t.match(await memory.look(given), { figures: { totalMiB: 909 } });
  t.equal(factsOf(recorded({}), 'x64').memoryMiB, 0, 'a kernel that does not tell it');
});

t.test('the disk of a folder: a partition names its disk, the longest mount holds it, and its counters are read', async (t) => {
  const machine = recorded({
    'proc/self/mountinfo':
      '21 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 21 8:2 / /var/lib rw,noatime shared:1 - xfs /dev/sda2 rw,nobarrier\n31 21 0:40 / /var/log rw - overlay overlay rw\n',
    'sys/dev/block/8:2': '-> ../../devices/pci/ata1/block/sda/sda2',
    'sys/devices/pci/ata1/block/sda/sda2/partition': '2\n',
    'sys/devices/pci/ata1/block/sda/queue/rotational': '1\n',
    'sys/devices/pci/ata1/block/sda/queue/write_cache': 'write back\n',
    'sys/devices/pci/ata1/block/sda/device/model': 'QEMU HARDDISK   \n',
    'sys/devices/pci/ata1/block/sda/stat': ' 1 2 3 4 55 6 7 8 0 10 11 12 13 14 15 66 17\n',
  });
  const mount = mountOf(machine, '/var/lib/lineside');
  t.match(mount, { point: '/var/lib', fileSystem: 'xfs', device: '8:2' });
  t.ok(mount?.options.includes('nobarrier'));
  const disk = mount && deviceOf(machine, mount);
  t.match(disk, { name: 'sda', rotational: true, writeCache: 'write back', model: 'QEMU HARDDISK', isVirtual: true });
  t.same(disk && completed(machine, disk), { writes: 55, flushes: 66 });
  t.match(mountOf(machine, '/var/library'), { point: '/' }, 'a name that only begins alike is another folder');
  t.equal(deviceOf(machine, mountOf(machine, '/var/log/x') ?? { device: '' }), undefined, 'an overlay has no disk of its own');
});

t.test('a check that fails itself is told as one that knows nothing, and the others go on', async (t) => {
  const broken: Check = {
    name: 'broken',
    look() {
      throw new Error('no such thing');
    },
  };
  const found = await examine(examined({}), [broken, timeZone]);
  t.match(found, [{ check: 'broken', verdict: 'unknown', measured: 'the check failed: no such thing' }, { check: 'time-zone' }]);
  t.equal(exitCodeOf(found), 0, 'what is not known is no warning');
  t.equal(exitCodeOf([{ verdict: 'ok' }, { verdict: 'warning' }]), 1);
  t.equal(exitCodeOf([{ verdict: 'warning' }, { verdict: 'fault' }]), 2);
  t.match(
    told({ check: 'swap', verdict: 'warning', measured: '979 MiB of swap', limit: 'none', meaning: 'scans wait', whatToDo: 'swapoff -a' }),
    /^WARNING {2}swap: 979 MiB of swap\n +should be: none\n +means: +scans wait\n +do: +swapoff -a\n$/,
  );
});
