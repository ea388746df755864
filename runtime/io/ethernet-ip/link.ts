/**
 * A connected EtherNet/IP controller (decisions 7.2 to 7.4): planned reads that decode straight into the sink, writes one after the other, before
 * waiting reads.
 */
import type { ProbeChannel } from '../../port.js';
import type { Clock } from '../../vocabulary/clock.js';
import type { Value } from '../../vocabulary/data-types.js';
import type { DeviceIdentity, Discovery, Exchange } from '../device-answers.js';
import type { Barred, Link, Point, ReadOutcome, SampleSink, WriteOutcome } from '../driver.js';
import { WriteTurns } from '../write-turns.js';
import { bitOf, decodeNumber, decodeText, decodeTextStructure, isWhole, parseTyped, type TextShape, type TypedData } from './codec.js';
import { type Device, type Failure, PARTIAL, refusal, TOO_LARGE } from './device.js';
import { discoverTags } from './discover.js';
import { lookForBits, lookForText } from './learn.js';
import { type Entry, type Member, type Message, type PlanLimits, planReads, type ReadPlan } from './read-plan.js';
import { type CipReply, parseMultiple } from './reply.js';
import { SERVICE } from './request.js';
import { isTextShape, TagRegister } from './tag.js';
import { type CipType, STRING_CODE } from './types.js';
import { writeTag } from './write.js';

const ANSWERED: ReadOutcome = { status: 'answered' };
const OK = 0x00;
const NO_SUCH_SERVICE = 0x08;
const SOME_FAILED = 0x1e;
const WRONG_LENGTH = 'the device sent an answer of the wrong length';

type Given = { readonly ok: true; readonly value: TypedData } | { readonly ok: false; readonly message: string };

export class EthernetIpLink implements Link {
  readonly #device: Device;
  readonly #identity: DeviceIdentity;
  readonly #clock: Clock;
  readonly #register = new TagRegister();
  readonly #plans = new WeakMap<readonly Point[], ReadPlan>();
  #hasMultiple = true;
  readonly #turns = new WriteTurns();

  constructor(device: Device, identity: DeviceIdentity, clock: Clock) {
    this.#device = device;
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
    const { requestBytesMax, replyBytesMax } = this.#device.settings;
    return { requestBytesMax, replyBytesMax, hasMultiple: this.#hasMultiple };
  }

  #plan(points: readonly Point[]): ReadPlan {
    const known = this.#plans.get(points);
    if (known && known.revision === this.#register.revision) return known;
    const plan = planReads(points, this.#register, this.#limits, this.#device.prepare);
    this.#plans.set(points, plan);
    return plan;
  }

  async read(points: readonly Point[], sink: SampleSink): Promise<ReadOutcome> {
    const failed = await lookForBits(this.#device, this.#register, this.#plan(points).elements, this.#clock);
    const plan = this.#plan(points);
    sink.begin();
    for (const { position, message } of plan.unreadable) sink.bad(position, message);
    sink.end();
    if (failed) return this.#giveUp(plan.messages, failed, false, sink);
    let isAnswered = false;
    for (const [place, message] of plan.messages.entries()) {
      const failure = await this.#readMessage(message, sink);
      if (failure) return this.#giveUp(plan.messages.slice(place + 1), failure, isAnswered, sink);
      isAnswered = true;
    }
    return ANSWERED;
  }

  /** The rest is not asked of a device that has just been silent. */
  #giveUp(rest: readonly Message[], failure: Failure, isAnswered: boolean, sink: SampleSink): ReadOutcome {
    badEntries(
      rest.flatMap(({ entries }) => entries),
      failure.message,
      sink,
    );
    if (failure.reason === 'lost' || (failure.reason === 'silent' && !isAnswered)) return { status: failure.reason, message: failure.message };
    return ANSWERED;
  }

  /** Delivers every entry of the message; the result is a failure of the connection. */
  async #readMessage({ entries, prepared }: Message, sink: SampleSink): Promise<Failure | undefined> {
    const answer = await this.#device.send(prepared, false);
    if (!answer.ok) {
      badEntries(entries, answer.message, sink);
      return answer;
    }
    const replies = this.#repliesOf(answer.reply, entries.length);
    if (typeof replies === 'string') {
      badEntries(entries, replies, sink);
      return undefined;
    }
    const later: Entry[] = [];
    sink.begin();
    for (const [place, entry] of entries.entries()) {
      const reply = replies[place];
      if (!reply || this.#isForLater(entry, reply)) later.push(entry);
      else this.#deliver(entry, given(reply), sink);
    }
    sink.end();
    return this.#readLater(later, sink);
  }

  /** The replies to each; none where the message is to be asked in parts; a sentence where it was refused as a whole. */
  #repliesOf(reply: CipReply, count: number): readonly CipReply[] | string {
    if (reply.service !== SERVICE.multiple) return count === 1 ? [reply] : refusal(reply).message; // of the route
    if (reply.status === OK || reply.status === SOME_FAILED) return parseMultiple(reply.data, count) ?? WRONG_LENGTH;
    if (reply.status === NO_SUCH_SERVICE) {
      this.#hasMultiple = false;
      this.#register.revision += 1;
      return [];
    }
    return reply.status === PARTIAL || reply.status === TOO_LARGE ? [] : refusal(reply).message;
  }

  /** What needs more messages: too long for one, or a structure of which it is not known whether it is a text. */
  #isForLater(entry: Entry, reply: CipReply): boolean {
    if (reply.status === PARTIAL || reply.status === TOO_LARGE) return true;
    const typed = reply.status === OK ? parseTyped(reply.data) : undefined;
    return typed !== undefined && this.#register.isUnknownStructure(typed) && entry.members.some(({ point }) => point.dataType === 'string');
  }

