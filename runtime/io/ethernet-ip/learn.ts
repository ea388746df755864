/** What a tag is that cannot be told from its address: an element of an array of BOOL, a text of another length than 82 characters. */
import type { Clock } from '../../vocabulary/clock.js';
import type { Point } from '../driver.js';
import type { TagAddress } from './address.js';
import { parseTyped, type TypedData } from './codec.js';
import type { Device, Failure } from './device.js';
import { readRequest, SERVICE, tagPath } from './request.js';
import type { TagRegister } from './tag.js';
import { cipTypeNamed } from './types.js';

const DINT = cipTypeNamed('DINT')?.code;
const SINT = cipTypeNamed('SINT')?.code;
const LENGTH_BYTES = 4;
/** A structure is filled up to whole words: its text may be so many characters shorter. */
const FILLING_BYTES_MAX = 3;

/** The type of a member of a tag; undefined: there is none. */
async function codeOf(device: Device, segments: readonly (string | number)[], urgent: boolean): Promise<{ readonly code: number | undefined } | Failure> {
  const answer = await device.send(device.prepare(readRequest(tagPath(segments), 1), SERVICE.readTag), urgent);
  if (!answer.ok) return answer;
  return { code: answer.reply.status === 0 ? parseTyped(answer.reply.data)?.code : undefined };
}

const isFailure = (found: { readonly code: number | undefined } | Failure): found is Failure => 'ok' in found;

type Suspect = { readonly address: TagAddress; readonly point: Point };

/** Looks which of the points are elements of arrays of BOOL, once for each array: it has a first word then, if it has any. The result is why that cannot be known now, if it cannot. */
export async function lookForBits(device: Device, register: TagRegister, wanted: readonly Suspect[], clock: Clock, urgent = false): Promise<Failure | undefined> {
  for (const { address, point } of wanted) {
    if (!register.isSuspect(address, point.dataType) || !register.isToBeLookedAt(address, clock.monoMs())) continue;
    const found = await codeOf(device, register.wordOf(address, 0).segments, urgent);
    if (isFailure(found)) return found;
    register.lookedAt(address, found.code, clock.monoMs());
  }
  return undefined;
}

/** Looks whether a structure is a text: LEN DINT and DATA SINT[n]. */
export async function lookForText(
  device: Device,
  register: TagRegister,
  { segments }: Pick<TagAddress, 'segments'>,
  { handle, value }: TypedData,
  urgent = false,
): Promise<Failure | undefined> {
  if (handle === undefined) return undefined;
  const length = await codeOf(device, [...segments, 'LEN'], urgent);
  if (isFailure(length)) return length;
  for (let filling = 0; length.code === DINT && filling <= FILLING_BYTES_MAX; filling += 1) {
    const capacity = value.length - LENGTH_BYTES - filling;
    if (capacity < 1) break;
    const last = await codeOf(device, [...segments, 'DATA', capacity - 1], urgent);
    if (isFailure(last)) return last;
    if (last.code !== SINT) continue;
    register.learnText({ handle, bytes: value.length, capacity });
    return undefined;
  }
  register.learnNoText(handle);
  return undefined;
}
