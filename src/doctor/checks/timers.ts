/** Real-time latency: a scan begins when its thread is woken, and no program makes it begin earlier than the machine does. */
import { availableParallelism } from 'node:os';
import { type Check, type Finding, untold } from '../check.js';
import { quantile, showMs } from '../quantile.js';
import { watchTimers } from '../timers.js';

const PERIOD_MS = 10;
/** As scan threads ask for it (domains/placement/realtime.ts). */
const PRIORITY = '10';

export const timers: Check = {
  name: 'timers',
  async look({ machine, box, seconds, ask }) {
    const interval = box.profile.limits.scanIntervalMinMs;
    if (!machine.isHere) return untold('not measured on a recording', limitOf(interval), MEANING);
    const prioritise = async (thread: number): Promise<boolean> => (await ask('chrt', '-f', '-p', PRIORITY, String(thread))) !== undefined;
    const { late, realtime } = await watchTimers(Math.max(2, availableParallelism()), PERIOD_MS, seconds, prioritise);
    return judgeTimers(late, realtime, interval);
  },
};

const MEANING = 'a scan begins as late as its thread is woken';

function limitOf(intervalMs: number): string {
  return `p99 at most ${showMs(intervalMs / 10)}, none later than ${showMs(intervalMs)}, the shortest scan of the profile`;
}

/** @param late ms of each wake; `intervalMs`: the shortest scan that the profile promises. */
export function judgeTimers(late: readonly number[], realtime: boolean, intervalMs: number): Finding {
  const [p50, p99, max] = [quantile(late, 0.5), quantile(late, 0.99), quantile(late, 1)];
  const missed = late.filter((ms) => ms > intervalMs).length;
  const verdict = p99 > intervalMs ? 'fault' : p99 > intervalMs / 10 || missed > 0 ? 'warning' : 'ok';
  const how = realtime ? 'with real-time priority' : 'without real-time priority, which the machine did not grant';
  const ways = [
    ...(realtime ? [] : ['give the service CAP_SYS_NICE or LimitRTPRIO=10, so that scans go before everything ordinary']),
    'end what else keeps the processors busy',
    'take a kernel with PREEMPT_RT or isolate a processor',
  ];
  return {
    verdict,
    measured: `${late.length} wakes of ${showMs(PERIOD_MS)}: p50 ${showMs(p50)}, p99 ${showMs(p99)}, max ${showMs(max)} late, ${missed} beyond a scan; ${how}`,
    limit: limitOf(intervalMs),
    meaning: verdict === 'ok' ? MEANING : `${MEANING}: here scans are late${verdict === 'fault' ? ' or left out all the time' : ' now and then'}`,
    whatToDo: verdict === 'ok' ? '' : ways.join('; '),
    figures: { wakes: late.length, p50Ms: p50, p99Ms: p99, maxMs: max, missed, realtime },
  };
}
