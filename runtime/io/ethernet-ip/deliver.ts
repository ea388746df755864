/** From the bytes of an answer to the samples of an entry: types are matched when they change, values are read where they lie. */
import { inside } from '../../vocabulary/assert.js';
import type { BadKind, SampleSink } from '../driver.js';
import { decodeText, decodeTextStructure, isWhole, readerOf, type TextShape } from './codec.js';
import type { Entry, Member } from './read-plan.js';
import { isTextShape, type TagRegister } from './tag.js';
import { type CipType, cipTypeOf, STRUCTURE_CODE } from './types.js';

export const WRONG_LENGTH = 'the device sent an answer of the wrong length';
const TYPE_BYTES = 2;
const HANDLE_BYTES = 2;

/** Within a bracket of the sink. */
export function badEntry({ members }: Entry, message: string, kind: BadKind, sink: SampleSink): void {
  for (let place = 0; place < members.length; place += 1) sink.bad(inside(members, place, 'the loop ends behind the last member').position, message, kind);
}

/** What the members make of the type that the device says. */
function match(entry: Entry, code: number, handle: number | undefined, register: TagRegister): void {
  entry.code = code;
  entry.handle = handle;
  entry.valueBytes = (code === STRUCTURE_CODE ? register.textShape(handle)?.bytes : cipTypeOf(code)?.bytes) ?? 0;
  for (const member of entry.members) {
    const served = register.typeFor(member.address, member.point.dataType, { code, handle }, member.target);
    member.served = served;
    member.reader = served.ok && !isTextShape(served.value) ? readerOf(served.value, member.target.bit) : undefined;
  }
}

/**
 * Delivers type and values that lie between `from` and `to`, within a bracket of the sink. False: more must be asked before (what a structure is that
 * nobody knows yet, or what the elements of an array are that is another one than it was), and nothing was delivered.
 */
export function deliverTyped(entry: Entry, bytes: Buffer, from: number, to: number, register: TagRegister, sink: SampleSink): boolean {
  const isStructure = to - from >= TYPE_BYTES && bytes.readUInt16LE(from) === STRUCTURE_CODE;
  const valueAt = from + TYPE_BYTES + (isStructure ? HANDLE_BYTES : 0);
  if (valueAt > to) {
    badEntry(entry, WRONG_LENGTH, 'malformed', sink);
    return true;
  }
  const code = bytes.readUInt16LE(from);
  const handle = isStructure ? bytes.readUInt16LE(from + TYPE_BYTES) : undefined;
  if (code !== entry.code || handle !== entry.handle) {
    if (entry.count > 1 && (code !== entry.tag.code || handle !== entry.tag.handle)) return false;
    if (isStructure && register.isUnknownStructure({ code, handle }) && entry.members.some(({ point }) => point.dataType === 'string')) return false;
    match(entry, code, handle, register);
  }
  deliverValues(entry, bytes, valueAt, to, sink);
  if (entry.count === 1 && (entry.tag.code !== code || entry.tag.handle !== handle || to - from > entry.tag.replyBytes)) {
    const isWholeValue = entry.valueBytes === 0 || isWhole(entry.valueBytes, 1, to - valueAt);
    if (isWholeValue) register.note(entry.tag, code, handle, entry.valueBytes || to - valueAt);
  }
  return true;
}

function deliverValues(entry: Entry, bytes: Buffer, from: number, to: number, sink: SampleSink): void {
  const { members, count, valueBytes } = entry;
  const isOfSize = valueBytes === 0 || isWhole(valueBytes, count, to - from);
  for (let place = 0; place < members.length; place += 1) {
    const member = inside(members, place, 'the loop ends behind the last member');
    const { served, position, reader } = member;
    if (!served?.ok) sink.bad(position, served?.message ?? WRONG_LENGTH);
    else if (!isOfSize) sink.bad(position, WRONG_LENGTH, 'malformed');
    else if (reader === undefined) deliverText(member, served.value, bytes, from + member.place * valueBytes, valueBytes === 0 ? to : from + (member.place + 1) * valueBytes, sink);
    else {
      const number = reader(bytes, from + member.place * valueBytes);
      if (typeof number === 'bigint') sink.integer(position, number);
      else if (Number.isFinite(number)) sink.number(position, number);
      else sink.bad(position, 'the device delivers a number that is not finite', 'malformed');
    }
  }
}

function deliverText({ position }: Member, type: CipType | TextShape, bytes: Buffer, from: number, to: number, sink: SampleSink): void {
  const text = isTextShape(type) ? decodeTextStructure(bytes, from, to, type) : decodeText(bytes, from, to);
  if (text === undefined) sink.bad(position, 'the device sent a text of an impossible length', 'malformed');
  else sink.text(position, text);
}
