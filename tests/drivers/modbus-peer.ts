/** Starts and stops the pymodbus device of modbus-peer.py as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';

const PYTHON = '/usr/bin/python3';
const SCRIPT = 'tests/drivers/modbus-peer.py';

type Framing = 'tcp' | 'rtu' | 'serial';

export class ModbusPeer {
  /** Where it listens: a port of loopback, or the path of a terminal. */
  readonly place: string;
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  private constructor(child: ChildProcess, lines: Interface, place: string) {
    this.#child = child;
    this.#lines = lines;
    this.place = place;
  }

  get port(): number {
    return Number(this.place);
  }

  /** Baud rate and stop bits that its terminal has now, as `baud=19200 stop=1`. */
  settings(): Promise<string> {
    return new Promise((resolve) => {
      this.#lines.once('line', resolve);
      this.#child.stdin?.write('\n');
    });
  }

  /** @throws Error that names the missing package when pymodbus is not installed. */
  static start(port = 0, framing: Framing = 'tcp'): Promise<ModbusPeer> {
    return new Promise((resolve, reject) => {
      const child = spawn(PYTHON, [SCRIPT, String(port), framing], { stdio: ['pipe', 'pipe', 'pipe'] });
      let errors = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        errors += chunk.toString();
      });
      child.once('error', (error) => reject(new Error(`the Modbus peer needs ${PYTHON} and the Debian package python3-pymodbus: ${error.message}`)));
      child.once('exit', (code) => reject(new Error(`the Modbus peer ended with ${code}; it needs the Debian package python3-pymodbus. ${errors}`)));
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      lines.once('line', (line) => resolve(new ModbusPeer(child, lines, line)));
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
