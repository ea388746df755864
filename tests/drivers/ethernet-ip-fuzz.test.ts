/**
 * Answers of an EtherNet/IP device that were damaged on their way, by a seed: nothing throws, nothing is kept without bound, and a value is Good
 * only where the frame that brought it was whole. The judge of that is written here, apart from the driver.
 */
import { Duplex } from 'node:stream';
import t from 'tap';
import { Device } from '../../runtime/io/ethernet-ip/device.js';
import { EthernetIpLink } from '../../runtime/io/ethernet-ip/link.js';
import { EnipSession } from '../../runtime/io/ethernet-ip/session.js';
import type { Point } from '../../runtime/io/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { collector } from './conformance.js';

/** `npm run long io` takes many more. */
const FRAMES = Number(process.env.IO_FRAMES ?? 1000);
const SEED = Number(process.env.IO_SEED ?? 20_260_131);
const SESSION = 0x1234;

/** Numbers from a seed, in [0, below). */
function numbersOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A wire in memory: what is written to it is answered by `reply`. */
class Wire extends Duplex {
  readonly reply: (request: Buffer) => readonly Buffer[];

  constructor(reply: (request: Buffer) => readonly Buffer[]) {
    super();
    this.reply = reply;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    for (const part of this.reply(chunk)) this.push(part);
    done();
  }
}

const NOBODY = { vendor: '', product: '', revision: '', serial: '' };
const SETTINGS = { retries: 0, timeoutMs: 60_000, route: Buffer.alloc(0), routeText: '', requestBytesMax: 504, replyBytesMax: 504 };

const POINTS: readonly Point[] = [
  { address: 'A#DINT', dataType: 'int' },
  { address: 'B#REAL', dataType: 'float' },
  { address: 'C#STRING', dataType: 'string' },
  { address: 'D#LINT', dataType: 'int' },
];

const text = Buffer.alloc(88);
text.writeInt32LE(5, 0);
text.write('Label', 4);
const ELEMENTS: readonly Point[] = Array.from({ length: 8 }, (_, place) => ({ address: `T[${place}]#DINT`, dataType: 'int' }));
const dint = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value, 0);
  return bytes;
};

/** Type and value of each point. */
const VALUES: readonly Buffer[] = [
  Buffer.from('c40087d61200', 'hex'),
  Buffer.from('ca0000005040', 'hex'),
  Buffer.concat([Buffer.from('a002ce0f', 'hex'), text]),
  Buffer.from('c500eb7e16820bef5fee', 'hex'),
];

/** A reply to a message of several services. */
function whole(values: readonly Buffer[]): Buffer {
  const replies = values.map((value) => Buffer.concat([Buffer.from([0xcc, 0, 0, 0]), value]));
  const head = Buffer.alloc(2 + 2 * replies.length);
  head.writeUInt16LE(replies.length, 0);
  let offset = head.length;
  replies.forEach((reply, place) => {
    head.writeUInt16LE(offset, 2 + 2 * place);
    offset += reply.length;
  });
  return Buffer.concat([Buffer.from([0x8a, 0, 0, 0]), head, ...replies]);
}

function framed(context: Buffer, message: Buffer): Buffer {
  const items = Buffer.from('0000000000000200000000 00b20000 00'.replaceAll(' ', ''), 'hex');
  items.writeUInt16LE(message.length, items.length - 2);
  const head = Buffer.alloc(24);
  head.writeUInt16LE(0x6f, 0);
  head.writeUInt16LE(items.length + message.length, 2);
  head.writeUInt32LE(SESSION, 4);
  context.copy(head, 12);
  return Buffer.concat([head, items, message]);
}

const opened = (context: Buffer): Buffer => {
  const frame = Buffer.alloc(28);
  frame.writeUInt16LE(0x65, 0);
  frame.writeUInt16LE(4, 2);
  frame.writeUInt32LE(SESSION, 4);
  context.copy(frame, 12);
  frame[24] = 1;
  return frame;
};

