/** Memory: how much there is, whether it makes errors, and whether it is really memory and not a disk. */
import { meminfoMiB } from '../../box/meminfo.js';
import { type Check, untold } from '../check.js';

const AVAILABLE_MIN_MIB = 256;

export const memory: Check = {
  name: 'memory',
  look({ machine, box }) {
    const total = meminfoMiB(machine, 'MemTotal');
    const available = meminfoMiB(machine, 'MemAvailable');
    const wanted = box.profile.match.memoryMinMiB ?? 0;
    const limit = `at least ${AVAILABLE_MIN_MIB} MiB available${wanted > 0 ? `; the profile is for ${wanted} MiB or more` : ''}`;
    if (total === undefined || available === undefined) return untold('the kernel does not tell its memory', limit, 'how many units fit is not known');
    const short = available < AVAILABLE_MIN_MIB || total < wanted;
    return {
      verdict: short ? 'warning' : 'ok',
      measured: `${available} of ${total} MiB available`,
      limit,
      meaning: short ? 'the kernel may end the appliance for lack of memory' : 'there is room for the appliance, and 4 to 7 MiB for each unit that runs',
      whatToDo: short ? 'end what else runs on the box, or take one with more memory' : '',
      figures: { totalMiB: total, availableMiB: available },
    };
  },
};

export const swap: Check = {
  name: 'swap',
  look({ machine }) {
    const total = meminfoMiB(machine, 'SwapTotal');
    if (total === undefined) return untold('the kernel does not tell its swap', 'none', 'whether a scan may wait for the disk is not known');
    const on = total > 0;
    return {
      verdict: on ? 'warning' : 'ok',
      measured: on ? `${total} MiB of swap, ${total - (meminfoMiB(machine, 'SwapFree') ?? total)} in use` : 'none',
      limit: 'none',
      meaning: on ? 'memory of a scan thread may stand on the disk when its scan begins' : 'scans never wait for the disk',
      whatToDo: on ? 'swapoff -a, and take swap out of /etc/fstab; on a Raspberry Pi: systemctl disable --now dphys-swapfile' : '',
    };
  },
};

const EDAC = 'sys/devices/system/edac/mc';

export const memoryErrors: Check = {
  name: 'memory-errors',
  look({ machine }) {
    const controllers = machine.names(EDAC).filter((name) => /^mc\d+$/.test(name));
    const limit = 'memory with ECC, and no error';
    if (controllers.length === 0) return untold('no memory controller that counts errors (no ECC, or no driver)', limit, 'a bit that flips in memory is not noticed');
    const sum = (name: string): number => controllers.reduce((all, controller) => all + (machine.number(`${EDAC}/${controller}/${name}`) ?? 0), 0);
    const [corrected, uncorrected] = [sum('ce_count'), sum('ue_count')];
    const verdict = uncorrected > 0 ? 'fault' : corrected > 0 ? 'warning' : 'ok';
    return {
      verdict,
      measured: `${corrected} errors corrected, ${uncorrected} not, since the boot`,
      limit,
      meaning: verdict === 'ok' ? 'memory is watched and makes no errors' : uncorrected > 0 ? 'values and records may be wrong' : 'a module of memory begins to fail',
      whatToDo: verdict === 'ok' ? '' : 'replace the module of memory',
    };
  },
};
