/**
 * What is sent, as bytes. The encoders are those of st-ethernet-ip where they hold (ADR 0063): requests, paths of indices, classes and ports,
 * Unconnected Send, encapsulation. Names, large instance numbers and Forward Open are encoded here.
 */
import { EPATH, MessageRouter, UnconnectedSend } from 'st-ethernet-ip/dist/enip/cip/index.js';
import type { RouteStep } from './endpoint.js';

const { DATA, LOGICAL, PORT } = EPATH.segments;
const SYMBOL = 0x91; // ANSI extended symbol segment
const LOGICAL_INSTANCE_32 = 0x26;
const UINT16_MAX = 0xffff;

export const SERVICE = {
  getAttributesAll: MessageRouter.services.GET_ATTRIBUTE_ALL,
  getAttributeList: MessageRouter.services.GET_ATTRIBUTES,
  multiple: MessageRouter.services.MULTIPLE_SERVICE_PACKET,
  readTag: MessageRouter.services.READ_TAG,
  writeTag: MessageRouter.services.WRITE_TAG,
  readModifyWrite: MessageRouter.services.READ_MODIFY_WRITE_TAG,
  readFragmented: MessageRouter.services.READ_TAG_FRAGMENTED,
  writeFragmented: MessageRouter.services.WRITE_TAG_FRAGMENTED,
  forwardOpen: MessageRouter.services.FORWARD_OPEN,
  forwardClose: MessageRouter.services.FORWARD_CLOSE,
  instanceAttributes: MessageRouter.services.GET_INSTANCE_ATTRIBUTE_LIST,
  largeForwardOpen: 0x5b,
  unconnectedSend: 0x52,
} as const;

export const CLASS = { identity: 0x01, messageRouter: 0x02, connectionManager: 0x06, symbol: 0x6b, template: 0x6c } as const;

/** The library takes a name that reads as a number (`Infinity`) for an index. */
function nameSegment(name: string): Buffer {
  const text = Buffer.from(name, 'latin1');
  const segment = Buffer.alloc(2 + text.length + (text.length % 2));
  segment[0] = SYMBOL;
  segment[1] = text.length;
  text.copy(segment, 2);
  return segment;
}

export function tagPath(segments: readonly (string | number)[]): Buffer {
  return Buffer.concat(segments.map((segment) => (typeof segment === 'number' ? DATA.build(String(segment)) : nameSegment(segment))));
}

/** The library fails at instances beyond 16 bits. */
function instanceSegment(instance: number): Buffer {
  if (instance > 0 && instance <= UINT16_MAX) return LOGICAL.build(LOGICAL.types.InstanceID, instance);
  const segment = Buffer.alloc(6);
  segment[0] = LOGICAL_INSTANCE_32;
  segment.writeUInt32LE(instance, 2);
  return segment;
}

export function objectPath(classId: number, instance: number, within: readonly string[] = []): Buffer {
  return Buffer.concat([...within.map(nameSegment), LOGICAL.build(LOGICAL.types.ClassID, classId), instanceSegment(instance)]);
}

export function routeBytes(steps: readonly RouteStep[]): Buffer {
  return Buffer.concat(steps.map(({ port, link }) => PORT.build(port, link)));
}

export function request(service: number, path: Buffer, data: Buffer = Buffer.alloc(0)): Buffer {
  return MessageRouter.build(service, path, data);
}

/** Passed on by the device that was reached, along the route; with an empty one as it is. */
export function routed(message: Buffer, route: Buffer, timeoutMs: number): Buffer {
  return route.length === 0 ? message : UnconnectedSend.build(message, route, timeoutMs);
}

/** What `routed` adds to a message. */
export const routeOverhead = (route: Buffer): number => (route.length === 0 ? 0 : routed(Buffer.alloc(1), route, 1000).length);

const ONE_ELEMENT = Buffer.from([1, 0]);

/** So many elements from the one that the path leads to. */
export function readRequest(path: Buffer, count: number): Buffer {
  const data = Buffer.alloc(2);
  data.writeUInt16LE(count, 0);
  return request(SERVICE.readTag, path, data);
}

export function readFragmentRequest(path: Buffer, offset: number): Buffer {
  const data = Buffer.alloc(6);
  data.writeUInt16LE(1, 0);
  data.writeUInt32LE(offset, 2);
  return request(SERVICE.readFragmented, path, data);
}

/** Type, and the handle of a structure: what stands before a value. */
export function typeBytes(code: number, handle: number | undefined): Buffer {
  const bytes = Buffer.alloc(handle === undefined ? 2 : 4);
  bytes.writeUInt16LE(code, 0);
  if (handle !== undefined) bytes.writeUInt16LE(handle, 2);
  return bytes;
}

export const writeRequest = (path: Buffer, type: Buffer, value: Buffer): Buffer => request(SERVICE.writeTag, path, Buffer.concat([type, ONE_ELEMENT, value]));

export function writeFragmentRequest(path: Buffer, type: Buffer, offset: number, part: Buffer): Buffer {
  const at = Buffer.alloc(4);
  at.writeUInt32LE(offset, 0);
  return request(SERVICE.writeFragmented, path, Buffer.concat([type, ONE_ELEMENT, at, part]));
}