function damaged(frame: Buffer, draw: (below: number) => number): Buffer {
  const bytes = Buffer.from(frame);
  switch (draw(6)) {
    case 0:
      bytes.writeUInt8(bytes.readUInt8(draw(bytes.length)) ^ (1 << draw(8)), draw(bytes.length));
      return bytes;
    case 1:
      for (let count = draw(8) + 1; count > 0; count -= 1) bytes.writeUInt8(draw(256), draw(bytes.length));
      return bytes;
    case 2:
      return bytes.subarray(0, draw(bytes.length));
    case 3: {
      const at = draw(bytes.length);
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(Array.from({ length: draw(40) }, () => draw(256))), bytes.subarray(at)]);
    }
    case 4: {
      const [from, to] = [draw(bytes.length), draw(bytes.length)].sort((a, b) => a - b);
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    }
    default:
      bytes.writeUInt16LE(draw(0x1_0000), draw(bytes.length - 1));
      return bytes;
  }
}

/** The message of a frame around which everything is as it has to be. */
function messageIn(sent: Buffer, right: Buffer, service: number): Buffer | undefined {
  const frame = sent.length < 24 ? sent : sent.subarray(0, 24 + sent.readUInt16LE(2)); // what comes behind it is another frame
  const headOfMessage = 24 + 16;
  // the time-out of the interface (28, 29) says nothing in an answer
  const isOfUs = (at: number): boolean => at === 28 || at === 29 || frame[at] === right[at];
  if (frame.length < headOfMessage + 4 || frame.length !== 24 + frame.readUInt16LE(2)) return undefined;
  for (let at = 0; at < headOfMessage; at += 1) if (at !== 2 && at !== 3 && at !== 38 && at !== 39 && !isOfUs(at)) return undefined;
  const message = frame.subarray(headOfMessage);
  return frame.readUInt16LE(38) === message.length && message[0] === service && message[1] === 0 ? message : undefined;
}

/** The places whose value the frame brings whole: everything around it is as it has to be, and its length is that of its type. */
function wholePlaces(sent: Buffer, right: Buffer): Set<number> {
  const none = new Set<number>();
  const message = messageIn(sent, right, 0x8a);
  if (!message || (message[2] !== 0 && message[2] !== 0x1e)) return none;
  const data = message.subarray(4 + 2 * message.readUInt8(3));
  if (data.length < 10 || data.readUInt16LE(0) !== 4 || data.readUInt16LE(2) !== 10) return none;
  const starts = [0, 1, 2, 3].map((place) => data.readUInt16LE(2 + 2 * place));
  const found = new Set<number>();
  for (const [place, start] of starts.entries()) {
    const end = starts[place + 1] ?? data.length;
    if (end < start + 4 || end > data.length) return none;
    const reply = data.subarray(start, end);
    if (!(reply.readUInt8(0) & 0x80) || reply[1] !== 0 || reply.length < 4 + 2 * reply.readUInt8(3)) return none;
    const typed = reply.subarray(4 + 2 * reply.readUInt8(3));
    const value = VALUES[place] ?? Buffer.alloc(0);
    const typeBytes = place === 2 ? 4 : 2;
    if (reply[2] === 0 && typed.length === value.length && typed.compare(value, 0, typeBytes, 0, typeBytes) === 0) found.add(place);
  }
  return found;
}

/** Whether the frame brings eight DINT. */
function isWholeRange(sent: Buffer, right: Buffer): boolean {
  const message = messageIn(sent, right, 0xcc);
  const typed = message?.[2] === 0 ? message.subarray(4 + 2 * message.readUInt8(3)) : undefined;
  return typed?.length === 2 + 4 * ELEMENTS.length && typed.readUInt16LE(0) === 0xc4;
}

