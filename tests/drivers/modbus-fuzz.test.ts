/**
 * G18: answers of a Modbus device that were changed on the way, from a seed: none ends the probe, none that is malformed becomes a value, and nothing grows.
 * The wire is a pair of streams in this process; which frames are well formed is judged here, by nothing of the driver.
 */
import { Duplex } from 'node:stream';
import type net from 'node:net';
import t from 'tap';
import { ModbusLink } from '../../runtime/io/modbus/link.js';
import { MbapClient } from '../../runtime/io/modbus/mbap-client.js';
import { RtuLine } from '../../runtime/io/modbus/rtu-line.js';
import type { Transport } from '../../runtime/io/modbus/transport.js';
import { WireRecord } from '../../runtime/io/modbus/wire-record.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { at } from '../support/at.js';
import { collector } from './conformance.js';
import { randomOf } from './random.js';

const FRAMES = Number(process.env.IO_FRAMES ?? 4000);
const SEED = Number(process.env.IO_SEED ?? 20_260_131);
const UNIT = 1;
const POINTS = [0, 1, 2].map((offset) => ({ address: `holding:${offset}`, dataType: 'int' as const }));
const VALUES = [4660, 22136, 39612];

/** A wire whose far end answers each request at once. */
class Wire extends Duplex {
  readonly #answer: (request: Buffer) => readonly Buffer[];

  constructor(answer: (request: Buffer) => readonly Buffer[]) {
    super();
    this.#answer = answer;
  }

  override _read(): void {}

  override _write(request: Buffer, _: BufferEncoding, done: () => void): void {
    done();
    for (const piece of this.#answer(Buffer.from(request))) if (!this.destroyed) this.push(piece);
    // then the far end hangs up, so that nobody waits for what was cut off
    setImmediate(() => this.destroy());
  }
}

function crcOf(bytes: Buffer): Buffer {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return Buffer.from([crc & 0xff, crc >> 8]);
}

interface Framing {
  readonly name: string;
  /** A true answer to the request. */
  truth(request: Buffer): Buffer;
  /** Register bytes of the first frame in the bytes, when it is a whole and true-formed answer to the request. */
  data(request: Buffer, bytes: Buffer): Buffer | undefined;
  transport(wire: Duplex): Transport;
}

const registers = (): Buffer => {
  const bytes = Buffer.alloc(2 * VALUES.length);
  for (const [place, value] of VALUES.entries()) bytes.writeUInt16BE(value, 2 * place);
  return bytes;
};

const PDU = (): Buffer => Buffer.concat([Buffer.from([3, 2 * VALUES.length]), registers()]);

/** Register bytes of a PDU that answers; undefined: it does not. */
function dataOf(pdu: Buffer): Buffer | undefined {
  return pdu[0] === 3 && pdu[1] === 2 * VALUES.length && pdu.length === 2 + 2 * VALUES.length ? pdu.subarray(2) : undefined;
}

const FRAMINGS: readonly Framing[] = [
  {
    name: 'Modbus TCP',
    truth: (request) => Buffer.concat([request.subarray(0, 4), Buffer.from([0, PDU().length + 1, UNIT]), PDU()]),
    data(request, bytes) {
      if (bytes.length < 7 || bytes.readUInt16BE(0) !== request.readUInt16BE(0) || bytes.readUInt16BE(2) !== 0 || bytes[6] !== UNIT) return undefined;
      const end = 6 + bytes.readUInt16BE(4);
      return bytes.length < end ? undefined : dataOf(bytes.subarray(7, end));
    },
    // of a socket the client uses what each duplex stream has
    transport: (wire) => new MbapClient(wire as net.Socket, 1000, systemClock),
  },
  ...[true, false].map(
    (endsOnGarbage): Framing => ({
      name: endsOnGarbage ? 'RTU over TCP' : 'RTU on a serial line',
      truth: () => {
        const frame = Buffer.concat([Buffer.from([UNIT]), PDU()]);
        return Buffer.concat([frame, crcOf(frame)]);
      },
      data(_, bytes) {
        const end = 3 + 2 * VALUES.length;
        if (bytes.length < end + 2 || bytes[0] !== UNIT || !crcOf(bytes.subarray(0, end)).equals(bytes.subarray(end, end + 2))) return undefined;
        return dataOf(bytes.subarray(1, end));
      },
      transport(wire) {
        const line = new RtuLine(wire, { gapMs: 0, endsOnGarbage, close: () => void wire.destroy() }, systemClock);
        const record = new WireRecord();
        return {
          lost: line.ended.promise,
          lastExchange: undefined,
          request: (unit, pdu, isUrgent) => new Promise((settle) => line.request({ unit, pdu, timeoutMs: 1000, isUrgent, record, settle })),
          close: () => line.end('closed'),
        };
      },
    }),
  ),
];

type Change = (bytes: Buffer, random: () => number) => Buffer;
const below = (random: () => number, most: number): number => Math.floor(random() * most);
const noise = (random: () => number, most: number): Buffer => Buffer.from(Array.from({ length: below(random, most) }, () => below(random, 256)));

const CHANGES: readonly Change[] = [
  (bytes) => bytes,
  (bytes, random) => {
    const place = below(random, bytes.length);
    bytes[place] = (bytes[place] ?? 0) ^ (1 << below(random, 8));
    return bytes;
  },
  (bytes, random) => {
    bytes[below(random, bytes.length)] = below(random, 256);
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  (bytes, random) => Buffer.concat([bytes, noise(random, 600)]),
  (bytes, random) => Buffer.concat([noise(random, 20), bytes]),
  (bytes) => Buffer.concat([bytes, bytes]),
  (_, random) => noise(random, 3000),
  (bytes, random) => {
    const place = below(random, bytes.length);
    return Buffer.concat([bytes.subarray(0, place), noise(random, 4), bytes.subarray(place + below(random, 4))]);
  },
];

/** The bytes as they arrive, in pieces of any size. */
function pieces(bytes: Buffer, random: () => number): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let place = 0; place < bytes.length; ) {
    const length = random() < 0.5 ? bytes.length : 1 + below(random, 6);
    found.push(bytes.subarray(place, place + length));
    place += length;
  }
  return found;
}

