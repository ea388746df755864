/**
 * An EtherNet/IP controller as a process of its own, for tests: encapsulation, sessions, Unconnected Send, Forward Open (CIP Volume 2, chapter 2;
 * Volume 1, chapter 3). It can misbehave on demand. It shares no code with the driver, but it was written by the same people from the same public
 * texts: that driver and device agree says no more than that we read them the same way twice.
 *
 * `node ethernet-ip-device.js '{"port":0,"slot":0}'`, with a channel to its parent: the parent sends `Order`s, each is answered.
 */
import net from 'node:net';
import { Services } from './ethernet-ip-services.js';
import { TagMemory } from './ethernet-ip-tags.js';
import { leading } from './at.js';

/** What it does to its next answers. */
type Mode = 'right' | 'silent' | 'slow' | 'half' | 'context' | 'session' | 'length' | 'garbage' | 'reset' | 'service' | 'twice' | 'endless';

interface Given {
  readonly port: number;
  /** -1: it has no slots, and takes messages as they are. */
  readonly slot: number;
  readonly replyMax: number;
  readonly hasMultiple: boolean;
  readonly hasReadModifyWrite: boolean;
  readonly hasSymbolAccess: boolean;
  readonly hasIdentity: boolean;
  readonly hasListIdentity: boolean;
  readonly connectionsMax: number;
  /** Most bytes of a connection; a large Forward Open is known where it is more than 511. */
  readonly connectionBytesMax: number;
  readonly many: number;
}

type Order =
  | { readonly mode: Mode; readonly slowMs?: number }
  | { readonly count: true }
  /** From now on: how the messages that ask for the tag come in time. */
  | { readonly watch: string; readonly periodMs: number }
  /** The program of the device gives the tag one value after the other, before each of so many answers. */
  | { readonly flicker: { readonly path: readonly (string | number)[]; readonly values: readonly string[]; readonly answers: number } }
  /** Another program is loaded, in which the tag is another one. */
  | { readonly become: { readonly name: string; readonly type: number; readonly dimensions: readonly number[]; readonly hex: string } }
  | { readonly value: { readonly path: readonly (string | number)[]; readonly hex: string } };

interface Opened {
  /** The address the originator wants on our answers. */
  readonly targetToOriginator: number;
  /** Serial number, vendor and serial number of the originator: what a connection is closed by. */
  readonly identity: Buffer;
  /** Of a message with its sequence. */
  readonly bytes: number;
}

const [, , text = '{}'] = leading(process.argv, 3);
const given: Given = {
  port: 0,
  slot: 0,
  replyMax: 504,
  hasMultiple: true,
  hasReadModifyWrite: true,
  hasSymbolAccess: true,
  hasIdentity: true,
  hasListIdentity: true,
  connectionsMax: 8,
  connectionBytesMax: 4002,
  many: 1000,
  ...(JSON.parse(text) as Partial<Given>),
};
const memory = new TagMemory(given.many);
const services = new Services(memory, { ...given, name: '1756-L83E of a test' });
const connections = new Map<number, Opened>();
let mode: Mode = 'right';
let slowMs = 0;
let nextNumber = 1;
let messages = 0;
let sessionsOpen = 0;
let flicker: Extract<Order, { flicker: object }>['flicker'] | undefined;
let flickered = 0;
const watched = { name: Buffer.alloc(0), periodMs: 0, lastMs: 0, polls: 0, late: 0, gapMsMax: 0 };

/** Late is a poll that begins half a period after it was due. */
function watch(message: Buffer): void {
  if (watched.name.length === 0 || message.indexOf(watched.name) < 0) return;
  const nowMs = performance.now();
  const gapMs = nowMs - watched.lastMs;
  if (watched.lastMs > 0) {
    watched.polls += 1;
    watched.gapMsMax = Math.max(watched.gapMsMax, gapMs);
    if (gapMs > 1.5 * watched.periodMs) watched.late += 1;
  }
  watched.lastMs = nowMs;
}

function put(path: readonly (string | number)[], hex: string): void {
  const place = memory.place(path);
  if (typeof place === 'number') throw new Error(`no tag ${path.join('.')}`);
  Buffer.from(hex, 'hex').copy(place.data, place.offset);
}

function runProgram(): void {
  if (!flicker || flickered >= flicker.answers) return;
  put(flicker.path, flicker.values[flickered % flicker.values.length] ?? '');
  flickered += 1;
}

/** What a message router of the communication module answers that nothing is asked of behind it. */
const failure = (service: number, status: number, ...extended: readonly number[]): Buffer =>
  Buffer.from([service | 0x80, 0, status, extended.length, ...extended.flatMap((word) => [word & 0xff, word >> 8])]);

function isRouteHere(route: Buffer): boolean {
  return given.slot >= 0 ? route.length === 2 && route[0] === 1 && route[1] === given.slot : route.length === 0;
}