/** Sets or clears one bit of a whole number of so many bytes, within the device. */
export function bitRequest(path: Buffer, bytes: number, bit: number, isSet: boolean): Buffer {
  const data = Buffer.alloc(2 + 2 * bytes);
  data.writeUInt16LE(bytes, 0);
  data.fill(0xff, 2 + bytes);
  const place = bit >> 3;
  if (isSet) data[2 + place] = 1 << (bit & 7);
  else data[2 + bytes + place] = 0xff & ~(1 << (bit & 7));
  return request(SERVICE.readModifyWrite, path, data);
}

const MULTIPLE_PATH = objectPath(CLASS.messageRouter, 1);
/** Service, size of the path, path, number of services. */
export const MULTIPLE_REQUEST_BYTES = 2 + MULTIPLE_PATH.length + 2;
export const MULTIPLE_REPLY_BYTES = 4 + 2;
/** Offset of each. */
export const MULTIPLE_EACH_BYTES = 2;

export function multipleRequest(requests: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(2 + 2 * requests.length);
  head.writeUInt16LE(requests.length, 0);
  let offset = head.length;
  requests.forEach((each, at) => {
    head.writeUInt16LE(offset, 2 + 2 * at);
    offset += each.length;
  });
  return request(SERVICE.multiple, MULTIPLE_PATH, Buffer.concat([head, ...requests]));
}

/** What a connection is known by at both ends. */
export interface ConnectionIdentity {
  /** Of this connection, chosen here. */
  readonly serial: number;
  /** Of this end. */
  readonly originatorSerial: number;
  /** The device puts it on its answers. */
  readonly targetToOriginator: number;
}

const ORIGINATOR_VENDOR = 0x4c53; // none that is registered: "LS"
const TICK_MS = 1024; // 2^10
const TICKS = 5; // the device gives up after 5 s
const PACKET_INTERVAL_US = 2_000_000;
const TIMEOUT_MULTIPLIER = 2; // 4 << 2 = 16 intervals without a message, and the device drops the connection
const CLASS_3_SERVER = 0xa3;
const POINT_TO_POINT = 2 << 13;
const VARIABLE = 1 << 9;
const SMALL_MAX = 511; // 9 bits of size
const MANAGER_PATH = objectPath(CLASS.connectionManager, 1);
const ROUTER_PATH = MULTIPLE_PATH;

/** Opens a class 3 connection to the message router at the end of the route (CIP Volume 1, 3-5.5.2); messages above 511 bytes need the large form. */
export function forwardOpenRequest(route: Buffer, identity: ConnectionIdentity, bytesMax: number): Buffer {
  const isLarge = bytesMax > SMALL_MAX;
  const sizeBytes = isLarge ? 4 : 2;
  const parameters = isLarge ? ((POINT_TO_POINT | VARIABLE) * 0x10000 + bytesMax) >>> 0 : POINT_TO_POINT | VARIABLE | bytesMax;
  const data = Buffer.alloc(22 + 2 * (4 + sizeBytes));
  let at = ownPart(data, identity, true);
  for (let direction = 0; direction < 2; direction += 1) {
    at = data.writeUInt32LE(PACKET_INTERVAL_US, at);
    at = isLarge ? data.writeUInt32LE(parameters, at) : data.writeUInt16LE(parameters, at);
  }
  const path = Buffer.concat([route, ROUTER_PATH]);
  return request(
    isLarge ? SERVICE.largeForwardOpen : SERVICE.forwardOpen,
    MANAGER_PATH,
    Buffer.concat([data.subarray(0, at), Buffer.from([CLASS_3_SERVER, path.length / 2]), path]),
  );
}

function ownPart(data: Buffer, { serial, originatorSerial, targetToOriginator }: ConnectionIdentity, isOpening: boolean): number {
  let at = data.writeUInt8(Math.log2(TICK_MS), 0);
  at = data.writeUInt8(TICKS, at);
  if (isOpening) {
    at = data.writeUInt32LE(0, at); // the device chooses how it is addressed
    at = data.writeUInt32LE(targetToOriginator, at);
  }
  at = data.writeUInt16LE(serial, at);
  at = data.writeUInt16LE(ORIGINATOR_VENDOR, at);
  at = data.writeUInt32LE(originatorSerial, at);
  return isOpening ? data.writeUInt32LE(TIMEOUT_MULTIPLIER, at) : at; // the multiplier, and three reserved bytes
}

export function forwardCloseRequest(route: Buffer, identity: ConnectionIdentity): Buffer {
  const data = Buffer.alloc(10);
  ownPart(data, identity, false);
  const path = Buffer.concat([route, ROUTER_PATH]);
  return request(SERVICE.forwardClose, MANAGER_PATH, Buffer.concat([data, Buffer.from([path.length / 2, 0]), path]));
}

/** The address that the device wants on our messages; undefined: the answer is not one to this request. */
export function openedConnection(data: Buffer, { serial, originatorSerial, targetToOriginator }: ConnectionIdentity): number | undefined {
  if (data.length < 26 || data.readUInt32LE(4) !== targetToOriginator || data.readUInt16LE(8) !== serial) return undefined;
  return data.readUInt16LE(10) === ORIGINATOR_VENDOR && data.readUInt32LE(12) === originatorSerial ? data.readUInt32LE(0) : undefined;
}
