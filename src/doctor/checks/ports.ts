/** Network ports: whether the port of the gateway is free or ours, and what else listens to the world. */
import type { Machine } from '../../box/machine.js';
import type { Check } from '../check.js';

interface Listener {
  readonly port: number;
  /** Hears this machine only. */
  readonly isLocal: boolean;
  readonly inode: string;
}

const LISTEN = '0A';
/** Of /proc/net/tcp: 127.0.0.1 and ::1, as the kernel writes them on a little-endian machine. */
const LOOPBACK = /^([0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/;

export const ports: Check = {
  name: 'ports',
  look({ machine, settings }) {
    const listeners = [...listenersIn(machine, 'proc/net/tcp'), ...listenersIn(machine, 'proc/net/tcp6')];
    const ours = listeners.filter(({ port }) => port === settings.httpPort && port !== 0);
    const holder = ours[0] && programOf(machine, ours[0].inode);
    const isTaken = holder !== undefined && !holder.isLineside;
    const others = [...new Set(listeners.filter(({ port, isLocal }) => port !== settings.httpPort && !isLocal).map(({ port }) => port))].sort((a, b) => a - b);
    const gateway = ours.length === 0 ? `port ${settings.httpPort} is free` : `port ${settings.httpPort} is held by ${holder?.name ?? 'a program that cannot be seen from here'}`;
    return {
      verdict: isTaken ? 'fault' : 'ok',
      measured: `${gateway}; ${others.length === 0 ? 'nothing else listens to the network' : `the network also reaches port ${others.join(', ')}`}`,
      limit: `port ${settings.httpPort} (gateway.httpPort) is free or held by the appliance`,
      meaning: isTaken ? 'the gateway cannot listen, and the appliance does not start' : 'the gateway can listen; every other port is a door that somebody has to keep',
      whatToDo: isTaken ? `end ${holder.name}, or set gateway.httpPort to another port` : others.length === 0 ? '' : 'close in the firewall what nobody needs',
      figures: { others },
    };
  },
};

function listenersIn(machine: Machine, file: string): Listener[] {
  return machine.lines(file).flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    return state === LISTEN ? [{ port: Number.parseInt(port, 16), isLocal: LOOPBACK.test(address), inode }] : [];
  });
}

/** Who holds a socket; undefined where it is another user's and we may not look. */
function programOf(machine: Machine, inode: string): { readonly name: string; readonly isLineside: boolean } | undefined {
  for (const pid of machine.names('proc').filter((name) => /^\d+$/.test(name))) {
    const holds = machine.names(`proc/${pid}/fd`).some((fd) => machine.link(`proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
    if (holds) return { name: `${machine.text(`proc/${pid}/comm`) ?? '?'} (process ${pid})`, isLineside: /lineside/.test(machine.text(`proc/${pid}/cmdline`) ?? '') };
  }
  return undefined;
}
