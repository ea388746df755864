/**
 * A tag that one answer has no room for, read in fragments (service 0x52) without a tear (ADR 0082). The controller goes on with its program between two
 * fragments, so they are read from the first to the last and then from the last to the first: where both times are alike, there was a moment in between at
 * which all of them stood so. Where a whole round brings what the last proven one brought, it is not read again.
 */
import { parseTyped, type TypedData } from './codec.js';
import { type Device, MALFORMED, PART_BYTES_MIN, PARTIAL, refusal, TOO_LARGE, tooSmall, WHOLE_BYTES_MAX, type Whole } from './device.js';
import { readFragmentRequest, readRequest, SERVICE } from './request.js';
import type { Prepared } from './session.js';

export interface LongRead {
  readonly path: Buffer;
  /** By the offset that it asks for. */
  readonly requests: Map<number, Prepared>;
  /** What was proven last. */
  proven: TypedData | undefined;
}

interface Fragment extends TypedData {
  readonly offset: number;
  readonly isLast: boolean;
}

/** Rounds forth and back before the tag is given up for this poll. */
const ROUNDS_MAX = 3;
const OK = 0x00;

export const longRead = (path: Buffer): LongRead => ({ path, requests: new Map(), proven: undefined });

async function fragment(device: Device, read: LongRead, offset: number): Promise<Whole<Fragment>> {
  let prepared = read.requests.get(offset);
  if (!prepared) {
    prepared = device.prepare(readFragmentRequest(read.path, offset), SERVICE.readFragmented);
    read.requests.set(offset, prepared);
  }
  const answer = await device.send(prepared, false);
  if (!answer.ok) return answer;
  const { status, data } = answer.reply;
  if (status !== OK && status !== PARTIAL) return refusal(answer.reply);
  const typed = parseTyped(data);
  if (!typed) return MALFORMED;
  if (status === PARTIAL && typed.value.length < PART_BYTES_MIN) return tooSmall(typed.value.length);
  // a copy: what was received with it is not kept
  return { ok: true, value: { ...typed, value: Buffer.from(typed.value), offset, isLast: status === OK } };
}

const isSameType = (one: TypedData, other: TypedData): boolean => one.code === other.code && one.handle === other.handle;

async function forth(device: Device, read: LongRead): Promise<Whole<Fragment[]>> {
  const fragments: Fragment[] = [];
  for (let offset = 0; offset <= WHOLE_BYTES_MAX; ) {
    const found = await fragment(device, read, offset);
    if (!found.ok) return found;
    const [first = found.value] = fragments;
    if (!isSameType(first, found.value)) return MALFORMED;
    fragments.push(found.value);
    if (found.value.isLast) return { ok: true, value: fragments };
    offset += found.value.value.length;
  }
  return { ok: false, reason: 'refused', message: `the device has more than ${WHOLE_BYTES_MAX} bytes for it` };
}

/** Whether all fragments are as they were, from the last to the first. */
async function back(device: Device, read: LongRead, fragments: readonly Fragment[]): Promise<Whole<boolean>> {
  for (const before of fragments.toReversed()) {
    const found = await fragment(device, read, before.offset);
    if (!found.ok) return found;
    const { value } = found;
    if (value.isLast !== before.isLast || !isSameType(value, before) || !value.value.equals(before.value)) return { ok: true, value: false };
  }
  return { ok: true, value: true };
}

function joined(fragments: readonly Fragment[]): TypedData {
  const [first = { code: 0, handle: undefined }] = fragments;
  return { code: first.code, handle: first.handle, value: Buffer.concat(fragments.map(({ value }) => value)) };
}

/** Type and value as they stood at one moment; refused where the device changes them faster than they are read. */
export async function readLong(device: Device, read: LongRead): Promise<Whole<TypedData>> {
  let messages = 0;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const found = await forth(device, read);
    if (!found.ok) return found;
    const whole = joined(found.value);
    const { proven } = read;
    messages = found.value.length;
    const isProven = messages === 1 || (proven && isSameType(proven, whole) && proven.value.equals(whole.value));
    const same: Whole<boolean> = isProven ? { ok: true, value: true } : await back(device, read, found.value);
    if (!same.ok) return same;
    if (!same.value) continue;
    read.proven = whole;
    return { ok: true, value: whole };
  }
  return { ok: false, reason: 'refused', message: `it changes while the ${messages} messages that it takes are read; with connected: true and a larger maxPacket it takes fewer` };
}

/** A tag of which nobody knows how long it is: by one message, and in fragments where that is too small. */
export async function readUntorn(device: Device, path: Buffer): Promise<Whole<TypedData>> {
  const answer = await device.send(device.prepare(readRequest(path, 1), SERVICE.readTag), false);
  if (!answer.ok) return answer;
  const { status, data } = answer.reply;
  if (status === PARTIAL || status === TOO_LARGE) return readLong(device, longRead(path));
  if (status !== OK) return refusal(answer.reply);
  const typed = parseTyped(data);
  return typed ? { ok: true, value: typed } : MALFORMED;
}
