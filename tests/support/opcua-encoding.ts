/** Binary encoding of OPC UA (OPC 10000-6, 5.2) as far as the peer made by hand speaks it. No library is behind it. */

/** Built-in types (OPC 10000-6, table 1). */
export const BUILT_IN = { Boolean: 1, Int32: 6, UInt32: 7, Double: 11, String: 12, DateTime: 13 } as const;
export type BuiltIn = keyof typeof BUILT_IN;

export interface PeerValue {
  readonly type: BuiltIn;
  readonly value: boolean | number | string | readonly number[];
  /** Status code; 0: Good. */
  readonly status?: number;
}

/** 100 ns since 1601. */
const EPOCH_MS = 11_644_473_600_000n;
const ticksOf = (wallMs: number): bigint => (BigInt(Math.trunc(wallMs)) + EPOCH_MS) * 10_000n;

export class Writer {
  readonly #parts: Buffer[] = [];

  bytes(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }

  u8(value: number): this {
    return this.bytes(Buffer.from([value & 0xff]));
  }

  u16(value: number): this {
    const part = Buffer.alloc(2);
    part.writeUInt16LE(value);
    return this.bytes(part);
  }

  u32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value >>> 0);
    return this.bytes(part);
  }

  /** A length; -1: none. */
  i32(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32LE(value);
    return this.bytes(part);
  }

  double(value: number): this {
    const part = Buffer.alloc(8);
    part.writeDoubleLE(value);
    return this.bytes(part);
  }

  time(wallMs: number): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64LE(ticksOf(wallMs));
    return this.bytes(part);
  }

  text(value: string | null): this {
    return value === null ? this.i32(-1) : this.byteString(Buffer.from(value));
  }

  byteString(value: Buffer): this {
    return this.i32(value.length).bytes(value);
  }

  /** A numeric node of namespace 0, in four bytes. */
  node(id: number): this {
    return this.u8(1).u8(0).u16(id);
  }

  /** An extension object without a body. */
  nothing(): this {
    return this.u8(0).u8(0).u8(0);
  }

  array<T>(rows: readonly T[], write: (row: T) => void): this {
    this.i32(rows.length);
    for (const row of rows) write(row);
    return this;
  }

  #scalar(type: BuiltIn, value: unknown): void {
    switch (type) {
      case 'Boolean':
        this.u8(value ? 1 : 0);
        break;
      case 'Int32':
        this.i32(Number(value));
        break;
      case 'UInt32':
        this.u32(Number(value));
        break;
      case 'Double':
        this.double(Number(value));
        break;
      case 'String':
        this.text(String(value));
        break;
      case 'DateTime':
        this.time(Number(value));
    }
  }

  variant({ type, value }: PeerValue): this {
    const isArray = Array.isArray(value);
    this.u8(BUILT_IN[type] | (isArray ? 0x80 : 0));
    if (isArray) return this.array(value as readonly number[], (element) => this.#scalar(type, element));
    this.#scalar(type, value);
    return this;
  }

  /** With its status and its source time, or without a value where there is none. */
  dataValue(value: PeerValue | undefined, wallMs: number): this {
    if (value === undefined) return this.u8(2).u32(0x80340000); // BadNodeIdUnknown
    return this.u8(7)
      .variant(value)
      .u32(value.status ?? 0)
      .time(wallMs);
  }

  get buffer(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

export class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  #take(count: number): number {
    const at = this.#at;
    this.#at += count;
    return at;
  }

  skip(count: number): this {
    this.#take(count);
    return this;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  i16(): number {
    return this.#bytes.readInt16LE(this.#take(2));
  }

  i32(): number {
    return this.#bytes.readInt32LE(this.#take(4));
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  text(): string {
    const length = this.i32();
    return length < 0 ? '' : this.#bytes.toString('utf8', this.#take(length), this.#at);
  }

  /** As text: `i=85`, `ns=1;s=Level`. */
  node(): string {
    const form = this.u8();
    switch (form & 0x3f) {
      case 0:
        return `i=${this.u8()}`;
      case 1: {
        const namespace = this.u8();
        return `${namespace === 0 ? '' : `ns=${namespace};`}i=${this.u16()}`;
      }
      case 2: {
        const namespace = this.u16();
        return `${namespace === 0 ? '' : `ns=${namespace};`}i=${this.u32()}`;
      }
      case 3: {
        const namespace = this.u16();
        return `${namespace === 0 ? '' : `ns=${namespace};`}s=${this.text()}`;
      }
      case 5: {
        const namespace = this.u16();
        const length = this.i32();
        return `${namespace === 0 ? '' : `ns=${namespace};`}b=${this.#bytes.toString('base64', this.#take(length), this.#at)}`;
      }
      default:
        throw new Error(`a node id of form ${form} is none of those that a test uses`);
    }
  }

  /** Passes over an extension object. */
  extension(): this {
    this.node();
    return this.u8() === 0 ? this : this.skip(this.i32());
  }

  array<T>(read: () => T): T[] {
    return Array.from({ length: Math.max(0, this.i32()) }, read);
  }

  /** Of the types that a test writes. */
  variant(): PeerValue {
    const code = this.u8();
    const type = (Object.keys(BUILT_IN) as BuiltIn[]).find((name) => BUILT_IN[name] === code);
    switch (type) {
      case 'Boolean':
        return { type, value: this.u8() !== 0 };
      case 'Int32':
        return { type, value: this.i32() };
      case 'UInt32':
        return { type, value: this.u32() };
      case 'Double':
        return { type, value: this.double() };
      case 'String':
        return { type, value: this.text() };
      default:
        throw new Error(`a value of type ${code} is none of those that a test writes`);
    }
  }
}
