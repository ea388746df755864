/** The clocks: what the kernel counts by, whether the time is that of the world, and how it is shown. */
import { type Check, type Finding, untold } from '../check.js';
import type { Machine } from '../../box/machine.js';

const SOURCES = 'sys/devices/system/clocksource/clocksource0';
/** Read without leaving the process, and steady. */
const GOOD = ['tsc', 'kvm-clock', 'arch_sys_counter', 'hyperv_clocksource_tsc_page', 'riscv_clocksource'];

export const clockSource: Check = {
  name: 'clock-source',
  look({ machine }) {
    const current = machine.text(`${SOURCES}/current_clocksource`);
    const limit = GOOD.join(', ');
    if (current === undefined) return untold('the kernel names no clock source', limit, 'what time is counted by is not known');
    const fit = GOOD.includes(current);
    const available = machine.text(`${SOURCES}/available_clocksource`) ?? '';
    return {
      verdict: fit ? 'ok' : 'warning',
      measured: `${current}; there are ${available}`,
      limit,
      meaning: fit ? 'time is read quickly and runs evenly' : 'each reading of the time takes microseconds; the kernel may have given up a counter that did not run evenly',
      whatToDo: fit ? '' : 'look in dmesg for why; update the firmware',
    };
  },
};

const OFFSET_MAX_S = 1;

export const clockSync: Check = {
  name: 'clock-sync',
  async look({ machine, ask }) {
    const chrony = await ask('chronyc', '-c', 'tracking');
    if (chrony !== undefined) return byChrony(chrony.trim().split(','));
    const systemd = await ask('timedatectl', 'show', '--property=NTPSynchronized', '--value');
    if (systemd !== undefined && /^(yes|no)$/.test(systemd.trim())) return synchronised(systemd.trim() === 'yes', 'timedatectl');
    if (machine.exists('run/systemd/timesync/synchronized')) return synchronised(true, 'systemd-timesyncd');
    return untold(
      'neither chrony nor systemd-timesyncd answers',
      LIMIT,
      'records may bear a wrong time, and those of two boxes cannot be put in order',
      'install chrony and name a time server; where another program keeps the time, ask that one',
    );
  },
};

const LIMIT = `follows a time server, less than ${OFFSET_MAX_S} s off`;

/** Fields of `chronyc -c tracking`: reference, its name, stratum, ..., system time offset (s) as the fifth, leap status as the last. */
function byChrony(fields: readonly string[]): Finding {
  const [, server = '', stratum = '', , offset = ''] = fields;
  const leap = fields.at(-1) ?? '';
  const offsetS = Math.abs(Number(offset));
  const follows = leap !== 'Not synchronised' && Number(stratum) > 0;
  if (!follows) return synchronised(false, 'chrony');
  const fit = offsetS < OFFSET_MAX_S;
  return {
    verdict: fit ? 'ok' : 'warning',
    measured: `follows ${server}, stratum ${stratum}, ${(offsetS * 1000).toFixed(3)} ms off (chrony)`,
    limit: LIMIT,
    meaning: fit ? 'records bear the time of the world' : 'records bear a time that is off',
    whatToDo: fit ? '' : 'wait until chrony has caught up, or chronyc makestep while no batch runs',
    figures: { offsetMs: offsetS * 1000, stratum: Number(stratum) },
  };
}

function synchronised(follows: boolean, by: string): Finding {
  return {
    verdict: follows ? 'ok' : 'warning',
    measured: follows ? `follows a time server (${by})` : `follows no time server (${by})`,
    limit: LIMIT,
    meaning: follows ? 'records bear the time of the world' : 'records may bear a wrong time, and those of two boxes cannot be put in order; control itself does not depend on it',
    whatToDo: follows ? '' : 'name a time server that the box can reach',
  };
}

export const timeZone: Check = {
  name: 'time-zone',
  look({ machine }) {
    const zone = zoneOf(machine);
    if (zone === undefined) return untold('no time zone is set', 'UTC, or that of the site', 'records are kept in UTC; programs of the machine show what they take for local time');
    return {
      verdict: 'ok',
      measured: zone,
      limit: 'UTC, or that of the site',
      meaning: 'records are kept in UTC whatever it is; logs of the machine show this time',
      whatToDo: '',
    };
  },
};

function zoneOf(machine: Machine): string | undefined {
  return machine.link('etc/localtime')?.split('/zoneinfo/')[1] ?? machine.text('etc/timezone');
}
