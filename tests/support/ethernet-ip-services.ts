/**
 * The services of the EtherNet/IP device that tests talk to, from CIP Volume 1 and Rockwell's 1756-PM020: tags, several services in one message,
 * the symbol, template and identity objects. It shares no code with the driver; it was written by the same people, and claims no more
 * independence than that.
 */
import { type DeviceTag, type Place, SIZES, STRUCTURES, sizeOf, type Structure, type TagMemory } from './ethernet-ip-tags.js';

export interface ServiceOptions {
  /** Most bytes of one answer. */
  readonly replyMax: number;
  readonly hasMultiple: boolean;
  readonly hasReadModifyWrite: boolean;
  readonly hasSymbolAccess: boolean;
  readonly hasIdentity: boolean;
  readonly name: string;
}

interface Path {
  readonly names: readonly (string | number)[];
  readonly classId: number | undefined;
  readonly instance: number;
}

/** Status, extended status (0: none), data. */
type Result = readonly [status: number, extended: number, data: Buffer];
const NOTHING = Buffer.alloc(0);
const refuse = (status: number): Result => (status > 0xff ? [status >> 16, status & 0xffff, NOTHING] : [status, 0, NOTHING]);

function parsePath(bytes: Buffer): Path {
  const names: (string | number)[] = [];
  let classId: number | undefined;
  let instance = 0;
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes.readUInt8(at);
    if (kind === 0x91) {
      const length = bytes.readUInt8(at + 1);
      names.push(bytes.toString('latin1', at + 2, at + 2 + length));
      at += 2 + length + (length % 2);
      continue;
    }
    const width = kind & 3;
    const value = width === 0 ? bytes.readUInt8(at + 1) : width === 1 ? bytes.readUInt16LE(at + 2) : bytes.readUInt32LE(at + 2);
    at += width === 0 ? 2 : width === 1 ? 4 : 6;
    if ((kind & ~3) === 0x28) names.push(value);
    else if ((kind & ~3) === 0x20) classId = value;
    else if ((kind & ~3) === 0x24) instance = value;
    else throw new Error(`a path with segment ${kind}`);
  }
  return { names, classId, instance };
}

export class Services {
  readonly #memory: TagMemory;
  readonly #options: ServiceOptions;
  /** Services served, by code. */
  readonly counts = new Map<number, number>();

  constructor(memory: TagMemory, options: ServiceOptions) {
    this.#memory = memory;
    this.#options = options;
  }

  /** A message router request to its reply. */
  answer(request: Buffer, room = this.#options.replyMax): Buffer {
    const service = request.readUInt8(0);
    this.counts.set(service, (this.counts.get(service) ?? 0) + 1);
    const pathBytes = 2 * request.readUInt8(1);
    const path = parsePath(request.subarray(2, 2 + pathBytes));
    const [status, extended, data] = this.#serve(service, path, request.subarray(2 + pathBytes), room - 4);
    const head = Buffer.from([service | 0x80, 0, status, extended > 0 ? 1 : 0]);
    const words = Buffer.alloc(extended > 0 ? 2 : 0);
    if (extended > 0) words.writeUInt16LE(extended, 0);
    return Buffer.concat([head, words, data]);
  }

  #serve(service: number, path: Path, data: Buffer, room: number): Result {
    if (service === 0x0a && path.classId === 2) return this.#options.hasMultiple ? this.#multiple(data, room) : refuse(0x08);
    if (service === 0x01 && path.classId === 1 && this.#options.hasIdentity) return [0, 0, this.identity()];
    if (path.classId === 0x6b) return service === 0x55 && this.#options.hasSymbolAccess ? this.#symbols(path, data, room) : refuse(0x08);
    if (path.classId === 0x6c) return this.#template(service, path.instance, data, room);
    if (path.classId !== undefined) return refuse(0x05);
    const place = this.#memory.place(path.names);
    if (typeof place === 'number') return refuse(place);
    if (service === 0x4c) return read(place, data.readUInt16LE(0), 0, room);
    if (service === 0x52) return read(place, data.readUInt16LE(0), data.readUInt32LE(2), room);
    if (service === 0x4d) return write(place, data, false);
    if (service === 0x53) return write(place, data, true);
    if (service === 0x4e && this.#options.hasReadModifyWrite) return modify(place, data);
    return refuse(0x08);
  }

  #multiple(data: Buffer, most: number): Result {
    const count = data.readUInt16LE(0);
    const replies: Buffer[] = [];
    let room = most - 2 - 2 * count;
    for (let at = 0; at < count; at += 1) {
      const from = data.readUInt16LE(2 + 2 * at);
      const to = at + 1 < count ? data.readUInt16LE(4 + 2 * at) : data.length;
      const full = this.answer(data.subarray(from, to), most);
      const reply = full.length <= room ? full : Buffer.from([full.readUInt8(0), 0, 0x11, 0]);
      room -= reply.length;
      replies.push(reply);
    }
    const head = Buffer.alloc(2 + 2 * count);
    head.writeUInt16LE(count, 0);
    let offset = head.length;
    for (const [at, reply] of replies.entries()) {
      head.writeUInt16LE(offset, 2 + 2 * at);
      offset += reply.length;
    }
    return [replies.some((reply) => reply[2] !== 0) ? 0x1e : 0, 0, Buffer.concat([head, ...replies])];
  }

