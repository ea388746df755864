/**
 * A connected EtherNet/IP controller (decisions 7.2 to 7.4): planned reads that are decoded where they lie, straight into the sink; writes one after
 * the other, before waiting reads.
 */
import type { ProbeChannel } from '../../port.js';
import { inside } from '../../vocabulary/assert.js';
import type { Clock } from '../../vocabulary/clock.js';
import type { Value } from '../../vocabulary/data-types.js';
import type { DeviceIdentity, Discovery, Exchange } from '../device-answers.js';
import type { Barred, Link, Point, ReadOutcome, SampleSink, WriteOutcome } from '../driver.js';
import { WriteTurns } from '../write-turns.js';
import type { TypedData } from './codec.js';
import { badEntry, deliverTyped, WRONG_LENGTH } from './deliver.js';
import { type Device, type Failure, PARTIAL, refusal, TOO_LARGE, type Whole } from './device.js';
import { discoverTags } from './discover.js';
import { identifyAtAddress } from './identity.js';
import { lookForBits, lookForText } from './learn.js';
import { readLong, readUntorn } from './long-read.js';
import { type Entry, type Message, messagesOf, type PlanLimits, planReads, type ReadPlan, singleEntries } from './read-plan.js';
import { type CipReply, dataStart, holdsReplies, parseReply, replyEnd, replyStart } from './reply.js';
import { SERVICE, typeBytes } from './request.js';
import { TagRegister } from './tag.js';
import { writeTag } from './write.js';

const ANSWERED: ReadOutcome = { status: 'answered' };
const OK = 0x00;
const NO_SUCH_SERVICE = 0x08;
const SOME_FAILED = 0x1e;
/** Where a device has less room for answers than `maxPacket`, so much less is tried in the next poll. */
const LESS_ROOM = 0.75;
const ROOM_BYTES_MIN = 32;
const NONE: Entry[] = [];

export class EthernetIpLink implements Link {
  readonly #device: Device;
  readonly #identity: DeviceIdentity;
  readonly #clock: Clock;
  readonly #register = new TagRegister();
  readonly #plans = new WeakMap<readonly Point[], ReadPlan>();
  #hasMultiple = true;
  /** What an answer of the device may be long. */
  #replyBytesMax: number;
  /** The revision of the register that the last read was planned by. */
  #planned = 0;
  /** An answer of the message that is being taken had no room. */
  #hasNoRoom = false;
  readonly #turns = new WriteTurns();

  constructor(device: Device, identity: DeviceIdentity, clock: Clock) {
    this.#device = device;
    this.#replyBytesMax = device.settings.replyBytesMax;
    this.#identity = identity;
    this.#clock = clock;
  }

  get lost(): Promise<string> {
    return this.#device.session.lost;
  }

  async close(): Promise<void> {
    this.#device.session.close();
  }

  // -------------------------------------------------------------- reads

  get #limits(): PlanLimits {
    return { requestBytesMax: this.#device.settings.requestBytesMax, replyBytesMax: this.#replyBytesMax, hasMultiple: this.#hasMultiple };
  }

