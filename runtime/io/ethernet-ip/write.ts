/** One write of a tag: as its type, which the address names or the device is asked for; bits within the device (Read-Modify-Write). */
import type { Clock } from '../../vocabulary/clock.js';
import type { Value } from '../../vocabulary/data-types.js';
import type { Barred, Point, WriteOutcome } from '../driver.js';
import { parseTagAddress, type TagAddress } from './address.js';
import { bitValue, encodeTextStructure, encodeValue, type TextShape } from './codec.js';
import { type Device, type Failure, refusal, type Whole } from './device.js';
import { lookForBits, lookForText } from './learn.js';
import { bitRequest, SERVICE, typeBytes } from './request.js';
import { isTextShape, type TagRegister, type Target } from './tag.js';
import { type CipType, STRUCTURE_CODE } from './types.js';

const NO_SUCH_SERVICE = 0x08;

function failed(failure: Failure): WriteOutcome {
  return { ok: false, reason: failure.reason === 'refused' ? 'refused' : 'unreachable', message: failure.message };
}

const invalid = (message: string): WriteOutcome => ({ ok: false, reason: 'invalid', message });

/** What the device has for the tag; asked, unless the address or an earlier answer says it. */
async function typeOf(device: Device, register: TagRegister, address: TagAddress, target: Target, point: Point): Promise<Whole<CipType | TextShape>> {
  const { tag } = target;
  if (tag.code === undefined && address.type && address.type.dataType !== 'string' && !target.isElementOfBits) return { ok: true, value: address.type };
  if (tag.code === undefined || register.isUnknownStructure({ code: tag.code, handle: tag.handle })) {
    const read = await device.readWhole(tag.path, true);
    if (!read.ok) return read;
    const failure = register.isUnknownStructure(read.value) ? await lookForText(device, register, tag, read.value, true) : undefined;
    if (failure) return failure;
    register.note(tag, read.value.code, read.value.handle, read.value.value.length);
  }
  const type = register.typeFor(address, point.dataType, { code: tag.code ?? 0, handle: tag.handle }, target);
  return type.ok ? { ok: true, value: type.value } : { ok: false, reason: 'refused', message: type.message };
}

/** Where the device cannot change a bit by itself: read, change, write back. Writes of a module never overlap. */
async function writeBitByHand(device: Device, target: Target, type: CipType, bit: number, isSet: boolean, barred: Barred | undefined): Promise<WriteOutcome> {
  const read = await device.readWhole(target.tag.path, true);
  if (!read.ok) return failed(read);
  if (read.value.code !== type.code || read.value.value.length < type.bytes) return { ok: false, reason: 'refused', message: 'the device sent an answer of the wrong length' };
  const bytes = Buffer.from(read.value.value.subarray(0, type.bytes));
  const [place, mask] = [bit >> 3, 1 << (bit & 7)];
  bytes.writeUInt8(isSet ? bytes.readUInt8(place) | mask : bytes.readUInt8(place) & ~mask & 0xff, place);
  const stopped = barred?.();
  if (stopped) return stopped;
  const written = await device.writeWhole(target.tag.path, typeBytes(type.code, undefined), bytes, barred);
  return written.ok ? { ok: true } : failed(written);
}

async function writeBit(device: Device, target: Target, type: CipType, bit: number, value: Value, barred: Barred | undefined): Promise<WriteOutcome> {
  const isSet = bitValue(value);
  if (!isSet.ok) return invalid(isSet.message);
  const message = bitRequest(target.tag.path, type.bytes, bit, isSet.value);
  const answer = await device.send(device.prepare(message, SERVICE.readModifyWrite), true, barred);
  if (!answer.ok) return failed(answer);
  if (answer.reply.status === NO_SUCH_SERVICE) return writeBitByHand(device, target, type, bit, isSet.value, barred);
  return answer.reply.status === 0 ? { ok: true } : failed(refusal(answer.reply));
}

/** Why a value does not convert, before anybody is asked; undefined: it may. */
function problemOf(address: TagAddress, value: Value): string | undefined {
  if (address.bit !== undefined) {
    const bit = bitValue(value);
    return bit.ok ? undefined : bit.message;
  }
  if (!address.type || address.type.dataType === 'string') return undefined;
  const encoded = encodeValue(address.type, value);
  return encoded.ok ? undefined : encoded.message;
}

export async function writeTag(device: Device, register: TagRegister, point: Point, value: Value, clock: Clock, barred?: Barred): Promise<WriteOutcome> {
  const address = parseTagAddress(point.address);
  if (!address.ok) return invalid(address.message);
  const problem = problemOf(address.value, value);
  if (problem !== undefined) return invalid(problem);
  const failure = await lookForBits(device, register, [{ address: address.value, point }], clock, true);
  if (failure) return failed(failure);
  const target = register.target(address.value, point.dataType);
  const type = await typeOf(device, register, address.value, target, point);
  if (!type.ok) return failed(type);
  const stopped = barred?.(); // the device may have been asked what the tag is
  if (stopped) return stopped;
  if (target.bit !== undefined) return isTextShape(type.value) ? invalid('a text has no bits') : writeBit(device, target, type.value, target.bit, value, barred);
  const encoded = isTextShape(type.value) ? encodeTextStructure(value, type.value) : encodeValue(type.value, value);
  if (!encoded.ok) return invalid(encoded.message);
  const { path } = target.tag;
  const written = isTextShape(type.value)
    ? await device.writeText(path, typeBytes(STRUCTURE_CODE, type.value.handle), encoded.value, encoded.value.readInt32LE(0), barred)
    : await device.writeWhole(path, typeBytes(type.value.code, undefined), encoded.value, barred);
  return written.ok ? { ok: true } : failed(written);
}
