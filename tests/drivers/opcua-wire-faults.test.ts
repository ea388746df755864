/** The OPC UA driver against a server (node-opcua's, a separate process) and a wire that behave badly, as every driver is tried. */
import t, { type Test } from 'tap';
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { freePort } from '../support/appliance-process.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { Reader } from '../support/opcua-encoding.js';
import { opcuaModule } from '../support/opcua-module.js';
import { ownFolder } from '../support/own-folder.js';
import { conformanceOfFaults, type DeviceHandle } from './conformance-faults.js';

const folder = ownFolder(t);
const node = (name: string): string => `nsu=${PLANT_NAMESPACE};s=${name}`;
const MANY = 120;

/** For what is done over the wire alone. */
const shared = await OpcUaServer.start({ folder: `${folder}/server`, many: MANY, clockMs: 50 });
t.teardown(() => shared.kill());

/** A device whose plug is pulled; the port is nobody's while it is pulled. */
async function ownDevice(t: Test): Promise<DeviceHandle> {
  const settings = { folder: `${folder}/server`, port: await freePort(), clockMs: 50 };
  let server = await OpcUaServer.start(settings);
  t.teardown(() => server.kill());
  return {
    port: settings.port,
    kill: () => server.kill(),
    async restart() {
      server = await OpcUaServer.start(settings);
    },
  };
}

function module(name: string, port: number, channels: readonly ProbeChannel[], options: ProbeModule['options'] = {}): ProbeModule {
  return opcuaModule(
    `opc.tcp://127.0.0.1:${port}/plant`,
    `${folder}/box`,
    [],
    { timeout: '1s', ...options },
    { module: name, channels, image: new ProcessImage(channels.length).buffer },
  );
}

/** Of a message (OPC 10000-6, 7.1.2.2 and 5.2.2.9): where its length and the type of its body stand. */
const LENGTH_AT = 4;
const TYPE_AT = 26;
/** DataValue with a value and nothing else (OPC 10000-6, 5.2.2.17), and the type of the output. */
const VALUE_ONLY = 1;
const INT16 = 4;

/** A reply with one byte changed; what is too short for it is garbage. */
const changed =
  (at: number, by: number) =>
  (reply: Buffer): Buffer => {
    reply[at] = ((reply[at] ?? 0) + by) & 0xff;
    return reply;
  };

const WRITE_REQUEST = 673;
/** From the type of the body to the first WriteValue, where the request header ends (OPC 10000-4, 5.10.4 and 7.33). */
function atWriteValues(message: Buffer): Reader {
  const reader = new Reader(message, TYPE_AT - 2);
  reader.node(); // type
  reader.node(); // who is signed in
  reader.skip(16); // time, handle, diagnostics
  reader.text(); // audit entry
  return reader.skip(4).extension();
}

/** Whole messages one behind the other: a request of ours fits one segment of the loopback. */
function messagesOf(piece: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + LENGTH_AT + 4 <= piece.length; at += piece.readUInt32LE(at + LENGTH_AT)) messages.push(piece.subarray(at, at + piece.readUInt32LE(at + LENGTH_AT)));
  return messages;
}

/** Values of Int16 that write requests carry. */
function valuesWritten(piece: Buffer): number[] {
  return messagesOf(piece)
    .filter((message) => message.toString('latin1', 0, 3) === 'MSG' && message.readUInt16LE(TYPE_AT) === WRITE_REQUEST)
    .flatMap((message) => {
      const reader = atWriteValues(message);
      return reader.array(() => {
        reader.node();
        reader.skip(4); // attribute
        reader.text(); // index range
        const [mask, type] = [reader.u8(), reader.u8()];
        if (mask !== VALUE_ONLY || type !== INT16) throw new Error(`a value of type ${type} with mask ${mask}: only Int16 without a time is written here`);
        return reader.i16();
      });
    });
}

/** Polls go the way of every driver: their turn is the long run. */
const MODES = (process.env.IO_MODES ?? (process.env.IO_PULLS === undefined ? 'subscribe' : 'subscribe,poll')).split(',');

for (const mode of MODES)
  t.test(`mode ${mode}`, async (t) => {
    conformanceOfFaults(t, () => ({
      // of 10 s: the time that a first sample takes
      module: (name, port, channels, options) => module(name, port, channels, { mode, publishingInterval: publishingOf(options?.pollInterval), ...options }),
      device: async (t) => (isPulled(t) ? ownDevice(t) : { port: shared.port, kill: () => Promise.resolve(), restart: () => Promise.resolve() }),
      inputs: [
        { row: ['a', node('Int32'), 'int'], value: -70_000 },
        { row: ['b', node('UInt32'), 'int'], value: 4_000_000_000 },
        { row: ['c', node('Double'), 'float'], value: 21.25 },
      ],
      output: { row: ['out', node('Int16'), 'int'], shows: ['echo', node('Int16'), 'int'] },
      missing: ['hole', node('Nowhere'), 'int'],
      many: Array.from({ length: MANY }, (_, place) => [`m${place}`, node(`Many${place}`), 'float'] as const),
      lies: [
        // what is wrong in the headers of a message is told by opcua-lies.test.ts
        { what: 'another type of answer', of: changed(TYPE_AT, 3) },
        { what: 'a longer message than it sends', of: changed(LENGTH_AT, 4) },
        { what: 'a shorter message than it sends', of: changed(LENGTH_AT, 0x100 - 5) },
        { what: 'a message cut off, and then silence', of: (reply) => reply.subarray(0, 20) },
        { what: 'bytes that are none of the protocol', of: () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') },
      ],
      pulls: Number(process.env.IO_PULLS ?? 100),
      faults: Number(process.env.IO_FAULTS ?? 8),
      timeoutMs: 600,
      written: valuesWritten,
      seed: Number(process.env.IO_SEED ?? 20_260_131),
    }));
  });

const publishingOf = (pollInterval: unknown): string => (pollInterval === '10s' ? '2s' : String(pollInterval ?? '50ms'));

/** Tests that pull the plug of the device itself, among other faults or alone. */
function isPulled({ name }: Test): boolean {
  return /plug|faults of every kind/.test(name);
}
