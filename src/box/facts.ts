/** What a hardware profile is matched by: the facts of a machine, as its firmware and kernel tell them. */
import type { Machine } from './machine.js';
import { meminfoMiB } from './meminfo.js';

export interface MachineFacts {
  /** As Node names it: x64, arm64 ... */
  readonly arch: string;
  /** DMI of a PC; '' where the machine has none. */
  readonly vendor: string;
  readonly product: string;
  readonly board: string;
  /** Model of the device tree of a board; '' where it has none. */
  readonly model: string;
  /** What the device tree says the board is compatible with, most special first. */
  readonly compatible: readonly string[];
  /** Name of the processor; '' where the kernel does not say it. */
  readonly cpu: string;
  readonly cores: number;
  /** Memory that the kernel has, in MiB. */
  readonly memoryMiB: number;
}

export function factsOf(machine: Machine, arch: string): MachineFacts {
  const dmi = (name: string): string => machine.text(`sys/class/dmi/id/${name}`) ?? '';
  const tree = 'proc/device-tree';
  return {
    arch,
    vendor: dmi('sys_vendor'),
    product: dmi('product_name'),
    board: dmi('board_name'),
    model: machine.text(`${tree}/model`) ?? '',
    compatible: (machine.text(`${tree}/compatible`) ?? '').split(/\s+/).filter((word) => word !== ''),
    cpu: /^(?:model name|Model)\s*:\s*(.+)$/m.exec(machine.text('proc/cpuinfo') ?? '')?.[1] ?? '',
    cores: (machine.text('proc/cpuinfo') ?? '').split('\n').filter((line) => /^processor\s*:/.test(line)).length,
    memoryMiB: meminfoMiB(machine, 'MemTotal') ?? 0,
  };
}
