/** Memory as the kernel tells it in /proc/meminfo. */
import type { Machine } from './machine.js';

/** @param name for example MemTotal. MiB, rounded down; undefined where the kernel does not tell it. */
export function meminfoMiB(machine: Machine, name: string): number | undefined {
  const found = new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(machine.text('proc/meminfo') ?? '')?.[1];
  return found === undefined ? undefined : Math.floor(Number(found) / 1024);
}