t.test(`${FRAMES} damaged answers: no crash, no Good value of a frame that is not whole, no buffer without bound (seed ${SEED})`, async (t) => {
  const draw = numbersOf(SEED);
  const message = whole(VALUES);
  let [good, bad, unanswered, wrong] = [0, 0, 0, 0];
  for (let round = 0; round < FRAMES; round += 1) {
    let sent: Buffer | undefined;
    let right: Buffer = Buffer.alloc(0);
    const wire: Wire = new Wire((request) => {
      const context = request.subarray(12, 20);
      if (request.readUInt16LE(0) === 0x65) return [opened(context)];
      if (request.readUInt16LE(0) !== 0x6f || sent) return [];
      right = framed(context, message);
      sent = damaged(right, draw);
      const cut = draw(4) === 0 ? draw(sent.length + 1) : sent.length;
      return [sent.subarray(0, cut), sent.subarray(cut)].filter((part) => part.length > 0);
    });
    const session = new EnipSession(wire, SETTINGS.timeoutMs, systemClock, 7);
    await session.register();
    const link = new EthernetIpLink(new Device(session, SETTINGS), NOBODY, systemClock);
    const got = collector(POINTS.length);
    let isOver = false;
    const reading = link.read(POINTS, got.sink).then(() => (isOver = true));
    for (let turn = 0; turn < 20 && !isOver; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    if (!isOver) unanswered += 1; // less than a frame has arrived, or what needs one more question
    await link.close();
    await reading;
    const may = wholePlaces(sent ?? Buffer.alloc(0), right);
    for (const [place, value] of got.values.entries()) {
      if (value === undefined) bad += 1;
      else if (may.has(place)) good += 1;
      else {
        wrong += 1;
        if (wrong < 5) t.fail(`round ${round}, place ${place}: ${value} of ${sent?.toString('hex')}`);
      }
      if (value === undefined && got.messages[place] === '') t.fail(`round ${round}, place ${place}: bad without a reason`);
    }
  }
  t.equal(wrong, 0);
  t.ok(good > FRAMES / 10 && bad > FRAMES && unanswered > 0, `${good} good, ${bad} bad, ${unanswered} unanswered`);
});

t.test(`${FRAMES} damaged answers of a range: no crash, and no Good value but of one that is whole`, async (t) => {
  const draw = numbersOf(SEED + 1);
  const alone = whole(ELEMENTS.map((_, place) => Buffer.concat([Buffer.from('c400', 'hex'), dint(place)])));
  const together = Buffer.concat([Buffer.from('cc000000c400', 'hex'), ...ELEMENTS.map((_, place) => dint(place))]);
  let [good, bad, wrong] = [0, 0, 0];
  for (let round = 0; round < FRAMES; round += 1) {
    let [asked, sent, right]: [number, Buffer, Buffer] = [0, Buffer.alloc(0), Buffer.alloc(0)];
    const wire: Wire = new Wire((request) => {
      const context = request.subarray(12, 20);
      if (request.readUInt16LE(0) === 0x65) return [opened(context)];
      asked += 1;
      if (asked === 1) return [framed(context, alone)];
      if (asked > 2 || request.readUInt16LE(0) !== 0x6f) return [];
      right = framed(context, together);
      sent = damaged(right, draw);
      return sent.length > 0 ? [sent] : [];
    });
    const enip = new EnipSession(wire, SETTINGS.timeoutMs, systemClock, 7);
    await enip.register();
    const link = new EthernetIpLink(new Device(enip, SETTINGS), NOBODY, systemClock);
    const first = collector(ELEMENTS.length);
    await link.read(ELEMENTS, first.sink);
    const got = collector(ELEMENTS.length);
    let isOver = false;
    const reading = link.read(ELEMENTS, got.sink).then(() => (isOver = true));
    for (let turn = 0; turn < 20 && !isOver; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await link.close();
    await reading;
    const isGood = got.values.filter((value) => value !== undefined).length;
    if (isGood > 0 && !isWholeRange(sent, right)) wrong += 1;
    if (isGood > 0) good += 1;
    else bad += 1;
    if (got.deliveries.some((count) => count !== 1) || (isGood === 0 && got.messages.includes(''))) t.fail(`round ${round}: ${got.deliveries.join()} ${got.messages.join()}`);
  }
  t.equal(wrong, 0);
  t.ok(good > FRAMES / 10 && bad > FRAMES / 10, `${good} good, ${bad} bad`);
});

t.test('a device that never ends is cut off', async (t) => {
  const wire = new Wire((request) => (request.readUInt16LE(0) === 0x65 ? [opened(request.subarray(12, 20))] : []));
  const session = new EnipSession(wire, 60_000, systemClock, 7);
  await session.register();
  const head = Buffer.alloc(24);
  head.writeUInt16LE(0x6f, 0);
  head.writeUInt16LE(0xffff, 2);
  wire.push(head);
  t.match(await session.lost, /announced a message of 65535 bytes/);
  t.equal(wire.destroyed, true);
});