  /** What the identity object tells, and ListIdentity too. */
  identity(called = this.#options.name): Buffer {
    const name = Buffer.from(called, 'latin1');
    const identity = Buffer.alloc(15);
    identity.writeUInt16LE(1, 0);
    identity.writeUInt16LE(14, 2);
    identity.writeUInt16LE(55, 4);
    identity.writeUInt8(33, 6);
    identity.writeUInt8(11, 7);
    identity.writeUInt32LE(0xc0ffee12, 10);
    identity.writeUInt8(name.length, 14);
    return Buffer.concat([identity, name]);
  }

  /** Get Instance Attribute List: from an instance on, as many as fit. */
  #symbols({ names: [scope], instance }: Path, data: Buffer, room: number): Result {
    const program = typeof scope === 'string' ? scope.replace(/^Program:/i, '') : '';
    const tags = this.#memory.scopes.get(program);
    if (!tags) return refuse(0x05);
    const wanted = Array.from({ length: data.readUInt16LE(0) }, (_, at) => data.readUInt16LE(2 + 2 * at));
    const programs = program === '' ? [...this.#memory.scopes.keys()].filter((name) => name !== '').map((name) => programTag(name)) : [];
    const rows = [...tags, ...programs].map((tag, at) => symbolRow(at + 1, tag, wanted)).slice(Math.max(instance - 1, 0));
    const sent: Buffer[] = [];
    let bytes = 0;
    for (const row of rows) {
      if (bytes + row.length > room) return [0x06, 0, Buffer.concat(sent)];
      bytes += row.length;
      sent.push(row);
    }
    return [0, 0, Buffer.concat(sent)];
  }

  #template(service: number, instance: number, data: Buffer, room: number): Result {
    const structure = STRUCTURES.find((row) => row.instance === instance);
    if (!structure) return refuse(0x05);
    const definition = definitionOf(structure);
    if (service === 0x03) {
      const words = Math.ceil((definition.length + 23) / 4);
      const answer = Buffer.alloc(2 + 4 * 2 + 8 + 8 + 6 + 6 - 8);
      answer.writeUInt16LE(4, 0);
      let at = 2;
      for (const [attribute, value, bytes] of [
        [4, words, 4],
        [5, structure.bytes, 4],
        [2, structure.members.length, 2],
        [1, structure.handle, 2],
      ] as const) {
        at = answer.writeUInt16LE(attribute, at);
        at = answer.writeUInt16LE(0, at);
        at = bytes === 4 ? answer.writeUInt32LE(value, at) : answer.writeUInt16LE(value, at);
      }
      return [0, 0, answer.subarray(0, at)];
    }
    if (service !== 0x4c) return refuse(0x08);
    const from = data.readUInt32LE(0);
    const part = definition.subarray(from, from + Math.min(data.readUInt16LE(4), room));
    return [from + part.length < definition.length && part.length === room ? 0x06 : 0, 0, part];
  }
}

const programTag = (name: string): DeviceTag => ({ name: `Program:${name}`, type: 0x68, dimensions: [], data: NOTHING, access: 0 });

function symbolType({ type, dimensions, name }: DeviceTag): number {
  const base = typeof type === 'number' ? type : 0x8000 | type.instance;
  return base | (dimensions.length << 13) | (name.startsWith('Program:') ? 0x1000 : 0);
}