for (const framing of FRAMINGS) {
  const frames = framing === FRAMINGS[0] ? FRAMES : FRAMES / 4;
  t.test(
    `G18: ${frames} answers of ${framing.name} changed on the way (seed ${SEED}): no value of a malformed frame, nothing thrown, nothing kept`,
    { timeout: 3_600_000 },
    async (t) => {
      const random = randomOf(SEED);
      const problems: string[] = [];
      let [good, malformed] = [0, 0];
      for (let round = 0; round < frames && problems.length < 5; round += 1) {
        let data: Buffer | undefined;
        let said = '';
        const wire = new Wire((request) => {
          let bytes = framing.truth(request);
          for (let changes = below(random, 3); changes >= 0; changes -= 1) bytes = Buffer.from(at(CHANGES, below(random, CHANGES.length))(bytes, random));
          data = framing.data(request, bytes);
          said = bytes.toString('hex');
          return pieces(bytes, random);
        });
        const link = new ModbusLink(framing.transport(wire), { unitId: UNIT, maxRegisters: 125, maxBits: 2000, maxGap: 8, retries: 0, writeMode: 'auto', byteOrder: 'be' });
        const got = collector(POINTS.length);
        await link.read(POINTS, got.sink);
        const wanted = data && POINTS.map((_, place) => data?.readUInt16BE(2 * place));
        if (wanted) good += 1;
        else malformed += 1;
        if (got.deliveries.some((times) => times < 1)) problems.push(`round ${round}: a point was not delivered: ${said}`);
        for (const [place, value] of got.values.entries()) {
          if (value !== undefined && value !== wanted?.[place]) problems.push(`round ${round}: point ${place} is ${value}, which ${said.slice(0, 200)} does not say`);
        }
        await link.close();
      }
      t.same(problems, []);
      t.ok(good > frames / 50 && malformed > frames / 3, `${good} well formed, ${malformed} malformed`);
    },
  );
}
