/** The data types of EtherNet/IP tags: words, CIP codes (CIP Volume 1, Appendix C) and sizes. No Node API. */
import type { ChannelType } from '../description.js';

export interface CipType {
  readonly name: string;
  readonly code: number;
  /** In a message; 0: it varies. */
  readonly bytes: number;
  readonly dataType: ChannelType;
  /** Least and most value of a whole number. */
  readonly bounds?: readonly [min: bigint, max: bigint];
}

const integer = (name: string, code: number, bytes: number, isSigned: boolean): CipType => {
  const bits = BigInt(8 * bytes);
  return { name, code, bytes, dataType: 'int', bounds: isSigned ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n] };
};

/** The types that a channel may name (decisions 7.4). */
const NAMED: readonly CipType[] = [
  { name: 'BOOL', code: 0xc1, bytes: 1, dataType: 'bool' },
  integer('SINT', 0xc2, 1, true),
  integer('INT', 0xc3, 2, true),
  integer('DINT', 0xc4, 4, true),
  integer('LINT', 0xc5, 8, true),
  integer('USINT', 0xc6, 1, false),
  integer('UINT', 0xc7, 2, false),
  integer('UDINT', 0xc8, 4, false),
  integer('ULINT', 0xc9, 8, false),
  { name: 'REAL', code: 0xca, bytes: 4, dataType: 'float' },
  { name: 'LREAL', code: 0xcb, bytes: 8, dataType: 'float' },
  { name: 'STRING', code: 0xd0, bytes: 0, dataType: 'string' },
];

/** Types that a device may have beside them: strings of bits, read as numbers without a sign. */
const BIT_STRINGS: readonly CipType[] = [integer('BYTE', 0xd1, 1, false), integer('WORD', 0xd2, 2, false), integer('DWORD', 0xd3, 4, false), integer('LWORD', 0xd4, 8, false)];

export const CIP_TYPE_NAMES: readonly string[] = NAMED.map(({ name }) => name);

const BY_NAME: ReadonlyMap<string, CipType> = new Map(NAMED.map((type) => [type.name, type]));
const BY_CODE: ReadonlyMap<number, CipType> = new Map([...NAMED, ...BIT_STRINGS].map((type) => [type.code, type]));

export const cipTypeNamed = (name: string): CipType | undefined => BY_NAME.get(name);

export const BOOL_CODE = 0xc1;
export const STRING_CODE = 0xd0;
export const DWORD_CODE = 0xd3;
/** "Abbreviated type" of a structure in a tag service; the handle of its template follows. */
export const STRUCTURE_CODE = 0x02a0;
/** The handle of the predefined STRING of a Logix controller: LEN DINT, DATA SINT[82] (Rockwell 1756-PM020). */
export const LOGIX_STRING_HANDLE = 0x0fce;

/** The type of a code of a message; a BOOL inside of a structure tells its bit in the second byte. */
export function cipTypeOf(code: number): CipType | undefined {
  return BY_CODE.get((code & 0xff) === BOOL_CODE ? BOOL_CODE : code);
}

/** What a type is called for people, known or not. */
export function typeText(code: number): string {
  return cipTypeOf(code)?.name ?? (code === STRUCTURE_CODE ? 'a structure' : `type 0x${code.toString(16).padStart(4, '0')}`);
}

/** Whether a channel of the data type holds what the device has, without loss. */
export function holds(dataType: ChannelType, type: CipType): boolean {
  if (dataType === 'string' || type.dataType === 'string') return dataType === type.dataType;
  if (dataType === 'bool') return type.dataType === 'bool';
  return dataType === 'float' || type.dataType !== 'float';
}
