/**
 * A serial port as a stream of bytes, with the settings that its address names: the terminal of the kernel, whose framing `stty` sets (ADR 0056).
 *
 * Invariants: the port is locked for this process while it is open; no call waits in this thread for the device; bytes pass as they are.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, open as openDescriptor } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { Duplex } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { promisify } from 'node:util';
import type { ModbusEndpoint } from './endpoint.js';

type SerialSettings = Pick<Extract<ModbusEndpoint, { kind: 'rtu' }>, 'path' | 'baud' | 'parity' | 'stopBits'>;

export interface OpenPort {
  readonly stream: Duplex;
  /** Resolves when the port is free for the next one who opens it. */
  close(): Promise<void>;
}

/** Without waiting for a carrier, and without becoming the terminal of this process. */
const OPEN_FLAGS = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK;
/** Nothing is translated, echoed or held back; no modem lines, no flow control; a byte with a wrong parity bit is dropped, so that its frame is not sound. */
const RAW = ['raw', '-echo', '-echoe', '-echok', '-crtscts', 'clocal', 'cread', 'inpck', 'ignpar', 'min', '1', 'time', '0'];
const PARITY = { none: ['-parenb'], even: ['parenb', '-parodd'], odd: ['parenb', 'parodd'] } as const;
/** A port whose sender is held waits for it before it takes settings. */
const COMMAND_MS_MAX = 5000;
/** A pseudo terminal has no wire, thus no parity. */
const PSEUDO_TERMINAL = /^\/dev\/pts\//;

/**
 * Opens the port for this process alone: two masters on one line would talk into each other's answers.
 * @throws Error with a sentence for the operator when there is no such port, or it does not take the settings.
 */
export async function openSerialPort(settings: SerialSettings): Promise<OpenPort> {
  const { path, baud, parity, stopBits } = settings;
  const refused = (why: string): Error => new Error(`the serial port ${path} cannot be opened with ${baud} baud, parity ${parity}, ${stopBits} stop bits: ${why}`);
  const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  const port = await open(path, OPEN_FLAGS).catch((error: unknown) => {
    throw refused(messageOf(error));
  });
  try {
    if (!isatty(port.fd)) throw new Error('it is no serial port');
    await told('flock', ['--exclusive', '--nonblock', '3'], ['ignore', 'ignore', 'pipe', port.fd], 'another process has it open');
    await told('stty', framing(settings, await realpath(path)), [port.fd, 'ignore', 'pipe'], 'it does not take these settings');
    return await openPort(port);
  } catch (error) {
    await port.close();
    throw refused(messageOf(error));
  }
}

function framing({ baud, parity, stopBits }: SerialSettings, device: string): string[] {
  const bits = PSEUDO_TERMINAL.test(device) ? [] : ['cs8', ...PARITY[parity]];
  return [...RAW, String(baud), stopBits === 2 ? 'cstopb' : '-cstopb', ...bits];
}

/** @throws Error with `otherwise` and what the command said, when it did not do it. */
function told(command: string, args: readonly string[], stdio: ('ignore' | 'pipe' | number)[], otherwise: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio, timeout: COMMAND_MS_MAX, killSignal: 'SIGKILL' });
    const said: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
    child.on('error', (error) => reject(new Error(`the command ${command} cannot be run: ${error.message}`)));
    child.on('close', (code) => {
      if (code === 0) return resolve();
      const why = code === null ? `the command ${command} has not ended within ${COMMAND_MS_MAX / 1000} s` : Buffer.concat(said).toString().trim();
      reject(new Error([otherwise, why].filter(Boolean).join(': ')));
    });
  });
}

/** The reader has a descriptor of its own, of the very terminal that was locked, whatever its path leads to by now. */
async function openPort(port: FileHandle): Promise<OpenPort> {
  const lent = await promisify(openDescriptor)(`/proc/self/fd/${port.fd}`, OPEN_FLAGS);
  let stream: TerminalStream;
  try {
    stream = new TerminalStream(new ReadStream(lent), port);
  } catch (error) {
    closeSync(lent);
    throw error;
  }
  return {
    stream,
    async close() {
      await stream.released();
      // the event loop reads a terminal by a descriptor that it opens itself, and leaves the one that it was given
      if (isSame(lent, port)) closeSync(lent);
      await port.close();
    },
  };
}

/** Whether the descriptor is still the terminal: where the event loop could not open one of its own it has closed this one, and the number may be another file's. */
function isSame(descriptor: number, port: FileHandle): boolean {
  try {
    const [one, other] = [fstatSync(descriptor), fstatSync(port.fd)];
    return one.dev === other.dev && one.ino === other.ino;
  } catch {
    return false; // nobody's any more
  }
}

/** Reads as the event loop says that there is something; writes without waiting, since a frame fits into the buffer of a port that sends. */
class TerminalStream extends Duplex {
  readonly #reader: ReadStream;
  readonly #port: FileHandle;
  readonly #released: Promise<void>;

  constructor(reader: ReadStream, port: FileHandle) {
    super();
    this.#reader = reader;
    this.#port = port;
    this.#released = new Promise((resolve) => reader.once('close', resolve));
    reader.on('data', (chunk: Buffer) => this.push(chunk));
    reader.on('error', (error) => this.destroy(error));
    reader.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#reader.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#port.write(chunk).then(
      ({ bytesWritten }) => done(bytesWritten === chunk.length ? null : new Error('the serial port takes no more bytes')),
      (error: Error) => done(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#reader.destroy();
    done(error);
  }

  async released(): Promise<void> {
    this.destroy();
    await this.#released;
  }
}
