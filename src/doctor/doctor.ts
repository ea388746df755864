/** `lineside doctor`: whether a machine is fit to run a line, check by check. A further check is a row. */
import type { Check, Examined, Finding, Verdict } from './check.js';
import { clockSource, clockSync, timeZone } from './checks/clock.js';
import { diskFlush, diskMedium, diskSpace, diskWear } from './checks/disk.js';
import { networkPorts, serialPorts, watchdog } from './checks/equipment.js';
import { memory, memoryErrors, swap } from './checks/memory.js';
import { opcuaIdentity } from './checks/opcua-identity.js';
import { ports } from './checks/ports.js';
import { governor, isolation, preemption } from './checks/processor.js';
import { certificates, entropy, hardwareProfile, openFiles } from './checks/system.js';
import { thermal } from './checks/thermal.js';
import { timers } from './checks/timers.js';

/** In the order in which they are told. */
export const CHECKS: readonly Check[] = [
  hardwareProfile,
  timers,
  governor,
  preemption,
  isolation,
  clockSource,
  clockSync,
  timeZone,
  diskFlush,
  diskMedium,
  diskWear,
  diskSpace,
  memory,
  swap,
  memoryErrors,
  thermal,
  watchdog,
  serialPorts,
  networkPorts,
  ports,
  certificates,
  opcuaIdentity,
  entropy,
  openFiles,
];

export interface Examination extends Finding {
  readonly check: string;
}

/** One after the other, so that none disturbs what another measures. A check that fails is told as one that does not know. */
export async function examine(examined: Examined, checks: readonly Check[] = CHECKS, told: (examination: Examination) => void = () => undefined): Promise<readonly Examination[]> {
  const all: Examination[] = [];
  for (const check of checks) {
    const examination = { check: check.name, ...(await lookOnce(check, examined)) };
    told(examination);
    all.push(examination);
  }
  for (const examination of unreadFiles(examined)) {
    told(examination);
    all.push(examination);
  }
  return all;
}

/** What stood in the place of a file: a pipe, a device, or what has no end. */
function unreadFiles({ machine: { unread } }: Examined): readonly Examination[] {
  if (unread.length === 0) return [];
  return [
    {
      check: 'files',
      verdict: 'unknown',
      measured: unread.join('; '),
      limit: 'plain files, as the kernel writes them',
      meaning: 'they were not read, and what they tell is not known',
      whatToDo: 'look at who has put them there',
    },
  ];
}

async function lookOnce(check: Check, examined: Examined): Promise<Finding> {
  try {
    return await check.look(examined);
  } catch (fault) {
    return {
      verdict: 'unknown',
      measured: `the check failed: ${(fault as Error).message}`,
      limit: '',
      meaning: 'nothing is known of it',
      whatToDo: 'keep this line for the supplier',
    };
  }
}

/** 0: nothing is wrong; 1: warnings; 2: faults. What is not known is neither. */
export function exitCodeOf(examinations: readonly { readonly verdict: Verdict }[]): 0 | 1 | 2 {
  const has = (verdict: Verdict): boolean => examinations.some((each) => each.verdict === verdict);
  return has('fault') ? 2 : has('warning') ? 1 : 0;
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok     ', warning: 'WARNING', fault: 'FAULT  ', unknown: 'unknown' };

/** For a person at a console. */
export function told({ check, verdict, measured, limit, meaning, whatToDo }: Examination): string {
  const line = `${MARKS[verdict]}  ${check}: ${measured}\n`;
  if (verdict === 'ok') return line;
  const rows = [limit && `should be: ${limit}`, `means:     ${meaning}`, whatToDo && `do:        ${whatToDo}`].filter((row) => row !== '');
  return line + rows.map((row) => `           ${row}\n`).join('');
}
