/** Modbus RTU frames (Modbus over Serial Line V1.02, 2.5.1): unit, PDU, and a checksum of two bytes, the low one first. */
import { EXCEPTION_FLAG, FUNCTION } from './transport.js';

/** Unit, the longest PDU, checksum. */
export const RTU_BYTES_MAX = 256;
const CRC_BYTES = 2;

const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  return crc;
});

/** CRC-16 of the first `length` bytes; serial line guide, appendix B. */
export function crc16(bytes: Uint8Array, length: number): number {
  let crc = 0xffff;
  for (let at = 0; at < length; at += 1) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return crc;
}

export function rtuFrame(unit: number, pdu: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(1 + pdu.length + CRC_BYTES);
  frame[0] = unit;
  pdu.copy(frame, 1);
  frame.writeUInt16LE(crc16(frame, 1 + pdu.length), 1 + pdu.length);
  return frame;
}

const COUNTED = new Set<number>([FUNCTION.readCoils, FUNCTION.readDiscreteInputs, FUNCTION.readHoldingRegisters, FUNCTION.readInputRegisters, FUNCTION.reportServerId]);
const ECHOED = new Set<number>([FUNCTION.writeSingleCoil, FUNCTION.writeSingleRegister, FUNCTION.writeMultipleCoils, FUNCTION.writeMultipleRegisters]);

/** Bytes of the answer that begins in `bytes`, checksum included: RTU frames do not say their length, the function does. Undefined: more is needed; 0: it is no answer. */
export function answerLength(bytes: Buffer): number | undefined {
  const code = bytes[1];
  if (code === undefined) return undefined;
  if (code & EXCEPTION_FLAG) return 3 + CRC_BYTES;
  if (ECHOED.has(code)) return 6 + CRC_BYTES;
  if (code === FUNCTION.maskWriteRegister) return 8 + CRC_BYTES;
  if (code === FUNCTION.readDeviceIdentification) return identificationLength(bytes);
  if (!COUNTED.has(code)) return 0;
  const count = bytes[2];
  return count === undefined ? undefined : count > RTU_BYTES_MAX - 3 - CRC_BYTES ? 0 : 3 + count + CRC_BYTES;
}

/** Objects follow each other, each with its own length (Application Protocol V1.1b3, 6.21). */
function identificationLength(bytes: Buffer): number | undefined {
  const objects = bytes[7];
  if (objects === undefined) return undefined;
  let at = 8;
  for (let object = 0; object < objects; object += 1) {
    const length = bytes[at + 1];
    if (at > RTU_BYTES_MAX) return 0;
    if (length === undefined) return undefined;
    at += 2 + length;
  }
  return at + CRC_BYTES > RTU_BYTES_MAX ? 0 : at + CRC_BYTES;
}

export function isSound(frame: Buffer): boolean {
  const end = frame.length - CRC_BYTES;
  return end >= 2 && frame.readUInt16LE(end) === crc16(frame, end);
}

/** Function code and data of a frame. */
export function pduOf(frame: Buffer): Buffer {
  return frame.subarray(1, frame.length - CRC_BYTES);
}
