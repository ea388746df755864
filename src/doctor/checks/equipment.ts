/** What the hardware profile says a box has: serial ports, network ports, watchdog. */
import { accessSync, constants } from 'node:fs';
import type { Examined } from '../check.js';
import { type Check, untold } from '../check.js';

/** `there`, `shut`: it is there and this user may not use it. */
function stateOf({ machine }: Examined, device: string): 'there' | 'shut' | 'missing' {
  if (!machine.exists(device)) return 'missing';
  try {
    accessSync(machine.at(device), constants.R_OK | constants.W_OK);
    return 'there';
  } catch {
    return 'shut';
  }
}

export const serialPorts: Check = {
  name: 'serial-ports',
  look(examined) {
    const wanted = examined.box.profile.hardware.serialPorts;
    const limit = wanted.length === 0 ? 'the profile names none' : wanted.map(({ name, device }) => `${name} (${device})`).join(', ');
    const found = examined.machine
      .names('sys/class/tty')
      .filter((name) => /^tty(S|USB|ACM|AMA|mxc|O)\d+$/.test(name) && (examined.machine.number(`sys/class/tty/${name}/type`) ?? 1) !== 0)
      .map((name) => `dev/${name}`);
    const all = [...new Set([...wanted.map(({ device }) => device.slice(1)), ...found])].map((device) => ({ device: `/${device}`, state: stateOf(examined, device) }));
    const isWanted = (device: string): boolean => wanted.some((port) => port.device === device);
    const missing = all.filter(({ device, state }) => state === 'missing' && isWanted(device));
    const shut = all.filter(({ device, state }) => state === 'shut' && isWanted(device));
    if (all.length === 0) return untold('no serial port', limit, 'devices with a serial line cannot be connected');
    const verdict = missing.length > 0 ? 'fault' : shut.length > 0 ? 'warning' : 'ok';
    const ways = [
      ...(missing.length > 0 ? [`look for ${missing.map(({ device }) => device).join(', ')} in the firmware set-up`] : []),
      ...(shut.length > 0 ? ['add the user of the appliance to the group dialout'] : []),
    ];
    return {
      verdict,
      measured: all.map(({ device, state }) => `${device} ${state === 'there' ? 'can be used' : state === 'shut' ? 'may not be used by this user' : 'is not there'}`).join(', '),
      limit,
      meaning: verdict === 'ok' ? 'serial devices can be connected' : 'devices on these ports cannot be reached',
      whatToDo: ways.join('; '),
    };
  },
};

export const networkPorts: Check = {
  name: 'network-ports',
  look({ machine, box }) {
    const wanted = box.profile.hardware.network;
    const interfaces = machine.names('sys/class/net').filter((name) => name !== 'lo');
    const states = interfaces.map((name) => `${name} ${machine.text(`sys/class/net/${name}/operstate`) ?? 'unknown'}`);
    const missing = wanted.filter(({ interface: pattern }) => !interfaces.some((name) => name === pattern || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))));
    const limit = wanted.length === 0 ? 'the profile names none' : wanted.map(({ name, interface: device, role }) => `${name}: ${device} for ${role}`).join(', ');
    if (interfaces.length === 0) return untold('no network interface', limit, 'nobody reaches the box but from itself');
    return {
      verdict: missing.length > 0 ? 'warning' : 'ok',
      measured: states.join(', '),
      limit,
      meaning: missing.length > 0 ? `${missing.map(({ name }) => name).join(', ')} is not there under that name` : 'the network ports of the box are there',
      whatToDo: missing.length > 0 ? 'name the interfaces as the profile does (systemd.link), or look for the port in the firmware set-up' : '',
    };
  },
};

export const watchdog: Check = {
  name: 'watchdog',
  look({ machine, box }) {
    const wanted = box.profile.hardware.watchdog;
    const found = machine.names('sys/class/watchdog').map((name) => `${name} (${machine.text(`sys/class/watchdog/${name}/identity`) ?? 'unnamed'})`);
    const isMissing = wanted !== undefined && !machine.exists(wanted.slice(1));
    const isThere = found.length > 0;
    return {
      verdict: isMissing || !isThere ? 'warning' : 'ok',
      measured: isThere ? found.join(', ') : 'no hardware watchdog',
      limit: wanted ?? 'any hardware watchdog',
      meaning: isMissing || !isThere ? 'a box whose kernel hangs stays so until somebody switches it off; outputs keep their last value' : 'a box that hangs starts again',
      whatToDo: isMissing || !isThere ? 'switch the watchdog on in the firmware set-up, or load its driver' : '',
    };
  },
};
