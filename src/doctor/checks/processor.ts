/** How the processors are run: their frequency governor, how the kernel preempts, which of them are kept free. */
import { type Check, untold } from '../check.js';

const CPUS = 'sys/devices/system/cpu';

export const governor: Check = {
  name: 'cpu-governor',
  look({ machine }) {
    const cpus = machine.names(CPUS).filter((name) => /^cpu\d+$/.test(name));
    const governors = [...new Set(cpus.flatMap((cpu) => machine.text(`${CPUS}/${cpu}/cpufreq/scaling_governor`) ?? []))];
    const limit = 'performance, or a processor that has no governor';
    if (governors.length === 0)
      return { verdict: 'ok', measured: 'no governor: the frequency is not changed by this kernel', limit, meaning: 'scans take the same time always', whatToDo: '' };
    const fit = governors.every((name) => name === 'performance' || name === 'schedutil');
    return {
      verdict: fit ? 'ok' : 'warning',
      measured: governors.join(', '),
      limit: 'performance or schedutil',
      meaning: fit ? 'the processor is fast when a scan begins' : 'a processor that sleeps deeply is slow when a scan begins',
      whatToDo: fit ? '' : 'cpupower frequency-set -g performance, and set it at every boot',
    };
  },
};

/** From the banner of the kernel: PREEMPT_RT, PREEMPT_DYNAMIC or PREEMPT; nothing where it is not preemptible. */
export const preemption: Check = {
  name: 'kernel-preemption',
  look({ machine }) {
    const banner = machine.text('proc/version') ?? machine.text('proc/sys/kernel/version');
    if (banner === undefined) return untold('the kernel does not tell its version', 'PREEMPT or better', 'how long the kernel keeps a scan waiting is not known');
    const built = /PREEMPT(_RT|_DYNAMIC|_LAZY)?/.exec(banner)?.[0] ?? 'none';
    // a kernel that can be told at boot says in parentheses what it was told, to root
    const chosen = built === 'PREEMPT_DYNAMIC' ? /\((\w+)\)/.exec(machine.text('sys/kernel/debug/sched/preempt') ?? '')?.[1] : undefined;
    const model = chosen === 'none' ? 'none' : built;
    return {
      verdict: model === 'none' ? 'warning' : 'ok',
      measured: chosen === undefined ? (model === 'none' ? 'a kernel that is not preemptible' : model) : `${built}, run as ${chosen}`,
      limit: 'PREEMPT or better; PREEMPT_RT for scans of 10 ms beside a busy machine',
      meaning:
        model === 'none' ? 'a call into the kernel by any program may keep a scan waiting for tens of milliseconds' : 'the kernel lets a scan go before what it does for others',
      whatToDo: model === 'none' ? 'boot with preempt=full, or the PREEMPT_RT kernel of the distribution' : '',
    };
  },
};

export const isolation: Check = {
  name: 'cpu-isolation',
  look({ machine, box }) {
    const wanted = box.profile.hardware.isolatedCpus;
    const isolated = machine.text(`${CPUS}/isolated`) ?? '';
    const measured = isolated === '' ? 'none is kept free' : `kept free: ${isolated}`;
    const fit = wanted === undefined || wanted === isolated;
    return {
      verdict: fit ? 'ok' : 'warning',
      measured,
      limit: wanted === undefined ? 'the profile asks for none' : wanted,
      meaning: fit ? 'as the hardware profile says' : 'scans share their processors with everything else',
      whatToDo: fit ? '' : `boot with isolcpus=${wanted}`,
    };
  },
};
