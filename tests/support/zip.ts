/** Archives as they are, and as nobody should make them: what a member says of itself can be told otherwise (APPNOTE 4.3). */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipMember {
  readonly name: string;
  readonly bytes: Uint8Array | string;
  /** What its headers say instead of its length. */
  readonly saidSize?: number;
  /** Bit 0: encrypted. */
  readonly flags?: number;
}

const UTF8_NAME = 1 << 11;
const DEFLATED = 8;

export function zipOf(members: readonly ZipMember[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, saidSize, flags = 0 } of members) {
    const content = Buffer.from(bytes as Uint8Array);
    const packed = deflateRawSync(content);
    const nameBytes = Buffer.from(name);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(UTF8_NAME | flags, 2);
    shared.writeUInt16LE(DEFLATED, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(saidSize ?? content.length, 18);
    shared.writeUInt16LE(nameBytes.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared, nameBytes, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), shared, tail, nameBytes]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Math.min(members.length, 0xffff), 4);
  end.writeUInt16LE(Math.min(members.length, 0xffff), 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\u0005\u0006'), end]);
}
