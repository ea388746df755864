/** The messages that read a set of points: each tag once, as many in one message as request and answer leave room for (decisions 7.3, `maxPacket`). */
import type { Point } from '../driver.js';
import { parseTagAddress, type TagAddress } from './address.js';
import { MULTIPLE_EACH_BYTES, MULTIPLE_REPLY_BYTES, MULTIPLE_REQUEST_BYTES, multipleRequest, SERVICE } from './request.js';
import type { Prepared } from './session.js';
import { mayBeElementOfBits, type Tag, type TagRegister, type Target } from './tag.js';

export interface Member {
  readonly position: number;
  readonly point: Point;
  readonly address: TagAddress;
  readonly target: Target;
}

/** A tag that is read, and the points it feeds. */
export interface Entry {
  readonly tag: Tag;
  readonly members: Member[];
}

export interface Message {
  readonly entries: readonly Entry[];
  readonly prepared: Prepared;
}

export interface ReadPlan {
  readonly revision: number;
  readonly messages: readonly Message[];
  /** Points that may be elements of an array of BOOL. */
  readonly elements: readonly Member[];
  readonly unreadable: readonly { readonly position: number; readonly message: string }[];
}

export interface PlanLimits {
  /** Of a request without what a route adds. */
  readonly requestBytesMax: number;
  readonly replyBytesMax: number;
  /** The device takes messages of several services. */
  readonly hasMultiple: boolean;
}

const REPLY_HEAD_BYTES = 4;

function entriesOf(members: readonly Member[]): Entry[] {
  const byTag = new Map<Tag, Entry>();
  for (const member of members) {
    const entry = byTag.get(member.target.tag) ?? { tag: member.target.tag, members: [] };
    entry.members.push(member);
    byTag.set(entry.tag, entry);
  }
  return [...byTag.values()];
}

function pack(entries: readonly Entry[], limits: PlanLimits): Entry[][] {
  if (!limits.hasMultiple) return entries.map((entry) => [entry]);
  const packs: Entry[][] = [];
  let [requestBytes, replyBytes] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const entry of entries) {
    const asks = MULTIPLE_EACH_BYTES + entry.tag.readRequest.length;
    const answers = MULTIPLE_EACH_BYTES + REPLY_HEAD_BYTES + entry.tag.replyBytes;
    if (requestBytes + asks > limits.requestBytesMax || replyBytes + answers > limits.replyBytesMax) {
      packs.push([]);
      [requestBytes, replyBytes] = [MULTIPLE_REQUEST_BYTES, MULTIPLE_REPLY_BYTES];
    }
    packs.at(-1)?.push(entry);
    requestBytes += asks;
    replyBytes += answers;
  }
  return packs;
}

function membersOf(points: readonly Point[], register: TagRegister, limits: PlanLimits): Pick<ReadPlan, 'unreadable'> & { readonly members: readonly Member[] } {
  const members: Member[] = [];
  const unreadable: { position: number; message: string }[] = [];
  points.forEach((point, position) => {
    const address = parseTagAddress(point.address);
    if (!address.ok) {
      unreadable.push({ position, message: address.message });
      return;
    }
    const target = register.target(address.value);
    if (target.tag.readRequest.length > limits.requestBytesMax)
      unreadable.push({ position, message: `the tag does not fit into a message of ${limits.requestBytesMax} bytes: raise maxPacket` });
    else members.push({ position, point, address: address.value, target });
  });
  return { members, unreadable };
}

export function planReads(points: readonly Point[], register: TagRegister, limits: PlanLimits, prepare: (message: Buffer, service: number) => Prepared): ReadPlan {
  const { members, unreadable } = membersOf(points, register, limits);
  const messages = pack(entriesOf(members), limits).map((entries): Message => {
    const requests = entries.map(({ tag }) => tag.readRequest);
    const [only = Buffer.alloc(0)] = requests;
    return { entries, prepared: requests.length === 1 ? prepare(only, SERVICE.readTag) : prepare(multipleRequest(requests), SERVICE.multiple) };
  });
  return { revision: register.revision, messages, elements: members.filter(({ address, point }) => mayBeElementOfBits(address, point.dataType)), unreadable };
}
