/** The Modbus driver against a device (pymodbus, a separate process) and a wire that behave badly. */
import t, { type Test } from 'tap';
import type { ProbeChannel, ProbeModule } from '../../runtime/port.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { freePort } from '../support/appliance-process.js';
import { conformanceOfFaults, type DeviceHandle } from './conformance-faults.js';
import { ModbusPeer } from './modbus-peer.js';

/** A device of a test that pulls its plug; the port is nobody's while it is pulled. */
async function device(t: Test): Promise<DeviceHandle> {
  let peer = await ModbusPeer.start(await freePort());
  t.teardown(() => peer.kill());
  const { port } = peer;
  return {
    port,
    kill: () => peer.kill(),
    async restart() {
      peer = await ModbusPeer.start(port);
    },
  };
}

function module(name: string, port: number, channels: readonly ProbeChannel[], options: ProbeModule['options'] = {}): ProbeModule {
  return {
    site: 'north',
    module: name,
    protocol: 'modbus',
    address: `127.0.0.1:${port}`,
    options: { pollInterval: '50ms', timeout: '1s', retries: 1, ...options },
    channels,
    image: new ProcessImage(channels.length).buffer,
  };
}

/** A reply with one byte changed; of the first frame in it. */
const changed =
  (at: number, by: number) =>
  (reply: Buffer): Buffer => {
    reply[at] = ((reply[at] ?? 0) + by) & 0xff;
    return reply;
  };

/** Of function 6, in whole frames: the driver sends each by itself. */
function valuesWritten(request: Buffer): number[] {
  const values: number[] = [];
  for (let at = 0; at + FUNCTION_AT < request.length; at += 6 + request.readUInt16BE(at + 4)) if (request[at + FUNCTION_AT] === 6) values.push(request.readUInt16BE(at + 10));
  return values;
}

const FUNCTION_AT = 7;
const BYTE_COUNT_AT = 8;

conformanceOfFaults(t, () => ({
  module,
  device,
  inputs: [
    { row: ['a', 'holding:11', 'int'], value: 65000 },
    { row: ['b', 'input:12:int32', 'int'], value: -123456789 },
    { row: ['c', 'holding:24:float32', 'float'], value: 3.25 },
  ],
  output: { row: ['out', 'holding:130', 'int'], shows: ['echo', 'holding:130', 'int'] },
  missing: ['hole', 'holding:302', 'int'],
  // every third one: more than fit one request, and with gaps
  many: Array.from({ length: 66 }, (_, place) => [`m${place}`, `holding:${place * 3}`, 'int'] as const),
  lies: [
    { what: 'another transaction', of: changed(1, 77) },
    { what: 'another protocol', of: changed(2, 1) },
    { what: 'another unit', of: changed(6, 1) },
    { what: 'another function', of: changed(FUNCTION_AT, 1) },
    { what: 'another byte count', of: changed(BYTE_COUNT_AT, 2) },
    { what: 'a longer frame than it sends', of: changed(5, 4) },
    { what: 'a shorter frame than it sends', of: changed(5, 0x100 - 2) },
    { what: 'a frame cut off, and then silence', of: (reply) => reply.subarray(0, 8) },
    { what: 'bytes that are none of the protocol', of: () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') },
    {
      what: 'an exception without code',
      of: (reply) => Buffer.concat([reply.subarray(0, 4), Buffer.from([0, 2]), reply.subarray(6, 7), Buffer.from([(reply[FUNCTION_AT] ?? 0) | 0x80])]),
    },
  ],
  pulls: Number(process.env.IO_PULLS ?? 100),
  faults: Number(process.env.IO_FAULTS ?? 40),
  written: valuesWritten,
  seed: Number(process.env.IO_SEED ?? 20_260_131),
}));
