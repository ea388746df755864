/**
 * Modbus RTU over a serial port, and over TCP, as serial device servers carry it. Modules of one serial port share its line; over TCP each module has a connection of its own.
 */
import type { Clock } from '../../vocabulary/clock.js';
import { Signal } from '../signal.js';
import type { ModbusEndpoint } from './endpoint.js';
import { connectSocket } from './mbap-client.js';
import { LateAnswers, RtuLine } from './rtu-line.js';
import { openSerialPort } from './serial-port.js';
import type { Transport } from './transport.js';
import { WireRecord } from './wire-record.js';

export type SerialEndpoint = Extract<ModbusEndpoint, { kind: 'rtu' }>;

/** By path of the port: how it is open, the line, and how many modules are on it. */
interface SharedLine {
  readonly framing: string;
  readonly opening: Promise<RtuLine>;
  users: number;
}

const lines = new Map<string, SharedLine>();
/** By path: a unit that was asked answers the wire, whoever has it open by then. */
const lateAnswers = new Map<string, LateAnswers>();
/** By path: ports that were given up and are not free yet. */
const closing = new Map<string, Promise<void>>();

const CHARACTER_BITS = 11; // start, 8 data, parity or second stop, stop
const FAST_BAUD = 19_200;
const FAST_GAP_MS = 1.75; // serial line guide, 2.5.1.1: fixed above 19200 baud

/** Silence of 3.5 characters between frames. */
export function gapMs(baud: number): number {
  return baud > FAST_BAUD ? FAST_GAP_MS : (3.5 * CHARACTER_BITS * 1000) / baud;
}

async function openLine(endpoint: SerialEndpoint, clock: Clock): Promise<RtuLine> {
  await closing.get(endpoint.path);
  const port = await openSerialPort(endpoint);
  const close = (): void => void closing.set(endpoint.path, port.close());
  const late = lateAnswers.get(endpoint.path) ?? new LateAnswers();
  lateAnswers.set(endpoint.path, late);
  return new RtuLine(port.stream, { gapMs: gapMs(endpoint.baud), endsOnGarbage: false, close }, clock, late);
}

/** @throws Error when the line is open with another baud rate, parity or number of stop bits: one wire has one framing. */
function sharedLine(endpoint: SerialEndpoint, clock: Clock): SharedLine {
  const { path, baud, parity, stopBits } = endpoint;
  const framing = `baud=${baud}&parity=${parity}&stop=${stopBits}`;
  const open = lines.get(path);
  if (open && open.framing !== framing) throw new Error(`the serial line ${path} is open for another module with ${open.framing}; this one says ${framing}`);
  if (open) return open;
  const opened: SharedLine = { framing, opening: openLine(endpoint, clock), users: 0 };
  lines.set(path, opened);
  const forget = (): void => {
    if (lines.get(path) === opened) lines.delete(path);
  };
  opened.opening.then((line) => line.ended.promise.then(forget), forget);
  return opened;
}

/** A module on a line; `leave` is called once, when it does not need the line any more. */
function onLine(line: RtuLine, timeoutMs: number, leave: () => void): Transport {
  const closed = new Signal();
  const record = new WireRecord();
  line.timeoutMsMax = Math.max(line.timeoutMsMax, timeoutMs);
  line.ended.promise.then(
    (reason) => closed.raise(reason),
    (fault: unknown) => closed.raise(String(fault)),
  );
  return {
    lost: closed.promise,
    get patienceMs() {
      return timeoutMs + line.timeoutMsMax;
    },
    get lastExchange() {
      return record.last;
    },
    request: (unit, pdu, isUrgent) =>
      new Promise((settle) => {
        if (closed.reason === undefined) line.request({ unit, pdu, timeoutMs, isUrgent, record, settle });
        else settle({ ok: false, reason: 'lost', message: closed.reason });
      }),
    close() {
      if (closed.reason !== undefined) return;
      closed.raise('the connection was closed here');
      line.withdraw(record, 'the connection was closed here');
      leave();
    },
  };
}

/** @throws Error when the port cannot be opened. */
export async function connectRtu(endpoint: SerialEndpoint, timeoutMs: number, clock: Clock): Promise<Transport> {
  const shared = sharedLine(endpoint, clock);
  shared.users += 1;
  let line: RtuLine;
  try {
    line = await shared.opening;
  } catch (error) {
    shared.users -= 1;
    throw error;
  }
  return onLine(line, timeoutMs, () => {
    shared.users -= 1;
    if (shared.users === 0) line.end('the connection was closed here');
  });
}

/** @throws Error when the device server does not accept a connection within its time-out. */
export async function connectRtuOverTcp(target: { readonly host: string; readonly port: number; readonly timeoutMs: number }, clock: Clock): Promise<Transport> {
  const socket = await connectSocket(target, clock);
  const line = new RtuLine(socket, { gapMs: 0, endsOnGarbage: true, close: () => void socket.destroy() }, clock);
  return onLine(line, target.timeoutMs, () => line.end('the connection was closed here'));
}
