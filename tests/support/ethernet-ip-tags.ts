/**
 * The tags of the EtherNet/IP device that tests talk to: memory, structures and their templates, as CIP Volume 1 (Appendix C) and Rockwell's
 * 1756-PM020 describe them. It shares no code with the driver; it was written by the same people, and claims no more independence than that.
 */

export const SIZES: Readonly<Record<number, number>> = {
  0xc1: 1, 0xc2: 1, 0xc3: 2, 0xc4: 4, 0xc5: 8, 0xc6: 1, 0xc7: 2, 0xc8: 4, 0xc9: 8, 0xca: 4, 0xcb: 8, 0xd1: 1, 0xd2: 2, 0xd3: 4, 0xd4: 8,
}; // biome-ignore format: a table

export interface StructureMember {
  readonly name: string;
  /** An atomic code, or a structure. */
  readonly type: number | Structure;
  readonly offset: number;
  /** Elements of an array member; 0: none. */
  readonly count: number;
  /** Bit within a hidden byte, of a BOOL. */
  readonly bit?: number;
}

export interface Structure {
  readonly name: string;
  readonly instance: number;
  readonly handle: number;
  readonly bytes: number;
  readonly members: readonly StructureMember[];
}

export interface DeviceTag {
  readonly name: string;
  readonly type: number | Structure;
  readonly dimensions: readonly number[];
  readonly data: Buffer;
  /** 0 read and write, 2 read only. */
  readonly access: number;
}

/** A place in memory that a path leads to. */
export interface Place {
  readonly type: number | Structure;
  readonly data: Buffer;
  readonly offset: number;
  /** Elements from here to the end of the array. */
  readonly left: number;
  readonly bit?: number;
  readonly access: number;
}

const text = (name: string, instance: number, handle: number, capacity: number): Structure => ({
  name,
  instance,
  handle,
  bytes: 4 * Math.ceil((4 + capacity) / 4),
  members: [
    { name: 'LEN', type: 0xc4, offset: 0, count: 0 },
    { name: 'DATA', type: 0xc2, offset: 4, count: capacity },
  ],
});

const STRING = text('STRING', 0xfce, 0x0fce, 82);
const STRING21 = text('STRING21', 0x201, 0x4a21, 21);
const STRING1000 = text('STRING1000', 0x202, 0x4a99, 1000);
const TANK: Structure = {
  name: 'TankData',
  instance: 0x203,
  handle: 0x77aa,
  bytes: 120,
  members: [
    { name: 'ZZZZZZZZZZTankData0', type: 0xc2, offset: 0, count: 0 },
    { name: 'Open', type: 0xc1, offset: 0, count: 0, bit: 0 },
    { name: 'Closed', type: 0xc1, offset: 0, count: 0, bit: 1 },
    { name: 'Level', type: 0xca, offset: 4, count: 0 },
    { name: 'Count', type: 0xc4, offset: 8, count: 0 },
    { name: 'Set', type: 0xca, offset: 12, count: 4 },
    { name: 'Label', type: STRING, offset: 28, count: 0 },
    { name: 'Word', type: 0xc3, offset: 116, count: 0 },
  ],
};
export const STRUCTURES = [STRING, STRING21, STRING1000, TANK];

export const sizeOf = (type: number | Structure): number => (typeof type === 'number' ? (SIZES[type] ?? 1) : type.bytes);

export class TagMemory {
  /** By scope and name in lower case. */
  readonly #byName = new Map<string, DeviceTag>();
  readonly scopes = new Map<string, DeviceTag[]>([
    ['', []],
    ['Main', []],
  ]);