  async #readLater(entries: readonly Entry[], sink: SampleSink): Promise<Failure | undefined> {
    for (const [place, entry] of entries.entries()) {
      const whole = await this.#device.readWhole(entry.tag.path);
      let failure = whole.ok || whole.reason === 'refused' ? undefined : whole;
      if (whole.ok && this.#register.isUnknownStructure(whole.value)) failure = await lookForText(this.#device, this.#register, entry.tag, whole.value);
      if (failure) {
        badEntries(entries.slice(place), failure.message, sink);
        return failure;
      }
      sink.begin();
      this.#deliver(entry, whole, sink);
      sink.end();
    }
    return undefined;
  }

  /** Within a bracket of the sink. */
  #deliver({ tag, members }: Entry, typed: Given, sink: SampleSink): void {
    if (!typed.ok) {
      for (const { position } of members) sink.bad(position, typed.message);
      return;
    }
    this.#register.note(tag, typed.value);
    for (const member of members) {
      const type = this.#register.typeFor(member.address, member.point.dataType, typed.value, member.target);
      if (type.ok) deliverValue(member, type.value, typed.value.value, sink);
      else sink.bad(member.position, type.message);
    }
  }

  discover(channels: readonly ProbeChannel[], timeoutMs: number): Promise<Discovery> {
    const [device, register, identity, clock] = [this.#device, this.#register, this.#identity, this.#clock];
    return discoverTags({ device, register, identity, clock, read: (points, sink) => this.read(points, sink) }, channels, timeoutMs);
  }

  lastExchange(): Exchange | undefined {
    return this.#device.session.lastExchange();
  }

  // -------------------------------------------------------------- writes

  write(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
    return this.#turns.take(barred, () => writeTag(this.#device, this.#register, point, value, this.#clock));
  }
}

function given(reply: CipReply): Given {
  if (reply.status !== OK) return refusal(reply);
  const typed = parseTyped(reply.data);
  return typed ? { ok: true, value: typed } : { ok: false, message: WRONG_LENGTH };
}

function badEntries(entries: readonly Entry[], message: string, sink: SampleSink): void {
  sink.begin();
  for (const { members } of entries) for (const { position } of members) sink.bad(position, message);
  sink.end();
}

function deliverText(position: number, text: string | undefined, sink: SampleSink): void {
  if (text === undefined) sink.bad(position, 'the device sent a text of an impossible length');
  else sink.text(position, text);
}

function deliverValue({ position, target }: Member, type: CipType | TextShape, value: Buffer, sink: SampleSink): void {
  if (isTextShape(type)) {
    deliverText(position, decodeTextStructure(value, type), sink);
    return;
  }
  if (type.code === STRING_CODE) {
    deliverText(position, decodeText(value), sink);
    return;
  }
  if (!isWhole(type, value.length)) {
    sink.bad(position, WRONG_LENGTH);
    return;
  }
  const number = target.bit === undefined ? decodeNumber(type, value) : bitOf(value, target.bit);
  if (typeof number === 'bigint') sink.integer(position, number);
  else if (Number.isFinite(number)) sink.number(position, number);
  else sink.bad(position, 'the device delivers a number that is not finite');
}