  #plan(points: readonly Point[]): ReadPlan {
    const known = this.#plans.get(points);
    if (known && known.revision === this.#register.revision) return known;
    const plan = planReads(points, this.#register, this.#limits, this.#device.prepare);
    this.#plans.set(points, plan);
    return plan;
  }

  async read(points: readonly Point[], sink: SampleSink): Promise<ReadOutcome> {
    const { suspects } = this.#plan(points);
    const unknown = suspects.length === 0 ? undefined : await lookForBits(this.#device, this.#register, suspects, this.#clock);
    const { messages, long, unreadable, revision } = this.#plan(points);
    this.#planned = revision;
    if (unreadable.length > 0) {
      sink.begin();
      for (const { position, message } of unreadable) sink.bad(position, message);
      sink.end();
    }
    let failure = unknown;
    let isAnswered = false;
    for (let place = 0; place < messages.length; place += 1) {
      const message = inside(messages, place, 'the loop ends behind the last message');
      if (failure) badEntries(message.entries, failure, sink);
      else failure = await this.#readMessage(message, sink);
      isAnswered ||= failure === undefined;
    }
    for (const { entry, read } of long) {
      const whole = failure ?? (await readLong(this.#device, read));
      failure = this.#deliverWhole(entry, whole, sink);
      isAnswered ||= failure === undefined;
    }
    if (!failure || (failure.reason === 'silent' && isAnswered)) return ANSWERED;
    return failure.reason === 'lost' ? { status: 'lost', message: failure.message } : { status: 'silent', message: failure.message };
  }

  /** Delivers every entry of the message; the result is a failure of the connection. */
  async #readMessage({ entries, prepared }: Message, sink: SampleSink): Promise<Failure | undefined> {
    const answer = await this.#device.send(prepared, false);
    if (!answer.ok) {
      badEntries(entries, answer, sink);
      return answer;
    }
    const { reply } = answer;
    let later: Entry[] = NONE;
    this.#hasNoRoom = false;
    sink.begin();
    if (reply.service !== SERVICE.multiple) later = this.#takeOnly(entries, reply, sink);
    else if (reply.status === OK || reply.status === SOME_FAILED) later = this.#takeEach(entries, reply.data, sink);
    else if (this.#isToBeDivided(reply)) later = [...entries];
    else for (const entry of entries) badEntry(entry, refusal(reply).message, 'refused', sink);
    sink.end();
    if (later.length === 0) return undefined;
    if (this.#hasNoRoom && this.#planned === this.#register.revision && entries.every(({ tag }) => tag.code !== undefined)) this.#learnRoom();
    return this.#readLater(later, sink);
  }

  /** The reply to a message of one service, or one of the route. Result: what needs more messages. */
  #takeOnly(entries: readonly Entry[], reply: CipReply, sink: SampleSink): Entry[] {
    const [entry] = entries;
    if (entry && entries.length === 1) return this.#take(entry, reply, reply.data, 0, reply.data.length, sink) ? NONE : [entry];
    for (const each of entries) badEntry(each, refusal(reply).message, 'refused', sink);
    return NONE;
  }

  /** The replies within the reply to a message of several services. Result: what needs more messages. */
  #takeEach(entries: readonly Entry[], data: Buffer, sink: SampleSink): Entry[] {
    const count = entries.length;
    let later = NONE;
    const isMalformed = !holdsReplies(data, count, SERVICE.readTag);
    for (let place = 0; place < count; place += 1) {
      const entry = inside(entries, place, 'the loop ends behind the last entry');
      if (isMalformed) {
        badEntry(entry, WRONG_LENGTH, 'malformed', sink);
        continue;
      }
      const [from, to] = [replyStart(data, place), replyEnd(data, place, count)];
      const refused = statusAt(data, from) === OK ? undefined : parseReply(data.subarray(from, to));
      if (this.#take(entry, refused, data, dataStart(data, from), to, sink)) continue;
      if (later.length === 0) later = [];
      later.push(entry);
    }
    return later;
  }

  /** One reply; `reply` may be left out of one that succeeded. False: nothing was delivered, it needs more messages. */
  #take(entry: Entry, reply: CipReply | undefined, bytes: Buffer, from: number, to: number, sink: SampleSink): boolean {
    if (!reply || reply.status === OK) return deliverTyped(entry, bytes, from, to, this.#register, sink) || (entry.count > 1 && this.#forget(entry));
    const hasNoRoom = reply.status === PARTIAL || reply.status === TOO_LARGE;
    if (hasNoRoom) {
      this.#hasNoRoom = true;
      return false;
    }
    if (entry.count > 1) {
      this.#register.refuseRange(entry.tag);
      return this.#forget(entry);
    }
    badEntry(entry, refusal(reply).message, 'refused', sink);
    return true;
  }

  /** Its elements are asked for alone until they have answered again. */
  #forget({ members }: Entry): false {
    for (const { target } of members) this.#register.forget(target.tag);
    return false;
  }

  /** The device has less room for answers than it was thought to have: all of them were as long as they were known to be. */
  #learnRoom(): void {
    this.#replyBytesMax = Math.max(Math.min(this.#replyBytesMax, ROOM_BYTES_MIN), Math.floor(this.#replyBytesMax * LESS_ROOM));
    this.#register.revision += 1;
  }

  /** A message of several services that the device does not take as it is. */
  #isToBeDivided({ status }: CipReply): boolean {
    if (status === NO_SUCH_SERVICE) {
      this.#hasMultiple = false;
      this.#register.revision += 1;
    }
    if (status === PARTIAL || status === TOO_LARGE) this.#hasNoRoom = true;
    return status === NO_SUCH_SERVICE || this.#hasNoRoom;
  }

  /** Elements of a range that was refused, each alone; and each tag alone that is longer than was thought, or a structure nobody knows yet. */
  async #readLater(entries: readonly Entry[], sink: SampleSink): Promise<Failure | undefined> {
    let failure: Failure | undefined;
    for (const entry of entries) {
      if (failure) badEntries([entry], failure, sink);
      else if (entry.count > 1) failure = await this.#readDivided(entry, sink);
      else failure = await this.#readWhole(entry, sink);
    }
    return failure;
  }

