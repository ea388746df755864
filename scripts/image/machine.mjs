// A virtual machine that starts a disk as a board would: firmware by OVMF, no help from outside but a serial console and ports on loopback.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';

/** By the packages of Debian that have them. */
export const MACHINE_PROGRAMS = { 'qemu-system-x86_64': 'qemu-system-x86', ssh: 'openssh-client', 'ssh-keygen': 'openssh-client' };
export const FIRMWARE = { code: '/usr/share/OVMF/OVMF_CODE_4M.fd', variables: '/usr/share/OVMF/OVMF_VARS_4M.fd', package: 'ovmf' };
const MEMORY_MIB = 1536;
/** No machine of a proof lives longer, whatever becomes of who started it. */
const LIVES_S = 480;

export class Machine {
  /** @param folder of its files; @param disk it writes to it; @param ports `{ guest: host }` */
  constructor({ folder, disk, ports, name }) {
    this.serialFile = path.join(folder, `${name}.serial`);
    this.monitor = path.join(folder, `${name}.monitor`);
    const variables = path.join(folder, 'variables.fd');
    if (!existsSync(variables)) copyFileSync(FIRMWARE.variables, variables);
    const forwards = Object.entries(ports).map(([guest, host]) => `hostfwd=tcp:127.0.0.1:${host}-:${guest}`);
    const flash = (file, more = '') => ['-drive', `if=pflash,format=raw,file=${file}${more}`];
    this.child = spawn(
      'timeout',
      [
        ...['--signal=KILL', String(LIVES_S), 'qemu-system-x86_64'],
        // KVM does not run everywhere; what TCG shows holds there too, and slower
        ...['-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2', '-m', String(MEMORY_MIB), '-nodefaults', '-display', 'none', '-no-reboot'],
        ...['-serial', `file:${this.serialFile}`, '-monitor', `unix:${this.monitor},server,nowait`],
        ...flash(FIRMWARE.code, ',readonly=on'),
        ...flash(variables),
        ...['-drive', `file=${disk},format=raw,if=virtio`],
        ...['-netdev', `user,id=net,${forwards.join(',')}`, '-device', 'virtio-net-pci,netdev=net,romfile='],
        ...['-device', 'virtio-rng-pci'],
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
  }

  get serial() {
    return existsSync(this.serialFile) ? readFileSync(this.serialFile, 'latin1') : '';
  }

  /** What the screen shows last by that word. */
  shown(word) {
    return [...this.serial.matchAll(new RegExp(`^${word}  +(.*?)\\r*$`, 'gm'))].at(-1)?.[1].trim();
  }

  /** The button of the machine (ACPI). */
  pressPower() {
    const monitor = connect(this.monitor, () => monitor.end('system_powerdown\n'));
    monitor.on('error', () => undefined);
  }

  kill() {
    // `timeout` passes no KILL on; its child has its own process group
    spawnSync('pkill', ['-KILL', '-P', String(this.child.pid)]);
    this.child.kill('SIGKILL');
  }
}