function unconnectedSend(data: Buffer): Buffer {
  if (given.slot < 0) return Buffer.from([0xd2, 0, 0x08, 0]);
  const bytes = data.readUInt16LE(2);
  const routeAt = 4 + bytes + (bytes % 2);
  const route = data.subarray(routeAt + 2, routeAt + 2 + 2 * data.readUInt8(routeAt));
  if (!isRouteHere(route)) return failure(0x52, 0x01, route[0] === 1 ? 0x0312 : 0x0311);
  return services.answer(data.subarray(4, 4 + bytes));
}

function forwardOpen(data: Buffer, isLarge: boolean): Buffer {
  const service = isLarge ? 0x5b : 0x54;
  const pathAt = isLarge ? 39 : 35;
  const path = data.subarray(pathAt + 1, pathAt + 1 + 2 * data.readUInt8(pathAt));
  if (!isRouteHere(path.subarray(0, path.length - 4))) return failure(service, 0x01, 0x0312);
  if (isLarge && given.connectionBytesMax < 512) return failure(service, 0x08);
  const parameters = isLarge ? data.readUInt32LE(26) : data.readUInt16LE(26);
  const bytes = parameters & (isLarge ? 0xffff : 0x1ff);
  if (bytes > given.connectionBytesMax) return failure(service, 0x01, 0x0109, given.connectionBytesMax);
  if (connections.size >= given.connectionsMax) return failure(service, 0x01, 0x0113);
  const own = 0x1000 + nextNumber;
  nextNumber += 1;
  connections.set(own, { targetToOriginator: data.readUInt32LE(6), identity: Buffer.from(data.subarray(10, 18)), bytes });
  const answer = Buffer.alloc(26);
  answer.writeUInt32LE(own, 0);
  data.copy(answer, 4, 6, 18); // T->O address, serial, vendor, serial of the originator
  data.copy(answer, 16, 22, 26);
  data.copy(answer, 20, 22, 26);
  return Buffer.concat([Buffer.from([service | 0x80, 0, 0, 0]), answer]);
}

function forwardClose(data: Buffer): Buffer {
  const [own] = [...connections].find(([, { identity }]) => identity.equals(data.subarray(2, 10))) ?? [];
  if (own === undefined) return failure(0x4e, 0x01, 0x0107);
  connections.delete(own);
  return Buffer.concat([Buffer.from([0xce, 0, 0, 0]), data.subarray(2, 10), Buffer.alloc(2)]);
}

function unconnected(request: Buffer): Buffer {
  const service = request.readUInt8(0);
  const pathBytes = 2 * request.readUInt8(1);
  const path = request.subarray(2, 2 + pathBytes);
  const data = request.subarray(2 + pathBytes);
  if (path.equals(Buffer.from([0x20, 0x06, 0x24, 0x01]))) {
    if (service === 0x52) return unconnectedSend(data);
    if (service === 0x54 || service === 0x5b) return forwardOpen(data, service === 0x5b);
    return service === 0x4e ? forwardClose(data) : Buffer.from([service | 0x80, 0, 0x08, 0]);
  }
  if (given.slot >= 0 && path[0] === 0x91) return Buffer.from([service | 0x80, 0, 0x04, 0]); // the tags are not those of the module in front
  return services.answer(request);
}

function frame(command: number, session: number, context: Buffer, data: Buffer, status = 0): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt16LE(command, 0);
  head.writeUInt16LE(data.length, 2);
  head.writeUInt32LE(session, 4);
  head.writeUInt32LE(status, 8);
  context.copy(head, 12);
  return Buffer.concat([head, data]);
}

function items(addressType: number, address: Buffer, dataType: number, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(2, 6);
  const heads = [Buffer.alloc(4), Buffer.alloc(4)] as const;
  heads[0].writeUInt16LE(addressType, 0);
  heads[0].writeUInt16LE(address.length, 2);
  heads[1].writeUInt16LE(dataType, 0);
  heads[1].writeUInt16LE(data.length, 2);
  return Buffer.concat([head, heads[0], address, heads[1], data]);
}

/**
 * List Identity (CIP Volume 2, 2-4.2.3): one item of type 0x0C with the version of the encapsulation, the socket address (big-endian, as in C), the
 * identity of the device that answers at it, and its state. Asked for over TCP; not over UDP, which is for whoever does not know the address.
 */
function listIdentity(socket: net.Socket): Buffer {
  const address = Buffer.alloc(18);
  address.writeUInt16LE(1, 0);
  address.writeUInt16BE(2, 2); // AF_INET
  address.writeUInt16BE(socket.localPort ?? 0, 4);
  (socket.localAddress ?? '').split('.').forEach((part, at) => void (address[6 + at] = Number(part)));
  const item = Buffer.concat([address, services.identity(given.slot >= 0 ? '1756-EN2TR of a test' : undefined), Buffer.from([3])]); // operational
  const head = Buffer.alloc(6);
  head.writeUInt16LE(1, 0);
  head.writeUInt16LE(0x0c, 2);
  head.writeUInt16LE(item.length, 4);
  return Buffer.concat([head, item]);
}