  async #readDivided({ members }: Entry, sink: SampleSink): Promise<Failure | undefined> {
    const messages = messagesOf(singleEntries(members), this.#limits, this.#device.prepare);
    let failure: Failure | undefined;
    for (const message of messages) {
      if (failure) badEntries(message.entries, failure, sink);
      else failure = await this.#readMessage(message, sink);
    }
    return failure;
  }

  async #readWhole(entry: Entry, sink: SampleSink): Promise<Failure | undefined> {
    const whole = await readUntorn(this.#device, entry.tag.path);
    const isUnknown = whole.ok && this.#register.isUnknownStructure(whole.value);
    const failed = isUnknown ? await lookForText(this.#device, this.#register, entry.tag, whole.value) : undefined;
    return this.#deliverWhole(entry, failed ?? whole, sink);
  }

  /** The result is a failure of the connection. */
  #deliverWhole(entry: Entry, whole: Whole<TypedData>, sink: SampleSink): Failure | undefined {
    if (!whole.ok) {
      badEntries([entry], whole, sink);
      return whole.reason === 'refused' ? undefined : whole;
    }
    const { code, handle, value } = whole.value;
    const bytes = Buffer.concat([typeBytes(code, handle), value]);
    sink.begin();
    if (!deliverTyped(entry, bytes, 0, bytes.length, this.#register, sink)) badEntry(entry, 'the device changed what the tag is while it was read', 'refused', sink);
    sink.end();
    return undefined;
  }

  async discover(channels: readonly ProbeChannel[], timeoutMs: number): Promise<Discovery> {
    const [device, register, clock] = [this.#device, this.#register, this.#clock];
    const identity = this.#identity.vendor === '' ? await identifyAtAddress(device) : this.#identity;
    return discoverTags({ device, register, identity, clock, read: (points, sink) => this.read(points, sink) }, channels, timeoutMs);
  }

  lastExchange(): Exchange | undefined {
    return this.#device.session.lastExchange();
  }

  // -------------------------------------------------------------- writes

  write(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
    return this.#turns.take(barred, () => writeTag(this.#device, this.#register, point, value, this.#clock, barred));
  }
}

const statusAt = (bytes: Buffer, from: number): number => bytes.readUInt8(from + 2);

function badEntries(entries: readonly Entry[], { reason, message }: Failure, sink: SampleSink): void {
  sink.begin();
  for (const entry of entries) badEntry(entry, message, reason, sink);
  sink.end();
}
