/** Starts and stops the pymodbus device of modbus-peer.py as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const PYTHON = '/usr/bin/python3';
const SCRIPT = 'tests/drivers/modbus-peer.py';

export class ModbusPeer {
  readonly port: number;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** @throws Error that names the missing package when pymodbus is not installed. */
  static start(port = 0): Promise<ModbusPeer> {
    return new Promise((resolve, reject) => {
      const child = spawn(PYTHON, [SCRIPT, String(port)], { stdio: ['ignore', 'pipe', 'pipe'] });
      let errors = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        errors += chunk.toString();
      });
      child.once('error', (error) => reject(new Error(`the Modbus peer needs ${PYTHON} and the Debian package python3-pymodbus: ${error.message}`)));
      child.once('exit', (code) => reject(new Error(`the Modbus peer ended with ${code}; it needs the Debian package python3-pymodbus. ${errors}`)));
      createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', (line) => resolve(new ModbusPeer(child, Number(line))));
    });
  }

  /** Stops answering without closing anything, and goes on. */
  freeze(frozen: boolean): void {
    this.#child.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
  }
}
