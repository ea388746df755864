/**
 * Modbus RTU over a serial port through modbus-serial, which is loaded when the first serial module connects.
 * RTU has no transaction id, so the whole line carries one request at a time; modules on one port share the line.
 * Known limit: an answer that arrives after its time-out, during the next request to the same unit and function,
 * cannot be told from the answer to that one. Set `timeout` above the slowest device of the line.
 */
import type { ModbusEndpoint } from './endpoint.js';
import { Signal } from '../signal.js';
import { EXCEPTION_FLAG, FUNCTION, type Reply, type Transport } from './transport.js';

export type SerialEndpoint = Extract<ModbusEndpoint, { kind: 'rtu' }>;

interface SerialClient {
  setID(unit: number): void;
  setTimeout(ms: number): void;
  connectRTUBuffered(path: string, options: object): Promise<void>;
  readCoils(start: number, count: number): Promise<{ buffer: Buffer }>;
  readDiscreteInputs(start: number, count: number): Promise<{ buffer: Buffer }>;
  readHoldingRegisters(start: number, count: number): Promise<{ buffer: Buffer }>;
  readInputRegisters(start: number, count: number): Promise<{ buffer: Buffer }>;
  writeCoil(at: number, state: boolean): Promise<unknown>;
  writeRegister(at: number, value: number): Promise<unknown>;
  writeCoils(at: number, states: boolean[]): Promise<unknown>;
  writeRegisters(at: number, values: Buffer): Promise<unknown>;
  on(event: 'close' | 'error', listener: (error?: Error) => void): unknown;
  close(done: () => void): void;
}

function bits(data: Buffer, count: number): boolean[] {
  return Array.from({ length: count }, (_, index) => ((data.readUInt8(index >> 3) >> (index & 7)) & 1) === 1);
}

/** Carries out one PDU with the library's calls and rebuilds the reply PDU from what it returns. */
async function perform(client: SerialClient, pdu: Buffer): Promise<Buffer> {
  const start = pdu.readUInt16BE(1);
  const word = pdu.readUInt16BE(3);
  const read = async (reading: Promise<{ buffer: Buffer }>): Promise<Buffer> => {
    const { buffer } = await reading;
    return Buffer.concat([Buffer.from([pdu.readUInt8(0), buffer.length]), buffer]);
  };
  switch (pdu[0]) {
    case FUNCTION.readCoils:
      return read(client.readCoils(start, word));
    case FUNCTION.readDiscreteInputs:
      return read(client.readDiscreteInputs(start, word));
    case FUNCTION.readHoldingRegisters:
      return read(client.readHoldingRegisters(start, word));
    case FUNCTION.readInputRegisters:
      return read(client.readInputRegisters(start, word));
    case FUNCTION.writeSingleCoil:
      await client.writeCoil(start, word !== 0);
      break;
    case FUNCTION.writeSingleRegister:
      await client.writeRegister(start, word);
      break;
    case FUNCTION.writeMultipleCoils:
      await client.writeCoils(start, bits(pdu.subarray(6), word));
      break;
    default:
      await client.writeRegisters(start, pdu.subarray(6));
  }
  return pdu.subarray(0, 5);
}

interface Job {
  readonly timeoutMs: number;
  readonly unit: number;
  readonly pdu: Buffer;
  readonly settle: (reply: Reply) => void;
}

/** One open serial port and the queue of its line. */
class Line {
  readonly #client: SerialClient;
  readonly #urgent: Job[] = [];
  readonly #waiting: Job[] = [];
  readonly ended = new Signal();
  #busy = false;
  users = 0;

  constructor(client: SerialClient) {
    this.#client = client;
    client.on('close', () => this.end('the serial port was closed'));
    client.on('error', (error) => this.end(error?.message ?? 'the serial port failed'));
  }

  request(job: Job, urgent: boolean): void {
    (urgent ? this.#urgent : this.#waiting).push(job);
    this.#pump().catch((fault: unknown) => this.end(`a fault of this program: ${fault instanceof Error ? fault.message : String(fault)}`));
  }

  async #pump(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let job = this.#next(); job; job = this.#next()) job.settle(await this.#carryOut(job));
    } finally {
      this.#busy = false; // a line that is busy for ever would serve nobody
    }
  }

  #next(): Job | undefined {
    return this.#urgent.shift() ?? this.#waiting.shift();
  }

  async #carryOut(job: Job): Promise<Reply> {
    if (this.ended.reason !== undefined) return { ok: false, reason: 'lost', message: this.ended.reason };
    try {
      this.#client.setID(job.unit);
      this.#client.setTimeout(job.timeoutMs); // each module of the line has its own
      return { ok: true, pdu: await perform(this.#client, job.pdu) };
    } catch (error) {
      const { modbusCode, message } = error as { modbusCode?: number; message?: string };
      // An exception code means that the device answered; everything else that the library throws is silence.
      if (modbusCode) return { ok: true, pdu: Buffer.from([job.pdu.readUInt8(0) | EXCEPTION_FLAG, modbusCode]) };
      return { ok: false, reason: 'silent', message: message ?? 'no answer' };
    }
  }

  end(reason: string): void {
    if (this.ended.reason !== undefined) return;
    this.ended.raise(reason);
    this.#client.close(() => {});
  }
}

/** By path of the port: how it is open, and the line. */
const lines = new Map<string, { readonly framing: string; readonly opening: Promise<Line> }>();

async function openLine(endpoint: SerialEndpoint): Promise<Line> {
  // its types have the client as a function and not as a class
  const library = (await import('modbus-serial')) as unknown as { readonly default: new () => SerialClient };
  const client = new library.default();
  await client.connectRTUBuffered(endpoint.path, {
    baudRate: endpoint.baud,
    parity: endpoint.parity,
    stopBits: endpoint.stopBits,
    dataBits: 8,
  });
  return new Line(client);
}

/** @throws Error when the line is open with another baud rate, parity or number of stop bits: one wire has one framing. */
async function sharedLine(endpoint: SerialEndpoint): Promise<Line> {
  const { path, baud, parity, stopBits } = endpoint;
  const framing = `baud=${baud}&parity=${parity}&stop=${stopBits}`;
  const open = lines.get(path);
  if (open && open.framing !== framing) throw new Error(`the serial line ${path} is open for another module with ${open.framing}; this one says ${framing}`);
  if (open) return open.opening;
  const opening = openLine(endpoint);
  lines.set(path, { framing, opening });
  const forget = (): void => {
    if (lines.get(path)?.opening === opening) lines.delete(path);
  };
  opening.then((line) => line.ended.promise.then(forget), forget);
  return opening;
}

/** @throws Error when the port cannot be opened, or when this installation has no serial support. */
export async function connectRtu(endpoint: SerialEndpoint, timeoutMs: number): Promise<Transport> {
  const line = await sharedLine(endpoint);
  line.users += 1;
  const closed = new Signal();
  line.ended.promise.then(
    (reason) => closed.raise(reason),
    (fault: unknown) => closed.raise(String(fault)),
  );
  return {
    lost: closed.promise,
    request: (unit, pdu, urgent) => new Promise((settle) => line.request({ unit, pdu, timeoutMs, settle }, urgent)),
    close() {
      if (closed.reason !== undefined) return;
      closed.raise('the connection was closed here');
      line.users -= 1;
      if (line.users === 0) line.end('the last module of the line was closed');
    },
  };
}