function symbolRow(instance: number, tag: DeviceTag, wanted: readonly number[]): Buffer {
  const id = Buffer.alloc(4);
  id.writeUInt32LE(instance, 0);
  const parts = wanted.map((attribute) => {
    if (attribute === 1) {
      const name = Buffer.alloc(2 + tag.name.length);
      name.writeUInt16LE(tag.name.length, 0);
      name.write(tag.name, 2, 'latin1');
      return name;
    }
    if (attribute === 2) return uint16(symbolType(tag));
    if (attribute === 8) return Buffer.concat([0, 1, 2].map((at) => uint32(tag.dimensions[at] ?? 0)));
    if (attribute === 10) return Buffer.from([tag.access]);
    throw new Error(`attribute ${attribute} of a symbol`);
  });
  return Buffer.concat([id, ...parts]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value, 0);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value, 0);
  return bytes;
}

/** Members (info, type, offset), then the names. */
function definitionOf({ name, members }: Structure): Buffer {
  const rows = members.map((member) => {
    const code = typeof member.type === 'number' ? member.type : 0x8000 | member.type.instance;
    return Buffer.concat([uint16(member.bit ?? member.count), uint16(code | (member.count > 0 ? 0x2000 : 0)), uint32(member.offset)]);
  });
  const names = [`${name};nEBECEA`, ...members.map((member) => member.name)].map((each) => Buffer.from(`${each}\0`, 'latin1'));
  return Buffer.concat([...rows, ...names]);
}

function typeBytes(type: number | Structure): Buffer {
  return typeof type === 'number' ? uint16(type) : Buffer.concat([uint16(0x02a0), uint16(type.handle)]);
}

function read(place: Place, count: number, offset: number, room: number): Result {
  if (count < 1 || count > place.left) return refuse(0xff2105);
  const head = typeBytes(place.type);
  if (place.bit !== undefined) return [0, 0, Buffer.concat([head, Buffer.from([(place.data.readUInt8(place.offset) >> place.bit) & 1])])];
  const bytes = count * sizeOf(place.type);
  if (offset > bytes) return refuse(0xff2104);
  const left = bytes - offset;
  const most = room - head.length;
  const part = left <= most ? left : most - (most % 4);
  return [part < left ? 0x06 : 0, 0, Buffer.concat([head, place.data.subarray(place.offset + offset, place.offset + offset + part)])];
}

function write(place: Place, data: Buffer, isFragment: boolean): Result {
  if (place.access === 2) return refuse(0x0f);
  const head = typeBytes(place.type);
  if (data.length < head.length + 2 || data.compare(head, 0, head.length, 0, head.length) !== 0) return refuse(0xff2107);
  const count = data.readUInt16LE(head.length);
  if (count < 1 || count > place.left) return refuse(0xff2105);
  const offset = isFragment ? data.readUInt32LE(head.length + 2) : 0;
  const value = data.subarray(head.length + (isFragment ? 6 : 2));
  if (place.bit !== undefined) {
    const mask = 1 << place.bit;
    const old = place.data.readUInt8(place.offset);
    place.data.writeUInt8(value[0] === 0 ? old & ~mask & 0xff : old | mask, place.offset);
    return [0, 0, NOTHING];
  }
  const bytes = count * sizeOf(place.type);
  if (offset + value.length > bytes) return refuse(0x15);
  if (!isFragment && value.length < bytes) return refuse(0x13);
  value.copy(place.data, place.offset + offset);
  return [0, 0, NOTHING];
}

function modify(place: Place, data: Buffer): Result {
  const bytes = data.readUInt16LE(0);
  if (place.access === 2) return refuse(0x0f);
  if (typeof place.type !== 'number' || bytes !== SIZES[place.type]) return refuse(0x03);
  if (data.length !== 2 + 2 * bytes) return refuse(data.length < 2 + 2 * bytes ? 0x13 : 0x15);
  for (let at = 0; at < bytes; at += 1) {
    const value = (place.data.readUInt8(place.offset + at) | data.readUInt8(2 + at)) & data.readUInt8(2 + bytes + at);
    place.data.writeUInt8(value, place.offset + at);
  }
  return [0, 0, NOTHING];
}