  constructor(many: number) {
    this.add('', 'Bool', 0xc1).data.writeUInt8(1, 0);
    this.add('', 'Sint', 0xc2).data.writeInt8(-128, 0);
    this.add('', 'Int', 0xc3).data.writeInt16LE(-12345, 0);
    this.add('', 'Dint', 0xc4).data.writeInt32LE(-123456789, 0);
    this.add('', 'Lint', 0xc5).data.writeBigInt64LE(-1234567890123456789n, 0);
    this.add('', 'Usint', 0xc6).data.writeUInt8(250, 0);
    this.add('', 'Uint', 0xc7).data.writeUInt16LE(65000, 0);
    this.add('', 'Udint', 0xc8).data.writeUInt32LE(4000000000, 0);
    this.add('', 'Ulint', 0xc9).data.writeBigUInt64LE(18000000000000000000n, 0);
    this.add('', 'Real', 0xca).data.writeFloatLE(3.25, 0);
    this.add('', 'Lreal', 0xcb).data.writeDoubleLE(-0.1, 0);
    this.add('', 'NotANumber', 0xca).data.writeFloatLE(Number.NaN, 0);
    this.text(this.add('', 'Text', STRING).data, 0, 'Reactor');
    this.text(this.add('', 'Text21', STRING21).data, 0, 'Batch 7');
    this.text(this.add('', 'Text1000', STRING1000).data, 0, 'x'.repeat(990));
    this.add('', 'Flags', 0xd3, [2]).data.writeUInt32LE(0x8000_0008, 4);
    const list = this.add('', 'List', 0xc4, [10]).data;
    for (let at = 0; at < 10; at += 1) list.writeInt32LE(100 + at, 4 * at);
    const grid = this.add('', 'Grid', 0xc3, [2, 3, 4]).data;
    for (let at = 0; at < 24; at += 1) grid.writeInt16LE(at, 2 * at);
    const tanks = this.add('Main', 'Tank', TANK, [3]).data;
    for (let at = 0; at < 3; at += 1) {
      tanks.writeUInt8(at === 2 ? 2 : 1, 120 * at);
      tanks.writeFloatLE(at + 0.5, 120 * at + 4);
      tanks.writeInt32LE(at, 120 * at + 8);
      for (let set = 0; set < 4; set += 1) tanks.writeFloatLE(10 * at + set, 120 * at + 12 + 4 * set);
      this.text(tanks, 120 * at + 28, `Tank ${at}`);
      tanks.writeInt16LE(-2, 120 * at + 116);
    }
    this.add('Main', 'Step', 0xc4).data.writeInt32LE(30, 0);
    this.add('', 'Locked', 0xc4, [], 2).data.writeInt32LE(5, 0);
    for (const [
      name,
      code,
    ] of [['OutBool', 0xc1], ['OutSint', 0xc2], ['OutInt', 0xc3], ['OutDint', 0xc4], ['OutLint', 0xc5], ['OutUsint', 0xc6], ['OutUint', 0xc7], ['OutUdint', 0xc8], ['OutUlint', 0xc9], ['OutReal', 0xca], ['OutLreal', 0xcb]] as const) // biome-ignore format: a table
      this.add('', name, code);
    this.add('', 'OutText', STRING);
    this.add('', 'OutText21', STRING21);
    this.add('', 'OutText1000', STRING1000);
    this.add('', 'OutFlags', 0xd3, [4]);
    const row = this.add('', 'Row', 0xc4, [300]).data;
    for (let at = 0; at < 300; at += 1) row.writeInt32LE(1000 + at, 4 * at);
    const longs = this.add('', 'Longs', 0xc5, [20]).data;
    for (let at = 0; at < 20; at += 1) longs.writeBigInt64LE(9_000_000_000_000_000_000n + BigInt(at), 8 * at);
    const bytes = this.add('', 'Bytes', 0xc2, [33]).data;
    for (let at = 0; at < 33; at += 1) bytes.writeInt8(at - 16, at);
    const names = this.add('', 'Names', STRING, [6]).data;
    for (let at = 0; at < 6; at += 1) this.text(names, 88 * at, `Name ${at}`);
    const bits = this.add('', 'Bits', 0xd3, [10]).data;
    for (let at = 0; at < 10; at += 1) bits.writeUInt32LE(1 << at, 4 * at);
    for (let at = 0; at < many; at += 1) this.add('', `Many_${String(at).padStart(4, '0')}`, 0xc4).data.writeInt32LE(at, 0);
  }

  add(program: string, name: string, type: number | Structure, dimensions: readonly number[] = [], access = 0): DeviceTag {
    const count = dimensions.reduce((product, size) => product * size, 1);
    const tag: DeviceTag = { name, type, dimensions, data: Buffer.alloc(count * sizeOf(type)), access };
    this.scopes.get(program)?.push(tag);
    this.#byName.set(`${program}.${name}`.toLowerCase(), tag);
    return tag;
  }

  remove(program: string, name: string): void {
    this.#byName.delete(`${program}.${name}`.toLowerCase());
    const tags = this.scopes.get(program) ?? [];
    tags.splice(
      tags.findIndex((tag) => tag.name === name),
      1,
    );
  }

  text(data: Buffer, offset: number, value: string): void {
    data.writeInt32LE(value.length, offset);
    data.write(value, offset + 4, 'latin1');
  }

  /** A CIP status instead of a place: 0x04 unknown name, 0xff2105 beyond the end, 0x05 nothing that is left of the path fits. */
  place(path: readonly (string | number)[]): Place | number {
    const segments = [...path];
    let first = segments.shift();
    let scope = '';
    if (typeof first === 'string' && /^program:/i.test(first)) {
      scope = first.slice('program:'.length);
      first = segments.shift();
    }
    const tag = this.#byName.get(`${scope}.${first}`.toLowerCase());
    if (!tag) return 0x04;
    const indices: number[] = [];
    while (typeof segments[0] === 'number') indices.push(segments.shift() as number);
    const started = element(tag.type, tag.data, 0, tag.dimensions, indices, tag.access);
    return typeof started === 'number' ? started : this.#member(started, segments);
  }

  #member(from: Place, segments: (string | number)[]): Place | number {
    let place = from;
    while (segments.length > 0) {
      const name = String(segments.shift()).toLowerCase();
      const member = typeof place.type === 'number' ? undefined : place.type.members.find((row) => row.name.toLowerCase() === name);
      if (!member) return 0x04;
      const indices: number[] = [];
      while (typeof segments[0] === 'number') indices.push(segments.shift() as number);
      const offset = place.offset + member.offset;
      const found = element(member.type, place.data, offset, member.count > 0 ? [member.count] : [], indices, place.access);
      if (typeof found === 'number') return found;
      place = member.bit === undefined ? found : { ...found, bit: member.bit };
    }
    return place;
  }
}

function element(type: number | Structure, data: Buffer, offset: number, dimensions: readonly number[], indices: readonly number[], access: number): Place | number {
  const count = dimensions.reduce((product, size) => product * size, 1);
  if (indices.length === 0) return { type, data, offset, left: count, access };
  if (indices.length !== dimensions.length) return 0x05;
  let at = 0;
  for (const [place, index] of indices.entries()) {
    const size = dimensions[place] ?? 0;
    if (index >= size) return 0xff2105;
    at = at * size + index;
  }
  return { type, data, offset: offset + at * sizeOf(type), left: count - at, access };
}
