/** A serial port as a stream of bytes, with the settings that its address names. The only place that knows the library. */
import type { Duplex } from 'node:stream';
import type { ModbusEndpoint } from './endpoint.js';

type SerialSettings = Pick<Extract<ModbusEndpoint, { kind: 'rtu' }>, 'path' | 'baud' | 'parity' | 'stopBits'>;

export interface OpenPort {
  readonly stream: Duplex;
  /** Resolves when the port is free for the next one who opens it; its library does not close it with the stream. */
  close(): Promise<void>;
}

/**
 * Opens the port for this process alone: two masters on one line would talk into each other's answers.
 * @throws Error with a sentence for the operator when there is no such port, or it does not take the settings.
 */
export async function openSerialPort({ path, baud, parity, stopBits }: SerialSettings): Promise<OpenPort> {
  const { SerialPort } = await import('serialport').catch(() => {
    throw new Error('this installation has no support of serial ports: its library serialport does not load on this machine');
  });
  return new Promise((resolve, reject) => {
    const port = new SerialPort({ path, baudRate: baud, dataBits: 8, parity, stopBits, lock: true, autoOpen: false });
    port.open((error) => {
      if (error) reject(new Error(`the serial port ${path} cannot be opened with ${baud} baud, parity ${parity}, ${stopBits} stop bits: ${error.message}`));
      else resolve({ stream: port, close: () => new Promise((done) => (port.isOpen ? port.close(() => done()) : done())) });
    });
  });
}