/** The items of a request: address and data. */
function itemsOf(data: Buffer): readonly [address: Buffer, data: Buffer] {
  const addressBytes = data.readUInt16LE(10);
  const at = 12 + addressBytes;
  return [data.subarray(12, at), data.subarray(at + 4, at + 4 + data.readUInt16LE(at + 2))];
}

function sabotaged(socket: net.Socket, answer: Buffer): void {
  switch (mode) {
    case 'right':
      socket.write(answer);
      return;
    case 'silent':
      return;
    case 'slow':
      setTimeout(() => socket.destroyed || socket.write(answer), slowMs);
      return;
    case 'half':
      socket.write(answer.subarray(0, answer.length >> 1));
      return;
    case 'context':
      answer.writeUInt8(answer.readUInt8(12) ^ 0x55, 12);
      socket.write(answer);
      return;
    case 'session':
      answer.writeUInt32LE(answer.readUInt32LE(4) + 1, 4);
      socket.write(answer);
      return;
    case 'length':
      answer.writeUInt16LE(answer.readUInt16LE(2) - 3, 2);
      socket.write(answer);
      return;
    case 'garbage':
      socket.write(Buffer.alloc(200, 0xa5));
      return;
    case 'service':
      answer.writeUInt8(0xcd, answer.readUInt16LE(0) === 0x70 ? 46 : 40);
      socket.write(answer);
      return;
    case 'twice':
      socket.write(Buffer.concat([answer, answer]));
      return;
    case 'endless': {
      const head = Buffer.from(answer.subarray(0, 24));
      head.writeUInt16LE(0xffff, 2);
      socket.write(Buffer.concat([head, Buffer.alloc(4096)]));
      return;
    }
    case 'reset':
      socket.resetAndDestroy();
  }
}

function serve(socket: net.Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  let session = 0;
  const handle = (bytes: Buffer): void => {
    const command = bytes.readUInt16LE(0);
    const context = bytes.subarray(12, 20);
    const data = bytes.subarray(24);
    if (command === 0x65) {
      session = 0x5000 + nextNumber;
      nextNumber += 1;
      sessionsOpen += 1;
      socket.write(frame(command, session, context, Buffer.from([1, 0, 0, 0])));
      return;
    }
    if (command === 0x66) {
      socket.end();
      return;
    }
    if (command === 0x63) {
      socket.write(given.hasListIdentity ? frame(command, 0, context, listIdentity(socket)) : frame(command, 0, context, Buffer.alloc(0), 0x01));
      return;
    }
    if (session === 0 || bytes.readUInt32LE(4) !== session) {
      socket.write(frame(command, bytes.readUInt32LE(4), context, Buffer.alloc(0), 0x64));
      return;
    }
    messages += 1;
    watch(data);
    runProgram();
    const [address, message] = itemsOf(data);
    if (command === 0x6f) {
      sabotaged(socket, frame(command, session, context, items(0, Buffer.alloc(0), 0xb2, unconnected(message))));
      return;
    }
    const opened = connections.get(address.readUInt32LE(0));
    if (!opened || message.length > opened.bytes) return; // a message of a connection that is not, or too long for it, is dropped
    const own = Buffer.alloc(4);
    own.writeUInt32LE(opened.targetToOriginator, 0);
    const reply = Buffer.concat([message.subarray(0, 2), services.answer(message.subarray(2), Math.min(given.replyMax, opened.bytes - 2))]);
    sabotaged(socket, frame(command, session, Buffer.alloc(8), items(0xa1, own, 0xb1, reply)));
  };
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => {
    if (session !== 0) sessionsOpen -= 1;
  });
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 24 && rest.length >= 24 + rest.readUInt16LE(2)) {
      const bytes = rest.subarray(0, 24 + rest.readUInt16LE(2));
      rest = rest.subarray(bytes.length);
      handle(bytes);
    }
  });
}

const server = net.createServer(serve);
server.listen(given.port, '127.0.0.1', () => process.send?.({ port: (server.address() as net.AddressInfo).port }));

process.on('message', (order: Order) => {
  if ('mode' in order) {
    mode = order.mode;
    slowMs = order.slowMs ?? 0;
  } else if ('value' in order) {
    put(order.value.path, order.value.hex);
  } else if ('become' in order) {
    const { name, type, dimensions, hex } = order.become;
    memory.remove('', name);
    Buffer.from(hex, 'hex').copy(memory.add('', name, type, dimensions).data);
  } else if ('watch' in order) {
    Object.assign(watched, { name: Buffer.from(order.watch, 'latin1'), periodMs: order.periodMs, lastMs: 0, polls: 0, late: 0, gapMsMax: 0 });
  } else if ('flicker' in order) {
    [flicker, flickered] = [order.flicker, 0];
  }
  const { polls, late, gapMsMax } = watched;
  process.send?.({
    messages,
    sessionsOpen,
    connections: connections.size,
    services: [...services.counts],
    bytes: [...connections.values()].map(({ bytes }) => bytes),
    polls,
    late,
    gapMsMax,
  });
});
process.on('disconnect', () => process.exit(0));
